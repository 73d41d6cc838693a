//! From tokens to the types of `ast`, with everything that can be wrong about a signature.
//!
//! A mistake is recorded and replaced by something that lets the rest go on: the item is still emitted, so that its users
//! see no second message about a missing one.

use proc_macro2::{Ident, Span, TokenStream};
use quote::format_ident;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, ExprLit, FnArg, GenericArgument, GenericParam, Generics, ItemFn, Lit, Pat, PatType, Path,
    PathArguments, ReturnType, Safety, Signature, Token, Type, TypeArray, bracketed,
};

use crate::ast::{Instance, Kernel, Kind, Parameter, Scalar, Target};
use crate::errors::{self, Errors};

/// The scalars that a kernel can take, and their variants of `quadpair::Scalar`.
const SCALARS: [(&str, &str); 7] =
    [("bool", "Bool"), ("i32", "I32"), ("i64", "I64"), ("u32", "U32"), ("u64", "U64"), ("f32", "F32"), ("f64", "F64")];

/// Reads a kernel.
pub fn kernel(attribute: TokenStream, mut item: ItemFn, errors: &mut Errors) -> Kernel {
    qualifiers(&mut item.sig, errors);
    if let ReturnType::Type(_, ty) = &item.sig.output {
        errors.at(ty, errors::KERNEL_RETURN);
    }
    let generics = without_lifetimes(item.sig.generics, errors);
    let parameters = item.sig.inputs.into_iter().filter_map(|input| match input {
        FnArg::Typed(typed) => parameter(typed, errors),
        FnArg::Receiver(receiver) => {
            errors.at(&receiver.self_token, errors::KERNEL_SELF);
            None
        }
    });
    let parameters = parameters.collect();
    Kernel {
        attributes: item.attrs,
        visibility: item.vis,
        name: item.sig.ident,
        generics,
        parameters,
        grid: grid(attribute, errors),
        body: *item.block,
    }
}

/// Refuses what stands before `fn` and takes it away, but for `const`, which is true anyway.
pub fn qualifiers(signature: &mut Signature, errors: &mut Errors) {
    if let Some(token) = signature.asyncness.take() {
        errors.at(&token, errors::QUALIFIER);
    }
    if let Safety::Unsafe(token) = std::mem::take(&mut signature.safety) {
        errors.at(&token, errors::QUALIFIER);
    }
    if let Some(abi) = signature.abi.take() {
        errors.at(&abi, errors::QUALIFIER);
    }
}

fn without_lifetimes(mut generics: Generics, errors: &mut Errors) -> Generics {
    for lifetime in generics.lifetimes() {
        errors.at(lifetime, errors::KERNEL_LIFETIME);
    }
    let kept = generics.params.into_iter().filter(|parameter| !matches!(parameter, GenericParam::Lifetime(_)));
    generics.params = kept.collect();
    generics
}

/// `grid = [e0, e1, e2]`.
fn grid(attribute: TokenStream, errors: &mut Errors) -> Vec<Expr> {
    let read = |input: ParseStream<'_>| {
        let name: Ident = input.parse()?;
        if name != "grid" {
            return Err(syn::Error::new_spanned(name, ""));
        }
        input.parse::<Token![=]>()?;
        let content;
        bracketed!(content in input);
        let extents = Punctuated::<Expr, Token![,]>::parse_terminated(&content)?;
        input.parse::<Option<Token![,]>>()?;
        Ok(extents)
    };
    if attribute.is_empty() {
        errors.at_span(Span::call_site(), errors::GRID);
        return Vec::new();
    }
    match read.parse2(attribute.clone()) {
        Ok(extents) if (1..=3).contains(&extents.len()) => extents.into_iter().collect(),
        Ok(_) => {
            errors.at(&attribute, errors::GRID);
            Vec::new()
        }
        Err(error) => {
            errors.at_span(error.span(), errors::GRID);
            Vec::new()
        }
    }
}

fn parameter(typed: PatType, errors: &mut Errors) -> Option<Parameter> {
    let PatType { mut attrs, pat, ty, .. } = typed;
    let comptime = take_comptime(&mut attrs);
    let Pat::Ident(name) = &*pat else {
        errors.at(&pat, errors::PARAMETER_NAME);
        return None;
    };
    let name = name.ident.clone();
    let kind = if comptime { Kind::Comptime } else { kind(&ty, errors) };
    Some(Parameter { attributes: attrs, pattern: *pat, name, ty: *ty, kind })
}

/// Removes `#[comptime]`; says whether it was there.
pub fn take_comptime(attributes: &mut Vec<Attribute>) -> bool {
    let before = attributes.len();
    attributes.retain(|attribute| !attribute.path().is_ident("comptime"));
    attributes.len() != before
}

fn kind(ty: &Type, errors: &mut Errors) -> Kind {
    let found = match ty {
        Type::Array(array) => array_kind(array, errors),
        Type::Path(path) => path_kind(&path.path, errors),
        _ => None,
    };
    found.unwrap_or_else(|| {
        errors.at(ty, errors::parameter_type(ty));
        Kind::Scalar(stand_in())
    })
}

/// What a parameter of a wrong type is taken for.
fn stand_in() -> Scalar {
    Scalar { ty: format_ident!("i32"), variant: format_ident!("I32") }
}

fn array_kind(array: &TypeArray, errors: &mut Errors) -> Option<Kind> {
    let Type::Path(element) = &*array.elem else { return None };
    let scalar = scalar(element.path.get_ident()?)?;
    let length = match &array.len {
        Expr::Lit(ExprLit { lit: Lit::Int(length), .. }) => length.base10_parse().ok(),
        _ => None,
    };
    if length.is_none() {
        errors.at(&array.len, errors::ARRAY_LENGTH);
    }
    Some(Kind::Array(scalar, length.unwrap_or(1)))
}

fn path_kind(path: &Path, errors: &mut Errors) -> Option<Kind> {
    let last = path.segments.last()?;
    let mut element = || {
        argument(path).cloned().unwrap_or_else(|| {
            errors.at(&last.ident, errors::POINTER);
            syn::parse_quote!(f32)
        })
    };
    match last.ident.to_string().as_str() {
        "Ptr" => Some(Kind::Pointer(element())),
        "PtrMut" => Some(Kind::PointerMut(element())),
        "Option" => option_kind(path, errors),
        _ => scalar(path.get_ident()?).map(Kind::Scalar),
    }
}

fn option_kind(path: &Path, errors: &mut Errors) -> Option<Kind> {
    let inner = argument(path)?;
    let Type::Path(pointer) = inner else { return None };
    match path_kind(&pointer.path, errors) {
        Some(Kind::Pointer(element)) => Some(Kind::PointerOption(element)),
        _ => {
            errors.at(inner, errors::OPTIONAL);
            Some(Kind::Scalar(stand_in()))
        }
    }
}

/// The only type between the angle brackets of a path's end.
fn argument(path: &Path) -> Option<&Type> {
    let PathArguments::AngleBracketed(arguments) = &path.segments.last()?.arguments else { return None };
    match (arguments.args.first(), arguments.args.len()) {
        (Some(GenericArgument::Type(ty)), 1) => Some(ty),
        _ => None,
    }
}

fn scalar(name: &Ident) -> Option<Scalar> {
    let (_, variant) = SCALARS.iter().find(|(scalar, _)| name == scalar)?;
    Some(Scalar { ty: name.clone(), variant: format_ident!("{variant}") })
}

impl Parse for Instance {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (targets, attributes): (Vec<_>, Vec<_>) =
            input.call(Attribute::parse_outer)?.into_iter().partition(|attribute| attribute.path().is_ident("target"));
        let target = targets.iter().map(architecture).next_back().transpose()?;
        let visibility = input.parse()?;
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        match input.parse()? {
            Expr::Struct(value) => Ok(Instance { attributes, target, visibility, name, value }),
            other => Err(syn::Error::new_spanned(other, errors::INSTANCE)),
        }
    }
}

/// The architecture of `#[target(sm_70)]` or `#[target(sm_90a)]`.
fn architecture(attribute: &Attribute) -> syn::Result<Target> {
    let target = |name: &Ident| {
        let name = name.to_string();
        let (general, specific) = (name.strip_prefix("sm_")?, name.ends_with('a'));
        Some(Target { sm: general.strip_suffix('a').unwrap_or(general).parse().ok()?, specific })
    };
    let name = attribute.parse_args::<Ident>().ok();
    name.as_ref().and_then(target).ok_or_else(|| syn::Error::new_spanned(attribute, errors::TARGET))
}

/// Reads the entries of `instances!`.
pub fn instances(input: TokenStream) -> syn::Result<Vec<Instance>> {
    let entries = Punctuated::<Instance, Token![;]>::parse_terminated.parse2(input)?;
    Ok(entries.into_iter().collect())
}
