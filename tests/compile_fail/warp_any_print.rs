//! Inside a warp's own branch an element is printed by the warp that has it.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let i = arange(blocked([64], [2], [32], [4], [0]));
    if warp_any(i < 5) {
        device_print("i", i);
    }
    store(out + i, i as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
