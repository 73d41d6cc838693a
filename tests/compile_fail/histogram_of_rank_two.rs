//! A histogram counts a tile of one dimension.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<i32>) {
    let bins = blocked([64], [1], [32], [4], [0]);
    let tile = zeros::<i32>(blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0]));
    store(out + arange(bins), tile.histogram(bins));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
