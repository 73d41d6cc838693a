//! Off the axis, indices have the source's extents.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let tile = blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0]);
    let index = zeros::<i32>(blocked([16, 16], [1, 2], [4, 8], [4, 1], [1, 0]));
    let found = zeros::<f32>(tile).gather(index, 0);
    store(out, found.reduce_sum(1).reduce_sum(0));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
