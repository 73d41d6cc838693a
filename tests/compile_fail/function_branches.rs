//! A function of elements has no control flow.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>) {
    let rows = blocked([64], [1], [32], [2], [0]);
    let x = load(x + arange(rows));
    let y = x.reduce(0, |a, b| if a > b { a } else { b });
    store(out, y);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
