//! From items to what rustc compiles.
//!
//! `body` rewrites a function body: it walks the author's tree, finds the stage of each expression and replaces the
//! run-time ones. `call`, `operator`, `control`, `pipeline`, `assign` and `region` each do
//! one kind of expression. `kernel`, `device`
//! and `instances` print the items around it; `aggregate` is the derive.

pub mod aggregate;
mod assign;
mod body;
mod call;
mod control;
pub mod device;
pub mod instances;
pub mod kernel;
mod operator;
mod pipeline;
mod region;

use proc_macro2::TokenStream;
use quote::quote;

use crate::errors::Errors;

/// The body if nothing is wrong, else the errors in its place: the item exists, so that one mistake gives one message.
fn shell(errors: &Errors, body: TokenStream) -> TokenStream {
    match errors.tokens() {
        Some(errors) => quote!({ #errors }),
        None => body,
    }
}
