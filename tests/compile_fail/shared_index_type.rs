//! A run-time index is an i32.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>, n: i64) {
    let memory = shared::<f32>(row_major([64, 32]));
    let row = memory.index(n).load(blocked([64], [1], [32], [2], [0]));
    store(out + arange(row.layout()), row);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
