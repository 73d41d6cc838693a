//! wgmma is Hopper's own: code for sm_90 runs on later chips, which don't have it.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let sums = Mma::wgmma(64, [4, 1]).accumulator([64, 64]);
    let memory = shared::<f16>(nvmma_shared([64, 64], 128, 16, false));
    memory.store(full::<f16>(blocked([64, 64], [1, 8], [4, 8], [4, 1], [1, 0]), 1.0));
    barrier();
    let place = arange(sums.slice(1)).expand_dims(1) * 64 + arange(sums.slice(0)).expand_dims(0);
    store(out + place, memory.warpgroup_mma(memory, zeros::<f32>(sums)));
}

instances! {
    #[target(sm_90)]
    pub WRONG = Wrong {};
}

fn main() {}
