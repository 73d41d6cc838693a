//! Layouts: where each element of a tile lives in a group of threads.
//!
//! The map is given by its values at single bits, the *bases*: one for each bit of a register's number, then five for the
//! lane's, then one for each bit of the warp's. The element at register r, lane l and warp w is the XOR of the bases of
//! the bits that are set in them. Bases are flat indices (see [`Shape`]), so that `reshape` touches no basis at all.
//!
//! With registers `(0, 1)` and lanes `(0, 2) (0, 4) (1, 0) (2, 0) (4, 0)` on `[8, 8]`, register 1 of lane 5 = `00101`
//! holds (0, 1) + (0, 2) + (1, 0) = (1, 3).
//!
//! A basis of 0 says that two threads, or two registers, hold the same elements. Who of several holders stands for an
//! element is decided here and nowhere else: see [`Layout::free_lanes`].

use crate::difference::Difference;
use crate::error::{ElementOf, Error, PackedShape};
use crate::f2::{Map, Span};
use crate::shape::Shape;
use crate::text::Text;

/// Bits of a lane's number.
pub const LANE_BITS: usize = 5;

/// The most bits of a register's number.
pub const MAX_REGISTER_BITS: usize = 12;

/// The most bits of a warp's number: a block has at most 1024 threads.
pub const MAX_WARP_BITS: usize = 5;

/// The most bases that a layout can have.
pub const MAX_BASES: usize = MAX_REGISTER_BITS + LANE_BITS + MAX_WARP_BITS;

/// A bit of a register's, lane's or warp's number, or of an offset in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Bit {
    Register(u8),
    Lane(u8),
    Warp(u8),
    Offset(u8),
}

impl Bit {
    pub(crate) const fn write(self, text: Text) -> Text {
        let (kind, i) = match self {
            Bit::Register(i) => ("register bit ", i),
            Bit::Lane(i) => ("lane bit ", i),
            Bit::Warp(i) => ("warp bit ", i),
            Bit::Offset(i) => ("offset bit ", i),
        };
        text.push(kind).number(i as usize)
    }
}

/// Where each element of a tile lives: a linear map from (register, lane, warp) to the tile's elements.
///
/// A value may be invalid and then says why: see [`check`](Layout::check). Operations on an invalid layout are invalid
/// with its first error, so that calls can be chained and checked once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub(crate) shape: Shape,
    pub(crate) bases: [u32; MAX_BASES],
    pub(crate) registers: u8,
    pub(crate) warps: u8,
    pub(crate) fault: Option<Error>,
}

impl Layout {
    /// The layout of no tile at all, which scalars have.
    pub const SCALAR: Layout =
        Layout { shape: Shape::SCALAR, bases: [0; MAX_BASES], registers: 0, warps: 0, fault: None };

    /// An invalid layout that says why.
    pub const fn invalid(error: Error) -> Layout {
        Layout { fault: Some(error), ..Layout::SCALAR }
    }

    /// A layout from bases as flat indices.
    ///
    /// Invalid if a basis lies outside the shape, some element is held by no thread, or there are too many bases.
    pub const fn from_bases(shape: Shape, registers: &[u32], lanes: [u32; LANE_BITS], warps: &[u32]) -> Layout {
        let mut builder = Builder::new(shape);
        let mut i = 0;
        while i < registers.len() {
            builder.register(registers[i]);
            i += 1;
        }
        builder.lanes(lanes);
        i = 0;
        while i < warps.len() {
            builder.warp(warps[i]);
            i += 1;
        }
        builder.finish()
    }

    /// The layout, or what is wrong with it.
    pub const fn check(self) -> Result<Layout, Error> {
        match self.fault {
            None => Ok(self),
            Some(error) => Err(error),
        }
    }

    /// What is wrong with it, if anything.
    pub const fn fault(&self) -> Option<Error> {
        self.fault
    }

    /// The tile's extents.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Bits of a register's number.
    pub const fn register_bits(&self) -> usize {
        self.registers as usize
    }

    /// Elements that a thread holds, duplicates counted.
    pub const fn registers(&self) -> usize {
        1 << self.registers
    }

    /// Bits of a warp's number.
    pub const fn warp_bits(&self) -> usize {
        self.warps as usize
    }

    /// Warps that hold the tile.
    pub const fn warps(&self) -> usize {
        1 << self.warps
    }

    /// Threads that hold the tile.
    pub const fn threads(&self) -> usize {
        32 << self.warps
    }

    /// What each bit moves by, as flat indices: registers, five lanes, warps, each from the lowest bit.
    pub const fn columns(&self) -> &[u32] {
        self.bases.split_at(self.bits()).0
    }

    /// What a bit of the register's number moves by, as a flat index.
    pub const fn register_basis(&self, bit: usize) -> u32 {
        self.bases[bit]
    }

    /// What a bit of the lane's number moves by.
    pub const fn lane_basis(&self, bit: usize) -> u32 {
        self.bases[self.registers as usize + bit]
    }

    /// Whether warps have different parts of an axis.
    pub const fn differs_between_warps(&self, axis: usize) -> bool {
        let mut i = 0;
        while axis < self.shape.rank() && i < self.warp_bits() {
            if self.shape.coordinate(self.warp_basis(i), axis) != 0 {
                return true;
            }
            i += 1;
        }
        false
    }

    /// What a bit of the warp's number moves by.
    pub const fn warp_basis(&self, bit: usize) -> u32 {
        self.bases[self.registers as usize + LANE_BITS + bit]
    }

    pub(crate) const fn bits(&self) -> usize {
        self.registers as usize + LANE_BITS + self.warps as usize
    }

    /// What column `i` is a bit of.
    pub(crate) const fn bit(&self, i: usize) -> Bit {
        let registers = self.registers as usize;
        if i < registers {
            Bit::Register(i as u8)
        } else if i < registers + LANE_BITS {
            Bit::Lane((i - registers) as u8)
        } else {
            Bit::Warp((i - registers - LANE_BITS) as u8)
        }
    }

    /// The element that a register of a thread holds, as a flat index.
    pub const fn apply(&self, register: usize, lane: usize, warp: usize) -> u32 {
        let registers = self.registers as usize;
        let mut rest = register | lane << registers | warp << (registers + LANE_BITS);
        let mut element = 0;
        while rest != 0 {
            let i = rest.trailing_zeros() as usize;
            element ^= if i < MAX_BASES { self.bases[i] } else { 0 };
            rest &= rest - 1;
        }
        element
    }

    /// The whole map: register bits lowest, then the lane's, then the warp's.
    pub const fn map(&self) -> Map {
        Map::new(self.columns(), self.shape.bits())
    }

    /// The span of the register bases, solvable for register numbers.
    pub const fn register_span(&self) -> Span {
        let (mut span, mut i) = (Span::new(), 0);
        while i < self.registers as usize {
            span.insert(self.bases[i], 1 << i);
            i += 1;
        }
        span
    }

    /// The span of the register bases, all of them as one input.
    pub(crate) const fn register_span_of(&self, combination: u32) -> Span {
        let (mut span, mut i) = (Span::new(), 0);
        while i < self.registers as usize {
            span.insert(self.bases[i], combination);
            i += 1;
        }
        span
    }

    /// The bits of the lane's number that duplicate: of the threads and registers that have an element, its *holder* is
    /// the one whose free bits are all 0. Each element has exactly one.
    pub const fn free_lanes(&self) -> u32 {
        self.free_bits() >> self.registers & 31
    }

    /// The bits of the warp's number that duplicate.
    pub const fn free_warps(&self) -> u32 {
        self.free_bits() >> (self.registers as usize + LANE_BITS)
    }

    /// The bits of the register's number that duplicate.
    pub const fn free_registers(&self) -> u32 {
        self.free_bits() & ((1 << self.registers) - 1)
    }

    /// The bits of the register's number that move nothing: a thread has the same element with them and without. Of
    /// [`free_registers`](Self::free_registers) they are those that show in the basis alone.
    pub const fn repeated_registers(&self) -> u32 {
        let (mut repeated, mut i) = (0, 0);
        while i < self.register_bits() {
            repeated |= ((self.register_basis(i) == 0) as u32) << i;
            i += 1;
        }
        repeated
    }

    /// Whether no two warps hold the same element.
    pub const fn is_by_warp(&self) -> bool {
        let (mut span, mut by_warp, mut i) = (Span::new(), true, 0);
        while i < self.bits() {
            let new = span.insert(self.bases[i], 0);
            by_warp = by_warp && (new || i < self.registers as usize + LANE_BITS);
            i += 1;
        }
        by_warp
    }

    /// The bits that bring no new element when warps come first, then lanes, then registers.
    const fn free_bits(&self) -> u32 {
        let (mut span, mut free, mut step) = (Span::new(), 0, 0);
        let threads = self.bits() - self.registers as usize;
        while step < self.bits() {
            let i = if step < threads { self.bits() - 1 - step } else { step - threads };
            if !span.insert(self.bases[i], 0) {
                free |= 1 << i;
            }
            step += 1;
        }
        free
    }

    /// How many neighbours along the last dimension each group of consecutive registers holds: in every thread the
    /// registers `n v` to `n v + v - 1` have the flat indices `e` to `e + v - 1`, where `e` is a multiple of `v`.
    ///
    /// Registers in another order are not seen; an access to memory finds those, too: see [`banks::load`](crate::banks).
    pub const fn vector(&self) -> usize {
        let mut bits = 0;
        while bits < self.registers as usize && self.bases[bits] == 1 << bits {
            bits += 1;
        }
        let (mut others, mut i) = (1 << bits, bits);
        while i < self.bits() {
            others |= self.bases[i];
            i += 1;
        }
        1 << others.trailing_zeros()
    }

    /// Whether both are the same map, whatever constructors and operations they come from.
    pub const fn equals(&self, other: &Layout) -> bool {
        let mut same =
            self.shape.equals(&other.shape) && self.registers == other.registers && self.warps == other.warps;
        let mut i = 0;
        while same && i < self.bits() {
            same = self.bases[i] == other.bases[i];
            i += 1;
        }
        same && self.fault.is_none() && other.fault.is_none()
    }

    /// Whether both have each element in the same register of the same threads, duplicate registers aside.
    pub const fn same_tile(&self, other: &Layout) -> bool {
        self.compact().equals(&other.compact())
    }

    /// Without the register bits that move nothing.
    pub const fn compact(&self) -> Layout {
        let mut layout = Layout { bases: [0; MAX_BASES], registers: 0, ..*self };
        let (mut i, mut kept) = (0, 0);
        while i < self.bits() {
            let register = i < self.registers as usize;
            if !register || self.bases[i] != 0 {
                layout.bases[kept] = self.bases[i];
                kept += 1;
                layout.registers += register as u8;
            }
            i += 1;
        }
        layout
    }

    /// The first bit at which two layouts of one shape differ, register bits that move nothing aside.
    pub const fn difference(&self, other: &Layout) -> Option<Difference> {
        Difference::between(&self.compact(), &other.compact())
    }

    pub(crate) const fn failed(&self, error: Error) -> Layout {
        let first = match self.fault {
            Some(first) => first,
            None => error,
        };
        Layout { fault: Some(first), ..*self }
    }

    /// This layout if it reaches every element, else an invalid one.
    pub(crate) const fn complete(self) -> Layout {
        if self.fault.is_some() {
            return self;
        }
        let (span, mut i) = (self.map().span(), 0);
        while i < self.shape.bits() {
            if !span.contains(1 << i) {
                let element = ElementOf { element: 1 << i, shape: PackedShape::of(&self.shape) };
                return self.failed(Error::Unheld { element });
            }
            i += 1;
        }
        self
    }
}

/// A layout under construction: all registers first, then the lanes, then the warps.
pub(crate) struct Builder {
    pub layout: Layout,
}

impl Builder {
    pub const fn new(shape: Shape) -> Builder {
        Builder { layout: Layout { shape, fault: shape.fault(), ..Layout::SCALAR } }
    }

    pub const fn register(&mut self, basis: u32) {
        let i = self.layout.registers as usize;
        if i == MAX_REGISTER_BITS {
            self.layout = self.layout.failed(Error::TooManyRegisters { bits: i + 1 });
            return;
        }
        self.layout.bases[i] = basis;
        self.layout.registers += 1;
    }

    pub const fn lanes(&mut self, bases: [u32; LANE_BITS]) {
        let mut i = 0;
        while i < LANE_BITS {
            self.layout.bases[self.layout.registers as usize + i] = bases[i];
            i += 1;
        }
    }

    pub const fn warp(&mut self, basis: u32) {
        if self.layout.warps as usize == MAX_WARP_BITS {
            self.layout = self.layout.failed(Error::TooManyWarps { bits: MAX_WARP_BITS + 1 });
            return;
        }
        self.layout.bases[self.layout.bits()] = basis;
        self.layout.warps += 1;
    }

    /// The layout, if it reaches every element and nothing else.
    pub const fn finish(self) -> Layout {
        let (layout, mut i) = (self.layout, 0);
        while i < layout.bits() {
            if layout.bases[i] >> layout.shape.bits() != 0 {
                return layout.failed(Error::BeyondTile { bit: layout.bit(i), basis: layout.bases[i] });
            }
            i += 1;
        }
        layout.complete()
    }
}

impl core::fmt::Display for Layout {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(Text::new("").layout(self).as_str())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::named::linear;
    use std::collections::HashSet;

    /// Lane bit 1 moves nothing, register bit 1 moves as lane bit 0 does.
    fn with_duplicates() -> Layout {
        let registers = [[0, 1], [2, 0], [0, 0]];
        linear([4, 8], &registers, &[[2, 0], [0, 0], [0, 2], [0, 4], [1, 0]], &[[0, 0], [1, 4]])
    }

    #[test]
    fn apply_is_the_sum_of_the_bases() {
        let layout = with_duplicates().check().unwrap();
        let shape = layout.shape();
        assert_eq!(layout.apply(0b001, 0b00101, 0b10), shape.flat(&[2, 1]) ^ shape.flat(&[0, 2]) ^ shape.flat(&[1, 4]));
        for place in 0..1 << layout.bits() {
            let (register, thread) = (place & 7, place >> 3);
            assert_eq!(layout.apply(register, thread & 31, thread >> 5), layout.map().apply(place as u32));
        }
        assert_eq!((layout.registers(), layout.warps(), layout.threads(), layout.columns().len()), (8, 4, 128, 10));
    }

    #[test]
    fn every_element_has_one_holder() {
        let layout = with_duplicates();
        let mut held = HashSet::new();
        for (r, l, w) in (0..8 * 32 * 4).map(|i| (i & 7, i >> 3 & 31, i >> 8)) {
            let free = [(r, layout.free_registers()), (l, layout.free_lanes()), (w, layout.free_warps())];
            if free.iter().all(|&(number, free)| number as u32 & free == 0) {
                assert!(held.insert(layout.apply(r, l, w)));
            }
        }
        assert_eq!(held.len(), layout.shape().len());
        assert_eq!((layout.free_registers(), layout.free_lanes()), (0b110, 0b01010));
    }

    #[test]
    fn duplicate_registers_are_no_difference() {
        let layout = with_duplicates();
        assert!(layout.same_tile(&layout.compact()) && !layout.equals(&layout.compact()));
        assert_eq!((layout.compact().registers(), layout.compact().check().is_ok()), (4, true));
        assert!(layout.difference(&layout.compact()).is_none());
    }

    #[test]
    fn a_layout_must_reach_every_element() {
        let shape = Shape::new([2, 32]);
        let layout = Layout::from_bases(shape, &[], [1, 2, 4, 8, 16], &[]);
        let element = ElementOf { element: 32, shape: PackedShape::of(&shape) };
        assert_eq!(layout.check(), Err(Error::Unheld { element }));
        assert!(Layout::from_bases(shape, &[32], [1, 2, 4, 8, 16], &[]).check().is_ok());
    }

    #[test]
    fn a_basis_must_be_an_element() {
        let layout = Layout::from_bases(Shape::new([2, 16]), &[0], [1, 2, 4, 8, 16], &[32]);
        assert_eq!(layout.fault(), Some(Error::BeyondTile { bit: Bit::Warp(0), basis: 32 }));
    }

    #[test]
    fn neighbours_are_neighbours_in_every_thread() {
        let shape = Shape::new([4, 32]);
        let vector =
            |registers: &[u32], lanes| Layout::from_bases(shape, registers, lanes, &[]).check().unwrap().vector();
        assert_eq!(vector(&[1, 2], [4, 8, 16, 32, 64]), 4);
        assert_eq!(vector(&[2, 1], [4, 8, 16, 32, 64]), 1);
        // Lane 1 holds (0, 3), (0, 2), ...: pairs in the other order.
        assert_eq!(vector(&[1, 2], [7, 8, 16, 32, 64]), 1);
        assert_eq!(vector(&[1, 2, 2], [6, 8, 16, 32, 64]), 2);
    }

    #[test]
    fn capacities_are_errors() {
        let shape = Shape::new([32]);
        let lanes = [1, 2, 4, 8, 16];
        let registers = Layout::from_bases(shape, &[0; 13], lanes, &[]).check();
        assert_eq!(registers, Err(Error::TooManyRegisters { bits: 13 }));
        assert_eq!(Layout::from_bases(shape, &[], lanes, &[0; 6]).check(), Err(Error::TooManyWarps { bits: 6 }));
        assert!(Layout::from_bases(shape, &[0; 12], lanes, &[0; 5]).check().is_ok());
    }

    #[test]
    fn a_layout_is_cheap_to_copy() {
        assert!(size_of::<Layout>() <= 160, "{}", size_of::<Layout>());
    }
}
