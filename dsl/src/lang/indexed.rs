//! Access by run-time indices along one axis: gather, scatter, atomic scatter and histogram.
//!
//! Along axis 0, gathering gives `result[i, j] = source[index[i, j], j]` and scattering writes
//! `target[index[i, j], j] = value[i, j]`. Indices are tiles of `i32`; the simulator stops a kernel with an index that
//! is negative or too large, a GPU does something undefined. Each element of a scatter is written once, by its holder;
//! where two elements go to the same place one of them stays, and the simulator calls it a race.

use quadpair_layouts::{Layout, Shape, typing};

use crate::element::DType;
use crate::ir::{Atomic, AtomicOp, Indexed, OpKind, Order, Scope, TileType};
use crate::lang::atomic::{check_alone, no_operation, value_of};
use crate::lang::ops::{describe, has_its_warp, is_mask, text};
use crate::lang::{Shared, Tile, Trace};

impl Tile {
    /// `result[i, j] = self[index[i, j], j]` along axis 0; the result has the layout of the indices.
    ///
    /// Where one warp holds the whole axis this takes shuffles, else a trip through shared memory.
    #[track_caller]
    pub const fn gather(self, trace: &mut Trace<'_>, index: Tile, axis: usize) -> Tile {
        let layout = gathered(trace, "gather", &index, &self.shape(), axis);
        let kind = OpKind::Gather { source: self.value, index: index.value, axis: axis as u32 };
        trace.emit(kind, self.ty.with_layout(Some(layout)))
    }

    /// How many elements have the value 0, 1, 2, …, for each element of a layout of rank 1, `i32`. Elements that are
    /// negative or too large are not counted.
    #[track_caller]
    pub const fn histogram(self, trace: &mut Trace<'_>, layout: Layout) -> Tile {
        let layout = trace.given("histogram", layout);
        if !self.ty.dtype.is_integer() || self.ty.dtype.bits() > 32 || self.ty.is_pointer() {
            trace.fail(describe(text("histogram").push("integers of at most 32 bits are counted, this is "), &self));
        }
        let answer = typing::histogram(&self.layout(), &layout);
        let layout = trace.rule("histogram", answer, layout);
        trace.emit(OpKind::Histogram(self.value), TileType::tile(DType::I32, layout))
    }
}

impl Shared {
    /// `result[i, j] = self[index[i, j], j]` along axis 0; the result has the layout of the indices.
    #[track_caller]
    pub const fn gather(self, trace: &mut Trace<'_>, index: Tile, axis: usize) -> Tile {
        let layout = gathered(trace, "gather", &index, &self.layout().shape(), axis);
        let place = Indexed { memory: self.memory, index: index.value, axis: axis as u32 };
        trace.emit(OpKind::SharedGather(place), TileType::tile(self.memory.dtype, layout))
    }

    /// `self[index[i, j], j] = values[i, j]` along axis 0; values and indices have one layout.
    #[track_caller]
    pub const fn scatter(self, trace: &mut Trace<'_>, values: Tile, index: Tile, axis: usize) {
        let place = self.scattered(trace, "scatter", &values, &index, axis);
        has_its_warp(trace, "scatter", &values);
        trace.effect(OpKind::SharedScatter(place, values.value));
    }

    /// Where a scatter goes.
    #[track_caller]
    const fn scattered(self, trace: &mut Trace<'_>, name: &str, values: &Tile, index: &Tile, axis: usize) -> Indexed {
        check_index(trace, name, index);
        if !values.ty.dtype.is(self.memory.dtype) || values.ty.is_pointer() {
            let text = describe(text(name), values).push(" to shared memory of ");
            trace.fail(text.push(self.memory.dtype.name()).push("; convert the tile with `as`"));
        }
        let answer = typing::scatter(&values.layout(), &index.layout(), &self.layout().shape(), axis);
        trace.rule(name, answer, index.layout());
        Indexed { memory: self.memory, index: index.value, axis: axis as u32 }
    }

    #[track_caller]
    const fn atomic_scatter(
        self,
        trace: &mut Trace<'_>,
        name: &str,
        op: AtomicOp,
        [values, index]: [Tile; 2],
        axis: usize,
        mask: Option<Tile>,
    ) -> Tile {
        let place = self.scattered(trace, name, &values, &index, axis);
        if let Some(words) = no_operation(op, self.memory.dtype) {
            trace.fail(describe(text(name), &values).push(words));
        }
        if let Some(mask) = &mask {
            check_scatter_mask(trace, name, &values, mask);
        }
        check_alone(trace, name, &values.ty, Order::Relaxed);
        let atomic = Atomic { op, order: Order::Relaxed, scope: Scope::Block };
        let kind = OpKind::SharedAtomic { atomic, place, values: values.value, mask: value_of(mask) };
        trace.emit(kind, values.ty)
    }
}

macro_rules! scatters {
    ($($(#[doc = $doc:literal])* $plain:ident $masked:ident $op:ident)*) => {
        impl Shared {$(
            $(#[doc = $doc])*
            #[track_caller]
            pub const fn $plain(self, trace: &mut Trace<'_>, values: Tile, index: Tile, axis: usize) -> Tile {
                self.atomic_scatter(trace, stringify!($plain), AtomicOp::$op, [values, index], axis, None)
            }

            $(#[doc = $doc])*
            /// Only where the mask holds; elsewhere nothing is touched and the old value is 0.
            #[track_caller]
            pub const fn $masked(
                self,
                trace: &mut Trace<'_>,
                values: Tile,
                index: Tile,
                axis: usize,
                mask: Tile,
            ) -> Tile {
                self.atomic_scatter(trace, stringify!($masked), AtomicOp::$op, [values, index], axis, Some(mask))
            }
        )*}
    };
}

scatters! {
    /// Adds each element at its index, atomically, and gives the old values.
    atomic_scatter_add atomic_scatter_add_masked Add
    /// Keeps the smaller of each element and what is at its index, atomically, and gives the old values.
    atomic_scatter_min atomic_scatter_min_masked Min
    /// Keeps the larger of each element and what is at its index, atomically, and gives the old values.
    atomic_scatter_max atomic_scatter_max_masked Max
    /// Keeps the bits that both have, atomically, and gives the old values; integers.
    atomic_scatter_and atomic_scatter_and_masked And
    /// Sets bits, atomically, and gives the old values; integers.
    atomic_scatter_or atomic_scatter_or_masked Or
    /// Flips bits, atomically, and gives the old values; integers.
    atomic_scatter_xor atomic_scatter_xor_masked Xor
    /// Writes each element at its index, atomically, and gives the old values.
    atomic_scatter_xchg atomic_scatter_xchg_masked Exchange
}

#[track_caller]
const fn gathered(trace: &mut Trace<'_>, name: &str, index: &Tile, source: &Shape, axis: usize) -> Layout {
    check_index(trace, name, index);
    let answer = typing::gather(&index.layout(), source, axis);
    trace.rule(name, answer, index.layout())
}

#[track_caller]
const fn check_index(trace: &mut Trace<'_>, name: &str, index: &Tile) {
    if !index.ty.dtype.is(DType::I32) || index.ty.is_pointer() || index.is_scalar() {
        let text = describe(text(name).push("indices are a tile of i32, this is "), index);
        trace.fail(text.push("; convert it with `as i32`"));
    }
}

#[track_caller]
const fn check_scatter_mask(trace: &mut Trace<'_>, name: &str, values: &Tile, mask: &Tile) {
    is_mask(trace, name, mask);
    if !mask.is_scalar()
        && let Err(error) = typing::broadcast(&mask.layout(), &values.layout())
    {
        trace.broken(name, error);
    }
}
