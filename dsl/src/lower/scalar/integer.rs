//! Integers: constants are folded and carried along as offsets, divisors of the results kept, narrow types wrapped around
//! in their own width.

use crate::element::DType;
use crate::ir::{BinaryOp, CompareOp};
use crate::lower::Lowering;
use crate::lower::emit::{Pures, divisor_of_constant};
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
            (BinaryOp::MulHi, ..) => self.upper_product(dtype, a, b),
            (_, None, None) => Num::int(fold(op, dtype, c, d)),
            (BinaryOp::Add, base, None) | (BinaryOp::Add, None, base) => {
                Num::Int { base, offset: wrap_offset(dtype, c.wrapping_add(d)) }
            }
            (BinaryOp::Sub, base, None) => Num::Int { base, offset: wrap_offset(dtype, c.wrapping_sub(d)) },
            (BinaryOp::Add, Some(x), Some(y)) => {
                let base = self.sum(dtype, x, y);
                Num::Int { base: Some(base), offset: wrap_offset(dtype, c.wrapping_add(d)) }
            }
            (BinaryOp::Sub, Some(x), Some(y)) => {
                let base = self.divided(Alu::Sub, dtype, x, y, u32::min);
                Num::Int { base: Some(base), offset: wrap_offset(dtype, c.wrapping_sub(d)) }
            }
            (BinaryOp::Mul, Some(x), None) => self.scaled(dtype, x, c, d),
            (BinaryOp::Mul, None, Some(y)) => self.scaled(dtype, y, d, c),
            (BinaryOp::Mul, Some(x), Some(stride)) if c != 0 && d == 0 => self.product_of_sum(dtype, x, c, stride),
            (BinaryOp::Mul, Some(_), Some(_)) => {
                let (x, y) = (self.reg(a, class_of(dtype)), self.reg(b, class_of(dtype)));
                Num::base(self.divided(Alu::MulLo, dtype, x, y, |m, n| m.saturating_mul(n)))
            }
            (BinaryOp::Shl, Some(x), None) if (0..31).contains(&d) => self.scaled(dtype, x, c, 1 << d),
            (BinaryOp::Shl | BinaryOp::Shr, _, Some(_)) if class_of(dtype) == Class::B64 => {
                self.long_shift(op, dtype, a, b)
            }
            _ => Num::base(self.alu(alu_of(op, dtype), integer_type(op, dtype), class_of(dtype), &[a, b])),
        }
    }

    fn upper_product(&mut self, dtype: DType, a: Num, b: Num) -> Num {
        let class = class_of(dtype);
        if dtype.bytes() >= 4 {
            // One operand may be a constant, the other is in a register.
            let a = Num::base(self.reg(a, class));
            return Num::base(self.alu(Alu::MulHi, type_of(dtype), class, &[a, b]));
        }
        let wide = if dtype.is_signed() { DType::I32 } else { DType::U32 };
        let product = self.integer(BinaryOp::Mul, wide, a, b);
        self.integer(BinaryOp::Shr, wide, product, Num::int(dtype.bits().into()))
    }

    /// The distance of a shift has 32 bits; from 64 on all distances are the same.
    fn long_shift(&mut self, op: BinaryOp, dtype: DType, a: Num, b: Num) -> Num {
        let distance = self.alu(Alu::Min, Type::U64, Class::B64, &[b, Num::int(64)]);
        let distance = self.cvt(Type::U32, Type::U64, None, Class::B32, distance);
        let value = Num::base(self.reg(a, Class::B64));
        Num::base(self.alu(alu_of(op, dtype), integer_type(op, dtype), Class::B64, &[value, Num::base(distance)]))
    }

    pub(super) fn divided(&mut self, op: Alu, dtype: DType, x: Reg, y: Reg, law: fn(u32, u32) -> u32) -> Reg {
        let reg = self.alu(op, type_of(dtype), class_of(dtype), &[Num::base(x), Num::base(y)]);
        let divisor = law(self.emit.divisor(x), self.emit.divisor(y));
        self.emit.set_divisor(reg, divisor);
        reg
    }

    /// (x + offset) * factor
    pub(super) fn scaled(&mut self, dtype: DType, x: Reg, offset: i64, factor: i64) -> Num {
        let offset = wrap_offset(dtype, offset.wrapping_mul(factor));
        match factor {
            0 => return Num::int(0),
            1 => return Num::Int { base: Some(x), offset },
            _ => {}
        }
        if let Some(base) = self.scaled_multiple(dtype, x, factor) {
            return Num::Int { base: Some(base), offset };
        }
        let (op, by) = match factor.count_ones() {
            1 if factor > 0 => (Alu::Shl, factor.trailing_zeros().into()),
            _ => (Alu::MulLo, factor),
        };
        let ty = if op == Alu::Shl { bits_of(class_of(dtype)) } else { type_of(dtype) };
        let base = self.alu(op, ty, class_of(dtype), &[Num::base(x), Num::int(by)]);
        let divisor = self.emit.divisor(x).saturating_mul(divisor_of_constant(factor));
        self.emit.set_divisor(base, divisor);
        self.note_scale(base, x, factor);
        Num::Int { base: Some(base), offset }
    }

    /// Narrow integers wrap around in their own width.
    pub(in crate::lower) fn wrapped(&mut self, dtype: DType, num: Num) -> Num {
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
            return Num::Bool(fold_compare(op, dtype, offset, limit));
        }
        let mut left = a;
        if matches!(op, CompareOp::Lt | CompareOp::Ge) {
            let divisor = base.map_or(1, |reg| self.emit.divisor(reg)).min(self.emit.divisor_of(b));
            left = Num::Int { base, offset: offset & -i64::from(divisor) };
        }
        // A sum is made where it is compared, instead of in a register across a loop.
        let sum = matches!(left, Num::Int { base: Some(reg), offset } if offset != 0 && reg.class == Class::B32);
        let before = self.emit.place(if sum { Pures::Near } else { Pures::Out });
        let holds = self.setp(compare_of(op), type_of(dtype), left, b);
        self.emit.place(before);
        Num::Reg(holds)
    }
}

fn integer_type(op: BinaryOp, dtype: DType) -> Type {
    match op {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl => bits_of(class_of(dtype)),
        _ => type_of(dtype),
    }
}

/// The constant part of a sum, which is added in registers of the type: what they can't hold has no effect.
pub(super) fn wrap_offset(dtype: DType, offset: i64) -> i64 {
    if class_of(dtype) == Class::B64 { offset } else { offset as i32 as i64 }
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
    let unsigned = dtype == DType::U64;
    let (x, y) = (a as u64, b as u64);
    let value = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        // What the hardware gives for a division by zero: all ones.
        BinaryOp::Div | BinaryOp::Rem if b == 0 => -1,
        BinaryOp::Div if unsigned => (x / y) as i64,
        BinaryOp::Rem if unsigned => (x % y) as i64,
        BinaryOp::Div => a.wrapping_div(b),
        BinaryOp::Rem => a.wrapping_rem(b),
        BinaryOp::Min if unsigned => x.min(y) as i64,
        BinaryOp::Max if unsigned => x.max(y) as i64,
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        // Too far, or backwards, leaves nothing but the sign.
        BinaryOp::Shl => u32::try_from(b).ok().and_then(|by| a.checked_shl(by)).unwrap_or(0),
        BinaryOp::Shr if unsigned => u32::try_from(b).ok().and_then(|by| x.checked_shr(by)).unwrap_or(0) as i64,
        BinaryOp::Shr => a >> u32::try_from(b).unwrap_or(63).min(63),
        BinaryOp::MulHi | BinaryOp::FastDiv | BinaryOp::MinNan | BinaryOp::MaxNan => {
            unreachable!("integers have no such operation, or no folded one")
        }
    };
    wrap(dtype, value)
}

fn fold_compare(op: CompareOp, dtype: DType, a: i64, b: i64) -> bool {
    // Moved by half the range, numbers without a sign have the order of those with one.
    let (a, b) = if dtype == DType::U64 { (a ^ i64::MIN, b ^ i64::MIN) } else { (a, b) };
    match op {
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
    }
}
