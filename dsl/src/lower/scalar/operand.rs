//! An element as an instruction wants it: an operand, a register, one half of a pair or a pair of halves.
//!
//! Elements are kept symbolic (see `num.rs`); what is asked for here is emitted the first time only.

use crate::element::DType;
use crate::lower::Lowering;
use crate::lower::emit::{Pure, divisor_of_constant};
use crate::lower::num::{Num, float_immediate};
use crate::ptx::{Alu, Class, Compare, Op, Operand, Reg, Type};

use super::bits_of;
use super::constant::half_bits;

impl Lowering<'_> {
    /// The element as an operand of an instruction.
    pub(in crate::lower) fn operand(&mut self, num: Num, class: Class) -> Operand {
        match num {
            Num::Int { base: None, offset } => Operand::Int(offset),
            Num::Float(bits) if class != Class::B16 => float_immediate(bits, class),
            _ => Operand::Reg(self.reg(num, class)),
        }
    }

    /// The element in a register.
    pub(in crate::lower) fn reg(&mut self, num: Num, class: Class) -> Reg {
        match num {
            Num::Reg(reg) => reg,
            Num::Int { base: Some(reg), offset: 0 } => reg,
            Num::Int { base: Some(base), offset } => self.plus(base, offset),
            Num::Half { pack, high } => self.half(pack, high),
            Num::Bool(value) => self.constant_predicate(value),
            Num::Int { base: None, offset } => {
                let reg = self.moved(num, class, Operand::Int(offset));
                self.emit.set_divisor(reg, divisor_of_constant(offset));
                reg
            }
            Num::Float(bits) => self.moved(num, class, float_immediate(bits, class)),
        }
    }

    fn plus(&mut self, base: Reg, offset: i64) -> Reg {
        let ty = if base.class == Class::B64 { Type::S64 } else { Type::S32 };
        let reg = self.alu(Alu::Add, ty, base.class, &[Num::base(base), Num::int(offset)]);
        let divisor = self.emit.divisor(base).min(divisor_of_constant(offset));
        self.emit.set_divisor(reg, divisor);
        reg
    }

    pub(super) fn moved(&mut self, num: Num, class: Class, src: Operand) -> Reg {
        let ty = bits_of(class);
        self.emit.pure(Pure::Mov { ty }, class, &[num], |_, dst| Op::Mov { ty, dst, src })
    }

    fn constant_predicate(&mut self, value: bool) -> Reg {
        let (compare, zero) = (if value { Compare::Eq } else { Compare::Ne }, Num::int(0));
        self.setp(compare, Type::S32, zero, zero)
    }

    /// One half of a 32-bit register; both halves are taken apart at once.
    pub(in crate::lower) fn half(&mut self, pack: Reg, high: bool) -> Reg {
        let which = if high { Pure::UnpackHigh } else { Pure::UnpackLow };
        let whole = Num::base(pack);
        let mut other = None;
        let reg = self.emit.pure(which, Class::B16, &[whole], |emit, own| {
            let twin = emit.fresh(Class::B16);
            other = Some(twin);
            let (low, upper) = if high { (twin, own) } else { (own, twin) };
            Op::Unpack { ty: Type::B32, parts: vec![Some(low), Some(upper)], src: Operand::Reg(pack) }
        });
        if let Some(twin) = other {
            let twins = if high { Pure::UnpackLow } else { Pure::UnpackHigh };
            self.emit.known(twins, Class::B16, &[whole], twin);
        }
        reg
    }

    /// Two half-precision elements in one 32-bit register, the first in the lower half.
    pub(in crate::lower) fn pack(&mut self, dtype: DType, low: Num, high: Num) -> Reg {
        match (low, high) {
            (Num::Half { pack: a, high: false }, Num::Half { pack: b, high: true }) if a == b => a,
            (Num::Float(a), Num::Float(b)) => {
                let bits = i64::from(half_bits(dtype, a)) | i64::from(half_bits(dtype, b)) << 16;
                self.reg(Num::int(bits), Class::B32)
            }
            _ => {
                let parts = [self.half_reg(dtype, low), self.half_reg(dtype, high)];
                let args = parts.map(Num::Reg);
                self.emit.pure(Pure::Pack, Class::B32, &args, |_, dst| Op::Pack {
                    ty: Type::B32,
                    dst,
                    parts: parts.map(Operand::Reg).to_vec(),
                })
            }
        }
    }

    /// A half-precision element in a 16-bit register.
    pub(in crate::lower) fn half_reg(&mut self, dtype: DType, num: Num) -> Reg {
        match num {
            Num::Float(bits) => {
                let own = half_bits(dtype, bits);
                self.moved(Num::int(own.into()), Class::B16, Operand::Int(own.into()))
            }
            _ => self.reg(num, Class::B16),
        }
    }
}
