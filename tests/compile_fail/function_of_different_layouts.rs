//! What is combined along an axis has one layout.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>) {
    let rows = blocked([64], [1], [32], [2], [0]);
    let x = load(x + arange(rows));
    let other = x.convert_layout(blocked([64], [2], [32], [2], [0]));
    let (y, _) = associative_scan((x, other), 0, |(a, b), (c, d)| (a + c, b * d));
    store(out + arange(rows), y);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
