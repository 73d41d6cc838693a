//! A round that has no items gives nothing to load ahead.
use quadpair::prelude::*;

const L: Layout = blocked([64], [1], [32], [2], [0]);

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>, n: i32, #[comptime] parts: usize) {
    for ((i, part), row) in pipelined((0..n, 0..parts), |(i, part)| load(x + (arange(L) + (i + part) * 64))) {
        store(out + (arange(L) + (i + part) * 64), row);
    }
}

instances! { pub WRONG = Wrong { parts: 0 }; }

fn main() {}
