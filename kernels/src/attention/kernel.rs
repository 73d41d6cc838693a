//! Flash attention forward, the kernel.
//!
//! A block of threads owns `block_m` query rows of one head and walks over the keys, `block_n` at a time. For each tile
//! of keys it computes the scores S = Q K^T, the probabilities P = exp(S - m) with a reference m near the largest score
//! so far, and adds P V to the output; when m grows, what was summed before is scaled down by exp(m_old - m_new). So the
//! scores never leave the registers, and one pass over K and V is enough.
//!
//! Here are a block's beginning and its end. How it walks differs between units that take K and V from registers, which
//! is in [`fragments`], and the one that reads them from shared memory by itself, in [`warpgroup`].

use super::place::{Part, Rows, head_start, part, rows_from, strides};
use super::score::log_sum;
use super::tile::{CHUNKS, FlashTile};
use super::{fragments, warpgroup};
use crate::tile::row_aligned;
use quadpair::prelude::*;

/// What a block is given to work on.
#[derive(Clone, Copy)]
pub(super) struct Given {
    /// Its rows of Q, and the first of its rows of K and V.
    pub(super) q: Rows,
    pub(super) k: Rows,
    pub(super) v: Rows,
    /// Keys, parts that they are divided in, keys of a part.
    pub(super) lengths: [Tile; 3],
    /// Query rows.
    pub(super) n_q: Tile,
    /// The bias if there is one, and its strides.
    pub(super) bias: Tile,
    pub(super) bias_stride: [Tile; 4],
    /// What Q is multiplied by if it is rounded, and what products of Q and K are.
    pub(super) scale: Tile,
    pub(super) factor: Tile,
}

/// What a block has found behind its last key.
#[derive(Clone, Copy)]
pub(super) struct Found {
    /// The output's sums, by chunk.
    pub(super) acc: [Tile; CHUNKS],
    /// Minus the score that exponents are relative to; infinity for a row that has seen no key.
    pub(super) reference: Tile,
    /// The sum of the exponentials that each thread of a row has.
    pub(super) sum: Tile,
}

/// `softmax(scale Q K^T + bias) V` for `block_m` query rows of one head, and the logarithm of the softmax's denominator.
///
/// Strides are in elements, of batch, head and row (of the bias: batch, head, query, key). `group` query heads share a
/// head of K and V. A row without any key gets output 0 and LSE -inf.
/// The keys can be divided among `splits` blocks, `split_keys` (a multiple of `block_n`) each: then the output and LSE of
/// split i of batch entry b are those of entry `b * splits + i`.
#[kernel(grid = [(n_q as usize).div_ceil(t.block_m), heads as usize, batch as usize * splits as usize])]
pub fn flash_attention<T: Element, U: Element, O: Element>(
    q: Ptr<T>,
    k: Ptr<T>,
    v: Ptr<T>,
    bias: Option<Ptr<U>>,
    out: PtrMut<O>,
    lse: PtrMut<f32>,
    q_stride: [i64; 3],
    k_stride: [i64; 3],
    v_stride: [i64; 3],
    bias_stride: [i64; 4],
    out_stride: [i64; 3],
    heads: i32,
    batch: i32,
    group: i32,
    n_q: i32,
    n_k: i32,
    splits: i32,
    split_keys: i32,
    scale: f32,
    factor: f32,
    #[comptime] t: FlashTile,
) {
    let lengths = [n_k, splits, split_keys];
    let Part { first_row, head, entry, first_key, .. } = part(lengths, n_q, t);
    let [q_stride, k_stride] = [strides(q_stride, t), strides(k_stride, t)];
    let v_stride = strides(v_stride, t);
    let q_start = head_start(row_aligned(q, t.aligned), q_stride, entry, head) + first_row as i64 * q_stride[2];
    let k_start = head_start(row_aligned(k, t.aligned), k_stride, entry, head / group);
    let v_start = head_start(row_aligned(v, t.aligned), v_stride, entry, head / group);
    let q_rows = rows_from(q_start, q_stride[2], t.block_m, t);
    let k_rows = rows_from(k_start + first_key as i64 * k_stride[2], k_stride[2], t.block_n, t);
    let v_rows = rows_from(v_start + first_key as i64 * v_stride[2], v_stride[2], t.block_n, t);
    let given = Given { q: q_rows, k: k_rows, v: v_rows, lengths, n_q, bias, bias_stride, scale, factor };
    let found = if t.unit.reads_shared() { warpgroup::walk::<T>(given, t) } else { fragments::walk::<T>(given, t) };

    let Part { first_row, head, number, .. } = part(lengths, n_q, t);
    let out_stride = strides(out_stride, t);
    let sum = found.sum.reduce_sum(1);
    let inverse = select(sum == 0.0, 0.0, 1.0 / sum);
    let out = row_aligned(out, t.aligned);
    for chunk in 0..t.chunks() {
        let row = first_row + arange(t.output(chunk).slice(1)).expand_dims(1);
        let out_rows = head_start(out, out_stride, number, head) + row as i64 * out_stride[2];
        let column = arange(t.output(chunk).slice(0)).expand_dims(0) + chunk * t.width;
        let inside = (row < n_q) & (column < t.head_dim);
        store_masked(out_rows + column, (found.acc[chunk] * inverse.expand_dims(1)).to::<O>(), inside);
    }
    let row = first_row + arange(t.scores().slice(1));
    let place = lse + (number as i64 * heads as i64 + head as i64) * n_q as i64 + row;
    store_masked(place, log_sum(sum, found.reference, t), row < n_q);
}
