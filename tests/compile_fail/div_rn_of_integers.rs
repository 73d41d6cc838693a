//! A quotient that is rounded to nearest is one of floats.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let own = blocked([64], [1], [32], [2], [0]);
    store(out + arange(own), div_rn(arange(own), 4) as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
