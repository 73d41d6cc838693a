//! Every element of a tile is held by a thread.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let layout = linear([64], &[], &[[1], [2], [4], [8], [16]], &[]);
    store(out + arange(layout), zeros::<f32>(layout));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
