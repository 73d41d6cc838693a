//! Addresses: a pointer moved by a number of elements.

use crate::element::DType;
use crate::ir::{BinaryOp, UnaryOp};
use crate::lower::Lowering;
use crate::lower::num::Num;
use crate::ptx::{Alu, Class, Reg, Type};

use super::multiple::Multiple;

impl Lowering<'_> {
    /// An address moved by a number of elements.
    pub(in crate::lower) fn address(
        &mut self,
        op: BinaryOp,
        element: DType,
        pointer: Num,
        offset_type: DType,
        offset: Num,
    ) -> Num {
        let offset = if op == BinaryOp::Sub { self.unary(UnaryOp::Neg, offset_type, offset) } else { offset };
        let Num::Int { base, offset } = offset else { unreachable!("integers are kept as Num::Int") };
        let bytes = i64::from(element.bytes());
        let scaled = match base {
            None => Num::int(offset * bytes),
            Some(reg) if reg.class == Class::B64 => self.scaled(DType::I64, reg, offset, bytes),
            Some(reg) => return self.wide_address(pointer, offset_type, reg, offset, bytes),
        };
        self.integer(BinaryOp::Add, DType::I64, pointer, scaled)
    }

    fn wide_address(&mut self, pointer: Num, offset_type: DType, reg: Reg, offset: i64, bytes: i64) -> Num {
        let Num::Int { base, offset: own } = pointer else { unreachable!("addresses are kept as Num::Int") };
        let ty = if offset_type == DType::U32 { Type::U32 } else { Type::S32 };
        if let Some(multiple) = base.and_then(|reg| self.multiples.get(&reg).copied()) {
            let start = Num::base(multiple.base);
            let Num::Int { base: Some(base), offset } = self.wide_address(start, offset_type, reg, offset, bytes)
            else {
                unreachable!("addresses are kept as Num::Int")
            };
            let moved = self.multiple(DType::I64, Multiple { base, ..multiple });
            return Num::Int { base: Some(moved), offset: own + offset };
        }
        let (factor, start) = (Num::int(bytes), base.map_or(Num::int(0), Num::base));
        let moved = self.alu(Alu::MadWide, ty, Class::B64, &[Num::base(reg), factor, start]);
        let step = self.emit.divisor(reg).saturating_mul(bytes as u32);
        let divisor = base.map_or(step, |pointer| self.emit.divisor(pointer).min(step));
        self.emit.set_divisor(moved, divisor);
        Num::Int { base: Some(moved), offset: own + offset * bytes }
    }
}
