//! Narrow floats: as `f32` and back.

use crate::element::DType;
use crate::lower::Lowering;
use crate::lower::num::Num;
use crate::ptx::{Alu, Class, Compare, Reg, Rounding, Type};

impl Lowering<'_> {
    /// A half-precision element as `f32`.
    pub(in crate::lower) fn widened(&mut self, dtype: DType, num: Num) -> Num {
        if let Num::Float(_) = num {
            return num;
        }
        if dtype == DType::F16 {
            let half = self.reg(num, Class::B16);
            return Num::Reg(self.cvt(Type::F32, Type::F16, None, Class::F32, half));
        }
        // The bits of a bf16 are the upper half of the same number's f32.
        let bits = match num {
            Num::Half { pack, high: true } => {
                self.alu(Alu::And, Type::B32, Class::B32, &[Num::base(pack), Num::int(0xffff_0000)])
            }
            Num::Half { pack, high: false } => {
                self.alu(Alu::Shl, Type::B32, Class::B32, &[Num::base(pack), Num::int(16)])
            }
            _ => {
                let half = self.reg(num, Class::B16);
                let low = self.cvt(Type::U32, Type::U16, None, Class::B32, half);
                self.alu(Alu::Shl, Type::B32, Class::B32, &[Num::base(low), Num::int(16)])
            }
        };
        Num::Reg(self.recast(bits, Class::F32))
    }

    /// An `f32` rounded to half precision.
    pub(in crate::lower) fn narrowed(&mut self, dtype: DType, num: Num) -> Num {
        if let Num::Float(_) = num {
            return num;
        }
        let wide = self.reg(num, Class::F32);
        if dtype == DType::F16 {
            return Num::Reg(self.cvt(Type::F16, Type::F32, Some(Rounding::Rn), Class::B16, wide));
        }
        Num::Reg(self.rounded_to_bf16(wide))
    }

    /// Rounds to nearest even in integers, since chips before sm_80 have no instruction for it.
    fn rounded_to_bf16(&mut self, wide: Reg) -> Reg {
        let int = |reg| Num::base(reg);
        let bits = self.recast(wide, Class::B32);
        let upper = self.alu(Alu::Shr, Type::U32, Class::B32, &[int(bits), Num::int(16)]);
        let odd = self.alu(Alu::And, Type::B32, Class::B32, &[int(upper), Num::int(1)]);
        let up = self.alu(Alu::Add, Type::S32, Class::B32, &[int(odd), Num::int(0x7fff)]);
        let sum = self.alu(Alu::Add, Type::S32, Class::B32, &[int(bits), int(up)]);
        let rounded = self.alu(Alu::Shr, Type::U32, Class::B32, &[int(sum), Num::int(16)]);
        let nan = self.setp(Compare::Nan, Type::F32, Num::Reg(wide), Num::Reg(wide));
        let result = self.select(DType::I32, Num::Reg(nan), Num::int(0x7fff), int(rounded));
        let reg = self.reg(result, Class::B32);
        self.cvt(Type::U16, Type::U32, None, Class::B16, reg)
    }
}
