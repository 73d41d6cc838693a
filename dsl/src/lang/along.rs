//! The named reductions and scans: sums, extrema, and where they lie.
//!
//! Each is a [function of elements](super::region) of one or two operations. `x.reduce_sum(1)` of a `[64, 32]` tile is a
//! `[64]` tile; `x.cumsum(1)` is a `[64, 32]` tile whose element (i, j) is the sum of x[i, 0] to x[i, j].

use quadpair_layouts::{Layout, typing};

use crate::element::DType;
use crate::ir::{Apply, BinaryOp, CompareOp, OpKind, TileType};
use crate::lang::math::{maximum, minimum};
use crate::lang::ops::{arange, describe, text};
use crate::lang::region::{Function, end};
use crate::lang::{Operand, Tile, Trace};

impl Tile {
    /// The sum along an axis, which the result lacks.
    #[track_caller]
    pub const fn reduce_sum(self, trace: &mut Trace<'_>, axis: usize) -> Tile {
        self.reduced(trace, "reduce_sum", BinaryOp::Add, axis)
    }

    /// The sum along an axis of what each thread has: what threads share stays as it is, so nothing moves between them.
    /// Of a row that two lanes hold, the result has two partial sums, and `x.thread_sum(1).reduce_sum(1)` is
    /// `x.reduce_sum(1)`. A loop that adds up sums them once, behind it.
    #[track_caller]
    pub const fn thread_sum(self, trace: &mut Trace<'_>, axis: usize) -> Tile {
        self.within_threads(trace, "thread_sum", BinaryOp::Add, axis)
    }

    /// The largest along an axis, which the result lacks; a number wins over NaN.
    #[track_caller]
    pub const fn reduce_max(self, trace: &mut Trace<'_>, axis: usize) -> Tile {
        self.reduced(trace, "reduce_max", BinaryOp::Max, axis)
    }

    /// The largest along an axis of what each thread has, as [`thread_sum`](Self::thread_sum).
    #[track_caller]
    pub const fn thread_max(self, trace: &mut Trace<'_>, axis: usize) -> Tile {
        self.within_threads(trace, "thread_max", BinaryOp::Max, axis)
    }

    /// The smallest along an axis, which the result lacks; a number wins over NaN.
    #[track_caller]
    pub const fn reduce_min(self, trace: &mut Trace<'_>, axis: usize) -> Tile {
        self.reduced(trace, "reduce_min", BinaryOp::Min, axis)
    }

    /// `&` of all along an axis, which the result lacks; of truth values, whether all hold.
    #[track_caller]
    pub const fn reduce_and(self, trace: &mut Trace<'_>, axis: usize) -> Tile {
        self.reduced(trace, "reduce_and", BinaryOp::And, axis)
    }

    /// `|` of all along an axis, which the result lacks; of truth values, whether any holds.
    #[track_caller]
    pub const fn reduce_or(self, trace: &mut Trace<'_>, axis: usize) -> Tile {
        self.reduced(trace, "reduce_or", BinaryOp::Or, axis)
    }

    /// `^` of all along an axis, which the result lacks; of truth values, whether an odd number holds.
    #[track_caller]
    pub const fn reduce_xor(self, trace: &mut Trace<'_>, axis: usize) -> Tile {
        self.reduced(trace, "reduce_xor", BinaryOp::Xor, axis)
    }

    /// Where the largest along an axis lies: its index, `i32`; of several, the lowest. NaN counts as -infinity.
    #[track_caller]
    pub const fn argmax(self, trace: &mut Trace<'_>, axis: usize) -> Tile {
        self.best(trace, "argmax", CompareOp::Gt, axis).1
    }

    /// Where the smallest along an axis lies: its index, `i32`; of several, the lowest. NaN counts as infinity.
    #[track_caller]
    pub const fn argmin(self, trace: &mut Trace<'_>, axis: usize) -> Tile {
        self.best(trace, "argmin", CompareOp::Lt, axis).1
    }

    /// The largest along an axis and where it lies, as [`argmax`](Tile::argmax) has it.
    #[track_caller]
    pub const fn max_and_index(self, trace: &mut Trace<'_>, axis: usize) -> (Tile, Tile) {
        self.best(trace, "max_and_index", CompareOp::Gt, axis)
    }

    /// The smallest along an axis and where it lies, as [`argmin`](Tile::argmin) has it.
    #[track_caller]
    pub const fn min_and_index(self, trace: &mut Trace<'_>, axis: usize) -> (Tile, Tile) {
        self.best(trace, "min_and_index", CompareOp::Lt, axis)
    }

    /// At each place the sum of all elements along an axis up to it.
    #[track_caller]
    pub const fn cumsum(self, trace: &mut Trace<'_>, axis: usize) -> Tile {
        self.scanned(trace, "cumsum", BinaryOp::Add, axis, false)
    }

    /// At each place the sum of all elements along an axis from it on.
    #[track_caller]
    pub const fn cumsum_reverse(self, trace: &mut Trace<'_>, axis: usize) -> Tile {
        self.scanned(trace, "cumsum_reverse", BinaryOp::Add, axis, true)
    }

    /// At each place the product of all elements along an axis up to it.
    #[track_caller]
    pub const fn cumprod(self, trace: &mut Trace<'_>, axis: usize) -> Tile {
        self.scanned(trace, "cumprod", BinaryOp::Mul, axis, false)
    }

    /// At each place the product of all elements along an axis from it on.
    #[track_caller]
    pub const fn cumprod_reverse(self, trace: &mut Trace<'_>, axis: usize) -> Tile {
        self.scanned(trace, "cumprod_reverse", BinaryOp::Mul, axis, true)
    }

    /// A reduction along the bits of an axis that only registers move along.
    #[track_caller]
    const fn within_threads(self, trace: &mut Trace<'_>, name: &'static str, op: BinaryOp, axis: usize) -> Tile {
        let layout = self.tiled(trace, name);
        if let Err(error) = typing::reduce(&layout, axis) {
            trace.broken(name, error);
            return self;
        }
        let mut whole = self;
        while let Some((low, count)) = whole.layout().own_bits(axis) {
            // The run of bits as an axis of its own.
            let split = whole.layout().split_axis(axis, low, count).check();
            let run = whole.relabelled(trace, name, split).reduced(trace, name, op, axis + 1);
            let merged = run.layout().merge_axis(axis).check();
            whole = run.relabelled(trace, name, merged);
        }
        whole
    }

    #[track_caller]
    const fn reduced(self, trace: &mut Trace<'_>, name: &'static str, op: BinaryOp, axis: usize) -> Tile {
        self.combined(trace, name, op, Apply::Reduce { axis: axis as u32, commutative: true })
    }

    #[track_caller]
    const fn scanned(
        self,
        trace: &mut Trace<'_>,
        name: &'static str,
        op: BinaryOp,
        axis: usize,
        reverse: bool,
    ) -> Tile {
        self.combined(trace, name, op, Apply::Scan { axis: axis as u32, reverse })
    }

    /// A reduction or scan by one operation.
    #[track_caller]
    const fn combined(self, trace: &mut Trace<'_>, name: &'static str, op: BinaryOp, apply: Apply) -> Tile {
        let on_bits = matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
        if on_bits && self.ty.dtype.is_float() {
            let text = describe(text(name).push("integers or truth values are wanted, this is "), &self);
            trace.fail(text.push("; convert it with `as`"));
        } else if !on_bits && matches!(self.ty.dtype, DType::Bool) {
            trace.fail(describe(text(name).push("numbers are wanted, this is "), &self).push("; convert it with `as`"));
        }
        let mut function = Function::open(trace, name, apply);
        let (a, b) = (function.element(trace, self), function.element(trace, self));
        let both = trace.emit(OpKind::Binary(op, a.value, b.value), a.ty);
        let result = function.give(trace, self, both);
        end(trace, function);
        result
    }

    /// The element that compares best with all others along an axis, and its index.
    #[track_caller]
    const fn best(self, trace: &mut Trace<'_>, name: &'static str, better: CompareOp, axis: usize) -> (Tile, Tile) {
        let layout = self.tiled(trace, name);
        if matches!(self.ty.dtype, DType::Bool) || self.ty.is_pointer() {
            trace.fail(describe(text(name).push("numbers are wanted, this is "), &self).push("; convert it with `as`"));
        }
        if let Err(error) = typing::reduce(&layout, axis) {
            trace.broken(name, error);
            return (self, self);
        }
        let (keys, places) = (self.ordered(trace, better), indices(trace, &layout, axis));
        let mut function = Function::open(trace, name, Apply::Reduce { axis: axis as u32, commutative: true });
        let (a, i) = (function.element(trace, keys), function.element(trace, places));
        let (b, j) = (function.element(trace, keys), function.element(trace, places));
        let first = first_is_best(trace, better, [a, i], [b, j]);
        let (value, index) = (chosen(trace, first, a, b), chosen(trace, first, i, j));
        let results = (function.give(trace, keys, value), function.give(trace, places, index));
        end(trace, function);
        results
    }

    /// The elements with NaN as the worst number of all, so that any two of them have an order.
    #[track_caller]
    const fn ordered(self, trace: &mut Trace<'_>, better: CompareOp) -> Tile {
        match better {
            _ if !self.ty.dtype.is_float() => self,
            CompareOp::Gt => maximum(trace, Operand::Tile(self), Operand::Float(f64::NEG_INFINITY)),
            _ => minimum(trace, Operand::Tile(self), Operand::Float(f64::INFINITY)),
        }
    }
}

/// The coordinate along an axis of each element of a layout, `i32`.
#[track_caller]
const fn indices(trace: &mut Trace<'_>, layout: &Layout, axis: usize) -> Tile {
    let (mut line, rank, mut dim) = (*layout, layout.shape().rank(), 0);
    while dim < rank {
        if dim != axis {
            line = line.slice(if dim < axis { 0 } else { 1 });
        }
        dim += 1;
    }
    let mut indices = arange(trace, line);
    dim = 0;
    while dim < rank {
        if dim != axis {
            indices = indices.expand_dims(trace, dim);
        }
        dim += 1;
    }
    indices.broadcast_to(trace, *layout)
}

/// Whether the first pair of value and index is the better one, or as good and before the other.
#[track_caller]
const fn first_is_best(trace: &mut Trace<'_>, better: CompareOp, [a, i]: [Tile; 2], [b, j]: [Tile; 2]) -> Tile {
    let truth = TileType::scalar(DType::Bool);
    let wins = trace.emit(OpKind::Compare(better, a.value, b.value), truth);
    let ties = trace.emit(OpKind::Compare(CompareOp::Eq, a.value, b.value), truth);
    let before = trace.emit(OpKind::Compare(CompareOp::Lt, i.value, j.value), truth);
    let first_of_ties = trace.emit(OpKind::Binary(BinaryOp::And, ties.value, before.value), truth);
    trace.emit(OpKind::Binary(BinaryOp::Or, wins.value, first_of_ties.value), truth)
}

#[track_caller]
const fn chosen(trace: &mut Trace<'_>, condition: Tile, a: Tile, b: Tile) -> Tile {
    trace.emit(OpKind::Select(condition.value, a.value, b.value), a.ty)
}
