//! A conversion without a barrier of the block leaves every element in its warp.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = zeros::<f32>(blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0]));
    let y = x.convert_layout_within(blocked([64, 32], [4, 1], [4, 8], [1, 4], [0, 1]), Bound::NoBarrier);
    let sums = y.reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
