//! Run-time loops and branches: what the macros make of `for` and `if`.
//!
//! What a loop carries and a branch merges is in [`aggregate`](super::aggregate).

use crate::element::DType;
use crate::ir::{OpKind, TileType};
use crate::lang::ops::{describe, text};
use crate::lang::{Operand, Tile, Trace};

/// An open loop.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    index: Tile,
}

impl Loop {
    /// The loop's index.
    pub const fn index(&self) -> Tile {
        self.index
    }
}

/// An open branch.
#[derive(Clone, Copy, Debug)]
pub struct Branch {
    pub(super) by_warp: bool,
}

/// Opens a loop over `lo`, `lo + step`, … below `hi`. The index has the bounds' type, `i32` where they are numbers.
#[track_caller]
pub const fn for_begin(trace: &mut Trace<'_>, lo: Operand, hi: Operand, step: Operand) -> Loop {
    let bounds = bounds(trace, lo, hi, step);
    for_begin_between(trace, bounds)
}

/// The same for bounds that [`bounds`] has checked.
#[track_caller]
pub(super) const fn for_begin_between(trace: &mut Trace<'_>, [lo, hi, step]: [Tile; 3]) -> Loop {
    let kind = OpKind::For { lo: lo.value, hi: hi.value, step: step.value };
    Loop { index: trace.emit(kind, TileType::scalar(lo.ty.dtype)) }
}

/// A loop's bounds and step as scalars of one type.
#[track_caller]
pub(super) const fn bounds(trace: &mut Trace<'_>, lo: Operand, hi: Operand, step: Operand) -> [Tile; 3] {
    let dtype = match (lo.own_type(), hi.own_type(), step.own_type()) {
        (Some(ty), _, _) | (None, Some(ty), _) | (None, None, Some(ty)) => ty.dtype,
        (None, None, None) => DType::I32,
    };
    let (lo, hi, step) = (lo.tile(trace, "for", dtype), hi.tile(trace, "for", dtype), step.tile(trace, "for", dtype));
    check_bound(trace, &lo, dtype);
    check_bound(trace, &hi, dtype);
    check_bound(trace, &step, dtype);
    [lo, hi, step]
}

#[track_caller]
const fn check_bound(trace: &mut Trace<'_>, bound: &Tile, dtype: DType) {
    if !bound.is_scalar() || !matches!(bound.ty.dtype, DType::I32 | DType::I64) || bound.ty.is_pointer() {
        trace.fail(describe(text("for").push("bounds and step are i32 or i64 scalars, this is "), bound));
    } else if !bound.ty.dtype.is(dtype) {
        let text = describe(
            text("for").push("bounds and step have one type; these are ").push(dtype.name()).push(" and "),
            bound,
        );
        trace.fail(text.push("; convert one with `as`"));
    }
}

/// Closes a loop.
#[track_caller]
pub const fn for_end(trace: &mut Trace<'_>, _loop: Loop) {
    trace.effect(OpKind::EndFor);
}

/// Opens a branch on a `bool` scalar that all threads of the block agree on.
#[track_caller]
pub const fn if_begin(trace: &mut Trace<'_>, condition: Tile) -> Branch {
    if !condition.is_scalar() || !condition.ty.dtype.is(DType::Bool) || condition.ty.is_pointer() {
        let text = describe(text("if").push("the condition must be a bool scalar, this is "), &condition);
        trace.fail(text.push("; use select for a condition of each element"));
    }
    trace.effect(OpKind::If(condition.value));
    Branch { by_warp: false }
}

/// Opens a branch that each warp takes if the condition holds for any element that it has: `if warp_any(grew) { .. }`.
///
/// Other warps may not come along, so nothing inside may wait for them: no barrier, no conversion or reduction.
#[track_caller]
pub const fn if_any_begin(trace: &mut Trace<'_>, condition: Tile) -> Branch {
    if condition.is_scalar() || !condition.ty.dtype.is(DType::Bool) || condition.ty.is_pointer() {
        let text = describe(text("warp_any").push("a bool tile is wanted, this is "), &condition);
        trace.fail(text.push("; a scalar is a condition as it is"));
    }
    trace.effect(OpKind::IfAny(condition.value));
    trace.enter_one_warp();
    Branch { by_warp: true }
}

/// Opens the other side.
#[track_caller]
pub const fn if_else(trace: &mut Trace<'_>, _branch: &Branch) {
    trace.effect(OpKind::Else);
}

/// Closes a branch.
#[track_caller]
pub const fn if_end(trace: &mut Trace<'_>, branch: Branch) {
    trace.effect(OpKind::EndIf);
    if branch.by_warp {
        trace.leave_one_warp();
    }
}
