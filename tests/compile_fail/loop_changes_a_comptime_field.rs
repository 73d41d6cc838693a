//! A comptime part of a struct that a loop carries stays what it is.
use quadpair::prelude::*;

#[derive(Clone, Copy, Aggregate)]
struct State {
    sum: Tile,
    width: usize,
}

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let rows = blocked([64], [1], [32], [2], [0]);
    let x = load(x + arange(rows));
    let mut state = State { sum: x, width: 1 };
    for _ in 0..n {
        #[comptime]
        let width = 2 * state.width;
        state = State { sum: state.sum + x, width };
    }
    store(out + arange(rows), state.sum);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
