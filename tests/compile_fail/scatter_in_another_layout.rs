//! Values and indices of a scatter lie in one layout.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(n: i32) {
    let rows = blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0]);
    let columns = blocked([64, 32], [4, 1], [8, 4], [1, 4], [0, 1]);
    let memory = shared::<f32>(row_major([64, 32]));
    memory.scatter(zeros::<f32>(rows), zeros::<i32>(columns) + n, 0);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
