//! What can be wrong with a labelled map, as data, and its words.

use super::space::{Dim, MAX_SPACE_BITS, MAX_SPACE_DIMS};
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
    /// A memory layout with gaps, which no linear map makes.
    Padded,
}

impl MapError {
    /// The error in words.
    pub(crate) const fn write(&self, text: Text) -> Text {
        match *self {
            MapError::TooManyDims => {
                text.push("a side of a map has more than ").number(MAX_SPACE_DIMS).push(" dimensions; flatten some")
            }
            MapError::TooManyBits { bits } => {
                let text = text.push("a side of a map has ").number(bits).push(" bits; at most ");
                text.number(MAX_SPACE_BITS).push(" are possible")
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
            MapError::NoPlace { .. } | MapError::Constant { .. } | MapError::Padded => self.of_layouts(text),
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
            MapError::Padded => text.push(
                "the memory has gaps between elements, which no linear map makes; take the layout without padding",
            ),
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

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::error::Error;
    use crate::linear::Dim::{Axis, Block, Lane, Offset, Register, Warp};
    use crate::linear::{ColumnAction, LinearMap};
    use crate::named::blocked;
    use crate::shared::{padded, row_major};
    use std::string::{String, ToString};
    use std::vec;

    fn error(map: LinearMap) -> MapError {
        match map.fault() {
            Some(Error::Map(error)) => error,
            other => panic!("{other:?}"),
        }
    }

    fn bit(dim: Dim, bit: u8) -> BitOf {
        BitOf { dim, bit }
    }

    /// Lane bit 0 moves axis 0, lane bit 1 nothing, the warp both axes.
    fn map() -> LinearMap {
        LinearMap::new(&[(Lane, 2), (Warp, 1)], &[(Axis(0), 1), (Axis(1), 2)], &[0b001, 0, 0b101])
    }

    #[test]
    fn spaces_are_bounded_and_their_labels_differ() {
        let of = |ins: &[(Dim, usize)]| error(LinearMap::new(ins, &[], &[]));
        assert_eq!(of(&[(Lane, 1), (Lane, 2)]), MapError::Repeated { dim: Lane });
        assert_eq!(of(&[(Lane, 20), (Warp, 13)]), MapError::TooManyBits { bits: 33 });
        assert_eq!(of(&[(Lane, usize::MAX), (Warp, 2)]), MapError::TooManyBits { bits: usize::MAX });
        let axes: vec::Vec<(Dim, usize)> = (0..9).map(|axis| (Axis(axis), 0)).collect();
        assert_eq!(of(&axes), MapError::TooManyDims);
        assert_eq!(error(LinearMap::identity(33, Lane, Axis(0))), MapError::TooManyBits { bits: 33 });
        assert_eq!(error(LinearMap::strided(9, 24, Lane, Axis(0))), MapError::TooManyBits { bits: 33 });
        assert!(LinearMap::strided(8, 24, Lane, Axis(0)).check().is_ok());
    }

    #[test]
    fn columns_must_fit() {
        let of = |columns: &[u32]| error(LinearMap::new(&[(Lane, 2)], &[(Axis(0), 2)], columns));
        assert_eq!(of(&[1]), MapError::Columns { columns: 1, bits: 2 });
        assert_eq!(of(&[1, 4]), MapError::Outside { bit: bit(Lane, 1), column: 4, bits: 2 });
        let outside = LinearMap::from_bases(&[(Warp, &[[0, 2]])], [(Axis(0), 1), (Axis(1), 1)]);
        let wants = MapError::BasisOutside { bit: bit(Warp, 0), dim: Axis(1), coordinate: 2, bits: 1 };
        assert_eq!(error(outside), wants);
    }

    #[test]
    fn relabelling_needs_the_dimensions() {
        let map = map();
        assert_eq!(error(map.transpose_ins(&[Lane])), MapError::Unnamed { dim: Warp });
        assert_eq!(error(map.transpose_outs(&[Axis(0), Axis(2)])), MapError::Missing { dim: Axis(2) });
        assert_eq!(error(map.transpose_ins(&[Lane, Lane])), MapError::Repeated { dim: Lane });
        assert_eq!(error(map.reshape_ins(&[(Lane, 2)])), MapError::Reshape { from: 3, to: 2 });
        assert_eq!(error(map.squeeze_outs(Axis(1))), MapError::Squeeze { dim: Axis(1), bits: 2 });
        assert_eq!(error(map.squeeze_ins(Block)), MapError::Missing { dim: Block });
        assert_eq!(error(map.rename_ins(&[(Lane, Warp)])), MapError::Repeated { dim: Warp });
        assert_eq!(error(map.rename_outs(&[(Lane, Warp)])), MapError::Missing { dim: Lane });
        assert_eq!(error(map.resize_in(Lane, 40)), MapError::TooManyBits { bits: 41 });
        assert_eq!(error(map.resize_out(Axis(1), 3)), MapError::Narrow { dim: Axis(1), bits: 3, most: 2 });
        assert_eq!(error(map.concat_ins(&map)), MapError::Repeated { dim: Lane });
        let turned = map.transpose_outs(&[Axis(1), Axis(0)]);
        assert_eq!(error(map.concat_ins(&turned)), MapError::Order { first: Axis(0), second: Axis(1) });
        let longer = map.resize_in(Lane, 3);
        assert_eq!(error(map.concat_outs(&longer)), MapError::Unequal { dim: Lane, left: 2, right: 3 });
    }

    #[test]
    fn products_and_quotients_need_a_fit() {
        let (map, identity) = (map(), LinearMap::identity(1, Lane, Axis(1)));
        let turned = map.transpose_ins(&[Warp, Lane]);
        assert_eq!(error(map.times(&turned)), MapError::Order { first: Lane, second: Warp });
        let wants = MapError::NotDivisible { bit: bit(Lane, 0), dim: Axis(0), is: 1, wants: 0 };
        assert_eq!(error(map.divide_left(&identity)), wants);
        assert_eq!(error(identity.divide_right(&map)), MapError::Narrow { dim: Lane, bits: 2, most: 1 });
        assert_eq!(error(map.quotient(&[Lane])), MapError::Missing { dim: Lane });
        let swap = LinearMap::new(&[(Lane, 2)], &[(Lane, 2)], &[2, 1]);
        let wants = MapError::NotTrivial { bit: bit(Lane, 0), dim: Lane, is: 2, wants: 1 };
        assert_eq!(error(swap.quotient(&[Lane])), wants);
        let wants = MapError::Unequal { dim: Lane, left: 2, right: 1 };
        assert_eq!(error(swap.resize_out(Lane, 1).quotient(&[Lane])), wants);
    }

    #[test]
    fn equations_say_what_has_no_solution() {
        let map = map();
        assert_eq!(error(map.invert()), MapError::Free { bit: bit(Lane, 1) });
        assert_eq!(error(map.pseudoinvert()), MapError::Unreached { bit: bit(Axis(1), 0) });
        let axes = LinearMap::identity(1, Lane, Axis(0)).times(&LinearMap::identity(2, Warp, Axis(1)));
        assert_eq!(error(map.lstsq(&axes)), MapError::Unsolvable { bit: bit(Warp, 0) });
        assert_eq!(error(map.then(&map)), MapError::Missing { dim: Axis(0) });
        let row = LinearMap::identity(1, Axis(0), Offset);
        assert_eq!(error(map.then(&row)), MapError::Missing { dim: Axis(1) });
        assert_eq!(error(map.sublayout(&[Lane], &[Axis(1)]).then(&row)), MapError::Missing { dim: Axis(1) });
        let both = LinearMap::unchanging(map.outs());
        assert_eq!(error(map.sublayout(&[Lane], &[Axis(0)]).then(&both)), MapError::Unshared { dim: Axis(1) });
        let wide = LinearMap::identity(2, Lane, Axis(0));
        assert_eq!(error(wide.then(&row)), MapError::Narrow { dim: Axis(0), bits: 2, most: 1 });
    }

    #[test]
    fn actions_take_each_column_once() {
        let fault = |action: ColumnAction| action.fault().unwrap();
        let repeated = ColumnAction::new(Register, &[0, 0], 2);
        assert_eq!(fault(repeated), Error::Map(MapError::RepeatedColumn { column: 0 }));
        assert_eq!(fault(ColumnAction::new(Register, &[2], 2)), Error::Map(MapError::Column { column: 2, bits: 2 }));
        assert_eq!(fault(ColumnAction::identity(Register, 33)), Error::Map(MapError::TooManyBits { bits: 33 }));
        let drops = ColumnAction::new(Register, &[1], 2);
        assert_eq!(fault(drops.inverse()), Error::Map(MapError::Drops { columns: 1, bits: 2 }));
        assert_eq!(error(drops.apply(&map())), MapError::Unequal { dim: Register, left: 2, right: 0 });
        let other = ColumnAction::identity(Lane, 1);
        assert_eq!(fault(other.after(&drops)), Error::Map(MapError::Unshared { dim: Lane }));
        assert_eq!(fault(drops.after(&drops)), Error::Map(MapError::Unequal { dim: Register, left: 2, right: 1 }));
    }

    #[test]
    fn only_some_maps_are_layouts() {
        let fault = |map: LinearMap| map.to_layout().fault().unwrap();
        let lanes = LinearMap::identity(5, Lane, Axis(0));
        assert!(lanes.to_layout().check().is_ok());
        assert!(lanes.times(&LinearMap::zeros(0, Block, Axis(0), 0)).to_layout().equals(&lanes.to_layout()));
        let blocks = lanes.times(&LinearMap::identity(1, Block, Axis(0)));
        assert_eq!(fault(blocks), Error::Map(MapError::NoPlace { dim: Block }));
        let axis = lanes.rename_outs(&[(Axis(0), Axis(1))]);
        assert_eq!(fault(axis), Error::Map(MapError::NoPlace { dim: Axis(1) }));
        assert_eq!(fault(LinearMap::identity(4, Lane, Axis(0))), Error::LaneBases { bases: 4 });
        assert!(matches!(fault(lanes.zeros_like()), Error::Unheld { .. }));
        let view = row_major([4, 4]).slice(0, 2, 2).to_linear();
        assert_eq!(error(view), MapError::Constant { constant: 8 });
        assert_eq!(error(padded([4, 4], &[(4, 1)], [1, 0]).to_linear()), MapError::Padded);
    }

    /// A map without the column that it should have, with its fault.
    fn broken() -> LinearMap {
        LinearMap::new(&[(Lane, 1)], &[], &[])
    }

    fn all_as_broken(maps: &[LinearMap]) {
        for (i, map) in maps.iter().enumerate() {
            assert!(map.fault() == broken().fault(), "{i}: {map}");
        }
    }

    #[test]
    fn the_first_error_stays_whatever_is_done_with_two_maps() {
        let (broken, map) = (broken(), map());
        all_as_broken(&[
            broken.times(&map),
            map.times(&broken),
            map.divide_left(&broken),
            broken.divide_right(&map),
            broken.then(&map),
            map.then(&broken),
            map.lstsq(&broken),
            broken.invert_and_compose(&map),
            map.invert_and_compose_local(&broken, &[Lane]),
            broken.concat_ins(&map),
            map.concat_outs(&broken),
            map.repetitions(&broken),
            map.across_blocks(&broken, &[(Axis(0), 1), (Axis(1), 2)]),
            map.minimal_conversion(&broken),
            broken.minimal_conversion(&map),
        ]);
        let layout = blocked([3], [1], [32], [1], [0]).to_linear().to_layout().to_linear().then(&broken);
        assert_eq!(layout.fault(), Some(Error::NotPowerOfTwo { dim: 0, extent: 3 }));
    }

    #[test]
    fn the_first_error_stays_whatever_is_done_with_one_map() {
        let broken = broken();
        all_as_broken(&[
            broken.invert(),
            broken.pseudoinvert(),
            broken.transpose_ins(&[Lane]),
            broken.transpose_outs(&[Lane]),
            broken.reshape_ins(&[(Lane, 4)]),
            broken.reshape_outs(&[(Lane, 4)]),
            broken.flatten_ins().flatten_outs(),
            broken.squeeze_ins(Lane).squeeze_outs(Lane),
            broken.rename_ins(&[(Lane, Warp)]).rename_outs(&[(Lane, Warp)]),
            broken.resize_in(Lane, 1).resize_out(Lane, 1),
            broken.sublayout(&[Lane], &[]),
            broken.quotient(&[Lane]),
            broken.remove_zero_bases(Lane),
            broken.identity_prefix(Lane, Axis(0), 2).1,
            broken.zeros_like(),
            broken.shrink_to(&[(Axis(0), 1)]).grow_to(&[(Axis(0), 1)]),
            broken.remove_axis(0),
            ColumnAction::identity(Lane, 2).apply(&broken),
        ]);
        assert!(!broken.is_surjective() && !broken.equals(&broken) && !broken.is_trivial_over(&[]));
        assert!(!broken.sublayout_is_zero(&[], &[]) && !broken.square_sublayout_is_identity(&[]));
    }

    #[test]
    fn every_error_has_words_of_its_own() {
        let (dim, other, bit) = (Axis(1), Lane, bit(Lane, 2));
        let errors = [
            MapError::TooManyDims,
            MapError::TooManyBits { bits: 33 },
            MapError::Repeated { dim },
            MapError::Missing { dim },
            MapError::Unnamed { dim },
            MapError::Narrow { dim, bits: 3, most: 2 },
            MapError::Unequal { dim, left: 3, right: 2 },
            MapError::Unshared { dim },
            MapError::Order { first: dim, second: other },
            MapError::Columns { columns: 3, bits: 4 },
            MapError::Outside { bit, column: 9, bits: 3 },
            MapError::BasisOutside { bit, dim, coordinate: 9, bits: 3 },
            MapError::Reshape { from: 3, to: 4 },
            MapError::Squeeze { dim, bits: 2 },
            MapError::Unreached { bit },
            MapError::Free { bit },
            MapError::Unsolvable { bit },
            MapError::NotDivisible { bit, dim, is: 1, wants: 2 },
            MapError::NotTrivial { bit, dim, is: 1, wants: 2 },
            MapError::NoPlace { dim },
            MapError::Column { column: 3, bits: 2 },
            MapError::RepeatedColumn { column: 1 },
            MapError::Drops { columns: 1, bits: 2 },
            MapError::Constant { constant: 8 },
            MapError::Padded,
        ];
        let words: vec::Vec<String> = errors.iter().map(|&error| Error::Map(error).to_string()).collect();
        for (i, text) in words.iter().enumerate() {
            assert!(text.len() > 25 && !words[..i].contains(text), "{:?}: {text}", errors[i]);
        }
        assert_eq!(words[3], "the map has no dimension axis 1 on that side; rename or insert it");
        assert_eq!(words[17], "the divisor is no factor: lane bit 2 moves axis 1 by 1 instead of 2");
    }
}
