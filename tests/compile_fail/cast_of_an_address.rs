//! Addresses are no numbers.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let i = arange(blocked([64], [1], [32], [2], [0]));
    store(out + i, (out + i) as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
