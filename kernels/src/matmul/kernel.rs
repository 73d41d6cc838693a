//! Matrix product, the kernel.
//!
//! A block computes `block_m` x `block_n` elements of C. It walks along k, `block_k` at a time, through two stages of
//! shared memory: while one is multiplied, the next tiles of A and B come from global memory, and are staged in the other
//! before the last products of this one. Within a stage the unit's fragments of a step are loaded while the step before
//! is multiplied. So there is one barrier a tile, and nobody waits for memory:
//!
//! ```text
//! global memory     tile 1 ──────────────────────┐    tile 2 ─────────
//! shared memory                          store 1 ▼ barrier
//! fragments         step 1   step 2   ...  step 0 of tile 1   step 1
//! products          step 0   step 1   ...  last step          step 0
//! ```
//!
//! The first tile is the one that may be narrower than the others, so that only its loads look at k. Where k runs
//! along lines, lines beyond the matrix are loaded as its last one, else as 0: they only make elements of C that are never
//! stored.

use super::tile::{MOST_STAGES, MatmulTile};
use crate::tile::{product, row_aligned};
use quadpair::prelude::*;

/// An operand in global memory.
#[derive(Clone, Copy, Aggregate)]
struct Source {
    /// Where the next tile starts.
    next: Tile,
    /// The distance between neighbours along k.
    along: Tile,
    /// Where each element of a tile lies.
    offset: Tile,
    /// Its number along k.
    depth: Tile,
    /// Whether it is inside the matrix, wherever the tile is along k.
    inside: Tile,
}

/// The rows of A (or columns of B) from `first` on; there are `limit`.
#[device]
fn source(
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
fn fetch(
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
fn fetch_ahead(
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
fn arrive(fetched: Option<Tile>, slot: Shared) {
    if let Some(fetched) = fetched {
        slot.store(fetched);
    }
}

/// Shared memory for a tile each, `stages` of them; what follows is the first again.
#[device]
fn slots<T: Element>(first: Shared, #[comptime] stages: usize) -> [Shared; MOST_STAGES] {
    let mut slots = [first; MOST_STAGES];
    for i in 1..stages {
        slots[i] = shared::<T>(first.layout());
    }
    slots
}

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
    let mut a_fetched = fetch(a, a.depth < narrow, a_slots[0], 0, t);
    let mut b_fetched = fetch(b, b.depth < narrow, b_slots[0], 1, t);
    a.next = a.next + a.along * narrow;
    b.next = b.next + b.along * narrow;
    for slot in 1..t.ahead() {
        // What is copied is further ahead.
        commit_group();
        if t.copies(0) {
            a_fetched = fetch(a, tiles > slot as i32, a_slots[slot], 0, t);
            a.next = a.next + a.along * t.block_k;
        }
        if t.copies(1) {
            b_fetched = fetch(b, tiles > slot as i32, b_slots[slot], 1, t);
            b.next = b.next + b.along * t.block_k;
        }
    }

    let steps = t.steps();
    let mut acc = zeros::<f32>(t.accumulator());
    for (_, [left, right]) in pipelined(((0..tiles).step_by(t.stages), 0..t.stages * steps), |(tile, step)| {
        let slot = step / steps;
        if step % steps == 0 {
            // The first step of a tile makes it visible.
            arrive(a_fetched, a_slots[slot]);
            arrive(b_fetched, b_slots[slot]);
            if t.copies(0) || t.copies(1) {
                commit_group();
                wait_group(t.ahead() - 1);
            }
            barrier();
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

/// A block's elements of C.
#[derive(Clone, Copy, Aggregate)]
pub struct Place {
    address: Tile,
    inside: Tile,
    /// Their columns.
    column: Tile,
    /// How many columns there are.
    n: Tile,
}

/// The elements of C for the rows and columns from `first` on, as the accumulator has them.
#[device]
pub fn place(c: Tile, stride: Tile, first: [Tile; 2], size: [Tile; 3], #[comptime] t: MatmulTile) -> Place {
    place_in(c, stride, first, size, t, t.accumulator())
}

#[device]
fn place_in(
    c: Tile,
    stride: Tile,
    first: [Tile; 2],
    [m, n, _]: [Tile; 3],
    #[comptime] t: MatmulTile,
    #[comptime] layout: Layout,
) -> Place {
    let [c, stride, n] =
        [row_aligned(c, t.aligned[2]), row_aligned(stride, t.aligned[2]), row_aligned(n, t.aligned[2])];
    let row = first[0] + arange(layout.slice(1)).expand_dims(1);
    let column = first[1] + arange(layout.slice(0)).expand_dims(0);
    let address = c + row as i64 * stride as i64 + column as i64;
    Place { address, inside: (row < m) & (column < n), column, n }
}

/// `alpha x + beta C`.
#[device]
pub fn scaled(x: Tile, place: Place, alpha: Tile, beta: Tile, #[comptime] t: MatmulTile) -> Tile {
    let x = x * alpha;
    if t.accumulate { x + load_masked(place.address, place.inside, 0.0) as f32 * beta } else { x }
}

/// The bias of each column.
#[device]
pub fn column_bias(bias: Tile, place: Place) -> Tile {
    load_masked(bias + place.column as i64, place.column < place.n, 0.0) as f32
}

/// Stores a block's elements of C, whose place is that of the accumulator.
#[device]
pub fn write<U: Element>(
    x: Tile,
    place: Place,
    c: Tile,
    stride: Tile,
    first: [Tile; 2],
    size: [Tile; 3],
    #[comptime] t: MatmulTile,
) {
    let x = x.to::<U>();
    if let Some(layout) = t.stored(U::DTYPE.bits()) {
        let place = place_in(c, stride, first, size, t, layout);
        store_masked(place.address, x.convert_layout_within(layout, Bound::NoSharedMemory), place.inside);
    } else {
        store_masked(place.address, x, place.inside);
    }
}
