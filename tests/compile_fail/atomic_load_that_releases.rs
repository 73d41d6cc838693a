//! A load has nothing to release.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: PtrMut<i32>) {
    let ready = atomic_load_with(x, AtomicOptions::new().order(Order::Release));
    store(x + 1, ready);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
