//! A kernel with one of everything that inspection looks at, and no loop.

// The tests find values by the names in this text.

use quadpair::prelude::*;

/// Rows as they are loaded.
pub const ROWS: Layout = blocked([64, 32], [1, 8], [8, 4], [4, 1], [1, 0]);

/// Columns, four rows a thread.
pub const COLUMNS: Layout = blocked([64, 32], [4, 1], [4, 8], [4, 1], [0, 1]);

/// The accumulator of a product.
pub const PRODUCT: Layout = UNIT.accumulator([64, 32]);

const UNIT: Mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]);

/// Shared memory of a block.
pub const MEMORY: SharedLayout = row_major([64, 32]);

/// Blocks of a launch.
pub const BLOCKS: usize = 3;

/// Moves a tile from layout to layout and adds up its columns.
#[kernel(grid = [blocks as usize])]
pub fn mixed(x: Ptr<f16>, sums: PtrMut<f32>, out: PtrMut<f32>, blocks: i32) {
    let first = program_id(0) * 2048;
    let row = arange(ROWS.slice(1)).expand_dims(1);
    let column = arange(ROWS.slice(0)).expand_dims(0);
    let loaded = load(multiple_of(x, 8) + (first + row * 32 + column));
    let staged = shared::<f16>(MEMORY);
    staged.store(loaded);
    barrier();
    let columns = staged.load(COLUMNS);
    let moved = columns.convert_layout(ROWS).to::<f32>();
    let a = staged.slice(1, 8, 8).load(UNIT.a([64, 8]));
    let b = staged.slice(0, 8, 8).load(UNIT.b([8, 32]));
    let product = mma(a, b, zeros::<f32>(PRODUCT));
    let total = moved.reduce_sum(0) + product.reduce_max(0).convert_layout(ROWS.slice(0));
    store(sums + (program_id(0) * 32 + arange(ROWS.slice(0))), total);
    store(multiple_of(out, 4) + (first + row * 32 + column), product.convert_layout(ROWS));
}

instances! { pub MIXED = Mixed {}; }
