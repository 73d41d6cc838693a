//! A row broadcasts to the tile whose slice it is.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = zeros::<f32>(blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0]));
    let row = zeros::<f32>(blocked([1, 32], [1, 1], [1, 32], [1, 4], [1, 0]));
    let sums = (x + row).reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
