//! A fraction does not stand beside integers.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = zeros::<i32>(blocked([64], [1], [32], [2], [0])) * 0.5;
    store(out + arange(x.layout()), x as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
