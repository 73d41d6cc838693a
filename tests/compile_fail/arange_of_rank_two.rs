//! `arange` counts along one dimension.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let i = arange(blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0]));
    store(out + i, zeros::<f32>(i.layout()));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
