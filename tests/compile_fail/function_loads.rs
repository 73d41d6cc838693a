//! A function of elements has no access to memory, not through a device function either.
use quadpair::prelude::*;

#[device]
fn table(p: Tile, x: Tile) -> Tile {
    x * load(p)
}

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>) {
    let rows = blocked([64], [1], [32], [2], [0]);
    let x = load(x + arange(rows));
    let y = map_elementwise(x, |x| table(out, x));
    store(out + arange(rows), y);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
