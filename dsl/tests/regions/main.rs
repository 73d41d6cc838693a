//! Functions as arguments and structs of tiles, in the simulator, against plain Rust over random layouts.

mod aggregates;
mod functions;
mod tiles;
