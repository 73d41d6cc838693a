//! Memory can't be seen as more bytes than it has.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(n: i32) {
    let tile = blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0]);
    let memory = shared::<f16>(row_major([64, 32]));
    memory.reinterpret::<f32>(row_major([64, 32])).store(zeros::<f32>(tile) + n as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
