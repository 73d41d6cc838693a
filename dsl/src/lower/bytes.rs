//! Elements of 8 bits, four to a register while memory is accessed.
//!
//! `prmt` makes a register of any four bytes of two others, each given by its number from 0 to 7, or by 8 more than that
//! for eight copies of its sign. So byte 2 of `a`, extended by its sign, is `prmt a, 0, 0xaaa2`, without one
//! `prmt a, 0, 0x4442`: one instruction an element to take a word apart, three for four elements to put one together.

use super::Lowering;
use super::num::Num;
use super::words::{LOW_BYTES, LOW_HALVES};
use crate::element::DType;
use crate::ptx::{Alu, Class, Reg, Type};

/// Elements of a register.
pub(super) const PER_WORD: usize = 4;

impl Lowering<'_> {
    /// The elements that some words hold.
    pub(super) fn bytes_of_words(&mut self, dtype: DType, words: &[Reg]) -> Vec<Num> {
        let places = words.iter().flat_map(|&word| (0..PER_WORD as i64).map(move |byte| (word, byte)));
        places.map(|(word, byte)| self.byte_of_word(dtype, word, byte)).collect()
    }

    fn byte_of_word(&mut self, dtype: DType, word: Reg, byte: i64) -> Num {
        let above = if dtype.is_signed() { byte | 8 } else { 4 };
        let selector = byte | above << 4 | above << 8 | above << 12;
        let args = [Num::base(word), Num::int(0), Num::int(selector)];
        let reg = self.alu(Alu::Prmt, Type::B32, Class::B32, &args);
        self.bytes.insert(reg, (word, byte));
        Num::base(reg)
    }

    /// Four elements to a word, the first in the lowest bits.
    pub(super) fn words_of_bytes(&mut self, elements: &[Num]) -> Vec<Reg> {
        elements.chunks(PER_WORD).map(|own| self.word_of_bytes(own)).collect()
    }

    /// Four elements in a word.
    pub(super) fn word_of_bytes(&mut self, elements: &[Num]) -> Reg {
        if let Some(word) = self.whole_word(elements) {
            return word;
        }
        let constant = elements.iter().rev().try_fold(0, |word, element| match element {
            Num::Int { base: None, offset } => Some(word << 8 | offset & 0xff),
            _ => None,
        });
        if let Some(word) = constant {
            return self.reg(Num::int(word), Class::B32);
        }
        let [low, high] = [0, 2].map(|i| self.permuted(elements[i], elements[i + 1], Num::int(LOW_BYTES)));
        self.permuted(Num::base(low), Num::base(high), Num::int(LOW_HALVES))
    }

    /// The word that these elements were taken from, in this order.
    fn whole_word(&self, elements: &[Num]) -> Option<Reg> {
        let origin = |element: &Num| match element {
            Num::Int { base: Some(reg), offset: 0 } => self.bytes.get(reg).copied(),
            _ => None,
        };
        let (word, _) = origin(&elements[0])?;
        let same = elements.iter().zip(0..).all(|(element, byte)| origin(element) == Some((word, byte)));
        same.then_some(word)
    }
}
