//! Kernels written in quadpair, ready to be called: [flash attention](attention) and [matmul], and [the first
//! example](vector_add).
//!
//! Each has a folder: `kernel.rs` is the kernel itself, `config.rs` what can be asked for, `api.rs` the call,
//! `reference.rs` the same in float64. A call takes [views](view::View) of memory that the caller owns, on any backend:
//! host slices in the simulator, cudarc's views on a GPU. It writes into the caller's memory, allocates none, and says
//! what is wrong with its arguments before anything runs.

pub mod attention;
mod chip;
pub mod matmul;
pub mod memory;
pub mod metrics;
pub mod number;
mod programs;
mod tile;
pub mod unit;
pub mod vector_add;
pub mod view;
