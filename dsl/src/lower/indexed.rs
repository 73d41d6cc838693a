//! Shared memory by run-time indices along one axis.
//!
//! An element's place is a linear map of its index along the axis, known at run time, and of its place in the tile of
//! indices, which is the thread's number and a constant. In a row-major `[64, 32]` of 4 bytes, row v and column j lie at
//! `v << 7 ^ j << 2`: with v in a register, and j the lane, that is two shifts and an XOR.

use quadpair_layouts::{Layout, Shape};

use super::Lowering;
use super::access::{Place, runs};
use super::atomic::Update;
use super::holders::held_once;
use super::linear::ThreadMap;
use super::num::Num;
use super::shared::Window;
use crate::element::DType;
use crate::ir::{Atomic, BinaryOp, Indexed, TileType, Value};
use crate::ptx::{Class, Guard, Promise, Reg, Space};

impl Lowering<'_> {
    pub(super) fn shared_gather(&mut self, place: &Indexed, ty: &TileType) {
        let layout = ty.layout.expect("typing gives a gathered tile a layout");
        let window = self.window(&place.memory);
        let indices = self.held(place.index);
        let held = self.gather_from(&window, &layout, &indices, place.axis as usize);
        self.define(held);
    }

    /// Loads what the indices name; registers that hold the same element share one load.
    pub(super) fn gather_from(&mut self, window: &Window, layout: &Layout, indices: &[Num], axis: usize) -> Vec<Num> {
        let repeated = layout.repeated_registers() as usize;
        let masks = vec![Num::Bool(true); indices.len()];
        let own: Vec<usize> = (0..indices.len()).filter(|r| r & repeated == 0).collect();
        let places = self.indexed_places(window, layout, indices, axis, &own, &masks);
        let mut held = indices.to_vec();
        for run in runs(places, window.dtype.bytes()) {
            let loaded = self.load_run(&run, window.dtype, (Space::Shared, &[]), None);
            for (&index, num) in run.indices.iter().zip(loaded) {
                held[index] = num;
            }
        }
        (0..held.len()).map(|r| held[r & !repeated]).collect()
    }

    pub(super) fn shared_scatter(&mut self, place: &Indexed, values: Value) {
        let layout = self.spread_over(self.function.type_of(place.index));
        let ty = self.function.type_of(place.index).with_dtype(place.memory.dtype);
        let (values, masks) = (self.spread(values, &ty), self.held_masks(&layout, None));
        let (window, own) = (self.window(&place.memory), held_once(&layout));
        let indices = self.held(place.index);
        let places = self.indexed_places(&window, &layout, &indices, place.axis as usize, &own, &masks);
        for run in runs(places, window.dtype.bytes()) {
            let run_values: Vec<Num> = run.indices.iter().map(|&i| values[i]).collect();
            self.store_run(&run, window.dtype, (Space::Shared, &[]), &run_values);
        }
    }

    pub(super) fn shared_atomic(&mut self, atomic: Atomic, place: &Indexed, values: Value, mask: Option<Value>) {
        let ty = self.function.type_of(place.index).with_dtype(place.memory.dtype);
        let layout = self.spread_over(&ty);
        let update = Update { atomic, space: Space::Shared, dtype: ty.dtype, wanted: self.is_wanted() };
        let values = self.spread(values, &ty);
        let masks = self.held_masks(&layout, mask.map(|mask| self.spread(mask, &ty)));
        let (window, own) = (self.window(&place.memory), held_once(&layout));
        let indices = self.held(place.index);
        let places = self.indexed_places(&window, &layout, &indices, place.axis as usize, &own, &masks);
        let mut old = values.clone();
        for place in places {
            old[place.index] = self.update(&update, &place, &[values[place.index]]);
        }
        let old = if update.wanted { self.held_by_all(&layout, ty.dtype, &old) } else { old };
        self.define(old);
    }

    /// Where the elements of some registers lie.
    fn indexed_places(
        &mut self,
        window: &Window,
        layout: &Layout,
        indices: &[Num],
        axis: usize,
        registers: &[usize],
        masks: &[Num],
    ) -> Vec<Place> {
        let axis = Axis::of(window, layout, axis);
        registers
            .iter()
            .map(|&r| {
                let own = self.indexed_offset(&axis, layout.apply(r, 0, 0), indices[r]);
                let address = self.integer(BinaryOp::Add, DType::U32, window.start, own);
                let bound = self.bound_of(indices[r], axis.extent);
                let place = self.place(r, address, Class::B32, masks[r]);
                // Among gaps neighbours in the tile need be none in memory, wherever the index is.
                let single = if window.layout.is_padded() { window.dtype.bytes() } else { u32::MAX };
                Place { bound, divisor: place.divisor.min(single), ..place }
            })
            .collect()
    }

    fn indexed_offset(&mut self, axis: &Axis, element: u32, index: Num) -> Num {
        // Gaps are those of the sum: a register and a constant can carry into each other.
        let index = match index {
            Num::Int { base: Some(_), offset } if offset != 0 && axis.window.layout.is_padded() => {
                Num::base(self.reg(index, Class::B32))
            }
            other => other,
        };
        let (thread, along) = (self.linear(&axis.threads, 0), self.image(&axis.along, index));
        let sum = match (thread, along) {
            (part, zero) | (zero, part) if zero == Num::int(0) => part,
            _ => self.integer(BinaryOp::Xor, DType::U32, thread, along),
        };
        let own = self.with_constant(sum, axis.threads.mask() | axis.along.mask(), axis.byte_offset(element));
        self.with_gaps(&axis.window.layout, axis.window.dtype.bytes(), own)
    }

    /// What the simulator holds an index to; nothing where it is a constant in range.
    pub(super) fn bound_of(&mut self, index: Num, extent: u32) -> Option<(Reg, u32)> {
        match index {
            Num::Int { base: None, offset } if (0..i64::from(extent)).contains(&offset) => None,
            _ => Some((self.reg(index, Class::B32), extent)),
        }
    }

    pub(super) fn bound(&mut self, index: Value, extent: u32) {
        let index = self.scalar_of(index);
        self.hold_to_bound(index, extent);
    }

    /// Holds an index to its bound.
    pub(super) fn hold_to_bound(&mut self, index: Num, extent: u32) {
        let bound = self.bound_of(index, extent);
        self.promise_bound(bound, None);
    }

    /// Holds the index of an access to its bound, where the access is done.
    pub(super) fn promise_bound(&mut self, bound: Option<(Reg, u32)>, guard: Option<Guard>) {
        if let Some((reg, limit)) = bound {
            self.emit.promise(Promise::Below { reg, limit, guard });
        }
    }
}

/// How an element's place follows from its index and its place in the tile of indices, in bytes.
struct Axis<'w> {
    window: &'w Window,
    tile: Shape,
    axis: usize,
    extent: u32,
    threads: ThreadMap,
    along: ThreadMap,
}

impl<'w> Axis<'w> {
    fn of(window: &'w Window, layout: &Layout, axis: usize) -> Self {
        let (tile, shape) = (layout.shape(), window.layout.shape());
        let moves = |element| (window.layout.linear_offset(element) ^ window.layout.constant()) * window.dtype.bytes();
        let threads = ThreadMap::new(layout, |basis| moves(off_axis(basis, &tile, &shape, axis)));
        let along = (0..shape.dim_bits(axis)).map(|i| moves(1 << (shape.shift(axis) + i))).collect();
        let along = ThreadMap::from_columns(along);
        Axis { window, tile, axis, extent: shape.extent(axis) as u32, threads, along }
    }

    /// Where an element of the tile of indices lies, were its index 0.
    fn byte_offset(&self, element: u32) -> u32 {
        let shape = self.window.layout.shape();
        self.window.layout.linear_offset(off_axis(element, &self.tile, &shape, self.axis)) * self.window.dtype.bytes()
    }
}

/// The element of another shape with the same coordinates, but 0 along the axis.
pub(super) fn off_axis(element: u32, from: &Shape, to: &Shape, axis: usize) -> u32 {
    let others = (0..from.rank()).filter(|&dim| dim != axis);
    others.fold(0, |flat, dim| flat | (from.coordinate(element, dim) as u32) << to.shift(dim))
}
