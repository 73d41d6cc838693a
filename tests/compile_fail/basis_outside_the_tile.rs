//! A basis lies inside the tile.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let layout = linear([32], &[], &[[1], [2], [4], [8], [32]], &[]);
    store(out + arange(layout), zeros::<f32>(layout));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
