//! Elements of 8 bits have no atomic operations in shared memory either.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(n: i32) {
    let tile = blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0]);
    let memory = shared::<u8>(row_major([64, 32]));
    memory.atomic_scatter_add(zeros::<u8>(tile), zeros::<i32>(tile) + n, 0);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
