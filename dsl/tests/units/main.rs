//! The matrix units from Turing on, and what brings their operands: products, loads of matrices,
//! asynchronous copies, rounding in pairs; and Hopper's wgmma.

// A kernel's type parameters are those of its arguments, which the function that stands for it doesn't take.
#![allow(clippy::extra_unused_type_parameters)]

mod chained;
mod copies;
mod harness;
mod in_flight;
mod matrices;
mod products;
mod rings;
mod rounding;
mod warpgroup;
