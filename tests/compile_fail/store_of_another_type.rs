//! Stores do not convert.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let i = arange(blocked([64], [1], [32], [2], [0]));
    store(out + i, i);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
