//! Values: what the language's functions of elements give, against Rust and `f64`, in the simulator.

mod arithmetic;
mod assembly;
mod cast;
mod harness;
mod hints;
mod math;
mod shape;
