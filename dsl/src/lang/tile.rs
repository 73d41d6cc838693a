//! Tiles: the run-time values of a kernel.

use quadpair_layouts::{Layout, Shape};

use crate::element::DType;
use crate::ir::{TileType, Value};

/// A run-time value: a tile whose elements are spread over the threads of a block, or a scalar that all of them have.
///
/// Its element type and layout are known when Rust compiles; its elements are not.
#[derive(Clone, Copy, Debug)]
pub struct Tile {
    pub(crate) value: Value,
    pub(crate) ty: TileType,
}

impl Tile {
    /// Where each element lives. A scalar has none: the layout given for it is that of an invalid tile.
    pub const fn layout(self) -> Layout {
        match self.ty.layout {
            Some(layout) => layout,
            None => Layout::SCALAR,
        }
    }

    /// The tile's extents; a scalar has rank 0.
    pub const fn shape(self) -> Shape {
        self.layout().shape()
    }

    /// The element type.
    pub const fn dtype(self) -> DType {
        self.ty.dtype
    }

    pub(crate) const fn is_scalar(&self) -> bool {
        self.ty.layout.is_none()
    }
}
