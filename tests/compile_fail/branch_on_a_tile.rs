//! A branch is taken by the whole block.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let mut x = zeros::<f32>(blocked([64], [1], [32], [2], [0]));
    if x < 1.0 {
        x = x + 1.0;
    }
    store(out + arange(x.layout()), x);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
