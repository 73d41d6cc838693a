//! Inline assembly has a result.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let own = blocked([64], [2], [32], [1], [0]);
    let [] = inline_asm("", [arange(own)], [], 1, true);
    store(out + arange(own), zeros::<f32>(own));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
