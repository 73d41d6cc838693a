//! A reduction names a dimension that exists.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let sums = zeros::<f32>(blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0])).reduce_sum(2);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
