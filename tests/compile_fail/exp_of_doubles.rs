//! The exponential function is not computed in f64.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let own = blocked([64], [1], [32], [2], [0]);
    store(out + arange(own), exp(zeros::<f64>(own)) as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
