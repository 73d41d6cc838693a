//! What can be wrong, as data, and its words.
//!
//! An [`Error`] is a small `Copy` value with the numbers in it; [`Error::text`] is the one place that has words. The words
//! are those of a kernel's author: dimensions, extents, lanes, warps.

use crate::convert::Cost;
use crate::layout::{Bit, Difference, Layout};
use crate::shape::{MAX_RANK, MAX_SHAPE_BITS, Shape};
use crate::text::Text;

/// Which operand of a matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Operand {
    A,
    B,
    C,
}

impl Operand {
    const fn name(self) -> &'static str {
        match self {
            Operand::A => "a",
            Operand::B => "b",
            Operand::C => "the accumulator",
        }
    }
}

/// What is wrong with a shape, a layout or an operation on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Error {
    /// An extent is no power of two.
    NotPowerOfTwo { dim: usize, extent: usize },
    /// A parameter that must be a power of two is none.
    Parameter { name: &'static str, value: usize },
    /// More dimensions than are possible.
    Rank { rank: usize },
    /// A tile of more elements than are possible.
    TooManyElements { bits: usize },
    /// A thread would hold more elements than are possible.
    TooManyRegisters { bits: usize },
    /// No such dimension.
    Axis { axis: usize, rank: usize },
    /// An order that names a dimension twice.
    RepeatedAxis { axis: usize },
    /// An order of another length than the rank.
    OrderLength { length: usize, rank: usize },
    /// A warp has 32 lanes.
    Lanes { lanes: usize },
    /// Another number of lane bases than 5.
    LaneBases { bases: usize },
    /// A basis outside the shape.
    BasisOutside { bit: Bit, dim: usize, coordinate: usize, extent: usize },
    /// An element that no thread holds.
    Unheld { element: ElementOf },
    /// A reshape to another number of elements.
    ElementCount { from: Shapes },
    /// Two tiles whose shapes don't fit each other.
    Shapes { op: &'static str, shapes: Shapes },
    /// Two tiles whose layouts differ.
    Layouts { difference: Difference },
    /// A tile that doesn't hold what a broadcast needs.
    Broadcast { difference: Difference },
    /// Two tiles that broadcast against each other but come from different parents.
    Parents { left: usize, right: usize },
    /// A basis that moves along the reduced axis and off it.
    MixedBasis { bit: Bit, axis: usize },
    /// A conversion that moves data although it must not.
    NotTrivial { difference: Difference, wavefronts: u32 },
    /// A conversion between layouts of other warp counts.
    Warps { from: usize, to: usize },
    /// Shapes of a matrix product that don't fit.
    ProductShapes { a: PackedShape, b: PackedShape, c: PackedShape },
    /// An operand's basis that isn't the fragment's.
    Fragment { operand: Operand, bit: Bit, is: ElementOf, wants: u32 },
    /// An operand whose registers lack what the product needs.
    Registers { operand: Operand, element: ElementOf },
    /// An operand whose threads don't hold all of k.
    AllOfK { held: usize, k: usize },
    /// A slice outside the memory.
    SliceRange { start: usize, length: usize, extent: usize },
    /// A slice whose start isn't a multiple of its length.
    SliceStart { start: usize, length: usize },
    /// Dimension 0 of shared memory has no constant stride.
    IndexStride { extent: usize },
    /// A shared layout that sends two elements to one place.
    NotInvertible { bases: usize, bits: usize },
}

/// Two shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shapes {
    /// The first.
    pub left: PackedShape,
    /// The second.
    pub right: PackedShape,
}

/// A shape without its fault, so that an error can hold it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PackedShape {
    rank: u8,
    bits: [u8; MAX_RANK],
}

/// An element of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementOf {
    /// Its flat index.
    pub element: u32,
    /// The shape.
    pub shape: PackedShape,
}

impl PackedShape {
    /// The shape's extents.
    pub const fn of(shape: &Shape) -> PackedShape {
        let mut bits = [0; MAX_RANK];
        let mut dim = 0;
        while dim < shape.rank() {
            bits[dim] = shape.dim_bits(dim) as u8;
            dim += 1;
        }
        PackedShape { rank: shape.rank() as u8, bits }
    }

    /// The shape.
    pub const fn shape(&self) -> Shape {
        let mut extents = [1; MAX_RANK];
        let mut dim = 0;
        while dim < self.rank as usize {
            extents[dim] = 1 << self.bits[dim];
            dim += 1;
        }
        let (extents, _) = extents.split_at(self.rank as usize);
        Shape::from_slice(extents)
    }
}

impl Error {
    /// The error of a conversion that must move nothing.
    pub const fn not_trivial(from: &Layout, to: &Layout, cost: Cost) -> Error {
        match from.difference(to) {
            Some(difference) => Error::NotTrivial { difference, wavefronts: cost.wavefronts },
            None => Error::Warps { from: from.warps(), to: to.warps() },
        }
    }

    pub(crate) const fn shapes(op: &'static str, left: &Shape, right: &Shape) -> Error {
        Error::Shapes { op, shapes: Shapes { left: PackedShape::of(left), right: PackedShape::of(right) } }
    }

    /// The error in words.
    pub const fn text(&self) -> Text {
        match *self {
            Error::NotPowerOfTwo { dim, extent } => {
                let text = Text::new("extent ").number(extent).push(" of dimension ").number(dim);
                let text = text.push(" is no power of two; the next are ").number(extent.next_power_of_two() / 2);
                text.push(" and ").number(extent.next_power_of_two())
            }
            Error::Parameter { name, value } => {
                Text::new(name).push(" is ").number(value).push(", which is no power of two")
            }
            Error::Rank { rank } => {
                Text::new("").number(rank).push(" dimensions; at most ").number(MAX_RANK).push(" are possible")
            }
            Error::TooManyElements { bits } => {
                let text = Text::new("2^").number(bits).push(" elements; at most 2^");
                text.number(MAX_SHAPE_BITS).push(" are possible")
            }
            Error::TooManyRegisters { bits } => Text::new("a thread would hold 2^").number(bits).push(" elements"),
            Error::Axis { axis, rank } => {
                let text = Text::new("there is no dimension ").number(axis).push("; there are ");
                text.number(rank).push(", from 0")
            }
            Error::RepeatedAxis { axis } => {
                Text::new("the order names dimension ").number(axis).push(" twice; each must occur once")
            }
            Error::OrderLength { length, rank } => {
                Text::new("the order has ").number(length).push(" entries for ").number(rank).push(" dimensions")
            }
            Error::Lanes { lanes } => {
                Text::new("the lanes multiply to ").number(lanes).push("; a warp has 32")
            }
            Error::LaneBases { bases } => Text::new("").number(bases).push(" lane bases; 32 lanes have 5"),
            Error::BasisOutside { bit, dim, coordinate, extent } => {
                let text = bit.write(Text::new("")).push(" moves by ").number(coordinate).push(" along dimension ");
                text.number(dim).push(", whose extent is ").number(extent)
            }
            Error::Unheld { element } => {
                let text = Text::new("no thread holds element ").element(element.element, &element.shape.shape());
                text.push(" of ").shape(&element.shape.shape()).push("; the bases must reach every element")
            }
            Error::ElementCount { from } => {
                let (left, right) = (from.left.shape(), from.right.shape());
                let text = Text::new("").shape(&left).push(" has ").number(left.len()).push(" elements, ");
                text.shape(&right).push(" has ").number(right.len())
            }
            Error::Shapes { op, shapes } => {
                let text = Text::new("").shape(&shapes.left.shape()).push(op);
                text.shape(&shapes.right.shape())
            }
            Error::Layouts { difference } => {
                let text = Text::new("the layouts differ: ");
                difference.write(text).push("; convert one side with convert_layout")
            }
            Error::Broadcast { difference } => {
                let text = Text::new("the threads do not hold what the larger tile's layout needs: ");
                difference.write(text).push("; take the smaller tile in the slice of the larger one's layout, or convert it")
            }
            Error::Parents { left, right } => {
                let text = Text::new("both sides broadcast, but come from different layouts: 2^").number(left);
                let text = text.push(" and 2^").number(right).push(" elements a thread; ");
                text.push("slice both from one layout, or use broadcast_to")
            }
            Error::MixedBasis { bit, axis } => {
                let text = bit.write(Text::new("")).push(" moves along dimension ").number(axis);
                text.push(" and off it at once; convert to a layout where each lane and warp bit moves along one of them")
            }
            Error::NotTrivial { difference, wavefronts } => {
                let text = difference.write(Text::new("the conversion moves elements between threads: "));
                let text = text.push("; it would cost ").number(wavefronts as usize);
                text.push(" shared-memory wavefronts a warp and 2 barriers")
            }
            Error::Warps { from, to } => {
                Text::new("the tile lives in ").number(from).push(" warps, the layout is for ").number(to)
            }
            Error::ProductShapes { a, b, c } => {
                let text = Text::new("a is ").shape(&a.shape()).push(", b ").shape(&b.shape()).push(", the accumulator ");
                text.shape(&c.shape()).push("; [M, K] times [K, N] into [M, N] is wanted")
            }
            Error::Fragment { operand, bit, is, wants } => {
                let shape = is.shape.shape();
                let text = bit.write(Text::new("in ").push(operand.name()).push(" of ").shape(&shape).push(" "));
                let text = text.push(" moves by ").element(is.element, &shape).push("; the fragment moves by ");
                text.element(wants, &shape).push(" there: take the operand's layout from the accumulator's unit")
            }
            Error::Registers { operand, element } => {
                let shape = element.shape.shape();
                let text = Text::new("the threads' registers of ").push(operand.name()).push(" of ").shape(&shape);
                let text = text.push(" do not reach ").element(element.element, &shape);
                text.push(" on from their first element: take the operand's layout from the accumulator's unit")
            }
            Error::AllOfK { held, k } => {
                let text = Text::new("every thread must hold all ").number(k).push(" of k for its rows and columns; it holds ");
                text.number(held)
            }
            Error::SliceRange { start, length, extent } => {
                let text = Text::new("").number(start).push("..").number(start + length);
                text.push(" is not inside the extent ").number(extent)
            }
            Error::SliceStart { start, length } => {
                Text::new("start ").number(start).push(" is no multiple of the length ").number(length)
            }
            Error::IndexStride { extent } => {
                let text = Text::new("the ").number(extent).push(" indices of dimension 0 do not lie at one distance");
                text.push(": only a slice with a comptime start is possible")
            }
            Error::NotInvertible { bases, bits } => {
                let text = Text::new("").number(bases).push(" offset bases reach only some of 2^").number(bits);
                text.push(" elements, or one of them twice")
            }
        }
    }
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.text().as_str())
    }
}

impl core::error::Error for Error {}
