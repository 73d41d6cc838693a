//! Runs are along an axis that there is.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let own = blocked([64], [2], [32], [1], [0]);
    store(out + max_constancy(arange(own), 1, 2), zeros::<f32>(own));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
