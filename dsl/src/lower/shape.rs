//! Pairs of elements: joined, split, and unpacked from bytes. Registers change hands, elements stay in their threads.

use std::collections::HashMap;

use quadpair_layouts::Shape;

use super::Lowering;
use super::num::Num;
use crate::element::DType;
use crate::ir::{BinaryOp, TileType, Value};
use crate::ptx::{Alu, Class, Type};

/// The upper bytes of the `f16` 0, 0.5, 1, 1.5 and of 2, 3, 4, 6; their lower bytes are 0.
const FP4_BELOW_2: i64 = 0x3e3c_3800;
const FP4_FROM_2: i64 = 0x4644_4240;

/// Where the two indices into that table are in a byte, as the selectors of `prmt`, and the signs beside them.
const FP4_INDICES: i64 = 0x77;
const FP4_SIGNS: [(i64, i64); 2] = [(0x08, 12), (0x80, 24)];

/// Bytes 0 and 1 to the upper bytes of the two halves of a word.
const UPPER_BYTES: i64 = 0x1404;

impl Lowering<'_> {
    pub(super) fn join(&mut self, a: Value, b: Value, ty: &TileType) {
        let half = ty.with_layout(ty.layout.map(|layout| layout.unpaired()));
        let (a, b) = (self.spread(a, &half), self.spread(b, &half));
        self.define(a.into_iter().zip(b).flat_map(|(a, b)| [a, b]).collect());
    }

    pub(super) fn half_of_pairs(&mut self, pairs: Value, which: u32, ty: &TileType) {
        self.own_registers(pairs, ty, |element, _, _| element << 1 | which);
    }

    pub(super) fn part(&mut self, tile: Value, start: u32, ty: &TileType) {
        self.own_registers(tile, ty, |element, whole, part| start | part.moved_to(element, whole));
    }

    /// Defines a tile of elements that each thread has in another tile, `place` says where.
    fn own_registers(&mut self, tile: Value, ty: &TileType, place: impl Fn(u32, &Shape, &Shape) -> u32) {
        let layout = |ty: &TileType| ty.layout.expect("typing lets only tiles be split");
        let (from, to) = (layout(self.function.type_of(tile)), layout(ty));
        let held = self.held(tile);
        let by_element: HashMap<u32, usize> = (0..from.registers()).map(|r| (from.apply(r, 0, 0), r)).collect();
        let own = |r: usize| held[by_element[&place(to.apply(r, 0, 0), &from.shape(), &to.shape())]];
        self.define((0..to.registers()).map(own).collect());
    }

    pub(super) fn unpack_fp4(&mut self, bytes: Value, ty: &TileType) {
        let held = self.held(bytes);
        let mut done = HashMap::new();
        let own =
            held.iter().flat_map(|&byte| *done.entry(byte).or_insert_with(|| self.numbers_of_byte(byte, ty.dtype)));
        let own = own.collect();
        self.define(own);
    }

    fn numbers_of_byte(&mut self, byte: Num, dtype: DType) -> [Num; 2] {
        let word = |own: &mut Self, op, a, b| own.integer(op, DType::U32, a, b);
        let indices = word(self, BinaryOp::And, byte, Num::int(FP4_INDICES));
        let permuted = |own: &mut Self, args: [Num; 3]| Num::base(own.alu(Alu::Prmt, Type::B32, Class::B32, &args));
        // The second selector is bits 4 to 6: each nibble of the byte looks up one number.
        let sizes = permuted(self, [Num::int(FP4_BELOW_2), Num::int(FP4_FROM_2), indices]);
        let mut pair = permuted(self, [sizes, Num::int(0), Num::int(UPPER_BYTES)]);
        for (bit, distance) in FP4_SIGNS {
            let sign = word(self, BinaryOp::And, byte, Num::int(bit));
            let sign = word(self, BinaryOp::Shl, sign, Num::int(distance));
            pair = word(self, BinaryOp::Or, pair, sign);
        }
        let pack = self.reg(pair, Class::B32);
        [false, true].map(|high| self.cast(DType::F16, dtype, Num::Half { pack, high }))
    }
}
