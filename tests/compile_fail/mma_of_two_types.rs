//! Both operands of a product have one type.
use quadpair::prelude::*;

const UNIT: Mma = Mma::m16n8k16([4, 1]);

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let a = zeros::<f16>(UNIT.a([64, 16]));
    let b = zeros::<bf16>(UNIT.b([16, 32]));
    let c = zeros::<f32>(UNIT.accumulator([64, 32]));
    let sums = mma(a, b, c).reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
