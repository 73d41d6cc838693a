//! Both tiles of a join have one element type.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let own = blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0]);
    let both = join(zeros::<f32>(own), zeros::<i32>(own));
    store(out + arange(own.slice(0)), both.reduce_sum(2).reduce_sum(0));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
