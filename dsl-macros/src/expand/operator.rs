//! Operators with a run-time side: functions of `lang::operators` by the operator's name.

use quote::{ToTokens, quote};
use syn::{BinOp, Expr, ExprBinary, ExprUnary, UnOp};

use super::body::{Body, Info};
use super::call::Call;
use crate::binding::Number;
use crate::errors;
use crate::spans::Ends;

impl Body {
    pub fn unary(&mut self, expr: &mut Expr) -> Info {
        let ends = Ends::of(expr);
        let Expr::Unary(ExprUnary { op, expr: value, .. }) = expr else { return Info::COMPTIME };
        let value_ends = Ends::of(value);
        let info = self.expr(value);
        let function = match op {
            UnOp::Neg(_) => "neg",
            UnOp::Not(_) => "not",
            _ => return Info { number: Number::Unknown, ..info },
        };
        if !info.is_run_time() {
            return info;
        }
        let mut made = Call::new(ends);
        self.operand(&mut made, value, info, value_ends);
        *expr = Expr::Verbatim(made.function(&["operators", function]));
        Info::TRACED
    }

    pub fn binary(&mut self, expr: &mut Expr) -> Info {
        let ends = Ends::of(expr);
        let Expr::Binary(ExprBinary { left, op, right, .. }) = expr else { return Info::COMPTIME };
        let sides = (Ends::of(left), Ends::of(right));
        let place = left.clone();
        let infos = (self.expr(left), self.expr(right));
        let whole = infos.0.join(infos.1);
        let assigns = is_assignment(op);
        if assigns {
            self.assigned(&place, whole.stage, ends);
        }
        if !whole.is_run_time() {
            return Info { number: number(op, infos.0.number, infos.1.number), ..whole };
        }
        let Some(function) = self.operator(op) else { return Info::WRONG };
        let mut made = Call::new(ends);
        self.operand(&mut made, left, infos.0, sides.0);
        self.operand(&mut made, right, infos.1, sides.1);
        let result = made.function(&["operators", function]);
        let left = left.to_token_stream();
        *expr = Expr::Verbatim(if assigns { quote!(#left = #result) } else { result });
        if assigns { Info { traced: true, ..Info::COMPTIME } } else { Info::TRACED }
    }

    /// The function that does an operator at run time.
    fn operator(&mut self, op: &BinOp) -> Option<&'static str> {
        Some(match op {
            BinOp::And(token) => return self.lazy(token, errors::LAZY_AND),
            BinOp::Or(token) => return self.lazy(token, errors::LAZY_OR),
            BinOp::Add(_) | BinOp::AddAssign(_) => "add",
            BinOp::Sub(_) | BinOp::SubAssign(_) => "sub",
            BinOp::Mul(_) | BinOp::MulAssign(_) => "mul",
            BinOp::Div(_) | BinOp::DivAssign(_) => "div",
            BinOp::Rem(_) | BinOp::RemAssign(_) => "rem",
            BinOp::BitAnd(_) | BinOp::BitAndAssign(_) => "bit_and",
            BinOp::BitOr(_) | BinOp::BitOrAssign(_) => "bit_or",
            BinOp::BitXor(_) | BinOp::BitXorAssign(_) => "bit_xor",
            BinOp::Shl(_) | BinOp::ShlAssign(_) => "shl",
            BinOp::Shr(_) | BinOp::ShrAssign(_) => "shr",
            BinOp::Lt(_) => "lt",
            BinOp::Le(_) => "le",
            BinOp::Gt(_) => "gt",
            BinOp::Ge(_) => "ge",
            BinOp::Eq(_) => "eq",
            BinOp::Ne(_) => "ne",
            _ => return None,
        })
    }

    fn lazy(&mut self, token: &impl ToTokens, message: &str) -> Option<&'static str> {
        self.errors.at(token, message);
        None
    }
}

fn is_assignment(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

/// Whether literals made the result: arithmetic has one type on both sides, a shift has its left side's.
fn number(op: &BinOp, left: Number, right: Number) -> Number {
    match op {
        BinOp::Shl(_) | BinOp::Shr(_) => left,
        BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) | BinOp::Eq(_) | BinOp::Ne(_) => Number::Unknown,
        _ if left == Number::Unknown => right,
        _ => left,
    }
}
