//! Shared-memory layouts: where each element of a tile lies in an allocation.
//!
//! The map goes from the element's flat index to its offset, in elements: one column a bit of the flat index, XORed. A
//! swizzle is linear, so it is such a map. A slice fixes some bits: their columns are XORed into a constant and dropped,
//! which is why a slice works through any swizzle.

use crate::error::Error;
use crate::f2::Span;
use crate::layout::{LANE_BITS, Layout, permuted};
use crate::shape::{MAX_SHAPE_BITS, Shape};

/// Where each element of a tile lies in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedLayout {
    shape: Shape,
    columns: [u32; MAX_SHAPE_BITS],
    constant: u32,
    size: u32,
    fault: Option<Error>,
}

impl SharedLayout {
    /// Row-major, without gaps.
    pub const fn row_major<const N: usize>(shape: [usize; N]) -> SharedLayout {
        SharedLayout::flat(&Shape::new(shape))
    }

    /// Row-major, without gaps.
    pub const fn flat(shape: &Shape) -> SharedLayout {
        let mut layout =
            SharedLayout { shape: *shape, columns: [0; MAX_SHAPE_BITS], constant: 0, size: shape.len() as u32, fault: shape.fault() };
        let mut i = 0;
        while i < shape.bits() {
            layout.columns[i] = 1 << i;
            i += 1;
        }
        layout
    }

    /// A layout by its bases, as coordinates: which element stands at offset 1, 2, 4, …
    ///
    /// Invalid if two elements would lie at one place.
    pub const fn linear<const N: usize>(shape: [usize; N], offsets: &[[usize; N]]) -> SharedLayout {
        let shape = Shape::new(shape);
        let layout = SharedLayout::flat(&shape);
        if layout.fault.is_some() {
            return layout;
        }
        let (mut span, mut i) = (Span::new(), 0);
        while i < offsets.len() {
            span.insert(shape.flat(&offsets[i]), 1 << i);
            i += 1;
        }
        layout.through(&span, offsets.len())
    }

    /// The columns that send each basis vector of a span to the offset that the span says.
    const fn through(mut self, span: &Span, bases: usize) -> SharedLayout {
        let bits = self.shape.bits();
        if span.rank() != bits || bases != bits {
            return self.failed(Error::NotInvertible { bases, bits });
        }
        let mut i = 0;
        while i < bits {
            self.columns[i] = match span.solve(1 << i) {
                Some(offset) => offset,
                None => 0,
            };
            i += 1;
        }
        self
    }

    /// Gluon's swizzle: rows of the fastest dimension of `order`, in vectors of `vec` elements; the vector's number is
    /// XORed with the row's number divided by `per_phase`, modulo `max_phase`.
    pub const fn swizzled<const N: usize>(
        shape: [usize; N],
        vec: usize,
        per_phase: usize,
        max_phase: usize,
        order: [usize; N],
    ) -> SharedLayout {
        let shape = Shape::new(shape);
        let mut layout = SharedLayout::flat(&shape);
        if layout.fault.is_some() {
            return layout;
        }
        if let Some(error) = swizzle_error(&shape, vec, per_phase, max_phase, &order) {
            return layout.failed(error);
        }
        let (mut place, mut next) = (0, 0);
        while place < N {
            let dim = order[place];
            let mut i = 0;
            while i < shape.dim_bits(dim) {
                let phase = if place == 1 { ((1 << i) / per_phase) % max_phase * vec } else { 0 };
                let inside = phase & (shape.extent(order[0]) - 1);
                layout.columns[shape.shift(dim) + i] = 1 << next | inside as u32;
                next += 1;
                i += 1;
            }
            place += 1;
        }
        layout
    }

    /// A layout in which neither storing a tile in one register layout nor loading it, or slices of it, in the other has a
    /// bank conflict, if there is one; else one with few. The loaded layout may have smaller extents: those of a slice.
    ///
    /// Elements that both hold in registers lie side by side, as many as one access moves. The rest is divided between
    /// the banks and the lines of 128 bytes so that the lanes of one pass, of either access, never differ by whole lines
    /// only: a lane bit of one access is paired with a lane bit of the other, and their sum goes between lines.
    pub const fn between(store: &Layout, load: &Layout, element_bits: u32) -> SharedLayout {
        let shape = store.shape();
        let layout = SharedLayout::flat(&shape);
        if let Some(error) = store.fault() {
            return layout.failed(error);
        }
        if let Some(error) = load.fault() {
            return layout.failed(error);
        }
        if !holds(&shape, &load.shape()) {
            return layout.failed(Error::shapes(" is stored, loaded is ", &shape, &load.shape()));
        }
        let load = &load.embedded(&shape);
        let vector = common_registers(store, load, element_bits);
        let mut chosen = Chosen::new(&shape, vector, element_bits);
        chosen.lines(&pass_lanes(store, &vector, element_bits), &pass_lanes(load, &vector, element_bits));
        let (span, bases) = chosen.offsets();
        layout.through(&span, bases)
    }

    /// The tile's extents.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// What each bit of the flat index adds to the offset.
    pub const fn column(&self, bit: usize) -> u32 {
        self.columns[bit]
    }

    /// The offset of the view's first element.
    pub const fn constant(&self) -> u32 {
        self.constant
    }

    /// Elements of the whole allocation.
    pub const fn size(&self) -> u32 {
        self.size
    }

    /// What is wrong with it, if anything.
    pub const fn fault(&self) -> Option<Error> {
        self.fault
    }

    const fn failed(mut self, error: Error) -> SharedLayout {
        if self.fault.is_none() {
            self.fault = Some(error);
        }
        self
    }

    /// The offset of an element, in elements from the start of the allocation.
    pub const fn offset(&self, element: u32) -> u32 {
        let (mut offset, mut i) = (self.constant, 0);
        while i < self.shape.bits() {
            if element >> i & 1 == 1 {
                offset ^= self.columns[i];
            }
            i += 1;
        }
        offset
    }

    /// The view of `length` indices of dimension `dim` from `start` on.
    ///
    /// Invalid if it isn't inside the extent, or the length is no power of two that divides the start.
    pub const fn slice(&self, dim: usize, start: usize, length: usize) -> SharedLayout {
        if dim >= self.shape.rank() {
            return self.failed(Error::Axis { axis: dim, rank: self.shape.rank() });
        }
        if !length.is_power_of_two() {
            return self.failed(Error::Parameter { name: "the length of a slice", value: length });
        }
        let extent = self.shape.extent(dim);
        if start >= extent || length > extent - start {
            return self.failed(Error::SliceRange { start, length, extent });
        }
        if !start.is_multiple_of(length) {
            return self.failed(Error::SliceStart { start, length });
        }
        let fixed = self.offset((start << self.shape.shift(dim)) as u32);
        let mut view = self.without_bits(self.shape.shift(dim) + length.trailing_zeros() as usize, self.shape.dim_bits(dim) - length.trailing_zeros() as usize);
        view.shape = self.shape.with_extent(dim, length);
        view.constant = fixed;
        view
    }

    /// Without some bits of the flat index.
    const fn without_bits(&self, low: usize, width: usize) -> SharedLayout {
        let mut view = *self;
        let mut i = low;
        while i < MAX_SHAPE_BITS {
            view.columns[i] = if i + width < MAX_SHAPE_BITS { self.columns[i + width] } else { 0 };
            i += 1;
        }
        view
    }

    /// How far apart the indices of dimension 0 lie, in elements: what a run-time index is multiplied by.
    ///
    /// # Errors
    /// They don't lie at one distance.
    pub const fn index_stride(&self) -> Result<u32, Error> {
        if self.shape.rank() == 0 {
            return Err(Error::Axis { axis: 0, rank: 0 });
        }
        let (low, bits) = (self.shape.shift(0), self.shape.dim_bits(0));
        let (mut others, mut i) = (self.constant, 0);
        while i < low {
            others |= self.columns[i];
            i += 1;
        }
        let stride = if bits == 0 { 0 } else { self.columns[low] };
        i = 0;
        while i < bits {
            let column = self.columns[low + i];
            if column != stride << i || !column.is_power_of_two() || column & others != 0 {
                return Err(Error::IndexStride { extent: self.shape.extent(0) });
            }
            i += 1;
        }
        Ok(stride)
    }

    /// The view of index 0 of dimension 0.
    pub const fn without_dim0(&self) -> SharedLayout {
        if self.shape.rank() == 0 {
            return self.failed(Error::Axis { axis: 0, rank: 0 });
        }
        let mut view = self.without_bits(self.shape.shift(0), self.shape.dim_bits(0));
        view.shape = self.shape.without_dim(0);
        view
    }

    /// Dimension `i` of the result is dimension `order[i]`.
    pub const fn permute<const N: usize>(&self, order: [usize; N]) -> SharedLayout {
        let shape = self.shape.permuted(&order);
        if let Some(error) = shape.fault() {
            return self.failed(error);
        }
        let mut view = SharedLayout { shape, ..*self };
        let mut i = 0;
        while i < shape.bits() {
            let moved = permuted(1 << i, &self.shape, &shape, &order);
            view.columns[moved.trailing_zeros() as usize] = self.columns[i];
            i += 1;
        }
        view
    }

    /// The same elements in row-major order under another shape.
    pub const fn reshape<const N: usize>(&self, shape: [usize; N]) -> SharedLayout {
        let shape = Shape::new(shape);
        if let Some(error) = shape.fault() {
            return self.failed(error);
        }
        if shape.bits() != self.shape.bits() {
            return self.failed(Error::shapes(" cannot be reshaped to ", &self.shape, &shape));
        }
        SharedLayout { shape, ..*self }
    }
}

/// Whether a shape has room for a slice of another.
const fn holds(whole: &Shape, slice: &Shape) -> bool {
    let (mut holds, mut dim) = (whole.rank() == slice.rank(), 0);
    while holds && dim < whole.rank() {
        holds = slice.extent(dim) <= whole.extent(dim);
        dim += 1;
    }
    holds
}

const fn swizzle_error(shape: &Shape, vec: usize, per_phase: usize, max_phase: usize, order: &[usize]) -> Option<Error> {
    if !vec.is_power_of_two() {
        return Some(Error::Parameter { name: "vec", value: vec });
    }
    if !per_phase.is_power_of_two() {
        return Some(Error::Parameter { name: "per_phase", value: per_phase });
    }
    if !max_phase.is_power_of_two() {
        return Some(Error::Parameter { name: "max_phase", value: max_phase });
    }
    shape.permuted(order).fault()
}

/// A short list of vectors.
#[derive(Clone, Copy)]
struct Vectors {
    items: [u32; MAX_SHAPE_BITS],
    length: usize,
}

impl Vectors {
    const fn new() -> Vectors {
        Vectors { items: [0; MAX_SHAPE_BITS], length: 0 }
    }

    const fn push(&mut self, vector: u32) {
        self.items[self.length] = vector;
        self.length += 1;
    }
}

/// Elements that a thread holds in both layouts, as many as the widest access moves.
const fn common_registers(store: &Layout, load: &Layout, element_bits: u32) -> Vectors {
    let most = (128 / element_bits).trailing_zeros() as usize;
    let (mut common, mut span) = (Vectors::new(), Span::new());
    let mut i = 0;
    while i < store.register_bits() && common.length < most {
        let basis = store.register_basis(i);
        let mut j = 0;
        while j < load.register_bits() {
            if load.register_basis(j) == basis && span.insert(basis, 0) {
                common.push(basis);
                break;
            }
            j += 1;
        }
        i += 1;
    }
    common
}

/// The lanes that access memory in one pass, as the elements that they move by. Wide accesses go in several passes.
const fn pass_lanes(layout: &Layout, vector: &Vectors, element_bits: u32) -> Vectors {
    let words = (element_bits << vector.length) / 32;
    let passes = if words > 1 { words.trailing_zeros() as usize } else { 0 };
    let (mut lanes, mut i) = (Vectors::new(), 0);
    while i < LANE_BITS - passes {
        if layout.lane_basis(i) != 0 {
            lanes.push(layout.lane_basis(i));
        }
        i += 1;
    }
    lanes
}

/// A division of the elements' bits into vector, bank and line.
struct Chosen {
    shape: Shape,
    vector: Vectors,
    lines: Vectors,
    /// Vector and lines so far: what else is chosen must be independent.
    span: Span,
    wanted: usize,
}

impl Chosen {
    const fn new(shape: &Shape, vector: Vectors, element_bits: u32) -> Chosen {
        let (mut span, mut i) = (Span::new(), 0);
        while i < vector.length {
            span.insert(vector.items[i], 0);
            i += 1;
        }
        let line = (1024 / element_bits).trailing_zeros() as usize;
        Chosen { shape: *shape, vector, lines: Vectors::new(), span, wanted: shape.bits().saturating_sub(line) }
    }

    const fn line(&mut self, candidate: u32) {
        if self.lines.length < self.wanted && self.span.insert(candidate, 0) {
            self.lines.push(candidate);
        }
    }

    /// Chooses what moves between lines: elements that no lane of a pass moves by, then sums of a lane of each access,
    /// then what is left.
    const fn lines(&mut self, store: &Vectors, load: &Vectors) {
        let mut lanes = self.span;
        add(&mut lanes, store);
        add(&mut lanes, load);
        let mut i = 0;
        while i < self.shape.bits() {
            if !lanes.contains(1 << i) && self.lines.length < self.wanted && self.span.insert(1 << i, 0) {
                self.lines.push(1 << i);
                lanes.insert(1 << i, 0);
            }
            i += 1;
        }
        let (only_store, only_load) = (self.only(store, load), self.only(load, store));
        i = 0;
        while i < only_store.length && i < only_load.length {
            self.line(only_store.items[i] ^ only_load.items[i]);
            i += 1;
        }
        i = 0;
        while i < self.shape.bits() {
            self.line(1 << i);
            i += 1;
        }
    }

    /// The lanes of one access that are none of the other.
    const fn only(&self, lanes: &Vectors, others: &Vectors) -> Vectors {
        let (mut span, mut i, mut only) = (Span::new(), 0, Vectors::new());
        add(&mut span, &self.vector);
        add(&mut span, others);
        while i < lanes.length {
            if span.insert(lanes.items[i], 0) {
                only.push(lanes.items[i]);
            }
            i += 1;
        }
        only
    }

    /// The offset of each vector: the access's own elements first, then the banks, then the lines.
    const fn offsets(&self) -> (Span, usize) {
        let (mut span, mut bit, mut i) = (Span::new(), 0, 0);
        while i < self.vector.length {
            span.insert(self.vector.items[i], 1 << bit);
            bit += 1;
            i += 1;
        }
        let mut fixed = span;
        add(&mut fixed, &self.lines);
        i = 0;
        while i < self.shape.bits() {
            if fixed.insert(1 << i, 0) {
                span.insert(1 << i, 1 << bit);
                bit += 1;
            }
            i += 1;
        }
        i = 0;
        while i < self.lines.length {
            span.insert(self.lines.items[i], 1 << bit);
            bit += 1;
            i += 1;
        }
        (span, bit)
    }
}

const fn add(span: &mut Span, vectors: &Vectors) {
    let mut i = 0;
    while i < vectors.length {
        span.insert(vectors.items[i], 0);
        i += 1;
    }
}
