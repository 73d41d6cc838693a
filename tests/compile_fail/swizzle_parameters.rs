//! The parameters of a swizzle are powers of two.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let memory = shared::<f32>(swizzled([64, 32], 3, 1, 8, [1, 0]));
    let sums = memory.load(blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0])).reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
