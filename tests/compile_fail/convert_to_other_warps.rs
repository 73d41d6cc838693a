//! A conversion keeps the warps.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = zeros::<f32>(blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0])).convert_layout(blocked([64, 32], [1, 4], [4, 8], [8, 1], [1, 0]));
    let sums = x.reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
