//! The same bits as another type of the same width.

use crate::element::DType;
use crate::lower::Lowering;
use crate::lower::num::Num;
use crate::ptx::{Class, Type};

use super::class_of;

impl Lowering<'_> {
    pub(in crate::lower) fn bitcast(&mut self, from: DType, to: DType, num: Num) -> Num {
        let halves = [from, to].map(|dtype| class_of(dtype) == Class::B16);
        match (from.bytes(), halves) {
            // Integers narrower than a register are extended by their sign.
            (1, _) | (2, [false, false]) => self.wrapped(to, num),
            (2, [true, true]) => Num::Reg(self.half_reg(from, num)),
            (2, [true, false]) => {
                let half = self.half_reg(from, num);
                let (wide, own) = if to.is_signed() { (Type::S32, Type::S16) } else { (Type::U32, Type::U16) };
                Num::base(self.cvt(wide, own, None, Class::B32, half))
            }
            (2, _) => {
                let word = self.reg(num, Class::B32);
                Num::Reg(self.cvt(Type::U16, Type::U32, None, Class::B16, word))
            }
            _ if class_of(from) == class_of(to) => num,
            _ => {
                let reg = self.reg(num, class_of(from));
                Num::of(self.recast(reg, class_of(to)))
            }
        }
    }
}
