//! Only addresses are loaded from.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = load(arange(blocked([64], [1], [32], [2], [0])));
    store(out + arange(x.layout()), x as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
