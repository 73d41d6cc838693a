//! The language: what a kernel's body is made of.
//!
//! A `#[kernel]` function is ordinary Rust with two kinds of values. *Comptime* values are Rust's own: numbers, structs,
//! layouts; they are known for each instance. *Run-time* values are [`Tile`]s (a scalar is a tile of rank 0) and
//! [`Shared`] memory views; what the body does with them is recorded on a [`Trace`]. The macro passes the trace along:
//! an author writes `x.reduce_max(1)` and `exp2(y)`, and both are calls with the trace as first argument.
//!
//! Every operation is a `const fn`. So one and the same function is the check that the Rust compiler evaluates for each
//! instance and the recording that the backend lowers: a broken typing rule fails `cargo check` at the author's
//! expression, and an instance made at run time gets the same words as a [`TraceError`].

mod access;
pub mod aggregate;
mod along;
mod architecture;
mod assembly;
mod async_copy;
mod atomic;
mod constructors;
pub mod control;
mod hints;
mod indexed;
mod math;
mod operand;
pub mod operators;
mod ops;
pub mod pipeline;
mod print;
pub mod region;
mod shape;
mod shared;
mod tile;
mod trace;
mod warpgroup;

pub use access::{LoadOptions, StoreOptions, load_with, store_with};
pub use aggregate::{Aggregate, Walker, parts};
pub use architecture::Architecture;
pub use assembly::*;
pub use async_copy::{commit_group, wait_group};
pub use atomic::*;
pub use constructors::*;
pub use hints::*;
pub use math::*;
pub use operand::{Lift, Operand};
pub use ops::*;
pub use print::device_print;
pub use shape::*;
pub use shared::{Shared, barrier, shared, shared_from};
pub use tile::Tile;
pub use trace::{Trace, TraceError};
