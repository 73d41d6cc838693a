//! A broken rule inside a device function is shown there, with the way to it.
use quadpair::prelude::*;

#[device]
fn halves(x: Tile) -> Tile {
    x.reshape([32, 32])
}

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = zeros::<f32>(blocked([64, 64], [4, 4], [4, 8], [4, 1], [1, 0]));
    let sums = halves(x).reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
