//! Scalars have no shape.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = scalar::<f32>(0.0).reshape([1]);
    store(out + arange(x.layout()), x);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
