//! A store has nothing to acquire.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: PtrMut<i32>) {
    atomic_store_with(x, 1, AtomicOptions::new().order(Order::AcqRel));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
