//! Other dimensions for the same bits: order, cuts and labels.
//!
//! None of these changes which bit goes where. An index has its dimensions side by side, so a reshape cuts the same
//! bits elsewhere and touches no column, while a transposition moves bits. Rows of 4 and columns of 2, `c c r`,
//! flattened and cut into 2 and 4 are `c cr`: axis 0 has the lowest bit of the columns alone.

use super::error::MapError;
use super::space::{Dim, Space};
use super::{Columns, LinearMap};

impl LinearMap {
    /// The input dimensions in another order. It matters to what the index is, hence to reshapes, and to nothing else.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Lane, 2), (Warp, 1)], &[(Axis(0), 3)], &[1, 2, 4]);
    /// assert_eq!(map.transpose_ins(&[Warp, Lane]).columns(), [4, 1, 2]);
    /// ```
    ///
    /// Invalid if `order` doesn't name each input dimension once.
    pub const fn transpose_ins(&self, order: &[Dim]) -> LinearMap {
        match self.ins.ordered(order) {
            Ok(ins) => self.onto(&ins, &self.outs),
            Err(error) => self.refused(error),
        }
    }

    /// The output dimensions in another order.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Lane, 2)], &[(Axis(0), 1), (Axis(1), 1)], &[0b01, 0b10]);
    /// assert_eq!(map.transpose_outs(&[Axis(1), Axis(0)]).columns(), [0b10, 0b01]);
    /// ```
    ///
    /// Invalid if `order` doesn't name each output dimension once.
    pub const fn transpose_outs(&self, order: &[Dim]) -> LinearMap {
        match self.outs.ordered(order) {
            Ok(outs) => self.onto(&self.ins, &outs),
            Err(error) => self.refused(error),
        }
    }

    /// The same input bits cut into other dimensions, from minor to major.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Lane, 2), (Warp, 1)], &[(Axis(0), 3)], &[1, 2, 4]);
    /// let threads = map.reshape_ins(&[(Offset, 3)]);
    /// assert_eq!(threads.apply(5), map.apply(map.ins().index(&[(Lane, 1), (Warp, 1)])));
    /// ```
    ///
    /// Invalid if the number of bits is another, or the dimensions are no [`Space`].
    pub const fn reshape_ins(&self, dims: &[(Dim, usize)]) -> LinearMap {
        match recut(&self.ins, dims) {
            Ok(ins) => LinearMap { ins, ..*self },
            Err(error) => self.refused(error),
        }
    }

    /// The same output bits cut into other dimensions, from minor to major.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::identity(3, Lane, Axis(0)).reshape_outs(&[(Axis(1), 1), (Axis(0), 2)]);
    /// assert_eq!((map.basis(Lane, 0, Axis(1)), map.basis(Lane, 2, Axis(0))), (1, 2));
    /// ```
    ///
    /// Invalid if the number of bits is another, or the dimensions are no [`Space`].
    pub const fn reshape_outs(&self, dims: &[(Dim, usize)]) -> LinearMap {
        match recut(&self.outs, dims) {
            Ok(outs) => LinearMap { outs, ..*self },
            Err(error) => self.refused(error),
        }
    }

    /// All input bits as one dimension, labelled as the first one; without dimensions nothing changes.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Lane, 2), (Warp, 1)], &[(Axis(0), 3)], &[1, 2, 4]);
    /// assert!(map.flatten_ins().equals(&LinearMap::identity(3, Lane, Axis(0))));
    /// ```
    pub const fn flatten_ins(&self) -> LinearMap {
        match self.ins.dims() {
            [] => *self,
            [first, ..] => self.reshape_ins(&[(*first, self.ins.bits())]),
        }
    }

    /// All output bits as one dimension, labelled as the first one; without dimensions nothing changes.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Lane, 3)], &[(Axis(1), 2), (Axis(0), 1)], &[1, 2, 4]);
    /// assert!(map.flatten_outs().equals(&LinearMap::identity(3, Lane, Axis(1))));
    /// ```
    pub const fn flatten_outs(&self) -> LinearMap {
        match self.outs.dims() {
            [] => *self,
            [first, ..] => self.reshape_outs(&[(*first, self.outs.bits())]),
        }
    }

    /// Without an input dimension that has no bits.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Lane, 1), (Block, 0)], &[(Axis(0), 1)], &[1]);
    /// assert!(map.squeeze_ins(Block).equals(&LinearMap::identity(1, Lane, Axis(0))));
    /// ```
    ///
    /// Invalid if there is no such dimension, or it has bits.
    pub const fn squeeze_ins(&self, dim: Dim) -> LinearMap {
        match squeezed(&self.ins, dim) {
            Ok(ins) => LinearMap { ins, ..*self },
            Err(error) => self.refused(error),
        }
    }

    /// Without an output dimension that has no bits.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Lane, 1)], &[(Axis(0), 1), (Axis(1), 0)], &[1]);
    /// assert!(map.squeeze_outs(Axis(1)).equals(&LinearMap::identity(1, Lane, Axis(0))));
    /// ```
    ///
    /// Invalid if there is no such dimension, or it has bits.
    pub const fn squeeze_outs(&self, dim: Dim) -> LinearMap {
        match squeezed(&self.outs, dim) {
            Ok(outs) => LinearMap { outs, ..*self },
            Err(error) => self.refused(error),
        }
    }

    /// Other labels for some input dimensions, as pairs of old and new, all changed at once.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Lane, 1), (Warp, 1)], &[(Axis(0), 2)], &[1, 2]);
    /// assert_eq!(map.rename_ins(&[(Lane, Warp), (Warp, Lane)]).column(Lane, 0), 2);
    /// ```
    ///
    /// Invalid if there is no dimension of an old label, or one occurs twice afterwards.
    pub const fn rename_ins(&self, renames: &[(Dim, Dim)]) -> LinearMap {
        match renamed(&self.ins, renames) {
            Ok(ins) => LinearMap { ins, ..*self },
            Err(error) => self.refused(error),
        }
    }

    /// Other labels for some output dimensions, as pairs of old and new, all changed at once.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::identity(3, Lane, Axis(0)).rename_outs(&[(Axis(0), Offset)]);
    /// assert!(map.equals(&LinearMap::identity(3, Lane, Offset)));
    /// ```
    ///
    /// Invalid if there is no dimension of an old label, or one occurs twice afterwards.
    pub const fn rename_outs(&self, renames: &[(Dim, Dim)]) -> LinearMap {
        match renamed(&self.outs, renames) {
            Ok(outs) => LinearMap { outs, ..*self },
            Err(error) => self.refused(error),
        }
    }

    /// Both maps on their own inputs, to the sum of their outputs: (x, y) ↦ this(x) ^ other(y). The inputs of `other`
    /// come after this one's.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let registers = LinearMap::new(&[(Register, 1)], &[(Axis(0), 2)], &[2]);
    /// let lanes = LinearMap::new(&[(Lane, 1)], &[(Axis(0), 2)], &[1]);
    /// assert_eq!(registers.concat_ins(&lanes).columns(), [2, 1]);
    /// ```
    ///
    /// Invalid if the outputs aren't the same, in the same order, or an input dimension is in both.
    pub const fn concat_ins(&self, other: &LinearMap) -> LinearMap {
        if let Some(error) = self.fault_with(other) {
            return LinearMap::invalid(error);
        }
        if let Some(error) = self.outs.difference(&other.outs) {
            return self.refused(error);
        }
        match self.ins.with_all(&other.ins, 0, other.ins.dims().len()) {
            Ok(ins) => {
                let mut columns = Columns::new();
                columns.extend(self.columns());
                columns.extend(other.columns());
                columns.between(&ins, &self.outs)
            }
            Err(error) => self.refused(error),
        }
    }

    /// Both maps on the same inputs, side by side: x ↦ (this(x), other(x)). The outputs of `other` come after this
    /// one's.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let row = LinearMap::new(&[(Lane, 2)], &[(Axis(0), 1)], &[1, 0]);
    /// let column = LinearMap::new(&[(Lane, 2)], &[(Axis(1), 1)], &[0, 1]);
    /// assert_eq!(row.concat_outs(&column).columns(), [0b01, 0b10]);
    /// ```
    ///
    /// Invalid if the inputs aren't the same, in the same order, or an output dimension is in both.
    pub const fn concat_outs(&self, other: &LinearMap) -> LinearMap {
        if let Some(error) = self.fault_with(other) {
            return LinearMap::invalid(error);
        }
        if let Some(error) = self.ins.difference(&other.ins) {
            return self.refused(error);
        }
        match self.outs.with_all(&other.outs, 0, other.outs.dims().len()) {
            Ok(outs) => {
                let (mut columns, shift) = (Columns::new(), self.outs.bits() as u32);
                while columns.count < self.ins.bits() {
                    let (low, high) = (self.columns()[columns.count], other.columns()[columns.count]);
                    columns.push(low | high.unbounded_shl(shift));
                }
                columns.between(&self.ins, &outs)
            }
            Err(error) => self.refused(error),
        }
    }

    /// An input dimension with another number of bits: new bits move nothing, so that what was there is held several
    /// times; the highest bits are dropped where there are fewer.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::identity(2, Lane, Axis(0));
    /// assert_eq!((map.resize_in(Lane, 3).columns(), map.resize_in(Lane, 1).columns()), (&[1, 2, 0][..], &[1][..]));
    /// ```
    ///
    /// Invalid if there is no such dimension, or there would be too many bits.
    pub const fn resize_in(&self, dim: Dim, bits: usize) -> LinearMap {
        match self.ins.resized(dim, bits) {
            Ok(ins) => self.onto(&ins, &self.outs),
            Err(error) => self.refused(error),
        }
    }

    /// An output dimension with fewer bits: a basis that moves beyond them becomes 0 along it.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Lane, 3)], &[(Axis(0), 3)], &[1, 4, 6]);
    /// assert_eq!(map.resize_out(Axis(0), 2).columns(), [1, 0, 0]);
    /// ```
    ///
    /// Invalid if there is no such dimension, or it has fewer bits already.
    pub const fn resize_out(&self, dim: Dim, bits: usize) -> LinearMap {
        let most = self.outs.bits_of(dim);
        if self.outs.has(dim) && bits > most {
            return self.refused(MapError::Narrow { dim, bits: clamped(bits), most: most as u8 });
        }
        let outs = match self.outs.resized(dim, bits) {
            Ok(outs) => outs,
            Err(error) => return self.refused(error),
        };
        let mut columns = Columns::new();
        while columns.count < self.ins.bits() {
            let column = self.columns()[columns.count];
            let beyond = self.outs.coordinate(column, dim).unbounded_shr(bits as u32) != 0;
            let kept = if beyond { column & !self.outs.mask(&[dim]) } else { column };
            columns.push(self.outs.moved(kept, &outs));
        }
        LinearMap { fault: self.fault, ..columns.between(&self.ins, &outs) }
    }
}

const fn clamped(bits: usize) -> u8 {
    if bits < 255 { bits as u8 } else { 255 }
}

const fn recut(space: &Space, dims: &[(Dim, usize)]) -> Result<Space, MapError> {
    match Space::new(dims) {
        Ok(cut) if cut.bits() != space.bits() => {
            Err(MapError::Reshape { from: space.bits() as u8, to: cut.bits() as u8 })
        }
        other => other,
    }
}

const fn squeezed(space: &Space, dim: Dim) -> Result<Space, MapError> {
    match (space.has(dim), space.bits_of(dim)) {
        (false, _) => Err(MapError::Missing { dim }),
        (true, 0) => Ok(space.only(&[dim], false)),
        (true, bits) => Err(MapError::Squeeze { dim, bits: bits as u8 }),
    }
}

const fn renamed(space: &Space, renames: &[(Dim, Dim)]) -> Result<Space, MapError> {
    let mut i = 0;
    while i < renames.len() {
        if !space.has(renames[i].0) {
            return Err(MapError::Missing { dim: renames[i].0 });
        }
        i += 1;
    }
    let (mut renamed, mut place) = (Space::EMPTY, 0);
    while place < space.dims().len() {
        let dim = space.dims()[place];
        renamed = match renamed.with(new_label(dim, renames), space.bits_of(dim)) {
            Ok(renamed) => renamed,
            Err(error) => return Err(error),
        };
        place += 1;
    }
    Ok(renamed)
}

const fn new_label(dim: Dim, renames: &[(Dim, Dim)]) -> Dim {
    let mut i = 0;
    while i < renames.len() {
        if renames[i].0.same(dim) {
            return renames[i].1;
        }
        i += 1;
    }
    dim
}
