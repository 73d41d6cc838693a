//! The first example: `out = x + y`, one tile of a vector a block.

use quadpair::prelude::*;

/// Adds two vectors of `n` elements, `block` of them in each thread block.
#[kernel(grid = [(n as usize).div_ceil(block)])]
pub fn vector_add(x: Ptr<f32>, y: Ptr<f32>, out: PtrMut<f32>, n: i32, #[comptime] block: usize) {
    let i = program_id(0) * block + arange(blocked([block], [4], [32], [4], [0]));
    let inside = i < n;
    let sum = load_masked(x + i, inside, 0.0) + load_masked(y + i, inside, 0.0);
    store_masked(out + i, sum, inside);
}

instances! {
    /// 512 elements a block, in 128 threads.
    pub VECTOR_ADD = VectorAdd { block: 512 };
}
