//! Matrix units as data, and the law of matrix products.
//!
//! | file | what it is |
//! |---|---|
//! | `atom` | [`Atom`]: one instruction of a unit, with its fragments as layouts |
//! | `units` | the table of all units |
//! | `arrangement` | [`Mma`]: layouts of whole tiles, the atom spread over quadpairs, registers and warps |
//! | `descriptor` | [`Descriptor`]: how wgmma is told where an operand lies in shared memory |
//! | `plan` | [`MmaPlan`]: which registers each instruction of a product uses |
//! | `product` | the law: which layouts can be multiplied, by `mma` and by `dot` |
//! | `warpgroup` | the same law for wgmma: [`warpgroup_mma`] and its [`WarpgroupPlan`] |
//!
//! Only `units` knows a fragment; everything else asks it.

mod arrangement;
mod atom;
mod descriptor;
mod plan;
mod product;
mod units;
mod warpgroup;

pub use arrangement::{Mma, Quadpairs};
pub use atom::{Atom, Role};
pub use descriptor::{Descriptor, Swizzle};
pub use plan::MmaPlan;
pub use product::{dot, mma, mma_of, mma_on};
pub use units::{FMA, M8N8K4, M16N8K8, M16N8K8_TF32, M16N8K16, M16N8K32, UNITS};
pub use warpgroup::{WGMMA, WarpgroupLeft, WarpgroupPlan, warpgroup_left, warpgroup_mma};
