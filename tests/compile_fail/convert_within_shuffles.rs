//! A conversion takes no more shuffles than its bound allows.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let x = zeros::<f32>(blocked([32, 32], [1, 1], [1, 32], [1, 1], [1, 0]));
    let y = x.convert_layout_within(x.layout().permute([1, 0]), Bound::Shuffles(16));
    let sums = y.reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
