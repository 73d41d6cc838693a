//! A left operand in registers is converted before it is multiplied.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    const UNIT: Mma = Mma::wgmma(64, [4, 1]);
    let sums = UNIT.accumulator([64, 64]);
    let memory = shared::<f16>(nvmma_shared([64, 64], 128, 16, false));
    memory.store(full::<f16>(blocked([64, 64], [1, 8], [4, 8], [4, 1], [1, 0]), 1.0));
    barrier();
    let scores = memory.warpgroup_mma(memory, zeros::<f32>(sums));
    let place = arange(sums.slice(1)).expand_dims(1) * 64 + arange(sums.slice(0)).expand_dims(0);
    store(out + place, exp2(scores).warpgroup_mma(memory, zeros::<f32>(sums)));
}

instances! {
    #[target(sm_90a)]
    pub WRONG = Wrong {};
}

fn main() {}
