//! A scalar has no halves.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let [even, odd] = scalar::<f32>(1.0).split();
    store(out, even + odd);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
