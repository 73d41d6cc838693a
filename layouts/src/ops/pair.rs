//! Pairs of elements: a new lowest bit of a coordinate, held by a thread's first register bit, and back.
//!
//! Joining `[8]` and `[8]` gives `[8, 2]` with element (i, 0) of the one and (i, 1) of the other. If a basis moved by 4 it
//! moves by (4, 0), and register bit 0 is new and moves by (0, 1): all of a pair stays in the thread that had its halves.
//! The same with the new bit in a dimension that there is doubles the dimension, as when a byte becomes two numbers.

use crate::error::{ElementOf, Error, PackedShape};
use crate::layout::{Builder, LANE_BITS, Layout};
use crate::shape::Shape;

impl Layout {
    /// The layout of what two tiles of this one give when joined: a new last dimension of extent 2, both of it in a
    /// thread's registers 2r and 2r + 1.
    ///
    /// ```
    /// use quadpair_layouts::blocked;
    /// let tile = blocked([8, 16], [1, 4], [8, 4], [1, 1], [1, 0]);
    /// let joined = tile.paired();
    /// assert_eq!(joined.apply(2 * 3 + 1, 5, 0), joined.shape().flat(&[1, 7, 1]));
    /// assert!(joined.unpaired().equals(&tile));
    /// ```
    ///
    /// Invalid if there are no more dimensions, elements or registers.
    pub const fn paired(&self) -> Layout {
        let rank = self.shape().rank();
        self.doubled_in(self.shape().with_dim(rank), rank)
    }

    /// The layout with dimension `axis` twice as long: the elements 2i and 2i + 1 are where element i was, in registers
    /// 2r and 2r + 1.
    ///
    /// Invalid if there is no such dimension.
    pub const fn doubled(&self, axis: usize) -> Layout {
        self.doubled_in(self.shape(), axis)
    }

    /// Doubles a dimension of a shape that has the same elements as this layout's.
    const fn doubled_in(&self, shape: Shape, axis: usize) -> Layout {
        let wide = match shape.fault() {
            None if axis < shape.rank() => shape.with_extent(axis, 2 * shape.extent(axis)),
            None => return self.failed(Error::Axis { axis, rank: shape.rank() }),
            Some(error) => return self.failed(error),
        };
        let low = shape.shift(axis);
        let mut builder = Builder::new(wide);
        builder.register(1 << low);
        let (mut lanes, mut i) = ([0; LANE_BITS], 0);
        while i < self.bits() {
            let basis = self.bases[i];
            // Everything from the dimension's own lowest bit on moves up.
            let moved = basis & ((1 << low) - 1) | basis >> low << (low + 1);
            if i < self.register_bits() {
                builder.register(moved);
            } else if i < self.register_bits() + LANE_BITS {
                lanes[i - self.register_bits()] = moved;
                if i + 1 == self.register_bits() + LANE_BITS {
                    builder.lanes(lanes);
                }
            } else {
                builder.warp(moved);
            }
            i += 1;
        }
        match self.fault() {
            Some(error) => self.failed(error),
            None => builder.finish(),
        }
    }

    /// The layout of each half of a tile whose last dimension has extent 2: without that dimension, and without the
    /// register bit that moves along it alone.
    ///
    /// Invalid if the last dimension isn't 2, or a thread doesn't hold both halves of each pair in two registers.
    pub const fn unpaired(&self) -> Layout {
        let (shape, rank) = (self.shape(), self.shape().rank());
        if rank == 0 || shape.extent(rank - 1) != 2 {
            return self.failed(Error::NoPairs { shape: PackedShape::of(&shape) });
        }
        let pair = match self.pair_bit() {
            Ok(bit) => bit,
            Err(error) => return self.failed(error),
        };
        let mut layout = Layout { shape: shape.without_dim(rank - 1), registers: self.registers - 1, ..*self };
        let mut i = 0;
        while i < layout.bits() {
            // Where another register moves along the pairs too, its elements are those with the pair's bit turned.
            layout.bases[i] = self.bases[if i < pair { i } else { i + 1 }] >> 1;
            i += 1;
        }
        layout.bases[i] = 0;
        layout
    }

    /// The register bit that moves along the last dimension, of extent 2, and nowhere else.
    const fn pair_bit(&self) -> Result<usize, Error> {
        let (mut pair, mut moving, mut i) = (None, None, self.bits());
        while i > 0 {
            i -= 1;
            let register = i < self.register_bits();
            if register && self.bases[i] == 1 {
                pair = Some(i);
            } else if self.bases[i] & 1 == 1 && (moving.is_none() || !register) {
                moving = Some((i, register));
            }
        }
        match (pair, moving) {
            (Some(pair), None | Some((_, true))) => Ok(pair),
            (_, Some((i, _))) => {
                let basis = ElementOf { element: self.bases[i], shape: PackedShape::of(&self.shape()) };
                Err(Error::PairInTwoThreads { bit: self.bit(i), basis })
            }
            (None, None) => Err(Error::NoPairs { shape: PackedShape::of(&self.shape()) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::layout::{Bit, Layout};
    use crate::named::{blocked, linear};

    fn tile() -> Layout {
        blocked([4, 8, 2], [1, 2, 2], [4, 4, 2], [2, 1, 1], [1, 2, 0])
    }

    #[test]
    fn both_of_a_pair_are_where_the_element_was() {
        let tile = tile();
        let (joined, doubled) = (tile.paired(), tile.doubled(1));
        for place in 0..tile.registers() * tile.threads() {
            let (r, l, w) = (place % tile.registers(), place / tile.registers() % 32, place / tile.registers() / 32);
            let at = [0, 1, 2].map(|dim| tile.shape().coordinate(tile.apply(r, l, w), dim));
            for half in [0, 1] {
                let own = joined.apply(2 * r + half, l, w);
                assert_eq!(own, joined.shape().flat(&[at[0], at[1], at[2], half]));
                let own = doubled.apply(2 * r + half, l, w);
                assert_eq!(own, doubled.shape().flat(&[at[0], 2 * at[1] + half, at[2]]));
            }
        }
        assert!(joined.unpaired().equals(&tile) && joined.check().is_ok() && doubled.check().is_ok());
        // Joining is doubling the last dimension under another name.
        assert!(joined.reshape([4, 8, 4]).equals(&tile.doubled(2)));
    }

    #[test]
    fn a_pair_may_be_in_any_register_bit_but_in_no_two_threads() {
        let lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]];
        let late = linear([64, 2], &[[32, 0], [0, 1]], &lanes, &[]);
        assert!(late.unpaired().equals(&linear([64], &[[32]], &lanes.map(|[row, _]| [row]), &[])));
        let crossed = linear([64, 2], &[[32, 1], [0, 1]], &lanes, &[]).unpaired();
        assert!(crossed.equals(&late.unpaired()));
        let apart = linear([32, 2], &[[16, 0]], &[[1, 0], [2, 0], [4, 0], [0, 1], [8, 0]], &[]).unpaired().fault();
        assert!(matches!(apart, Some(Error::PairInTwoThreads { bit: Bit::Lane(3), .. })));
        let mixed = linear([32, 2], &[[1, 1], [1, 0]], &[[2, 0], [4, 0], [8, 0], [16, 0], [0, 0]], &[]);
        assert!(matches!(mixed.unpaired().fault(), Some(Error::PairInTwoThreads { bit: Bit::Register(0), .. })));
        assert!(matches!(tile().reshape([8, 8]).unpaired().fault(), Some(Error::NoPairs { .. })));
        assert!(matches!(tile().doubled(3).fault(), Some(Error::Axis { axis: 3, rank: 3 })));
    }
}
