//! Integers have no fraction to lose.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let own = blocked([64], [1], [32], [2], [0]);
    store(out + arange(own), floor(arange(own)) as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
