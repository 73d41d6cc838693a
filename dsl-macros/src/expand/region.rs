//! Functions as arguments: `x.reduce(1, |a, b| a * b)`.
//!
//! Rust's constant functions cannot take closures, so the closure is traced where it stands, between the function's opening
//! and its end:
//!
//! ```text
//! let operand1 = x;
//! let mut function2 = region::reduce(trace, 1);
//! let parts3 = parts(&operand1);
//! let a = parts3.walk(operand1, operand1, &mut Walker::elements(trace, &mut function2));
//! let b = parts3.walk(operand1, operand1, &mut Walker::elements(trace, &mut function2));
//! let given4 = mul(trace, Operand::Tile(a), Operand::Tile(b));
//! let result5 = parts3.walk(operand1, given4, &mut Walker::give(trace, &function2));
//! region::end(trace, function2);
//! result5
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
use crate::spans::{Ends, trace};
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
        let Some(code) = self.with_function(taking) else { return Some(Info::WRONG) };
        *expr = Expr::Verbatim(code);
        Some(Info::TRACED)
    }

    /// The code of such a call, unless something is wrong with it.
    fn with_function(&mut self, taking: Taking<'_>) -> Option<TokenStream> {
        let Taking { taker, name, operand, rest, function, ends } = taking;
        let closure = as_closure(function, taker, operand);
        let of = Ends::of(operand);
        if !self.expr(operand).is_run_time() {
            self.errors.at(&name, errors::nothing_at_run_time(&name));
            return None;
        }
        let begin = self.begin_function(&name, rest, ends);
        let traced = self.closure(&closure, taker, &name)?;
        let operand_name = self.name("operand", ends.first);
        let (parts, find) = self.find_parts(of, &parse_quote!(#operand_name));
        let code = self.between(taker, (&operand_name, &parts), begin, traced, ends);
        Some(quote!({ let #operand_name = #operand; #find #code }))
    }

    fn begin_function(&mut self, name: &Ident, arguments: Vec<&mut Expr>, ends: Ends) -> TokenStream {
        let mut begin = Call::new(ends);
        for argument in arguments {
            let own = Ends::of(argument);
            let info = self.expr(argument);
            self.plain(&mut begin, argument, info, own);
        }
        begin.function(&["region", &name.to_string()])
    }

    /// What stands between a function's opening and its end, and both: a block's statements.
    fn between(
        &mut self,
        taker: Taker,
        (operand, parts): (&Ident, &Ident),
        begin: TokenStream,
        traced: Traced,
        ends: Ends,
    ) -> TokenStream {
        let [this, given, result] = ["function", "given", "result"].map(|kind| self.name(kind, ends.first));
        let (operand, given_value): (Expr, Expr) = (parse_quote!(#operand), parse_quote!(#given));
        let elements: TokenStream = traced
            .patterns
            .iter()
            .map(|pattern| {
                let of = walk(parts, Ends::of(pattern), [&operand, &operand], "elements", quote!(&mut #this));
                quote!(let #pattern = #of;)
            })
            .collect();
        // A function that combines gives what its operand is.
        let (first, (parts, find)) = match taker.combines {
            true => (&operand, (parts.clone(), TokenStream::new())),
            false => (&given_value, self.find_parts(traced.ends, &given_value)),
        };
        let give = walk(&parts, traced.ends, [first, &given_value], "give", quote!(&#this));
        let (body, trace) = (traced.body, trace());
        let end = ends.call(&["region", "end"], quote!(#trace, #this));
        quote! {
            let mut #this = #begin;
            #elements
            let #given = #body;
            #find
            let #result = #give;
            #end;
            #result
        }
    }

    /// Rewrites a function's body.
    fn closure(&mut self, closure: &ExprClosure, taker: Taker, name: &Ident) -> Option<Traced> {
        let Some(patterns) = parameters(closure, taker) else {
            self.errors.at(&closure.inputs_begin, errors::parameters(name, taker.parameters));
            return None;
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
        let body = match &closure.output {
            ReturnType::Type(_, ty) => quote!({ let given: #ty = #body; given }),
            ReturnType::Default => body,
        };
        Some(Traced { patterns, body, ends: Ends::of(&closure.body) })
    }
}

/// A function of elements that has been rewritten.
struct Traced {
    /// One an aggregate that it takes.
    patterns: Vec<Pat>,
    body: TokenStream,
    /// Where the body stands.
    ends: Ends,
}

fn is_function(expr: &Expr) -> bool {
    matches!(without_parentheses(expr), Expr::Closure(_) | Expr::Path(_))
}

/// The function as a closure: a path stands for the closure that calls it, a map's with the members of a tuple.
fn as_closure(function: &Expr, taker: Taker, operand: &Expr) -> ExprClosure {
    if let Expr::Closure(closure) = without_parentheses(function) {
        return closure.clone();
    }
    let members = match without_parentheses(operand) {
        Expr::Tuple(tuple) => tuple.elems.len(),
        _ => 1,
    };
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
