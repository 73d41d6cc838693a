//! Operators don't convert.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let layout = blocked([64], [1], [32], [2], [0]);
    let sum = zeros::<f32>(layout) + zeros::<f16>(layout);
    store(out + arange(layout), sum);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
