//! What is stored lives where the addresses do.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let i = arange(blocked([64], [1], [32], [2], [0]));
    store(out + i, zeros::<f32>(blocked([64], [2], [32], [2], [0])));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
