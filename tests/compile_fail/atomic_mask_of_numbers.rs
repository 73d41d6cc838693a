//! A mask is of truth values.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: PtrMut<i32>) {
    let i = arange(blocked([64], [1], [32], [2], [0]));
    atomic_add_with(x + i, 1, AtomicOptions::new().mask(i));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
