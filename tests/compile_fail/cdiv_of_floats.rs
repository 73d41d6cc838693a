//! Only quotients of integers are rounded up.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let own = blocked([64], [1], [32], [2], [0]);
    store(out + arange(own), cdiv(zeros::<f32>(own), 4));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
