//! A block has at most 32 warps.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let layout = blocked([2048], [1], [32], [64], [0]);
    store(out + arange(layout), zeros::<f32>(layout));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
