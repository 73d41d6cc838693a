//! An operand's way from global memory to shared memory: through registers, or by copies that the chip makes by itself.
//!
//! What differs between the two is when a tile sets out and how it arrives. Through registers all of a tile is loaded at
//! once, one tile ahead, and stored before the barrier that makes it visible. Copies need no registers, so that several
//! tiles can be on their way; each step of the tile that is multiplied begins an equal share of one.

use super::tile::{MOST_STAGES, MatmulTile};
use crate::tile::row_aligned;
use quadpair::prelude::*;

/// An operand in global memory.
#[derive(Clone, Copy, Aggregate)]
pub(super) struct Source {
    /// Where the next tile starts.
    pub next: Tile,
    /// The distance between neighbours along k.
    pub along: Tile,
    /// Where each element of a tile lies.
    offset: Tile,
    /// Its number along k.
    pub depth: Tile,
    /// Whether it is inside the matrix, wherever the tile is along k.
    inside: Tile,
}

/// The rows of A (or columns of B) from `first` on; there are `limit`.
#[device]
pub(super) fn source(
    start: Tile,
    stride: Tile,
    first: Tile,
    limit: Tile,
    #[comptime] operand: usize,
    #[comptime] t: MatmulTile,
) -> Source {
    let layout = t.loaded(operand);
    let [start, stride] = [row_aligned(start, t.aligned[operand]), row_aligned(stride, t.aligned[operand])];
    let [row, column] = [arange(layout.slice(1)).expand_dims(1), arange(layout.slice(0)).expand_dims(0)];
    if t.k_contiguous(operand) {
        let next = start + first as i64 * stride as i64;
        let offset = (minimum(first + row, limit - 1) - first) * stride + column;
        Source { next, along: scalar::<i32>(1), offset, depth: column, inside: scalar::<bool>(true) }
    } else {
        let offset = row * stride + column;
        Source { next: start + first, along: stride, offset, depth: row, inside: first + column < limit }
    }
}

/// The next tile sets out for a slot where the mask holds, and 0 elsewhere: what comes through registers is given back.
#[device]
pub(super) fn fetch(
    source: Source,
    mask: Tile,
    slot: Shared,
    #[comptime] operand: usize,
    #[comptime] t: MatmulTile,
) -> Option<Tile> {
    let (from, mask) = (source.next + source.offset, source.inside & mask);
    if t.copies(operand) {
        slot.async_copy_masked(from, mask);
        None
    } else {
        Some(load_masked(from, mask, 0.0))
    }
}

/// What a step of a tile does for an operand's next one, which sets out for the slot that all have left if there is one: a
/// share of the copies, or behind its first fragments all loads to registers.
#[device]
pub(super) fn fetch_ahead(
    fetched: Option<Tile>,
    source: Source,
    slots: [Shared; MOST_STAGES],
    [tile, tiles]: [Tile; 2],
    #[comptime] step: usize,
    #[comptime] operand: usize,
    #[comptime] t: MatmulTile,
) -> Option<Tile> {
    let (slot, step, ahead) = (step / t.steps(), step % t.steps(), t.ahead_of(operand));
    if t.copies(operand) {
        let mask = source.inside & (tile + ahead + slot < tiles);
        let memory = slots[(slot + ahead) % t.stages];
        let length = t.share(operand);
        let shares = t.loaded(operand).shape().extent(0) / length;
        for share in step * shares / t.steps()..(step + 1) * shares / t.steps() {
            let from = source.next + source.offset.slice(0, share * length, length);
            memory.slice(0, share * length, length).async_copy_masked(from, mask);
        }
        None
    } else if step == 1 {
        fetch(source, tile + ahead + slot < tiles, slots[0], operand, t)
    } else {
        fetched
    }
}

/// A tile that came through registers is put in its slot.
#[device]
pub(super) fn arrive(fetched: Option<Tile>, slot: Shared) {
    if let Some(fetched) = fetched {
        slot.store(fetched);
    }
}

/// Shared memory for a tile each, `stages` of them; what follows is the first again.
#[device]
pub(super) fn slots<T: Element>(first: Shared, #[comptime] stages: usize) -> [Shared; MOST_STAGES] {
    let mut slots = [first; MOST_STAGES];
    for i in 1..stages {
        slots[i] = shared::<T>(first.layout());
    }
    slots
}
