//! `#[kernel]`: the tracing function, the struct of comptime parameters, the struct of arguments and `impl Kernel`.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{GenericParam, Generics, ItemFn};

use super::body::{Body, Use};
use super::shell;
use crate::ast::{self, Kernel, Kind, Parameter};
use crate::binding::Stage;
use crate::parse;
use crate::spans::{hidden, trace};

/// Expands a kernel.
pub fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let item = match syn::parse2::<ItemFn>(item) {
        Ok(item) => item,
        Err(error) => return error.to_compile_error(),
    };
    let mut body = Body::default();
    let mut kernel = parse::kernel(attribute, item, &mut body.errors);
    for parameter in &kernel.parameters {
        let stage = if parameter.is_comptime() { Stage::Comptime } else { Stage::RunTime };
        body.parameter(&parameter.pattern, stage);
    }
    body.rewrite(&mut kernel.body, Use::Effect);
    let function = function(&kernel, &body);
    let names = Names::new(&kernel.name);
    let items =
        [parameters_struct(&kernel, &names), arguments_struct(&kernel, &names), implementation(&kernel, &names)];
    quote!(#function #(#items)*)
}

/// The names of the generated structs.
struct Names {
    parameters: Ident,
    arguments: Ident,
}

impl Names {
    fn new(kernel: &Ident) -> Names {
        let name = camel_case(&kernel.to_string());
        let at = kernel.span();
        Names { parameters: Ident::new(&name, at), arguments: Ident::new(&format!("{name}Args"), at) }
    }
}

fn camel_case(name: &str) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    name.trim_start_matches("r#").split('_').map(capital).collect()
}

/// The function that traces the body.
fn function(kernel: &Kernel, body: &Body) -> TokenStream {
    let Kernel { attributes, visibility, name, generics, parameters, .. } = kernel;
    let where_clause = &generics.where_clause;
    let trace = trace();
    let inputs = parameters.iter().map(|parameter| {
        let input = input(parameter);
        // What only the grid is computed from is used all the same.
        let for_grid = kernel.grid.iter().any(|extent| mentions(&extent.to_token_stream(), &parameter.name));
        if for_grid { quote!(#[allow(unused_variables)] #input) } else { input }
    });
    let block = shell(&body.errors, kernel.body.to_token_stream());
    quote! {
        #(#attributes)*
        #[allow(clippy::too_many_arguments)]
        #visibility const fn #name #generics(#trace: &mut ::quadpair::lang::Trace<'_>, #(#inputs),*) #where_clause #block
    }
}

/// A parameter of the tracing function.
fn input(parameter: &Parameter) -> TokenStream {
    let attributes = parameter.attributes.iter().filter(|attribute| !attribute.path().is_ident("doc"));
    let (pattern, ty) = (&parameter.pattern, &parameter.ty);
    let ty = match &parameter.kind {
        Kind::Comptime => quote!(#ty),
        Kind::Array(_, length) => quote!([::quadpair::lang::Tile; #length]),
        _ => quote!(::quadpair::lang::Tile),
    };
    quote!(#(#attributes)* #pattern: #ty)
}

/// The struct of the comptime parameters, with `trace` and `check`.
fn parameters_struct(kernel: &Kernel, names: &Names) -> TokenStream {
    let (Kernel { attributes, visibility, name, generics, .. }, this) = (kernel, &names.parameters);
    let docs = ast::docs(attributes).map(|docs| quote!(#docs #[doc = ""]));
    let summary = format!("Made from the kernel [`{name}`]: its comptime parameters.");
    let fields = kernel.comptime().map(|parameter| {
        let docs = parameter.docs(&format!("The comptime parameter `{}`.", parameter.name));
        let (name, ty) = (&parameter.name, &parameter.ty);
        quote!(#docs pub #name: #ty,)
    });
    let types = types_field(generics);
    let (implemented, used, where_clause) = generics.split_for_impl();
    let (trace, check) = (trace_function(kernel), check_function(kernel));
    quote! {
        #docs
        #[doc = #summary]
        #[derive(Clone, Copy, Debug)]
        #visibility struct #this #generics #where_clause {
            #(#fields)*
            #types
        }

        impl #implemented #this #used #where_clause {
            #trace

            #check
        }
    }
}

/// `fn check`: traces into nothing. It stands at the kernel's name, where rustc shows the way to a broken rule.
fn check_function(kernel: &Kernel) -> TokenStream {
    let text = plain(&kernel.name);
    quote_spanned! {kernel.name.span()=>
        /// Checks the kernel with these comptime parameters: evaluated in a `const`, a broken rule stops the build,
        /// and so does what the target lacks.
        #[allow(dead_code)]
        pub const fn check(self, target: ::core::option::Option<::quadpair::lang::Architecture>) {
            let mut trace = ::quadpair::lang::Trace::checking(#text, target);
            self.trace(&mut trace);
            trace.finish();
        }
    }
}

/// The field that keeps the type parameters of a generic kernel.
fn types_field(generics: &Generics) -> Option<TokenStream> {
    let types = generics.type_params().map(|parameter| &parameter.ident);
    (!generics.params.is_empty()).then(|| {
        quote! {
            /// The type parameters.
            pub types: ::core::marker::PhantomData<fn() -> (#(#types,)*)>,
        }
    })
}

/// `fn trace`: declares the run-time parameters in order and calls the tracing function.
fn trace_function(kernel: &Kernel) -> TokenStream {
    let (name, trace) = (&kernel.name, trace());
    let declared = kernel.run_time().map(|parameter| {
        let (value, declaration) = (local(&parameter.name), declaration(parameter));
        quote!(let #value = #declaration;)
    });
    let arguments = kernel.parameters.iter().map(|parameter| {
        let (name, value) = (&parameter.name, local(&parameter.name));
        if parameter.is_comptime() { quote!(self.#name) } else { quote!(#value) }
    });
    let generics = kernel.generics.split_for_impl().1.as_turbofish().to_token_stream();
    quote_spanned! {name.span()=>
        /// Traces the kernel with these comptime parameters.
        #[allow(dead_code)]
        pub const fn trace(self, #trace: &mut ::quadpair::lang::Trace<'_>) {
            #(#declared)*
            #name #generics(#trace, #(#arguments),*);
        }
    }
}

/// A local of generated code that no author's name can meet.
fn local(name: &Ident) -> Ident {
    hidden(&format!("argument_{}", plain(name)))
}

/// A name without `r#`.
fn plain(name: &Ident) -> String {
    name.to_string().trim_start_matches("r#").to_string()
}

/// How the trace makes a run-time parameter.
fn declaration(parameter: &Parameter) -> TokenStream {
    let (trace, name) = (trace(), plain(&parameter.name));
    match &parameter.kind {
        Kind::Pointer(element) | Kind::PointerOption(element) => quote!(#trace.pointer::<#element>(#name, false)),
        Kind::PointerMut(element) => quote!(#trace.pointer::<#element>(#name, true)),
        Kind::Scalar(scalar) => {
            let ty = &scalar.ty;
            quote!(#trace.scalar::<#ty>(#name))
        }
        Kind::Array(scalar, length) => {
            let ty = &scalar.ty;
            let elements = (0..*length).map(|at| format!("{name}_{at}"));
            quote!([#(#trace.scalar::<#ty>(#elements)),*])
        }
        Kind::Comptime => TokenStream::new(),
    }
}

/// The struct of the run-time arguments.
fn arguments_struct(kernel: &Kernel, names: &Names) -> TokenStream {
    let (visibility, this) = (&kernel.visibility, &names.arguments);
    let summary = format!("The arguments of [`{}`] on a backend.", kernel.name);
    let fields = kernel.run_time().map(|parameter| {
        let docs = parameter.docs(&format!("The argument `{}`.", parameter.name));
        let (name, ty) = (&parameter.name, argument_type(parameter));
        quote!(#docs pub #name: #ty,)
    });
    let generics = argument_generics(kernel);
    let where_clause = &generics.where_clause;
    quote! {
        #[doc = #summary]
        #visibility struct #this #generics #where_clause {
            #(#fields)*
        }
    }
}

fn argument_type(parameter: &Parameter) -> TokenStream {
    match &parameter.kind {
        Kind::Pointer(element) => quote!(B::Ref<'a, #element>),
        Kind::PointerOption(element) => quote!(::core::option::Option<B::Ref<'a, #element>>),
        Kind::PointerMut(element) => quote!(B::Mut<'a, #element>),
        Kind::Scalar(scalar) => scalar.ty.to_token_stream(),
        Kind::Array(scalar, length) => {
            let ty = &scalar.ty;
            quote!([#ty; #length])
        }
        Kind::Comptime => TokenStream::new(),
    }
}

/// The parameters of the argument struct: memory and backend if it has pointers, and the kernel's types that it uses.
fn argument_generics(kernel: &Kernel) -> Generics {
    let mut generics = kernel.generics.clone();
    let types: TokenStream = kernel.run_time().map(argument_type).collect();
    let (used, dropped): (Vec<_>, Vec<_>) =
        generics.params.into_iter().partition(|parameter| mentions(&types, name_of(parameter)));
    generics.params = used.into_iter().collect();
    if let Some(clause) = &mut generics.where_clause {
        let kept = clause
            .predicates
            .iter()
            .filter(|bound| !dropped.iter().any(|d| mentions(&bound.to_token_stream(), name_of(d))));
        clause.predicates = kept.cloned().collect();
    }
    if kernel.run_time().any(Parameter::is_pointer) {
        generics.params.insert(0, syn::parse_quote!('a));
        generics.params.insert(1, syn::parse_quote!(B: ::quadpair::Backend));
    }
    generics
}

fn name_of(parameter: &GenericParam) -> &Ident {
    match parameter {
        GenericParam::Type(ty) => &ty.ident,
        GenericParam::Const(constant) => &constant.ident,
        GenericParam::Lifetime(lifetime) => &lifetime.lifetime.ident,
    }
}

/// Whether a name occurs anywhere in tokens.
fn mentions(tokens: &TokenStream, name: &Ident) -> bool {
    tokens.clone().into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(found) => found == *name,
        proc_macro2::TokenTree::Group(group) => mentions(&group.stream(), name),
        _ => false,
    })
}

/// `impl Kernel`.
fn implementation(kernel: &Kernel, names: &Names) -> TokenStream {
    let (this, arguments, text) = (&names.parameters, &names.arguments, plain(&kernel.name));
    let (implemented, used, where_clause) = kernel.generics.split_for_impl();
    let argument_generics = argument_generics(kernel);
    let argument_used = argument_generics.split_for_impl().1;
    let (grid, bind) = (grid_function(kernel), bind_function(kernel));
    quote! {
        impl #implemented ::quadpair::Kernel for #this #used #where_clause {
            const NAME: &'static str = #text;
            type Args<'a, B: ::quadpair::Backend> = #arguments #argument_used;

            fn trace(&self, trace: &mut ::quadpair::lang::Trace<'_>) {
                Self::trace(*self, trace);
            }

            #grid

            #bind
        }
    }
}

/// `fn grid`: the author's expressions, of any integer type, with the scalars and comptime parameters by name.
fn grid_function(kernel: &Kernel) -> TokenStream {
    let arguments = hidden("arguments");
    let locals = kernel.parameters.iter().filter(|parameter| !parameter.is_pointer()).map(|parameter| {
        let name = &parameter.name;
        if parameter.is_comptime() { quote!(let #name = self.#name;) } else { quote!(let #name = #arguments.#name;) }
    });
    let extents = kernel.grid.iter();
    let ones = (kernel.grid.len()..3).map(|_| quote!(1));
    quote! {
        #[allow(unused_variables, unused_parens, clippy::unnecessary_cast)]
        fn grid<B: ::quadpair::Backend>(&self, #arguments: &Self::Args<'_, B>) -> [u32; 3] {
            #(#locals)*
            [#((#extents) as u32,)* #(#ones),*]
        }
    }
}

/// `fn bind`: the arguments in order, as the backend takes them.
fn bind_function(kernel: &Kernel) -> TokenStream {
    let arguments = hidden("arguments");
    let bound = kernel.run_time().map(|parameter| {
        let name = &parameter.name;
        match &parameter.kind {
            Kind::Pointer(element) => quote!(B::pointer::<#element>(#arguments.#name),),
            Kind::PointerOption(element) => quote!(B::pointer_option::<#element>(#arguments.#name),),
            Kind::PointerMut(element) => quote!(B::pointer_mut::<#element>(#arguments.#name),),
            Kind::Scalar(scalar) => {
                let variant = &scalar.variant;
                quote!(B::scalar(::quadpair::Scalar::#variant(#arguments.#name)),)
            }
            Kind::Array(scalar, length) => {
                let (variant, at) = (&scalar.variant, 0..*length);
                quote!(#(B::scalar(::quadpair::Scalar::#variant(#arguments.#name[#at])),)*)
            }
            Kind::Comptime => TokenStream::new(),
        }
    });
    quote! {
        #[allow(unused_variables)]
        fn bind<'a, B: ::quadpair::Backend>(#arguments: Self::Args<'a, B>) -> ::std::vec::Vec<B::Arg<'a>> {
            ::std::vec![#(#bound)*]
        }
    }
}
