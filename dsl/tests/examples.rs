//! The examples' own checks, as tests.

use std::error::Error;

#[allow(dead_code)]
#[path = "../examples/row_softmax.rs"]
mod row_softmax;

#[allow(dead_code)]
#[path = "../examples/recurrence.rs"]
mod recurrence;

#[allow(dead_code)]
#[path = "../examples/seed_matmul.rs"]
mod seed_matmul;

#[test]
fn row_softmax_is_right() -> Result<(), Box<dyn Error>> {
    assert_eq!(row_softmax::check()?.len(), 8);
    Ok(())
}

#[test]
fn seed_matmul_is_right() -> Result<(), Box<dyn Error>> {
    let ways: Vec<u32> = seed_matmul::check()?.iter().map(seed_matmul::Run::conflicts).collect();
    assert_eq!(ways, [1, 8, 1, 16]);
    Ok(())
}

#[test]
fn recurrence_is_right() -> Result<(), Box<dyn Error>> {
    assert_eq!(recurrence::check()?.len(), 4);
    Ok(())
}
