//! A range has as many numbers as its layout has elements.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let i = arange_between(3, 35, blocked([64], [1], [32], [2], [0]));
    store(out + i, zeros::<f32>(i.layout()));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
