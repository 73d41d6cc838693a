//! An access has room for one hint.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>) {
    store(out, load_with(x, LoadOptions::new().cache(LoadCache::Streaming).volatile()));
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
