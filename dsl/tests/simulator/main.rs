//! The simulator against Rust arithmetic: PTX text in, numbers, counts or one fault out.
//!
//! Nothing here knows how the simulator is built. Every test gives it text, as any compiler could, and compares what
//! comes back with the same thing written in plain Rust.

mod convert;
mod counters;
mod faults;
mod float;
mod harness;
mod integer;
mod memory;
mod mma;
mod programs;
mod rounding;
mod warp;
mod wgmma;
