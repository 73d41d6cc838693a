//! Products: two maps side by side, and what is left when one side is taken off.
//!
//! The product of A and B acts on the low bits of every dimension as A does and on the high bits as B does; the outputs
//! of B lie above those of A. As matrices it is the block diagonal of both. Tiles are built that way: 4 elements a
//! thread, times 8 lanes, times 2 warps along an axis are the columns 1, 2 of registers, 4, 8, 16 of lanes and 32 of
//! the warp.

use super::error::MapError;
use super::space::Space;
use super::{Columns, LinearMap};

impl LinearMap {
    /// The direct sum: this map on the low bits of each dimension, `high` on the bits above, its outputs above this
    /// one's. A dimension that one of them lacks counts as one without bits.
    ///
    /// The dimensions come in an order that respects both maps', this one's first where that leaves a choice.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let threads = LinearMap::identity(2, Register, Axis(0)).times(&LinearMap::identity(3, Lane, Axis(0)));
    /// assert_eq!(threads.columns(), [1, 2, 4, 8, 16]);
    /// // Two vectors a thread, the second beyond all lanes.
    /// let twice = threads.times(&LinearMap::identity(1, Register, Axis(0)));
    /// assert_eq!(twice.columns(), [1, 2, 32, 4, 8, 16]);
    /// ```
    ///
    /// Invalid if the maps have two dimensions in different orders, or a side gets too many bits or dimensions.
    #[doc(alias = "direct_sum")]
    pub const fn times(&self, high: &LinearMap) -> LinearMap {
        if let Some(error) = self.fault_with(high) {
            return LinearMap::invalid(error);
        }
        let (ins, outs) = match (self.ins.sum(&high.ins), self.outs.sum(&high.outs)) {
            (Ok(ins), Ok(outs)) => (ins, outs),
            (Err(error), _) | (_, Err(error)) => return LinearMap::broken(error),
        };
        let (mut columns, bits) = (Columns::new(), ins.bits());
        while columns.count < bits {
            let (dim, bit) = ins.bit(columns.count);
            let own = self.ins.bits_of(dim);
            columns.push(if bit < own {
                self.outs.moved(self.column(dim, bit), &outs)
            } else {
                raised(high.column(dim, bit - own), &high.outs, &outs, &self.outs)
            });
        }
        columns.between(&ins, &outs)
    }

    /// The C with `low.times(C)` equal to this map. It has all dimensions of this map, those that `low` makes up
    /// entirely without bits.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Register, 3)], &[(Offset, 3)], &[1, 2, 4]);
    /// let rest = map.divide_left(&LinearMap::identity(2, Register, Offset));
    /// assert!(rest.equals(&LinearMap::identity(1, Register, Offset)));
    /// let swizzled = LinearMap::new(&[(Register, 3)], &[(Offset, 3)], &[1, 2, 5]);
    /// assert_eq!(
    ///     swizzled.divide_left(&LinearMap::identity(2, Register, Offset)).fault().unwrap().to_string(),
    ///     "the divisor is no factor: register bit 2 moves offset by 5 instead of 4"
    /// );
    /// ```
    ///
    /// Invalid if this map isn't such a product.
    pub const fn divide_left(&self, low: &LinearMap) -> LinearMap {
        self.divide(low, true)
    }

    /// The C with `C.times(high)` equal to this map. It has all dimensions of this map, those that `high` makes up
    /// entirely without bits.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Lane, 3)], &[(Axis(0), 2)], &[2, 1, 0]);
    /// assert_eq!(map.divide_right(&LinearMap::zeros(1, Lane, Axis(0), 0)).columns(), [2, 1]);
    /// ```
    ///
    /// Invalid if this map isn't such a product.
    pub const fn divide_right(&self, high: &LinearMap) -> LinearMap {
        self.divide(high, false)
    }

    const fn divide(&self, divisor: &LinearMap, left: bool) -> LinearMap {
        if let Some(error) = self.fault_with(divisor) {
            return LinearMap::invalid(error);
        }
        let (ins, outs) = match (rest(&self.ins, &divisor.ins), rest(&self.outs, &divisor.outs)) {
            (Ok(ins), Ok(outs)) => (ins, outs),
            (Err(error), _) | (_, Err(error)) => return LinearMap::broken(error),
        };
        // The order of the divisor's dimensions does not matter: it takes this map's.
        let divisor = divisor.onto(&divided(&self.ins, &ins), &divided(&self.outs, &outs));
        let (mut columns, bits) = (Columns::new(), ins.bits());
        while columns.count < bits {
            let (dim, bit) = ins.bit(columns.count);
            columns.push(if left {
                lowered(self.column(dim, bit + divisor.ins.bits_of(dim)), &self.outs, &outs, &divisor.outs)
            } else {
                self.outs.moved(self.column(dim, bit), &outs)
            });
        }
        let quotient = columns.between(&ins, &outs);
        let product = if left { divisor.times(&quotient) } else { quotient.times(&divisor) };
        match self.deviation(&product) {
            Some((bit, dim, is, wants)) => LinearMap::broken(MapError::NotDivisible { bit, dim, is, wants }),
            None => quotient,
        }
    }
}

/// The bits of each dimension that are left when the divisor's are taken off.
const fn rest(space: &Space, divisor: &Space) -> Result<Space, MapError> {
    let (mut rest, mut place) = (*space, 0);
    while place < divisor.dims().len() {
        let dim = divisor.dims()[place];
        let bits = divisor.bits_of(dim);
        if bits > space.bits_of(dim) {
            return Err(MapError::Narrow { dim, bits: bits as u8, most: space.bits_of(dim) as u8 });
        }
        if bits > 0 {
            rest = match rest.resized(dim, space.bits_of(dim) - bits) {
                Ok(rest) => rest,
                Err(error) => return Err(error),
            };
        }
        place += 1;
    }
    Ok(rest)
}

/// The bits of each dimension that were taken off.
const fn divided(space: &Space, rest: &Space) -> Space {
    let (mut divided, mut place) = (*space, 0);
    while place < space.dims().len() {
        let dim = space.dims()[place];
        if let Ok(resized) = divided.resized(dim, space.bits_of(dim) - rest.bits_of(dim)) {
            divided = resized;
        }
        place += 1;
    }
    divided
}

/// An index of one space in another, each coordinate above the bits of `below`.
pub(super) const fn raised(index: u32, from: &Space, to: &Space, below: &Space) -> u32 {
    let (mut result, mut place) = (0, 0);
    while place < from.dims().len() {
        let dim = from.dims()[place];
        result |= to.placed(dim, from.coordinate(index, dim).unbounded_shl(below.bits_of(dim) as u32));
        place += 1;
    }
    result
}

/// An index of one space in another, each coordinate without its lowest bits, as many as `below` has.
const fn lowered(index: u32, from: &Space, to: &Space, below: &Space) -> u32 {
    let (mut result, mut place) = (0, 0);
    while place < to.dims().len() {
        let dim = to.dims()[place];
        result |= to.placed(dim, from.coordinate(index, dim).unbounded_shr(below.bits_of(dim) as u32));
        place += 1;
    }
    result
}
