//! Groups of copies came after Volta.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: Ptr<f16>, out: PtrMut<f16>) {
    let layout = blocked([32, 64], [1, 8], [4, 8], [4, 1], [1, 0]);
    let memory = shared::<f16>(row_major([32, 64]));
    let place = arange(layout.slice(1)).expand_dims(1) * 64 + arange(layout.slice(0)).expand_dims(0);
    memory.store(load(x + place));
    commit_group();
    store(out + place, memory.load(layout));
}

instances! {
    #[target(sm_75)]
    pub WRONG = Wrong {};
}

fn main() {}
