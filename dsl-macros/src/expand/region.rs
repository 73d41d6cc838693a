//! Functions as arguments: `x.reduce(1, |a, b| a * b)`.
//!
//! Rust's constant functions cannot take closures, so the closure is traced where it stands, between the function's opening
//! and its end:
//!
//! ```text
//! let operand1 = x;
//! let mut function2 = region::reduce(trace, 1);
//! let a = parts(&operand1).walk(operand1, operand1, &mut Walker::elements(trace, &mut function2));
//! let b = parts(&operand1).walk(operand1, operand1, &mut Walker::elements(trace, &mut function2));
//! let given3 = mul(trace, Operand::Tile(a), Operand::Tile(b));
//! let result4 = parts(&operand1).walk(operand1, given3, &mut Walker::give(trace, &function2));
//! region::end(trace, function2);
//! result4
//! ```
//!
//! The path of a device function stands for the closure that calls it.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprClosure, Pat, ReturnType, Token, parse_quote};

use super::body::{Body, Info, without_parentheses};
use super::call::Call;
use super::control::walk;
use crate::binding::{Number, Stage};
use crate::errors;
use crate::spans::Ends;
use crate::tables::Taker;

/// A call that takes a function, taken apart.
struct Taking<'a> {
    taker: Taker,
    name: Ident,
    /// What the function is applied to.
    operand: &'a mut Expr,
    /// Axis and the like.
    rest: Vec<&'a mut Expr>,
    function: &'a Expr,
    ends: Ends,
}

impl Body {
    /// Rewrites a call of this function if it is one that takes a function of elements.
    pub fn function_taking(&mut self, expr: &mut Expr) -> Option<Info> {
        let ends = Ends::of(expr);
        let (name, mut arguments): (Ident, Vec<&mut Expr>) = match expr {
            Expr::Call(call) => match without_parentheses(&call.func) {
                Expr::Path(path) => (path.path.segments.last()?.ident.clone(), call.args.iter_mut().collect()),
                _ => return None,
            },
            Expr::MethodCall(call) => {
                (call.method.clone(), std::iter::once(&mut *call.receiver).chain(&mut call.args).collect())
            }
            _ => return None,
        };
        let taker = Taker::named(&name.to_string())?;
        if arguments.len() != taker.arguments || !is_function(arguments[taker.arguments - 1]) {
            return None;
        }
        let function = arguments.pop()?.clone();
        let operand = arguments.remove(0);
        let taking = Taking { taker, name, operand, rest: arguments, function: &function, ends };
        let (code, info) = self.with_function(taking)?;
        *expr = Expr::Verbatim(code);
        Some(info)
    }

    fn with_function(&mut self, taking: Taking<'_>) -> Option<(TokenStream, Info)> {
        let Taking { taker, name, operand, rest, function, ends } = taking;
        let members = match without_parentheses(operand) {
            Expr::Tuple(tuple) => tuple.elems.len(),
            _ => 1,
        };
        let closure = as_closure(function, taker, members);
        if !self.expr(operand).is_run_time() {
            self.errors.at(&name, errors::nothing_at_run_time(&name));
            return Some((TokenStream::new(), Info::WRONG));
        }
        let mut begin = Call::new(ends);
        for argument in rest {
            let own = Ends::of(argument);
            let info = self.expr(argument);
            self.plain(&mut begin, argument, info, own);
        }
        let begin = begin.function(&["region", &name.to_string()]);
        let [operands, this, given, result] =
            ["operand", "function", "given", "result"].map(|k| self.name(k, ends.first));
        let Some((patterns, body)) = self.closure(&closure, taker, &name) else {
            return Some((TokenStream::new(), Info::WRONG));
        };
        let operand_name: Expr = parse_quote!(#operands);
        let elements = patterns.iter().map(|pattern| {
            let of = walk(Ends::of(pattern), [&operand_name, &operand_name], "elements", quote!(&mut #this));
            quote!(let #pattern = #of;)
        });
        let given_name: Expr = parse_quote!(#given);
        let first = if taker.combines { &operand_name } else { &given_name };
        let give = walk(Ends::of(&closure.body), [first, &given_name], "give", quote!(&#this));
        let elements: TokenStream = elements.collect();
        let trace = crate::spans::trace();
        let end = ends.call(&["region", "end"], quote!(#trace, #this));
        let code = quote!({
            let #operands = #operand;
            let mut #this = #begin;
            #elements
            let #given = #body;
            let #result = #give;
            #end;
            #result
        });
        Some((code, Info::TRACED))
    }

    /// The patterns of a function's parameters, one an aggregate, and its rewritten body.
    fn closure(&mut self, closure: &ExprClosure, taker: Taker, name: &Ident) -> Option<(Vec<Pat>, TokenStream)> {
        let patterns = match parameters(closure, taker) {
            Some(patterns) => patterns,
            None => {
                self.errors.at(&closure.inputs, errors::parameters(name, taker.parameters));
                return None;
            }
        };
        self.scopes.push();
        self.scopes.enter_run_time("function of elements");
        for pattern in &patterns {
            self.bind(pattern, Some(Stage::RunTime), Number::Unknown);
        }
        let mut body = (*closure.body).clone();
        self.expr(&mut body);
        for place in self.scopes.leave() {
            self.errors.at(&place.expr, errors::changes_outside(&place.name()));
        }
        self.scopes.pop();
        let body = without_parentheses(&body).to_token_stream();
        Some(match &closure.output {
            ReturnType::Type(_, ty) => (patterns, quote!({ let given: #ty = #body; given })),
            ReturnType::Default => (patterns, body),
        })
    }
}

fn is_function(expr: &Expr) -> bool {
    matches!(without_parentheses(expr), Expr::Closure(_) | Expr::Path(_))
}

/// The function as a closure: a path stands for the closure that calls it.
fn as_closure(function: &Expr, taker: Taker, members: usize) -> ExprClosure {
    if let Expr::Closure(closure) = without_parentheses(function) {
        return closure.clone();
    }
    let at = Ends::of(function).first;
    let count = if taker.combines { taker.parameters } else { members };
    let names: Vec<Ident> = (0..count).map(|i| Ident::new(&format!("__element{i}"), at)).collect();
    let call: TokenStream = Ends::of(function).parenthesize(quote!(#(#names),*)).into_token_stream();
    syn::parse_quote_spanned!(at=> |#(#names),*| #function #call)
}

/// One pattern for each aggregate that the function takes: a map's parameters are the members of one tuple.
fn parameters(closure: &ExprClosure, taker: Taker) -> Option<Vec<Pat>> {
    let inputs: Vec<&Pat> = closure.inputs.iter().collect();
    match inputs.len() {
        given if given == taker.parameters => Some(inputs.into_iter().cloned().collect()),
        given if given > 1 && !taker.combines => {
            let inputs: Punctuated<&Pat, Token![,]> = inputs.into_iter().collect();
            Some(vec![parse_quote!((#inputs))])
        }
        _ => None,
    }
}
