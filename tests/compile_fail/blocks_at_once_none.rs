//! A multiprocessor that holds no block runs nothing.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    blocks_at_once(0);
    let i = arange(blocked([128], [1], [32], [4], [0]));
    store(out + i, i as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
