//! The matrix unit: `mma.m8n8k4`, four products of 8 x 8 x 4, one for each quadpair.
//!
//! Which elements a lane has is the layout algebra's to say: [`M8N8K4`] is asked for it once, while this is compiled, and
//! the answers are tables. Element i of a fragment in a lane has the number `32 i + lane`. A lane's accumulator element
//! at row m and column n takes, for each k, A's element (m, k) and B's element (k, n) of the same quadpair from whichever
//! lanes hold them; [`partners`] gives their numbers. As the tables are constants, the compiler turns what reads through
//! them into shuffles.

use half::f16;
use half::slice::HalfFloatSliceExt;
use quadpair_layouts::mma::{M8N8K4, Role};

use super::round::{F16, one_nan, single};
use crate::sim::machine::Stop;
use crate::sim::program::{MmaStep, Slot};
use crate::sim::report::FaultKind;
use crate::sim::warp::{FULL, LANES, Warp};

/// Elements of an operand's fragment.
const OPERAND: usize = 4;
/// Elements of an accumulator's fragment.
const ACCUMULATOR: usize = 8;
/// Products that an element of the accumulator sums.
const DEPTH: usize = 4;

/// An operand of all lanes, by number.
type Operand = [f32; OPERAND * LANES];
/// An accumulator of all lanes.
type Accumulator = [[f32; LANES]; ACCUMULATOR];
/// The number of an operand's element for each element of the accumulator, each k and each lane.
type Partners = [[[u8; LANES]; DEPTH]; ACCUMULATOR];

pub(super) fn multiply(warp: &mut Warp, step: &MmaStep, mask: u32) -> Result<(), Stop> {
    if mask != FULL {
        return Err(Stop::new(mask.trailing_zeros(), FaultKind::InactiveLanes { active: mask, needed: FULL }));
    }
    let product = match (step.half, step.a_row, step.b_row) {
        (false, false, false) => product::<false, false, false>,
        (false, false, true) => product::<false, false, true>,
        (false, true, false) => product::<false, true, false>,
        (false, true, true) => product::<false, true, true>,
        (true, false, false) => product::<true, false, false>,
        (true, false, true) => product::<true, false, true>,
        (true, true, false) => product::<true, true, false>,
        (true, true, true) => product::<true, true, true>,
    };
    let (mut a, mut b, mut sums) = ([0.0; OPERAND * LANES], [0.0; OPERAND * LANES], [[0.0; LANES]; ACCUMULATOR]);
    halves(warp, &step.a, &mut a);
    halves(warp, &step.b, &mut b);
    if step.half {
        halves(warp, &step.c, sums.as_flattened_mut());
        product(&a, &b, &mut sums);
        write_halves(warp, &step.d, &sums);
    } else {
        for (&slot, sums) in step.c.iter().zip(&mut sums) {
            let word = *warp.word(slot);
            for lane in 0..LANES {
                sums[lane] = f32::from_bits(word[lane]);
            }
        }
        product(&a, &b, &mut sums);
        for (&slot, sums) in step.d.iter().zip(&sums) {
            let mut word = [0; LANES];
            for lane in 0..LANES {
                word[lane] = one_nan(sums[lane].to_bits());
            }
            warp.set_word(slot, FULL, &word);
        }
    }
    Ok(())
}

/// A variant of the instruction, for its tables.
struct Variant<const HALF: bool, const A_ROW: bool, const B_ROW: bool>;

impl<const HALF: bool, const A_ROW: bool, const B_ROW: bool> Variant<HALF, A_ROW, B_ROW> {
    const SUM: Role = if HALF { Role::CHalf } else { Role::C };
    const A: Partners = partners(Self::SUM, if A_ROW { Role::ARow } else { Role::ACol });
    const B: Partners = partners(Self::SUM, if B_ROW { Role::BRow } else { Role::BCol });

    /// Adds the products to element `V` of the accumulator. Products of halves are exact in singles; they are added in
    /// the order of k, one after the other.
    #[inline(always)]
    fn add<const V: usize>(a: &Operand, b: &Operand, sums: &mut [f32; LANES]) {
        Self::add_one::<V, 0>(a, b, sums);
        Self::add_one::<V, 1>(a, b, sums);
        Self::add_one::<V, 2>(a, b, sums);
        Self::add_one::<V, 3>(a, b, sums);
    }

    #[inline(always)]
    fn add_one<const V: usize, const K: usize>(a: &Operand, b: &Operand, sums: &mut [f32; LANES]) {
        let left: [f32; LANES] = std::array::from_fn(|lane| a[usize::from(Self::A[V][K][lane])]);
        let right: [f32; LANES] = std::array::from_fn(|lane| b[usize::from(Self::B[V][K][lane])]);
        for lane in 0..LANES {
            sums[lane] += left[lane] * right[lane];
        }
    }
}

/// Where an operand's elements are that go into each element of the accumulator.
const fn partners(sum: Role, operand: Role) -> Partners {
    let holders = holders(operand);
    let left = matches!(operand, Role::ARow | Role::ACol);
    let mut table = [[[0; LANES]; DEPTH]; ACCUMULATOR];
    let mut place = 0;
    while place < ACCUMULATOR * DEPTH * LANES {
        let (v, k, lane) = (place / LANES / DEPTH, place / LANES % DEPTH, place % LANES);
        let (m, n) = M8N8K4.element(sum, v, lane);
        table[v][k][lane] = holders[quadpair(lane)][if left { m } else { n }][k];
        place += 1;
    }
    table
}

/// For each quadpair the numbers of an operand's elements: by m or n, then k.
const fn holders(operand: Role) -> [[[u8; DEPTH]; 8]; 4] {
    let left = matches!(operand, Role::ARow | Role::ACol);
    let mut table = [[[0; DEPTH]; 8]; 4];
    let mut number = 0;
    while number < OPERAND * LANES {
        let lane = number % LANES;
        let (row, column) = M8N8K4.element(operand, number / LANES, lane);
        let (outer, k) = if left { (row, column) } else { (column, row) };
        table[quadpair(lane)][outer][k] = number as u8;
        number += 1;
    }
    table
}

/// A quadpair is four lanes, and the four that are 16 further on.
const fn quadpair(lane: usize) -> usize {
    lane / 4 % 4
}

/// Adds the products to an accumulator: to each element of it in every lane.
fn product<const HALF: bool, const A_ROW: bool, const B_ROW: bool>(a: &Operand, b: &Operand, sums: &mut Accumulator) {
    let [s0, s1, s2, s3, s4, s5, s6, s7] = sums;
    Variant::<HALF, A_ROW, B_ROW>::add::<0>(a, b, s0);
    Variant::<HALF, A_ROW, B_ROW>::add::<1>(a, b, s1);
    Variant::<HALF, A_ROW, B_ROW>::add::<2>(a, b, s2);
    Variant::<HALF, A_ROW, B_ROW>::add::<3>(a, b, s3);
    Variant::<HALF, A_ROW, B_ROW>::add::<4>(a, b, s4);
    Variant::<HALF, A_ROW, B_ROW>::add::<5>(a, b, s5);
    Variant::<HALF, A_ROW, B_ROW>::add::<6>(a, b, s6);
    Variant::<HALF, A_ROW, B_ROW>::add::<7>(a, b, s7);
}

/// The elements of registers that hold two halves each: the low halves of all lanes, then the high ones.
fn halves(warp: &Warp, slots: &[Slot], elements: &mut [f32]) {
    let (lanes, _) = elements.as_chunks_mut::<LANES>();
    for (&slot, [low, high]) in slots.iter().zip(lanes.as_chunks_mut::<2>().0) {
        let words = warp.word(slot);
        for lane in 0..LANES {
            low[lane] = single(words[lane] & 0xffff);
        }
        for lane in 0..LANES {
            high[lane] = single(words[lane] >> 16);
        }
    }
}

fn write_halves(warp: &mut Warp, slots: &[Slot], sums: &Accumulator) {
    for (&slot, pair) in slots.iter().zip(sums.chunks_exact(2)) {
        let mut packed = [f16::ZERO; 2 * LANES];
        packed.convert_from_f32_slice(pair.as_flattened());
        let bits = packed.map(|half| if half.is_nan() { F16.nan() } else { half.to_bits().into() });
        let word = std::array::from_fn(|lane| bits[lane] | bits[LANES + lane] << 16);
        warp.set_word(slot, FULL, &word);
    }
}
