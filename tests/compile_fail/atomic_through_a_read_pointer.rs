//! Memory that is only read can't be changed atomically.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: Ptr<i32>) {
    atomic_add(x, 1);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
