//! The matrix units from Turing on, and what brings their operands: products, chained products.

mod chained;
mod harness;
mod products;
