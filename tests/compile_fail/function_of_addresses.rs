//! Elements are numbers, not addresses.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>) {
    let rows = blocked([64], [1], [32], [2], [0]);
    let x = load(x + arange(rows));
    let p = reduce(out + arange(rows), 0, |a, _| a);
    store(p, x.reduce_sum(0));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
