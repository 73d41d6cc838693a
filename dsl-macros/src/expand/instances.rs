//! `instances!`: a `static` for each instance, and a `const` whose evaluation is its check.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{ExprStruct, PathArguments};

use crate::ast::{Instance, Target};
use crate::parse;
use crate::spans::Ends;

/// Expands the entries.
pub fn expand(input: TokenStream) -> TokenStream {
    match parse::instances(input) {
        Ok(entries) => entries.into_iter().map(instance).collect(),
        Err(error) => error.to_compile_error(),
    }
}

fn instance(entry: Instance) -> TokenStream {
    let Instance { attributes, target, visibility, name, mut value } = entry;
    let kernel = value.path.clone();
    let generic = kernel.segments.last().is_some_and(|last| matches!(last.arguments, PathArguments::AngleBracketed(_)));
    if generic {
        value.fields.push(syn::parse_quote!(types: ::core::marker::PhantomData));
    }
    let text = name.to_string();
    let check = check(&value, target);
    quote! {
        #(#attributes)*
        #visibility static #name: ::quadpair::Instance<#kernel> = ::quadpair::Instance::new(#text, #value);
        #[allow(long_running_const_eval)]
        const _: () = #check;
    }
}

/// `value.check(target)`, shown under the value: there rustc begins its account of a broken rule.
fn check(value: &ExprStruct, target: Option<Target>) -> TokenStream {
    let ends = Ends::of(value);
    let method = Ident::new("check", ends.last);
    let arguments = ends.parenthesize(match target {
        Some(Target { sm, specific }) => {
            let kind = Ident::new(if specific { "specific" } else { "general" }, ends.last);
            quote!(::core::option::Option::Some(::quadpair::lang::Architecture::#kind(#sm)))
        }
        None => quote!(::core::option::Option::None),
    });
    quote!(#value.#method #arguments)
}
