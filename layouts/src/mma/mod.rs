//! Matrix units as data, and the law of matrix products.
//!
//! | file | what it is |
//! |---|---|
//! | `atom` | one instruction of a unit: its fragments, as layouts |
//! | `arrangement` | [`Mma`]: layouts of whole tiles, the atom spread over quadpairs, registers and warps |
//! | `plan` | [`MmaPlan`]: which registers each instruction of a product uses |
//! | `product` | the law: which layouts can be multiplied, by `mma` and by `dot` |
//!
//! Only `atom` knows a fragment; everything else asks it.

mod arrangement;
mod atom;
mod plan;
mod product;

pub use arrangement::{Mma, Quadpairs};
pub use atom::{Atom, FMA, M8N8K4, Role};
pub use plan::MmaPlan;
pub use product::{dot, mma};
