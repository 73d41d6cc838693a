//! What is assumed is a condition.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let own = blocked([64], [2], [32], [1], [0]);
    assume(arange(own));
    store(out + arange(own), zeros::<f32>(own));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
