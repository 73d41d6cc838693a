//! A run-time index needs indices at one distance.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>, n: i32) {
    let memory = shared::<f32>(swizzled([64, 32], 4, 1, 8, [1, 0]));
    let row = memory.index(n).load(blocked([32], [1], [32], [1], [0]));
    store(out + arange(row.layout()), row);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
