//! Maps after each other, and the equations that ask for one of them.
//!
//! All of it is one question: which X makes A ∘ X = B? Column by column, X has an input of A that gives B's column;
//! where A has several, the one in which bits that are sums of earlier ones are 0. With B the identity, X is a right
//! inverse of A. With A a layout of threads and B another, X sends each thread of B to the thread of A that has its
//! element.
//!
//! Take A with the columns 1, 2, 3 and B with the columns 3, 2: bit 2 of A's inputs is the sum of bits 0 and 1, hence
//! 0, and X has the columns `011`, `010`.

use super::error::{BitOf, MapError};
use super::space::{Dim, Space};
use super::{Columns, LinearMap};
use crate::error::Error;
use crate::f2::Map;

impl LinearMap {
    /// First this map, then `outer`: x ↦ outer(this(x)). The outputs of this are inputs of `outer`, in any order; a
    /// dimension may have fewer bits here than there.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let rows = LinearMap::strided(3, 2, Lane, Axis(0));
    /// let memory = LinearMap::new(&[(Axis(0), 5)], &[(Offset, 5)], &[16, 8, 4, 2, 1]);
    /// assert_eq!(rows.then(&memory).columns(), [4, 2, 1]);
    /// ```
    ///
    /// Invalid if the dimensions between them differ, or one has more bits here than there.
    #[doc(alias = "compose")]
    pub const fn then(&self, outer: &LinearMap) -> LinearMap {
        if let Some(error) = self.fault_with(outer) {
            return LinearMap::invalid(error);
        }
        if let Some(error) = self.outs.stranger(&outer.ins) {
            return LinearMap::broken(error);
        }
        let (inner, mut columns) = (self.onto(&self.ins, &outer.ins), Columns::new());
        while columns.count < self.ins.bits() {
            columns.push(outer.apply(inner.columns()[columns.count]));
        }
        columns.between(&self.ins, &outer.outs)
    }

    /// The map X from the inputs of `image` to those of this with `x.then(self)` equal to `image`; this is A of A ∘ X =
    /// B. Of several solutions it is the one in which input bits of A that are sums of earlier ones are 0.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let a = LinearMap::new(&[(Register, 3)], &[(Axis(0), 2)], &[1, 2, 3]);
    /// let b = LinearMap::new(&[(Lane, 2)], &[(Axis(0), 2)], &[3, 2]);
    /// let x = a.lstsq(&b);
    /// assert_eq!(x.columns(), [0b011, 0b010]);
    /// assert!(x.then(&a).equals(&b));
    /// ```
    ///
    /// Invalid if the outputs of `image` aren't those of this (in any order, with as many bits or fewer), or if one of
    /// its columns is the image of nothing.
    #[doc(alias = "least_squares")]
    pub const fn lstsq(&self, image: &LinearMap) -> LinearMap {
        let image = match self.with_same_outs(image) {
            Ok(image) => image,
            Err(error) => return LinearMap::invalid(error),
        };
        match self.map.lift(&image.map) {
            Ok(map) => LinearMap { map, ins: image.ins, outs: self.ins, fault: None },
            Err(column) => LinearMap::broken(MapError::Unsolvable { bit: BitOf::new(image.ins.bit(column)) }),
        }
    }

    /// First this, then the inverse of `outer`, or what comes close: the X with `x.then(outer)` equal to this, from the
    /// inputs of this to those of `outer`.
    ///
    /// It differs from [`lstsq`](LinearMap::lstsq) where there is a choice: an input dimension that both maps have with
    /// the same columns is sent to itself, if no other dimension of either moves the same output bits. So lanes that
    /// hold the same in both stay as they are, duplicates among them.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// // At which offset does a lane find its element? Two warps have the same, and so have two parts of memory.
    /// let lanes = LinearMap::from_bases(&[(Lane, &[[2], [1]]), (Warp, &[[0]])], [(Axis(0), 2)]);
    /// let memory = LinearMap::from_bases(&[(Offset, &[[1], [3]]), (Warp, &[[0]])], [(Axis(0), 2)]);
    /// assert_eq!(lanes.invert_and_compose(&memory).columns(), [0b0_11, 0b0_01, 0b1_00]);
    /// assert_eq!(memory.lstsq(&lanes).columns(), [0b0_11, 0b0_01, 0]);
    /// ```
    ///
    /// Invalid as `lstsq` is.
    pub const fn invert_and_compose(&self, outer: &LinearMap) -> LinearMap {
        let any = outer.lstsq(self);
        if any.fault.is_some() {
            return any;
        }
        let (image, mut columns) = (self.onto(&self.ins, &outer.outs), Columns::new());
        while columns.count < self.ins.bits() {
            let (dim, bit) = self.ins.bit(columns.count);
            let stays = image.agrees_on(outer, dim) && image.moved_apart(dim) && outer.moved_apart(dim);
            columns.push(if stays { outer.ins.placed(dim, 1 << bit) } else { any.columns()[columns.count] });
        }
        columns.between(&self.ins, &outer.ins)
    }

    /// [`invert_and_compose`](LinearMap::invert_and_compose), but a bit of one of these dimensions that moves by the
    /// same in both maps is sent to itself, whatever others move: so what may stay in its thread does.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// // The upper of two warp bits moves nothing; the lower moves what lanes move.
    /// let from = LinearMap::from_bases(&[(Lane, &[[2], [1]]), (Warp, &[[1], [0]])], [(Axis(0), 2)]);
    /// let to = LinearMap::from_bases(&[(Lane, &[[1], [2]]), (Warp, &[[2], [0]])], [(Axis(0), 2)]);
    /// assert_eq!(from.invert_and_compose(&to).columns(), [0b00_10, 0b00_01, 0b00_01, 0]);
    /// assert_eq!(from.invert_and_compose_local(&to, &[Warp]).columns(), [0b00_10, 0b00_01, 0b00_01, 0b10_00]);
    /// ```
    ///
    /// Invalid as `lstsq` is.
    pub const fn invert_and_compose_local(&self, outer: &LinearMap, dims: &[Dim]) -> LinearMap {
        let any = self.invert_and_compose(outer);
        if any.fault.is_some() {
            return any;
        }
        let (image, mut columns) = (self.onto(&self.ins, &outer.outs), Columns::new());
        while columns.count < self.ins.bits() {
            let (dim, bit) = self.ins.bit(columns.count);
            let both = dim.is_in(dims) && bit < outer.ins.bits_of(dim);
            let stays = both && image.columns()[columns.count] == outer.column(dim, bit);
            columns.push(if stays { outer.ins.placed(dim, 1 << bit) } else { any.columns()[columns.count] });
        }
        columns.between(&self.ins, &outer.ins)
    }

    /// The map that undoes this one and is undone by it.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let swizzle = LinearMap::new(&[(Offset, 2)], &[(Axis(0), 2)], &[0b01, 0b11]);
    /// assert!(swizzle.invert().then(&swizzle).equals(&LinearMap::identity(2, Axis(0), Axis(0))));
    /// ```
    ///
    /// Invalid unless this is invertible.
    pub const fn invert(&self) -> LinearMap {
        let free = self.free_variable_mask();
        if free != 0 {
            let bit = BitOf::new(self.ins.bit(free.trailing_zeros() as usize));
            return self.refused(MapError::Free { bit });
        }
        self.pseudoinvert()
    }

    /// A right inverse: first it, then this map changes nothing. Of the inputs that give an output it takes the one in
    /// which bits that are sums of earlier ones are 0, but for dimensions that are labelled as an output and move only
    /// that, identically: these go to themselves.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::from_bases(&[(Register, &[[1], [1]]), (Lane, &[[2]])], [(Axis(0), 2)]);
    /// assert_eq!(map.pseudoinvert().columns(), [0b001, 0b100]);
    /// ```
    ///
    /// Invalid unless this is surjective.
    pub const fn pseudoinvert(&self) -> LinearMap {
        if self.fault.is_some() {
            return *self;
        }
        let inverse = LinearMap::unchanging(&self.outs).invert_and_compose(self);
        match inverse.fault {
            Some(Error::Map(MapError::Unsolvable { bit })) => LinearMap::broken(MapError::Unreached { bit }),
            _ => inverse,
        }
    }

    /// The input bits that are sums of earlier ones, as an index of the inputs: they can change without a new output.
    ///
    /// [`Layout::free_lanes`](crate::Layout::free_lanes) counts from the warps down instead, since of several holders
    /// of an element the one in the lowest warp shall act.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::from_bases(&[(Register, &[[1], [0]]), (Lane, &[[1], [2]])], [(Axis(0), 2)]);
    /// let free = map.free_variable_mask();
    /// assert_eq!((map.ins().coordinate(free, Register), map.ins().coordinate(free, Lane)), (0b10, 0b01));
    /// ```
    pub const fn free_variable_mask(&self) -> u32 {
        // Each map of the kernel has one input that is a sum of earlier ones, its highest.
        let (kernel, mut free, mut i) = (self.map.kernel(), 0, 0);
        while i < kernel.inputs() {
            free |= 1 << (31 - kernel.columns()[i].leading_zeros());
            i += 1;
        }
        free
    }

    /// The map of a space to itself that changes nothing.
    pub const fn unchanging(space: &Space) -> LinearMap {
        LinearMap { map: Map::identity(space.bits()), ins: *space, outs: *space, fault: None }
    }

    /// `image` with the outputs of this map, in its order.
    const fn with_same_outs(&self, image: &LinearMap) -> Result<LinearMap, Error> {
        if let Some(error) = self.fault_with(image) {
            return Err(error);
        }
        match image.outs.stranger(&self.outs) {
            Some(error) => Err(Error::Map(error)),
            None => Ok(image.onto(&image.ins, &self.outs)),
        }
    }

    /// Whether both maps have an input dimension, with the same columns.
    const fn agrees_on(&self, other: &LinearMap, dim: Dim) -> bool {
        let bits = self.ins.bits_of(dim);
        let mut same = other.ins.has(dim) && other.ins.bits_of(dim) == bits;
        let mut bit = 0;
        while same && bit < bits {
            same = self.column(dim, bit) == other.column(dim, bit);
            bit += 1;
        }
        same
    }

    /// Whether no other input dimension moves an output bit that this one moves.
    const fn moved_apart(&self, dim: Dim) -> bool {
        let (mut own, mut others, mut i) = (0, 0, 0);
        while i < self.ins.bits() {
            if self.ins.bit(i).0.same(dim) {
                own |= self.columns()[i];
            } else {
                others |= self.columns()[i];
            }
            i += 1;
        }
        own & others == 0
    }
}
