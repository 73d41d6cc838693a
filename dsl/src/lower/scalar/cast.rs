//! Conversions between element types.

use crate::element::DType;
use crate::ir::CompareOp;
use crate::lower::Lowering;
use crate::lower::num::Num;
use crate::ptx::{Class, Rounding, Type};

use super::integer::wrap;
use super::{class_of, type_of};

impl Lowering<'_> {
    /// A conversion between element types.
    pub(in crate::lower) fn cast(&mut self, from: DType, to: DType, num: Num) -> Num {
        if from == to {
            return num;
        }
        match (from, to) {
            (DType::Bool, _) => {
                let (one, zero) =
                    if to.is_float() { (Num::float(1.0), Num::float(0.0)) } else { (Num::int(1), Num::int(0)) };
                self.select(to, num, one, zero)
            }
            (_, DType::Bool) => {
                let zero = if from.is_float() { Num::float(0.0) } else { Num::int(0) };
                self.compare(CompareOp::Ne, from, num, zero)
            }
            (DType::F16 | DType::BF16, _) => {
                let wide = self.widened(from, num);
                self.cast(DType::F32, to, wide)
            }
            (DType::F32, DType::F16 | DType::BF16) => self.narrowed(to, num),
            (_, DType::BF16) => {
                let wide = self.cast(from, DType::F32, num);
                self.narrowed(to, wide)
            }
            _ if from.is_float() => self.cast_float(from, to, num),
            _ if to.is_float() => self.cast_to_float(from, to, num),
            _ => self.cast_integer(from, to, num),
        }
    }

    pub(super) fn cast_float(&mut self, from: DType, to: DType, num: Num) -> Num {
        let wide = self.reg(num, class_of(from));
        let (narrower, integer) = (from == DType::F64 && to.is_float(), !to.is_float());
        let rounding = if integer { Some(Rounding::Rzi) } else { narrower.then_some(Rounding::Rn) };
        let reg = self.cvt(cvt_type(to), type_of(from), rounding, class_of(to), wide);
        Num::of(reg)
    }

    pub(super) fn cast_to_float(&mut self, from: DType, to: DType, num: Num) -> Num {
        if let Num::Int { base: None, offset } = num {
            return Num::float(if from == DType::U64 { offset as u64 as f64 } else { offset as f64 });
        }
        let reg = self.reg(num, class_of(from));
        Num::Reg(self.cvt(type_of(to), type_of(from), Some(Rounding::Rn), class_of(to), reg))
    }

    pub(super) fn cast_integer(&mut self, from: DType, to: DType, num: Num) -> Num {
        let Num::Int { base, offset } = num else { unreachable!("integers are kept as Num::Int") };
        let Some(reg) = base else { return Num::int(wrap(to, offset)) };
        let (narrow, wide) = (class_of(from), class_of(to));
        if narrow == wide {
            return self.wrapped(to, num);
        }
        let converted = if wide == Class::B64 {
            self.cvt(type_of(to), type_of(from), None, wide, reg)
        } else {
            self.cvt(Type::U32, Type::U64, None, wide, reg)
        };
        let divisor = self.emit.divisor(reg);
        self.emit.set_divisor(converted, divisor);
        self.wrapped(to, Num::Int { base: Some(converted), offset })
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
