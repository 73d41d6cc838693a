//! What a loop carries keeps its type.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>, n: i32) {
    let mut x = zeros::<f32>(blocked([64], [1], [32], [2], [0]));
    for _ in 0..n {
        x = x as f16;
    }
    store(out + arange(x.layout()), x as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
