//! A reduction needs bases that move along the axis or off it.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let skewed = linear([8, 8], &[[1, 0]], &[[0, 1], [0, 2], [1, 4], [2, 0], [4, 0]], &[]);
    let sums = zeros::<f32>(skewed).reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
