//! Each tile of a struct that a loop carries keeps its type.
use quadpair::prelude::*;

#[derive(Clone, Copy, Aggregate)]
struct Sum {
    parts: [Tile; 2],
}

#[derive(Clone, Copy, Aggregate)]
struct State {
    sum: Sum,
    steps: Tile,
}

#[device]
fn update(state: State, x: Tile) -> State {
    State { sum: Sum { parts: [state.sum.parts[0] + x, x as f16] }, steps: state.steps + 1 }
}

#[kernel(grid = [1])]
fn wrong(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let rows = blocked([64], [1], [32], [2], [0]);
    let x = load(x + arange(rows));
    let mut state = State { sum: Sum { parts: [x, x] }, steps: scalar::<i32>(0) };
    for _ in 0..n {
        state = update(state, x);
    }
    store(out + arange(rows), state.sum.parts[0]);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
