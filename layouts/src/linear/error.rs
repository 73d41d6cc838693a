//! What can be wrong with a labelled map, as data, and its words.

use super::space::{Dim, MAX_BITS, MAX_DIMS};
use crate::text::Text;

/// A bit of an input or output dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BitOf {
    /// The dimension.
    pub dim: Dim,
    /// The bit, from the lowest.
    pub bit: u8,
}

impl BitOf {
    pub(crate) const fn new((dim, bit): (Dim, usize)) -> BitOf {
        BitOf { dim, bit: bit as u8 }
    }

    const fn write(self, text: Text) -> Text {
        self.dim.write(text).push(" bit ").number(self.bit as usize)
    }
}

/// What is wrong with a labelled map or an operation on some.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum MapError {
    /// A side with more dimensions than are possible.
    TooManyDims,
    /// A side with more bits than are possible.
    TooManyBits { bits: usize },
    /// A label that occurs twice.
    Repeated { dim: Dim },
    /// A label that a side lacks.
    Missing { dim: Dim },
    /// A dimension that an order doesn't name.
    Unnamed { dim: Dim },
    /// A dimension with more bits than the other side has.
    Narrow { dim: Dim, bits: u8, most: u8 },
    /// A dimension whose numbers of bits should be equal.
    Unequal { dim: Dim, left: u8, right: u8 },
    /// A dimension that only one of two maps has, on the side that they share.
    Unshared { dim: Dim },
    /// Two dimensions that two maps order differently.
    Order { first: Dim, second: Dim },
    /// Another number of columns than the inputs have bits.
    Columns { columns: usize, bits: usize },
    /// A column outside the outputs.
    Outside { bit: BitOf, column: u32, bits: u8 },
    /// A coordinate of a basis outside its dimension.
    BasisOutside { bit: BitOf, dim: Dim, coordinate: u32, bits: u8 },
    /// A reshape to another number of bits.
    Reshape { from: u8, to: u8 },
    /// A dimension to drop that has more than one index.
    Squeeze { dim: Dim, bits: u8 },
    /// An output that no input gives.
    Unreached { bit: BitOf },
    /// An input bit that can change without a change of the output.
    Free { bit: BitOf },
    /// An input bit of one map whose image is none of the other's.
    Unsolvable { bit: BitOf },
    /// A basis that isn't the one of a product with the divisor.
    NotDivisible { bit: BitOf, dim: Dim, is: u32, wants: u32 },
    /// A dimension on which the map is not the identity alone.
    NotTrivial { bit: BitOf, dim: Dim, is: u32, wants: u32 },
    /// A dimension that a tile's layout has no place for.
    NoPlace { dim: Dim },
    /// A column that an action names but the dimension lacks.
    Column { column: u8, bits: u8 },
    /// A column that an action names twice.
    RepeatedColumn { column: u8 },
    /// An action that drops columns, where all are needed.
    Drops { columns: u8, bits: u8 },
    /// A memory view that starts inside its allocation, so that no linear map gives its offsets.
    Constant { constant: u32 },
}

impl MapError {
    /// The error in words.
    pub(crate) const fn write(&self, text: Text) -> Text {
        match *self {
            MapError::TooManyDims => {
                text.push("a side of a map has more than ").number(MAX_DIMS).push(" dimensions; flatten some")
            }
            MapError::TooManyBits { bits } => {
                let text = text.push("a side of a map has ").number(bits).push(" bits; at most ");
                text.number(MAX_BITS).push(" are possible")
            }
            MapError::Reshape { from, to } => {
                let text = text.number(from as usize).push(" bits cannot be reshaped to ").number(to as usize);
                text.push("; the numbers must be equal")
            }
            MapError::Squeeze { dim, bits } => {
                let text = dim.write(text).push(" has ").number(bits as usize);
                text.push(" bits; only a dimension without bits can be dropped")
            }
            MapError::Column { .. } | MapError::RepeatedColumn { .. } | MapError::Drops { .. } => self.of_actions(text),
            MapError::Columns { .. } | MapError::Outside { .. } | MapError::BasisOutside { .. } => self.of_bases(text),
            MapError::Unreached { .. } | MapError::Free { .. } | MapError::Unsolvable { .. } => self.of_solving(text),
            MapError::NotDivisible { .. } | MapError::NotTrivial { .. } => self.of_parts(text),
            MapError::NoPlace { .. } | MapError::Constant { .. } => self.of_layouts(text),
            _ => self.of_dims(text),
        }
    }

    const fn of_dims(&self, text: Text) -> Text {
        match *self {
            MapError::Repeated { dim } => dim.write(text).push(" occurs twice on one side of the map; rename one"),
            MapError::Missing { dim } => {
                dim.write(text.push("the map has no dimension ")).push(" on that side; rename or insert it")
            }
            MapError::Unnamed { dim } => {
                dim.write(text.push("the order does not name ")).push("; each must occur once")
            }
            MapError::Narrow { dim, bits, most } => {
                let text = dim.write(text).push(" has ").number(bits as usize).push(" bits, but at most ");
                text.number(most as usize).push(" have a meaning on the other side")
            }
            MapError::Unequal { dim, left, right } => {
                let text = dim.write(text).push(" has ").number(left as usize).push(" bits in one map and ");
                text.number(right as usize).push(" in the other; resize one")
            }
            MapError::Unshared { dim } => {
                dim.write(text).push(" is in one of the maps only; resize or rename dimensions so that they share it")
            }
            MapError::Order { first, second } => {
                let text = second
                    .write(first.write(text).push(" comes before "))
                    .push(" in one map and after it in the other; ");
                text.push("transpose one of them")
            }
            _ => text,
        }
    }

    const fn of_bases(&self, text: Text) -> Text {
        match *self {
            MapError::Columns { columns, bits } => {
                text.number(columns).push(" columns for ").number(bits).push(" input bits; each bit has one")
            }
            MapError::Outside { bit, column, bits } => {
                let text = bit.write(text).push(" gives ").number(column as usize);
                text.push(", more than the ").number(bits as usize).push(" output bits can hold")
            }
            MapError::BasisOutside { bit, dim, coordinate, bits } => {
                let text = dim.write(bit.write(text).push(" moves ")).push(" by ").number(coordinate as usize);
                text.push(", but that has ").number(bits as usize).push(" bits")
            }
            _ => text,
        }
    }

    const fn of_solving(&self, text: Text) -> Text {
        match *self {
            MapError::Unreached { bit } => {
                bit.write(text.push("no input gives an output with only ")).push(" set: the map has no right inverse")
            }
            MapError::Free { bit } => {
                bit.write(text).push(" is a sum of others: two inputs have one output, and the map has no inverse")
            }
            MapError::Unsolvable { bit } => {
                bit.write(text.push("where ")).push(" goes, no input of the other map goes")
            }
            _ => text,
        }
    }

    const fn of_parts(&self, text: Text) -> Text {
        let (text, bit, dim, is, wants) = match *self {
            MapError::NotDivisible { bit, dim, is, wants } => {
                (text.push("the divisor is no factor: "), bit, dim, is, wants)
            }
            MapError::NotTrivial { bit, dim, is, wants } => {
                (text.push("the map does more than keep these dimensions: "), bit, dim, is, wants)
            }
            _ => return text,
        };
        let text = dim.write(bit.write(text).push(" moves ")).push(" by ").number(is as usize);
        text.push(" instead of ").number(wants as usize)
    }

    const fn of_layouts(&self, text: Text) -> Text {
        match *self {
            MapError::NoPlace { dim } => {
                let text =
                    dim.write(text.push("a tile's layout goes from register, lane and warp to axes 0, 1, ...; "));
                text.push(" has no place in it")
            }
            MapError::Constant { constant } => {
                let text = text.push("the view starts at offset ").number(constant as usize);
                text.push(" of its allocation; a linear map sends 0 to 0, so take the map of the whole")
            }
            _ => text,
        }
    }

    const fn of_actions(&self, text: Text) -> Text {
        match *self {
            MapError::Column { column, bits } => {
                let text = text.push("the action takes column ").number(column as usize);
                text.push(" of a dimension that has ").number(bits as usize)
            }
            MapError::RepeatedColumn { column } => {
                text.push("the action takes column ").number(column as usize).push(" twice; each can be taken once")
            }
            MapError::Drops { columns, bits } => {
                let text = text.push("the action keeps ").number(columns as usize).push(" of ").number(bits as usize);
                text.push(" columns; only one that keeps all can be undone")
            }
            _ => text,
        }
    }
}
