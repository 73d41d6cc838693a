//! The sums lie in the threads where wgmma has them.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let rows = blocked([64, 64], [1, 8], [4, 8], [4, 1], [1, 0]);
    let memory = shared::<f16>(nvmma_shared([64, 64], 128, 16, false));
    memory.store(full::<f16>(rows, 1.0));
    barrier();
    let place = arange(rows.slice(1)).expand_dims(1) * 64 + arange(rows.slice(0)).expand_dims(0);
    store(out + place, memory.warpgroup_mma(memory, zeros::<f32>(rows)));
}

instances! {
    #[target(sm_90a)]
    pub WRONG = Wrong {};
}

fn main() {}
