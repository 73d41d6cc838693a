//! `#[derive(Aggregate)]`: the walk over the fields of a struct of tiles.
//!
//! ```text
//! struct State { max: Tile, parts: [Tile; 2] }
//!
//! struct StateParts;
//! impl Aggregate for State { type Parts = StateParts; const PARTS: StateParts = StateParts; }
//! impl StateParts {
//!     const fn walk(self, value: State, other: State, walker: &mut Walker<'_, '_>) -> State {
//!         State { max: { .. parts(&value.max).walk(value.max, other.max, walker) .. }, parts: .. }
//!     }
//! }
//! ```

use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Data, DeriveInput, Field, Fields, Index, Member};

use crate::errors;

/// Expands the derive.
pub fn expand(item: TokenStream) -> TokenStream {
    match syn::parse2::<DeriveInput>(item) {
        Ok(item) => aggregate(&item),
        Err(error) => error.to_compile_error(),
    }
}

fn aggregate(item: &DeriveInput) -> TokenStream {
    let Data::Struct(data) = &item.data else {
        return syn::Error::new_spanned(&item.ident, errors::AGGREGATE).to_compile_error();
    };
    let (name, visibility, parts) = (&item.ident, &item.vis, format_ident!("{}Parts", item.ident));
    let (implemented, used, bounds) = item.generics.split_for_impl();
    let fields = fields(&data.fields);
    quote! {
        #[doc(hidden)]
        #[derive(Clone, Copy)]
        #visibility struct #parts;

        impl #implemented ::quadpair::lang::Aggregate for #name #used #bounds {
            type Parts = #parts;
            const PARTS: #parts = #parts;
        }

        impl #parts {
            #[track_caller]
            pub const fn walk #implemented (
                self,
                value: #name #used,
                other: #name #used,
                walker: &mut ::quadpair::lang::Walker<'_, '_>,
            ) -> #name #used #bounds {
                let _ = (&other, &walker);
                #name { #(#fields)* }
            }
        }
    }
}

/// The walk over each field, shown at its type.
fn fields(fields: &Fields) -> Vec<TokenStream> {
    fields.iter().enumerate().map(|(i, field)| walked(&member(i, field), field)).collect()
}

fn member(i: usize, field: &Field) -> Member {
    match &field.ident {
        Some(name) => Member::Named(name.clone()),
        None => Member::Unnamed(Index::from(i)),
    }
}

fn walked(member: &Member, field: &Field) -> TokenStream {
    let name = match member {
        Member::Named(name) => name.to_string().trim_start_matches("r#").to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    };
    let walk = quote_spanned!(field.ty.span()=> ::quadpair::lang::parts(&value.#member).walk(value.#member, other.#member, walker));
    quote! {
        #member: {
            walker.down(#name);
            let walked = #walk;
            walker.up();
            walked
        },
    }
}
