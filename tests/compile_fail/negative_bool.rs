//! Truth values have no negative.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = -(zeros::<f32>(blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0])) < 1.0);
    let sums = (x as f32).reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
