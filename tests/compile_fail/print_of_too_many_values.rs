//! A print takes eight values at most.
use quadpair::prelude::*;

#[kernel(grid = [1])]
fn wrong(n: i32) {
    device_print("n", n, n, n, n, n, n, n, n, n);
}

instances! { pub WRONG = Wrong {}; }

fn main() {}
