//! The table of matrix units: every fragment that the crate knows.
//!
//! Two families. Volta's m8n8k4 computes four products, one for each quadpair, and takes each operand with k or with its
//! other dimension in registers. From Turing on there is one fragment for all element types, in packs of 32 bits: a thread
//! has a pack of `k_width` neighbours along k, four lanes go on along k, eight lanes along m or n; then further registers
//! have the lower eight rows, and the upper half of k. So the elements' width decides only how many make a pack:
//!
//! ```text
//! a [16, 16] of halves: registers (0, 1) (8, 0) (0, 8); lanes (0, 2) (0, 4) (1, 0) (2, 0) (4, 0)
//! a [16, 32] of bytes:  registers (0, 1) (0, 2) (8, 0) (0, 16); lanes (0, 4) (0, 8) (1, 0) (2, 0) (4, 0)
//! c [16, 8]:            registers (0, 1) (8, 0); lanes (0, 2) (0, 4) (1, 0) (2, 0) (4, 0)
//! ```
//!
//! The accumulator is a fragment of packs of two along n. Two of them side by side are a left operand of halves: that is
//! why attention needs no conversion between its two products, and the assertion below says so.
//!
//! Hopper's wgmma has the same accumulator in each of its four warps, sixteen rows a warp.

use super::atom::Atom;
use crate::layout::{LANE_BITS, Layout};
use crate::named::linear;
use crate::shape::Shape;

/// Volta's unit: f16 operands, f32 or f16 accumulator; lane bits 2 and 3 choose the quadpair.
pub static M8N8K4: Atom = Atom {
    name: "m8n8k4",
    first_sm: 70,
    first_sm_bf16: None,
    operand_bits: 16,
    m: 8,
    n: 8,
    k: 4,
    a: &[
        linear([8, 4], &[[0, 1], [0, 2]], &[[1, 0], [2, 0], [0, 0], [0, 0], [4, 0]], &[]),
        linear([8, 4], &[[1, 0], [2, 0]], &[[0, 1], [0, 2], [0, 0], [0, 0], [4, 0]], &[]),
    ],
    b: &[
        linear([4, 8], &[[1, 0], [2, 0]], &[[0, 1], [0, 2], [0, 0], [0, 0], [0, 4]], &[]),
        linear([4, 8], &[[0, 1], [0, 2]], &[[1, 0], [2, 0], [0, 0], [0, 0], [0, 4]], &[]),
    ],
    c: linear([8, 8], &[[0, 1], [2, 0], [0, 4]], &[[1, 0], [0, 2], [0, 0], [0, 0], [4, 0]], &[]),
    c_half: linear([8, 8], &[[0, 1], [0, 2], [0, 4]], &[[1, 0], [2, 0], [0, 0], [0, 0], [4, 0]], &[]),
};

/// The accumulator of all units of 16 rows and 8 columns, in f32, f16 or s32.
const C16: Layout = linear([16, 8], &[[0, 1], [8, 0]], &[[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], &[]);

/// Turing's unit: f16 or bf16 operands.
pub static M16N8K8: Atom = Atom {
    name: "m16n8k8",
    first_sm: 75,
    first_sm_bf16: Some(80),
    operand_bits: 16,
    m: 16,
    n: 8,
    k: 8,
    a: &[linear([16, 8], &[[0, 1], [8, 0]], &[[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], &[])],
    b: &[linear([8, 8], &[[1, 0]], &[[2, 0], [4, 0], [0, 1], [0, 2], [0, 4]], &[])],
    c: C16,
    c_half: C16,
};

/// Ampere's unit: f16 or bf16 operands, twice as deep.
pub static M16N8K16: Atom = Atom {
    name: "m16n8k16",
    first_sm: 80,
    first_sm_bf16: Some(80),
    operand_bits: 16,
    m: 16,
    n: 8,
    k: 16,
    a: &[packed_a(2)],
    b: &[packed_b(2)],
    c: C16,
    c_half: C16,
};

/// Ampere's unit for tf32 operands.
pub static M16N8K8_TF32: Atom = Atom {
    name: "m16n8k8",
    first_sm: 80,
    first_sm_bf16: None,
    operand_bits: 32,
    m: 16,
    n: 8,
    k: 8,
    a: &[packed_a(1)],
    b: &[packed_b(1)],
    c: C16,
    c_half: C16,
};

/// Ampere's unit for operands of bytes: integers, and from Ada on 8-bit floats.
pub static M16N8K32: Atom = Atom {
    name: "m16n8k32",
    first_sm: 80,
    first_sm_bf16: None,
    operand_bits: 8,
    m: 16,
    n: 8,
    k: 32,
    a: &[packed_a(4)],
    b: &[packed_b(4)],
    c: C16,
    c_half: C16,
};

/// All matrix units; of those that fit the same layouts the deepest comes last.
pub static UNITS: [&Atom; 5] = [&M8N8K4, &M16N8K8, &M16N8K16, &M16N8K8_TF32, &M16N8K32];

const ONE: Layout = Layout::from_bases(Shape::new([1, 1]), &[], [0; LANE_BITS], &[]);

/// One fused multiply-add in each thread: 32 products at once, so that every lane bit chooses one.
pub static FMA: Atom = Atom {
    name: "fma",
    first_sm: 0,
    first_sm_bf16: Some(0),
    operand_bits: 0,
    m: 1,
    n: 1,
    k: 1,
    a: &[ONE],
    b: &[ONE],
    c: ONE,
    c_half: ONE,
};

/// The left operand `[16, 8 * k_width]` with packs of `k_width` elements; `k_width` is 1, 2, 4, 8 or 16.
pub(super) const fn packed_a(k_width: usize) -> Layout {
    let w = k_width;
    let lanes = [[0, w], [0, 2 * w], [1, 0], [2, 0], [4, 0]];
    let registers = [[0, 1], [0, 2], [0, 4], [0, 8], [8, 0], [0, 4 * w]];
    packed([16, 8 * w], &registers, w, &lanes)
}

/// The right operand `[8 * k_width, 8]`: that of the left one's upper rows, turned.
pub(super) const fn packed_b(k_width: usize) -> Layout {
    let w = k_width;
    let lanes = [[w, 0], [2 * w, 0], [0, 1], [0, 2], [0, 4]];
    let registers = [[1, 0], [2, 0], [4, 0], [8, 0], [4 * w, 0]];
    packed([8 * w, 8], &registers, w, &lanes)
}

/// Of the first four registers those that count the elements of a pack, and all others.
const fn packed(shape: [usize; 2], registers: &[[usize; 2]], k_width: usize, lanes: &[[usize; 2]]) -> Layout {
    let (mut kept, mut count, mut i) = ([[0; 2]; 6], 0, 0);
    while i < registers.len() {
        if i >= 4 || 1 << i < k_width {
            kept[count] = registers[i];
            count += 1;
        }
        i += 1;
    }
    linear(shape, kept.split_at(count).0, lanes, &[])
}

const fn all_are_sound() -> bool {
    let (mut sound, mut i) = (FMA.is_sound(), 0);
    while i < UNITS.len() {
        sound = sound && UNITS[i].is_sound();
        i += 1;
    }
    sound
}

const _: () = assert!(all_are_sound());

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mma::Role;

    /// The index formulas of the instruction set, which the bases must reproduce for every lane and register.
    #[test]
    fn the_fragments_are_those_of_the_instruction_set() {
        for lane in 0..32 {
            let (t, high) = (lane % 4, if lane >= 16 { 4 } else { 0 });
            for i in 0..4 {
                assert_eq!(M8N8K4.element(Role::ARow, i, lane), (t + high, i));
                assert_eq!(M8N8K4.element(Role::ACol, i, lane), (i + high, t));
                assert_eq!(M8N8K4.element(Role::BCol, i, lane), (i, t + high));
                assert_eq!(M8N8K4.element(Role::BRow, i, lane), (t, i + high));
            }
            for i in 0..8 {
                let (row, column) = ((lane & 1) + (i & 2) + high, (i & 4) + (lane & 2) + (i & 1));
                assert_eq!(M8N8K4.element(Role::C, i, lane), (row, column));
                assert_eq!(M8N8K4.element(Role::CHalf, i, lane), (t + high, i));
            }
        }
    }

    /// A pack of `w` elements has the columns `w t` to `w t + w - 1`, of four packs the first and second have the upper
    /// half of k's first half, by row.
    #[test]
    fn packed_fragments_are_those_of_the_instruction_set() {
        for (unit, w) in [(&M16N8K16, 2), (&M16N8K8_TF32, 1), (&M16N8K32, 4)] {
            for lane in 0..32 {
                let (group, t) = (lane / 4, lane % 4);
                for i in 0..4 * w {
                    let k = t * w + i % w + if i >= 2 * w { 4 * w } else { 0 };
                    assert_eq!(unit.element(Role::ARow, i, lane), (group + i / w % 2 * 8, k));
                }
                for i in 0..2 * w {
                    assert_eq!(unit.element(Role::BCol, i, lane), (t * w + i % w + i / w * 4 * w, group));
                }
                for i in 0..4 {
                    assert_eq!(unit.element(Role::C, i, lane), (group + i / 2 * 8, 2 * t + i % 2));
                }
            }
        }
    }

    #[test]
    fn the_shallow_unit_has_the_first_half_of_the_deep_one() {
        for (i, lane) in (0..4).flat_map(|i| (0..32).map(move |lane| (i, lane))) {
            assert_eq!(M16N8K8.element(Role::ARow, i, lane), M16N8K16.element(Role::ARow, i, lane));
            assert_eq!(M16N8K8.element(Role::BCol, i % 2, lane), M16N8K16.element(Role::BCol, i % 2, lane));
        }
    }
}
