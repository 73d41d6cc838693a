//! A scan goes along an axis that the tile has.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>) {
    let rows = blocked([64], [1], [32], [2], [0]);
    let x = load(x + arange(rows));
    store(out + arange(rows), x.cumsum(1));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
