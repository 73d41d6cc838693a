//! What a kernel author imports: `use quadpair::prelude::*;`

pub use half::{bf16, f16};
pub use quadpair_layouts::{
    Bound, Layout, Mma, Quadpairs, SharedLayout, blocked, coalesced, linear, nvmma_default, nvmma_shared, padded,
    row_major, shared_linear, swizzled,
};
pub use quadpair_macros::{Aggregate, device, instances, kernel};

pub use crate::element::Element;
pub use crate::lang::{
    Aggregate, Shared, Tile, abs, arange, barrier, device_assert, dot, exp2, fma, full, inline_asm_elementwise, load,
    load_masked, log2, maximum, minimum, mma, multiple_of, num_programs, program_id, rsqrt, scalar, select, shared,
    sqrt, static_assert, store, store_masked, zeros,
};
