//! The order of a blocked layout names each dimension once.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = zeros::<f32>(blocked([64, 32], [1, 4], [4, 8], [4, 1], [0, 0]));
    store(out + arange(x.layout().slice(1)), x.reduce_sum(1));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
