//! What can be wrong with a request for attention, in the caller's words.

use crate::unit::{Unit, UnitError};
use quadpair::{KernelError, LaunchError};

/// Why attention can't be prepared or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttentionError {
    /// The head dim is not one that the kernels have.
    #[error("head dim {head_dim} is not supported: it has to be a multiple of 8 from 8 to 256")]
    HeadDim {
        /// The head dim asked for.
        head_dim: usize,
    },
    /// The unit asked for can't be had.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// The profile's tiles for the unit don't reach this head dim.
    #[error("profile {profile} has no {unit} tile for head dim {head_dim}; ask for a tile, or for the fma unit")]
    HeadDimUncovered {
        /// The unit asked for.
        unit: Unit,
        /// The profile's name.
        profile: String,
        /// The head dim asked for.
        head_dim: usize,
    },
    /// No kernel has this tile.
    #[error("no {unit} kernel has a {}x{} tile at head dim {head_dim} on {profile}; these run: {}", .tile.0, .tile.1, list(.runs))]
    Tile {
        /// The unit.
        unit: Unit,
        /// Query rows and keys of the tile asked for.
        tile: (usize, usize),
        /// The head dim.
        head_dim: usize,
        /// The profile's name.
        profile: String,
        /// The tiles that run there.
        runs: Vec<(usize, usize)>,
    },
    /// An operand's extents don't fit the others'.
    #[error("{tensor} is {shape:?}; {expected:?} is needed: {why}")]
    Shape {
        /// Which tensor.
        tensor: &'static str,
        /// Its extents: batch, heads, rows, head dim.
        shape: [usize; 4],
        /// What they have to be.
        expected: [usize; 4],
        /// The rule.
        why: &'static str,
    },
    /// Query heads can't be shared out among the key heads.
    #[error("{heads} query heads can't share {kv_heads} key heads evenly: the one has to be a multiple of the other")]
    Heads {
        /// Heads of q.
        heads: usize,
        /// Heads of k and v.
        kv_heads: usize,
    },
    /// The elements of a row don't lie one after the other.
    #[error(
        "{tensor} has stride {stride} along the head dim: elements of a row have to lie next to each other (stride 1)"
    )]
    RowStride {
        /// Which tensor.
        tensor: &'static str,
        /// Its last stride.
        stride: usize,
    },
    /// A view reaches past its buffer.
    #[error("{tensor} has {length} elements, its shape and strides reach {needed}")]
    Buffer {
        /// Which tensor.
        tensor: &'static str,
        /// Elements that it needs; `usize::MAX` if it's more than can be counted.
        needed: usize,
        /// Elements that it has.
        length: usize,
    },
    /// Two elements of the output are one element of its buffer.
    #[error(
        "{tensor} has strides {strides:?} at shape {shape:?}, by which elements overlap: results would overwrite each other"
    )]
    Overlap {
        /// Which tensor.
        tensor: &'static str,
        /// Its extents.
        shape: [usize; 4],
        /// Its strides.
        strides: [usize; 4],
    },
    /// More than the kernels can count.
    #[error("{what}: {value} is more than the {limit} that a launch can count")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// How much.
        value: usize,
        /// The most.
        limit: usize,
    },
    /// The scale is no usable number.
    #[error("the softmax scale is {scale}: it has to be a finite number")]
    Scale {
        /// The scale given.
        scale: f32,
    },
    /// The inputs have another head dim than the prepared kernel.
    #[error("this attention was prepared for head dim {prepared}, q has head dim {given}")]
    Prepared {
        /// Head dim of the configuration.
        prepared: usize,
        /// Head dim of q.
        given: usize,
    },
    /// The kernel can't be made for this chip.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The launch failed.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

/// `64x32, 64x64`.
fn list(tiles: &[(usize, usize)]) -> String {
    if tiles.is_empty() {
        return "none".into();
    }
    tiles.iter().map(|(m, n)| format!("{m}x{n}")).collect::<Vec<_>>().join(", ")
}
