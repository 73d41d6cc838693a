//! Elements on their way between the lanes of a warp. Shuffles move 32 bits: a half travels alone in a word, a wide
//! element as two.

use super::Lowering;
use super::num::Num;
use super::scalar::class_of;
use crate::element::DType;
use crate::ptx::{Class, Compare, Reg, Type};

impl Lowering<'_> {
    /// What the lane of this number has of an element; all lanes ask.
    pub(super) fn asked_of_lane(&mut self, dtype: DType, num: Num, lane: Num) -> Num {
        let lane = self.operand(lane, Class::B32);
        self.across_lanes(dtype, num, &mut |own, word| own.shuffle_from(word, lane.clone()))
    }

    /// The same element in the lane whose number differs by a mask.
    pub(super) fn of_lane(&mut self, dtype: DType, num: Num, mask: i64) -> Num {
        self.across_lanes(dtype, num, &mut |own, word| own.shuffle(word, mask))
    }

    /// An element of another lane, given how a word comes from there.
    fn across_lanes(&mut self, dtype: DType, num: Num, shuffle: &mut dyn FnMut(&mut Self, Reg) -> Reg) -> Num {
        let class = class_of(dtype);
        let bits = match class {
            Class::B64 | Class::F64 => {
                let (low, high) = self.parts(dtype, num);
                let [low, high] = [low, high].map(|part| {
                    let word = self.reg(part, Class::B32);
                    Num::base(shuffle(self, word))
                });
                return self.whole(dtype, low, high);
            }
            Class::B16 => self.pack(dtype, num, Num::float(0.0)),
            Class::F32 => {
                let reg = self.reg(num, class);
                self.recast(reg, Class::B32)
            }
            Class::Pred => {
                let word = self.cast(DType::Bool, DType::U32, num);
                self.reg(word, Class::B32)
            }
            Class::B32 => self.reg(num, class),
        };
        let moved = shuffle(self, bits);
        match class {
            Class::B16 => Num::Half { pack: moved, high: false },
            Class::F32 => Num::Reg(self.recast(moved, Class::F32)),
            Class::Pred => Num::Reg(self.setp(Compare::Ne, Type::U32, Num::base(moved), Num::int(0))),
            _ => Num::base(moved),
        }
    }
}
