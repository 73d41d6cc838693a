//! Operators: arithmetic, comparisons, logic and selection, sent to what each type has.
//!
//! Types that the chip computes nothing in go through `f32` and are rounded back.

use crate::element::DType;
use crate::ir::{BinaryOp, CompareOp, UnaryOp};
use crate::lower::Lowering;
use crate::lower::emit::Pure;
use crate::lower::num::Num;
use crate::ptx::{Alu, Class, Compare, Op, Operand, Type};

use super::{bits_of, class_of, type_of};

impl Lowering<'_> {
    /// `a op b` on one element.
    pub(in crate::lower) fn binary(&mut self, op: BinaryOp, dtype: DType, a: Num, b: Num) -> Num {
        match dtype {
            DType::Bool => self.logic(op, a, b),
            _ if dtype.is_narrow_float() => {
                let (a, b) = (self.widened(dtype, a), self.widened(dtype, b));
                let wide = self.binary(op, DType::F32, a, b);
                self.narrowed(dtype, wide)
            }
            DType::F32 | DType::F64 if matches!(op, BinaryOp::MinNan | BinaryOp::MaxNan) => {
                self.extremum_with_nan(op, dtype, a, b)
            }
            DType::F32 if op == BinaryOp::FastDiv => Num::Reg(self.fast(Alu::Div, &[a, b])),
            DType::F32 | DType::F64 => Num::Reg(self.alu(alu_of(op, dtype), type_of(dtype), class_of(dtype), &[a, b])),
            _ => {
                let wide = self.integer(op, dtype, a, b);
                self.wrapped(dtype, wide)
            }
        }
    }

    pub(in crate::lower) fn unary(&mut self, op: UnaryOp, dtype: DType, a: Num) -> Num {
        let class = class_of(dtype);
        match (op, dtype) {
            (UnaryOp::Not, DType::Bool) => match a {
                Num::Bool(value) => Num::Bool(!value),
                _ => Num::Reg(self.alu(Alu::Not, Type::Pred, class, &[a])),
            },
            _ if dtype.is_narrow_float() => {
                let wide = self.widened(dtype, a);
                let wide = self.unary(op, DType::F32, wide);
                self.narrowed(dtype, wide)
            }
            (UnaryOp::Neg, _) if dtype.is_integer() => {
                let negative = self.integer(BinaryOp::Sub, dtype, Num::int(0), a);
                self.wrapped(dtype, negative)
            }
            (UnaryOp::Abs, _) if dtype.is_integer() && !dtype.is_signed() => a,
            (UnaryOp::Not, _) => {
                let all = Num::int(-1);
                let flipped = self.integer(BinaryOp::Xor, dtype, a, all);
                self.wrapped(dtype, flipped)
            }
            (UnaryOp::Neg | UnaryOp::Abs, _) => {
                let op = if op == UnaryOp::Neg { Alu::Neg } else { Alu::Abs };
                Num::of(self.alu(op, type_of(dtype), class, &[a]))
            }
            _ => self.function(op, dtype, a),
        }
    }

    /// `a op b` as a truth value.
    pub(in crate::lower) fn compare(&mut self, op: CompareOp, dtype: DType, a: Num, b: Num) -> Num {
        match dtype {
            DType::Bool => {
                let differ = self.logic(BinaryOp::Xor, a, b);
                if op == CompareOp::Ne { differ } else { self.unary(UnaryOp::Not, DType::Bool, differ) }
            }
            _ if dtype.is_narrow_float() => {
                let (a, b) = (self.widened(dtype, a), self.widened(dtype, b));
                self.compare(op, DType::F32, a, b)
            }
            DType::F32 | DType::F64 => {
                // Numbers that have no order are unequal.
                let compare = if op == CompareOp::Ne { Compare::Neu } else { compare_of(op) };
                Num::Reg(self.setp(compare, type_of(dtype), a, b))
            }
            _ => self.compare_integers(op, dtype, a, b),
        }
    }

    /// `a` where the predicate holds, else `b`.
    pub(in crate::lower) fn select(&mut self, dtype: DType, predicate: Num, a: Num, b: Num) -> Num {
        if let Num::Bool(value) = predicate {
            return if value { a } else { b };
        }
        if a == b {
            return a;
        }
        if dtype == DType::Bool {
            let negated = self.unary(UnaryOp::Not, DType::Bool, predicate);
            let (a, b) = (self.logic(BinaryOp::And, predicate, a), self.logic(BinaryOp::And, negated, b));
            return self.logic(BinaryOp::Or, a, b);
        }
        let class = class_of(dtype);
        let half = class == Class::B16;
        let [x, y] =
            [a, b].map(|num| if half { Operand::Reg(self.half_reg(dtype, num)) } else { self.operand(num, class) });
        let condition = self.reg(predicate, Class::Pred);
        let ty = bits_of(class);
        let reg = self.emit.pure(Pure::Selp { ty }, class, &[predicate, a, b], |_, dst| Op::Selp {
            ty,
            dst,
            a: x,
            b: y,
            predicate: condition,
        });
        Num::of(reg)
    }

    pub(in crate::lower) fn fma(&mut self, dtype: DType, a: Num, b: Num, c: Num) -> Num {
        match dtype {
            DType::F16 => {
                let [a, b, c] = [a, b, c].map(|num| Num::Reg(self.half_reg(dtype, num)));
                Num::Reg(self.alu(Alu::Fma, Type::F16, Class::B16, &[a, b, c]))
            }
            DType::BF16 | DType::F8E4M3 | DType::F8E5M2 => {
                let [a, b, c] = [a, b, c].map(|num| self.widened(dtype, num));
                let wide = self.fma(DType::F32, a, b, c);
                self.narrowed(dtype, wide)
            }
            _ => Num::Reg(self.alu(Alu::Fma, type_of(dtype), class_of(dtype), &[a, b, c])),
        }
    }

    /// NaN where either side is; chips before sm_80 have no instruction for it.
    fn extremum_with_nan(&mut self, op: BinaryOp, dtype: DType, a: Num, b: Num) -> Num {
        let plain = if op == BinaryOp::MinNan { BinaryOp::Min } else { BinaryOp::Max };
        let number = self.binary(plain, dtype, a, b);
        let nan = Num::Reg(self.setp(Compare::Nan, type_of(dtype), a, b));
        self.select(dtype, nan, Num::float(f64::NAN), number)
    }

    pub(super) fn logic(&mut self, op: BinaryOp, a: Num, b: Num) -> Num {
        match (op, a, b) {
            (BinaryOp::And, Num::Bool(true), x) | (BinaryOp::And, x, Num::Bool(true)) => x,
            (BinaryOp::And, Num::Bool(false), _) | (BinaryOp::And, _, Num::Bool(false)) => Num::Bool(false),
            (BinaryOp::Or, Num::Bool(false), x) | (BinaryOp::Or, x, Num::Bool(false)) => x,
            (BinaryOp::Or, Num::Bool(true), _) | (BinaryOp::Or, _, Num::Bool(true)) => Num::Bool(true),
            _ if a == b && op != BinaryOp::Xor => a,
            _ => Num::Reg(self.alu(alu_of(op, DType::Bool), Type::Pred, Class::Pred, &[a, b])),
        }
    }
}

pub(super) fn alu_of(op: BinaryOp, dtype: DType) -> Alu {
    match op {
        BinaryOp::Add => Alu::Add,
        BinaryOp::Sub => Alu::Sub,
        BinaryOp::Mul if dtype.is_float() => Alu::Mul,
        BinaryOp::Mul => Alu::MulLo,
        BinaryOp::MulHi => Alu::MulHi,
        BinaryOp::Div | BinaryOp::FastDiv => Alu::Div,
        BinaryOp::Rem => Alu::Rem,
        BinaryOp::Min | BinaryOp::MinNan => Alu::Min,
        BinaryOp::Max | BinaryOp::MaxNan => Alu::Max,
        BinaryOp::And => Alu::And,
        BinaryOp::Or => Alu::Or,
        BinaryOp::Xor => Alu::Xor,
        BinaryOp::Shl => Alu::Shl,
        BinaryOp::Shr => Alu::Shr,
    }
}

pub(super) fn compare_of(op: CompareOp) -> Compare {
    match op {
        CompareOp::Lt => Compare::Lt,
        CompareOp::Le => Compare::Le,
        CompareOp::Gt => Compare::Gt,
        CompareOp::Ge => Compare::Ge,
        CompareOp::Eq => Compare::Eq,
        CompareOp::Ne => Compare::Ne,
    }
}
