//! Attention on units that take their operands from registers.
//!
//! K and V of a tile come in chunks of `width` columns, all of one shape, through two slots of shared memory:
//!
//! ```text
//!                 K chunk 0   K chunk 1    V chunk 0    V chunk 1    K chunk 0 of the next tile
//! global memory   K 1 ───┐    V 0 ───┐     V 1 ───┐     K 0 ───┐     K 1 ──
//! shared memory          ▼ barrier   ▼ barrier    ▼ barrier    ▼ barrier
//! products        S += Q0 K0  S += Q1 K1   O0 += P V0   O1 += P V1   S = ..
//!                                       softmax
//! ```
//!
//! The barrier stands before the last products of a chunk, so that the first fragments of the next chunk are loaded
//! while they run. A warp owns whole rows, so that nothing but K and V is shared between warps, and P goes from
//! accumulators to left operands within a warp. Where the chip copies asynchronously, K and V come by whole tiles, and
//! there is a barrier for each.
//! The last tiles, which may not be whole or not be seen by all rows, are computed by the same function with masks.

use super::kernel::{Found, Given};
use super::place::{Part, Rows, Sight, behind, copy_chunk, fetch, fetch_chunk, fetch_queries, part, sight};
use super::score::{Scoring, biased, exponent, fall, reference_to, scoring};
use super::tile::{CHUNKS, FlashTile};
use crate::tile::{VECTOR, product};
use quadpair::prelude::*;

/// How far a score may exceed the reference, in powers of two, before the reference follows: P in f16 reaches 2^15.
const SLACK: f32 = 8.0;
/// The most slots for chunks of K and V.
const SLOTS: usize = 2 * CHUNKS;
/// The most parts of a tile of P.
const PARTS: usize = 32;

/// What a block keeps from one tile of keys to the next.
#[derive(Clone, Copy, Aggregate)]
struct State {
    /// The output's sums, by chunk.
    acc: [Tile; CHUNKS],
    /// Minus the score that exponents are relative to; infinity for a row that has seen no key.
    reference: Tile,
    /// The sum of the exponentials that each thread of a row has.
    sum: Tile,
    /// Where K and V of the next tile lie.
    k: Rows,
    v: Rows,
    /// The second chunk of the next tile, on its way from global memory.
    fetched: Tile,
    /// The first fragments of Q and K^T of the next tile.
    first: [Tile; 2],
}

/// The block's shared memory: Q by chunk, and the slots that chunks of K and V go through.
#[derive(Clone, Copy)]
struct Memory {
    q: [Shared; CHUNKS],
    slots: [Shared; SLOTS],
    /// Fragments of Q by chunk, where they stay in registers.
    kept: [Tile; CHUNKS],
}

/// The slot of a chunk, counted from the tile's first: K's, then V's.
#[device]
fn slot(memory: Memory, #[comptime] chunk: usize, #[comptime] t: FlashTile) -> Shared {
    memory.slots[chunk % t.ring()]
}

/// Fragments of Q and K^T.
#[device]
fn score_fragments(
    memory: Memory,
    #[comptime] chunk: usize,
    #[comptime] at: usize,
    #[comptime] t: FlashTile,
) -> [Tile; 2] {
    let q = if t.keep_queries {
        memory.kept[chunk].slice(1, at, t.key_step)
    } else {
        memory.q[chunk].slice(1, at, t.key_step).load(t.queries(t.key_step))
    };
    let k = slot(memory, chunk, t).permute([1, 0]).slice(0, at, t.key_step).load(t.keys(t.key_step));
    [q, k]
}

/// Fragments of V.
#[device]
fn value_fragments(
    memory: Memory,
    #[comptime] chunk: usize,
    #[comptime] first: usize,
    #[comptime] t: FlashTile,
) -> Tile {
    slot(memory, t.chunks() + chunk, t).slice(0, first, t.value_step).load(t.values())
}

/// A whole tile of K or V sets out, counted from this tile's K.
#[device]
fn copy_tile(
    memory: Memory,
    rows: [Rows; 2],
    at: Tile,
    #[comptime] number: usize,
    #[comptime] edge: bool,
    #[comptime] t: FlashTile,
) {
    for chunk in number * t.chunks()..(number + 1) * t.chunks() {
        copy_chunk(slot(memory, chunk, t), rows, at, chunk, edge, t);
    }
    commit_group();
}

/// From a chunk to the next one, which becomes visible; the one behind it sets out.
#[device]
fn turn(
    memory: Memory,
    rows: [Rows; 2],
    fetched: Tile,
    at: Tile,
    #[comptime] chunk: usize,
    #[comptime] edge: bool,
    #[comptime] t: FlashTile,
) -> Tile {
    if t.copies() {
        if (chunk + 1).is_multiple_of(t.chunks()) {
            wait_group(0);
            barrier();
            copy_tile(memory, rows, at, (chunk + 1) / t.chunks() + 1, edge, t);
        }
        fetched
    } else {
        slot(memory, chunk + 1, t).store(fetched);
        let next = fetch_chunk(rows, at, chunk + 2, edge, t);
        barrier();
        next
    }
}

/// One tile of keys; `at` is the place of its first one, counted from the end.
#[device]
fn attend<T: Element>(
    state: State,
    memory: Memory,
    sight: Sight,
    scoring: Scoring,
    at: Tile,
    #[comptime] edge: bool,
    #[comptime] t: FlashTile,
) -> State {
    let chunks = t.chunks();
    let rows = [state.k, state.v];
    let mut fetched = state.fetched;
    let mut s = zeros::<f32>(t.scores());
    let mut next = state.first;
    let mut value = next[0];
    for chunk in 0..chunks {
        for column in (0..t.width).step_by(t.key_step) {
            let [query, key] = next;
            if column + t.key_step < t.width {
                next = score_fragments(memory, chunk, column + t.key_step, t);
            } else if chunk + 1 < chunks {
                fetched = turn(memory, rows, fetched, at, chunk, edge, t);
                next = score_fragments(memory, chunk + 1, 0, t);
            } else if t.early_values && !(edge && t.copies()) {
                fetched = turn(memory, rows, fetched, at, chunk, edge, t);
                value = value_fragments(memory, 0, 0, t);
            }
            s = product(query, key, s, t.unit);
        }
    }
    let key = (at + arange(t.scores().slice(0))).expand_dims(0);
    if t.bias {
        s = biased(s, scoring, key, edge);
    }
    if edge {
        s = select(key < sight.seen.expand_dims(1), s, f32::NEG_INFINITY);
    }

    let mut reference = state.reference;
    let mut sum = state.sum;
    let mut acc = state.acc;
    let largest = if t.early_largest { s.reduce_max(1).expand_dims(1) } else { s.thread_max(1) };
    if warp_any(exponent(largest, reference.expand_dims(1), scoring, t) > SLACK) {
        let largest = largest.reduce_max(1);
        let grown = minimum(reference, reference_to(largest, scoring, t));
        let alpha = fall(reference, grown, t);
        reference = grown;
        sum = sum * alpha.expand_dims(1);
        for chunk in 0..chunks {
            acc[chunk] = acc[chunk] * alpha.expand_dims(1);
        }
    }
    // Where a row may have seen no key, any finite number keeps its exponentials 0.
    let reached = if edge || t.bias { minimum(reference, f32::MAX) } else { reference }.expand_dims(1);
    let mut p = [s; PARTS];
    for first in (0..t.block_n).step_by(t.part()) {
        let part = exp2(exponent(s.slice(1, first, t.part()), reached, scoring, t));
        sum = sum + part.thread_sum(1);
        p[first / t.part()] = part.to::<T>().convert_layout(t.probabilities());
    }
    if !t.early_values || edge && t.copies() {
        fetched = turn(memory, rows, fetched, at, chunks - 1, edge, t);
        value = value_fragments(memory, 0, 0, t);
    }
    for chunk in 0..chunks {
        for first in (0..t.block_n).step_by(t.value_step) {
            let left = p[first / t.part()].slice(1, first % t.part(), t.value_step);
            let right = value;
            if first + t.value_step < t.block_n {
                value = value_fragments(memory, chunk, first + t.value_step, t);
            } else {
                fetched = turn(memory, rows, fetched, at, chunks + chunk, edge, t);
                if chunk + 1 < chunks {
                    value = value_fragments(memory, chunk + 1, 0, t);
                } else {
                    next = score_fragments(memory, 0, 0, t);
                }
            }
            acc[chunk] = product(left, right, acc[chunk], t.unit);
        }
    }
    let [k, v] = [behind(state.k, t.block_n), behind(state.v, t.block_n)];
    State { acc, reference, sum, k, v, fetched, first: next }
}

/// All tiles of keys.
#[device]
pub(super) fn walk<T: Element>(given: Given, #[comptime] t: FlashTile) -> Found {
    let Given { k: k_rows, v: v_rows, lengths, n_q, .. } = given;
    let own = part(lengths, n_q, t);
    let Part { first_row, keys, .. } = own;
    let chunk_layout = t.staged(t.block_n, t.values(), T::DTYPE.bits());
    let queries = t.staged(t.block_m, t.queries(VECTOR), T::DTYPE.bits());
    let mut memory = Memory {
        q: [shared::<T>(queries); CHUNKS],
        slots: [shared::<T>(chunk_layout); SLOTS],
        kept: [own.first_row; CHUNKS],
    };
    for number in 1..t.ring() {
        memory.slots[number] = shared::<T>(chunk_layout);
    }
    if t.copies() {
        for number in 0..2 {
            copy_tile(memory, [k_rows, v_rows], 0 - keys, number, true, t);
        }
    }
    for chunk in 0..t.chunks() {
        if chunk > 0 {
            memory.q[chunk] = shared::<T>(queries);
        }
        memory.q[chunk].store(fetch_queries::<T>(given, first_row, chunk, t));
    }
    if t.copies() {
        wait_group(1);
    } else {
        slot(memory, 0, t).store(fetch(k_rows, 0 - keys, t.block_n, 0, true, t));
    }
    barrier();
    if t.keep_queries {
        for chunk in 0..t.chunks() {
            memory.kept[chunk] = memory.q[chunk].load(t.queries(t.width));
        }
    }

    let mut state = State {
        acc: [zeros::<f32>(t.output(0)); CHUNKS],
        reference: full::<f32>(t.scores().slice(1), f32::INFINITY),
        sum: zeros::<f32>(t.scores()).thread_sum(1),
        k: k_rows,
        v: v_rows,
        fetched: if t.copies() { first_row } else { fetch_chunk([k_rows, v_rows], 0 - keys, 1, true, t) },
        first: score_fragments(memory, 0, 0, t),
    };
    let scoring = scoring(given, own, t);
    let near = sight(own, n_q, lengths[0], t);
    for first in (0..near.whole).step_by(t.block_n) {
        let at = if t.bias { first - keys } else { keys }; // only a bias asks
        state = attend::<T>(state, memory, near, scoring, at, false, t);
    }
    // Computed anew, not kept in registers across the loop.
    let own = part(lengths, n_q, t);
    let far = sight(own, n_q, lengths[0], t);
    for at in (far.whole - own.keys..far.end).step_by(t.block_n) {
        state = attend::<T>(state, memory, far, scoring, at, true, t);
    }
    let State { acc, reference, sum, .. } = state;
    Found { acc, reference, sum }
}
