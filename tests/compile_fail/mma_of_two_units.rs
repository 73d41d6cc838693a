//! All operands of a product are made for one matrix unit.
use quadpair::prelude::*;

const VOLTA: Mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]);
const AMPERE: Mma = Mma::m16n8k16([4, 1]);

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let a = zeros::<f16>(VOLTA.a([64, 16]));
    let b = zeros::<f16>(AMPERE.b([16, 32]));
    let c = zeros::<f32>(AMPERE.accumulator([64, 32]));
    let sums = mma(a, b, c).reduce_sum(1);
    store(out + arange(sums.layout()), sums);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
