//! Loops that load ahead: `for (i, item) in pipelined(range, |i| ..) { .. }`.
//!
//! The function is traced where it stands, as many items before the body that uses them as the author says: that of item
//! 1 comes before the body of item 0. Items wait in a *ring* of the tracing function. Over a comptime range everything
//! unrolls, so that nothing remains of the ring:
//!
//! ```text
//! for (i, x) in pipelined(0..n, |i| memory.slice(0, i, 1).load(l)) { acc = acc + x; }
//!
//! let mut ring = [None; MOST];
//! let (mut next, mut ahead) = (0, 0);
//! let (mut index, mut number) = (0, 0);
//! while index < n {
//!     while next < n && ahead <= number + depth {
//!         let i = next;
//!         next += 1;
//!         ring[ahead % MOST] = Some(memory.slice(trace, 0, i, 1).load(trace, l));
//!         ahead += 1;
//!     }
//!     let x = item(ring[number % MOST]);
//!     ..
//! }
//! ```
//!
//! With a run-time range the first items are loaded before the loop, which carries them; its body is traced once and
//! loads for a later index. A comptime range inside it is unrolled, and the items go on from one round to the next.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, ExprCall, ExprClosure, ExprForLoop, Pat, ReturnType, parse_quote};

use super::body::{Body, Info, Use, without_parentheses};
use super::control::{Header, after_trace, statements, walk};
use crate::binding::{Number, Stage};
use crate::errors;
use crate::spans::{Ends, hidden, trace};
use crate::tables::PIPELINED;

/// The header of such a loop, taken apart.
struct Pipelined {
    /// The run-time range, and the names of its index in the function and in the body.
    outer: Option<(Header, [Pat; 2])>,
    /// The comptime range.
    inner: Option<(Header, [Pat; 2])>,
    depth: TokenStream,
    item: Pat,
    load: ExprClosure,
    ends: Ends,
}

/// The function and the body after rewriting.
struct Traced {
    load: TokenStream,
    body: TokenStream,
}

impl Body {
    /// The code of a loop over `pipelined(..)`; `None` for any other loop.
    pub fn pipelined_loop(&mut self, repeat: &mut ExprForLoop) -> Option<(TokenStream, Info)> {
        let Expr::Call(call) = without_parentheses(&repeat.expr) else { return None };
        if !matches!(&*call.func, Expr::Path(path) if path.path.is_ident(PIPELINED)) {
            return None;
        }
        let call = call.clone();
        let Some(pipelined) = self.pipelined(&call, &repeat.pat) else {
            return Some((TokenStream::new(), Info::WRONG));
        };
        let code = match pipelined.outer {
            Some(_) => self.run_time_pipeline(repeat, pipelined),
            None => self.unrolled_pipeline(repeat, pipelined),
        };
        Some((code, Info { traced: true, ..Info::COMPTIME }))
    }

    fn pipelined(&mut self, call: &ExprCall, pattern: &Pat) -> Option<Pipelined> {
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let (ranges, depth, load) = match arguments[..] {
            [ranges, load] => (ranges, None, load),
            [ranges, depth, load] => (ranges, Some(depth), load),
            _ => return self.wrong(call, errors::PIPELINED),
        };
        let (Expr::Closure(load), Pat::Tuple(names)) = (without_parentheses(load), pattern) else {
            return self.wrong(call, errors::PIPELINED);
        };
        if load.inputs.len() != 1 || names.elems.len() != 2 {
            return self.wrong(call, errors::PIPELINED);
        }
        let indices = [load.inputs[0].clone(), names.elems[0].clone()];
        let (outer, inner) = self.ranges(without_parentheses(ranges), indices)?;
        let depth = depth.map_or(Some(quote!(1)), |depth| self.depth(depth))?;
        Some(Pipelined { outer, inner, depth, item: names.elems[1].clone(), load: load.clone(), ends: Ends::of(call) })
    }

    fn wrong<T>(&mut self, at: &impl ToTokens, message: &str) -> Option<T> {
        self.errors.at(at, message);
        None
    }

    fn depth(&mut self, depth: &Expr) -> Option<TokenStream> {
        let mut rewritten = depth.clone();
        if self.expr(&mut rewritten).is_run_time() {
            return self.wrong(depth, errors::PIPELINED_DEPTH);
        }
        Some(rewritten.into_token_stream())
    }

    /// The run-time range and the comptime one, each with its index in the function and in the body.
    #[expect(clippy::type_complexity, reason = "a pair of the same")]
    fn ranges(
        &mut self,
        ranges: &Expr,
        indices: [Pat; 2],
    ) -> Option<(Option<(Header, [Pat; 2])>, Option<(Header, [Pat; 2])>)> {
        let Expr::Tuple(both) = ranges else {
            let header = self.header(ranges)?;
            return Some(if header.is_run_time() {
                (Some((header, indices)), None)
            } else {
                (None, Some((header, indices)))
            });
        };
        let pairs: Vec<[Pat; 2]> = indices.iter().filter_map(pair).collect();
        let ([load, body], 2) = (&pairs[..], both.elems.len()) else {
            return self.wrong(both, errors::PIPELINED_PAIR);
        };
        let (outer, inner) = (self.header(&both.elems[0])?, self.header(&both.elems[1])?);
        if !outer.is_run_time() || inner.is_run_time() {
            return self.wrong(both, errors::PIPELINED_RANGES);
        }
        let names = |i: usize| [load[i].clone(), body[i].clone()];
        Some((Some((outer, names(0))), Some((inner, names(1)))))
    }

    fn unrolled_pipeline(&mut self, repeat: &mut ExprForLoop, pipelined: Pipelined) -> TokenStream {
        let label = repeat.label.clone();
        self.scopes.enter_unrolled(label.as_ref().map(|label| &label.name));
        let Traced { load, body } = self.traced(repeat, &pipelined);
        self.scopes.leave();
        let Pipelined { inner: Some((header, [load_index, body_index])), item, ends, .. } = &pipelined else {
            return TokenStream::new();
        };
        let [ring, next, ahead, index, number, end] =
            ["__ring", "__next", "__ahead", "__index", "__number", "__end"].map(hidden);
        let (low, high, (step, by)) = (&header.low.0, &header.high.0, header.comptime_step());
        let (depth, start) = start(&pipelined);
        let most = most();
        let taken = ends.call(&["pipeline", "item"], quote!(#ring[#number % #most]));
        quote!({
            let (mut #next, #end) = (#low, #high);
            #step
            #start
            let (mut #index, mut #ahead, mut #number) = (#next, 0, 0);
            #label while #index < #end {
                while #next < #end && #ahead <= #number + #depth {
                    let #load_index = #next;
                    #next += #by;
                    #ring[#ahead % #most] = ::core::option::Option::Some(#load);
                    #ahead += 1;
                }
                let #body_index = #index;
                let #item = #taken;
                #index += #by;
                #number += 1;
                #body
            }
        })
    }

    fn run_time_pipeline(&mut self, repeat: &mut ExprForLoop, mut pipelined: Pipelined) -> TokenStream {
        self.scopes.enter_run_time("loop");
        let traced = self.traced(repeat, &pipelined);
        let carried = self.scopes.leave();
        let Some((header, outer)) = pipelined.outer.take() else { return TokenStream::new() };
        let this = self.name("loop", pipelined.ends.first);
        let range_ends = header.ends;
        let range = self.with_bounds(header, &["pipeline", "range"]);
        let (enters, leaves) = self.carried(carried, &this, range_ends);
        let end = range_ends.call(&["control", "for_end"], after_trace(quote!(#this)));
        let rounds = Rounds::new(&pipelined, outer, &traced, &this);
        let (start, first, round) = (rounds.start(), rounds.first(), rounds.round(&traced));
        let (ring_enters, ring_leaves) = rounds.carried();
        let (trace, bounds) = (trace(), hidden("__range"));
        quote!({
            let #bounds = #range;
            #start
            #first
            let #this = #bounds.begin(#trace);
            #enters
            #ring_enters
            #round
            #leaves
            #ring_leaves
            #end;
        })
    }

    /// Rewrites the function, then the body.
    fn traced(&mut self, repeat: &mut ExprForLoop, pipelined: &Pipelined) -> Traced {
        let indices = [(&pipelined.outer, Stage::RunTime), (&pipelined.inner, Stage::Comptime)];
        self.scopes.push();
        self.scopes.enter_function("pipelined function");
        for (range, stage) in indices {
            range.iter().for_each(|(_, [load, _])| self.bind(load, Some(stage), Number::Integer));
        }
        let mut load = (*pipelined.load.body).clone();
        let item = self.expr(&mut load);
        self.scopes.leave();
        self.scopes.pop();
        self.scopes.push();
        for (range, stage) in indices {
            range.iter().for_each(|(_, [_, body])| self.bind(body, Some(stage), Number::Integer));
        }
        self.bind(&pipelined.item, Some(item.stage), Number::Unknown);
        self.block(&mut repeat.body, Use::Effect);
        self.scopes.pop();
        let load = without_parentheses(&load).to_token_stream();
        let load = match &pipelined.load.output {
            ReturnType::Type(_, ty) => quote!({ let item: #ty = #load; item }),
            ReturnType::Default => load,
        };
        Traced { load, body: statements(&repeat.body) }
    }
}

/// What the code of a loop with a run-time range is made of.
struct Rounds<'p> {
    pipelined: &'p Pipelined,
    load: TokenStream,
    this: &'p Ident,
    /// The function's and the body's names of the run-time index.
    outer: [Pat; 2],
    ends: Ends,
}

impl<'p> Rounds<'p> {
    fn new(pipelined: &'p Pipelined, outer: [Pat; 2], traced: &Traced, this: &'p Ident) -> Self {
        let ends = Ends::of(&pipelined.load.body);
        Rounds { pipelined, load: traced.load.clone(), this, outer, ends }
    }

    /// The comptime index that is loaded next, and in which round: of the one range, of rounds of one item, or of two.
    fn start(&self) -> TokenStream {
        let [low, end, next, round] = ["__low", "__end", "__next", "__round"].map(hidden);
        let (_, start) = start(self.pipelined);
        let (bounds, step) = match &self.pipelined.inner {
            Some((header, _)) => {
                let (from, to) = (&header.low.0, &header.high.0);
                (quote!((#from, #to)), header.comptime_step().0)
            }
            None => (quote!((0, 1)), TokenStream::new()),
        };
        let check = self.pipelined.ends.call(&["pipeline", "round"], after_trace(quote!(#low < #end)));
        quote! {
            let (#low, #end) = #bounds;
            #step
            #check;
            #start
            let (mut #next, mut #round) = (#low, 0);
        }
    }

    fn by(&self) -> TokenStream {
        self.pipelined.inner.as_ref().map_or(quote!(1), |(header, _)| header.comptime_step().1)
    }

    fn inner(&self, which: usize, value: &TokenStream) -> TokenStream {
        self.pipelined.inner.as_ref().map_or(TokenStream::new(), |(_, names)| {
            let name = &names[which];
            quote!(let #name = #value;)
        })
    }

    /// The next item, given the first round's index; then the one behind it is next.
    fn loaded(&self, first: TokenStream) -> TokenStream {
        let [low, end, next, round, range] = ["__low", "__end", "__next", "__round", "__range"].map(hidden);
        let (load, outer, by, trace) = (&self.load, &self.outer[0], self.by(), trace());
        let inner = self.inner(0, &quote!(#next));
        quote!({
            let #outer = #range.later(#trace, #first, #round);
            #inner
            #next += #by;
            if #next >= #end {
                #next = #low;
                #round += 1;
            }
            #load
        })
    }

    /// Loads the first items, before the loop.
    fn first(&self) -> TokenStream {
        let [ring, depth, ahead, range] = ["__ring", "__depth", "__ahead", "__range"].map(hidden);
        let loaded = self.loaded(quote!(#range.low()));
        quote! {
            let mut #ahead = 0;
            while #ahead < #depth {
                #ring[#ahead] = ::core::option::Option::Some(#loaded);
                #ahead += 1;
            }
        }
    }

    /// What the loop carries of the ring.
    fn carried(&self) -> (TokenStream, TokenStream) {
        let [ring, depth, slot, item, entries] = ["__ring", "__depth", "__slot", "__item", "__entries"].map(hidden);
        let (this, parts) = (self.this, Ident::new("__parts", self.ends.first));
        let name = self.pipelined.item.to_token_stream().to_string().replace(' ', "");
        let (old, new): (Expr, Expr) = (parse_quote!(#item), parse_quote!(__given));
        let find = self.ends.call(&["parts"], quote!(&#item));
        let taken = |from: &Ident| self.ends.call(&["pipeline", "item"], quote!(#from[#slot]));
        let (from_ring, from_entries) = (taken(&ring), taken(&entries));
        let enter = walk(&parts, self.ends, [&old, &old], "enter", quote!(&#this, #name));
        let leave = walk(&parts, self.ends, [&old, &new], "leave", quote!(&#this, #name));
        let enters = quote! {
            let mut #slot = 0;
            while #slot < #depth {
                let #item = #from_ring;
                let #parts = #find;
                #ring[#slot] = ::core::option::Option::Some(#enter);
                #slot += 1;
            }
            let #entries = #ring;
        };
        let leaves = quote! {
            #slot = 0;
            while #slot < #depth {
                let (#item, #new) = (#from_entries, #from_ring);
                let #parts = #find;
                let _ = #leave;
                #slot += 1;
            }
        };
        (enters, leaves)
    }

    /// One round: each item is taken, a later one loaded, and the body done.
    fn round(&self, traced: &Traced) -> TokenStream {
        let [low, end, ring, depth, index, current] =
            ["__low", "__end", "__ring", "__depth", "__index", "__current"].map(hidden);
        let (this, by, item, outer) = (self.this, self.by(), &self.pipelined.item, &self.outer[1]);
        let (loaded, body, inner) = (self.loaded(quote!(#this.index())), &traced.body, self.inner(1, &quote!(#index)));
        let first = self.ends.call(&["pipeline", "item"], quote!(#ring[0]));
        let pushed = self.ends.call(&["pipeline", "pushed"], quote!(#ring, #depth, #loaded));
        quote! {
            let mut #index = #low;
            while #index < #end {
                let #current = #first;
                #ring = #pushed;
                {
                    let #outer = #this.index();
                    #inner
                    let #item = #current;
                    #body
                }
                #index += #by;
            }
        }
    }
}

/// The names of an index of two.
fn pair(pattern: &Pat) -> Option<[Pat; 2]> {
    match pattern {
        Pat::Wild(_) => Some([pattern.clone(), pattern.clone()]),
        Pat::Tuple(names) if names.elems.len() == 2 => Some([names.elems[0].clone(), names.elems[1].clone()]),
        _ => None,
    }
}

/// How many items the ring has room for.
fn most() -> TokenStream {
    quote!(::quadpair::lang::pipeline::MOST)
}

/// The name of the depth, and the statements that make it and the ring.
fn start(pipelined: &Pipelined) -> (Ident, TokenStream) {
    let ([ring, depth], most) = (["__ring", "__depth"].map(hidden), most());
    let (own, at) = (&pipelined.depth, Ends::of(&pipelined.depth));
    let at = if pipelined.depth.to_string() == "1" { pipelined.ends } else { at };
    let checked = at.call(&["pipeline", "depth"], after_trace(quote!(#own)));
    let start = quote! {
        let #depth = #checked;
        let mut #ring = [::core::option::Option::None; #most];
    };
    (depth, start)
}
