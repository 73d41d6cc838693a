//! A promised multiple is a power of two.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>, n: i32) {
    let i = multiple_of(n, 3) + arange(blocked([64], [1], [32], [2], [0]));
    store(out + i, zeros::<f32>(i.layout()));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
