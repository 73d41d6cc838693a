//! The two halves of a pair are in one thread.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let pairs = zeros::<f32>(blocked([64, 2], [2, 1], [16, 2], [2, 1], [1, 0]));
    let [even, odd] = pairs.split();
    store(out + arange(even.layout()), even + odd);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
