//! An address moves by integers.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = zeros::<f32>(blocked([64], [1], [32], [2], [0]));
    store(out + x, x);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
