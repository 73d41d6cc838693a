//! A pack of inline assembly divides the elements of a thread.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = inline_asm_elementwise::<f32, 1>("abs.f32 $0, $1;", [zeros::<f32>(blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0]))], 3);
    let sums = x.reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
