//! Conversions between element types, by these rules:
//!
//! - to a float: rounded once, to nearest even; what is too large becomes infinity, in 8 bits the largest number;
//! - a float to an integer: towards zero, clamped to the integer's range, NaN to 0;
//! - an integer to a narrower one: its low bits;
//! - to `bool`: whether it isn't 0, NaN included; from `bool`: 0 or 1.
//!
//! *Once* takes care where there is no instruction and the way goes through `f32`: a number between two `f32` is first
//! rounded *to odd* (cut off, and the last bit set), which keeps it off the ties of any narrower type. As a `bf16`,
//! 1 + 2^-8 + 2^-30 lies above the tie between 1 and 1 + 2^-7 and goes up; rounded to an `f32` in between it would be
//! the tie itself and go down.

use crate::element::DType;
use crate::ir::{BinaryOp, CompareOp};
use crate::lower::Lowering;
use crate::lower::num::Num;
use crate::ptx::{Class, Compare, Reg, Rounding, Type};

use super::integer::wrap;
use super::{class_of, constant, type_of};

impl Lowering<'_> {
    /// A conversion between element types.
    pub(in crate::lower) fn cast(&mut self, from: DType, to: DType, num: Num) -> Num {
        if from == to {
            return num;
        }
        match (from, to) {
            (DType::Bool, _) => {
                let number = |value: i64| if to.is_float() { constant(to, value as f64) } else { Num::int(value) };
                self.select(to, num, number(1), number(0))
            }
            (_, DType::Bool) => {
                let zero = if from.is_float() { constant(from, 0.0) } else { Num::int(0) };
                self.compare(CompareOp::Ne, from, num, zero)
            }
            _ if from.is_narrow_float() => {
                let wide = self.widened(from, num);
                self.cast(DType::F32, to, wide)
            }
            (DType::F32, _) if to.is_narrow_float() => self.narrowed(to, num),
            (_, DType::BF16 | DType::F8E4M3 | DType::F8E5M2) => {
                let odd = self.odd_single(from, num);
                self.narrowed(to, odd)
            }
            _ if from.is_float() && to.is_float() => self.cast_float(from, to, num),
            _ if from.is_float() => self.cast_to_integer(from, to, num),
            _ if to.is_float() => self.cast_to_float(from, to, num),
            _ => self.cast_integer(from, to, num),
        }
    }

    fn cast_float(&mut self, from: DType, to: DType, num: Num) -> Num {
        if let Num::Float(bits) = num {
            return constant(to, f64::from_bits(bits));
        }
        let wide = self.reg(num, class_of(from));
        let rounding = (from == DType::F64).then_some(Rounding::Rn);
        Num::Reg(self.cvt(type_of(to), type_of(from), rounding, class_of(to), wide))
    }

    fn cast_to_integer(&mut self, from: DType, to: DType, num: Num) -> Num {
        let float = self.reg(num, class_of(from));
        let cut = Num::of(self.cvt(cvt_type(to), type_of(from), Some(Rounding::Rzi), class_of(to), float));
        // The instruction gives 0 for NaN unless either side has 64 bits.
        if from != DType::F64 && class_of(to) != Class::B64 {
            return cut;
        }
        let nan = self.setp(Compare::Nan, type_of(from), Num::Reg(float), Num::Reg(float));
        self.select(to, Num::Reg(nan), Num::int(0), cut)
    }

    fn cast_to_float(&mut self, from: DType, to: DType, num: Num) -> Num {
        if let Num::Int { base: None, offset } = num {
            return constant(to, if from == DType::U64 { offset as u64 as f64 } else { offset as f64 });
        }
        let reg = self.reg(num, class_of(from));
        Num::Reg(self.cvt(type_of(to), type_of(from), Some(Rounding::Rn), class_of(to), reg))
    }

    /// An `f64` or integer as an `f32` that is rounded to odd.
    fn odd_single(&mut self, from: DType, num: Num) -> Num {
        if from.bytes() <= 2 {
            return self.cast_to_float(from, DType::F32, num);
        }
        let (own, class) = (type_of(from), class_of(from));
        let exact = self.reg(num, class);
        let cut = self.cvt(Type::F32, own, Some(Rounding::Rz), Class::F32, exact);
        // Cut off it is no larger, so it has a place in its own type again.
        let back = self.cvt(own, Type::F32, (!from.is_float()).then_some(Rounding::Rzi), class, cut);
        let differ = if from.is_float() { Compare::Neu } else { Compare::Ne };
        let inexact = self.setp(differ, own, Num::of(back), Num::of(exact));
        Num::Reg(self.with_last_bit(cut, inexact))
    }

    fn with_last_bit(&mut self, single: Reg, set: Reg) -> Reg {
        let bits = self.recast(single, Class::B32);
        let odd = self.integer(BinaryOp::Or, DType::U32, Num::base(bits), Num::int(1));
        let bits = self.select(DType::U32, Num::Reg(set), odd, Num::base(bits));
        let bits = self.reg(bits, Class::B32);
        self.recast(bits, Class::F32)
    }

    fn cast_integer(&mut self, from: DType, to: DType, num: Num) -> Num {
        let Num::Int { base, offset } = num else { unreachable!("integers are kept as Num::Int") };
        let Some(reg) = base else { return Num::int(wrap(to, offset)) };
        let (narrow, wide) = (class_of(from), class_of(to));
        if narrow == wide {
            return self.wrapped(to, num);
        }
        // The constant part of an unsigned sum may wrap it around, which shows in a wider type.
        let (reg, offset) = if from == DType::U32 { (self.reg(num, narrow), 0) } else { (reg, offset) };
        let divisor = self.emit.divisor(reg);
        let converted = match wide {
            Class::B64 => self.cvt(type_of(from).widened(), type_of(from), None, wide, reg),
            _ => self.cvt(Type::U32, Type::U64, None, wide, reg),
        };
        self.emit.set_divisor(converted, divisor);
        self.wrapped(to, Num::Int { base: Some(converted), offset })
    }
}

impl Type {
    /// The 64-bit type of the same sign.
    fn widened(self) -> Type {
        if self == Type::S32 { Type::S64 } else { Type::U64 }
    }
}

/// The spelling of a type that `cvt` converts to: narrow integers saturate in their own width.
fn cvt_type(dtype: DType) -> Type {
    match dtype {
        DType::I8 => Type::S8,
        DType::I16 => Type::S16,
        DType::U8 => Type::U8,
        DType::U16 => Type::U16,
        _ => type_of(dtype),
    }
}
