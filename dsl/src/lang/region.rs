//! Functions as arguments: reductions, scans and maps by a function of elements.
//!
//! An author passes a closure, or the path of a `#[device]` function, and the function is traced once, on scalars:
//!
//! | form | the function | the result |
//! |---|---|---|
//! | `x.reduce(axis, \|a, b\| ..)` | combines two neighbours | the tile without the axis |
//! | `x.associative_scan(axis, \|a, b\| ..)` | combines what came before with the next | at each place, all up to it |
//! | `x.associative_scan_reverse(axis, \|a, b\| ..)` | the same, beginning at the end | at each place, all from it on |
//! | `map_elementwise(x, \|a\| ..)` | one element | the tile of what it gives |
//!
//! Each is also a function, `reduce(x, axis, ..)`. The operand is any [`Aggregate`](super::Aggregate): a tile, a tuple of
//! tiles, a struct of them. Its tiles have one layout; the function takes aggregates of the same shape with an element for
//! each tile, and gives one. That is how a recurrence becomes a scan: the maps `x -> a x + b` compose to such a map, so
//!
//! ```
//! use quadpair::prelude::*;
//!
//! /// h[i] = a[i] h[i - 1] + b[i] along the axis, from h = 0 on.
//! #[device]
//! fn recurrence(a: Tile, b: Tile, #[comptime] axis: usize) -> Tile {
//!     let (_, h) = associative_scan((a, b), axis, |(a, b), (c, d)| (c * a, fma(c, b, d)));
//!     h
//! }
//! # fn main() {}
//! ```
//!
//! The function must be associative, which is the author's promise. It need not be commutative: its left argument is
//! always made of elements that stand before those of its right one (in a reverse scan, behind them). How elements are
//! bracketed depends on the layout alone, so floating-point results are the same in every run. The named reductions
//! (`reduce_sum`, ...) are the same mechanism with functions that commute, which lets a thread combine all of its own
//! elements first.
//!
//! Inside the function there is arithmetic on elements, on numbers and on scalars of outside: no memory, no tiles of
//! outside, no control flow. `map_elementwise` broadcasts its operands, and takes a function of several parameters for a
//! tuple: `map_elementwise((x, y), |x, y| (x + y, x - y))`.

use quadpair_layouts::{Layout, typing};

use crate::ir::{Apply, OpKind, TileType};
use crate::lang::operators::common_layout;
use crate::lang::ops::{describe, text};
use crate::lang::{Tile, Trace};

/// A function of elements that is being traced.
#[derive(Clone, Copy, Debug)]
pub struct Function {
    name: &'static str,
    apply: Apply,
    /// The layout of the operands so far.
    operands: Option<Layout>,
}

/// Opens the function of a reduction.
#[track_caller]
pub const fn reduce(trace: &mut Trace<'_>, axis: usize) -> Function {
    Function::open(trace, "reduce", Apply::Reduce { axis: axis as u32, commutative: false })
}

/// Opens the function of a scan.
#[track_caller]
pub const fn associative_scan(trace: &mut Trace<'_>, axis: usize) -> Function {
    Function::open(trace, "associative_scan", Apply::Scan { axis: axis as u32, reverse: false })
}

/// Opens the function of a scan from the end.
#[track_caller]
pub const fn associative_scan_reverse(trace: &mut Trace<'_>, axis: usize) -> Function {
    Function::open(trace, "associative_scan_reverse", Apply::Scan { axis: axis as u32, reverse: true })
}

/// Opens the function of a map.
#[track_caller]
pub const fn map_elementwise(trace: &mut Trace<'_>) -> Function {
    Function::open(trace, "map_elementwise", Apply::Map)
}

/// Closes a function.
#[track_caller]
pub const fn end(trace: &mut Trace<'_>, _function: Function) {
    trace.leave_function();
    trace.effect(OpKind::EndApply);
}

impl Function {
    #[track_caller]
    pub(crate) const fn open(trace: &mut Trace<'_>, name: &'static str, apply: Apply) -> Function {
        trace.effect(OpKind::Apply(apply));
        trace.enter_function(name);
        Function { name, apply, operands: None }
    }

    /// An element of an operand.
    #[track_caller]
    pub(crate) const fn element(&mut self, trace: &mut Trace<'_>, tile: Tile) -> Tile {
        if tile.ty.is_pointer() {
            trace.fail(
                describe(text(self.name).push("numbers are wanted, this is "), &tile).push("; load from it first"),
            );
        }
        self.operands = match self.apply {
            Apply::Map => self.beside(trace, &tile),
            Apply::Reduce { .. } | Apply::Scan { .. } => Some(self.along(trace, &tile)),
        };
        trace.emit(OpKind::Element(tile.value), TileType::scalar(tile.ty.dtype))
    }

    /// The layout of a map's operands with one more, which may be smaller or larger.
    #[track_caller]
    const fn beside(&self, trace: &mut Trace<'_>, tile: &Tile) -> Option<Layout> {
        let others = Tile { value: tile.value, ty: TileType { layout: self.operands, ..tile.ty } };
        common_layout(trace, self.name, &others, tile)
    }

    /// The layout of tiles that are walked along side by side, with one more.
    #[track_caller]
    const fn along(&self, trace: &mut Trace<'_>, tile: &Tile) -> Layout {
        let Some(layout) = tile.ty.layout else {
            trace.fail(
                describe(text(self.name).push("a tile is wanted, this is the scalar "), tile)
                    .push(", which has no axis"),
            );
            return Layout::SCALAR;
        };
        if let Apply::Reduce { axis, .. } | Apply::Scan { axis, .. } = self.apply
            && trace.in_one_warp()
            && layout.differs_between_warps(axis as usize)
        {
            trace.comes_alone(self.name);
        }
        match &self.operands {
            None => layout,
            Some(others) => trace.rule(self.name, typing::together(others, &layout), layout),
        }
    }

    /// The tile of what the function gives; a function that combines gives what its operand is.
    #[track_caller]
    pub(crate) const fn give(&self, trace: &mut Trace<'_>, operand: Tile, given: Tile) -> Tile {
        if !given.is_scalar() || given.ty.is_pointer() {
            trace.fail(
                describe(text(self.name).push("the function gives "), &given)
                    .push("; it gives elements: make a tile of outside an operand"),
            );
        }
        let layout = match self.apply {
            Apply::Map => self.operands,
            Apply::Reduce { axis, .. } => {
                self.gives_what_it_takes(trace, &operand, &given);
                let whole = self.whole();
                let layout = trace.rule(self.name, typing::reduce(&whole, axis as usize), whole);
                // What is left of a tile of rank 1 is a scalar, which every thread has.
                if layout.shape().rank() == 0 { None } else { Some(layout) }
            }
            Apply::Scan { axis, .. } => {
                self.gives_what_it_takes(trace, &operand, &given);
                Some(trace.rule(self.name, typing::scan(&self.whole(), axis as usize), self.whole()))
            }
        };
        trace.emit(OpKind::Give(given.value), TileType { layout, ..TileType::scalar(given.ty.dtype) })
    }

    const fn whole(&self) -> Layout {
        match self.operands {
            Some(layout) => layout,
            None => Layout::SCALAR,
        }
    }

    #[track_caller]
    const fn gives_what_it_takes(&self, trace: &mut Trace<'_>, operand: &Tile, given: &Tile) {
        if !operand.ty.dtype.is(given.ty.dtype) {
            let text = text(self.name).push("the function takes ").push(operand.ty.dtype.name()).push(" and gives ");
            trace.fail(text.push(given.ty.dtype.name()).push("; it combines its own results, so both are one type"));
        }
    }
}

/// What an operation does that a function of elements cannot.
pub(crate) const fn not_arithmetic(kind: &OpKind) -> &'static str {
    match kind {
        OpKind::For { .. } | OpKind::If(_) | OpKind::IfAny(_) => "there is no control flow in it: use select",
        OpKind::Apply(_) => "there is no reduction, scan or map in it",
        OpKind::Asm(_) => "there is no inline assembly with effects in it",
        OpKind::Barrier => "there is no barrier in it",
        OpKind::Assert(..) => "there is no assertion in it",
        OpKind::Load { .. } | OpKind::Store { .. } | OpKind::Atomic { .. } => {
            "there is no access to memory in it: load before, store after"
        }
        OpKind::BlocksAtOnce(_) => "it says nothing of blocks",
        OpKind::Allocate(_)
        | OpKind::SharedStore(..)
        | OpKind::SharedLoad(_)
        | OpKind::AsyncCopy { .. }
        | OpKind::CommitGroup
        | OpKind::WaitGroup(_)
        | OpKind::SharedGather(_)
        | OpKind::SharedScatter(..)
        | OpKind::SharedAtomic { .. }
        | OpKind::WarpgroupMma(..)
        | OpKind::Bound(..) => "there is no shared memory in it",
        OpKind::Print { .. } => "there is no print in it: print the tile before or after",
        OpKind::Assume(_) => "there is no promise in it: assume it of the tile before",
        _ => "this makes or moves a tile",
    }
}
