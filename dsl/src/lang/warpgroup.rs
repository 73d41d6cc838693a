//! Products on Hopper's wgmma, which reads its operands from shared memory.
//!
//! Four warps multiply together. The right operand is a view of shared memory `[K, N]`, with either dimension contiguous;
//! the left one `[M, K]` is another view or a tile in registers; the accumulator `[M, N]` is in registers. Layouts are
//! those of a [`Mma::wgmma`](quadpair_layouts::Mma::wgmma), memory has a swizzle that wgmma knows, as
//! [`nvmma_shared`](quadpair_layouts::nvmma_shared) makes it:
//!
//! ```text
//! let unit = Mma::wgmma(128, [8, 1]);
//! let q = shared::<f16>(nvmma_shared([128, 64], 128, 16, false));    // [rows, d]
//! let k = shared::<f16>(nvmma_shared([128, 64], 128, 16, false));    // [keys, d]
//! let v = shared::<f16>(nvmma_shared([128, 64], 128, 16, false));    // [keys, d]
//! ...
//! let s = q.warpgroup_mma(k.permute([1, 0]), zeros::<f32>(unit.accumulator([128, 128])));
//! let p = exp2(s).to::<f16>();             // wgmma's accumulator is its left operand
//! let o = p.warpgroup_mma(v, o);
//! ```
//!
//! To the author a product is a new tile, as that of `mma`. The chip works on while the warps do: they wait where a tile is
//! first used, where memory that a product reads may be written, and before loops and branches begin and end. So a product
//! whose tile isn't needed at once costs nothing but its instructions:
//!
//! ```text
//! for i in 1..tiles {
//!     let s = q.warpgroup_mma(k_i.permute([1, 0]), zeros::<f32>(scores));    // goes on while
//!     let before = p.warpgroup_mma(v_before, o);                             // this is issued, and both while
//!     let weights = softmax(s);                                              // this waits for the first only
//!     o = before * scale;                                                    // here for the second
//!     p = weights.to::<f16>();                 // not before: the assembler has registers for one left operand
//! }
//! ```
//!
//! Tiles in registers that a product reads are left alone until it is done. What a loop carries as a left operand is
//! therefore made where the last one's product has been waited for; else NVIDIA's assembler gives up the overlap, and says
//! that instructions are serialized.

use quadpair_layouts::mma::WarpgroupLeft;
use quadpair_layouts::{Error, typing};

use crate::element::DType;
use crate::ir::{Factor, OpKind};
use crate::lang::ops::{describe, text};
use crate::lang::{Shared, Tile, Trace};

/// What errors call it.
const NAME: &str = "warpgroup_mma";

/// The architecture that has it.
const SM: u32 = 90;

impl Tile {
    /// self b + c on wgmma: the tile is [M, K] in f16 or bf16, the view `b` [K, N] of the same type, `c` and the result
    /// are [M, N] in f32.
    ///
    /// M is a multiple of 64, K of 16; the tile and `c` are laid out as one [`Mma::wgmma`](quadpair_layouts::Mma::wgmma)'s
    /// `a` and `accumulator`. Only `sm_90a` has it.
    #[track_caller]
    pub const fn warpgroup_mma(self, trace: &mut Trace<'_>, b: Shared, c: Tile) -> Tile {
        let layout = self.tiled(trace, NAME);
        if self.ty.is_pointer() {
            trace.fail(describe(text(NAME).push("a number is wanted, this is "), &self).push("; load from it first"));
        }
        multiplies(trace, self.ty.dtype, WarpgroupLeft::Registers(&layout), &b, &c);
        trace.emit(OpKind::WarpgroupMma(Factor::Tile(self.value), b.memory, c.value), c.ty)
    }
}

impl Shared {
    /// self b + c on wgmma, both factors in shared memory: the view is [M, K] in f16 or bf16, `b` [K, N] of the same type,
    /// `c` and the result are [M, N] in f32.
    ///
    /// M is a multiple of 64, K of 16; `c` is laid out as the `accumulator` of a
    /// [`Mma::wgmma`](quadpair_layouts::Mma::wgmma). Only `sm_90a` has it.
    #[track_caller]
    pub const fn warpgroup_mma(self, trace: &mut Trace<'_>, b: Shared, c: Tile) -> Tile {
        multiplies(trace, self.memory.dtype, WarpgroupLeft::Memory(&self.memory.layout), &b, &c);
        trace.emit(OpKind::WarpgroupMma(Factor::Memory(self.memory), b.memory, c.value), c.ty)
    }
}

#[track_caller]
const fn multiplies(trace: &mut Trace<'_>, left: DType, a: WarpgroupLeft<'_>, b: &Shared, c: &Tile) {
    trace.needs_exactly(NAME, "wgmma", SM);
    let right = b.memory.dtype;
    let known = left.is(DType::F16) || left.is(DType::BF16);
    if !known || !right.is(left) || !c.ty.dtype.is(DType::F32) || c.ty.is_pointer() {
        let text =
            text(NAME).push("wgmma multiplies f16 by f16 or bf16 by bf16 into f32; these are ").push(left.name());
        trace.fail(
            describe(text.push(", ").push(right.name()).push(" and "), c)
                .push("; convert tiles with `as`, and memory before it is stored"),
        );
    }
    let sum = c.tiled(trace, NAME);
    if trace.failed() {
        return;
    }
    if let Err(error) = typing::warpgroup_mma(a, &b.memory.layout, &sum) {
        trace.broken(guilty(&a, error), error);
    }
}

/// The operation and, of an error about memory, the operand.
const fn guilty(a: &WarpgroupLeft<'_>, error: Error) -> &'static str {
    match error {
        Error::Descriptor { .. }
        | Error::DescriptorStart { .. }
        | Error::DescriptorExtent { .. }
        | Error::LessAligned { .. }
        | Error::Padding { .. } => match a {
            WarpgroupLeft::Memory(memory) if typing::warpgroup_left(memory).is_err() => "warpgroup_mma: a",
            _ => "warpgroup_mma: b, turned to [N, K]",
        },
        _ => NAME,
    }
}
