//! `#[device]`: the same function, `const`, with the trace as its first parameter.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{FnArg, ItemFn, ReceiverKind, ReturnType};

use super::body::{Body, Use};
use super::shell;
use crate::binding::Stage;
use crate::errors;
use crate::parse;
use crate::spans::trace;

/// Expands a device function.
pub fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    match syn::parse2::<ItemFn>(item) {
        Ok(item) => function(attribute, item),
        Err(error) => error.to_compile_error(),
    }
}

fn function(attribute: TokenStream, mut item: ItemFn) -> TokenStream {
    let mut body = Body::default();
    parse::qualifiers(&mut item.sig, &mut body.errors);
    if !attribute.is_empty() {
        body.errors.at(&attribute, errors::DEVICE_ARGUMENT);
    }
    parameters(&mut item, &mut body);
    let result = if item.sig.output == ReturnType::Default { Use::Effect } else { Use::Value };
    body.rewrite(&mut item.block, result);
    let block = shell(&body.errors, item.block.to_token_stream());
    item.sig.constness = Some(Default::default());
    let ItemFn { attrs, vis, sig, .. } = item;
    quote! {
        #(#attrs)*
        #[allow(clippy::too_many_arguments)]
        #vis #sig #block
    }
}

/// Declares the parameters to the body and inserts the trace before them, after `self`.
fn parameters(item: &mut ItemFn, body: &mut Body) {
    let mut run_time = 0;
    for input in &mut item.sig.inputs {
        match input {
            FnArg::Receiver(receiver) => {
                parse::take_comptime(&mut receiver.attrs);
                if let ReceiverKind::Reference(_, _, Some(token)) = &receiver.kind {
                    body.errors.at(token, errors::SELF_MUT);
                }
            }
            FnArg::Typed(typed) => {
                let comptime = parse::take_comptime(&mut typed.attrs);
                run_time += usize::from(!comptime);
                body.parameter(&typed.pat, if comptime { Stage::Comptime } else { Stage::RunTime });
            }
        }
    }
    if run_time == 0 {
        body.errors.at(&item.sig.ident, errors::DEVICE_COMPTIME);
    }
    let trace = trace();
    let position = usize::from(item.sig.receiver().is_some());
    item.sig.inputs.insert(position, syn::parse_quote!(#trace: &mut ::quadpair::lang::Trace<'_>));
}
