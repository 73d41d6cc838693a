//! Both operands of a `dot` have one type.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let c = zeros::<f32>(blocked([64, 32], [4, 4], [4, 8], [4, 1], [1, 0]));
    let a = zeros::<f32>(c.layout().operand_a(8));
    let b = zeros::<f16>(c.layout().operand_b(8));
    let sums = dot(a, b, c).reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
