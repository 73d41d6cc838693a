//! Both sides of a branch give one type.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>, n: i32) {
    let x = zeros::<f32>(blocked([64], [1], [32], [2], [0]));
    let y = if n < 1 { x } else { x as f16 };
    store(out + arange(x.layout()), y as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
