//! Elements of 8 bits have no atomic operations.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: PtrMut<u8>) {
    atomic_max(x, 1);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
