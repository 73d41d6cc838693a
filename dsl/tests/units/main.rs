//! The matrix units from Turing on, and what brings their operands: products, loads of matrices, asynchronous copies.

mod chained;
mod copies;
mod harness;
mod matrices;
mod products;
