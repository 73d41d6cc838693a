//! Addresses are no numbers.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    store(out * 2, zeros::<f32>(blocked([64], [1], [32], [2], [0])));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
