//! A grid has three axes.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    store(out + program_id(3), scalar::<f32>(0.0));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
