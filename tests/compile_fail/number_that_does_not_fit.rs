//! A number fits the type it stands beside.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = zeros::<i8>(blocked([64], [1], [32], [2], [0])) + 300;
    store(out + arange(x.layout()), x as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
