//! The value of an atomic operation has the memory's type.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: PtrMut<f32>) {
    let i = arange(blocked([64], [1], [32], [2], [0]));
    atomic_add(x + i, i);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
