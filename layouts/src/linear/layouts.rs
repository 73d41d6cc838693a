//! Layouts of tiles and of shared memory as labelled maps, and back.
//!
//! A tile's flat index has the last axis in its lowest bits, so the axes of its map come last first, and no column
//! changes. With both kinds of layout as maps, the offset of every register is one composition:
//!
//! ```
//! use quadpair_layouts::Dim::*;
//! use quadpair_layouts::{blocked, swizzled};
//! let tile = blocked([8, 32], [1, 2], [4, 8], [2, 1], [1, 0]);
//! let memory = swizzled([8, 32], 4, 1, 8, [1, 0]);
//! let offsets = tile.to_linear().then(&memory.to_linear());
//! let thread = offsets.ins().index(&[(Register, 1), (Lane, 13), (Warp, 1)]);
//! assert_eq!(offsets.apply(thread), memory.offset(tile.apply(1, 13, 1)));
//! ```

use super::LinearMap;
use super::error::MapError;
use super::space::{Dim, Space};
use crate::error::Error;
use crate::layout::{Builder, LANE_BITS, Layout};
use crate::shape::{MAX_RANK, Shape};
use crate::shared::SharedLayout;

impl Layout {
    /// This layout as a map from register, lane and warp to the axes of the tile, the last one first.
    pub const fn to_linear(&self) -> LinearMap {
        if let Some(error) = self.fault() {
            return LinearMap::invalid(error);
        }
        let ins = [(Dim::Register, self.register_bits()), (Dim::Lane, LANE_BITS), (Dim::Warp, self.warp_bits())];
        match (Space::new(&ins), axes(&self.shape())) {
            (Ok(ins), Ok(outs)) => LinearMap::between(&ins, &outs, self.columns()),
            (Err(error), _) | (_, Err(error)) => LinearMap::broken(error),
        }
    }
}

impl SharedLayout {
    /// This layout as a map from the axes of the tile, the last one first, to the offset in elements.
    ///
    /// Invalid if the view doesn't start at offset 0, since a linear map sends 0 to 0, or if there are gaps between
    /// elements.
    pub const fn to_linear(&self) -> LinearMap {
        if let Some(error) = self.fault() {
            return LinearMap::invalid(error);
        }
        if self.is_padded() {
            return LinearMap::broken(MapError::Padded);
        }
        if self.constant() != 0 {
            return LinearMap::broken(MapError::Constant { constant: self.constant() });
        }
        match (axes(&self.shape()), Space::new(&[(Dim::Offset, self.map().outputs())])) {
            (Ok(ins), Ok(outs)) => LinearMap::between(&ins, &outs, self.columns()),
            (Err(error), _) | (_, Err(error)) => LinearMap::broken(error),
        }
    }
}

impl LinearMap {
    /// This map as the layout of a tile: from register, lane and warp to axes 0, 1, ..., both in any order. A missing
    /// register or warp counts as one without bits, and other inputs without bits count for nothing.
    ///
    /// ```
    /// use quadpair_layouts::blocked;
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let lanes = LinearMap::identity(2, Lane, Axis(1)).times(&LinearMap::identity(3, Lane, Axis(0)));
    /// let tile = lanes.times(&LinearMap::identity(1, Register, Axis(0))).to_layout();
    /// assert!(tile.equals(&blocked([16, 4], [1, 1], [8, 4], [1, 1], [1, 0])));
    /// ```
    ///
    /// Invalid if other dimensions have bits, lanes haven't five bits, some element is held by no thread, or there are
    /// more registers, warps or elements than a layout can have.
    pub const fn to_layout(&self) -> Layout {
        if let Some(error) = self.fault {
            return Layout::invalid(error);
        }
        if let Some(dim) = self.misplaced() {
            return Layout::invalid(Error::Map(MapError::NoPlace { dim }));
        }
        let lanes = self.ins.bits_of(Dim::Lane);
        if lanes != LANE_BITS {
            return Layout::invalid(Error::LaneBases { bases: lanes });
        }
        let shape = self.axis_shape();
        match axes(&shape) {
            Ok(outs) => self.onto(&self.ins, &outs).built(shape),
            Err(error) => Layout::invalid(Error::Map(error)),
        }
    }

    /// The first dimension that a tile's layout hasn't.
    const fn misplaced(&self) -> Option<Dim> {
        let mut i = 0;
        while i < self.ins.dims().len() {
            let dim = self.ins.dims()[i];
            if !dim.is_in(&[Dim::Register, Dim::Lane, Dim::Warp]) && self.ins.bits_of(dim) > 0 {
                return Some(dim);
            }
            i += 1;
        }
        i = 0;
        while i < self.outs.dims().len() {
            let dim = self.outs.dims()[i];
            if !matches!(dim, Dim::Axis(axis) if (axis as usize) < self.outs.dims().len()) {
                return Some(dim);
            }
            i += 1;
        }
        None
    }

    /// The extents of axes 0, 1, ... of the outputs.
    const fn axis_shape(&self) -> Shape {
        let (mut extents, mut axis) = ([1; MAX_RANK], 0);
        while axis < self.outs.dims().len() && axis < MAX_RANK {
            extents[axis] = 1_usize.unbounded_shl(self.outs.bits_of(Dim::Axis(axis as u8)) as u32);
            axis += 1;
        }
        Shape::from_slice(extents.split_at(axis).0)
    }

    const fn built(&self, shape: Shape) -> Layout {
        let (mut builder, mut i) = (Builder::new(shape), 0);
        while i < self.ins.bits_of(Dim::Register) {
            builder.register(self.column(Dim::Register, i));
            i += 1;
        }
        let (mut lanes, mut i) = ([0; LANE_BITS], 0);
        while i < LANE_BITS {
            lanes[i] = self.column(Dim::Lane, i);
            i += 1;
        }
        builder.lanes(lanes);
        i = 0;
        while i < self.ins.bits_of(Dim::Warp) {
            builder.warp(self.column(Dim::Warp, i));
            i += 1;
        }
        builder.finish()
    }
}

/// The axes of a shape as a space whose index is the flat index.
const fn axes(shape: &Shape) -> Result<Space, MapError> {
    let (mut space, mut axis) = (Space::EMPTY, shape.rank());
    while axis > 0 {
        axis -= 1;
        space = match space.with(Dim::Axis(axis as u8), shape.dim_bits(axis)) {
            Ok(space) => space,
            Err(error) => return Err(error),
        };
    }
    Ok(space)
}
