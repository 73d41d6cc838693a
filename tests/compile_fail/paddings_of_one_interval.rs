//! Each interval of padded memory is followed by one padding.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let layout = blocked([16, 8], [1, 4], [16, 2], [1, 1], [1, 0]);
    let memory = shared::<f32>(padded([16, 8], &[(8, 1), (8, 2)], [1, 0]));
    store(out + arange(layout.slice(1)), memory.load(layout).reduce_sum(1));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
