//! A run-time index needs the indices at one distance, so no gap may come after some of them only.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>, i: i32) {
    let layout = blocked([16, 8], [1, 4], [16, 2], [1, 1], [1, 0]);
    let memory = shared::<f32>(padded([4, 16, 8], &[(256, 4)], [2, 1, 0]));
    let tile = memory.index(i).load(layout);
    store(out + arange(layout.slice(1)), tile.reduce_sum(1));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
