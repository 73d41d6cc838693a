//! Parts of a map: blocks of its matrix, and what they say.
//!
//! A map is a matrix with a block for each pair of an input and an output dimension. That the block of lanes and row is
//! zero says that lanes stay in their row; that the only block of warps is the identity onto warps says that no element
//! leaves its warp. Conversions are planned by such questions: with the columns 2, 1 of lanes and 4 of the warp onto
//! lanes (two bits) and the warp, warps are untouched, and what is left is a shuffle by the columns 2, 1.

use super::error::{BitOf, MapError};
use super::space::Dim;
use super::{Columns, LinearMap};

impl LinearMap {
    /// The block of the matrix for these dimensions: other inputs are 0, other outputs omitted. Dimensions keep their
    /// order here and their sizes; labels that there aren't are ignored.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let bases: [(_, &[_]); 2] = [(Register, &[[1, 0]]), (Lane, &[[0, 2], [1, 1]])];
    /// let map = LinearMap::from_bases(&bases, [(Axis(0), 1), (Axis(1), 2)]);
    /// assert_eq!(map.sublayout(&[Lane], &[Axis(1)]).columns(), [2, 1]);
    /// ```
    pub const fn sublayout(&self, ins: &[Dim], outs: &[Dim]) -> LinearMap {
        self.onto(&self.ins.only(ins, true), &self.outs.only(outs, true))
    }

    /// Whether these inputs move none of these outputs.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::from_bases(&[(Register, &[[1, 0]]), (Lane, &[[0, 2]])], [(Axis(0), 1), (Axis(1), 2)]);
    /// assert!(map.sublayout_is_zero(&[Register], &[Axis(1)]) && !map.sublayout_is_zero(&[Register], &[Axis(0)]));
    /// ```
    pub const fn sublayout_is_zero(&self, ins: &[Dim], outs: &[Dim]) -> bool {
        let (rows, mut i) = (self.outs.mask(outs), 0);
        while i < self.ins.bits() {
            if self.ins.bit(i).0.is_in(ins) && self.columns()[i] & rows != 0 {
                return false;
            }
            i += 1;
        }
        self.fault.is_none()
    }

    /// Whether these dimensions, as inputs and as outputs, are the same and the block between them is the identity.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// // The warp stays, and moves the lane as well.
    /// let map = LinearMap::from_bases(&[(Lane, &[[1, 0]]), (Warp, &[[1, 1]])], [(Lane, 1), (Warp, 1)]);
    /// assert!(map.square_sublayout_is_identity(&[Warp]) && !map.square_sublayout_is_identity(&[Lane, Warp]));
    /// ```
    pub const fn square_sublayout_is_identity(&self, dims: &[Dim]) -> bool {
        let block = self.sublayout(dims, dims);
        let same = match block.outs.ordered(block.ins.dims()) {
            Ok(outs) => outs.equals(&block.ins),
            Err(_) => false,
        };
        same && block.onto(&block.ins, &block.ins).equals(&LinearMap::unchanging(&block.ins))
    }

    /// Whether the map is the identity on these dimensions, with no other input to them and no other output of them.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::from_bases(&[(Lane, &[[2, 0], [1, 0]]), (Warp, &[[0, 1]])], [(Lane, 2), (Warp, 1)]);
    /// assert!(map.is_trivial_over(&[Warp]) && !map.is_trivial_over(&[Lane]));
    /// ```
    pub const fn is_trivial_over(&self, dims: &[Dim]) -> bool {
        self.fault.is_none() && self.beyond_trivial(dims).is_none()
    }

    /// Whether an output dimension depends on the input dimension of its label alone, and is equal to it. Unlike with
    /// [`is_trivial_over`](LinearMap::is_trivial_over), that input may move other outputs too.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::from_bases(&[(Lane, &[[1, 0]]), (Block, &[[1, 1]])], [(Offset, 1), (Block, 1)]);
    /// assert!(map.is_identity_on_out_dim(Block) && !map.is_trivial_over(&[Block]));
    /// ```
    pub const fn is_identity_on_out_dim(&self, dim: Dim) -> bool {
        let outs = self.outs.only(&[dim], true);
        self.outs.has(dim) && self.onto(&self.ins, &outs).is_trivial_over(&[dim])
    }

    /// What is left without dimensions that the map is [trivial over](LinearMap::is_trivial_over).
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::from_bases(&[(Lane, &[[2, 0], [1, 0]]), (Warp, &[[0, 1]])], [(Lane, 2), (Warp, 1)]);
    /// assert_eq!(map.quotient(&[Warp]).columns(), [2, 1]);
    /// assert_eq!(
    ///     map.quotient(&[Lane]).fault().unwrap().to_string(),
    ///     "the map does more than keep these dimensions: lane bit 0 moves lane by 2 instead of 1"
    /// );
    /// ```
    ///
    /// Invalid if it isn't trivial over them.
    pub const fn quotient(&self, dims: &[Dim]) -> LinearMap {
        match self.beyond_trivial(dims) {
            Some(error) => self.refused(error),
            None => self.onto(&self.ins.only(dims, false), &self.outs.only(dims, false)),
        }
    }

    /// What keeps the map from being trivial over dimensions.
    const fn beyond_trivial(&self, dims: &[Dim]) -> Option<MapError> {
        let mut i = 0;
        while i < dims.len() {
            let (dim, left, right) = (dims[i], self.ins.bits_of(dims[i]), self.outs.bits_of(dims[i]));
            if !self.ins.has(dim) || !self.outs.has(dim) {
                return Some(MapError::Missing { dim });
            }
            if left != right {
                return Some(MapError::Unequal { dim, left: left as u8, right: right as u8 });
            }
            i += 1;
        }
        match self.deviation(&self.made_trivial(dims)) {
            Some((bit, dim, is, wants)) => Some(MapError::NotTrivial { bit, dim, is, wants }),
            None => None,
        }
    }

    /// This map, made trivial over dimensions.
    const fn made_trivial(&self, dims: &[Dim]) -> LinearMap {
        let (mut columns, rows) = (Columns::new(), self.outs.mask(dims));
        while columns.count < self.ins.bits() {
            let (dim, bit) = self.ins.bit(columns.count);
            let own = dim.is_in(dims);
            columns.push(if own { self.outs.placed(dim, 1 << bit) } else { self.columns()[columns.count] & !rows });
        }
        columns.between(&self.ins, &self.outs)
    }

    /// The bits of an output dimension that some of these inputs move.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Register, 1), (Lane, 2)], &[(Offset, 3)], &[0b100, 0b011, 0b001]);
    /// assert_eq!(map.output_mask(&[Lane], Offset), 0b011);
    /// ```
    pub const fn output_mask(&self, ins: &[Dim], output: Dim) -> u32 {
        let (mut mask, mut i) = (0, 0);
        while i < self.ins.bits() {
            if self.ins.bit(i).0.is_in(ins) {
                mask |= self.columns()[i];
            }
            i += 1;
        }
        self.outs.coordinate(mask, output)
    }

    /// The bits of an input dimension that move some of these outputs.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::from_bases(&[(Lane, &[[1, 0], [0, 0], [1, 1]])], [(Axis(0), 1), (Axis(1), 1)]);
    /// assert_eq!((map.input_mask(Lane, &[Axis(0)]), map.input_mask(Lane, &[Axis(1)])), (0b101, 0b100));
    /// ```
    pub const fn input_mask(&self, input: Dim, outs: &[Dim]) -> u32 {
        let (mut mask, rows, mut bit) = (0, self.outs.mask(outs), 0);
        while bit < self.ins.bits_of(input) {
            mask |= ((self.column(input, bit) & rows != 0) as u32) << bit;
            bit += 1;
        }
        mask
    }

    /// How many inputs from 0 on go to the outputs of the same numbers, in blocks that all else moves whole: 2^k where
    /// the first k bits of the first input dimension are the first k bits of the first output dimension and nothing
    /// else moves these.
    ///
    /// [`Layout::vector`](crate::Layout::vector) asks for the identity alone.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Register, 2), (Lane, 2)], &[(Offset, 4)], &[1, 2, 4, 8]);
    /// assert_eq!(map.num_consecutive_in_out(), 4);
    /// // A lane that moves by 10 = 8 + 2 breaks the blocks of 4.
    /// let map = LinearMap::new(&[(Register, 2), (Lane, 2)], &[(Offset, 4)], &[1, 2, 4, 10]);
    /// assert_eq!(map.num_consecutive_in_out(), 2);
    /// ```
    pub const fn num_consecutive_in_out(&self) -> usize {
        let ([input, ..], [output, ..]) = (self.ins.dims(), self.outs.dims()) else {
            return 1;
        };
        let (mut bits, mut others, mut i) = (0, 0, 0);
        let (ins, outs) = (self.ins.bits_of(*input), self.outs.bits_of(*output));
        while bits < ins && bits < outs && self.columns()[bits] == self.outs.placed(*output, 1 << bits) {
            bits += 1;
        }
        while i < self.ins.bits() {
            others |= if i < bits { 0 } else { self.outs.coordinate(self.columns()[i], *output) };
            i += 1;
        }
        let apart = others.trailing_zeros() as usize;
        1 << if bits < apart { bits } else { apart }
    }

    /// How many indices of an output dimension from 0 on occur among the outputs.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Lane, 3)], &[(Axis(0), 4)], &[2, 3, 8]);
    /// assert_eq!(map.contiguous_along(Axis(0)), 4);
    /// ```
    pub const fn contiguous_along(&self, output: Dim) -> usize {
        let (outs, mut bits) = (self.outs.only(&[output], true), 0);
        let span = self.onto(&self.ins, &outs).map.span();
        while bits < outs.bits() && span.contains(1 << bits) {
            bits += 1;
        }
        1 << bits
    }

    /// The largest identity from an input to an output dimension, of at most `most` bits, that [`divide_left`] takes
    /// off: its bits, and what is left.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Register, 3)], &[(Offset, 3)], &[1, 2, 4]);
    /// assert_eq!(map.identity_prefix(Register, Offset, 2).0, 2);
    /// assert_eq!(map.identity_prefix(Register, Offset, 2).1.columns(), [1]);
    /// ```
    ///
    /// [`divide_left`]: LinearMap::divide_left
    #[doc(alias = "factor_maximal_identity_prefix")]
    pub const fn identity_prefix(&self, input: Dim, output: Dim, most: usize) -> (usize, LinearMap) {
        let (ins, outs) = (self.ins.bits_of(input), self.outs.bits_of(output));
        let mut bits = if ins < outs { ins } else { outs };
        bits = if bits < most { bits } else { most };
        while bits > 0 {
            let rest = self.divide_left(&LinearMap::identity(bits, input, output));
            if rest.fault.is_none() {
                return (bits, rest);
            }
            bits -= 1;
        }
        (0, *self)
    }

    /// The map without a tile that it repeats: the columns of `tile`, which are the low ones of their dimensions here,
    /// are 0 in it, and the others move no output bit that the tile moves.
    ///
    /// Where [`divide_left`](LinearMap::divide_left) wants the tile's outputs to be the low bits, here they may have
    /// gaps: what lies in a gap is a repetition.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Register, 2), (Lane, 2)], &[(Axis(0), 4)], &[1, 4, 2, 8]);
    /// let tile = LinearMap::new(&[(Register, 1), (Lane, 2)], &[(Axis(0), 4)], &[1, 2, 8]);
    /// assert_eq!(map.repetitions(&tile).columns(), [0, 4, 0, 0]);
    /// ```
    ///
    /// Invalid if the tile isn't a part of the map, or shares output bits with the rest.
    #[doc(alias = "get_reps")]
    pub const fn repetitions(&self, tile: &LinearMap) -> LinearMap {
        if let Some(error) = self.fault_with(tile) {
            return LinearMap::invalid(error);
        }
        match (tile.ins.misfit(&self.ins), tile.outs.misfit(&self.outs)) {
            (None, None) => {}
            (Some(error), _) | (_, Some(error)) => return LinearMap::broken(error),
        }
        let (tile, used) = (tile.onto(&tile.ins, &self.outs), tile.onto(&tile.ins, &self.outs).union());
        let (mut columns, mut product) = (Columns::new(), Columns::new());
        while columns.count < self.ins.bits() {
            let (dim, bit) = self.ins.bit(columns.count);
            let (own, column) = (bit < tile.ins.bits_of(dim), self.columns()[columns.count]);
            columns.push(if own { 0 } else { column });
            product.push(if own { tile.column(dim, bit) } else { column & !used });
        }
        match self.deviation(&product.between(&self.ins, &self.outs)) {
            Some((bit, dim, is, wants)) => LinearMap::broken(MapError::NotDivisible { bit, dim, is, wants }),
            None => columns.between(&self.ins, &self.outs),
        }
    }

    /// The output bits that some input moves.
    const fn union(&self) -> u32 {
        let (mut union, mut i) = (0, 0);
        while i < self.ins.bits() {
            union |= self.columns()[i];
            i += 1;
        }
        union
    }

    /// The map of the same dimensions that is 0 everywhere.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// assert_eq!(LinearMap::identity(2, Lane, Axis(0)).zeros_like().columns(), [0, 0]);
    /// ```
    pub const fn zeros_like(&self) -> LinearMap {
        LinearMap { fault: self.fault, ..LinearMap::zero(&self.ins, &self.outs) }
    }

    /// The first basis that another map between the same spaces has otherwise: input bit, output dimension, here,
    /// there.
    pub(super) const fn deviation(&self, other: &LinearMap) -> Option<(BitOf, Dim, u32, u32)> {
        let mut i = 0;
        while i < self.ins.bits() {
            let (here, there) = (self.columns()[i], other.columns()[i]);
            if here != there {
                let dim = self.outs.bit((here ^ there).trailing_zeros() as usize).0;
                let (is, wants) = (self.outs.coordinate(here, dim), self.outs.coordinate(there, dim));
                return Some((BitOf::new(self.ins.bit(i)), dim, is, wants));
            }
            i += 1;
        }
        None
    }
}
