//! A histogram counts integers.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<i32>) {
    let bins = blocked([64], [1], [32], [4], [0]);
    store(out + arange(bins), zeros::<f32>(bins).histogram(bins));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
