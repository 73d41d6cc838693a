//! Truth values have no bits to share.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(out: PtrMut<f32>) {
    let own = blocked([64], [1], [32], [2], [0]);
    let bits = (arange(own) < 3).bitcast::<u8>();
    store(out + arange(own), bits as f32);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
