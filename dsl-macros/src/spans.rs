//! Places: what of the author's source a generated call is shown under.
//!
//! rustc takes the place of a call from its first token to its last. A generated call therefore starts with a token
//! placed at the author's first one and ends with parentheses placed at the author's last one, and both must be names of
//! the author's own (not of the macro), or rustc would show the attribute instead.

use proc_macro2::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote_spanned};

/// The first and the last place of a piece of source.
#[derive(Clone, Copy)]
pub struct Ends {
    pub first: Span,
    pub last: Span,
}

impl Ends {
    /// The places of what is given; of the macro's call where it is empty.
    pub fn of(source: &impl ToTokens) -> Ends {
        let tokens = source.to_token_stream();
        let here = Span::call_site();
        Ends { first: first(tokens.clone()).unwrap_or(here), last: last(tokens).unwrap_or(here) }
    }

    /// A call of a function of the language by its path under `::quadpair::lang`.
    pub fn call(self, path: &[&str], arguments: TokenStream) -> TokenStream {
        let at = self.first;
        let path = path.iter().map(|name| Ident::new(name, at));
        let function = quote_spanned!(at=> ::quadpair::lang #(::#path)*);
        let arguments = self.parenthesize(arguments);
        quote_spanned!(at=> #function #arguments)
    }

    /// Parentheses that end where this ends.
    pub fn parenthesize(self, arguments: TokenStream) -> Group {
        let mut group = Group::new(Delimiter::Parenthesis, arguments);
        group.set_span(self.last);
        group
    }
}

fn first(tokens: TokenStream) -> Option<Span> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => first(group.stream()),
        TokenTree::Group(group) => Some(group.span_open()),
        other => Some(other.span()),
    })
}

fn last(tokens: TokenStream) -> Option<Span> {
    let mut found = None;
    for token in tokens {
        found = match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => last(group.stream()).or(found),
            TokenTree::Group(group) => Some(group.span_close()),
            other => Some(other.span()),
        };
    }
    found
}

/// The kernel under construction: the parameter that the macros add. No author's name can meet it.
pub fn trace() -> Ident {
    hidden("__trace")
}

/// A name that only one expansion sees.
pub fn hidden(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}
