//! Memory operations of the language, run in the simulator and, where there is a GPU, on it: the same kernels, held
//! against plain Rust.

// A kernel's type parameters are those of its arguments, which the function that stands for it doesn't take.
#![allow(clippy::extra_unused_type_parameters)]

#[macro_use]
mod harness;

mod atomics;
mod caches;
mod indexed;
mod messages;
