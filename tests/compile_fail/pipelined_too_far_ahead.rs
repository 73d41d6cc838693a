//! There is room for 7 items ahead of the one that is used.
use quadpair::prelude::*;

const L: Layout = blocked([64], [1], [32], [2], [0]);

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>) {
    for (i, row) in pipelined(0..16, 8, |i| load(x + (arange(L) + i * 64))) {
        store(out + (arange(L) + i * 64), row);
    }
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
