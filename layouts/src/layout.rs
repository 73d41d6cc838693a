//! Layouts: where each element of a tile lives in a group of threads.
//!
//! The map is given by its values at single bits, the *bases*: one for each bit of a register's number, then five for the
//! lane's, then one for each bit of the warp's. The element at register r, lane l and warp w is the XOR of the bases of
//! the bits that are set in them. Bases are flat indices (see [`Shape`]), so that `reshape` touches no basis at all.
//!
//! A basis of 0 says that two threads, or two registers, hold the same elements.

use crate::error::{ElementOf, Error, PackedShape, Shapes};
use crate::f2::Span;
use crate::shape::{MAX_RANK, Shape};
use crate::text::Text;

/// Bits of a lane's number.
pub const LANE_BITS: usize = 5;

/// The most bases that a layout can have.
pub const MAX_BASES: usize = 24;

/// The most bits of a register's number.
pub const MAX_REGISTER_BITS: usize = 12;

/// A bit of a register's, lane's or warp's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Bit {
    Register(usize),
    Lane(usize),
    Warp(usize),
}

impl Bit {
    pub(crate) const fn write(self, text: Text) -> Text {
        match self {
            Bit::Register(i) => text.push("register bit ").number(i),
            Bit::Lane(i) => text.push("lane bit ").number(i),
            Bit::Warp(i) => text.push("warp bit ").number(i),
        }
    }
}

/// The first bit at which two layouts differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Difference {
    bit: Bit,
    here: Option<u32>,
    there: Option<u32>,
    shape: PackedShape,
}

impl Difference {
    pub(crate) const fn write(&self, text: Text) -> Text {
        let text = self.bit.write(text);
        let text = self.move_of(text, self.here).push(" here,");
        self.move_of(text, self.there).push(" there")
    }

    const fn move_of(&self, text: Text, basis: Option<u32>) -> Text {
        match basis {
            None => text.push(" does not exist"),
            Some(0) => text.push(" does not move"),
            Some(basis) => text.push(" moves by ").element(basis, &self.shape.shape()),
        }
    }
}

/// Where each element of a tile lives: a linear map from (register, lane, warp) to the tile's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    shape: Shape,
    bases: [u32; MAX_BASES],
    registers: u8,
    warps: u8,
    fault: Option<Error>,
}

impl Layout {
    /// The layout of no tile at all, which scalars have.
    pub const SCALAR: Layout = Layout { shape: Shape::SCALAR, bases: [0; MAX_BASES], registers: 0, warps: 0, fault: None };

    /// An invalid layout that says why.
    pub const fn invalid(error: Error) -> Layout {
        Layout { fault: Some(error), ..Layout::SCALAR }
    }

    /// A layout from bases as flat indices.
    pub const fn from_bases(shape: Shape, registers: &[u32], lanes: [u32; LANE_BITS], warps: &[u32]) -> Layout {
        if let Some(error) = shape.fault() {
            return Layout::invalid(error);
        }
        let mut builder = Builder::new(shape);
        builder.registers(registers);
        builder.lanes(&lanes);
        builder.warps(warps);
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

    /// What a bit of the register's number moves by, as a flat index.
    pub const fn register_basis(&self, bit: usize) -> u32 {
        self.bases[bit]
    }

    /// What a bit of the lane's number moves by.
    pub const fn lane_basis(&self, bit: usize) -> u32 {
        self.bases[self.registers as usize + bit]
    }

    /// What a bit of the warp's number moves by.
    pub const fn warp_basis(&self, bit: usize) -> u32 {
        self.bases[self.registers as usize + LANE_BITS + bit]
    }

    const fn bits(&self) -> usize {
        self.registers as usize + LANE_BITS + self.warps as usize
    }

    const fn bit(&self, i: usize) -> Bit {
        let registers = self.registers as usize;
        if i < registers {
            Bit::Register(i)
        } else if i < registers + LANE_BITS {
            Bit::Lane(i - registers)
        } else {
            Bit::Warp(i - registers - LANE_BITS)
        }
    }

    /// The element that a register of a thread holds, as a flat index.
    pub const fn apply(&self, register: usize, lane: usize, warp: usize) -> u32 {
        let registers = self.registers as usize;
        let place = register | lane << registers | warp << (registers + LANE_BITS);
        let (mut element, mut i) = (0, 0);
        while i < self.bits() {
            if place >> i & 1 == 1 {
                element ^= self.bases[i];
            }
            i += 1;
        }
        element
    }

    /// The layout's span of register bases, solvable for register numbers.
    pub const fn register_span(&self) -> Span {
        let (mut span, mut i) = (Span::new(), 0);
        while i < self.registers as usize {
            span.insert(self.bases[i], 1 << i);
            i += 1;
        }
        span
    }

    /// The bits of the lane's number that duplicate: an element's holder has 0 there.
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

    /// The bits that bring no new element when warps come first, then lanes, then registers.
    const fn free_bits(&self) -> u32 {
        let (mut span, mut free) = (Span::new(), 0);
        let registers = self.registers as usize;
        let mut step = 0;
        while step < self.bits() {
            let threads = self.bits() - registers;
            let i = if step < threads { self.bits() - 1 - step } else { step - threads };
            if !span.insert(self.bases[i], 0) {
                free |= 1 << i;
            }
            step += 1;
        }
        free
    }

    /// How many consecutive elements a thread holds in consecutive registers, from register 0 on.
    pub const fn vector(&self) -> usize {
        let mut bits = 0;
        while bits < self.registers as usize && self.bases[bits] == 1 << bits {
            bits += 1;
        }
        1 << bits
    }

    /// Whether both are the same map.
    pub const fn equals(&self, other: &Layout) -> bool {
        let mut same = self.shape.equals(&other.shape) && self.registers == other.registers && self.warps == other.warps;
        let mut i = 0;
        while i < MAX_BASES {
            same = same && self.bases[i] == other.bases[i];
            i += 1;
        }
        same && self.fault.is_none() && other.fault.is_none()
    }

    /// Whether both have each element in the same register of the same threads, duplicate registers aside.
    pub const fn same_tile(&self, other: &Layout) -> bool {
        self.compact().equals(&other.compact())
    }

    /// Without registers that duplicate others.
    pub const fn compact(&self) -> Layout {
        let mut builder = Builder::new(self.shape);
        let mut i = 0;
        while i < self.bits() {
            if i >= self.registers as usize || self.bases[i] != 0 {
                builder.push(self.bit(i), self.bases[i]);
            }
            i += 1;
        }
        builder.layout.fault = self.fault;
        builder.layout
    }

    /// The first bit at which two layouts of one shape differ, duplicate registers aside.
    pub const fn difference(&self, other: &Layout) -> Option<Difference> {
        let (here, there) = (self.compact(), other.compact());
        let shape = PackedShape::of(&here.shape);
        let (mut kind, mut i) = (0, 0);
        while kind < 3 {
            let (bit, left, right) = match kind {
                0 => (Bit::Lane(i), here.basis_of(Bit::Lane(i)), there.basis_of(Bit::Lane(i))),
                1 => (Bit::Warp(i), here.basis_of(Bit::Warp(i)), there.basis_of(Bit::Warp(i))),
                _ => (Bit::Register(i), here.basis_of(Bit::Register(i)), there.basis_of(Bit::Register(i))),
            };
            match (left, right) {
                (None, None) => {
                    kind += 1;
                    i = 0;
                }
                (Some(a), Some(b)) if a == b => i += 1,
                _ => return Some(Difference { bit, here: left, there: right, shape }),
            }
        }
        None
    }

    const fn basis_of(&self, bit: Bit) -> Option<u32> {
        match bit {
            Bit::Register(i) if i < self.registers as usize => Some(self.register_basis(i)),
            Bit::Lane(i) if i < LANE_BITS => Some(self.lane_basis(i)),
            Bit::Warp(i) if i < self.warps as usize => Some(self.warp_basis(i)),
            _ => None,
        }
    }

    /// Without dimension `dim`: each basis loses its part along it.
    ///
    /// Registers that held different elements along it become duplicates and stay: so the slice keeps the domain of its
    /// parent, and `x.expand_dims(dim)` broadcasts to it.
    pub const fn slice(&self, dim: usize) -> Layout {
        self.projected(dim, self.shape.without_dim(dim))
    }

    /// With extent 1 in dimension `axis`: each basis loses its part along it.
    pub const fn collapse(&self, axis: usize) -> Layout {
        self.projected(axis, self.shape.with_extent(axis, 1))
    }

    const fn projected(&self, dim: usize, shape: Shape) -> Layout {
        if let Some(error) = shape.fault() {
            return self.failed(error);
        }
        let (low, width) = (self.shape.shift(dim), self.shape.dim_bits(dim));
        let mut layout = *self;
        layout.shape = shape;
        let mut i = 0;
        while i < self.bits() {
            let basis = self.bases[i];
            layout.bases[i] = basis & ((1 << low) - 1) | basis >> (low + width) << low;
            i += 1;
        }
        layout
    }

    /// With an extent of 1 inserted before dimension `axis`.
    pub const fn expand_dims(&self, axis: usize) -> Layout {
        self.with_shape(self.shape.with_dim(axis))
    }

    /// The same elements in row-major order under another shape.
    pub const fn reshape<const N: usize>(&self, shape: [usize; N]) -> Layout {
        let shape = Shape::new(shape);
        if shape.fault().is_none() && shape.bits() != self.shape.bits() {
            let from = Shapes { left: PackedShape::of(&self.shape), right: PackedShape::of(&shape) };
            return self.failed(Error::ElementCount { from });
        }
        self.with_shape(shape)
    }

    const fn with_shape(&self, shape: Shape) -> Layout {
        match shape.fault() {
            Some(error) => self.failed(error),
            None => Layout { shape, ..*self },
        }
    }

    /// Dimension `i` of the result is dimension `order[i]`.
    pub const fn permute<const N: usize>(&self, order: [usize; N]) -> Layout {
        let shape = self.shape.permuted(&order);
        if let Some(error) = shape.fault() {
            return self.failed(error);
        }
        let mut layout = Layout { shape, ..*self };
        let mut i = 0;
        while i < self.bits() {
            layout.bases[i] = permuted(self.bases[i], &self.shape, &shape, &order);
            i += 1;
        }
        layout
    }

    /// The layout in which each thread holds, for the rows of its elements of this accumulator `[M, N]`, all of k: the left
    /// operand `[M, k]` of a product by fused multiply-adds.
    pub const fn operand_a(&self, k: usize) -> Layout {
        self.operand(1, k)
    }

    /// The same for its columns: the right operand `[k, N]`.
    pub const fn operand_b(&self, k: usize) -> Layout {
        self.operand(0, k)
    }

    /// Dimension `dim` is replaced by k, all of it in registers.
    const fn operand(&self, dim: usize, k: usize) -> Layout {
        if self.shape.rank() != 2 {
            return self.failed(Error::Axis { axis: 1, rank: self.shape.rank() });
        }
        if !k.is_power_of_two() {
            return self.failed(Error::Parameter { name: "k", value: k });
        }
        let kept = self.collapse(dim);
        let shape = self.shape.with_extent(dim, k);
        let (kept_shift, k_shift) = (shape.shift(1 - dim), shape.shift(dim));
        let mut builder = Builder::new(shape);
        let mut i = 0;
        while i < k.trailing_zeros() as usize {
            builder.push(Bit::Register(i), 1 << (k_shift + i));
            i += 1;
        }
        i = 0;
        while i < kept.bits() {
            if i >= kept.registers as usize || kept.bases[i] != 0 {
                builder.push(kept.bit(i), kept.bases[i] << kept_shift);
            }
            i += 1;
        }
        builder.layout.fault = self.fault;
        builder.layout
    }

    pub(crate) const fn failed(&self, error: Error) -> Layout {
        let first = match self.fault {
            Some(first) => first,
            None => error,
        };
        Layout { fault: Some(first), ..*self }
    }

    /// A layout of the same domain whose bases are the sums of both layouts' bases.
    pub(crate) const fn sum(&self, other: &Layout, shape: Shape, left: &Layout, right: &Layout) -> Layout {
        let mut layout = Layout { shape, ..*self };
        let mut i = 0;
        while i < self.bits() {
            layout.bases[i] = left.bases[i] | right.bases[i];
            i += 1;
        }
        if layout.fault.is_none() {
            layout.fault = other.fault;
        }
        layout
    }

    /// Extents of 1 wherever another shape of the same rank has them.
    pub(crate) const fn collapse_to(&self, shape: &Shape) -> Layout {
        let (mut layout, mut dim) = (*self, 0);
        while dim < shape.rank() {
            if shape.extent(dim) == 1 && layout.shape.extent(dim) != 1 {
                layout = layout.collapse(dim);
            }
            dim += 1;
        }
        layout
    }

    /// The layout if it reaches every element, else an invalid one.
    pub(crate) const fn complete(self) -> Layout {
        Builder { layout: self }.finish()
    }

    /// Each basis moved to where its coordinates stand in a larger shape, of which this one has extents of 1.
    pub(crate) const fn embedded(&self, shape: &Shape) -> Layout {
        let mut layout = *self;
        let mut i = 0;
        while i < self.bits() {
            let (mut basis, mut dim) = (0, 0);
            while dim < shape.rank() {
                basis |= (self.shape.coordinate(self.bases[i], dim) as u32) << shape.shift(dim);
                dim += 1;
            }
            layout.bases[i] = basis;
            i += 1;
        }
        layout
    }
}

/// A flat index with its dimensions in another order.
pub(crate) const fn permuted(element: u32, from: &Shape, to: &Shape, order: &[usize]) -> u32 {
    let (mut result, mut dim) = (0, 0);
    while dim < order.len() {
        result |= (from.coordinate(element, order[dim]) as u32) << to.shift(dim);
        dim += 1;
    }
    result
}

/// A layout under construction: registers first, then lanes, then warps.
pub(crate) struct Builder {
    pub layout: Layout,
}

impl Builder {
    pub const fn new(shape: Shape) -> Builder {
        Builder { layout: Layout { shape, fault: shape.fault(), ..Layout::SCALAR } }
    }

    pub const fn push(&mut self, bit: Bit, basis: u32) {
        let place = match bit {
            Bit::Register(_) => {
                if self.layout.registers as usize == MAX_REGISTER_BITS {
                    self.layout = self.layout.failed(Error::TooManyRegisters { bits: MAX_REGISTER_BITS + 1 });
                    return;
                }
                self.layout.registers += 1;
                self.layout.registers as usize - 1
            }
            Bit::Lane(i) => self.layout.registers as usize + i,
            Bit::Warp(_) => {
                if self.layout.warps == 5 {
                    self.layout = self.layout.failed(Error::Warps { from: 32, to: 64 });
                    return;
                }
                self.layout.warps += 1;
                self.layout.bits() - 1
            }
        };
        self.layout.bases[place] = basis;
    }

    pub const fn registers(&mut self, bases: &[u32]) {
        let mut i = 0;
        while i < bases.len() {
            self.push(Bit::Register(i), bases[i]);
            i += 1;
        }
    }

    pub const fn lanes(&mut self, bases: &[u32]) {
        let mut i = 0;
        while i < bases.len() {
            self.push(Bit::Lane(i), bases[i]);
            i += 1;
        }
    }

    pub const fn warps(&mut self, bases: &[u32]) {
        let mut i = 0;
        while i < bases.len() {
            self.push(Bit::Warp(i), bases[i]);
            i += 1;
        }
    }

    /// The layout, if it reaches every element.
    pub const fn finish(self) -> Layout {
        let layout = self.layout;
        let (mut span, mut i) = (Span::new(), 0);
        while i < layout.bits() {
            span.insert(layout.bases[i], 0);
            i += 1;
        }
        i = 0;
        while i < layout.shape.bits() {
            if !span.contains(1 << i) {
                let element = ElementOf { element: 1 << i, shape: PackedShape::of(&layout.shape) };
                return layout.failed(Error::Unheld { element });
            }
            i += 1;
        }
        layout
    }
}

impl core::fmt::Display for Layout {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        if let Some(error) = self.fault {
            return write!(f, "invalid: {error}");
        }
        write!(f, "{}:", self.shape)?;
        let mut kind = "";
        for i in 0..self.bits() {
            let own = match self.bit(i) {
                Bit::Register(_) => "registers",
                Bit::Lane(_) => "lanes",
                Bit::Warp(_) => "warps",
            };
            if own != kind {
                let separator = if kind.is_empty() { "" } else { ";" };
                write!(f, "{separator} {own}")?;
                kind = own;
            }
            write!(f, " {}", Text::new("").element(self.bases[i], &self.shape))?;
        }
        Ok(())
    }
}

const _: () = assert!(MAX_REGISTER_BITS + LANE_BITS + 5 <= MAX_BASES && MAX_RANK <= 8);
