//! What can be wrong, as data, and its words.
//!
//! An [`Error`] is a small `Copy` value with the numbers in it; [`Error::text`] is the one place that has words. They are
//! those of a kernel's author (dimensions, extents, lanes, warps), say what is and what was expected, and how to get
//! there if there is a way.

use crate::difference::Difference;
use crate::layout::{Bit, MAX_REGISTER_BITS};
use crate::linear::MapError;
use crate::shape::{MAX_RANK, MAX_SHAPE_BITS, Shape};
use crate::shared::MAX_PADDINGS;
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

/// Which rule a matrix product follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Product {
    /// `mma`, on the matrix unit.
    Mma,
    /// `dot`, by fused multiply-adds.
    Dot,
}

/// What a bit of an operand should move by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// To this element, as a flat index.
    Element(u32),
    /// Anywhere, but along one dimension only.
    Along {
        /// The dimension.
        dim: u8,
    },
}

/// What is wrong with a shape, a layout or an operation on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Error {
    /// An extent is no power of two.
    NotPowerOfTwo { dim: usize, extent: usize },
    /// A parameter that must be a power of two is none.
    Parameter { name: &'static str, value: usize },
    /// A parameter that is larger than any tile.
    TooLarge { name: &'static str, value: usize },
    /// More dimensions than are possible.
    Rank { rank: usize },
    /// A tile of more elements than are possible.
    TooManyElements { bits: usize },
    /// A thread would hold more elements than are possible.
    TooManyRegisters { bits: usize },
    /// More warps than a block can have.
    TooManyWarps { bits: usize },
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
    BasisOutside { bit: Bit, dim: u8, coordinate: usize, extent: usize },
    /// A basis that is no flat index of the tile.
    BeyondTile { bit: Bit, basis: u32 },
    /// An element that no thread holds.
    Unheld { element: ElementOf },
    /// A tile that should be a matrix.
    Matrix { rank: usize },
    /// A tile that should have one dimension.
    Vector { rank: usize },
    /// Indices whose extents off the axis aren't those of what they look into.
    Indices { source: PackedShape, index: PackedShape, axis: u8 },
    /// A view of shared memory whose elements don't lie in one block.
    NoBlock,
    /// A view that takes more bytes than the memory has.
    Footprint { wanted: usize, bytes: usize },
    /// A reshape to another number of elements.
    ElementCount { from: Shapes },
    /// Two tiles whose shapes don't fit each other.
    Shapes { op: &'static str, shapes: Shapes },
    /// A layout that wants a larger alignment than the memory has that it is laid over.
    LessAligned { wanted: u32, bytes: u32 },
    /// Two tiles whose extents are neither equal nor 1.
    Extents { shapes: Shapes },
    /// Two tiles whose layouts differ.
    Layouts { difference: Difference },
    /// A tile that doesn't hold what a broadcast needs.
    Broadcast { difference: Difference },
    /// Two tiles that broadcast against each other but come from different parents.
    Parents { left: usize, right: usize },
    /// A tile to be split whose last dimension isn't one of pairs.
    NoPairs { shape: PackedShape },
    /// A tile to be split whose pairs aren't in two registers of a thread.
    PairInTwoThreads { bit: Bit, basis: ElementOf },
    /// A part of a tile that threads would have to send each other.
    PartOfThreads { dim: usize, length: usize, bit: Bit, basis: ElementOf },
    /// Tiles in other numbers of warps.
    Warps { from: usize, to: usize },
    /// Shapes of a matrix product that don't fit.
    ProductShapes { a: PackedShape, b: PackedShape, c: PackedShape },
    /// An operand's basis that isn't the fragment's.
    Fragment { product: Product, operand: Operand, bit: Bit, is: ElementOf, wants: Wanted },
    /// An operand whose registers lack what the product needs.
    Registers { product: Product, operand: Operand, element: ElementOf },
    /// An operand whose threads don't hold all of k.
    AllOfK { product: Product, held: u32, k: u32 },
    /// A depth that is less than what the unit multiplies at once.
    Depth { k: usize, least: usize },
    /// No matrix unit for elements of so many bits.
    NoUnit { operand_bits: u32 },
    /// A unit that takes an operand with k in registers only.
    Packs { unit: &'static str, operand: Operand },
    /// A unit that has no fragment with so many neighbours along k.
    PackWidth { unit: &'static str, k_width: usize },
    /// A product has two operands.
    OperandIndex { index: usize },
    /// Columns that no instruction of wgmma has.
    WgmmaColumns { n: usize },
    /// Fewer warps along m than an instruction of wgmma has.
    WgmmaWarps { warps: usize },
    /// Fewer rows than an instruction of wgmma has.
    WgmmaRows { m: usize },
    /// A tile that isn't arranged as wgmma has it.
    WgmmaOperand { operand: Operand, difference: Difference },
    /// An element that lies where wgmma would not look for it.
    Descriptor { element: ElementOf, offset: u32 },
    /// A view that starts where none of wgmma's operands can.
    DescriptorStart { offset: u32, multiple: u32 },
    /// A view that wgmma reads with several descriptors.
    DescriptorExtent { dim: usize, extent: usize, wants: usize },
    /// An operation on memory that cannot have padding.
    Padding { op: &'static str },
    /// More kinds of padding than are possible.
    Paddings { pairs: usize },
    /// Two paddings after the same interval.
    RepeatedInterval { interval: usize },
    /// An alignment that no allocation can have.
    Alignment { bytes: usize },
    /// A swizzle that nvmma_shared doesn't have.
    SwizzleBytes { bytes: usize },
    /// Elements that nvmma_shared or tensor memory isn't for.
    ElementBits { bits: usize },
    /// A block of tensor memory with rows that no lane group has.
    TensorRows { rows: usize },
    /// More columns than tensor memory has.
    TooManyColumns { bits: usize },
    /// A tile that is smaller than the pattern of its layout.
    Pattern { dim: usize, extent: usize, least: usize },
    /// A slice outside the memory.
    SliceRange { start: usize, length: usize, extent: usize },
    /// A slice whose start isn't a multiple of its length.
    SliceStart { start: usize, length: usize },
    /// Dimension 0 of shared memory has no constant stride.
    IndexStride { extent: usize },
    /// A shared layout that sends two elements to one place.
    NotInvertible { bases: usize, bits: usize },
    /// A labelled map that is none, or an operation on some.
    Map(MapError),
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
        let (mut bits, mut dim) = ([0; MAX_RANK], 0);
        while dim < shape.rank() {
            bits[dim] = shape.dim_bits(dim) as u8;
            dim += 1;
        }
        PackedShape { rank: shape.rank() as u8, bits }
    }

    /// The shape.
    pub const fn shape(&self) -> Shape {
        let (mut extents, mut dim) = ([1; MAX_RANK], 0);
        while dim < self.rank as usize {
            extents[dim] = 1 << self.bits[dim];
            dim += 1;
        }
        Shape::from_slice(extents.split_at(self.rank as usize).0)
    }
}

impl Shapes {
    pub(crate) const fn of(left: &Shape, right: &Shape) -> Shapes {
        Shapes { left: PackedShape::of(left), right: PackedShape::of(right) }
    }
}

impl ElementOf {
    const fn write(&self, text: Text) -> Text {
        text.element(self.element, &self.shape.shape())
    }
}

impl Error {
    pub(crate) const fn shapes(op: &'static str, left: &Shape, right: &Shape) -> Error {
        Error::Shapes { op, shapes: Shapes::of(left, right) }
    }

    /// The error in words.
    pub const fn text(&self) -> Text {
        match *self {
            Error::NotPowerOfTwo { .. }
            | Error::Parameter { .. }
            | Error::TooLarge { .. }
            | Error::Rank { .. }
            | Error::TooManyElements { .. }
            | Error::TooManyRegisters { .. }
            | Error::TooManyWarps { .. } => self.of_sizes(),
            Error::Lanes { .. }
            | Error::LaneBases { .. }
            | Error::BasisOutside { .. }
            | Error::BeyondTile { .. }
            | Error::Unheld { .. } => self.of_bases(),
            Error::Axis { .. }
            | Error::RepeatedAxis { .. }
            | Error::OrderLength { .. }
            | Error::Matrix { .. }
            | Error::Vector { .. }
            | Error::Indices { .. } => self.of_dimensions(),
            Error::ProductShapes { .. }
            | Error::Fragment { .. }
            | Error::Registers { .. }
            | Error::AllOfK { .. }
            | Error::Depth { .. } => self.of_products(),
            Error::NoUnit { .. }
            | Error::Packs { .. }
            | Error::PackWidth { .. }
            | Error::OperandIndex { .. }
            | Error::WgmmaColumns { .. }
            | Error::WgmmaRows { .. }
            | Error::WgmmaOperand { .. }
            | Error::WgmmaWarps { .. } => self.of_units(),
            Error::Descriptor { .. } | Error::DescriptorStart { .. } | Error::DescriptorExtent { .. } => {
                self.of_descriptors()
            }
            Error::SliceRange { .. }
            | Error::SliceStart { .. }
            | Error::IndexStride { .. }
            | Error::NoBlock
            | Error::Footprint { .. }
            | Error::NotInvertible { .. } => self.of_memory(),
            Error::Padding { .. }
            | Error::Paddings { .. }
            | Error::RepeatedInterval { .. }
            | Error::Alignment { .. }
            | Error::SwizzleBytes { .. }
            | Error::ElementBits { .. }
            | Error::TensorRows { .. }
            | Error::TooManyColumns { .. }
            | Error::Pattern { .. } => self.of_allocations(),
            Error::Map(error) => error.write(Text::new("")),
            _ => self.of_tiles(),
        }
    }

    const fn of_sizes(&self) -> Text {
        let text = Text::new("");
        match *self {
            Error::NotPowerOfTwo { dim, extent } => {
                let text = Text::new("extent ").number(extent).push(" of dimension ").number(dim);
                neighbours(text.push(" is no power of two"), extent)
            }
            Error::Parameter { name, value } => {
                neighbours(Text::new(name).push(" is ").number(value).push(", which is no power of two"), value)
            }
            Error::TooLarge { name, value } => {
                Text::new(name).push(" is ").number(value).push(", more than any tile has")
            }
            Error::Rank { rank } => {
                text.number(rank).push(" dimensions; at most ").number(MAX_RANK).push(" are possible")
            }
            Error::TooManyElements { bits } => {
                text.push("2^").number(bits).push(" elements; at most 2^").number(MAX_SHAPE_BITS).push(" are possible")
            }
            Error::TooManyRegisters { bits } => {
                let text = text.push("a thread would hold 2^").number(bits).push(" elements; at most 2^");
                text.number(MAX_REGISTER_BITS).push(" are possible: take more warps or a smaller tile")
            }
            Error::TooManyWarps { bits } => text.number(1 << bits).push(" warps; a block has at most 32"),
            _ => text,
        }
    }

    const fn of_dimensions(&self) -> Text {
        let text = Text::new("");
        match *self {
            Error::Axis { axis, rank } => {
                text.push("there is no dimension ").number(axis).push("; there are ").number(rank).push(", from 0")
            }
            Error::RepeatedAxis { axis } => {
                text.push("the order names dimension ").number(axis).push(" twice; each must occur once")
            }
            Error::OrderLength { length, rank } => {
                text.push("the order has ").number(length).push(" entries for ").number(rank).push(" dimensions")
            }
            Error::Matrix { rank } => text.push("a tile of 2 dimensions is wanted; this one has ").number(rank),
            Error::Vector { rank } => text.push("a tile of 1 dimension is wanted; this one has ").number(rank),
            Error::Indices { source, index, axis } => {
                let text = text.push("indices of ").shape(&index.shape()).push(" into ").shape(&source.shape());
                let text = text.push(" along dimension ").number(axis as usize);
                text.push("; every other extent must be the same")
            }
            _ => text,
        }
    }

    const fn of_bases(&self) -> Text {
        let text = Text::new("");
        match *self {
            Error::Lanes { lanes } => text.push("the lanes multiply to ").number(lanes).push("; a warp has 32"),
            Error::LaneBases { bases } => text.number(bases).push(" lane bases; 32 lanes have 5"),
            Error::BasisOutside { bit, dim, coordinate, extent } => {
                let text = bit.write(text).push(" moves by ").number(coordinate).push(" along dimension ");
                text.number(dim as usize).push(", whose extent is ").number(extent)
            }
            Error::BeyondTile { bit, basis } => {
                let text = bit.write(text).push(" moves by the flat index ").number(basis as usize);
                text.push(", which is beyond the tile's last element")
            }
            Error::Unheld { element } => {
                let text = element.write(text.push("no thread holds element ")).push(" of ");
                text.shape(&element.shape.shape()).push("; the bases must reach every element")
            }
            _ => text,
        }
    }

    const fn of_tiles(&self) -> Text {
        let text = Text::new("");
        match *self {
            Error::ElementCount { from } => {
                let (left, right) = (from.left.shape(), from.right.shape());
                let text = text.shape(&left).push(" has ").number(left.len()).push(" elements, ");
                text.shape(&right).push(" has ").number(right.len())
            }
            Error::LessAligned { wanted, bytes } => {
                let text = text.push("the view wants memory aligned to ").number(wanted as usize);
                text.push(" bytes, this is aligned to ").number(bytes as usize).push(": make it with `aligned`")
            }
            Error::Extents { shapes } => {
                let text = text.shape(&shapes.left.shape()).push(" and ").shape(&shapes.right.shape());
                text.push(" do not broadcast: extents must be equal, or 1")
            }
            Error::Shapes { op, shapes } => text.shape(&shapes.left.shape()).push(op).shape(&shapes.right.shape()),
            Error::Layouts { difference } => {
                let text = difference.write(text.push("the layouts differ: "));
                text.push("; convert one side with convert_layout")
            }
            Error::Broadcast { difference } => {
                let text = difference.write(text.push("the threads do not hold what the larger tile's layout needs: "));
                text.push("; take the smaller tile in the slice of the larger one's layout, or convert it")
            }
            Error::Parents { left, right } => {
                let text = text.push("both sides broadcast, but come from different layouts: ").number(1 << left);
                let text = text.push(" and ").number(1 << right).push(" elements a thread; ");
                text.push("slice both from one layout, or use broadcast_to")
            }
            Error::NoPairs { shape } => {
                let text = text.push("the last dimension of ").shape(&shape.shape());
                text.push(" must have extent 2; reshape the tile so that it has")
            }
            Error::PairInTwoThreads { bit, basis } => {
                let text = bit.write(text.push("of ").shape(&basis.shape.shape()).push(" "));
                let text = basis.write(text.push(" moves by "));
                text.push(
                    ", so a thread's registers are not the two halves of each pair: convert the tile to `paired` of \
                     the layout that the halves should have",
                )
            }
            Error::PartOfThreads { dim, length, bit, basis } => {
                let text = bit.write(text.push("of ").shape(&basis.shape.shape()).push(" "));
                let text = basis.write(text.push(" moves by ")).push(": a slice of ").number(length);
                let text =
                    text.push(" indices of dimension ").number(dim).push(" is not in each thread's own registers; ");
                text.push("take a longer slice, or convert the tile first")
            }
            Error::Warps { from, to } => {
                let text = text.push("one tile lives in ").number(from).push(" warps, the other in ").number(to);
                text.push("; every tile of a kernel lives in all its warps")
            }
            _ => text,
        }
    }

    const fn of_products(&self) -> Text {
        let text = Text::new("");
        match *self {
            Error::ProductShapes { a, b, c } => {
                let text =
                    text.push("a is ").shape(&a.shape()).push(", b ").shape(&b.shape()).push(", the accumulator ");
                text.shape(&c.shape()).push("; [M, K] times [K, N] into [M, N] is wanted")
            }
            Error::Fragment { product, operand, bit, is, wants } => {
                let text =
                    bit.write(text.push("in ").push(operand.name()).push(" ").shape(&is.shape.shape()).push(" "));
                let text = is.write(text.push(" moves by "));
                let text = match wants {
                    Wanted::Element(wants) => text.push("; the product needs ").element(wants, &is.shape.shape()),
                    Wanted::Along { dim } => {
                        text.push("; the product needs a move along dimension ").number(dim as usize).push(" only")
                    }
                };
                remedy(text.push(" there"), product, operand)
            }
            Error::Registers { product, operand, element } => {
                let text = text.push("in ").push(operand.name()).push(" ").shape(&element.shape.shape());
                let text =
                    text.push(" a thread's registers do not reach the elements that the product needs, such as ");
                remedy(element.write(text), product, operand)
            }
            Error::AllOfK { product, held, k } => {
                let text = text.push("a thread's registers of a reach ").number(held as usize).push(" of the ");
                let text = text.number(k as usize).push(" elements along k; the product needs all");
                remedy(text, product, Operand::A)
            }
            Error::Depth { k, least } => {
                let text = text.push("k is ").number(k).push("; the unit multiplies ").number(least);
                text.push(" at once: pad k with zeros")
            }
            _ => text,
        }
    }

    const fn of_units(&self) -> Text {
        let text = Text::new("");
        match *self {
            Error::NoUnit { operand_bits } => {
                let text = text.push("no matrix unit multiplies elements of ").number(operand_bits as usize);
                text.push(" bits; take dot, or convert the operands")
            }
            Error::Packs { unit, operand } => {
                let text = text.push(unit).push(" takes ").push(operand.name());
                let text = text.push(" only with k in a thread's neighbouring registers: take the layout `");
                text.push(operand.name()).push("`")
            }
            Error::PackWidth { unit, k_width } => {
                let text = text.push(unit).push(" has no operand with ").number(k_width);
                text.push(" neighbours along k in a thread; `a` and `b` have as many as the unit takes")
            }
            Error::OperandIndex { index } => {
                text.push("there is no operand ").number(index).push("; a is operand 0, b operand 1")
            }
            Error::WgmmaColumns { n } => {
                let text = text.push("an instruction of wgmma has 8 to 256 columns, not ").number(n);
                text.push("; a wider tile takes several")
            }
            Error::WgmmaRows { m } => {
                let text = text.push("an instruction of wgmma has 64 rows; the tile has ").number(m);
                text.push(": take 64 or a multiple")
            }
            Error::WgmmaOperand { operand, difference } => {
                let text = difference.write(text.push(operand.name()).push(" is not as wgmma has it: "));
                let wanted =
                    if matches!(operand, Operand::A) { "`a` of the accumulator's" } else { "`accumulator` of a" };
                text.push(" (there is wgmma's); take the layout ").push(wanted).push(" Mma::wgmma")
            }
            Error::WgmmaWarps { warps } => {
                let text = text.push("four warps along m share an instruction of wgmma; here are ").number(warps);
                text.push(": take 4 or a multiple")
            }
            _ => text,
        }
    }

    const fn of_descriptors(&self) -> Text {
        let text = Text::new("");
        match *self {
            Error::Descriptor { element, offset } => {
                let text = element.write(text.push("element ")).push(" lies at offset ").number(offset as usize);
                text.push(", where no swizzle of wgmma puts it; take nvmma_shared")
            }
            Error::DescriptorStart { offset, multiple } => {
                let text = text.push("the view starts at offset ").number(offset as usize);
                text.push("; wgmma's operands start at multiples of ").number(multiple as usize)
            }
            Error::DescriptorExtent { dim, extent, wants } => {
                let text = text.push("dimension ").number(dim).push(" has extent ").number(extent);
                text.push("; one descriptor of this swizzle reaches ").number(wants)
            }
            _ => text,
        }
    }

    const fn of_allocations(&self) -> Text {
        let text = Text::new("");
        match *self {
            Error::Padding { op } => text.push(op).push(" is not possible in padded memory; take a swizzle"),
            Error::Paddings { pairs } => {
                let text = text.number(pairs).push(" pairs of an interval and a padding; at most ");
                text.number(MAX_PADDINGS).push(" are possible")
            }
            Error::RepeatedInterval { interval } => {
                text.push("two paddings after each ").number(interval).push(" elements; take one")
            }
            Error::Alignment { bytes } => {
                text.push("memory cannot be aligned to ").number(bytes).push(" bytes; 16 to 1024 are possible")
            }
            Error::SwizzleBytes { bytes } => {
                text.push("no swizzle of ").number(bytes).push(" bytes; there are 0 for none, 32, 64 and 128")
            }
            Error::ElementBits { bits } => {
                text.push("elements of ").number(bits).push(" bits; 8, 16, 32 and 64 are possible here")
            }
            Error::TensorRows { rows } => text.push("a block of tensor memory has 64 or 128 rows, not ").number(rows),
            Error::TooManyColumns { bits } => {
                text.push("2^").number(bits).push(" columns; tensor memory has at most 2048")
            }
            Error::Pattern { dim, extent, least } => {
                let text = text.push("extent ").number(extent).push(" of dimension ").number(dim);
                text.push(" is less than the ").number(least).push(" of the layout's pattern; take a smaller pattern")
            }
            _ => text,
        }
    }

    const fn of_memory(&self) -> Text {
        let text = Text::new("");
        match *self {
            Error::SliceRange { start, length, extent } => {
                let text = text.number(length).push(" indices from ").number(start);
                text.push(" on are not inside the extent ").number(extent)
            }
            Error::SliceStart { start, length } => {
                text.push("start ").number(start).push(" is no multiple of the length ").number(length)
            }
            Error::IndexStride { extent } => {
                let text = text.push("the ").number(extent).push(" indices of dimension 0 do not lie at one distance");
                text.push(": only a slice with a comptime start is possible")
            }
            Error::NoBlock => text.push("the view's elements do not lie in one block: only whole memory, or what `index` gives of it, can be seen as another"),
            Error::Footprint { wanted, bytes } => {
                text.push("the new view takes ").number(wanted).push(" bytes, the memory has ").number(bytes)
            }
            Error::NotInvertible { bases, bits } => {
                let text = text.number(bases).push(" offset bases for 2^").number(bits);
                text.push(" elements; each element must have one offset")
            }
            _ => text,
        }
    }
}

/// The powers of two next to a number.
const fn neighbours(text: Text, number: usize) -> Text {
    match number.checked_next_power_of_two() {
        Some(above @ 2..) => text.push("; the next are ").number(above / 2).push(" and ").number(above),
        _ => text,
    }
}

/// Which layout would be right, by its name.
const fn remedy(text: Text, product: Product, operand: Operand) -> Text {
    let text = text.push(": take ").push(operand.name()).push(" in the layout ");
    text.push(match (product, operand) {
        (Product::Mma, Operand::A) => "`a` or `a_col` of the accumulator's Mma",
        (Product::Mma, Operand::B) => "`b` or `b_row` of the accumulator's Mma",
        (Product::Mma, Operand::C) => "`accumulator` of an Mma",
        (Product::Dot, Operand::A) => "`operand_a` of the accumulator's",
        (Product::Dot, Operand::B) => "`operand_b` of the accumulator's",
        (Product::Dot, Operand::C) => "that the operands were made of",
    })
}

impl core::fmt::Display for Error {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.text().as_str())
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::named::blocked;
    use std::string::ToString;

    #[test]
    fn every_error_has_words() {
        let shape = PackedShape::of(&Shape::new([4, 8]));
        let element = ElementOf { element: 9, shape };
        let shapes = Shapes { left: shape, right: shape };
        let here = blocked([32, 32], [1, 1], [8, 4], [1, 1], [1, 0]);
        let difference = here.difference(&here.permute([1, 0])).unwrap();
        let (bit, product, operand) = (Bit::Lane(2), Product::Mma, Operand::B);
        let errors = [
            Error::NotPowerOfTwo { dim: 1, extent: 96 },
            Error::Parameter { name: "vec", value: 3 },
            Error::TooLarge { name: "lanes", value: 1 << 30 },
            Error::Rank { rank: 9 },
            Error::TooManyElements { bits: 25 },
            Error::TooManyRegisters { bits: 13 },
            Error::TooManyWarps { bits: 6 },
            Error::Axis { axis: 2, rank: 2 },
            Error::RepeatedAxis { axis: 1 },
            Error::OrderLength { length: 1, rank: 2 },
            Error::Lanes { lanes: 64 },
            Error::LaneBases { bases: 4 },
            Error::BasisOutside { bit, dim: 0, coordinate: 4, extent: 4 },
            Error::BeyondTile { bit, basis: 64 },
            Error::Unheld { element },
            Error::Matrix { rank: 3 },
            Error::Vector { rank: 2 },
            Error::Indices { source: shape, index: shape, axis: 1 },
            Error::NoBlock,
            Error::Footprint { wanted: 2048, bytes: 1024 },
            Error::ElementCount { from: shapes },
            Error::Shapes { op: " with ", shapes },
            Error::LessAligned { wanted: 1024, bytes: 16 },
            Error::Extents { shapes },
            Error::Layouts { difference },
            Error::Broadcast { difference },
            Error::Parents { left: 2, right: 3 },
            Error::NoPairs { shape },
            Error::PairInTwoThreads { bit, basis: element },
            Error::PartOfThreads { dim: 1, length: 8, bit, basis: element },
            Error::Warps { from: 4, to: 8 },
            Error::ProductShapes { a: shape, b: shape, c: shape },
            Error::Fragment { product, operand, bit, is: element, wants: Wanted::Element(1) },
            Error::Fragment { product, operand, bit, is: element, wants: Wanted::Along { dim: 1 } },
            Error::Registers { product, operand, element },
            Error::AllOfK { product, held: 4, k: 8 },
            Error::Depth { k: 2, least: 4 },
            Error::NoUnit { operand_bits: 64 },
            Error::Packs { unit: "m16n8k8", operand },
            Error::PackWidth { unit: "m8n8k4", k_width: 2 },
            Error::OperandIndex { index: 2 },
            Error::WgmmaColumns { n: 512 },
            Error::WgmmaWarps { warps: 2 },
            Error::WgmmaRows { m: 32 },
            Error::WgmmaOperand { operand, difference },
            Error::Descriptor { element, offset: 9 },
            Error::DescriptorStart { offset: 8, multiple: 512 },
            Error::DescriptorExtent { dim: 1, extent: 128, wants: 64 },
            Error::Padding { op: "wgmma" },
            Error::Paddings { pairs: 5 },
            Error::RepeatedInterval { interval: 32 },
            Error::Alignment { bytes: 8 },
            Error::SwizzleBytes { bytes: 16 },
            Error::ElementBits { bits: 4 },
            Error::TensorRows { rows: 32 },
            Error::TooManyColumns { bits: 10 },
            Error::Pattern { dim: 1, extent: 16, least: 64 },
            Error::SliceRange { start: 4, length: 4, extent: 4 },
            Error::SliceStart { start: 2, length: 4 },
            Error::IndexStride { extent: 4 },
            Error::NotInvertible { bases: 4, bits: 5 },
            Error::Map(MapError::Columns { columns: 4, bits: 5 }),
        ];
        for error in errors {
            let words = error.to_string();
            assert!(words.len() > 15 && !words.ends_with("..."), "{error:?}: {words}");
        }
        assert!(size_of::<Error>() <= 40, "{}", size_of::<Error>());
    }

    #[test]
    fn messages_say_what_is_and_what_would_be_right() {
        let error = Error::NotPowerOfTwo { dim: 1, extent: 96 };
        assert_eq!(error.to_string(), "extent 96 of dimension 1 is no power of two; the next are 64 and 128");
        let zero = Error::Parameter { name: "k", value: 0 };
        assert_eq!(zero.to_string(), "k is 0, which is no power of two");
        let c = blocked([32, 32], [1, 1], [8, 4], [1, 1], [1, 0]);
        let error = crate::typing::dot(&c.operand_a(4), &c.permute([1, 0]).operand_b(4), &c).err().unwrap();
        assert_eq!(
            error.to_string(),
            "in b [4, 32] lane bit 0 moves by (0, 0); the product needs (0, 1) there: \
             take b in the layout `operand_b` of the accumulator's"
        );
    }
}
