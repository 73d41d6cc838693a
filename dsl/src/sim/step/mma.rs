//! The matrix unit: `mma.m8n8k4`, four products of 8 x 8 x 4, one for each quadpair.
//!
//! Quadpair q is the lanes `4 q .. 4 q + 4` and `16 + 4 q .. 16 + 4 q + 4`. Which elements a lane
//! has is the layout algebra's to say: [`M8N8K4`] is asked for it.

use half::f16;
use quadpair_layouts::mma::{M8N8K4, Role};

use crate::sim::machine::{Stop, stop};
use crate::sim::program::Slot;
use crate::sim::report::FaultKind;
use crate::sim::warp::{FULL, LANES, Warp};

/// An 8 x 8 or 8 x 4 matrix of a quadpair, row by row.
type Rows = [[f32; 8]; 8];

/// The (row, column) of each element of each lane's fragment.
type Places = [[(u8, u8); LANES]; 8];

/// A's by whether it is row-major, B's likewise, the accumulator's by whether it is f16.
static A: [Places; 2] = [places(Role::ACol, 4), places(Role::ARow, 4)];
static B: [Places; 2] = [places(Role::BCol, 4), places(Role::BRow, 4)];
static C: [Places; 2] = [places(Role::C, 8), places(Role::CHalf, 8)];

/// Asks the algebra for every element once, since a program asks a thousand times.
const fn places(role: Role, elements: usize) -> Places {
    let (mut all, mut i) = ([[(0, 0); LANES]; 8], 0);
    while i < elements {
        let mut lane = 0;
        while lane < LANES {
            let (row, column) = M8N8K4.element(role, i, lane);
            all[i][lane] = (row as u8, column as u8);
            lane += 1;
        }
        i += 1;
    }
    all
}

pub(super) fn multiply(
    warp: &mut Warp,
    rows: [bool; 2],
    half: bool,
    d: &[Slot],
    (a, b): ([Slot; 2], [Slot; 2]),
    c: &[Slot],
    mask: u32,
) -> Result<(), Stop> {
    if mask != FULL {
        return Err(stop(mask.trailing_zeros(), FaultKind::InactiveLanes { active: mask, needed: FULL }));
    }
    let c_places = &C[usize::from(half)];
    let left = gather(warp, &a, &A[usize::from(rows[0])], true);
    let right = gather(warp, &b, &B[usize::from(rows[1])], true);
    let mut sums = gather(warp, c, c_places, half);
    for (sums, (left, right)) in sums.iter_mut().zip(left.iter().zip(&right)) {
        for (row, left) in sums.iter_mut().zip(left) {
            // Products of halves are exact in f32; they are added one after the other.
            for (k, right) in right.iter().take(4).enumerate() {
                for (sum, right) in row.iter_mut().zip(right) {
                    *sum += left[k] * right;
                }
            }
        }
    }
    scatter(warp, d, &sums, c_places, half);
    Ok(())
}

fn quadpair(lane: usize) -> usize {
    lane / 4 % 4
}

/// The operand of each quadpair, from the registers of its threads.
fn gather(warp: &Warp, slots: &[Slot], places: &Places, half: bool) -> [Rows; 4] {
    let mut all = [[[0.0; 8]; 8]; 4];
    let mut put = |i: usize, lane: usize, value: f32| {
        let (row, column) = places[i][lane];
        all[quadpair(lane)][usize::from(row)][usize::from(column)] = value;
    };
    for (i, &slot) in slots.iter().enumerate() {
        for (lane, &word) in warp.word(slot).iter().enumerate() {
            if half {
                put(2 * i, lane, f16::from_bits(word as u16).to_f32());
                put(2 * i + 1, lane, f16::from_bits((word >> 16) as u16).to_f32());
            } else {
                put(i, lane, f32::from_bits(word));
            }
        }
    }
    all
}

/// Puts the sums of each quadpair into the registers of its threads.
fn scatter(warp: &mut Warp, slots: &[Slot], all: &[Rows; 4], places: &Places, half: bool) {
    let get = |i: usize, lane: usize| {
        let (row, column) = places[i][lane];
        all[quadpair(lane)][usize::from(row)][usize::from(column)]
    };
    for (i, &slot) in slots.iter().enumerate() {
        let value = std::array::from_fn(|lane| match half {
            true => {
                let [low, high] = [get(2 * i, lane), get(2 * i + 1, lane)].map(|sum| f16::from_f32(sum).to_bits());
                u32::from(low) | u32::from(high) << 16
            }
            false => get(i, lane).to_bits(),
        });
        warp.set_word(slot, FULL, &value);
    }
}
