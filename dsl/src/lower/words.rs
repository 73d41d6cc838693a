//! Narrow elements in 32-bit registers, and wide ones in two.
//!
//! The plan of a conversion says which elements share a word. Halves are packed as everywhere else; integers of 8 and 16
//! bits, which have registers of their own elsewhere, and truth values, as bytes, by byte permutations. Where the position
//! of an element in its word depends on the thread, so does the permutation that takes it out.

use quadpair_layouts::Layout;
use quadpair_layouts::convert::Words;

use super::Lowering;
use super::linear::ThreadMap;
use super::num::Num;
use super::scalar::class_of;
use crate::element::DType;
use crate::ptx::{Alu, Class, Compare, Op, Operand, Reg, Type};

/// Selectors of `prmt`: the low bytes of both operands side by side, and their low halves.
pub(super) const LOW_BYTES: i64 = 0x0040;
pub(super) const LOW_HALVES: i64 = 0x5410;

/// What turns a selector of a half into that of the other, for both halves of a result.
const OTHER_HALVES: u32 = 0x2222;

impl Lowering<'_> {
    /// The words of a tile, by number, each in a 32-bit register.
    pub(super) fn packed_words(&mut self, words: &Words, dtype: DType, values: &[Num]) -> Vec<Num> {
        (0..words.sources())
            .map(|word| {
                let elements = (0..words.elements()).map(|position| values[words.source_register(word, position)]);
                Num::base(self.packed_word(dtype, &elements.collect::<Vec<_>>()))
            })
            .collect()
    }

    /// One, two or four elements in a register.
    pub(super) fn packed_word(&mut self, dtype: DType, elements: &[Num]) -> Reg {
        match (class_of(dtype), elements) {
            (Class::Pred, _) => {
                let bytes: Vec<Num> = elements.iter().map(|&bit| self.cast(DType::Bool, DType::U8, bit)).collect();
                self.packed_word(DType::U8, &bytes)
            }
            (Class::B16, [one]) => self.pack(dtype, *one, Num::float(0.0)),
            (Class::B16, [low, high, ..]) => self.pack(dtype, *low, *high),
            (Class::F32, [one, ..]) => {
                let reg = self.reg(*one, Class::F32);
                self.recast(reg, Class::B32)
            }
            (_, [low, high]) if dtype.bytes() == 2 => self.permuted(*low, *high, Num::int(LOW_HALVES)),
            (_, [low, high]) => self.permuted(*low, *high, Num::int(LOW_BYTES)),
            (_, [_, _, _, _]) => self.word_of_bytes(elements),
            (_, [one, ..]) => self.reg(*one, Class::B32),
            (_, []) => unreachable!("a word has elements"),
        }
    }

    /// Any four bytes of two registers.
    pub(super) fn permuted(&mut self, low: Num, high: Num, selector: Num) -> Reg {
        // The first operands are registers; only the selector may be a constant.
        let [low, high] = [low, high].map(|num| Num::base(self.reg(num, Class::B32)));
        self.alu(Alu::Prmt, Type::B32, Class::B32, &[low, high, selector])
    }

    /// What each register of the target gets from the words.
    pub(super) fn elements_of_words(&mut self, words: &Words, to: &Layout, dtype: DType, held: &[Num]) -> Vec<Num> {
        let places: Vec<(Num, usize)> =
            (0..to.registers()).map(|r| (held[words.target_word(r)], words.target_position(r))).collect();
        if class_of(dtype) == Class::B16 && !words.same_in_every_thread() {
            return places.chunks(2).flat_map(|pair| self.chosen_halves(words, pair)).collect();
        }
        places.into_iter().map(|(word, position)| self.element_of_word(words, dtype, word, position)).collect()
    }

    fn element_of_word(&mut self, words: &Words, dtype: DType, word: Num, position: usize) -> Num {
        let reg = self.reg(word, Class::B32);
        match class_of(dtype) {
            Class::B16 => Num::Half { pack: reg, high: position == 1 },
            Class::F32 => Num::Reg(self.recast(reg, Class::F32)),
            Class::Pred => {
                let byte = self.element_of_word(words, DType::U8, word, position);
                Num::Reg(self.setp(Compare::Ne, Type::U32, byte, Num::int(0)))
            }
            _ if words.elements() == 1 => word,
            _ => {
                let bits = dtype.bytes() * 8;
                let moved = words.thread_positions().iter().map(|&position| u32::from(position) * bits);
                let first = self.linear(&ThreadMap::from_columns(moved.collect()), position as u32 * bits);
                self.bit_field(dtype, reg, first)
            }
        }
    }

    /// The integer of a narrow type whose bits begin here in a register.
    pub(super) fn bit_field(&mut self, dtype: DType, reg: Reg, first: Num) -> Num {
        let ty = if dtype.is_signed() { Type::S32 } else { Type::U32 };
        let args = [Num::base(reg), first, Num::int((dtype.bytes() * 8).into())];
        Num::base(self.alu(Alu::Bfe, ty, Class::B32, &args))
    }

    /// One or two halves of words, each of which half the thread's number decides, together in a register.
    fn chosen_halves(&mut self, words: &Words, pair: &[(Num, usize)]) -> Vec<Num> {
        let (low, high) = (pair[0], pair[pair.len() - 1]);
        let halves = [(0x10, low.1), (0x54, high.1)].map(|(half, position)| half + 0x22 * position as u32);
        let moved = words.thread_positions().iter().map(|&position| OTHER_HALVES * u32::from(position));
        let selector = self.linear(&ThreadMap::from_columns(moved.collect()), halves[0] | halves[1] << 8);
        let pack = self.permuted(low.0, high.0, selector);
        [false, true].map(|high| Num::Half { pack, high })[..pair.len()].to_vec()
    }

    /// The two words of a 64-bit element.
    pub(super) fn parts(&mut self, dtype: DType, num: Num) -> (Num, Num) {
        let reg = self.reg(num, class_of(dtype));
        let [low, high] = [(); 2].map(|()| self.emit.fresh(Class::B32));
        self.emit.push(Op::Unpack { ty: Type::B64, parts: vec![Some(low), Some(high)], src: Operand::Reg(reg) });
        (Num::base(low), Num::base(high))
    }

    /// The 64-bit element of two words.
    pub(super) fn whole(&mut self, dtype: DType, low: Num, high: Num) -> Num {
        let parts = [low, high].map(|part| self.operand(part, Class::B32)).to_vec();
        let dst = self.emit.fresh(class_of(dtype));
        self.emit.push(Op::Pack { ty: Type::B64, dst, parts });
        Num::of(dst)
    }
}
