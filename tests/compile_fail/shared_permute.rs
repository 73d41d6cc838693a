//! An order of shared memory names each dimension once.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let memory = shared::<f32>(row_major([64, 32]));
    let sums = memory.permute([0, 0]).load(blocked([32, 64], [1, 4], [4, 8], [4, 1], [1, 0])).reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
