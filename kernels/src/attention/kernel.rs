//! Flash attention forward, the kernel.
//!
//! A block of threads owns `block_m` query rows of one head and walks over the keys, `block_n` at a time. For each tile
//! of keys it computes the scores S = Q K^T, the probabilities P = exp(S - m) with the largest score m so far, and adds
//! P V to the output; when m grows, what was summed before is scaled down by exp(m_old - m_new). So the scores never
//! leave the registers, and one pass over K and V is enough.
//!
//! ```text
//!            block_n              head_dim = 64 + 32
//!         ┌──────────┐           ┌─────────────┬──────┐
//! block_m │ S, then P│   ·   V = │  output 0   │ out 1│ block_m
//!         └──────────┘           └─────────────┴──────┘
//! ```
//!
//! The head dim is cut into at most two powers of two. A warp owns whole rows, so that row statistics never cross a warp.
//! Q, K, V and P are staged in shared memory, in layouts chosen so that neither the store nor the fragment load has a
//! bank conflict. Two barriers a tile are enough: the first makes K visible and says that P and V of the tile before
//! have been read, the second makes P and V visible and says that K has been read.

use crate::tile::{loaded_rows, product, row_aligned};
use crate::unit::Unit;
use quadpair::prelude::*;

/// The widest piece of the head dim: an accumulator of this many columns leaves registers for the fragments.
const WIDEST: usize = 128;

const LOG2_E: f32 = std::f32::consts::LOG2_E;
const LN_2: f32 = std::f32::consts::LN_2;

/// The comptime parameters: sizes, and the layouts that follow from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlashTile {
    /// What multiplies.
    pub unit: Unit,
    /// Query rows of a block.
    pub block_m: usize,
    /// Keys of a tile.
    pub block_n: usize,
    /// Elements of a row, a multiple of 8.
    pub head_dim: usize,
    /// Warps of a block.
    pub warps: usize,
    /// Whether every row starts at a 16-byte boundary.
    pub aligned: bool,
    /// Whether there is a bias.
    pub bias: bool,
    /// Whether Q is scaled and rounded, instead of the scores being scaled.
    pub round_q: bool,
}

impl FlashTile {
    /// Width of piece 0 or 1 of the head dim; 0 where there is no second one.
    const fn width(&self, piece: usize) -> usize {
        let first = 1 << if self.head_dim < WIDEST { self.head_dim.ilog2() } else { WIDEST.ilog2() };
        match (piece, self.head_dim - first) {
            (0, _) => first,
            (_, 0) => 0,
            (_, rest) => rest.next_power_of_two(),
        }
    }

    const fn pieces(&self) -> usize {
        if self.width(1) == 0 { 1 } else { 2 }
    }

    /// Whether the pieces reach beyond the head dim.
    const fn padded(&self) -> bool {
        self.width(0) + self.width(1) != self.head_dim
    }

    /// Depth of Q K^T that is loaded at once.
    const fn key_step(&self) -> usize {
        match self.unit {
            Unit::M8N8K4 => 8,
            Unit::Fma => 2,
        }
    }

    /// Depth of P V that is loaded at once.
    const fn value_step(&self) -> usize {
        match self.unit {
            Unit::M8N8K4 => 8,
            Unit::Fma => 2,
        }
    }

    /// The matrix unit with all warps along the rows.
    const fn mma(&self) -> Mma {
        Mma::m8n8k4(Quadpairs::TwoByTwo, [self.warps, 1])
    }

    /// An accumulator of the block's rows.
    const fn accumulator(&self, columns: usize) -> Layout {
        match self.unit {
            Unit::M8N8K4 => self.mma().accumulator([self.block_m, columns]),
            Unit::Fma => blocked([self.block_m, columns], [2, 4], [4, 8], [self.warps, 1], [1, 0]),
        }
    }

    const fn scores(&self) -> Layout {
        self.accumulator(self.block_n)
    }

    const fn output(&self, piece: usize) -> Layout {
        self.accumulator(self.width(piece))
    }

    /// The left operand of a product of depth k.
    const fn left(&self, k: usize) -> Layout {
        match self.unit {
            Unit::M8N8K4 => self.mma().a([self.block_m, k]),
            Unit::Fma => self.scores().operand_a(k),
        }
    }

    /// K^T as the right operand: k runs along K's rows.
    const fn keys(&self, k: usize) -> Layout {
        match self.unit {
            Unit::M8N8K4 => self.mma().b([k, self.block_n]),
            Unit::Fma => self.scores().operand_b(k),
        }
    }

    /// V as the right operand: n runs along V's rows.
    const fn values(&self, k: usize, piece: usize) -> Layout {
        match self.unit {
            Unit::M8N8K4 => self.mma().b_row([k, self.width(piece)]),
            Unit::Fma => self.output(piece).operand_b(k),
        }
    }

    /// One piece of some rows as they come from global memory.
    const fn rows(&self, rows: usize, piece: usize) -> Layout {
        loaded_rows(rows, self.width(piece), self.warps)
    }

    /// Shared memory between a tile of global memory and the operand made of it.
    const fn staging<T: Element>(&self, rows: usize, piece: usize, operand: Layout) -> SharedLayout {
        SharedLayout::between(&self.rows(rows, piece), &operand, T::DTYPE.bits())
    }
}

/// Rows `0..rows` of one piece of a matrix in global memory; 0 beyond `limit` rows and beyond the head dim.
#[device]
fn fetch(
    base: Tile,
    stride: Tile,
    limit: Tile,
    #[comptime] rows: usize,
    #[comptime] piece: usize,
    #[comptime] t: FlashTile,
) -> Tile {
    let layout = t.rows(rows, piece);
    let row = arange(layout.slice(1)).expand_dims(1);
    let column = arange(layout.slice(0)).expand_dims(0) + piece * t.width(0);
    let mut inside = row < limit;
    if t.padded() {
        inside = inside & (column < t.head_dim);
    }
    load_masked(base + row as i64 * stride + column, inside, 0.0)
}

/// Where one head of one batch entry starts.
#[device]
fn head_start(base: Tile, stride: [Tile; 3], batch: Tile, head: Tile) -> Tile {
    base + batch as i64 * stride[0] + head as i64 * stride[1]
}

/// Strides of batch, head and row that are known to keep rows aligned where they are.
#[device]
fn strides(stride: [Tile; 3], #[comptime] t: FlashTile) -> [Tile; 3] {
    [row_aligned(stride[0], t.aligned), row_aligned(stride[1], t.aligned), row_aligned(stride[2], t.aligned)]
}

/// `softmax(scale Q K^T + bias) V` for `block_m` query rows of one head, and the logarithm of the softmax's denominator.
///
/// Strides are in elements, of batch, head and row (of the bias: batch, head, query, key). `group` query heads share a
/// head of K and V. A row without any key gets output 0 and LSE -inf.
#[kernel(grid = [(n_q as usize).div_ceil(t.block_m), heads as usize, batch as usize])]
pub fn flash_attention<T: Element, U: Element>(
    q: Ptr<T>,
    k: Ptr<T>,
    v: Ptr<T>,
    bias: Option<Ptr<U>>,
    out: PtrMut<T>,
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
    scale: f32,
    #[comptime] t: FlashTile,
) {
    let first_row = program_id(0) * t.block_m;
    let head = program_id(1);
    let entry = program_id(2);
    let q_stride = strides(q_stride, t);
    let k_stride = strides(k_stride, t);
    let v_stride = strides(v_stride, t);
    let out_stride = strides(out_stride, t);
    let q_rows = head_start(row_aligned(q, t.aligned), q_stride, entry, head) + first_row as i64 * q_stride[2];
    let mut k_rows = head_start(row_aligned(k, t.aligned), k_stride, entry, head / group);
    let mut v_rows = head_start(row_aligned(v, t.aligned), v_stride, entry, head / group);

    // Q stays in shared memory for all tiles.
    let q0 = shared::<T>(t.staging::<T>(t.block_m, 0, t.left(t.key_step())));
    let q1 = if t.pieces() == 2 { shared::<T>(t.staging::<T>(t.block_m, 1, t.left(t.key_step()))) } else { q0 };
    let k0 = shared::<T>(t.staging::<T>(t.block_n, 0, t.keys(t.key_step()).permute([1, 0])));
    let k1 = if t.pieces() == 2 {
        shared::<T>(t.staging::<T>(t.block_n, 1, t.keys(t.key_step()).permute([1, 0])))
    } else {
        k0
    };
    let v0 = shared::<T>(t.staging::<T>(t.block_n, 0, t.values(t.value_step(), 0)));
    let v1 = if t.pieces() == 2 { shared::<T>(t.staging::<T>(t.block_n, 1, t.values(t.value_step(), 1))) } else { v0 };
    let q_shared = [q0, q1];
    let k_shared = [k0, k1];
    let v_shared = [v0, v1];
    let p_shared = match t.unit {
        Unit::M8N8K4 => shared::<T>(SharedLayout::between(&t.scores(), &t.left(t.value_step()), T::DTYPE.bits())),
        Unit::Fma => shared::<f32>(SharedLayout::between(&t.scores(), &t.left(t.value_step()), 32)),
    };
    for piece in 0..t.pieces() {
        let mut rows = fetch(q_rows, q_stride[2], n_q - first_row, t.block_m, piece, t);
        if t.round_q {
            rows = (rows as f32 * scale).to::<T>();
        }
        q_shared[piece].store(rows);
    }

    // With a bias scores are kept as they are; without, in units of ln 2, which saves a multiplication.
    let factor = match (t.round_q, t.bias) {
        (true, true) => scalar::<f32>(1.0),
        (true, false) => scalar::<f32>(LOG2_E),
        (false, true) => scale,
        (false, false) => scale * LOG2_E,
    };
    let row = first_row + arange(t.scores().slice(1));
    let mut largest = full::<f32>(t.scores().slice(1), f32::NEG_INFINITY);
    let mut sum = zeros::<f32>(t.scores().slice(1));
    let mut acc = [zeros::<f32>(t.output(0)), zeros::<f32>(t.output(if t.pieces() == 2 { 1 } else { 0 }))];
    for first_key in (0..n_k).step_by(t.block_n) {
        let left = n_k - first_key;
        for piece in 0..t.pieces() {
            k_shared[piece].store(fetch(k_rows, k_stride[2], left, t.block_n, piece, t));
        }
        barrier();

        let mut s = zeros::<f32>(t.scores());
        for piece in 0..t.pieces() {
            let step = t.key_step();
            for d in (0..t.width(piece)).step_by(step) {
                let a = q_shared[piece].slice(1, d, step).load(t.left(step));
                let b = k_shared[piece].permute([1, 0]).slice(0, d, step).load(t.keys(step));
                s = product(a, b, s, t.unit);
            }
        }
        s = s * factor;
        let key = arange(t.scores().slice(0));
        if t.bias {
            let columns = (first_key + key) as i64 * bias_stride[3];
            let start = bias + entry as i64 * bias_stride[0] + head as i64 * bias_stride[1];
            let place = start + (row as i64 * bias_stride[2]).expand_dims(1) + columns.expand_dims(0);
            let inside = (row < n_q).expand_dims(1) & (key < left).expand_dims(0);
            s = s + load_masked(place, inside, 0.0) as f32;
        }
        s = select((key < left).expand_dims(0), s, f32::NEG_INFINITY);

        let grown = maximum(largest, s.reduce_max(1));
        // A row that has seen no key yet has no largest score; any finite number keeps its exponentials 0.
        let reference = select(grown == f32::NEG_INFINITY, 0.0, grown);
        let mut exponent = s - reference.expand_dims(1);
        let mut decay = largest - reference;
        if t.bias {
            exponent = exponent * LOG2_E;
            decay = decay * LOG2_E;
        }
        let p = exp2(exponent);
        let alpha = exp2(decay);
        sum = sum * alpha + p.reduce_sum(1);
        largest = grown;
        match t.unit {
            Unit::M8N8K4 => p_shared.store(p.to::<T>()),
            Unit::Fma => p_shared.store(p),
        }
        for piece in 0..t.pieces() {
            v_shared[piece].store(fetch(v_rows, v_stride[2], left, t.block_n, piece, t));
        }
        barrier();

        for piece in 0..t.pieces() {
            let mut o = acc[piece] * alpha.expand_dims(1);
            let step = t.value_step();
            for j in (0..t.block_n).step_by(step) {
                let a = p_shared.slice(1, j, step).load(t.left(step));
                let b = v_shared[piece].slice(0, j, step).load(t.values(step, piece));
                o = product(a, b, o, t.unit);
            }
            acc[piece] = o;
        }
        k_rows = k_rows + k_stride[2] * t.block_n;
        v_rows = v_rows + v_stride[2] * t.block_n;
    }

    let inverse = select(sum == 0.0, 0.0, 1.0 / sum);
    let out_rows = head_start(row_aligned(out, t.aligned), out_stride, entry, head);
    for piece in 0..t.pieces() {
        let row = first_row + arange(t.output(piece).slice(1)).expand_dims(1);
        let column = arange(t.output(piece).slice(0)).expand_dims(0) + piece * t.width(0);
        let place = out_rows + row as i64 * out_stride[2] + column;
        let inside = (row < n_q) & (column < t.head_dim);
        store_masked(place, (acc[piece] * inverse.expand_dims(1)).to::<T>(), inside);
    }
    let units = if t.bias { 1.0 } else { LN_2 };
    let place = lse + (entry as i64 * heads as i64 + head as i64) * n_q as i64 + row;
    store_masked(place, largest * units + log2(sum) * LN_2, row < n_q);
}

impl FlashTile {
    /// A tile for aligned rows with a bias, as `volta.yml` and the plain profiles have them.
    const fn shipped(unit: Unit, block_m: usize, block_n: usize, head_dim: usize) -> FlashTile {
        let warps = block_m / super::config::rows_per_warp(unit);
        FlashTile { unit, block_m, block_n, head_dim, warps, aligned: true, bias: true, round_q: false }
    }
}

instances! {
    /// Head dim 64 on the matrix unit.
    #[target(sm_70)]
    pub FLASH_64 = FlashAttention::<f16, f32> { t: FlashTile::shipped(Unit::M8N8K4, 64, 32, 64) };
    /// Head dim 96, in pieces of 64 and 32, on the matrix unit.
    #[target(sm_70)]
    pub FLASH_96 = FlashAttention::<f16, f32> { t: FlashTile::shipped(Unit::M8N8K4, 64, 32, 96) };
    /// Head dim 128 on the matrix unit.
    #[target(sm_70)]
    pub FLASH_128 = FlashAttention::<f16, f32> { t: FlashTile::shipped(Unit::M8N8K4, 64, 32, 128) };
    /// Head dim 256, in two pieces, on the matrix unit.
    #[target(sm_70)]
    pub FLASH_256 = FlashAttention::<f16, f32> { t: FlashTile::shipped(Unit::M8N8K4, 64, 32, 256) };
    /// Head dim 64 by fused multiply-adds.
    pub FLASH_64_FMA = FlashAttention::<f32, f32> { t: FlashTile::shipped(Unit::Fma, 64, 32, 64) };
}
