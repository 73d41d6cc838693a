//! Pairs of 4-bit numbers are bytes.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let own = blocked([64], [1], [32], [2], [0]);
    let x = fp4_to_fp::<f32>(arange(own), 0);
    store(out + arange(x.layout()), x);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
