//! Calls: what makes one an operation of the kernel, and how it gets the trace.
//!
//! `f(x, g(y))` becomes `{ let __value1 = g(__trace, y); f(__trace, x, __value1) }`. Only arguments that use the trace
//! themselves move in front, because the trace is borrowed by the call around them; the others stay where they are.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprCall, ExprCast, ExprLit, ExprMethodCall, Lit, Token, UnOp, parse_quote};

use super::body::{Body, Info, seal, without_parentheses};
use crate::binding::{Number, Stage};
use crate::errors;
use crate::spans::{Ends, trace};
use crate::tables;

/// The arguments of one traced call and what has to run before it.
pub struct Call {
    ends: Ends,
    before: TokenStream,
    arguments: TokenStream,
}

impl Call {
    /// A call that is shown at these places.
    pub fn new(ends: Ends) -> Call {
        let trace = trace();
        Call { ends, before: TokenStream::new(), arguments: quote!(#trace) }
    }

    /// Adds an argument.
    pub fn argument(&mut self, argument: TokenStream) {
        self.arguments.extend(quote!(, #argument));
    }

    /// The call of a function of the language.
    pub fn function(self, path: &[&str]) -> TokenStream {
        let call = self.ends.call(path, self.arguments);
        finish(self.before, call)
    }

    /// The call of anything that parentheses can follow.
    pub fn callee(self, callee: TokenStream) -> TokenStream {
        let arguments = self.ends.parenthesize(self.arguments);
        finish(self.before, quote!(#callee #arguments))
    }
}

fn finish(before: TokenStream, call: TokenStream) -> TokenStream {
    if before.is_empty() { call } else { quote!({ #before #call }) }
}

impl Body {
    pub fn call(&mut self, expr: &mut Expr) -> Info {
        if let Some(info) = self.function_taking(expr) {
            return info;
        }
        let ends = Ends::of(expr);
        let Expr::Call(call) = expr else { return Info::COMPTIME };
        let name = callee_name(call);
        if name.as_deref() == Some(tables::WARP_ANY) {
            self.errors.at(&call, errors::WARP_ANY);
        }
        let (infos, whole) = self.arguments(&mut call.args);
        let Some(name) = name else {
            if whole.is_run_time() {
                self.errors.at(&call.func, errors::CALLEE);
            }
            return whole;
        };
        if name.starts_with(char::is_uppercase) || !(whole.is_run_time() || tables::is_generator(&name)) {
            return whole;
        }
        let mut made = Call::new(ends);
        let several = tables::variadic_from(&name).unwrap_or(call.args.len());
        let mut array = TokenStream::new();
        for (at, (argument, (info, ends))) in call.args.iter().zip(infos).enumerate() {
            if at >= several {
                let value = self.ready(&mut made, argument, info, ends);
                array.extend(quote!(#value,));
                continue;
            }
            match tables::is_operand(&name, at) {
                true => self.operand(&mut made, argument, info, ends),
                false => self.plain(&mut made, argument, info, ends),
            }
        }
        if several < call.args.len() {
            made.argument(quote!([#array]));
        }
        *expr = Expr::Verbatim(made.callee(call.func.to_token_stream()));
        Info::TRACED
    }

    pub fn method_call(&mut self, expr: &mut Expr) -> Info {
        if let Some(info) = self.function_taking(expr) {
            return info;
        }
        let ends = Ends::of(expr);
        let Expr::MethodCall(call) = expr else { return Info::COMPTIME };
        let receiver = self.expr(&mut call.receiver);
        let (infos, arguments) = self.arguments(&mut call.args);
        let whole = receiver.join(arguments);
        let accessor = tables::is_accessor(&call.method.to_string()) && !arguments.is_run_time();
        if accessor || !whole.is_run_time() {
            seal(&mut call.receiver);
            return Info { traced: whole.traced, ..Info::COMPTIME };
        }
        let mut made = Call::new(ends);
        let receiver = self.receiver(&mut made, &call.receiver, receiver);
        let name = call.method.to_string();
        for (at, (argument, (info, ends))) in call.args.iter().zip(infos).enumerate() {
            match tables::is_method_operand(&name, at) {
                true => self.operand(&mut made, argument, info, ends),
                false => self.plain(&mut made, argument, info, ends),
            }
        }
        let ExprMethodCall { dot_token, method, turbofish, .. } = call;
        *expr = Expr::Verbatim(made.callee(quote!(#receiver #dot_token #method #turbofish)));
        Info::TRACED
    }

    /// Rewrites the arguments of a call: what each is and where it stood, and what they are together.
    fn arguments(&mut self, arguments: &mut Punctuated<Expr, Token![,]>) -> (Vec<(Info, Ends)>, Info) {
        let visit = |argument: &mut Expr| {
            let ends = Ends::of(argument);
            (self.expr(argument), ends)
        };
        let infos: Vec<(Info, Ends)> = arguments.iter_mut().map(visit).collect();
        let whole = infos.iter().fold(Info::COMPTIME, |whole, (info, _)| whole.join(*info));
        (infos, whole)
    }

    /// `x as T`.
    pub fn cast(&mut self, expr: &mut Expr) -> Info {
        let ends = Ends::of(expr);
        let Expr::Cast(ExprCast { expr: value, ty, .. }) = expr else { return Info::COMPTIME };
        let info = self.expr(value);
        if !info.is_run_time() {
            return Info { number: Number::Unknown, ..info };
        }
        let mut made = Call::new(ends);
        let receiver = self.receiver(&mut made, value, info);
        *expr = Expr::Verbatim(made.callee(quote_spanned!(ends.first=> #receiver.to::<#ty>)));
        Info::TRACED
    }

    /// What stands before the dot of a method.
    fn receiver(&mut self, call: &mut Call, receiver: &Expr, info: Info) -> Expr {
        let ends = call.ends;
        self.ready(call, receiver, info, ends)
    }

    /// Adds an argument as it is.
    pub fn plain(&mut self, call: &mut Call, argument: &Expr, info: Info, ends: Ends) {
        let argument = self.ready(call, argument, info, ends);
        call.argument(argument.into_token_stream());
    }

    /// Adds an argument that may be a tile or a number.
    pub fn operand(&mut self, call: &mut Call, argument: &Expr, info: Info, ends: Ends) {
        let at = ends.first;
        let value = self.ready(call, argument, info, ends);
        call.argument(match literal_operand(argument) {
            Some(kind) => quote_spanned!(at=> ::quadpair::lang::Operand::#kind(#value)),
            None if info.stage == Stage::RunTime => quote_spanned!(at=> ::quadpair::lang::Operand::Tile(#value)),
            None => lift(value, info.number, at),
        });
    }

    /// A value that can stand inside the call: its name if it has to be computed in front.
    fn ready(&mut self, call: &mut Call, value: &Expr, info: Info, ends: Ends) -> Expr {
        if !info.traced {
            return value.clone();
        }
        let name = self.name("value", ends.first);
        let value = without_parentheses(value);
        call.before.extend(quote!(let #name = #value;));
        parse_quote!(#name)
    }
}

/// The last segment of the path that is called.
fn callee_name(call: &ExprCall) -> Option<String> {
    match &*call.func {
        Expr::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        _ => None,
    }
}

/// The kind of operand that a literal without suffix is, negative or not.
fn literal_operand(expr: &Expr) -> Option<TokenStream> {
    match expr {
        Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => literal_operand(&unary.expr),
        Expr::Lit(ExprLit { lit: Lit::Int(int), .. }) if int.suffix().is_empty() => Some(quote!(Int)),
        Expr::Lit(ExprLit { lit: Lit::Float(float), .. }) if float.suffix().is_empty() => Some(quote!(Float)),
        Expr::Lit(ExprLit { lit: Lit::Bool(_), .. }) => Some(quote!(Bool)),
        _ => None,
    }
}

/// A comptime value as an operand. A cast fixes a type that Rust would leave open.
fn lift(value: Expr, number: Number, at: Span) -> TokenStream {
    let (kind, ty) = match number {
        Number::Integer => (quote!(Int), parse_quote!(i64)),
        Number::Float => (quote!(Float), parse_quote!(f64)),
        Number::Unknown => return quote_spanned!(at=> ::quadpair::lang::Lift(#value).operand()),
    };
    let cast = ExprCast { attrs: Vec::new(), expr: Box::new(value), as_token: Default::default(), ty: Box::new(ty) };
    quote_spanned!(at=> ::quadpair::lang::Operand::#kind(#cast))
}
