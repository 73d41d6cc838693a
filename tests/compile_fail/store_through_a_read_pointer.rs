//! Memory that a kernel writes is a `PtrMut`.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>) {
    let layout = blocked([64], [1], [32], [2], [0]);
    store(x + arange(layout), zeros::<f32>(layout));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
