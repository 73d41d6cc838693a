//! A function of elements has no barrier in it.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>) {
    let rows = blocked([64], [1], [32], [2], [0]);
    let x = load(x + arange(rows));
    let y = map_elementwise(x, |x| {
        barrier();
        x
    });
    store(out + arange(rows), y);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
