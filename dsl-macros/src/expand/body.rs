//! Bodies: the walk over statements and expressions.
//!
//! Every expression is visited once. The visit rewrites it in place and tells its [`Info`]. Plain Rust stays as it is,
//! run-time or not: a field of a struct of tiles is a field. Only operations that the kernel has to do are replaced, by
//! [`Expr::Verbatim`].

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{
    Block, Expr, ExprLit, ExprMatch, ExprPath, ExprRepeat, ExprStruct, Lit, Local, Macro, Pat, PatIdent, Stmt, Token,
};

use crate::binding::{Number, Scopes, Stage};
use crate::errors::{self, Errors};

/// What the visit of an expression tells.
#[derive(Clone, Copy)]
pub struct Info {
    /// When its value is known.
    pub stage: Stage,
    /// Whether unsuffixed literals made it.
    pub number: Number,
    /// Whether its code uses the trace: then it cannot stand between the parentheses of a call that uses it too.
    pub traced: bool,
}

impl Info {
    pub const COMPTIME: Info = Info { stage: Stage::Comptime, number: Number::Unknown, traced: false };
    /// The result of an operation of the kernel.
    pub const TRACED: Info = Info { stage: Stage::RunTime, number: Number::Unknown, traced: true };
    /// What stands in for an expression with an error.
    pub const WRONG: Info = Info { stage: Stage::RunTime, number: Number::Unknown, traced: false };

    /// What is made of both.
    pub fn join(self, other: Info) -> Info {
        Info { stage: self.stage.join(other.stage), number: Number::Unknown, traced: self.traced || other.traced }
    }

    pub fn is_run_time(self) -> bool {
        self.stage == Stage::RunTime
    }
}

/// Whether the value of a block or branch goes anywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    Value,
    Effect,
}

/// The rewriting of one function body.
#[derive(Default)]
pub struct Body {
    pub scopes: Scopes,
    pub errors: Errors,
    names: usize,
}

impl Body {
    /// Declares every name of a parameter's pattern.
    pub fn parameter(&mut self, pattern: &Pat, stage: Stage) {
        self.bind(pattern, Some(stage), Number::Unknown);
    }

    /// Rewrites the whole body.
    pub fn rewrite(&mut self, block: &mut Block, result: Use) {
        self.block(block, result);
    }

    /// A new name for an intermediate value, placed at the value.
    pub fn name(&mut self, kind: &str, at: Span) -> Ident {
        self.names += 1;
        Ident::new(&format!("__{kind}{}", self.names), at)
    }

    pub fn block(&mut self, block: &mut Block, result: Use) -> Info {
        self.scopes.push();
        let last = block.stmts.len();
        let mut whole = Info::COMPTIME;
        for (at, statement) in block.stmts.iter_mut().enumerate() {
            let result = if at + 1 == last { result } else { Use::Effect };
            let info = self.statement(statement, result);
            whole = Info { traced: whole.traced || info.traced, ..info };
        }
        self.scopes.pop();
        whole
    }

    fn statement(&mut self, statement: &mut Stmt, result: Use) -> Info {
        match statement {
            Stmt::Local(local) => self.local(local),
            Stmt::Expr(expr, None) => self.expr_for(expr, result),
            Stmt::Expr(expr, Some(_)) => {
                let info = self.expr_for(expr, Use::Effect);
                Info { traced: info.traced, ..Info::COMPTIME }
            }
            Stmt::Macro(statement) => self.macro_call(&mut statement.mac),
            Stmt::Item(_) => Info::COMPTIME,
        }
    }

    fn local(&mut self, local: &mut Local) -> Info {
        let Some(init) = &mut local.init else {
            self.bind(&local.pat, None, Number::Unknown);
            return Info::COMPTIME;
        };
        // Parts of run-time structs can be comptime, which syntax cannot see: the author says so, and it is plain Rust.
        let info = match crate::parse::take_comptime(&mut local.attrs) {
            true => Info::COMPTIME,
            false => self.expr(&mut init.expr),
        };
        if let Some((_, diverge)) = &mut init.diverge {
            self.expr_for(diverge, Use::Effect);
        }
        let undecided = matches!(&*init.expr, Expr::Path(path) if path.path.is_ident("None"));
        self.bind(&local.pat, (!undecided).then_some(info.stage), info.number);
        Info { traced: info.traced, ..Info::COMPTIME }
    }

    /// Declares the names of a pattern.
    pub fn bind(&mut self, pattern: &Pat, stage: Option<Stage>, number: Number) {
        match pattern {
            Pat::Ident(name) if is_binding(name) => self.scopes.bind(&name.ident, stage, number),
            Pat::Type(typed) => self.bind(&typed.pat, stage, number),
            Pat::Paren(paren) => self.bind(&paren.pat, stage, number),
            _ => {
                let mut names = Names::default();
                names.visit_pat(pattern);
                for name in names.found {
                    self.scopes.bind(&name, stage, Number::Unknown);
                }
            }
        }
    }

    /// Rewrites an expression whose value is used.
    pub fn expr(&mut self, expr: &mut Expr) -> Info {
        self.expr_for(expr, Use::Value)
    }

    /// Rewrites an expression: the one place that knows all kinds.
    pub fn expr_for(&mut self, expr: &mut Expr, result: Use) -> Info {
        match expr {
            Expr::Lit(literal) => number_of(literal),
            Expr::Path(path) => self.path(path),
            Expr::Paren(paren) => self.expr_for(&mut paren.expr, result),
            Expr::Group(group) => self.expr_for(&mut group.expr, result),
            Expr::Unary(_) => self.unary(expr),
            Expr::Binary(_) => self.binary(expr),
            Expr::Cast(_) => self.cast(expr),
            Expr::Assign(assign) => self.assign(assign),
            Expr::Call(_) => self.call(expr),
            Expr::MethodCall(_) => self.method_call(expr),
            Expr::Field(field) => self.base(&mut field.base),
            Expr::Index(index) => self.index(index),
            Expr::Reference(reference) => self.reference(reference),
            Expr::Array(array) => self.parts(array.elems.iter_mut()),
            Expr::Tuple(tuple) => self.parts(tuple.elems.iter_mut()),
            Expr::Repeat(repeat) => self.repeat(repeat),
            Expr::Struct(literal) => self.struct_literal(literal),
            Expr::Range(range) => self.parts(range.start.iter_mut().chain(&mut range.end).map(|end| &mut **end)),
            Expr::Block(block) => self.block(&mut block.block, result),
            Expr::If(_) => self.if_else(expr, result),
            Expr::Match(choice) => self.match_arms(choice, result),
            Expr::Let(condition) => self.let_condition(condition),
            Expr::ForLoop(_) => self.for_loop(expr),
            Expr::While(repeat) => self.while_loop(repeat),
            Expr::Loop(repeat) => self.endless_loop(repeat),
            Expr::Break(jump) => self.break_loop(jump),
            Expr::Continue(jump) => self.jump(&jump.continue_token, "continue", jump.label.as_ref()),
            Expr::Macro(call) => self.macro_call(&mut call.mac),
            _ => self.refuse(expr),
        }
    }

    /// Kinds of expressions that a kernel cannot have; what is left is plain Rust.
    fn refuse(&mut self, expr: &Expr) -> Info {
        match expr {
            Expr::Return(e) => self.errors.at(&e.return_token, errors::RETURN),
            Expr::Try(e) => self.errors.at(&e.question_token, errors::QUESTION),
            Expr::Unsafe(e) => self.errors.at(&e.unsafe_token, errors::UNSAFE),
            Expr::Async(e) => self.errors.at(&e.async_token, errors::ASYNC),
            Expr::Await(e) => self.errors.at(&e.await_token, errors::ASYNC),
            Expr::Closure(e) => self.errors.at(&e.inputs_begin, errors::CLOSURE),
            _ => return Info::COMPTIME,
        }
        Info::WRONG
    }

    fn path(&mut self, path: &ExprPath) -> Info {
        let Some(name) = path.path.get_ident() else { return Info::COMPTIME };
        let (stage, number) = self.scopes.look_up(name);
        Info { stage, number, traced: false }
    }

    /// An expression that a `.` or `[` follows.
    pub fn base(&mut self, base: &mut Expr) -> Info {
        let info = self.expr(base);
        seal(base);
        Info { number: Number::Unknown, ..info }
    }

    pub fn parts<'a>(&mut self, parts: impl Iterator<Item = &'a mut Expr>) -> Info {
        parts.fold(Info::COMPTIME, |whole, part| whole.join(self.expr(part)))
    }

    fn repeat(&mut self, repeat: &mut ExprRepeat) -> Info {
        Info { number: Number::Unknown, ..self.expr(&mut repeat.expr) }
    }

    fn struct_literal(&mut self, literal: &mut ExprStruct) -> Info {
        let fields = literal.fields.iter_mut().map(|field| &mut field.expr);
        self.parts(fields.chain(literal.rest.as_deref_mut()))
    }

    /// A `match` chooses while tracing: at run time it can only take a tuple, struct or option of tiles apart.
    fn match_arms(&mut self, choice: &mut ExprMatch, result: Use) -> Info {
        let subject = self.expr(&mut choice.expr);
        let mut whole = Info { traced: subject.traced, ..Info::COMPTIME };
        for arm in &mut choice.arms {
            self.scopes.push();
            self.arm_pattern(&mut arm.pat, subject.stage);
            whole = whole.join(self.expr_for(&mut arm.body, result));
            self.scopes.pop();
        }
        whole
    }

    fn arm_pattern(&mut self, pattern: &mut Pat, stage: Stage) {
        if stage == Stage::RunTime {
            self.forbid_literals(pattern);
        }
        self.bind(pattern, Some(stage), Number::Unknown);
        if let Pat::Guard(guarded) = pattern
            && self.expr(&mut guarded.guard).is_run_time()
        {
            self.errors.at(&guarded.if_token, errors::GUARD);
        }
    }

    pub fn forbid_literals(&mut self, pattern: &Pat) {
        let mut names = Names::default();
        names.visit_pat(pattern);
        for literal in names.literals {
            self.errors.at(&literal, errors::MATCH_LITERAL);
        }
    }

    /// Macros run while tracing. `assert!` and its kin are understood; others must do without run-time values.
    fn macro_call(&mut self, call: &mut Macro) -> Info {
        const UNDERSTOOD: [&str; 4] = ["assert", "debug_assert", "panic", "unreachable"];
        let known = UNDERSTOOD.iter().any(|name| call.path.is_ident(name));
        let arguments = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        let (true, Ok(mut arguments)) = (known, arguments) else {
            self.forbid_run_time_names(call.tokens.clone());
            return Info::COMPTIME;
        };
        let mut traced = false;
        for argument in &mut arguments {
            let source = argument.clone();
            let info = self.expr(argument);
            traced |= info.traced;
            if info.is_run_time() {
                self.errors.at(&source, errors::MACRO_ARGUMENT);
            }
        }
        call.tokens = arguments.into_token_stream();
        Info { traced, ..Info::COMPTIME }
    }

    fn forbid_run_time_names(&mut self, tokens: TokenStream) {
        let mut after_dot = false;
        for token in tokens {
            match &token {
                TokenTree::Ident(name) if !after_dot && self.scopes.look_up(name).0 == Stage::RunTime => {
                    self.errors.at(name, errors::MACRO_ARGUMENT);
                }
                TokenTree::Group(group) => self.forbid_run_time_names(group.stream()),
                _ => {}
            }
            after_dot = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '.');
        }
    }
}

/// Parenthesizes generated code, so that what follows belongs to its value.
pub fn seal(expr: &mut Expr) {
    if let Expr::Verbatim(tokens) = expr {
        *tokens = quote::quote!((#tokens));
    }
}

/// What stands inside parentheses.
pub fn without_parentheses(expr: &Expr) -> &Expr {
    match expr {
        Expr::Paren(paren) => without_parentheses(&paren.expr),
        Expr::Group(group) => without_parentheses(&group.expr),
        other => other,
    }
}

fn number_of(literal: &ExprLit) -> Info {
    let number = match &literal.lit {
        Lit::Int(int) if int.suffix().is_empty() => Number::Integer,
        Lit::Float(float) if float.suffix().is_empty() => Number::Float,
        _ => Number::Unknown,
    };
    Info { number, ..Info::COMPTIME }
}

/// Whether this names a new variable: a capital letter begins a constant or a variant.
fn is_binding(name: &PatIdent) -> bool {
    !name.ident.to_string().starts_with(char::is_uppercase)
}

/// The names that a pattern binds, and the literals in it.
#[derive(Default)]
struct Names {
    found: Vec<Ident>,
    literals: Vec<TokenStream>,
}

impl<'a> Visit<'a> for Names {
    fn visit_pat(&mut self, pattern: &'a Pat) {
        match pattern {
            Pat::Ident(name) if is_binding(name) => self.found.push(name.ident.clone()),
            Pat::Lit(literal) => self.literals.push(literal.to_token_stream()),
            Pat::Range(range) => self.literals.push(range.to_token_stream()),
            _ => {}
        }
        visit::visit_pat(self, pattern);
    }

    /// Expressions inside patterns bind nothing.
    fn visit_expr(&mut self, _: &'a Expr) {}
}
