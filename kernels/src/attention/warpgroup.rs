//! Attention on the unit that reads K and V from shared memory by itself, wgmma.
//!
//! Its products go on while the warps do other work, so that a tile's softmax runs beside the product of the tile before:
//!
//! ```text
//! copies                K 2, V 1 ──────────┐   K 3, V 2 ──────────┐
//!                     ▼ barrier            ▼ barrier              ▼
//! matrix unit           S1 = Q K1, O += P0 V0   S2 = Q K2, O += P1 V1
//! the other units          P1 = softmax S1         P2 = softmax S2
//! ```
//!
//! Shared memory has room for two tiles of K and two of V: the one that is read and the one that comes. P of a tile waits
//! in registers, where it lies as the unit's left operand already. A branch waits for all products, so the one that scales
//! the sums down stands behind the softmax, and the reference follows the largest score exactly.

use super::kernel::{Found, Given};
use super::place::{Part, Rows, Sight, behind, copy, fetch_queries, part, sight};
use super::score::{Scoring, biased, exponent, fall, reference_to, scoring};
use super::tile::{CHUNKS, FlashTile};
use quadpair::prelude::*;

/// What a block keeps from one tile of keys to the next.
#[derive(Clone, Copy, Aggregate)]
struct State {
    /// The output's sums, by chunk, without the last tile's.
    acc: [Tile; CHUNKS],
    /// Minus the score that exponents are relative to; infinity for a row that has seen no key.
    reference: Tile,
    /// The sum of the exponentials that each thread of a row has.
    sum: Tile,
    /// P of the last tile.
    p: Tile,
    /// Where K of the next tile lies, and V of the last.
    k: Rows,
    v: Rows,
}

/// The block's shared memory by chunk: Q, and two tiles of K and of V.
#[derive(Clone, Copy)]
struct Memory {
    q: [Shared; CHUNKS],
    k: [Shared; CHUNKS],
    v: [Shared; CHUNKS],
}

/// The memory that a tile works with: its own and what is ahead and behind.
#[derive(Clone, Copy)]
struct Slots {
    q: [Shared; CHUNKS],
    k: [Shared; CHUNKS],
    next_k: [Shared; CHUNKS],
    v: [Shared; CHUNKS],
    last_v: [Shared; CHUNKS],
}

/// The slots of a tile whose number is odd, 1, or even, 0.
#[device]
fn slots(memory: Memory, odd: Tile, #[comptime] t: FlashTile) -> Slots {
    let Memory { q, k, v } = memory;
    let mut slots = Slots { q, k, next_k: k, v, last_v: v };
    for chunk in 0..t.chunks() {
        slots.k[chunk] = k[chunk].index(odd);
        slots.next_k[chunk] = k[chunk].index(1 - odd);
        slots.v[chunk] = v[chunk].index(odd);
        slots.last_v[chunk] = v[chunk].index(1 - odd);
    }
    slots
}

/// A tile sets out.
#[device]
fn bring(to: [Shared; CHUNKS], rows: Rows, at: Tile, #[comptime] edge: bool, #[comptime] t: FlashTile) {
    for chunk in 0..t.chunks() {
        copy(to[chunk], rows, at, chunk, edge, t);
    }
}

/// Scores of a tile.
#[device]
fn scores(q: [Shared; CHUNKS], k: [Shared; CHUNKS], #[comptime] t: FlashTile) -> Tile {
    let mut s = zeros::<f32>(t.scores());
    for chunk in 0..t.chunks() {
        let columns = t.columns(chunk);
        s = q[chunk].slice(1, 0, columns).warpgroup_mma(k[chunk].slice(1, 0, columns).permute([1, 0]), s);
    }
    s
}

/// The output's sums with a tile's share.
#[device]
fn weighted(p: Tile, v: [Shared; CHUNKS], acc: [Tile; CHUNKS], #[comptime] t: FlashTile) -> [Tile; CHUNKS] {
    let mut acc = acc;
    for chunk in 0..t.chunks() {
        acc[chunk] = p.warpgroup_mma(v[chunk].slice(1, 0, t.columns(chunk)), acc[chunk]);
    }
    acc
}

/// From scores to P; the sums fall by what is given back third.
#[device]
fn softmax(
    s: Tile,
    [reference, sum]: [Tile; 2],
    sight: Sight,
    scoring: Scoring,
    at: Tile,
    #[comptime] edge: bool,
    #[comptime] t: FlashTile,
) -> [Tile; 4] {
    let mut s = s;
    let key = (at + arange(t.scores().slice(0))).expand_dims(0);
    if t.bias {
        s = biased(s, scoring, key, edge);
    }
    if edge {
        // The first look at the scores waits for them. Behind it the mask is made bit by bit; before it all of it would
        // be, and take registers.
        s = s + 0.0;
        let column = arange(t.scores().slice(0)).expand_dims(0);
        s = select(column < (sight.seen - at).expand_dims(1), s, f32::NEG_INFINITY);
    }
    let grown = minimum(reference, reference_to(s.reduce_max(1), scoring, t));
    let alpha = fall(reference, grown, t);
    // Where a row may have seen no key, any finite number keeps its exponentials 0.
    let reached = if edge || t.bias { minimum(grown, f32::MAX) } else { grown };
    let p = exp2(exponent(s, reached.expand_dims(1), scoring, t));
    [p, grown, sum * alpha.expand_dims(1) + p.thread_sum(1), alpha]
}

/// One tile of keys and the product of the last; `at` is the place of its first key, counted from the end.
#[device]
fn attend<T: Element>(
    state: State,
    slots: Slots,
    sight: Sight,
    scoring: Scoring,
    at: Tile,
    #[comptime] edge: bool,
    #[comptime] t: FlashTile,
) -> State {
    wait_group(0);
    barrier();
    let [k, v] = [behind(state.k, t.block_n), behind(state.v, t.block_n)];
    bring(slots.next_k, k, at + t.block_n, edge, t);
    bring(slots.v, v, at, edge, t);
    commit_group();
    let s = scores(slots.q, slots.k, t);
    let mut acc = weighted(state.p, slots.last_v, state.acc, t);
    let [p, reference, sum, alpha] = softmax(s, [state.reference, state.sum], sight, scoring, at, edge, t);
    if warp_any(alpha < 1.0) {
        for chunk in 0..t.chunks() {
            acc[chunk] = acc[chunk] * alpha.expand_dims(1);
        }
    }
    let p = p.to::<T>().convert_layout(t.probabilities());
    State { acc, reference, sum, p, k, v }
}

/// All tiles of keys.
#[device]
pub(super) fn walk<T: Element>(given: Given, #[comptime] t: FlashTile) -> Found {
    let Given { k, v, lengths, n_q, .. } = given;
    if t.blocks_at_once() > 1 {
        blocks_at_once(t.blocks_at_once());
    }
    let own = part(lengths, n_q, t);
    let Part { first_row, keys, .. } = own;
    let queries = nvmma_shared([t.block_m, t.width], 2 * t.width, 16, false);
    let ring = nvmma_shared([2, t.block_n, t.width], 2 * t.width, 16, false);
    let mut memory =
        Memory { q: [shared::<T>(queries); CHUNKS], k: [shared::<T>(ring); CHUNKS], v: [shared::<T>(ring); CHUNKS] };
    for chunk in 1..t.chunks() {
        memory.q[chunk] = shared::<T>(queries);
        memory.k[chunk] = shared::<T>(ring);
        memory.v[chunk] = shared::<T>(ring);
    }
    let even = slots(memory, scalar::<i32>(0), t);
    bring(even.k, k, 0 - keys, true, t);
    commit_group();
    for chunk in 0..t.chunks() {
        memory.q[chunk].store(fetch_queries::<T>(given, first_row, chunk, t));
    }
    wait_group(0);
    barrier();
    let near = sight(own, n_q, lengths[0], t);
    let scores_of = scoring(given, own, t);
    bring(even.next_k, behind(k, t.block_n), t.block_n - keys, true, t);
    bring(even.v, v, 0 - keys, true, t);
    commit_group();
    let none = [full::<f32>(t.scores().slice(1), f32::INFINITY), zeros::<f32>(t.scores()).thread_sum(1)];
    let s = scores(memory.q, even.k, t);
    let [p, reference, sum, _] = softmax(s, none, near, scores_of, 0 - keys, true, t);
    let mut acc = [zeros::<f32>(t.output(0)); CHUNKS];
    for chunk in 1..t.chunks() {
        acc[chunk] = zeros::<f32>(t.output(chunk));
    }
    let mut state =
        State { acc, reference, sum, p: p.to::<T>().convert_layout(t.probabilities()), k: behind(k, t.block_n), v };
    let mut odd = scalar::<i32>(1);
    for first in (t.block_n..near.whole).step_by(t.block_n) {
        let at = if t.bias { first - keys } else { keys }; // only a bias asks
        state = attend::<T>(state, slots(memory, odd, t), near, scores_of, at, false, t);
        odd = 1 - odd;
    }
    let own = part(lengths, n_q, t);
    let far = sight(own, n_q, lengths[0], t);
    for at in (maximum(far.whole, t.block_n) - own.keys..far.end).step_by(t.block_n) {
        state = attend::<T>(state, slots(memory, odd, t), far, scores_of, at, true, t);
        odd = 1 - odd;
    }
    wait_group(0);
    barrier();
    let last = slots(memory, odd, t).last_v;
    let acc = weighted(state.p, last, state.acc, t);
    Found { acc, reference: state.reference, sum: state.sum }
}
