//! Values of a scatter have the memory's type.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(n: i32) {
    let tile = blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0]);
    let memory = shared::<f16>(row_major([64, 32]));
    memory.scatter(zeros::<f32>(tile), zeros::<i32>(tile) + n, 0);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
