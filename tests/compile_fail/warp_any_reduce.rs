//! A branch that each warp takes for itself combines nothing that warps have parts of.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>) {
    let layout = blocked([128], [1], [32], [4], [0]);
    let i = arange(layout);
    let mut x = load(x + i);
    if warp_any(x > 5.0) {
        x = x - x.reduce_max(0);
    }
    store(out + i, x);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
