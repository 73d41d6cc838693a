//! Only a last dimension of two is split.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let [even, odd] = zeros::<f32>(blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0])).split();
    store(out + arange(blocked([32], [1], [32], [4], [0])), (even + odd).reduce_sum(0));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
