//! Linear layouts of tiles: where each element of a tile lives in a group of threads.
#![no_std]
#![forbid(unsafe_code)]

pub mod banks;
pub mod convert;
mod error;
pub mod f2;
mod layout;
pub mod mma;
mod named;
mod shape;
mod shared;
mod text;
pub mod typing;

pub use banks::{Access, wavefronts};
pub use convert::{Conversion, ConversionKind, Cost};
pub use error::{ElementOf, Error, Operand, PackedShape, Shapes};
pub use layout::{Bit, Difference, LANE_BITS, Layout, MAX_BASES, MAX_REGISTER_BITS};
pub use mma::{Atom, Mma, MmaPlan, Quadpairs};
pub use named::{blocked, linear};
pub use shape::{MAX_RANK, MAX_SHAPE_BITS, Shape};
pub use shared::SharedLayout;
pub use text::Text;
