//! Elements that lie apart can't be seen as others.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(n: i32) {
    let tile = blocked([64, 8], [1, 2], [8, 4], [4, 1], [1, 0]);
    let memory = shared::<f16>(row_major([64, 32])).slice(1, 0, 16);
    memory.reinterpret::<f32>(row_major([64, 8])).store(zeros::<f32>(tile) + n as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
