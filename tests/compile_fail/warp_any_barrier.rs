//! A branch that each warp takes for itself waits for no other.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let layout = blocked([128], [1], [32], [4], [0]);
    let i = arange(layout);
    if warp_any(i < 5) {
        barrier();
    }
    store(out + i, i as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
