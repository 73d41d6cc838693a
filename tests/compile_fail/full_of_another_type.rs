//! `full` fills with a scalar of its own type.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>, n: i32) {
    let x = full::<f32>(blocked([64], [1], [32], [2], [0]), n);
    store(out + arange(x.layout()), x);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
