//! A rule broken in a generic kernel is shown with the element types and parameters of the instance.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong<T: Element>(x: Ptr<T>, out: PtrMut<f32>, #[comptime] rows: usize) {
    let i = arange(blocked([rows], [1], [32], [1], [0]));
    store(out + i, load(x + i));
}

instances! {
    pub RIGHT = Wrong::<f32> { rows: 32 };
    pub WRONG = Wrong::<f16> { rows: 64 };
}

fn main() {}
