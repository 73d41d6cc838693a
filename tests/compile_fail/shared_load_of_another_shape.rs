//! A load from shared memory has the view's shape.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let memory = shared::<f32>(row_major([64, 32]));
    memory.store(zeros::<f32>(blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0])));
    barrier();
    let sums = memory.load(blocked([32, 64], [1, 4], [4, 8], [4, 1], [1, 0])).reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
