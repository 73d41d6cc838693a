//! Matrix product, the kernel.
//!
//! A block computes `block_m` x `block_n` elements of C. It walks along k, `block_k` at a time, through stages of shared
//! memory: while one is multiplied, the next tiles of A and B come from global memory. With two stages, on a chip where
//! they come through registers, they are staged in the other before the last products of this one. Within a stage the
//! unit's fragments of a step are loaded while the step before is multiplied. So there is one barrier a tile, and nobody
//! waits for memory:
//!
//! ```text
//! global memory     tile 1 ──────────────────────┐    tile 2 ─────────
//! shared memory                          store 1 ▼ barrier
//! fragments         step 1   step 2   ...  step 0 of tile 1   step 1
//! products          step 0   step 1   ...  last step          step 0
//! ```
//!
//! Where the chip copies from global to shared memory by itself, `stages - 1` tiles are on their way at once, and a step
//! begins its share of the copies of one. All else is the same: before the barrier a thread waits for its copies instead of
//! storing what it loaded. A unit that reads shared memory by itself has no fragments: see [`warpgroup`].
//!
//! The first tile is the one that may be narrower than the others, so that only its loads look at k. Where k runs
//! along lines, lines beyond the matrix are loaded as its last one, else as 0: they only make elements of C that are never
//! stored.

use super::source::{Source, arrive, fetch, fetch_ahead, slots, source};
use super::tile::{MOST_STAGES, MatmulTile};
use super::warpgroup;
use crate::tile::{product, row_aligned};
use quadpair::prelude::*;

/// The first row and column of a block. Where C is walked by bands, blocks go down the rows of one, column by column, so
/// that those that run at once share what they read.
#[device]
pub fn first([m, n, _]: [Tile; 3], #[comptime] t: MatmulTile) -> [Tile; 2] {
    if let Some(band) = t.band() {
        let [rows, columns] = [cdiv(m, t.block_m), cdiv(n, t.block_n)];
        let number = program_id(1) * columns + program_id(0);
        let top = number / (columns * band) * band;
        let height = minimum(rows - top, band);
        let inside = number - top * columns;
        [(top + inside % height) * t.block_m, inside / height * t.block_n]
    } else {
        [program_id(1) * t.block_m, program_id(0) * t.block_n]
    }
}

/// Where a batch entry's matrices start.
#[device]
pub fn starts(memory: [Tile; 3], batch_stride: [Tile; 3], #[comptime] t: MatmulTile) -> [Tile; 3] {
    let entry = program_id(2) as i64;
    let mut starts = memory;
    for i in 0..3 {
        starts[i] = memory[i] + entry * row_aligned(batch_stride[i], t.aligned[i]);
    }
    starts
}

/// Whole tiles set out behind the first, a group each, as far ahead as copies go.
#[device]
fn run_ahead(
    [a, b]: [Source; 2],
    [a_slots, b_slots]: [[Shared; MOST_STAGES]; 2],
    tiles: Tile,
    #[comptime] t: MatmulTile,
) -> [Source; 2] {
    let (mut a, mut b) = (a, b);
    for slot in 1..t.ahead() {
        commit_group();
        if t.copies(0) {
            fetch(a, tiles > slot as i32, a_slots[slot], 0, t);
            a.next = a.next + a.along * t.block_k;
        }
        if t.copies(1) {
            fetch(b, tiles > slot as i32, b_slots[slot], 1, t);
            b.next = b.next + b.along * t.block_k;
        }
    }
    [a, b]
}

/// `A B` for the rows and columns from `first` on, as an accumulator.
#[device]
pub fn accumulate<T: Element>(
    memory: [Tile; 2],
    stride: [Tile; 2],
    first: [Tile; 2],
    [m, n, k]: [Tile; 3],
    #[comptime] t: MatmulTile,
) -> Tile {
    let bits = T::DTYPE.bits();
    let a_slots = slots::<T>(shared::<T>(t.staged(0, bits)), t.stages);
    let b_slots = slots::<T>(shared::<T>(t.staged(1, bits)), t.stages);
    // What is a multiple of 8 where rows in memory are.
    let m = row_aligned(m, t.aligned[0] && !t.k_contiguous(0));
    let n = row_aligned(n, t.aligned[1] && !t.k_contiguous(1));
    let k = row_aligned(k, t.aligned[0] && t.k_contiguous(0) || t.aligned[1] && t.k_contiguous(1));
    let mut a = source(memory[0], stride[0], first[0], m, 0, t);
    let mut b = source(memory[1], stride[1], first[1], n, 1, t);
    let tiles = maximum(cdiv(k, t.block_k), 1);
    let narrow = k - (tiles - 1) * t.block_k;
    let a_fetched = fetch(a, a.depth < narrow, a_slots[0], 0, t);
    let b_fetched = fetch(b, b.depth < narrow, b_slots[0], 1, t);
    a.next = a.next + a.along * narrow;
    b.next = b.next + b.along * narrow;
    if t.unit.reads_shared() {
        arrive(a_fetched, a_slots[0]);
        arrive(b_fetched, b_slots[0]);
        commit_group();
        warpgroup::sums([a, b], [a_slots, b_slots], tiles, t)
    } else {
        sums([a_fetched, b_fetched], [a, b], [a_slots, b_slots], tiles, t)
    }
}

/// A tile of each operand becomes visible to all warps.
#[device]
fn show([a, b]: [Option<Tile>; 2], [a_slot, b_slot]: [Shared; 2], #[comptime] t: MatmulTile) {
    arrive(a, a_slot);
    arrive(b, b_slot);
    if t.copies(0) || t.copies(1) {
        commit_group();
        wait_group(t.ahead() - 1);
    }
    barrier();
}

/// The sums of all tiles by fragments that warps load, of which the first tile is on its way.
#[device]
fn sums(
    [a_fetched, b_fetched]: [Option<Tile>; 2],
    [a, b]: [Source; 2],
    [a_slots, b_slots]: [[Shared; MOST_STAGES]; 2],
    tiles: Tile,
    #[comptime] t: MatmulTile,
) -> Tile {
    let (mut a_fetched, mut b_fetched) = (a_fetched, b_fetched);
    let [mut a, mut b] = run_ahead([a, b], [a_slots, b_slots], tiles, t);

    let steps = t.steps();
    let mut acc = zeros::<f32>(t.accumulator());
    for (_, [left, right]) in pipelined(((0..tiles).step_by(t.stages), 0..t.stages * steps), |(tile, step)| {
        let slot = step / steps;
        if step % steps == 0 {
            // The first step of a tile makes it visible.
            show([a_fetched, b_fetched], [a_slots[slot], b_slots[slot]], t);
        }
        a_fetched = fetch_ahead(a_fetched, a, a_slots, [tile, tiles], step, 0, t);
        b_fetched = fetch_ahead(b_fetched, b, b_slots, [tile, tiles], step, 1, t);
        if step % steps == t.last_fetch(0) {
            a.next = a.next + a.along * t.block_k;
        }
        if step % steps == t.last_fetch(1) {
            b.next = b.next + b.along * t.block_k;
        }
        let at = step % steps * t.step();
        let left = a_slots[slot].permute(t.dims(0)).slice(1, at, t.step()).load(t.fragment(0, t.step()));
        let right = b_slots[slot].permute(t.dims(1)).slice(0, at, t.step()).load(t.fragment(1, t.step()));
        [left, right]
    }) {
        acc = product(left, right, acc, t.unit);
    }
    acc
}
