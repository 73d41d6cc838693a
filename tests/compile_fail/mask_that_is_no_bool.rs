//! A mask is bool.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>) {
    let i = arange(blocked([64], [1], [32], [2], [0]));
    let x = load_masked(x + i, i, 0.0);
    store(out + i, x);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
