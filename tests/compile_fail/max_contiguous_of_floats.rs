//! Runs that rise by one are of addresses or integers.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let own = blocked([64], [2], [32], [1], [0]);
    store(out + arange(own), max_contiguous(zeros::<f32>(own), 0, 2));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
