//! `ldmatrix`: eight lanes a matrix give the addresses of its rows of 16 bytes, and each row goes to four lanes.
//!
//! Lane `8 m + r` gives row `r` of matrix `m`. Register `m` of lane `l` gets word `l % 4` of row `l / 4`; transposed it
//! gets the halves `l / 4` of the rows `2 (l % 4)` and the next. The rows are read like any access of 16 bytes, eight
//! lanes a wavefront where banks don't conflict; lanes whose addresses aren't asked for don't take part.

use super::memory::Way;
use crate::sim::machine::{Block, Stop};
use crate::sim::program::Access;
use crate::sim::report::{Direction, FaultKind};
use crate::sim::warp::{FULL, LANES, Lanes32, Warp};

/// Words of a row.
const WORDS: usize = 4;

pub(super) fn load(
    block: &mut Block<'_>,
    warp: &mut Warp,
    step: &Access,
    transposed: bool,
    mask: u32,
) -> Result<(), Stop> {
    if mask != FULL {
        return Err(Stop::new(mask.trailing_zeros(), FaultKind::InactiveLanes { active: mask, needed: FULL }));
    }
    let rows = FULL >> (LANES - 8 * step.slots.len());
    let way = Way::new(warp, step, Direction::Read, rows)?;
    way.check(block, rows)?;
    way.count(block, warp, rows);
    let mut words = [[0; LANES]; WORDS];
    for (i, words) in words.iter_mut().enumerate() {
        way.read::<4>(block, warp, i, rows, |lane, word| words[lane] = word as u32)?;
    }
    for (matrix, &slot) in step.slots.iter().enumerate() {
        let word = |row: usize, column: usize| words[column][8 * matrix + row];
        let half = |row: usize, column: usize| word(row, column / 2) >> (column % 2 * 16) & 0xffff;
        let value: Lanes32 = std::array::from_fn(|lane| match transposed {
            false => word(lane / 4, lane % 4),
            true => half(lane % 4 * 2, lane / 4) | half(lane % 4 * 2 + 1, lane / 4) << 16,
        });
        warp.set_word(slot, FULL, &value);
    }
    Ok(())
}
