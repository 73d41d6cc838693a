//! A comptime assertion stops the build with its message.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>, #[comptime] block: usize) {
    static_assert(block.is_multiple_of(64), "whole warps are wanted");
    let layout = blocked([block], [1], [32], [1], [0]);
    store(out + arange(layout), zeros::<f32>(layout));
}

instances! { pub WRONG = Wrong { block: 32 }; }

fn main() {}
