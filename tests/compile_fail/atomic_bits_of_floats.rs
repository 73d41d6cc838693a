//! Bits are those of integers.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: PtrMut<f32>) {
    atomic_or(x, 1.0);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
