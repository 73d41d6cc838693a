//! A reshape keeps the number of elements.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = zeros::<f32>(blocked([64, 64], [4, 4], [4, 8], [4, 1], [1, 0]));
    let y = x.reshape([32, 32]);
    store(out + arange(blocked([32], [1], [32], [4], [0])), y.reduce_sum(1));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
