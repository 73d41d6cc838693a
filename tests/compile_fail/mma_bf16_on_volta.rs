//! Volta's unit has no bf16.
use quadpair::prelude::*;

const UNIT: Mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]);

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let a = zeros::<bf16>(UNIT.a([64, 8]));
    let b = zeros::<bf16>(UNIT.b([8, 32]));
    let c = zeros::<f32>(UNIT.accumulator([64, 32]));
    let sums = mma(a, b, c).reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
