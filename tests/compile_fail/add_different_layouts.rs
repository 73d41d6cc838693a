//! Both sides of an operator live in one layout.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let rows = zeros::<f32>(blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0]));
    let columns = zeros::<f32>(blocked([64, 32], [4, 1], [8, 4], [1, 4], [0, 1]));
    let sums = (rows + columns).reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
