//! A store inside a warp's own branch writes what that warp alone has.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let i = arange(blocked([64], [2], [32], [4], [0]));
    if warp_any(i < 5) {
        store(out + i, i as f32);
    }
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
