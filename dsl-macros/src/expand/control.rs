//! Control flow: what runs while tracing and what the kernel does.
//!
//! A loop over comptime bounds becomes a `while` loop of the tracing function: it unrolls. With a run-time bound the body
//! is traced once, between `for_begin` and `for_end`. A variable that the body changes is *carried*: it enters the loop
//! as a value of its own, and what the body made of it leaves to the next iteration:
//!
//! ```text
//! for i in 0..n { acc = acc + x; }
//!
//! let loop1 = for_begin(trace, Operand::Int(0), Operand::Tile(n), Operand::Int(1));
//! let parts2 = parts(&acc);
//! acc = parts2.walk(acc, acc, &mut Walker::enter(trace, &loop1, "acc"));
//! let entry3 = acc;
//! { let i = loop1.index(); acc = add(trace, Operand::Tile(acc), Operand::Tile(x)); }
//! acc = parts2.walk(entry3, acc, &mut Walker::leave(trace, &loop1, "acc"));
//! for_end(trace, loop1);
//! ```
//!
//! The variable may be a tile or anything made of tiles: the walk goes over all of them.
//!
//! A run-time `if` traces both branches from the same variables and merges what they made.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::{
    Block, Expr, ExprBreak, ExprForLoop, ExprIf, ExprLet, ExprLoop, ExprMethodCall, ExprRange, ExprWhile, Lifetime,
    Pat, RangeLimits, Stmt, parse_quote,
};

use super::body::{Body, Info, Use, without_parentheses};
use super::call::Call;
use crate::binding::{Number, Place, Stage};
use crate::errors;
use crate::spans::{Ends, hidden, trace};
use crate::tables::WARP_ANY;

/// The header of a `for` loop: bounds and step, each with what the visit told and where it stands.
pub struct Header {
    pub low: (Expr, Info, Ends),
    pub high: (Expr, Info, Ends),
    pub step: Option<(Expr, Info, Ends)>,
    pub ends: Ends,
}

impl Header {
    pub fn is_run_time(&self) -> bool {
        let step = self.step.as_ref().is_some_and(|step| step.1.is_run_time());
        self.low.1.is_run_time() || self.high.1.is_run_time() || step
    }

    /// The statements that name a comptime step, and its name.
    pub fn comptime_step(&self) -> (TokenStream, TokenStream) {
        let Some((step, _, ends)) = &self.step else { return (TokenStream::new(), quote!(1)) };
        let by = hidden("__step");
        let check = quote_spanned!(ends.first=> ::core::assert!(#by != 0, "a loop cannot step by 0"););
        (quote!(let #by = #step; #check), quote!(#by))
    }

    pub fn traced(&self) -> bool {
        self.low.1.traced || self.high.1.traced || self.step.as_ref().is_some_and(|step| step.1.traced)
    }
}

impl Body {
    pub fn for_loop(&mut self, expr: &mut Expr) -> Info {
        let Expr::ForLoop(repeat) = expr else { return Info::COMPTIME };
        if let Some((code, info)) = self.pipelined_loop(repeat) {
            *expr = Expr::Verbatim(code);
            return info;
        }
        if !matches!(&*repeat.pat, Pat::Ident(_) | Pat::Wild(_)) {
            self.errors.at(&repeat.pat, errors::LOOP_PATTERN);
        }
        let Some(header) = self.header(&repeat.expr) else { return Info::WRONG };
        let (code, traced) = match header.is_run_time() {
            true => (self.run_time_loop(repeat, header), true),
            false => self.unrolled_loop(repeat, header),
        };
        *expr = Expr::Verbatim(code);
        Info { traced, ..Info::COMPTIME }
    }

    pub fn header(&mut self, range: &Expr) -> Option<Header> {
        let ends = Ends::of(range);
        let (range, step) = match range {
            Expr::MethodCall(ExprMethodCall { receiver, method, args, .. })
                if method == "step_by" && args.len() == 1 =>
            {
                (without_parentheses(receiver), args.first())
            }
            range => (without_parentheses(range), None),
        };
        let Expr::Range(ExprRange { start: Some(low), limits, end: Some(high), .. }) = range else {
            self.errors.at(range, errors::RANGE);
            return None;
        };
        if let RangeLimits::Closed(limits) = limits {
            self.errors.at(limits, errors::RANGE_INCLUSIVE);
        }
        Some(Header { low: self.part(low), high: self.part(high), step: step.map(|step| self.part(step)), ends })
    }

    fn part(&mut self, part: &Expr) -> (Expr, Info, Ends) {
        let mut rewritten = part.clone();
        let info = self.expr(&mut rewritten);
        (rewritten, info, Ends::of(part))
    }

    /// A loop with comptime bounds. The index moves on before the body, so that `continue` finds it moved.
    fn unrolled_loop(&mut self, repeat: &mut ExprForLoop, header: Header) -> (TokenStream, bool) {
        let ExprForLoop { attrs, label, pat, body, .. } = repeat;
        let label_name = label.as_ref().map(|label| &label.name);
        self.scopes.enter_unrolled(label_name);
        let info = self.loop_body(pat, Stage::Comptime, body);
        self.scopes.leave();
        let (next, end) = (hidden("__next"), hidden("__end"));
        let (low, high) = (&header.low.0, &header.high.0);
        let (step, by) = header.comptime_step();
        let body = statements(body);
        let code = quote!({
            let mut #next = #low;
            let #end = #high;
            #step
            #(#attrs)*
            #label while #next < #end {
                let #pat = #next;
                #next += #by;
                #body
            }
        });
        (code, header.traced() || info.traced)
    }

    fn loop_body(&mut self, pattern: &Pat, stage: Stage, body: &mut Block) -> Info {
        self.scopes.push();
        self.bind(pattern, Some(stage), Number::Integer);
        let info = self.block(body, Use::Effect);
        self.scopes.pop();
        info
    }

    fn run_time_loop(&mut self, repeat: &mut ExprForLoop, header: Header) -> TokenStream {
        let ExprForLoop { pat, body, .. } = repeat;
        self.scopes.enter_run_time("loop");
        self.loop_body(pat, Stage::RunTime, body);
        let carried = self.scopes.leave();
        let this = self.name("loop", header.ends.first);
        let ends = header.ends;
        let (begin, body) = (self.begin(header), statements(body));
        let end = ends.call(&["control", "for_end"], after_trace(quote!(#this)));
        let (enters, leaves) = self.carried(carried, &this, ends);
        quote!({
            let #this = #begin;
            #enters
            {
                let #pat = #this.index();
                #body
            }
            #leaves
            #end;
        })
    }

    /// What enters an open loop before its body and leaves it behind.
    pub fn carried(&mut self, carried: Vec<Place>, this: &Ident, ends: Ends) -> (TokenStream, TokenStream) {
        let (mut enters, mut leaves) = (TokenStream::new(), TokenStream::new());
        for place in carried {
            let entry = self.name("entry", place.ends.first);
            let (target, name, at) = (&place.expr, place.name(), place.ends);
            let (parts, find) = self.find_parts(at, target);
            let enter = walk(&parts, ends, [target, target], "enter", quote!(&#this, #name));
            let leave = walk(&parts, at, [&parse_quote!(#entry), target], "leave", quote!(&#this, #name));
            enters.extend(quote!(#find #target = #enter; let #entry = #target;));
            leaves.extend(quote!(#target = #leave;));
        }
        (enters, leaves)
    }

    fn begin(&mut self, header: Header) -> TokenStream {
        self.with_bounds(header, &["control", "for_begin"])
    }

    /// A call that takes a loop's bounds and step.
    pub fn with_bounds(&mut self, header: Header, function: &[&str]) -> TokenStream {
        let mut begin = Call::new(header.ends);
        let one = (parse_quote!(1), Info::COMPTIME, header.ends);
        for (part, info, ends) in [header.low, header.high, header.step.unwrap_or(one)] {
            self.operand(&mut begin, &part, info, ends);
        }
        begin.function(function)
    }

    pub fn if_else(&mut self, expr: &mut Expr, result: Use) -> Info {
        let Expr::If(choice) = expr else { return Info::COMPTIME };
        let ends = Ends::of(&choice.cond);
        let by_warp = take_warp_any(&mut choice.cond);
        self.scopes.push();
        let condition = self.expr(&mut choice.cond);
        let info = match condition.is_run_time() {
            false => self.comptime_if(choice, condition, result),
            true => {
                let begin = if by_warp { "if_any_begin" } else { "if_begin" };
                let (code, info) = self.run_time_if(choice, (condition, ends, begin), result);
                *expr = Expr::Verbatim(code);
                info
            }
        };
        self.scopes.pop();
        info
    }

    fn comptime_if(&mut self, choice: &mut ExprIf, condition: Info, result: Use) -> Info {
        let then = self.block(&mut choice.then_branch, result);
        let other = match &mut choice.else_branch {
            Some((_, other)) => self.expr_for(other, result),
            None => Info::COMPTIME,
        };
        let number = if then.number == other.number { then.number } else { Number::Unknown };
        let traced = condition.traced || then.traced || other.traced;
        match result {
            Use::Value => Info { stage: then.stage.join(other.stage), number, traced },
            Use::Effect => Info { traced, ..Info::COMPTIME },
        }
    }

    fn run_time_if(
        &mut self,
        choice: &mut ExprIf,
        (condition, ends, begin_with): (Info, Ends, &'static str),
        result: Use,
    ) -> (TokenStream, Info) {
        let value = result == Use::Value && tail(&choice.then_branch).is_some() && choice.else_branch.is_some();
        let result = if value { Use::Value } else { Use::Effect };
        let mut sources = vec![tail(&choice.then_branch).cloned()];
        sources.extend(choice.else_branch.as_ref().map(|(_, other)| else_tail(other).cloned()));
        self.scopes.enter_run_time("`if`");
        let mut infos = vec![self.block(&mut choice.then_branch, result)];
        if let Some((_, other)) = &mut choice.else_branch {
            infos.push(self.expr_for(other, result));
        }
        let carried = self.scopes.leave();
        if value {
            self.require_run_time(&sources, &infos);
        }
        let mut begin = Call::new(ends);
        self.plain(&mut begin, &choice.cond, condition, ends);
        let begin = begin.function(&["control", begin_with]);
        let merged = sources.pop().flatten().filter(|_| value);
        let code = self.branches(choice, ends, begin, carried, merged);
        let stage = if value { Stage::RunTime } else { Stage::Comptime };
        (code, Info { stage, number: Number::Unknown, traced: true })
    }

    /// Both values of a run-time `if` must be run-time to be merged.
    fn require_run_time(&mut self, sources: &[Option<Expr>], infos: &[Info]) {
        for (source, info) in sources.iter().zip(infos) {
            if let (Some(source), false) = (source, info.is_run_time()) {
                self.errors.at(source, errors::BRANCH);
            }
        }
    }

    /// The code of a run-time `if`; `merged` is the last expression of the last branch where the `if` has a value.
    fn branches(
        &mut self,
        choice: &ExprIf,
        ends: Ends,
        begin: TokenStream,
        carried: Vec<Place>,
        merged: Option<Expr>,
    ) -> TokenStream {
        let this = self.name("if", ends.first);
        let then = statements(&choice.then_branch);
        let other = choice.else_branch.as_ref().map(|(_, other)| branch(other));
        let otherwise = ends.call(&["control", "if_else"], after_trace(quote!(&#this)));
        let end = ends.call(&["control", "if_end"], after_trace(quote!(#this)));
        let Restore { save, swap, merge } = self.restore(&this, &carried);
        let Some(merged) = merged else {
            return quote!({ let #this = #begin; #save #then #swap #otherwise; #other #merge #end; });
        };
        let (first, second, value) = (hidden("__first"), hidden("__second"), hidden("__merged"));
        let (ends, sides) = (Ends::of(&merged), [&parse_quote!(#first), &parse_quote!(#second)]);
        let (parts, find) = self.find_parts(ends, sides[0]);
        let join = walk(&parts, ends, sides, "merge", quote!(&#this, ""));
        quote!({
            let #this = #begin;
            #save
            let #first = #then;
            #swap
            #otherwise;
            let #second = #other;
            #merge
            #find
            let #value = #join;
            #end;
            #value
        })
    }

    /// What keeps the variables that a run-time `if` changes apart, branch by branch.
    fn restore(&mut self, this: &Ident, carried: &[Place]) -> Restore {
        let mut code = Restore::default();
        for place in carried {
            let (target, name, at) = (&place.expr, place.name(), place.ends.first);
            let (before, then) = (self.name("before", at), self.name("then", at));
            let (parts, find) = self.find_parts(place.ends, target);
            let merge = walk(&parts, place.ends, [&parse_quote!(#then), target], "merge", quote!(&#this, #name));
            code.save.extend(quote!(#find let #before = #target;));
            code.swap.extend(quote!(let #then = #target; #target = #before;));
            code.merge.extend(quote!(#target = #merge;));
        }
        code
    }

    /// A name for what has the walk over a value's parts, and the statement that finds it.
    pub fn find_parts(&mut self, ends: Ends, of: &Expr) -> (Ident, TokenStream) {
        let name = self.name("parts", ends.first);
        let find = ends.call(&["parts"], quote_spanned!(ends.first=> &#of));
        (name.clone(), quote!(let #name = #find;))
    }

    /// `let` in a condition: the pattern's names live in the branch.
    pub fn let_condition(&mut self, condition: &mut ExprLet) -> Info {
        let info = self.expr(&mut condition.expr);
        if info.is_run_time() {
            self.forbid_literals(&condition.pat);
        }
        self.bind(&condition.pat, Some(info.stage), Number::Unknown);
        Info { traced: info.traced, ..Info::COMPTIME }
    }

    pub fn while_loop(&mut self, repeat: &mut ExprWhile) -> Info {
        self.scopes.push();
        let condition = self.expr(&mut repeat.cond);
        if condition.is_run_time() {
            self.errors.at(&repeat.while_token, errors::WHILE);
        }
        self.scopes.enter_unrolled(repeat.label.as_ref().map(|label| &label.name));
        let body = self.block(&mut repeat.body, Use::Effect);
        self.scopes.leave();
        self.scopes.pop();
        Info { traced: condition.traced || body.traced, ..Info::COMPTIME }
    }

    pub fn endless_loop(&mut self, repeat: &mut ExprLoop) -> Info {
        self.scopes.enter_unrolled(repeat.label.as_ref().map(|label| &label.name));
        let body = self.block(&mut repeat.body, Use::Effect);
        self.scopes.leave();
        Info { traced: body.traced, ..Info::COMPTIME }
    }

    pub fn break_loop(&mut self, jump: &mut ExprBreak) -> Info {
        let value = jump.expr.as_mut().map_or(Info::COMPTIME, |value| self.expr(value));
        self.jump(&jump.break_token, "break", jump.label.as_ref()).join(value)
    }

    /// Leaving a loop is tracing's own business, but not out of something that is traced once.
    pub fn jump(&mut self, token: &impl ToTokens, keyword: &str, label: Option<&Lifetime>) -> Info {
        if let Some(control) = self.scopes.jumps_out_of(label) {
            self.errors.at(token, errors::jump(keyword, control));
        }
        Info::COMPTIME
    }
}

/// Statements around the two branches of a run-time `if`.
#[derive(Default)]
struct Restore {
    save: TokenStream,
    swap: TokenStream,
    merge: TokenStream,
}

/// `parts.walk(a, b, &mut Walker::purpose(trace, arguments))`, shown at these places.
pub fn walk(parts: &Ident, ends: Ends, [a, b]: [&Expr; 2], purpose: &str, arguments: TokenStream) -> TokenStream {
    let (at, trace) = (ends.first, trace());
    let (purpose, parts) = (Ident::new(purpose, at), Ident::new(&parts.to_string(), at));
    let walker = quote_spanned!(at=> &mut ::quadpair::lang::Walker::#purpose(#trace, #arguments));
    let arguments = ends.parenthesize(quote!(#a, #b, #walker));
    quote_spanned!(at=> #parts.walk #arguments)
}

pub fn after_trace(arguments: TokenStream) -> TokenStream {
    let trace = trace();
    quote!(#trace, #arguments)
}

/// A block with braces of ours: rustc would find the author's superfluous where they stand now.
pub fn statements(block: &Block) -> TokenStream {
    let statements = &block.stmts;
    quote!({ #(#statements)* })
}

/// What follows `else`.
fn branch(other: &Expr) -> TokenStream {
    match other {
        Expr::Block(block) => statements(&block.block),
        other => other.to_token_stream(),
    }
}

/// The expression that gives a block its value.
fn tail(block: &Block) -> Option<&Expr> {
    match block.stmts.last()? {
        Stmt::Expr(expr, None) => Some(expr),
        _ => None,
    }
}

/// The expression that gives an `else` branch its value.
fn else_tail(other: &Expr) -> Option<&Expr> {
    match other {
        Expr::Block(block) => tail(&block.block),
        _ => Some(other),
    }
}

/// Replaces the condition `warp_any(x)` by `x`, and tells whether it was one.
fn take_warp_any(condition: &mut Expr) -> bool {
    let Expr::Call(call) = &*condition else { return false };
    let named = matches!(&*call.func, Expr::Path(path) if path.path.is_ident(WARP_ANY));
    if let (true, 1, Some(tile)) = (named, call.args.len(), call.args.first().cloned()) {
        *condition = tile;
        return true;
    }
    false
}
