//! A function of elements takes its tiles as operands.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>) {
    let rows = blocked([64], [1], [32], [2], [0]);
    let x = load(x + arange(rows));
    let scale = x * 2.0;
    let y = map_elementwise(x, |x| x * scale);
    store(out + arange(rows), y);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
