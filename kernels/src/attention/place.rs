//! Where things lie: a block's part of the problem, the keys that its rows see, and rows in global memory.
//!
//! Places of rows are counted from the end: the last one is at -1, and what is at 0 or behind it isn't there. So a mask is
//! a comparison with 0, and the loop over the last keys needs one register for where it is.

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
pub(super) fn part([n_k, splits, split_keys]: [Tile; 3], #[comptime] t: FlashTile) -> Part {
    let number = program_id(2);
    let entry = number / splits;
    let first_key = (number - entry * splits) * split_keys;
    let keys = minimum(n_k - first_key, split_keys);
    Part { first_row: program_id(0) * t.block_m, head: program_id(1), entry, first_key, keys, number }
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

/// A chunk of some rows; with `edge`, 0 for rows that there aren't. `at` is the first row's place, counted from the end:
/// the last row is at -1.
#[device]
pub(super) fn fetch(
    rows: Rows,
    at: Tile,
    #[comptime] count: usize,
    #[comptime] chunk: usize,
    #[comptime] edge: bool,
    #[comptime] t: FlashTile,
) -> Tile {
    let layout = t.rows(count);
    let row = arange(layout.slice(1)).expand_dims(1);
    let column = arange(layout.slice(0)).expand_dims(0) + chunk * t.width;
    let place = rows.place + chunk * t.width;
    let padded = (chunk + 1) * t.width > t.head_dim;
    match (edge, padded) {
        (false, false) => load(place),
        (true, false) => load_masked(place, row + at < 0, 0.0),
        (false, true) => load_masked(place, column < t.head_dim, 0.0),
        (true, true) => load_masked(place, (row + at < 0) & (column < t.head_dim), 0.0),
    }
}

/// The rows behind the next `count`.
#[device]
pub(super) fn behind(rows: Rows, #[comptime] count: usize) -> Rows {
    Rows { place: rows.place + rows.stride * count, ..rows }
}

/// A chunk of this tile or the next, counted from this one's first: K's, then V's.
#[device]
pub(super) fn fetch_chunk(
    [k, v]: [Rows; 2],
    at: Tile,
    #[comptime] chunk: usize,
    #[comptime] edge: bool,
    #[comptime] t: FlashTile,
) -> Tile {
    let chunks = t.chunks();
    if chunk < chunks {
        fetch(k, at, t.block_n, chunk, edge, t)
    } else if chunk < 2 * chunks {
        fetch(v, at, t.block_n, chunk - chunks, edge, t)
    } else if chunk < 3 * chunks {
        fetch(behind(k, t.block_n), at + t.block_n, t.block_n, chunk - 2 * chunks, edge, t)
    } else {
        fetch(behind(v, t.block_n), at + t.block_n, t.block_n, chunk - 3 * chunks, edge, t)
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
