//! Shapes: extents that are powers of two, and the bits of the row-major flat index that each dimension has.
//!
//! A tile of `[4, 8]` has 32 elements; element (i, j) has the flat index 8 i + j. In bits that is `i1 i0 j2 j1 j0`: the
//! last dimension has the lowest bits. A flat index holds all coordinates at once, which is why the algebra needs no other
//! form of them: reshaping changes nothing about it, and permuting moves its bits.

use crate::error::Error;

/// The most dimensions that a tile can have.
pub const MAX_RANK: usize = 8;

/// The most bits that a flat index can have.
pub const MAX_SHAPE_BITS: usize = 24;

/// Extents of a tile, each a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    rank: u8,
    bits: [u8; MAX_RANK],
    fault: Option<Error>,
}

impl Shape {
    /// No dimensions: one element.
    pub const SCALAR: Shape = Shape { rank: 0, bits: [0; MAX_RANK], fault: None };

    /// A shape of these extents.
    pub const fn new<const N: usize>(extents: [usize; N]) -> Shape {
        Shape::from_slice(&extents)
    }

    /// A shape of these extents.
    pub const fn from_slice(extents: &[usize]) -> Shape {
        let mut shape = Shape::SCALAR;
        if extents.len() > MAX_RANK {
            return shape.failed(Error::Rank { rank: extents.len() });
        }
        let mut dim = 0;
        while dim < extents.len() {
            if !extents[dim].is_power_of_two() {
                return shape.failed(Error::NotPowerOfTwo { dim, extent: extents[dim] });
            }
            shape.bits[dim] = extents[dim].trailing_zeros() as u8;
            shape.rank += 1;
            dim += 1;
        }
        if shape.bits() > MAX_SHAPE_BITS { Shape::SCALAR.failed(Error::TooManyElements { bits: shape.bits() }) } else { shape }
    }

    const fn failed(mut self, error: Error) -> Shape {
        self.fault = Some(error);
        self
    }

    /// What is wrong with it, if anything.
    pub const fn fault(&self) -> Option<Error> {
        self.fault
    }

    /// How many dimensions there are.
    pub const fn rank(&self) -> usize {
        self.rank as usize
    }

    /// The extent of a dimension.
    pub const fn extent(&self, dim: usize) -> usize {
        1 << self.bits[dim]
    }

    /// Bits of a dimension's coordinate.
    pub const fn dim_bits(&self, dim: usize) -> usize {
        self.bits[dim] as usize
    }

    /// Bits of the flat index.
    pub const fn bits(&self) -> usize {
        self.shift_past(0)
    }

    /// How many elements there are.
    #[allow(clippy::len_without_is_empty)]
    pub const fn len(&self) -> usize {
        1 << self.bits()
    }

    /// Where the lowest bit of a dimension's coordinate stands in the flat index.
    pub const fn shift(&self, dim: usize) -> usize {
        self.shift_past(dim + 1)
    }

    const fn shift_past(&self, first: usize) -> usize {
        let (mut bits, mut dim) = (0, first);
        while dim < self.rank() {
            bits += self.bits[dim] as usize;
            dim += 1;
        }
        bits
    }

    /// A coordinate of an element.
    pub const fn coordinate(&self, element: u32, dim: usize) -> usize {
        element as usize >> self.shift(dim) & (self.extent(dim) - 1)
    }

    /// The flat index of an element. Coordinates out of range lose their upper bits.
    pub const fn flat(&self, coordinates: &[usize]) -> u32 {
        let (mut flat, mut dim) = (0, 0);
        while dim < self.rank() && dim < coordinates.len() {
            flat |= (coordinates[dim] & (self.extent(dim) - 1)) << self.shift(dim);
            dim += 1;
        }
        flat as u32
    }

    /// Whether the extents are the same.
    pub const fn equals(&self, other: &Shape) -> bool {
        let (mut same, mut dim) = (self.rank == other.rank, 0);
        while dim < MAX_RANK {
            same = same && self.bits[dim] == other.bits[dim];
            dim += 1;
        }
        same
    }

    /// An extent of 1 inserted before a dimension.
    pub(crate) const fn with_dim(mut self, axis: usize) -> Shape {
        if axis > self.rank() {
            return self.failed(Error::Axis { axis, rank: self.rank() + 1 });
        }
        if self.rank() == MAX_RANK {
            return self.failed(Error::Rank { rank: MAX_RANK + 1 });
        }
        let mut dim = self.rank();
        while dim > axis {
            self.bits[dim] = self.bits[dim - 1];
            dim -= 1;
        }
        self.bits[axis] = 0;
        self.rank += 1;
        self
    }

    /// Without a dimension.
    pub(crate) const fn without_dim(mut self, axis: usize) -> Shape {
        if axis >= self.rank() {
            return self.failed(Error::Axis { axis, rank: self.rank() });
        }
        let mut dim = axis;
        while dim + 1 < self.rank() {
            self.bits[dim] = self.bits[dim + 1];
            dim += 1;
        }
        self.rank -= 1;
        self.bits[self.rank as usize] = 0;
        self
    }

    /// With another extent, a power of two, in one dimension.
    pub(crate) const fn with_extent(mut self, axis: usize, extent: usize) -> Shape {
        if axis >= self.rank() {
            return self.failed(Error::Axis { axis, rank: self.rank() });
        }
        self.bits[axis] = extent.trailing_zeros() as u8;
        self
    }

    /// Dimension `i` is dimension `order[i]` of this shape.
    pub(crate) const fn permuted(self, order: &[usize]) -> Shape {
        if order.len() != self.rank() {
            return self.failed(Error::OrderLength { length: order.len(), rank: self.rank() });
        }
        let (mut result, mut seen, mut dim) = (self, 0_u32, 0);
        while dim < order.len() {
            if order[dim] >= self.rank() {
                return self.failed(Error::Axis { axis: order[dim], rank: self.rank() });
            }
            if seen >> order[dim] & 1 == 1 {
                return self.failed(Error::RepeatedAxis { axis: order[dim] });
            }
            seen |= 1 << order[dim];
            result.bits[dim] = self.bits[order[dim]];
            dim += 1;
        }
        result
    }
}

impl core::fmt::Display for Shape {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(crate::text::Text::new("").shape(self).as_str())
    }
}
