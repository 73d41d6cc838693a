//! A function that combines gives what it takes.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>) {
    let rows = blocked([64], [1], [32], [2], [0]);
    let x = load(x + arange(rows));
    let (y, i) = reduce((x, arange(rows)), 0, |(a, i), (b, j)| (a + b, (i + j) as f32));
    store(out, y + i);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
