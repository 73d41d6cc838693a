//! Labelled linear maps: the whole algebra, for maps that are no tile's layout.
//!
//! A [`Layout`](crate::Layout) has one form, from register, lane and warp to a tile. Compositions of layouts haven't:
//! from a register of a lane to an offset in memory, from a thread of one layout to the thread of another that has its
//! elements, from offsets to offsets. A [`LinearMap`] is any such map. Both its sides are a [`Space`], labelled bits
//! from minor to major, and it is given by what each input bit moves by, one column an input bit, the bits of all
//! output dimensions side by side, the first dimension's lowest.
//!
//! | file | what it is |
//! |---|---|
//! | `space` | [`Dim`], [`Space`]: labelled bits |
//! | `products` | two maps side by side, and one taken off |
//! | `solve` | maps after each other, inverses, equations |
//! | `relabel` | other dimensions for the same bits |
//! | `parts` | blocks of the matrix, and what they say |
//! | `action` | [`ColumnAction`]: other columns of one dimension |
//! | `fit` | for tiles of other sizes, blocks, conversions |
//! | `layouts` | layouts of tiles and memory as maps, and back |
//! | `error`, `text` | what is wrong, and what a map is, in words |

mod action;
mod error;
mod fit;
mod layouts;
mod parts;
mod products;
mod relabel;
mod solve;
mod space;
mod text;

use crate::error::Error;
use crate::f2::Map;

pub use action::{AdditiveStrides, ColumnAction};
pub use error::{BitOf, MapError};
pub use space::{Dim, MAX_SPACE_BITS, MAX_SPACE_DIMS, Space};

/// A linear map from labelled bits to labelled bits, given by what each input bit moves by.
///
/// One column an input bit, in the order of the input dimensions from minor to major; in a column the bits of all
/// output dimensions side by side, the first dimension's lowest:
///
/// ```text
/// two lane bits and a register bit      column, axis 1 in bits 0 and 1, axis 0 in bit 2
/// lane bit 0 moves axis 1 by 1          0 01
/// lane bit 1 moves axis 0 by 1          1 00
/// register bit 0 moves axis 1 by 2      0 10
/// ```
///
/// Register 1 of lane 3 is the input `1 11`, its image `001` ^ `100` ^ `010` = `1 11`: row 1, column 3.
///
/// ```
/// use quadpair_layouts::{Dim, LinearMap};
/// use Dim::{Axis, Lane, Register};
/// const COLUMNS: [u32; 3] = [0b001, 0b100, 0b010];
/// const MAP: LinearMap = LinearMap::new(&[(Lane, 2), (Register, 1)], &[(Axis(1), 2), (Axis(0), 1)], &COLUMNS);
/// let element = MAP.apply(MAP.ins().index(&[(Register, 1), (Lane, 3)]));
/// assert_eq!((MAP.outs().coordinate(element, Axis(0)), MAP.outs().coordinate(element, Axis(1))), (1, 3));
/// // The same from parts: a product acts on the low bits by its left factor, on the high bits by its right.
/// let lanes = LinearMap::identity(1, Lane, Axis(1)).times(&LinearMap::identity(1, Lane, Axis(0)));
/// assert!(lanes.times(&LinearMap::identity(1, Register, Axis(1))).equals(&MAP));
/// ```
///
/// A dimension of zero bits, an extent of 1, is a dimension; most operations treat one that is missing alike.
///
/// A value may be invalid and then says why: see [`check`](LinearMap::check). Operations on an invalid map are invalid
/// with its first error.
///
/// # Where each operation is
///
/// Compilers of tiles know the operations by the names on the left. Each is in one place; what a layout of a tile has
/// as a method of its own is not here again.
///
/// | operation | here |
/// |---|---|
/// | `empty`, `identity1D`, `strided1D`, `zeros1D` | [`EMPTY`](Self::EMPTY), [`identity`](Self::identity), [`strided`](Self::strided), [`zeros`](Self::zeros) |
/// | `identityStandardND`, `zerosLike` | [`identity_nd`](Self::identity_nd), [`zeros_like`](Self::zeros_like) |
/// | `A * B`, `divideLeft`, `divideRight` | [`times`](Self::times), [`divide_left`](Self::divide_left), [`divide_right`](Self::divide_right) |
/// | `getReps`, `factorMaximalIdentityPrefix` | [`repetitions`](Self::repetitions), [`identity_prefix`](Self::identity_prefix) |
/// | `transposeIns`, `transposeOuts` | [`transpose_ins`](Self::transpose_ins), [`transpose_outs`](Self::transpose_outs) |
/// | `reshapeIns`, `reshapeOuts`, `flattenIns`, `flattenOuts` | [`reshape_ins`](Self::reshape_ins), [`reshape_outs`](Self::reshape_outs), [`flatten_ins`](Self::flatten_ins), [`flatten_outs`](Self::flatten_outs) |
/// | `squeezeIns`, `squeezeOuts`, `renameInDim` | [`squeeze_ins`](Self::squeeze_ins), [`squeeze_outs`](Self::squeeze_outs), [`rename_ins`](Self::rename_ins), [`rename_outs`](Self::rename_outs) |
/// | `concatIns`, `concatOuts` | [`concat_ins`](Self::concat_ins), [`concat_outs`](Self::concat_outs) |
/// | `resizeInDim`, `resizeOutDim` | [`resize_in`](Self::resize_in), [`resize_out`](Self::resize_out) |
/// | `reshapeLayout`, `transposeLinearLayout`, `removeStandardDim` of a tile | [`Layout::reshape`], [`Layout::permute`], [`Layout::slice`]; of a map [`remove_axis`](Self::remove_axis) |
/// | `sublayout`, `sublayoutIsZero` | [`sublayout`](Self::sublayout), [`sublayout_is_zero`](Self::sublayout_is_zero) |
/// | `isTrivialOver`, `isIdentityOnOutDim`, `quotient` | [`is_trivial_over`](Self::is_trivial_over), [`is_identity_on_out_dim`](Self::is_identity_on_out_dim), [`quotient`](Self::quotient) |
/// | `squareSublayoutIsIdentity` | [`square_sublayout_is_identity`](Self::square_sublayout_is_identity) |
/// | `getInputBasisMask`, `getOutputBasisMask` | [`input_mask`](Self::input_mask), [`output_mask`](Self::output_mask) |
/// | `isSurjective`, `isInjective`, `isInvertible` | [`is_surjective`](Self::is_surjective), [`is_injective`](Self::is_injective), [`is_invertible`](Self::is_invertible) |
/// | `compose` | [`then`](Self::then), in the order in which the maps are applied |
/// | `lstsq`, `invertAndCompose`, `invertAndComposeLocal` | [`lstsq`](Self::lstsq), [`invert_and_compose`](Self::invert_and_compose), [`invert_and_compose_local`](Self::invert_and_compose_local) |
/// | `invert`, `pseudoinvert` | [`invert`](Self::invert), [`pseudoinvert`](Self::pseudoinvert) |
/// | `getFreeVariableMasks` | [`free_variable_mask`](Self::free_variable_mask); of a tile [`Layout::free_lanes`] and its like |
/// | `removeZeroBasesAlongDim` | [`remove_zero_bases`](Self::remove_zero_bases); of a tile's registers [`Layout::compact`] |
/// | `getNumConsecutiveInOut`, `contiguousElemsAlongOutputDim` | [`num_consecutive_in_out`](Self::num_consecutive_in_out), [`contiguous_along`](Self::contiguous_along) |
/// | `ColumnAction` | [`ColumnAction`] |
/// | `regPermForDivide`, `actionRemoveBroadcastedRegs` | [`register_order_left`](Self::register_order_left), [`register_order_right`](Self::register_order_right), [`dropping_zeros`](Self::dropping_zeros) |
/// | `broadcastAs` | [`ColumnAction::target`] |
/// | `actionAdditiveStrides` | [`additive_strides`](Self::additive_strides) |
/// | `largestVectorisation` | [`largest_vectorisation`](Self::largest_vectorisation); of a tile and shared memory [`Access::vector`](crate::Access) |
/// | `ensureLayoutNotLargerThan`, `ensureLayoutNotSmallerThan` | [`shrink_to`](Self::shrink_to), [`grow_to`](Self::grow_to) |
/// | `combineCtaCgaWithShape` | [`across_blocks`](Self::across_blocks) |
/// | `minimalCvtLayout` | [`minimal_conversion`](Self::minimal_conversion) |
/// | `toLinearLayout` | [`Layout::to_linear`], [`SharedLayout::to_linear`](crate::SharedLayout::to_linear); back [`to_layout`](Self::to_layout) |
///
/// [`Layout::reshape`]: crate::Layout::reshape
/// [`Layout::permute`]: crate::Layout::permute
/// [`Layout::slice`]: crate::Layout::slice
/// [`Layout::compact`]: crate::Layout::compact
/// [`Layout::free_lanes`]: crate::Layout::free_lanes
/// [`Layout::to_linear`]: crate::Layout::to_linear
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinearMap {
    map: Map,
    ins: Space,
    outs: Space,
    fault: Option<Error>,
}

impl LinearMap {
    /// The map without inputs and outputs: the neutral element of [`times`](LinearMap::times).
    pub const EMPTY: LinearMap =
        LinearMap { map: Map::identity(0), ins: Space::EMPTY, outs: Space::EMPTY, fault: None };

    /// An invalid map that says why.
    pub const fn invalid(error: Error) -> LinearMap {
        LinearMap { fault: Some(error), ..LinearMap::EMPTY }
    }

    const fn broken(error: MapError) -> LinearMap {
        LinearMap::invalid(Error::Map(error))
    }

    /// The map of these dimensions, from minor to major with their numbers of bits, and these columns: the output index
    /// that each input bit gives.
    ///
    /// Invalid if a side has a label twice, more than [`MAX_SPACE_DIMS`] dimensions or [`MAX_SPACE_BITS`] bits, if
    /// there isn't one column for each input bit, or if one has bits that the outputs lack.
    pub const fn new(ins: &[(Dim, usize)], outs: &[(Dim, usize)], columns: &[u32]) -> LinearMap {
        match (Space::new(ins), Space::new(outs)) {
            (Ok(ins), Ok(outs)) => LinearMap::between(&ins, &outs, columns),
            (Err(error), _) | (_, Err(error)) => LinearMap::broken(error),
        }
    }

    /// The map from one space to another that has these columns.
    ///
    /// Invalid if there isn't one column for each input bit, or if one has bits that the outputs lack.
    pub const fn between(ins: &Space, outs: &Space, columns: &[u32]) -> LinearMap {
        if columns.len() != ins.bits() {
            return LinearMap::broken(MapError::Columns { columns: columns.len(), bits: ins.bits() });
        }
        let mut i = 0;
        while i < columns.len() {
            if columns[i].unbounded_shr(outs.bits() as u32) != 0 {
                let bit = BitOf::new(ins.bit(i));
                return LinearMap::broken(MapError::Outside { bit, column: columns[i], bits: outs.bits() as u8 });
            }
            i += 1;
        }
        LinearMap { map: Map::new(columns, outs.bits()), ins: *ins, outs: *outs, fault: None }
    }

    /// The map by its bases as coordinates: for each input dimension, what each of its bits moves the outputs by.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// let bases: [(_, &[_]); 2] = [(Register, &[[1, 0]]), (Lane, &[[0, 1], [0, 2]])];
    /// let map = LinearMap::from_bases(&bases, [(Axis(0), 1), (Axis(1), 2)]);
    /// assert_eq!(map.columns(), [0b00_1, 0b01_0, 0b10_0]);
    /// ```
    ///
    /// Invalid as [`new`](LinearMap::new) is, or if a coordinate lies outside its dimension.
    pub const fn from_bases<const N: usize>(ins: &[(Dim, &[[u32; N]])], outs: [(Dim, usize); N]) -> LinearMap {
        let outs = match Space::new(&outs) {
            Ok(outs) => outs,
            Err(error) => return LinearMap::broken(error),
        };
        let (mut space, mut columns, mut dim) = (Space::EMPTY, Columns::new(), 0);
        while dim < ins.len() {
            space = match space.with(ins[dim].0, ins[dim].1.len()) {
                Ok(space) => space,
                Err(error) => return LinearMap::broken(error),
            };
            let mut bit = 0;
            while bit < ins[dim].1.len() {
                match basis(&outs, &ins[dim].1[bit]) {
                    Ok(column) => columns.push(column),
                    Err((dim_out, coordinate)) => {
                        let (bit, bits) = (BitOf::new((ins[dim].0, bit)), outs.bits_of(dim_out) as u8);
                        return LinearMap::broken(MapError::BasisOutside { bit, dim: dim_out, coordinate, bits });
                    }
                }
                bit += 1;
            }
            dim += 1;
        }
        columns.between(&space, &outs)
    }

    /// The identity x ↦ x from `bits` bits of one dimension to as many of another: columns 1, 2, 4, ...
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// const LANES: LinearMap = LinearMap::identity(5, Lane, Axis(0));
    /// assert_eq!(LANES.apply(19), 19);
    /// ```
    ///
    /// Invalid if there are more than [`MAX_SPACE_BITS`] bits, as all constructors are.
    pub const fn identity(bits: usize, input: Dim, output: Dim) -> LinearMap {
        LinearMap::strided(bits, 0, input, output)
    }

    /// The map x ↦ x · 2^`stride_bits`: the identity above bits that stay 0.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// assert_eq!(LinearMap::strided(3, 2, Lane, Offset).columns(), [4, 8, 16]);
    /// ```
    pub const fn strided(bits: usize, stride_bits: usize, input: Dim, output: Dim) -> LinearMap {
        let (ins, outs) =
            match (Space::new(&[(input, bits)]), Space::new(&[(output, stride_bits.saturating_add(bits))])) {
                (Ok(ins), Ok(outs)) => (ins, outs),
                (Err(error), _) | (_, Err(error)) => return LinearMap::broken(error),
            };
        let mut columns = Columns::new();
        while columns.count < bits {
            columns.push(1 << (stride_bits + columns.count));
        }
        columns.between(&ins, &outs)
    }

    /// The map x ↦ 0: `bits` input bits that move nothing, all of which hold the same.
    ///
    /// ```
    /// use quadpair_layouts::{Dim::*, LinearMap};
    /// // Four lanes that hold the same, beside eight that don't.
    /// let map = LinearMap::zeros(2, Lane, Axis(0), 0).times(&LinearMap::identity(3, Lane, Axis(0)));
    /// assert_eq!(map.columns(), [0, 0, 1, 2, 4]);
    /// ```
    pub const fn zeros(bits: usize, input: Dim, output: Dim, output_bits: usize) -> LinearMap {
        match (Space::new(&[(input, bits)]), Space::new(&[(output, output_bits)])) {
            (Ok(ins), Ok(outs)) => LinearMap::zero(&ins, &outs),
            (Err(error), _) | (_, Err(error)) => LinearMap::broken(error),
        }
    }

    /// The map from one space to another that is 0 everywhere.
    pub const fn zero(ins: &Space, outs: &Space) -> LinearMap {
        LinearMap {
            map: Map::new([0; MAX_SPACE_BITS].split_at(ins.bits()).0, outs.bits()),
            ins: *ins,
            outs: *outs,
            fault: None,
        }
    }

    /// The map, or what is wrong with it.
    pub const fn check(self) -> Result<LinearMap, Error> {
        match self.fault {
            None => Ok(self),
            Some(error) => Err(error),
        }
    }

    /// What is wrong with it, if anything.
    pub const fn fault(&self) -> Option<Error> {
        self.fault
    }

    /// The input dimensions.
    pub const fn ins(&self) -> &Space {
        &self.ins
    }

    /// The output dimensions.
    pub const fn outs(&self) -> &Space {
        &self.outs
    }

    /// The output index that each input bit gives.
    pub const fn columns(&self) -> &[u32] {
        self.map.columns()
    }

    /// The map without its labels.
    pub const fn map(&self) -> Map {
        self.map
    }

    /// The output index that a bit of an input dimension gives; 0 if there is no such bit.
    pub const fn column(&self, dim: Dim, bit: usize) -> u32 {
        if bit < self.ins.bits_of(dim) { self.columns()[self.ins.shift_of(dim) + bit] } else { 0 }
    }

    /// What a bit of an input dimension moves an output dimension by; 0 if there is no such bit or dimension.
    pub const fn basis(&self, dim: Dim, bit: usize, output: Dim) -> u32 {
        self.outs.coordinate(self.column(dim, bit), output)
    }

    /// The output index of an input index: the XOR of the columns of its bits.
    pub const fn apply(&self, input: u32) -> u32 {
        self.map.apply(input)
    }

    /// Whether every output has an input: the rank is the number of output bits.
    pub const fn is_surjective(&self) -> bool {
        self.fault.is_none() && self.map.is_surjective()
    }

    /// Whether different inputs have different outputs: the rank is the number of input bits.
    pub const fn is_injective(&self) -> bool {
        self.fault.is_none() && self.map.is_injective()
    }

    /// Whether each output has exactly one input.
    pub const fn is_invertible(&self) -> bool {
        self.is_surjective() && self.is_injective()
    }

    /// Whether both are the same map: the same dimensions in the same order, the same columns.
    pub const fn equals(&self, other: &LinearMap) -> bool {
        self.ins.equals(&other.ins) && self.outs.equals(&other.outs) && self.same_columns(other)
    }

    const fn same_columns(&self, other: &LinearMap) -> bool {
        let (here, there) = (self.columns(), other.columns());
        let mut same = here.len() == there.len() && self.fault.is_none() && other.fault.is_none();
        let mut i = 0;
        while same && i < here.len() {
            same = here[i] == there[i];
            i += 1;
        }
        same
    }

    const fn failed(&self, error: Error) -> LinearMap {
        let first = match self.fault {
            Some(first) => first,
            None => error,
        };
        LinearMap { fault: Some(first), ..*self }
    }

    const fn refused(&self, error: MapError) -> LinearMap {
        self.failed(Error::Map(error))
    }

    /// The fault of the first of two maps that has one.
    const fn fault_with(&self, other: &LinearMap) -> Option<Error> {
        match self.fault {
            Some(error) => Some(error),
            None => other.fault,
        }
    }

    /// This map between other spaces: bits and coordinates go by their labels. Input bits that this map lacks move
    /// nothing; what the new spaces have no place for is dropped.
    const fn onto(&self, ins: &Space, outs: &Space) -> LinearMap {
        let (mut columns, bits) = (Columns::new(), ins.bits());
        while columns.count < bits {
            let (dim, bit) = ins.bit(columns.count);
            columns.push(self.outs.moved(self.column(dim, bit), outs));
        }
        LinearMap { fault: self.fault, ..columns.between(ins, outs) }
    }
}

/// The output index of coordinates, or the first one that lies outside.
const fn basis<const N: usize>(outs: &Space, coordinates: &[u32; N]) -> Result<u32, (Dim, u32)> {
    let (mut index, mut i) = (0, 0);
    while i < N {
        let (dim, coordinate) = (outs.dims()[i], coordinates[i]);
        if coordinate.unbounded_shr(outs.bits_of(dim) as u32) != 0 {
            return Err((dim, coordinate));
        }
        index |= outs.placed(dim, coordinate);
        i += 1;
    }
    Ok(index)
}

/// Columns of a map under construction. No space has more bits than there is room for.
struct Columns {
    columns: [u32; MAX_SPACE_BITS],
    count: usize,
}

impl Columns {
    const fn new() -> Columns {
        Columns { columns: [0; MAX_SPACE_BITS], count: 0 }
    }

    const fn push(&mut self, column: u32) {
        self.columns[self.count] = column;
        self.count += 1;
    }

    const fn extend(&mut self, columns: &[u32]) {
        let mut i = 0;
        while i < columns.len() {
            self.push(columns[i]);
            i += 1;
        }
    }

    const fn between(&self, ins: &Space, outs: &Space) -> LinearMap {
        LinearMap::between(ins, outs, self.columns.split_at(self.count).0)
    }
}
