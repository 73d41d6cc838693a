//! wgmma finds an operand by two distances; gaps it knows nothing of.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    const UNIT: Mma = Mma::wgmma(64, [4, 1]);
    let sums = UNIT.accumulator([64, 64]);
    let memory = shared::<f16>(padded([64, 64], &[(64, 8)], [1, 0]));
    memory.store(full::<f16>(blocked([64, 64], [1, 8], [4, 8], [4, 1], [1, 0]), 1.0));
    barrier();
    let place = arange(sums.slice(1)).expand_dims(1) * 64 + arange(sums.slice(0)).expand_dims(0);
    store(out + place, full::<f16>(UNIT.a([64, 64]), 1.0).warpgroup_mma(memory, zeros::<f32>(sums)));
}

instances! {
    #[target(sm_90a)]
    pub WRONG = Wrong {};
}

fn main() {}
