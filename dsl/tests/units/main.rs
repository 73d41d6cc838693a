//! The matrix units from Turing on, and what brings their operands: products, loads of matrices,
//! asynchronous copies, rounding in pairs.

mod chained;
mod copies;
mod harness;
mod matrices;
mod products;
mod rounding;
