//! A function of elements has no effects.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let own = blocked([64], [2], [32], [1], [0]);
    let x = map_elementwise(arange(own), |i| {
        let [same] = inline_asm("mov.b32 $0, $1;", [i], [i.dtype()], 1, false);
        same
    });
    store(out + arange(own), x as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
