//! Integers: constants are folded and carried along as offsets, divisors of the results kept, narrow types wrapped around
//! in their own width.

use crate::element::DType;
use crate::ir::{BinaryOp, CompareOp};
use crate::lower::Lowering;
use crate::lower::emit::divisor_of_constant;
use crate::lower::num::Num;
use crate::ptx::{Alu, Class, Reg, Type};

use super::elementwise::{alu_of, compare_of};
use super::{bits_of, class_of, type_of};

impl Lowering<'_> {
    /// Integers: constants are folded and carried along as offsets.
    pub(in crate::lower) fn integer(&mut self, op: BinaryOp, dtype: DType, a: Num, b: Num) -> Num {
        let (Num::Int { base: left, offset: c }, Num::Int { base: right, offset: d }) = (a, b) else {
            unreachable!("integers are kept as Num::Int")
        };
        match (op, left, right) {
            (_, None, None) => Num::int(fold(op, dtype, c, d)),
            (BinaryOp::Add, base, None) | (BinaryOp::Add, None, base) => Num::Int { base, offset: c.wrapping_add(d) },
            (BinaryOp::Sub, base, None) => Num::Int { base, offset: c.wrapping_sub(d) },
            (BinaryOp::Add, Some(x), Some(y)) => {
                let base = self.divided(Alu::Add, dtype, x, y, u32::min);
                Num::Int { base: Some(base), offset: c.wrapping_add(d) }
            }
            (BinaryOp::Sub, Some(x), Some(y)) => {
                let base = self.divided(Alu::Sub, dtype, x, y, u32::min);
                Num::Int { base: Some(base), offset: c.wrapping_sub(d) }
            }
            (BinaryOp::Mul, Some(x), None) => self.scaled(dtype, x, c, d),
            (BinaryOp::Mul, None, Some(y)) => self.scaled(dtype, y, d, c),
            (BinaryOp::Mul, Some(_), Some(_)) => {
                let (x, y) = (self.reg(a, class_of(dtype)), self.reg(b, class_of(dtype)));
                Num::base(self.divided(Alu::MulLo, dtype, x, y, |m, n| m.saturating_mul(n)))
            }
            (BinaryOp::Shl, Some(x), None) if (0..31).contains(&d) => self.scaled(dtype, x, c, 1 << d),
            _ => Num::base(self.alu(alu_of(op, dtype), integer_type(op, dtype), class_of(dtype), &[a, b])),
        }
    }

    pub(super) fn divided(&mut self, op: Alu, dtype: DType, x: Reg, y: Reg, law: fn(u32, u32) -> u32) -> Reg {
        let reg = self.alu(op, type_of(dtype), class_of(dtype), &[Num::base(x), Num::base(y)]);
        let divisor = law(self.emit.divisor(x), self.emit.divisor(y));
        self.emit.set_divisor(reg, divisor);
        reg
    }

    /// (x + offset) * factor
    pub(super) fn scaled(&mut self, dtype: DType, x: Reg, offset: i64, factor: i64) -> Num {
        let offset = offset.wrapping_mul(factor);
        match factor {
            0 => return Num::int(0),
            1 => return Num::Int { base: Some(x), offset },
            _ => {}
        }
        let (op, by) = match factor.count_ones() {
            1 if factor > 0 => (Alu::Shl, factor.trailing_zeros().into()),
            _ => (Alu::MulLo, factor),
        };
        let ty = if op == Alu::Shl { bits_of(class_of(dtype)) } else { type_of(dtype) };
        let base = self.alu(op, ty, class_of(dtype), &[Num::base(x), Num::int(by)]);
        let divisor = self.emit.divisor(x).saturating_mul(divisor_of_constant(factor));
        self.emit.set_divisor(base, divisor);
        Num::Int { base: Some(base), offset }
    }

    /// Narrow integers wrap around in their own width.
    pub(super) fn wrapped(&mut self, dtype: DType, num: Num) -> Num {
        let own = match dtype {
            DType::I8 => Type::S8,
            DType::I16 => Type::S16,
            DType::U8 => Type::U8,
            DType::U16 => Type::U16,
            _ => return num,
        };
        if let Num::Int { base: None, offset } = num {
            return Num::int(wrap(dtype, offset));
        }
        let reg = self.reg(num, Class::B32);
        Num::base(self.cvt(type_of(dtype), own, None, Class::B32, reg))
    }

    /// Below a multiple of m are either all of m neighbours, the first a multiple of m as well, or none of them. So
    /// neighbours share one comparison, and an access to them one predicate.
    pub(super) fn compare_integers(&mut self, op: CompareOp, dtype: DType, a: Num, b: Num) -> Num {
        let (Num::Int { base, offset }, Num::Int { base: bound, offset: limit }) = (a, b) else {
            unreachable!("integers are kept as Num::Int")
        };
        if base.is_none() && bound.is_none() {
            return Num::Bool(fold_compare(op, offset, limit));
        }
        let mut left = a;
        if matches!(op, CompareOp::Lt | CompareOp::Ge) {
            let divisor = base.map_or(1, |reg| self.emit.divisor(reg)).min(self.emit.divisor_of(b));
            left = Num::Int { base, offset: offset & -i64::from(divisor) };
        }
        Num::Reg(self.setp(compare_of(op), type_of(dtype), left, b))
    }
}

fn integer_type(op: BinaryOp, dtype: DType) -> Type {
    match op {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl => bits_of(class_of(dtype)),
        _ => type_of(dtype),
    }
}

/// A constant in the range of its type.
pub(in crate::lower) fn wrap(dtype: DType, value: i64) -> i64 {
    match dtype {
        DType::I8 => value as i8 as i64,
        DType::I16 => value as i16 as i64,
        DType::I32 => value as i32 as i64,
        DType::U8 => value as u8 as i64,
        DType::U16 => value as u16 as i64,
        DType::U32 => value as u32 as i64,
        _ => value,
    }
}

fn fold(op: BinaryOp, dtype: DType, a: i64, b: i64) -> i64 {
    let value = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        // What the hardware gives for a division by zero: all ones; and the dividend for its remainder.
        BinaryOp::Div => {
            if b == 0 {
                -1
            } else {
                a.wrapping_div(b)
            }
        }
        BinaryOp::Rem => {
            if b == 0 {
                a
            } else {
                a.wrapping_rem(b)
            }
        }
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => {
            if (0..64).contains(&b) {
                a << b
            } else {
                0
            }
        }
        BinaryOp::Shr => a >> b.clamp(0, 63),
    };
    wrap(dtype, value)
}

fn fold_compare(op: CompareOp, a: i64, b: i64) -> bool {
    match op {
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
    }
}
