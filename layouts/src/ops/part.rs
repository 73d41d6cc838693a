//! Parts of a tile along a dimension, taken in each thread's own registers.

use crate::error::{ElementOf, Error, PackedShape};
use crate::layout::{Builder, LANE_BITS, Layout};

impl Layout {
    /// The layout of `length` indices of dimension `dim` from `start` on, each where it was: a thread keeps the registers
    /// that hold them.
    ///
    /// ```
    /// use quadpair_layouts::{Mma, Quadpairs};
    /// const UNIT: Mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]);
    /// assert!(UNIT.a([64, 32]).part(1, 16, 8).equals(&UNIT.a([64, 8])));
    /// // Its rows are divided among warps, so a slice of them would leave most threads with nothing.
    /// assert!(UNIT.a([64, 32]).part(0, 0, 16).fault().is_some());
    /// ```
    ///
    /// Invalid if they aren't inside the extent, the length is no power of two that divides the start, or a lane, a warp,
    /// or a register that moves along something else too, moves out of the part.
    pub const fn part(&self, dim: usize, start: usize, length: usize) -> Layout {
        if let Some(error) = self.fault() {
            return self.failed(error);
        }
        if let Some(error) = self.shape().slice_fault(dim, start, length) {
            return self.failed(error);
        }
        let mut part = Builder::new(self.shape().with_extent(dim, length));
        let (mut lanes, mut i) = ([0; LANE_BITS], 0);
        while i < self.bits() {
            let (basis, register) = (self.bases[i], i < self.register_bits());
            let inside = self.inside(basis, dim, length);
            let leaves = self.shape().coordinate(basis, dim) >= length;
            if leaves && !(register && inside == 0) {
                let basis = ElementOf { element: basis, shape: PackedShape::of(&self.shape()) };
                return self.failed(Error::PartOfThreads { dim, length, bit: self.bit(i), basis });
            }
            if register && !leaves {
                part.register(inside);
            } else if !register && i < self.register_bits() + LANE_BITS {
                lanes[i - self.register_bits()] = inside;
            } else if !register {
                part.warp(inside);
            }
            i += 1;
            if i == self.register_bits() + LANE_BITS {
                part.lanes(lanes);
            }
        }
        part.finish()
    }

    /// What a basis moves by in a part of `length` of dimension `dim`.
    const fn inside(&self, basis: u32, dim: usize, length: usize) -> u32 {
        let (shape, low) = (self.shape(), self.shape().shift(dim));
        let kept = (shape.coordinate(basis, dim) & (length - 1)) as u32;
        let above = basis >> (low + shape.dim_bits(dim));
        basis & ((1 << low) - 1) | kept << low | above << (low + length.trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::layout::Bit;
    use crate::mma::{Mma, Quadpairs};
    use crate::named::blocked;

    #[test]
    fn a_part_holds_what_the_whole_holds_there() {
        let whole = blocked([16, 64], [1, 4], [8, 4], [2, 1], [1, 0]);
        let part = whole.part(1, 48, 16).check().unwrap();
        for place in 0..part.registers() * part.threads() {
            let (r, l, w) = (place % part.registers(), place / part.registers() % 32, place / part.registers() / 32);
            let element = part.apply(r, l, w);
            let [row, column] = [0, 1].map(|dim| part.shape().coordinate(element, dim));
            let held = (0..whole.registers()).any(|r| whole.apply(r, l, w) == whole.shape().flat(&[row, column + 48]));
            assert!(held, "({row}, {column}) in lane {l} of warp {w}");
        }
    }

    #[test]
    fn threads_that_divide_the_dimension_are_named() {
        let whole = blocked([16, 64], [1, 4], [8, 4], [2, 1], [1, 0]);
        assert!(matches!(whole.part(1, 0, 8).fault(), Some(Error::PartOfThreads { bit: Bit::Lane(1), .. })));
        assert!(matches!(whole.part(1, 8, 16).fault(), Some(Error::SliceStart { .. })));
        assert!(matches!(whole.part(2, 0, 16).fault(), Some(Error::Axis { .. })));
        let staggered = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]).staggered().a([64, 32]);
        assert!(staggered.part(1, 16, 16).check().is_ok() && staggered.part(1, 0, 8).fault().is_some());
    }
}
