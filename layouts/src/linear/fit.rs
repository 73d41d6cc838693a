//! Maps made to measure: for tiles of other sizes, for other numbers of blocks, for a conversion.
//!
//! A layout is given by what an instruction or a vector wants and must then cover the tile. Where the tile is larger,
//! the first input dimension repeats it; where it is smaller, what would lie beyond moves nothing and is held several
//! times. Lanes with the columns 1, 2, 4 in a tile of 4 are 1, 2, 0: lanes 4 to 7 hold what lanes 0 to 3 hold.

use super::LinearMap;
use super::error::MapError;
use super::space::{Dim, MAX_SPACE_DIMS, Space};
use crate::error::Error;

impl LinearMap {
    /// The identity from one input dimension to axes 0, 1, ... of these numbers of bits; `order` lists the axes from
    /// the fastest.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::identity_nd(Register, &[1, 2], &[1, 0]);
    /// assert_eq!((map.basis(Register, 0, Axis(1)), map.basis(Register, 2, Axis(0))), (1, 1));
    /// ```
    ///
    /// Invalid if `order` doesn't name each axis once, or there are too many axes or bits.
    pub const fn identity_nd(input: Dim, bits: &[usize], order: &[usize]) -> LinearMap {
        if bits.len() > MAX_SPACE_DIMS {
            return LinearMap::broken(MapError::TooManyDims);
        }
        if order.len() != bits.len() {
            return LinearMap::invalid(Error::OrderLength { length: order.len(), rank: bits.len() });
        }
        let (mut map, mut i) = (LinearMap::EMPTY, 0);
        while i < order.len() {
            let axis = order[i];
            if axis >= bits.len() {
                return LinearMap::invalid(Error::Axis { axis, rank: bits.len() });
            }
            if map.outs.has(Dim::Axis(axis as u8)) {
                return LinearMap::invalid(Error::RepeatedAxis { axis });
            }
            map = map.times(&LinearMap::identity(bits[axis], input, Dim::Axis(axis as u8)));
            i += 1;
        }
        map
    }

    /// This map where outputs have at most these numbers of bits: as [`resize_out`](LinearMap::resize_out), for all
    /// dimensions that are larger. Inputs that moved beyond move nothing.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Register, 3), (Lane, 2)], &[(Axis(0), 5)], &[8, 4, 1, 2, 16]);
    /// let small = map.shrink_to(&[(Axis(0), 3)]);
    /// assert_eq!(small.columns(), [0, 4, 1, 2, 0]);
    /// assert_eq!(small.remove_zero_bases(Register).columns(), [4, 1, 2, 0]);
    /// ```
    ///
    /// Invalid if there is no such dimension.
    #[doc(alias = "ensure_layout_not_larger_than")]
    pub const fn shrink_to(&self, outs: &[(Dim, usize)]) -> LinearMap {
        let (mut map, mut i) = (*self, 0);
        while i < outs.len() {
            let (dim, bits) = outs[i];
            let had = map.outs.bits_of(dim);
            map = map.resize_out(dim, if bits < had { bits } else { had });
            i += 1;
        }
        map
    }

    /// This map where outputs have at least these numbers of bits: the first input dimension gets the missing ones,
    /// from the map's minor output dimension to its major one.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Register, 0), (Lane, 2)], &[(Axis(1), 1), (Axis(0), 1)], &[1, 2]);
    /// let large = map.grow_to(&[(Axis(0), 2), (Axis(1), 2)]);
    /// assert_eq!((large.basis(Register, 0, Axis(1)), large.basis(Register, 1, Axis(0))), (2, 2));
    /// ```
    ///
    /// Invalid if there is no such output dimension or no input dimension, or there would be too many bits.
    #[doc(alias = "ensure_layout_not_smaller_than")]
    pub const fn grow_to(&self, outs: &[(Dim, usize)]) -> LinearMap {
        let mut i = 0;
        while i < outs.len() {
            if !self.outs.has(outs[i].0) {
                return self.refused(MapError::Missing { dim: outs[i].0 });
            }
            i += 1;
        }
        let [first, ..] = self.ins.dims() else {
            return self.refused(MapError::Missing { dim: Dim::Register });
        };
        let (mut map, mut place) = (*self, 0);
        while place < self.outs.dims().len() {
            let dim = self.outs.dims()[place];
            let missing = wanted(outs, dim).saturating_sub(map.outs.bits_of(dim));
            map = map.times(&LinearMap::identity(missing, *first, dim));
            place += 1;
        }
        map
    }

    /// This layout of a block's part, spread over the blocks of a cluster: `blocks` says which part each has. The part
    /// is made to fit what the blocks leave of the tile; a tile with less than a block each is held several times.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let part = LinearMap::identity(1, Register, Axis(0)).times(&LinearMap::identity(2, Lane, Axis(0)));
    /// let tile = part.across_blocks(&LinearMap::identity(1, Block, Axis(0)), &[(Axis(0), 5)]);
    /// assert_eq!(tile.columns(), [1, 8, 2, 4, 16]);
    /// ```
    ///
    /// Invalid if the dimensions of `shape` aren't those of the outputs of both.
    #[doc(alias = "combine_cta_cga_with_shape")]
    pub const fn across_blocks(&self, blocks: &LinearMap, shape: &[(Dim, usize)]) -> LinearMap {
        let (mut dims, mut part, mut i) = ([Dim::Register; MAX_SPACE_DIMS], [(Dim::Register, 0); MAX_SPACE_DIMS], 0);
        if shape.len() > MAX_SPACE_DIMS {
            return self.refused(MapError::TooManyDims);
        }
        let blocks = blocks.shrink_to(shape);
        while i < shape.len() {
            let (dim, bits) = shape[i];
            dims[i] = dim;
            part[i] = (dim, bits.saturating_sub(blocks.outs.bits_of(dim)));
            i += 1;
        }
        let (dims, part) = (dims.split_at(i).0, part.split_at(i).0);
        let own = self.transpose_outs(dims).grow_to(part).shrink_to(part);
        own.times(&blocks.transpose_outs(dims))
    }

    /// Without an axis among the outputs; later axes move down by one. [`Layout::slice`](crate::Layout::slice) does so
    /// with a tile's layout.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::from_bases(&[(Lane, &[[1, 0], [0, 1]])], [(Axis(0), 1), (Axis(1), 1)]);
    /// assert!(map.remove_axis(0).equals(&LinearMap::new(&[(Lane, 2)], &[(Axis(0), 1)], &[0, 1])));
    /// ```
    ///
    /// Invalid if there is no such axis.
    pub const fn remove_axis(&self, axis: u8) -> LinearMap {
        if !self.outs.has(Dim::Axis(axis)) {
            return self.refused(MapError::Missing { dim: Dim::Axis(axis) });
        }
        let outs = self.outs.only(&[Dim::Axis(axis)], false);
        let (mut renames, mut count, mut place) = ([(Dim::Register, Dim::Register); MAX_SPACE_DIMS], 0, 0);
        while place < outs.dims().len() {
            if let Dim::Axis(later) = outs.dims()[place]
                && later > axis
            {
                renames[count] = (Dim::Axis(later), Dim::Axis(later - 1));
                count += 1;
            }
            place += 1;
        }
        self.onto(&self.ins, &outs).rename_outs(renames.split_at(count).0)
    }

    /// The conversion of a tile from one layout to another that moves as little as it can: the map from where an
    /// element shall be to where it is, without the dimensions over which it is [trivial](LinearMap::is_trivial_over),
    /// as long as those are, from the major one on. Nothing left: nothing to do. Registers: no element leaves its
    /// thread. Lanes: none leaves its warp.
    ///
    /// Registers that move nothing play no part, and what may stay where it is does.
    /// [`convert::plan`](crate::convert::plan) says what a conversion of a tile takes and costs; this is the map that
    /// it comes from.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let from = LinearMap::new(&[(Lane, 2), (Warp, 1)], &[(Axis(0), 3)], &[1, 2, 4]);
    /// let to = LinearMap::new(&[(Lane, 2), (Warp, 1)], &[(Axis(0), 3)], &[2, 1, 4]);
    /// assert!(from.minimal_conversion(&to).equals(&LinearMap::new(&[(Lane, 2)], &[(Lane, 2)], &[2, 1])));
    /// assert!(from.minimal_conversion(&from).equals(&LinearMap::EMPTY));
    /// ```
    ///
    /// Invalid if `from` doesn't hold every element that `to` does.
    pub const fn minimal_conversion(&self, to: &LinearMap) -> LinearMap {
        let (from, to) = (self.remove_zero_bases(Dim::Register), to.remove_zero_bases(Dim::Register));
        let mut map = to.invert_and_compose_local(&from, to.ins.dims());
        while let Some(dim) = common_major(&map.ins, &map.outs) {
            let rest = map.quotient(&[dim]);
            if rest.fault.is_some() {
                break;
            }
            map = rest;
        }
        map
    }
}

/// The major dimension of both spaces, if it is the same.
const fn common_major(ins: &Space, outs: &Space) -> Option<Dim> {
    match (ins.dims(), outs.dims()) {
        ([.., last], [.., other]) if last.same(*other) => Some(*last),
        _ => None,
    }
}

/// The bits that a list wants for a dimension.
const fn wanted(dims: &[(Dim, usize)], dim: Dim) -> usize {
    let mut i = 0;
    while i < dims.len() {
        if dims[i].0.same(dim) {
            return dims[i].1;
        }
        i += 1;
    }
    0
}
