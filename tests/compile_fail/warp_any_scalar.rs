//! Behind a warp's own branch a scalar is still the same in all warps.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let i = arange(blocked([128], [1], [32], [4], [0]));
    let mut found = scalar::<f32>(0.0);
    if warp_any(i < 5) {
        found = found + 1.0;
    }
    store(out + i, i as f32 + found);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
