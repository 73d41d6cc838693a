//! Extents are powers of two.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>, #[comptime] rows: usize) {
    let x = zeros::<f32>(blocked([rows, 64], [4, 4], [4, 8], [4, 1], [1, 0]));
    let sums = x.reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong { rows: 48 }; }

fn main() {}
