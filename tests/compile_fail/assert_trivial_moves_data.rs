//! `assert_trivial` lets only conversions pass that leave every element in its thread.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = zeros::<f32>(blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0]));
    let y = x.assert_trivial(blocked([64, 32], [4, 1], [4, 8], [4, 1], [1, 0]));
    let sums = y.reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
