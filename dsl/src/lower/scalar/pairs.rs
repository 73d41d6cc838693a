//! Two `f32` rounded to halves in one instruction, on chips that have it.
//!
//! `cvt.rn.f16x2.f32` rounds a pair into one register, which is how halves are multiplied, stored and exchanged. A tile's
//! pairs are the neighbours along the lowest register bit that moves anything: most layouts have their vectors there, and
//! the fragments of matrix units their packs.

use std::collections::HashMap;

use super::type_of;
use crate::element::DType;
use crate::ir::{TileType, Value};
use crate::lower::Lowering;
use crate::lower::emit::Pure;
use crate::lower::num::Num;
use crate::ptx::{Class, Op, Operand, Type};

/// The first target that rounds to bf16, and pairs.
pub(super) const FIRST_SM: u32 = 80;

impl Lowering<'_> {
    /// A tile's elements as another type.
    pub(in crate::lower) fn cast_tile(&mut self, a: Value, ty: &TileType) {
        let from = self.function.type_of(a).dtype;
        match self.pair_bit(from, ty) {
            Some(bit) => self.cast_pairs(a, ty, 1 << bit),
            None => self.map(ty, [a], |own, [x]| own.cast(from, ty.dtype, x)),
        }
    }

    /// The register bit along which elements are rounded in pairs, if they are.
    fn pair_bit(&self, from: DType, ty: &TileType) -> Option<usize> {
        let pairs = from == DType::F32 && matches!(ty.dtype, DType::F16 | DType::BF16) && self.target.sm >= FIRST_SM;
        let layout = ty.layout.filter(|_| pairs)?;
        (0..layout.register_bits()).find(|&bit| layout.register_basis(bit) != 0)
    }

    fn cast_pairs(&mut self, a: Value, ty: &TileType, apart: usize) {
        let mut held = self.spread(a, ty);
        let mut done: HashMap<[Num; 2], [Num; 2]> = HashMap::new();
        for low in (0..held.len()).filter(|r| r & apart == 0) {
            let pair = [held[low], held[low | apart]];
            let rounded = match done.get(&pair) {
                Some(rounded) => *rounded,
                None => self.rounded_pair(ty.dtype, pair),
            };
            done.insert(pair, rounded);
            [held[low], held[low | apart]] = rounded;
        }
        self.define(held);
    }

    fn rounded_pair(&mut self, dtype: DType, pair: [Num; 2]) -> [Num; 2] {
        if pair[0] == pair[1] || pair.iter().any(|num| matches!(num, Num::Float(_))) {
            return pair.map(|num| self.cast(DType::F32, dtype, num));
        }
        let [low, high] = pair.map(|num| self.reg(num, Class::F32));
        let to = if type_of(dtype) == Type::F16 { Type::F16x2 } else { Type::BF16x2 };
        let args = [Num::Reg(high), Num::Reg(low)];
        let pack = self.emit.pure(Pure::CvtPair { to }, Class::B32, &args, |_, dst| Op::CvtPair {
            to,
            dst,
            high: Operand::Reg(high),
            low: Operand::Reg(low),
        });
        [false, true].map(|high| Num::Half { pack, high })
    }
}
