//! A function of elements has no reduction in it.
use quadpair::prelude::*;

#[device]
fn worst(x: Tile) -> Tile {
    x.reduce_max(0)
}

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>) {
    let rows = blocked([64], [1], [32], [2], [0]);
    let x = load(x + arange(rows));
    let y = map_elementwise(x, |a| a - worst(x));
    store(out + arange(rows), y);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
