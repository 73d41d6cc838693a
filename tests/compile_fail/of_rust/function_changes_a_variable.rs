//! A function of elements changes nothing outside.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>) {
    let rows = blocked([64], [1], [32], [2], [0]);
    let x = load(x + arange(rows));
    let mut largest = x;
    let y = x.reduce(0, |a, b| {
        largest = b;
        a + b
    });
    store(out, y);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
