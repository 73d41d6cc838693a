//! Column actions: the columns of one input dimension taken in another order, some of them dropped.
//!
//! What an action does to a map it does to registers too: if column i of the result is column `columns[i]` of the map,
//! then register r of the result is the register whose bit `columns[i]` is bit i of r, for all i. The action `[2, 0,
//! 1]` takes the columns 1, 2, 4 to 4, 1, 2, and register 3 = `011` of the result is register `101` = 5.

use super::error::MapError;
use super::space::{Dim, MAX_SPACE_BITS};
use super::{Columns, LinearMap};
use crate::error::Error;

/// Columns of an input dimension in another order, each at most once.
///
/// ```
/// use quadpair_layouts::{ColumnAction, Dim::*, LinearMap};
/// const ACTION: ColumnAction = ColumnAction::new(Register, &[2, 0, 1], 3);
/// assert_eq!(ACTION.apply(&LinearMap::identity(3, Register, Axis(0))).columns(), [4, 1, 2]);
/// let registers = ["x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7"];
/// let moved: Vec<&str> = (0..ACTION.registers()).map(|register| registers[ACTION.source(register)]).collect();
/// assert_eq!(moved, ["x0", "x4", "x1", "x5", "x2", "x6", "x3", "x7"]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnAction {
    dim: Dim,
    columns: [u8; MAX_SPACE_BITS],
    kept: u8,
    bits: u8,
    fault: Option<Error>,
}

impl ColumnAction {
    /// The action on a dimension of `bits` bits that takes these columns.
    ///
    /// Invalid if there are more than [`MAX_SPACE_BITS`] bits, or a column isn't there or is taken twice.
    pub const fn new(dim: Dim, columns: &[usize], bits: usize) -> ColumnAction {
        let mut action = ColumnAction::dropping_all(dim, bits);
        let mut i = 0;
        while i < columns.len() {
            action.take(columns[i]);
            i += 1;
        }
        action
    }

    /// The action that changes nothing.
    pub const fn identity(dim: Dim, bits: usize) -> ColumnAction {
        let mut action = ColumnAction::dropping_all(dim, bits);
        while action.fault.is_none() && (action.kept as usize) < bits {
            action.take(action.kept as usize);
        }
        action
    }

    const fn dropping_all(dim: Dim, bits: usize) -> ColumnAction {
        let action = ColumnAction { dim, columns: [0; MAX_SPACE_BITS], kept: 0, bits: 0, fault: None };
        if bits > MAX_SPACE_BITS {
            return action.refused(MapError::TooManyBits { bits });
        }
        ColumnAction { bits: bits as u8, ..action }
    }

    const fn refused(self, error: MapError) -> ColumnAction {
        let first = match self.fault {
            Some(first) => first,
            None => Error::Map(error),
        };
        ColumnAction { fault: Some(first), ..self }
    }

    /// Takes one more column.
    const fn take(&mut self, column: usize) {
        if column >= self.bits as usize {
            let column = if column < 255 { column as u8 } else { 255 };
            *self = self.refused(MapError::Column { column, bits: self.bits });
        } else if self.takes(column) {
            *self = self.refused(MapError::RepeatedColumn { column: column as u8 });
        } else {
            self.columns[self.kept as usize] = column as u8;
            self.kept += 1;
        }
    }

    const fn takes(&self, column: usize) -> bool {
        let mut i = 0;
        while i < self.kept as usize {
            if self.columns[i] as usize == column {
                return true;
            }
            i += 1;
        }
        false
    }

    /// The action, or what is wrong with it.
    pub const fn check(self) -> Result<ColumnAction, Error> {
        match self.fault {
            None => Ok(self),
            Some(error) => Err(error),
        }
    }

    /// What is wrong with it, if anything.
    pub const fn fault(&self) -> Option<Error> {
        self.fault
    }

    /// The dimension that it acts on.
    pub const fn dim(&self) -> Dim {
        self.dim
    }

    /// For each column of the result, which one it is of the map.
    pub const fn columns(&self) -> &[u8] {
        self.columns.split_at(self.kept as usize).0
    }

    /// Columns of the map that it acts on.
    pub const fn bits(&self) -> usize {
        self.bits as usize
    }

    /// Registers that are left.
    pub const fn registers(&self) -> usize {
        1 << self.kept
    }

    /// Whether it changes nothing.
    pub const fn is_identity(&self) -> bool {
        let mut i = 0;
        while i < self.kept as usize {
            if self.columns[i] as usize != i {
                return false;
            }
            i += 1;
        }
        self.kept == self.bits && self.fault.is_none()
    }

    /// The register that is register `register` of the result; bits of dropped columns are 0 in it.
    pub const fn source(&self, register: usize) -> usize {
        let (mut source, mut i) = (0, 0);
        while i < self.kept as usize {
            source |= (register >> i & 1) << self.columns[i];
            i += 1;
        }
        source
    }

    /// The register of the result that stands for a register, whose bits of dropped columns don't count: so values that
    /// the action has thinned out are repeated.
    ///
    /// ```
    /// use quadpair_layouts::{ColumnAction, Dim::*};
    /// let action = ColumnAction::new(Register, &[1], 2);
    /// let kept: Vec<usize> = (0..2).map(|register| action.source(register)).collect();
    /// let again: Vec<usize> = (0..4).map(|register| kept[action.target(register)]).collect();
    /// assert_eq!((kept, again), (vec![0, 2], vec![0, 0, 2, 2]));
    /// ```
    #[doc(alias = "broadcast_as")]
    pub const fn target(&self, register: usize) -> usize {
        let (mut target, mut i) = (0, 0);
        while i < self.kept as usize {
            target |= (register >> self.columns[i] & 1) << i;
            i += 1;
        }
        target
    }

    /// A map with the columns of the dimension so.
    ///
    /// Invalid if the dimension has another number of bits there.
    pub const fn apply(&self, map: &LinearMap) -> LinearMap {
        if let Some(error) = map.fault {
            return LinearMap::invalid(error);
        }
        if let Some(error) = self.fault {
            return LinearMap::invalid(error);
        }
        let (dim, left, right) = (self.dim, self.bits, map.ins.bits_of(self.dim) as u8);
        if left != right {
            return LinearMap::broken(MapError::Unequal { dim, left, right });
        }
        if !map.ins.has(dim) {
            return *map;
        }
        let ins = match map.ins.resized(dim, self.kept as usize) {
            Ok(ins) => ins,
            Err(error) => return LinearMap::broken(error),
        };
        let mut columns = Columns::new();
        while columns.count < ins.bits() {
            let (other, bit) = ins.bit(columns.count);
            columns.push(map.column(other, if other.same(dim) { self.columns[bit] as usize } else { bit }));
        }
        columns.between(&ins, &map.outs)
    }

    /// The action that undoes this one.
    ///
    /// Invalid if this one drops columns.
    pub const fn inverse(&self) -> ColumnAction {
        if self.kept != self.bits {
            return self.refused(MapError::Drops { columns: self.kept, bits: self.bits });
        }
        let (mut inverse, mut i) = (*self, 0);
        while i < self.kept as usize {
            inverse.columns[self.columns[i] as usize] = i as u8;
            i += 1;
        }
        inverse
    }

    /// First `first`, then this, as one action: `a.after(&b).apply(map)` is `a.apply(&b.apply(map))`.
    ///
    /// Invalid if this doesn't act on what `first` leaves.
    #[doc(alias = "left_compose")]
    pub const fn after(&self, first: &ColumnAction) -> ColumnAction {
        let mut both = *first;
        if let Some(error) = self.fault
            && both.fault.is_none()
        {
            both.fault = Some(error);
        }
        if !self.dim.same(first.dim) {
            return both.refused(MapError::Unshared { dim: self.dim });
        }
        if self.bits != first.kept {
            return both.refused(MapError::Unequal { dim: self.dim, left: self.bits, right: first.kept });
        }
        let mut i = 0;
        while i < self.kept as usize {
            both.columns[i] = first.columns[self.columns[i] as usize];
            i += 1;
        }
        ColumnAction { kept: self.kept, ..both.without_rest() }
    }

    /// Unused places are 0, so that equal actions are equal values.
    const fn without_rest(mut self) -> ColumnAction {
        let mut i = self.kept as usize;
        while i < MAX_SPACE_BITS {
            self.columns[i] = 0;
            i += 1;
        }
        self
    }
}

/// Registers whose offsets may be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdditiveStrides {
    /// The registers' columns, the additive ones first.
    pub action: ColumnAction,
    /// How many are additive.
    pub additive: usize,
}

impl LinearMap {
    /// The action that drops the columns of a dimension that move nothing.
    pub const fn dropping_zeros(&self, dim: Dim) -> ColumnAction {
        let (mut action, mut bit) = (ColumnAction::dropping_all(dim, self.ins.bits_of(dim)), 0);
        while bit < self.ins.bits_of(dim) {
            if self.column(dim, bit) != 0 {
                action.take(bit);
            }
            bit += 1;
        }
        action
    }

    /// Without the columns of a dimension that move nothing. [`Layout::compact`](crate::Layout::compact) does so with
    /// registers.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Register, 3), (Lane, 1)], &[(Axis(0), 2)], &[1, 0, 2, 0]);
    /// assert_eq!(map.remove_zero_bases(Register).columns(), [1, 2, 0]);
    /// ```
    pub const fn remove_zero_bases(&self, dim: Dim) -> LinearMap {
        if self.ins.has(dim) { self.dropping_zeros(dim).apply(self) } else { *self }
    }

    /// The order of registers that lets [`divide_left`](LinearMap::divide_left) take `low` off, if one does: those of
    /// the divisor first, the others as they were.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Register, 3)], &[(Offset, 3)], &[4, 1, 2]);
    /// let vector = LinearMap::identity(2, Register, Offset);
    /// let order = map.register_order_left(&vector);
    /// assert_eq!(order.columns(), [1, 2, 0]);
    /// assert_eq!(order.apply(&map).divide_left(&vector).columns(), [1]);
    /// ```
    ///
    /// Invalid if a column of the divisor's registers isn't here.
    #[doc(alias = "reg_perm_for_divide")]
    pub const fn register_order_left(&self, low: &LinearMap) -> ColumnAction {
        let wanted = low.onto(&low.ins, &self.outs);
        let (mut action, rest) = (self.taking(&wanted), self.ins.bits_of(Dim::Register));
        let mut bit = 0;
        while action.fault.is_none() && bit < rest {
            if !action.takes(bit) {
                action.take(bit);
            }
            bit += 1;
        }
        action
    }

    /// The order of registers that lets [`divide_right`](LinearMap::divide_right) take `high` off, if one does: those
    /// of the divisor last, the others as they were.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Register, 3)], &[(Offset, 3)], &[4, 1, 2]);
    /// assert_eq!(map.register_order_right(&LinearMap::identity(1, Register, Offset)).columns(), [1, 2, 0]);
    /// ```
    ///
    /// Invalid if a column of the divisor's registers isn't here.
    pub const fn register_order_right(&self, high: &LinearMap) -> ColumnAction {
        let last = self.taking(&high.topmost(&self.outs));
        let (mut action, mut bit) = (ColumnAction::dropping_all(Dim::Register, last.bits()), 0);
        while bit < last.bits() {
            if !last.takes(bit) {
                action.take(bit);
            }
            bit += 1;
        }
        bit = 0;
        while bit < last.kept as usize {
            action.take(last.columns[bit] as usize);
            bit += 1;
        }
        ColumnAction { fault: last.fault, ..action }
    }

    /// The action that takes the registers which move as those of another map do, in its order.
    const fn taking(&self, wanted: &LinearMap) -> ColumnAction {
        let mut action = ColumnAction::dropping_all(Dim::Register, self.ins.bits_of(Dim::Register));
        if let Some(error) = self.fault_with(wanted) {
            action.fault = Some(error);
        }
        let mut bit = 0;
        while bit < wanted.ins.bits_of(Dim::Register) {
            let (mut i, column) = (0, wanted.column(Dim::Register, bit));
            while i < action.bits() && (action.takes(i) || self.column(Dim::Register, i) != column) {
                i += 1;
            }
            if i == action.bits() {
                let bit = super::BitOf::new((Dim::Register, bit));
                return action.refused(MapError::Unsolvable { bit });
            }
            action.take(i);
            bit += 1;
        }
        action
    }

    /// The widest access that registers make of elements side by side: the order of registers that puts it first, and
    /// its bits, at most `most`. This is a map from register and others to the offset.
    ///
    /// [`banks::load`](crate::banks::load) says the same of a tile in a layout and a view of shared memory, with the
    /// access's cost.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let map = LinearMap::new(&[(Register, 3), (Lane, 1)], &[(Offset, 4)], &[8, 2, 1, 4]);
    /// let (order, bits) = map.largest_vectorisation(Offset, 3);
    /// assert_eq!((order.columns(), bits), (&[2, 1, 0][..], 2));
    /// ```
    pub const fn largest_vectorisation(&self, memory: Dim, most: usize) -> (ColumnAction, usize) {
        let (registers, offsets) = (self.ins.bits_of(Dim::Register), self.outs.bits_of(memory));
        let mut bits = if registers < offsets { registers } else { offsets };
        bits = if bits < most { bits } else { most };
        while bits > 0 {
            let vector = LinearMap::identity(bits, Dim::Register, memory);
            let order = self.register_order_left(&vector);
            if order.fault.is_none() && order.apply(self).divide_left(&vector).fault.is_none() {
                return (order, bits);
            }
            bits -= 1;
        }
        (ColumnAction::identity(Dim::Register, registers), 0)
    }

    /// Which registers' offsets may be added instead of XORed, so that they become the constants of instructions: those
    /// that share no bit with other inputs, with registers that must be XORed, or with `taken`, the bits of what else
    /// is XORed in.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let columns = [0b1000, 0b0011, 0b0100, 0b0001, 0b0010];
    /// let map = LinearMap::new(&[(Register, 3), (Lane, 2)], &[(Offset, 4)], &columns);
    /// let strides = map.additive_strides(0);
    /// assert_eq!((strides.action.columns(), strides.additive), (&[0, 2, 1][..], 2));
    /// assert_eq!(map.additive_strides(0b1000).additive, 1);
    /// ```
    pub const fn additive_strides(&self, taken: u32) -> AdditiveStrides {
        let bits = self.ins.bits_of(Dim::Register);
        let (mut xored, mut apart) = (self.moved_by_others(Dim::Register) | taken, 0_u32);
        // A register that is XORed makes others so, until nothing changes.
        let mut rounds = 0;
        while rounds <= bits {
            let mut bit = 0;
            while bit < bits {
                let column = self.column(Dim::Register, bit);
                if column & xored != 0 {
                    xored |= column;
                    apart |= 1 << bit;
                }
                bit += 1;
            }
            rounds += 1;
        }
        let mut action = ColumnAction::dropping_all(Dim::Register, bits);
        take_where(&mut action, !apart);
        let additive = action.kept as usize;
        take_where(&mut action, apart);
        AdditiveStrides { action, additive }
    }

    /// The output bits that other input dimensions move.
    const fn moved_by_others(&self, dim: Dim) -> u32 {
        let (mut moved, mut i) = (0, 0);
        while i < self.ins.bits() {
            moved |= if self.ins.bit(i).0.same(dim) { 0 } else { self.columns()[i] };
            i += 1;
        }
        moved
    }

    /// This map with its outputs at the top of another space.
    const fn topmost(&self, outs: &super::Space) -> LinearMap {
        let (mut columns, mut below) = (Columns::new(), *outs);
        let mut place = 0;
        while place < outs.dims().len() {
            let dim = outs.dims()[place];
            if let Ok(rest) = below.resized(dim, outs.bits_of(dim).saturating_sub(self.outs.bits_of(dim))) {
                below = rest;
            }
            place += 1;
        }
        while columns.count < self.ins.bits() {
            columns.push(super::products::raised(self.columns()[columns.count], &self.outs, outs, &below));
        }
        LinearMap { fault: self.fault, ..columns.between(&self.ins, outs) }
    }
}

/// Takes the columns of a mask, from the lowest.
const fn take_where(action: &mut ColumnAction, mask: u32) {
    let mut bit = 0;
    while bit < action.bits() {
        if mask >> bit & 1 == 1 {
            action.take(bit);
        }
        bit += 1;
    }
}
