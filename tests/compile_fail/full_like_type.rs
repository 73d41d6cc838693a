//! A tile is filled with a scalar of its element type.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let own = blocked([64], [1], [32], [2], [0]);
    let x = full_like(zeros::<f32>(own), num_warps());
    store(out + arange(own), x);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
