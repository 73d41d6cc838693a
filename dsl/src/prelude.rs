//! What a kernel author imports: `use quadpair::prelude::*;`

pub use half::{bf16, f16};
pub use quadpair_layouts::{
    Bound, Layout, Mma, Quadpairs, SharedLayout, blocked, coalesced, linear, nvmma_default, nvmma_shared, padded,
    row_major, shared_linear, swizzled,
};
pub use quadpair_macros::{Aggregate, device, instances, kernel};

pub use crate::element::{DType, Element};
pub use crate::float8::{F8E4M3, F8E5M2};
pub use crate::lang::{
    Aggregate, Shared, Tile, abs, arange, arange_between, assume, barrier, broadcast, cdiv, ceil, clamp, cos,
    device_assert, div_rn, dot, erf, exp, exp2, fdiv, floor, fma, fp4_to_fp, full, full_like, inline_asm,
    inline_asm_elementwise, join, load, load_masked, log, log2, max_constancy, max_contiguous, maximum, maximum_nan,
    minimum, minimum_nan, mma, mulhi, multiple_of, num_programs, num_warps, ones, program_id, round, rsqrt, scalar,
    select, shared, sin, sqrt, sqrt_rn, static_assert, store, store_masked, tanh, trunc, zeros, zeros_like,
};
