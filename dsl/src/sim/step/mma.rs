//! The matrix unit: `mma.m8n8k4`, four products of 8 x 8 x 4, one for each quadpair.
//!
//! A quadpair is the lanes `4 q .. 4 q + 4` and `16 + 4 q .. 16 + 4 q + 4`; its thread t is lane `4 q + t % 4`, 16 more from t = 4
//! on. Which elements a thread has is the layout algebra's to say: [`M8N8K4`] is asked for it.

use half::f16;
use quadpair_layouts::mma::{M8N8K4, Role};

use crate::sim::machine::Stop;
use crate::sim::program::Slot;
use crate::sim::report::FaultKind;
use crate::sim::warp::{FULL, LANES, Warp};

/// An 8 x 8 or 8 x 4 matrix of a quadpair, row by row.
type Rows = [[f32; 8]; 8];

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
        return Err((mask.trailing_zeros(), FaultKind::InactiveLanes { active: mask, needed: FULL }));
    }
    let a_role = if rows[0] { Role::ARow } else { Role::ACol };
    let b_role = if rows[1] { Role::BRow } else { Role::BCol };
    let c_role = if half { Role::CHalf } else { Role::C };
    let mut result = vec![[0_u32; LANES]; d.len()];
    for quadpair in 0..4 {
        let (left, right) = (gather(warp, &a, a_role, quadpair, true), gather(warp, &b, b_role, quadpair, true));
        let mut sums = gather(warp, c, c_role, quadpair, half);
        for (i, row) in sums.iter_mut().enumerate() {
            for (j, sum) in row.iter_mut().enumerate() {
                // Products of halves are exact in f32; they are added one after the other.
                *sum = (0..4).fold(*sum, |sum, k| sum + left[i][k] * right[k][j]);
            }
        }
        scatter(&mut result, &sums, c_role, quadpair, half);
    }
    for (&slot, value) in d.iter().zip(&result) {
        warp.set_word(slot, FULL, value);
    }
    Ok(())
}

fn lane_of(quadpair: usize, thread: usize) -> usize {
    4 * quadpair + thread % 4 + 16 * (thread / 4)
}

/// A quadpair's operand, from the registers of its threads.
fn gather(warp: &Warp, slots: &[Slot], role: Role, quadpair: usize, half: bool) -> Rows {
    let mut rows = [[0.0; 8]; 8];
    let elements = if half { 2 * slots.len() } else { slots.len() };
    for thread in 0..8 {
        let lane = lane_of(quadpair, thread);
        for i in 0..elements {
            let (row, column) = M8N8K4.element(role, i, lane);
            let word = warp.word(slots[if half { i / 2 } else { i }])[lane];
            rows[row][column] = if half {
                f16::from_bits((word >> (i % 2 * 16)) as u16).to_f32()
            } else {
                f32::from_bits(word)
            };
        }
    }
    rows
}

fn scatter(result: &mut [[u32; LANES]], sums: &Rows, role: Role, quadpair: usize, half: bool) {
    for thread in 0..8 {
        let lane = lane_of(quadpair, thread);
        for i in 0..8 {
            let (row, column) = M8N8K4.element(role, i, lane);
            if half {
                let bits = u32::from(f16::from_f32(sums[row][column]).to_bits());
                result[i / 2][lane] |= bits << (i % 2 * 16);
            } else {
                result[i][lane] = sums[row][column].to_bits();
            }
        }
    }
}
