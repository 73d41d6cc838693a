//! The units of 16 rows: `mma.m16n8k8` and `mma.m16n8k16`, one product of all lanes.
//!
//! A warp's registers are gathered into three small matrices, multiplied, and handed out again. Which element is where is
//! the layout algebra's to say: the units' fragments are asked once, while this is compiled. Products of halves are exact
//! in singles (so are those of bf16), and they are added to the accumulator in the order of k, each sum rounded. A chip
//! adds several products at once and keeps some more bits meanwhile, so its last bits may be others: with k products of
//! size p the two differ by no more than about k 2^-24 p.

use quadpair_layouts::mma::{Atom, M16N8K8, M16N8K16, Role};

use super::round::{one_nan, single};
use crate::sim::machine::Stop;
use crate::sim::program::{RowsStep, Slot};
use crate::sim::report::FaultKind;
use crate::sim::warp::{FULL, LANES, Warp};

const ROWS: usize = 16;
const COLUMNS: usize = 8;
/// The depth of the deeper unit.
const DEPTH: usize = 16;

/// The (row, column) of each element of a fragment, by element and lane.
type Places<const N: usize> = [[[u8; 2]; LANES]; N];

/// Where the elements are of a unit of up to [`DEPTH`]; one that is shallower has the first elements of each.
struct Unit {
    a: Places<8>,
    b: Places<4>,
    c: Places<4>,
}

static SHALLOW: Unit = Unit { a: places(&M16N8K8, Role::ARow), b: places(&M16N8K8, Role::BCol), c: C };
static DEEP: Unit = Unit { a: places(&M16N8K16, Role::ARow), b: places(&M16N8K16, Role::BCol), c: C };
const C: Places<4> = places(&M16N8K16, Role::C);

const fn places<const N: usize>(unit: &Atom, role: Role) -> Places<N> {
    let (mut places, mut number) = ([[[0; 2]; LANES]; N], 0);
    while number < N * LANES {
        let (i, lane) = (number / LANES, number % LANES);
        let (row, column) = unit.element(role, i, lane);
        places[i][lane] = [row as u8, column as u8];
        number += 1;
    }
    places
}

pub(super) fn multiply(warp: &mut Warp, step: &RowsStep, mask: u32) -> Result<(), Stop> {
    if mask != FULL {
        return Err(Stop::new(mask.trailing_zeros(), FaultKind::InactiveLanes { active: mask, needed: FULL }));
    }
    let unit = if step.depth == DEPTH { &DEEP } else { &SHALLOW };
    let (mut a, mut b) = ([[0.0; DEPTH]; ROWS], [[0.0; COLUMNS]; DEPTH]);
    let mut sums = [[0.0; COLUMNS]; ROWS];
    gather(warp, &step.a, step.bf16, &unit.a, &mut a);
    gather(warp, &step.b, step.bf16, &unit.b, &mut b);
    for (&slot, places) in step.c.iter().zip(&unit.c) {
        for (bits, [row, column]) in warp.word(slot).iter().zip(places) {
            sums[usize::from(*row)][usize::from(*column)] = f32::from_bits(*bits);
        }
    }
    product(step.depth, &a, &b, &mut sums);
    for (&slot, places) in step.d.iter().zip(&unit.c) {
        let word = places.map(|[row, column]| one_nan(sums[usize::from(row)][usize::from(column)].to_bits()));
        warp.set_word(slot, FULL, &word);
    }
    Ok(())
}

fn product(depth: usize, a: &[[f32; DEPTH]; ROWS], b: &[[f32; COLUMNS]; DEPTH], sums: &mut [[f32; COLUMNS]; ROWS]) {
    for (a, sums) in a.iter().zip(sums) {
        for (a, b) in a[..depth].iter().zip(b) {
            for (sum, b) in sums.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
    }
}

/// The matrix that registers of two elements each hold.
fn gather<const N: usize, const M: usize>(
    warp: &Warp,
    slots: &[Slot],
    bf16: bool,
    places: &[[[u8; 2]; LANES]],
    matrix: &mut [[f32; N]; M],
) {
    for (&slot, places) in slots.iter().zip(places.chunks_exact(2)) {
        let words = warp.word(slot);
        for (word, (low, high)) in words.iter().zip(places[0].iter().zip(&places[1])) {
            for (bits, [row, column]) in [(word & 0xffff, low), (word >> 16, high)] {
                let value = if bf16 { f32::from_bits(bits << 16) } else { single(bits) };
                matrix[usize::from(*row)][usize::from(*column)] = value;
            }
        }
    }
}
