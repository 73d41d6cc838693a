//! Bits are those of a type of the same width.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let own = blocked([64], [1], [32], [2], [0]);
    let bits = zeros::<f32>(own).bitcast::<u16>();
    store(out + arange(own), bits as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
