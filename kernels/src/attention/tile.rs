//! Attention's tile: sizes, and the layouts that follow from them.
//!
//! ```text
//!          block_n            width    width
//!         ┌────────┐         ┌────────┬────────┐
//! block_m │ scores │   ·   V │ chunk 0│ chunk 1│
//!         └────────┘         └────────┴────────┘
//! ```
//!
//! All warps lie along the rows. In each, the quadpairs of m8n8k4 take turns of four rows and columns, so that eight
//! neighbouring rows are in eight neighbouring lanes. For P V it has two more properties: it is *wide*, a thread loads eight
//! neighbours of a row of V at once; and *staggered*, each quadpair begins with the P that it has from its own scores, and
//! goes on with what its neighbour sends. The units of 16 rows need nothing of this: their scores lie as P must.

use super::kernel::FlashAttention;
use crate::tile::{for_matrices, loaded_rows};
use crate::unit::Unit;
use quadpair::prelude::*;

/// The most chunks of a head.
pub(super) const CHUNKS: usize = quadpair_profiles::FlashTile::CHUNKS;

/// The comptime parameters: sizes, and the layouts that follow from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlashTile {
    /// What multiplies.
    pub unit: Unit,
    /// How the products of a warp's quadpairs lie, if the unit has any.
    pub quadpairs: Quadpairs,
    /// Query rows of a block.
    pub block_m: usize,
    /// Keys of a tile.
    pub block_n: usize,
    /// Elements of a row, a multiple of 8.
    pub head_dim: usize,
    /// Columns of a chunk of K or V, a power of two.
    pub width: usize,
    /// Columns of Q and K whose fragments are loaded at once.
    pub key_step: usize,
    /// Rows of V whose fragments are loaded at once.
    pub value_step: usize,
    /// Whether the fragments of Q stay in registers.
    pub keep_queries: bool,
    /// Whether the first chunk of V is made visible before the softmax, not behind it.
    pub early_values: bool,
    /// Whether threads exchange the largest scores of their rows in each tile, or only where the reference must follow.
    pub early_largest: bool,
    /// Warps of a block.
    pub warps: usize,
    /// Whether every row starts at a 16-byte boundary.
    pub aligned: bool,
    /// Whether a query sees only keys up to its own place, counted from the end.
    pub causal: bool,
    /// Whether there is a bias.
    pub bias: bool,
    /// Whether Q is scaled and rounded, instead of the scores being scaled.
    pub round_q: bool,
}

impl FlashTile {
    pub(super) const fn chunks(&self) -> usize {
        self.head_dim.div_ceil(self.width)
    }

    /// Whether K and V come by asynchronous copies, a whole tile at once, not by chunks through registers.
    pub(super) const fn copies(&self) -> bool {
        self.unit.copies() && self.aligned
    }

    /// Slots for chunks.
    pub(super) const fn ring(&self) -> usize {
        if self.copies() { 2 * self.chunks() } else { 2 }
    }

    /// Keys of a part of P: as many as P has in a thread's own registers, while it is still scores.
    pub(super) const fn part(&self) -> usize {
        match self.unit {
            Unit::Fma if self.block_n < 32 => self.block_n,
            Unit::Fma => 32,
            Unit::Wgmma => self.block_n,
            _ => self.value_step,
        }
    }

    /// The matrix unit with all warps along the rows.
    pub(super) const fn mma(&self) -> Mma {
        let warps = [self.warps, 1];
        match self.unit {
            Unit::M16N8K8 => Mma::m16n8k8(warps),
            Unit::M16N8K16 => Mma::m16n8k16(warps),
            Unit::Wgmma => Mma::wgmma(self.block_n, warps),
            _ => Mma::m8n8k4(self.quadpairs, warps).interleaved(),
        }
    }

    /// The same for P V: each thread loads eight neighbours of V at once, and each quadpair begins with its own P.
    pub(super) const fn value_mma(&self) -> Mma {
        match self.unit {
            Unit::M8N8K4 => self.mma().wide().staggered(),
            _ => self.mma(),
        }
    }

    pub(super) const fn scores(&self) -> Layout {
        let shape = [self.block_m, self.block_n];
        match self.unit {
            Unit::Fma => blocked(shape, [2, 4], [4, 8], [self.warps, 1], [1, 0]),
            _ => self.mma().accumulator(shape),
        }
    }

    /// Blocks that a multiprocessor should hold at once: two of eight warps share its registers where each thread's sums,
    /// scores and P leave some of its half.
    pub(super) const fn blocks_at_once(&self) -> usize {
        let columns =
            self.block_n + self.block_n / 2 + (self.chunks() - 1) * self.width + self.columns(self.chunks() - 1);
        if self.warps == 8 && columns * self.block_m / self.warps / 32 <= 96 { 2 } else { 1 }
    }

    /// Columns of a chunk that are multiplied: the unit that reads shared memory by itself takes those of the last chunk
    /// that there are, up to a power of two.
    pub(super) const fn columns(&self, chunk: usize) -> usize {
        let rest = self.head_dim - chunk * self.width;
        if self.unit.reads_shared() && rest < self.width {
            rest.next_multiple_of(16).next_power_of_two()
        } else {
            self.width
        }
    }

    /// A chunk of the output.
    pub(super) const fn output(&self, chunk: usize) -> Layout {
        let shape = [self.block_m, self.columns(chunk)];
        match self.unit {
            Unit::Fma => blocked(shape, [2, 4], [4, 8], [self.warps, 1], [1, 0]),
            Unit::Wgmma => Mma::wgmma(shape[1], [self.warps, 1]).accumulator(shape),
            _ => self.value_mma().accumulator(shape),
        }
    }

    /// Columns of Q as the left operand.
    pub(super) const fn queries(&self, k: usize) -> Layout {
        match self.unit {
            Unit::Fma => self.scores().operand_a(k),
            _ => self.mma().a([self.block_m, k]),
        }
    }

    /// Columns of K as the right operand, K^T: k runs along K's rows.
    pub(super) const fn keys(&self, k: usize) -> Layout {
        match self.unit {
            Unit::Fma => self.scores().operand_b(k),
            _ => self.mma().b([k, self.block_n]),
        }
    }

    /// P as the left operand.
    pub(super) const fn probabilities(&self) -> Layout {
        match self.unit {
            Unit::Fma => self.output(0).operand_a(self.part()),
            _ => self.value_mma().a([self.block_m, self.part()]),
        }
    }

    /// A step of V as the right operand: n runs along V's rows.
    pub(super) const fn values(&self) -> Layout {
        match self.unit {
            Unit::Fma => self.output(0).operand_b(self.value_step),
            Unit::M8N8K4 => self.value_mma().b_row([self.value_step, self.width]),
            _ => self.value_mma().b([self.value_step, self.width]),
        }
    }

    /// A chunk of some rows as it comes from global memory.
    pub(super) const fn rows(&self, rows: usize) -> Layout {
        loaded_rows(rows, self.width, self.warps)
    }

    /// Shared memory for a chunk of Q, K or V between global memory and the operand.
    pub(super) const fn staged(&self, rows: usize, operand: Layout, bits: u32) -> SharedLayout {
        match self.unit {
            Unit::M16N8K8 | Unit::M16N8K16 => for_matrices(rows, self.width),
            _ => SharedLayout::between(&self.rows(rows), &operand, bits),
        }
    }
}

impl FlashTile {
    /// Columns of a chunk for a head dim.
    pub const fn width_of(unit: Unit, head_dim: usize) -> usize {
        match head_dim {
            65.. if unit.reads_shared() => 64,
            ..=16 => 16,
            17..=32 => 32,
            33..=64 => 64,
            65..=96 => 32,
            _ => 64,
        }
    }

    /// The two steps, and whether V comes early: for m8n8k4 what the throughput model of Volta judges best of what needs no
    /// more registers than there are, else a step of the unit.
    pub const fn pace_of(unit: Unit, quadpairs: Quadpairs, head_dim: usize) -> (usize, usize, bool) {
        match (unit, quadpairs) {
            (Unit::Fma, _) => (2, 2, true),
            (Unit::M16N8K8, _) => (8, 8, true),
            (Unit::M16N8K16 | Unit::Wgmma, _) => (16, 16, true),
            (_, Quadpairs::OneByFour) => (8, 32, true),
            (_, Quadpairs::FourByOne) => (8, 8, true),
            (_, Quadpairs::TwoByTwo) => match head_dim {
                ..=64 => (4, 8, false),
                65..=88 => (4, 16, false),
                89..=96 => (4, 32, true),
                _ => (8, 8, true),
            },
        }
    }

    /// A tile for aligned rows, without bias or mask, in the usual chunks.
    pub(super) const fn plain(
        unit: Unit,
        quadpairs: Quadpairs,
        (block_m, block_n): (usize, usize),
        warps: usize,
        head_dim: usize,
    ) -> FlashTile {
        let (key_step, value_step, early_values) = FlashTile::pace_of(unit, quadpairs, head_dim);
        FlashTile {
            unit,
            quadpairs,
            block_m,
            block_n,
            head_dim,
            width: FlashTile::width_of(unit, head_dim),
            key_step,
            value_step,
            keep_queries: unit.copies() && head_dim <= 64,
            early_values,
            early_largest: !unit.copies(),
            warps,
            aligned: true,
            causal: false,
            bias: false,
            round_q: false,
        }
    }
}

instances! {
    /// Head dim 64 on Volta's matrix unit.
    #[target(sm_70)]
    pub FLASH_64 = FlashAttention::<f16, f32, f16> { t: FlashTile::plain(Unit::M8N8K4, Quadpairs::TwoByTwo, (128, 64), 4, 64) };
    /// Head dim 96, in three chunks, on Volta's matrix unit.
    #[target(sm_70)]
    pub FLASH_96 = FlashAttention::<f16, f32, f16> { t: FlashTile::plain(Unit::M8N8K4, Quadpairs::TwoByTwo, (128, 64), 4, 96) };
    /// Head dim 128 on Volta's matrix unit.
    #[target(sm_70)]
    pub FLASH_128 = FlashAttention::<f16, f32, f16> { t: FlashTile::plain(Unit::M8N8K4, Quadpairs::TwoByTwo, (128, 32), 4, 128) };
    /// Head dim 256, in four chunks, on Volta's matrix unit.
    #[target(sm_70)]
    pub FLASH_256 = FlashAttention::<f16, f32, f16> { t: FlashTile::plain(Unit::M8N8K4, Quadpairs::OneByFour, (128, 64), 8, 256) };
    /// Head dim 64 on Turing's matrix unit.
    #[target(sm_75)]
    pub FLASH_64_M16N8K8 = FlashAttention::<f16, f32, f16> { t: FlashTile::plain(Unit::M16N8K8, Quadpairs::TwoByTwo, (128, 64), 4, 64) };
    /// Head dim 128 on Ampere's matrix unit.
    #[target(sm_80)]
    pub FLASH_128_M16N8K16 = FlashAttention::<f16, f32, f16> { t: FlashTile::plain(Unit::M16N8K16, Quadpairs::TwoByTwo, (128, 64), 4, 128) };
    /// Head dim 96 on Hopper's wgmma.
    #[target(sm_90a)]
    pub FLASH_96_WGMMA = FlashAttention::<f16, f32, f16> { t: FlashTile::plain(Unit::Wgmma, Quadpairs::TwoByTwo, (128, 64), 8, 96) };
    /// Head dim 128 on Hopper's wgmma.
    #[target(sm_90a)]
    pub FLASH_128_WGMMA = FlashAttention::<f16, f32, f16> { t: FlashTile::plain(Unit::Wgmma, Quadpairs::TwoByTwo, (128, 128), 8, 128) };
    /// Head dim 64 by fused multiply-adds.
    pub FLASH_64_FMA = FlashAttention::<f32, f32, f32> { t: FlashTile::plain(Unit::Fma, Quadpairs::TwoByTwo, (64, 32), 8, 64) };
}
