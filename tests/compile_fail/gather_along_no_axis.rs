//! There is no such axis to gather along.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let tile = blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0]);
    let memory = shared::<f32>(row_major([64, 32]));
    let found = memory.gather(zeros::<i32>(tile), 2);
    store(out, found.reduce_sum(1).reduce_sum(0));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
