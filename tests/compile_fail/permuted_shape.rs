//! A permuted tile has the permuted shape, whatever is added to it.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = zeros::<f32>(blocked([64, 64], [1, 4], [2, 16], [4, 1], [1, 0]));
    let y = zeros::<f32>(blocked([32, 128], [1, 4], [1, 32], [4, 1], [1, 0]));
    let sums = (x.permute([1, 0]) + y).reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
