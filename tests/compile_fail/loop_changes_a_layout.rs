//! What a loop carries keeps its layout.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>, n: i32) {
    let mut x = zeros::<f32>(blocked([64], [1], [32], [2], [0]));
    for _ in 0..n {
        x = x.convert_layout(blocked([64], [2], [32], [2], [0]));
    }
    store(out + arange(x.layout()), x);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
