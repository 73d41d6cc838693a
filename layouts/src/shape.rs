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
///
/// ```
/// use quadpair_layouts::Shape;
/// const SHAPE: Shape = Shape::new([4, 8]);
/// assert_eq!((SHAPE.rank(), SHAPE.len(), SHAPE.flat(&[3, 5])), (2, 32, 29));
/// assert_eq!((SHAPE.coordinate(29, 0), SHAPE.coordinate(29, 1)), (3, 5));
/// assert!(Shape::new([96]).fault().is_some());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    rank: u8,
    bits: [u8; MAX_RANK],
    fault: Option<Fault>,
}

/// What can be wrong with a shape. Smaller than an [`Error`], since every layout holds a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Fault {
    NotPowerOfTwo { dim: u8, extent: u32 },
    Rank { rank: u16 },
    TooManyElements { bits: u16 },
    Axis { axis: u16, rank: u8 },
    RepeatedAxis { axis: u8 },
    OrderLength { length: u16, rank: u8 },
}

impl Shape {
    /// No dimensions: one element.
    pub const SCALAR: Shape = Shape { rank: 0, bits: [0; MAX_RANK], fault: None };

    /// A shape of these extents.
    pub const fn new<const N: usize>(extents: [usize; N]) -> Shape {
        Shape::from_slice(&extents)
    }

    /// A shape of these extents.
    ///
    /// Invalid if there are more than [`MAX_RANK`], one is no power of two, or there are more than 2^[`MAX_SHAPE_BITS`]
    /// elements.
    pub const fn from_slice(extents: &[usize]) -> Shape {
        let mut shape = Shape::SCALAR;
        if extents.len() > MAX_RANK {
            return shape.failed(Fault::Rank { rank: capped(extents.len()) });
        }
        let mut dim = 0;
        while dim < extents.len() {
            let extent = extents[dim];
            if extent != 0 && extent.ilog2() as usize > MAX_SHAPE_BITS {
                return shape.failed(Fault::TooManyElements { bits: extent.ilog2() as u16 });
            }
            if !extent.is_power_of_two() {
                return shape.failed(Fault::NotPowerOfTwo { dim: dim as u8, extent: extent as u32 });
            }
            shape.bits[dim] = extent.trailing_zeros() as u8;
            shape.rank += 1;
            dim += 1;
        }
        shape.bounded()
    }

    const fn bounded(self) -> Shape {
        let bits = self.bits();
        if bits > MAX_SHAPE_BITS { Shape::SCALAR.failed(Fault::TooManyElements { bits: bits as u16 }) } else { self }
    }

    const fn failed(mut self, fault: Fault) -> Shape {
        if self.fault.is_none() {
            self.fault = Some(fault);
        }
        self
    }

    const fn no_axis(self, axis: usize, rank: usize) -> Shape {
        self.failed(Fault::Axis { axis: capped(axis), rank: rank as u8 })
    }

    /// What is wrong with it, if anything.
    pub const fn fault(&self) -> Option<Error> {
        let error = match self.fault {
            None => return None,
            Some(Fault::NotPowerOfTwo { dim, extent }) => {
                Error::NotPowerOfTwo { dim: dim as usize, extent: extent as usize }
            }
            Some(Fault::Rank { rank }) => Error::Rank { rank: rank as usize },
            Some(Fault::TooManyElements { bits }) => Error::TooManyElements { bits: bits as usize },
            Some(Fault::Axis { axis, rank }) => Error::Axis { axis: axis as usize, rank: rank as usize },
            Some(Fault::RepeatedAxis { axis }) => Error::RepeatedAxis { axis: axis as usize },
            Some(Fault::OrderLength { length, rank }) => {
                Error::OrderLength { length: length as usize, rank: rank as usize }
            }
        };
        Some(error)
    }

    /// How many dimensions there are.
    pub const fn rank(&self) -> usize {
        self.rank as usize
    }

    /// The extent of a dimension; 1 beyond the rank.
    pub const fn extent(&self, dim: usize) -> usize {
        1 << self.dim_bits(dim)
    }

    /// The extents, and how many of them there are; 1 beyond the rank.
    pub const fn extents(&self) -> ([usize; MAX_RANK], usize) {
        let (mut extents, mut dim) = ([1; MAX_RANK], 0);
        while dim < MAX_RANK {
            extents[dim] = 1 << self.bits[dim];
            dim += 1;
        }
        (extents, self.rank())
    }

    /// Bits of a dimension's coordinate.
    pub const fn dim_bits(&self, dim: usize) -> usize {
        if dim < MAX_RANK { self.bits[dim] as usize } else { 0 }
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

    /// Which bit of the flat index is the lowest of a dimension's coordinate.
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
        self.rank == other.rank && u64::from_le_bytes(self.bits) == u64::from_le_bytes(other.bits)
    }

    /// An extent of 1 inserted before a dimension.
    pub(crate) const fn with_dim(mut self, axis: usize) -> Shape {
        if axis > self.rank() {
            return self.no_axis(axis, self.rank() + 1);
        }
        if self.rank() == MAX_RANK {
            return self.failed(Fault::Rank { rank: MAX_RANK as u16 + 1 });
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
            return self.no_axis(axis, self.rank());
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

    /// The flat index that an element of this shape has in a larger one of the same rank.
    pub const fn moved_to(&self, element: u32, larger: &Shape) -> u32 {
        let (mut moved, mut dim) = (0, 0);
        while dim < self.rank() {
            moved |= (self.coordinate(element, dim) as u32) << larger.shift(dim);
            dim += 1;
        }
        moved
    }

    /// Why `length` indices of a dimension from `start` on can't be taken; `None` if they can.
    pub(crate) const fn slice_fault(&self, dim: usize, start: usize, length: usize) -> Option<Error> {
        if dim >= self.rank() {
            return Some(Error::Axis { axis: dim, rank: self.rank() });
        }
        let extent = self.extent(dim);
        if !length.is_power_of_two() {
            Some(Error::Parameter { name: "the length of a slice", value: length })
        } else if start >= extent || length > extent - start {
            Some(Error::SliceRange { start, length, extent })
        } else if !start.is_multiple_of(length) {
            Some(Error::SliceStart { start, length })
        } else {
            None
        }
    }

    /// With another extent, a power of two, in one dimension.
    pub(crate) const fn with_extent(mut self, axis: usize, extent: usize) -> Shape {
        if axis >= self.rank() {
            return self.no_axis(axis, self.rank());
        }
        self.bits[axis] = extent.trailing_zeros() as u8;
        self.bounded()
    }

    /// Dimension `i` is dimension `order[i]` of this shape.
    pub(crate) const fn permuted(self, order: &[usize]) -> Shape {
        if order.len() != self.rank() {
            return self.failed(Fault::OrderLength { length: capped(order.len()), rank: self.rank });
        }
        let (mut result, mut seen, mut dim) = (self, 0_u32, 0);
        while dim < order.len() {
            if order[dim] >= self.rank() {
                return self.no_axis(order[dim], self.rank());
            }
            if seen >> order[dim] & 1 == 1 {
                return self.failed(Fault::RepeatedAxis { axis: order[dim] as u8 });
            }
            seen |= 1 << order[dim];
            result.bits[dim] = self.bits[order[dim]];
            dim += 1;
        }
        result
    }
}

/// A number for a message; larger ones than anybody means are cut.
const fn capped(number: usize) -> u16 {
    if number < u16::MAX as usize { number as u16 } else { u16::MAX }
}

impl core::fmt::Display for Shape {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(crate::text::Text::new("").shape(self).as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_and_flat_index_are_inverse() {
        let shape = Shape::new([4, 1, 8, 2]);
        for element in 0..shape.len() as u32 {
            let coordinates = [0, 1, 2, 3].map(|dim| shape.coordinate(element, dim));
            assert_eq!(shape.flat(&coordinates), element);
            assert_eq!(element as usize, (coordinates[0] * 8 + coordinates[2]) * 2 + coordinates[3]);
        }
    }

    #[test]
    fn extents_are_those_given() {
        let shape = Shape::new([4, 1, 8]);
        assert_eq!(shape.extents(), ([4, 1, 8, 1, 1, 1, 1, 1], 3));
        assert_eq!((shape.bits(), shape.shift(0), shape.shift(2), shape.extent(99)), (5, 3, 0, 1));
        assert_eq!((Shape::SCALAR.len(), Shape::SCALAR.rank()), (1, 0));
    }

    #[test]
    fn faults_are_named() {
        assert_eq!(Shape::new([8, 96]).fault(), Some(Error::NotPowerOfTwo { dim: 1, extent: 96 }));
        assert_eq!(Shape::new([0]).fault(), Some(Error::NotPowerOfTwo { dim: 0, extent: 0 }));
        assert_eq!(Shape::new([1; 9]).fault(), Some(Error::Rank { rank: 9 }));
        assert_eq!(Shape::new([1 << 20, 32]).fault(), Some(Error::TooManyElements { bits: 25 }));
        assert_eq!(Shape::new([3 << 40]).fault(), Some(Error::TooManyElements { bits: 41 }));
        let shape = Shape::new([2, 4]);
        assert_eq!(shape.permuted(&[0, 0]).fault(), Some(Error::RepeatedAxis { axis: 0 }));
        assert_eq!(shape.permuted(&[0, 2]).fault(), Some(Error::Axis { axis: 2, rank: 2 }));
        assert_eq!(shape.permuted(&[0]).fault(), Some(Error::OrderLength { length: 1, rank: 2 }));
    }
}
