//! Spaces: which labelled bits a map takes or gives.
//!
//! A space is an ordered list of dimensions, each with a number of bits; the first has the lowest bits. All coordinates
//! together are one *index*. In the space of two register bits and five lane bits, register 3 of lane 9 has the index
//! `01001 11` = 39.

use super::error::MapError;
use crate::f2::{MAX_DIMENSION, low_bits};
use crate::text::Text;

/// The most dimensions of a space.
pub const MAX_SPACE_DIMS: usize = 8;

/// The most bits of a space.
pub const MAX_SPACE_BITS: usize = MAX_DIMENSION;

/// The label of a dimension: a kind of number in the hardware, or an axis of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    /// The register of a thread.
    Register,
    /// The lane of a warp.
    Lane,
    /// The warp of a block.
    Warp,
    /// The block of a cluster.
    Block,
    /// The offset in a memory.
    Offset,
    /// The coordinate along an axis of a tile.
    Axis(u8),
}

impl Dim {
    /// Whether both are the same label.
    pub const fn same(self, other: Dim) -> bool {
        self.code() == other.code()
    }

    const fn code(self) -> u16 {
        match self {
            Dim::Register => 256,
            Dim::Lane => 257,
            Dim::Warp => 258,
            Dim::Block => 259,
            Dim::Offset => 260,
            Dim::Axis(axis) => axis as u16,
        }
    }

    pub(crate) const fn write(self, text: Text) -> Text {
        match self {
            Dim::Register => text.push("register"),
            Dim::Lane => text.push("lane"),
            Dim::Warp => text.push("warp"),
            Dim::Block => text.push("block"),
            Dim::Offset => text.push("offset"),
            Dim::Axis(axis) => text.push("axis ").number(axis as usize),
        }
    }

    /// Whether a list has this label.
    pub const fn is_in(self, dims: &[Dim]) -> bool {
        let mut i = 0;
        while i < dims.len() {
            if self.same(dims[i]) {
                return true;
            }
            i += 1;
        }
        false
    }
}

/// Labelled bits: dimensions from minor to major, each with its number of bits.
///
/// ```
/// use quadpair_layouts::{Dim, Space};
/// const THREAD: Space = match Space::new(&[(Dim::Register, 2), (Dim::Lane, 5)]) {
///     Ok(space) => space,
///     Err(_) => Space::EMPTY,
/// };
/// assert_eq!((THREAD.bits(), THREAD.bits_of(Dim::Lane), THREAD.bits_of(Dim::Warp)), (7, 5, 0));
/// let index = THREAD.index(&[(Dim::Lane, 9), (Dim::Register, 3)]);
/// assert_eq!((index, THREAD.coordinate(index, Dim::Lane)), (39, 9));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Space {
    dims: [Dim; MAX_SPACE_DIMS],
    bits: [u8; MAX_SPACE_DIMS],
    count: u8,
}

impl Space {
    /// No dimensions: one index, 0.
    pub const EMPTY: Space = Space { dims: [Dim::Register; MAX_SPACE_DIMS], bits: [0; MAX_SPACE_DIMS], count: 0 };

    /// A space of these dimensions with these numbers of bits, from minor to major.
    ///
    /// # Errors
    /// A label occurs twice, or there are more than [`MAX_SPACE_DIMS`] dimensions or [`MAX_SPACE_BITS`] bits.
    pub const fn new(dims: &[(Dim, usize)]) -> Result<Space, MapError> {
        let (mut space, mut i) = (Space::EMPTY, 0);
        while i < dims.len() {
            space = match space.with(dims[i].0, dims[i].1) {
                Ok(space) => space,
                Err(error) => return Err(error),
            };
            i += 1;
        }
        Ok(space)
    }

    /// With one more dimension, the new major one.
    pub(crate) const fn with(mut self, dim: Dim, bits: usize) -> Result<Space, MapError> {
        if self.has(dim) {
            return Err(MapError::Repeated { dim });
        }
        if self.count as usize == MAX_SPACE_DIMS {
            return Err(MapError::TooManyDims);
        }
        let sum = self.bits().saturating_add(bits);
        if sum > MAX_SPACE_BITS {
            return Err(MapError::TooManyBits { bits: sum });
        }
        self.dims[self.count as usize] = dim;
        self.bits[self.count as usize] = bits as u8;
        self.count += 1;
        Ok(self)
    }

    /// The labels, from minor to major.
    pub const fn dims(&self) -> &[Dim] {
        self.dims.split_at(self.count as usize).0
    }

    /// Bits of all dimensions.
    pub const fn bits(&self) -> usize {
        self.shift_at(self.count as usize)
    }

    /// Whether there is a dimension of this label.
    pub const fn has(&self, dim: Dim) -> bool {
        dim.is_in(self.dims())
    }

    /// Bits of a dimension; 0 if there is none of this label, as for one of extent 1.
    pub const fn bits_of(&self, dim: Dim) -> usize {
        match self.place(dim) {
            Some(place) => self.bits[place] as usize,
            None => 0,
        }
    }

    /// Which bit of the index is the lowest of a dimension; the number of all bits if there is none of this label.
    pub const fn shift_of(&self, dim: Dim) -> usize {
        match self.place(dim) {
            Some(place) => self.shift_at(place),
            None => self.bits(),
        }
    }

    pub(crate) const fn place(&self, dim: Dim) -> Option<usize> {
        let mut place = 0;
        while place < self.count as usize {
            if self.dims[place].same(dim) {
                return Some(place);
            }
            place += 1;
        }
        None
    }

    const fn shift_at(&self, place: usize) -> usize {
        let (mut shift, mut i) = (0, 0);
        while i < place {
            shift += self.bits[i] as usize;
            i += 1;
        }
        shift
    }

    /// A coordinate of an index; 0 if there is no such dimension.
    pub const fn coordinate(&self, index: u32, dim: Dim) -> u32 {
        index.unbounded_shr(self.shift_of(dim) as u32) & low_bits(self.bits_of(dim))
    }

    /// The index of coordinates. Dimensions that aren't given are 0; bits beyond a dimension's and dimensions that the
    /// space lacks are dropped.
    pub const fn index(&self, coordinates: &[(Dim, u32)]) -> u32 {
        let (mut index, mut i) = (0, 0);
        while i < coordinates.len() {
            let (dim, coordinate) = coordinates[i];
            index |= self.placed(dim, coordinate);
            i += 1;
        }
        index
    }

    /// A coordinate at its place in the index.
    pub(crate) const fn placed(&self, dim: Dim, coordinate: u32) -> u32 {
        (coordinate & low_bits(self.bits_of(dim))).unbounded_shl(self.shift_of(dim) as u32)
    }

    /// The bits of an index that belong to these dimensions.
    pub const fn mask(&self, dims: &[Dim]) -> u32 {
        let (mut mask, mut i) = (0, 0);
        while i < dims.len() {
            mask |= self.placed(dims[i], u32::MAX);
            i += 1;
        }
        mask
    }

    /// The same coordinates as an index of another space; what it has no place for is dropped.
    pub(crate) const fn moved(&self, index: u32, to: &Space) -> u32 {
        let (mut result, mut place) = (0, 0);
        while place < to.count as usize {
            let dim = to.dims[place];
            result |= to.placed(dim, self.coordinate(index, dim));
            place += 1;
        }
        result
    }

    /// Which bit of which dimension a bit of the index is.
    pub(crate) const fn bit(&self, bit: usize) -> (Dim, usize) {
        let (mut place, mut below) = (0, 0);
        while place + 1 < self.count as usize && bit >= below + self.bits[place] as usize {
            below += self.bits[place] as usize;
            place += 1;
        }
        (self.dims[place], bit - below)
    }

    /// The dimensions that `dims` names, or those it doesn't, in this space's order.
    pub(crate) const fn only(&self, dims: &[Dim], named: bool) -> Space {
        let (mut space, mut place) = (Space::EMPTY, 0);
        while place < self.count as usize {
            if self.dims[place].is_in(dims) == named {
                space.dims[space.count as usize] = self.dims[place];
                space.bits[space.count as usize] = self.bits[place];
                space.count += 1;
            }
            place += 1;
        }
        space
    }

    /// The same dimensions, one of them with another number of bits.
    pub(crate) const fn resized(&self, dim: Dim, bits: usize) -> Result<Space, MapError> {
        let Some(place) = self.place(dim) else {
            return Err(MapError::Missing { dim });
        };
        let sum = (self.bits() - self.bits[place] as usize).saturating_add(bits);
        if sum > MAX_SPACE_BITS {
            return Err(MapError::TooManyBits { bits: sum });
        }
        let mut space = *self;
        space.bits[place] = bits as u8;
        Ok(space)
    }

    /// Whether both have the same dimensions in the same order with the same bits.
    pub const fn equals(&self, other: &Space) -> bool {
        self.difference(other).is_none()
    }

    /// Why both aren't the same space, if they aren't.
    pub(crate) const fn difference(&self, other: &Space) -> Option<MapError> {
        if let Some(error) = self.stranger(other) {
            return Some(error);
        }
        let mut place = 0;
        while place < self.count as usize {
            let (dim, other_dim) = (self.dims[place], other.dims[place]);
            let (left, right) = (self.bits[place], other.bits_of(dim) as u8);
            if left != right {
                return Some(MapError::Unequal { dim, left, right });
            }
            if !dim.same(other_dim) {
                return Some(MapError::Order { first: dim, second: other_dim });
            }
            place += 1;
        }
        None
    }

    /// The first dimension that the other space has not, or with fewer bits.
    pub(crate) const fn misfit(&self, other: &Space) -> Option<MapError> {
        let mut place = 0;
        while place < self.count as usize {
            let (dim, bits) = (self.dims[place], self.bits[place]);
            if !other.has(dim) {
                return Some(MapError::Missing { dim });
            }
            if bits as usize > other.bits_of(dim) {
                return Some(MapError::Narrow { dim, bits, most: other.bits_of(dim) as u8 });
            }
            place += 1;
        }
        None
    }

    /// Why an index of this space would be none of the other's: a dimension that only one has, or more bits here.
    pub(crate) const fn stranger(&self, other: &Space) -> Option<MapError> {
        if let Some(error) = self.misfit(other) {
            return Some(error);
        }
        match other.misfit(self) {
            Some(MapError::Missing { dim }) => Some(MapError::Unshared { dim }),
            _ => None,
        }
    }

    /// This space in the order of `dims`, which must name each dimension once.
    pub(crate) const fn ordered(&self, dims: &[Dim]) -> Result<Space, MapError> {
        let (mut space, mut i) = (Space::EMPTY, 0);
        while i < dims.len() {
            if !self.has(dims[i]) {
                return Err(MapError::Missing { dim: dims[i] });
            }
            space = match space.with(dims[i], self.bits_of(dims[i])) {
                Ok(space) => space,
                Err(error) => return Err(error),
            };
            i += 1;
        }
        match self.misfit(&space) {
            Some(MapError::Missing { dim }) => Err(MapError::Unnamed { dim }),
            _ => Ok(space),
        }
    }

    /// The dimensions of both in an order that respects both, this space's first where that leaves a choice; bits are
    /// summed. `[a, c]` and `[b, c]` give `[a, b, c]`.
    pub(crate) const fn sum(&self, other: &Space) -> Result<Space, MapError> {
        if let Some(conflict) = self.conflict(other) {
            return Err(conflict);
        }
        let (mut sum, mut place, mut next) = (Space::EMPTY, 0, 0);
        while place < self.count as usize {
            let dim = self.dims[place];
            if let Some(met) = other.place(dim) {
                sum = match sum.with_all(other, next, met) {
                    Ok(sum) => sum,
                    Err(error) => return Err(error),
                };
                next = met + 1;
            }
            sum = match sum.with(dim, self.bits_of(dim) + other.bits_of(dim)) {
                Ok(sum) => sum,
                Err(error) => return Err(error),
            };
            place += 1;
        }
        sum.with_all(other, next, other.count as usize)
    }

    /// Two dimensions that both spaces have, in different orders.
    const fn conflict(&self, other: &Space) -> Option<MapError> {
        let mut second = 1;
        while second < self.count as usize {
            let mut first = 0;
            while first < second {
                let dims = (self.dims[first], self.dims[second]);
                if let (Some(here), Some(there)) = (other.place(dims.0), other.place(dims.1))
                    && here > there
                {
                    return Some(MapError::Order { first: dims.0, second: dims.1 });
                }
                first += 1;
            }
            second += 1;
        }
        None
    }

    /// Followed by the dimensions of `other` from place `next` to before `end`.
    pub(crate) const fn with_all(self, other: &Space, mut next: usize, end: usize) -> Result<Space, MapError> {
        let mut space = self;
        while next < end {
            space = match space.with(other.dims[next], other.bits[next] as usize) {
                Ok(space) => space,
                Err(error) => return Err(error),
            };
            next += 1;
        }
        Ok(space)
    }
}
