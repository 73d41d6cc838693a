//! Matrix product, the kernel.
//!
//! A block computes `block_m` x `block_n` elements of C. It walks along k, `block_k` at a time: tiles of A and B are loaded
//! from global memory while the tiles before are multiplied, staged in shared memory in a layout without bank conflicts,
//! and read back as the unit's fragments.

use crate::tile::{loaded_rows, product, row_aligned, VECTOR};
use crate::unit::Unit;
use quadpair::prelude::*;

/// Steps along k that are loaded at once.
const STEP: usize = 4;

/// The comptime parameters: sizes, and the layouts that follow from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MatmulTile {
    /// What multiplies.
    pub unit: Unit,
    /// Rows of a block.
    pub block_m: usize,
    /// Columns of a block.
    pub block_n: usize,
    /// Depth of a tile.
    pub block_k: usize,
    /// Warps of a block, an even power of two or twice one.
    pub warps: usize,
    /// Whether every row starts at a 16-byte boundary and has a multiple of 8 elements.
    pub aligned: bool,
}

impl MatmulTile {
    /// Warps along the rows and along the columns.
    const fn warp_grid(&self) -> [usize; 2] {
        let columns = 1 << (self.warps.ilog2() / 2);
        [self.warps / columns, columns]
    }

    const fn mma(&self) -> Mma {
        Mma::m8n8k4(Quadpairs::TwoByTwo, self.warp_grid())
    }

    const fn accumulator(&self) -> Layout {
        let shape = [self.block_m, self.block_n];
        match self.unit {
            Unit::M8N8K4 => self.mma().accumulator(shape),
            Unit::Fma => blocked(shape, [4, 4], [4, 8], self.warp_grid(), [1, 0]),
        }
    }

    /// The left operand of one step.
    const fn left(&self) -> Layout {
        match self.unit {
            Unit::M8N8K4 => self.mma().a([self.block_m, STEP]),
            Unit::Fma => self.accumulator().operand_a(STEP),
        }
    }

    /// The right operand of one step: n runs along B's rows.
    const fn right(&self) -> Layout {
        match self.unit {
            Unit::M8N8K4 => self.mma().b_row([STEP, self.block_n]),
            Unit::Fma => self.accumulator().operand_b(STEP),
        }
    }

    const fn left_wide(&self) -> Layout {
        match self.unit {
            Unit::M8N8K4 => self.mma().a([self.block_m, VECTOR]),
            Unit::Fma => self.accumulator().operand_a(STEP),
        }
    }

    const fn rows(&self, rows: usize, columns: usize) -> Layout {
        loaded_rows(rows, columns, self.warps)
    }
}

/// The index of each element along a dimension, no larger than the last one that there is.
#[device]
fn clamped(first: Tile, limit: Tile, #[comptime] layout: Layout) -> Tile {
    minimum(first + arange(layout), limit - 1)
}

/// `C = A B`; strides are the distances between rows, in elements.
#[kernel(grid = [(n as usize).div_ceil(t.block_n), (m as usize).div_ceil(t.block_m)])]
pub fn matmul<T: Element>(
    a: Ptr<T>,
    b: Ptr<T>,
    c: PtrMut<f32>,
    m: i32,
    n: i32,
    k: i32,
    a_stride: i64,
    b_stride: i64,
    c_stride: i64,
    #[comptime] t: MatmulTile,
) {
    let a_layout = t.rows(t.block_m, t.block_k);
    let b_layout = t.rows(t.block_k, t.block_n);
    let a_memory = SharedLayout::between(&a_layout, &t.left_wide(), T::DTYPE.bits());
    let b_memory = SharedLayout::between(&b_layout, &t.right(), T::DTYPE.bits());
    let a_shared = [shared::<T>(a_memory), shared::<T>(a_memory)];
    let b_shared = [shared::<T>(b_memory), shared::<T>(b_memory)];

    let [a_stride, b_stride] = [row_aligned(a_stride, t.aligned), row_aligned(b_stride, t.aligned)];
    let [a, b] = [row_aligned(a, t.aligned), row_aligned(b, t.aligned)];
    let [n, k] = [row_aligned(n, t.aligned), row_aligned(k, t.aligned)];
    let first_row = program_id(1) * t.block_m;
    let first_column = program_id(0) * t.block_n;
    let tiles = maximum((k + (t.block_k - 1)) / t.block_k, 1);
    let first = row_aligned(k - (tiles - 1) * t.block_k, t.aligned);
    let a_k = arange(a_layout.slice(0)).expand_dims(0);
    let a_row = minimum(first_row + arange(a_layout.slice(1)).expand_dims(1), m - 1);
    let b_k = arange(b_layout.slice(1)).expand_dims(1);
    let b_column = arange(b_layout.slice(0)).expand_dims(0);
    let a_offset = a_row as i64 * a_stride + a_k as i64;
    let b_offset = b_k as i64 * b_stride + b_column as i64;
    let inside = first_column + b_column < n;
    let mut a_next = a;
    let mut b_next = b + first_column;
    a_shared[0].store(load_masked(a_next + a_offset, a_k < first, 0.0));
    b_shared[0].store(load_masked(b_next + b_offset, (b_k < first) & inside, 0.0));
    barrier();
    a_next = a_next + first;
    b_next = b_next + b_stride * first as i64;
    let mut left = a_shared[0].slice(1, 0, STEP).load(t.left());
    let mut right = b_shared[0].slice(0, 0, STEP).load(t.right());
    let mut acc = zeros::<f32>(t.accumulator());
    for tile in (0..tiles).step_by(2) {
        for stage in 0..2 {
            let more = tile + (1 + stage) < tiles;
            let a_tile = load_masked(a_next + a_offset, more, 0.0);
            let b_tile = load_masked(b_next + b_offset, inside & more, 0.0);
            a_next = a_next + t.block_k;
            b_next = b_next + b_stride * t.block_k;
            for step in 0..t.block_k / STEP {
                let l = left;
                let r = right;
                if step + 1 < t.block_k / STEP {
                    left = a_shared[stage].slice(1, (step + 1) * STEP, STEP).load(t.left());
                    right = b_shared[stage].slice(0, (step + 1) * STEP, STEP).load(t.right());
                } else {
                    a_shared[1 - stage].store(a_tile);
                    b_shared[1 - stage].store(b_tile);
                    barrier();
                    left = a_shared[1 - stage].slice(1, 0, STEP).load(t.left());
                    right = b_shared[1 - stage].slice(0, 0, STEP).load(t.right());
                }
                acc = product(l, r, acc, t.unit);
            }
        }
    }

    let row = first_row + arange(t.accumulator().slice(1)).expand_dims(1);
    let column = first_column + arange(t.accumulator().slice(0)).expand_dims(0);
    store_masked(c + row as i64 * c_stride + column, acc, (row < m) & (column < n));
}
