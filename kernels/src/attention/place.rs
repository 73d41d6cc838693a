//! Where things lie: a block's part of the problem, the keys that its rows see, and rows in global memory.
//!
//! Places of rows are counted from the end: the last one is at -1, and what is at 0 or behind it isn't there. So a mask is
//! a comparison with 0, and the loop over the last keys needs one register for where it is.

use super::kernel::Given;
use super::tile::FlashTile;
use crate::tile::row_aligned;
use quadpair::prelude::*;

/// Which part of the problem a block has.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub(super) first_row: Tile,
    pub(super) head: Tile,
    pub(super) entry: Tile,
    /// Its own keys: the first one, and how many.
    pub(super) first_key: Tile,
    pub(super) keys: Tile,
    /// The batch entry and which part of its keys, as one number.
    pub(super) number: Tile,
}

/// The block's own part.
#[device]
pub(super) fn part([n_k, splits, split_keys]: [Tile; 3], n_q: Tile, #[comptime] t: FlashTile) -> Part {
    let number = program_id(2);
    let entry = number / splits;
    let first_key = (number - entry * splits) * split_keys;
    let keys = minimum(n_k - first_key, split_keys);
    // The rows that see most begin first, so that the last blocks to run are short.
    let tile = if t.causal { cdiv(n_q, t.block_m) - 1 - program_id(0) } else { program_id(0) };
    Part { first_row: tile * t.block_m, head: program_id(1), entry, first_key, keys, number }
}

/// Which keys a block's rows see.
#[derive(Clone, Copy)]
pub(super) struct Sight {
    /// How many keys all rows see, in whole tiles behind which there is another.
    pub(super) whole: Tile,
    /// Where each row's sight ends, counted from the last key's end.
    pub(super) seen: Tile,
    /// Where the farthest row's does.
    pub(super) end: Tile,
}

/// The sight of the block's rows.
#[device]
pub(super) fn sight(part: Part, n_q: Tile, n_k: Tile, #[comptime] t: FlashTile) -> Sight {
    let Part { first_row, first_key, keys, .. } = part;
    let row = arange(t.scores().slice(1));
    if t.causal {
        // Behind its own place, counted from the end, a row sees nothing.
        let first = first_row + (n_k - n_q + 1) - first_key - keys;
        let whole = maximum(keys + minimum(first, 0) - t.block_n, 0) / t.block_n * t.block_n;
        Sight { whole, seen: minimum(first + row, 0), end: minimum(first + (t.block_m - 1), 0) }
    } else {
        let whole = maximum(keys - t.block_n, 0) / t.block_n * t.block_n;
        Sight { whole, seen: row * 0, end: scalar::<i32>(0) }
    }
}

/// Rows of a matrix in global memory.
#[derive(Clone, Copy, Aggregate)]
pub(super) struct Rows {
    /// Where each element of the first chunk of the next rows lies.
    pub(super) place: Tile,
    pub(super) stride: Tile,
}

/// The `count` rows from `start` on.
#[device]
pub(super) fn rows_from(start: Tile, stride: Tile, #[comptime] count: usize, #[comptime] t: FlashTile) -> Rows {
    let layout = t.rows(count);
    let [row, column] = [arange(layout.slice(1)).expand_dims(1), arange(layout.slice(0)).expand_dims(0)];
    Rows { place: start + (row as i64 * stride + column as i64), stride }
}

/// Where a chunk of some rows may be read, or nothing if everywhere; with `edge`, not in rows that there aren't. `at` is
/// the first row's place, counted from the end: the last row is at -1.
#[device]
fn inside(
    at: Tile,
    #[comptime] count: usize,
    #[comptime] chunk: usize,
    #[comptime] edge: bool,
    #[comptime] t: FlashTile,
) -> Option<Tile> {
    let layout = t.rows(count);
    let row = arange(layout.slice(1)).expand_dims(1);
    let column = arange(layout.slice(0)).expand_dims(0) + chunk * t.width;
    let padded = (chunk + 1) * t.width > t.head_dim;
    match (edge, padded) {
        (false, false) => None,
        (true, false) => Some(row + at < 0),
        (false, true) => Some(column < t.head_dim),
        (true, true) => Some((row + at < 0) & (column < t.head_dim)),
    }
}

/// A chunk of some rows; 0 where it may not be read.
#[device]
pub(super) fn fetch(
    rows: Rows,
    at: Tile,
    #[comptime] count: usize,
    #[comptime] chunk: usize,
    #[comptime] edge: bool,
    #[comptime] t: FlashTile,
) -> Tile {
    let place = rows.place + chunk * t.width;
    match inside(at, count, chunk, edge, t) {
        None => load(place),
        Some(mask) => load_masked(place, mask, 0.0),
    }
}

/// A chunk of the block's rows of Q, scaled and rounded if it is to be.
#[device]
pub(super) fn fetch_queries<T: Element>(
    given: Given,
    first_row: Tile,
    #[comptime] chunk: usize,
    #[comptime] t: FlashTile,
) -> Tile {
    let rows = fetch(given.q, first_row - given.n_q, t.block_m, chunk, true, t);
    if t.round_q { (rows as f32 * given.scale).to::<T>() } else { rows }
}

/// The rows behind the next `count`.
#[device]
pub(super) fn behind(rows: Rows, #[comptime] count: usize) -> Rows {
    Rows { place: rows.place + rows.stride * count, ..rows }
}

/// The rows of a tile's chunk, counted from the first of K: then come V's, the next tile's of K and of V.
#[device]
fn chunk_rows([k, v]: [Rows; 2], #[comptime] chunk: usize, #[comptime] t: FlashTile) -> Rows {
    match chunk / t.chunks() {
        0 => k,
        1 => v,
        2 => behind(k, t.block_n),
        _ => behind(v, t.block_n),
    }
}

/// Where the first row of a tile's chunk is, if the tile's is at `at`.
#[device]
fn chunk_at(at: Tile, #[comptime] chunk: usize, #[comptime] t: FlashTile) -> Tile {
    if chunk < 2 * t.chunks() { at } else { at + t.block_n }
}

/// A chunk of this tile or the next, counted from this one's first: K's, then V's.
#[device]
pub(super) fn fetch_chunk(
    rows: [Rows; 2],
    at: Tile,
    #[comptime] chunk: usize,
    #[comptime] edge: bool,
    #[comptime] t: FlashTile,
) -> Tile {
    let own = chunk_rows(rows, chunk, t);
    let at = chunk_at(at, chunk, t);
    fetch(own, at, t.block_n, chunk % t.chunks(), edge, t)
}

/// The same on its way to shared memory.
#[device]
pub(super) fn copy_chunk(
    to: Shared,
    rows: [Rows; 2],
    at: Tile,
    #[comptime] chunk: usize,
    #[comptime] edge: bool,
    #[comptime] t: FlashTile,
) {
    let own = chunk_rows(rows, chunk, t);
    let at = chunk_at(at, chunk, t);
    copy(to, own, at, chunk % t.chunks(), edge, t);
}

/// A chunk of the rows of a tile of keys is copied to shared memory: asynchronously where rows are aligned.
#[device]
pub(super) fn copy(
    to: Shared,
    rows: Rows,
    at: Tile,
    #[comptime] chunk: usize,
    #[comptime] edge: bool,
    #[comptime] t: FlashTile,
) {
    if t.aligned {
        let place = rows.place + chunk * t.width;
        match inside(at, t.block_n, chunk, edge, t) {
            None => to.async_copy(place),
            Some(mask) => to.async_copy_masked(place, mask.broadcast_to(t.rows(t.block_n))),
        }
    } else {
        to.store(fetch(rows, at, t.block_n, chunk, edge, t));
    }
}

/// Where one head of one batch entry starts.
#[device]
pub(super) fn head_start(base: Tile, stride: [Tile; 3], batch: Tile, head: Tile) -> Tile {
    base + (batch as i64 * stride[0] + head as i64 * stride[1])
}

/// Strides of batch, head and row that are known to keep rows aligned where they are.
#[device]
pub(super) fn strides(stride: [Tile; 3], #[comptime] t: FlashTile) -> [Tile; 3] {
    [row_aligned(stride[0], t.aligned), row_aligned(stride[1], t.aligned), row_aligned(stride[2], t.aligned)]
}
