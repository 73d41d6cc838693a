//! What a kernel author imports: `use quadpair::prelude::*;`

pub use half::{bf16, f16};
pub use quadpair_layouts::{
    Bound, Layout, Mma, Quadpairs, SharedLayout, blocked, coalesced, linear, nvmma_default, nvmma_shared, padded,
    row_major, shared_linear, swizzled,
};
pub use quadpair_macros::{Aggregate, device, instances, kernel};

pub use crate::element::{DType, Element};
pub use crate::float8::{F8E4M3, F8E5M2};
pub use crate::ir::{Evict, LoadCache, Order, Scope, StoreCache};
pub use crate::lang::{
    Aggregate, AtomicOptions, LoadOptions, Shared, StoreOptions, Tile, abs, arange, arange_between, assume, atomic_add,
    atomic_add_with, atomic_and, atomic_and_with, atomic_cas, atomic_cas_with, atomic_load, atomic_load_with,
    atomic_max, atomic_max_with, atomic_min, atomic_min_with, atomic_or, atomic_or_with, atomic_store,
    atomic_store_with, atomic_xchg, atomic_xchg_with, atomic_xor, atomic_xor_with, barrier, blocks_at_once, broadcast,
    cdiv, ceil, clamp, commit_group, cos, device_assert, device_print, div_rn, dot, erf, exp, exp2, fdiv, floor, fma,
    fp4_to_fp, full, full_like, inline_asm, inline_asm_elementwise, join, load, load_masked, load_with, log, log2,
    max_constancy, max_contiguous, maximum, maximum_nan, minimum, minimum_nan, mma, mulhi, multiple_of, num_programs,
    num_warps, ones, program_id, round, rsqrt, scalar, select, shared, shared_from, sin, sqrt, sqrt_rn, static_assert,
    store, store_masked, store_with, tanh, trunc, wait_group, zeros, zeros_like,
};
