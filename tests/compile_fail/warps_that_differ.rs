//! Every tile of a kernel lives in all its warps.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = zeros::<f32>(blocked([64], [1], [32], [2], [0]));
    let y = zeros::<f32>(blocked([64], [1], [32], [4], [0]));
    store(out + arange(x.layout()), x);
    store(out + arange(y.layout()), y);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
