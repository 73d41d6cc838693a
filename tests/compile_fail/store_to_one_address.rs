//! The addresses of a store have the full shape.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    store(out, zeros::<f32>(blocked([64], [1], [32], [2], [0])));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
