//! Numbers are unpacked along an axis that there is.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let own = blocked([64], [1], [32], [2], [0]);
    let x = fp4_to_fp::<f32>(zeros::<u8>(own), 1);
    store(out + arange(x.layout()), x);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
