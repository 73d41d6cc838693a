//! A struct that a loop carries derives Aggregate.
use quadpair::prelude::*;

#[derive(Clone, Copy)]
struct State {
    sum: Tile,
}

#[device]
fn update(state: State, x: Tile) -> State {
    State { sum: state.sum + x }
}

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let rows = blocked([64], [1], [32], [2], [0]);
    let x = load(x + arange(rows));
    let mut state = State { sum: x };
    for _ in 0..n {
        state = update(state, x);
    }
    store(out + arange(rows), state.sum);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
