//! A row of memory for wgmma has room for its swizzle.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f16>) {
    let layout = blocked([64, 32], [1, 8], [8, 4], [1, 1], [1, 0]);
    let memory = shared::<f16>(nvmma_shared([64, 32], 128, 16, false));
    store(out + arange(layout.slice(1)), memory.load(layout).reduce_max(1));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
