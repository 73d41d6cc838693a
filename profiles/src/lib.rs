#![doc = include_str!("../README.md")]

mod error;
mod locate;
mod profile;
mod rewrite;
mod select;
pub mod throughput;
mod units;
mod validate;

pub use error::ProfileError;
pub use profile::{Dtype, FlashTile, Limits, MatmulTile, MatrixUnit, Profile, Ptx, Tiles};
pub use rewrite::Tuned;
pub use throughput::Throughput;
