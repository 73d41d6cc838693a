//! Where other warps may not come along, none can be waited for by an atomic operation.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: PtrMut<i32>) {
    let i = arange(blocked([64], [1], [32], [2], [0]));
    let small = load(x + i) < 3;
    if warp_any(small) {
        atomic_add(x + i, 1);
    }
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
