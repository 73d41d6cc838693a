//! Promises: what an author knows of run-time values and the compiler can't see. Wide memory accesses follow from them.
//!
//! A promise costs nothing on a chip, and one that doesn't hold gives wrong results there. The simulator checks each one,
//! and stops a kernel that breaks it at the promise's line. What is promised in a branch is relied on in it only.

use crate::element::DType;
use crate::ir::OpKind;
use crate::lang::ops::{describe, text};
use crate::lang::{Tile, Trace};

/// Promises that an integer is a multiple of `n`, or that an address is that of an element whose number is, counted from
/// address 0; `n` is a power of two.
///
/// In a tile this is meant of the first of those elements that are known to be constants apart.
#[track_caller]
pub const fn multiple_of(trace: &mut Trace<'_>, x: Tile, n: usize) -> Tile {
    if !promised(trace, "multiple_of", n) {
        return x;
    }
    if !x.ty.is_pointer() && !x.ty.dtype.is_integer() {
        trace.fail(describe(text("multiple_of").push("an address or an integer is wanted, this is "), &x));
    }
    trace.emit(OpKind::MultipleOf(x.value, n as u32), x.ty)
}

/// Promises that along an axis each element of a run is one more than the one before; an address is one element further.
/// Runs have `n` elements, a power of two, and start where the index along the axis is a multiple of that.
#[track_caller]
pub const fn max_contiguous(trace: &mut Trace<'_>, x: Tile, axis: usize, n: usize) -> Tile {
    runs(trace, "max_contiguous", x, axis, n, true)
}

/// Promises that along an axis the elements of a run are the same. Runs have `n` elements, a power of two, and start where
/// the index along the axis is a multiple of that.
#[track_caller]
pub const fn max_constancy(trace: &mut Trace<'_>, x: Tile, axis: usize, n: usize) -> Tile {
    runs(trace, "max_constancy", x, axis, n, false)
}

/// The most blocks that a multiprocessor of any chip holds.
const MOST_BLOCKS: usize = 32;

/// Asks the assembler to leave a multiprocessor room for so many blocks at once, 1 to 32: a thread gets so few registers
/// that they fit, and what doesn't fit in them is spilled. Of several the last holds.
///
/// While the warps of one block wait, those of another go on.
#[track_caller]
pub const fn blocks_at_once(trace: &mut Trace<'_>, blocks: usize) {
    if blocks == 0 || blocks > MOST_BLOCKS {
        let text = text("blocks_at_once").push("a multiprocessor holds 1 to ").number(MOST_BLOCKS);
        trace.fail(text.push(" blocks, not ").number(blocks));
    }
    trace.effect(OpKind::BlocksAtOnce(blocks as u32));
}

/// Whether a number can be promised.
#[track_caller]
const fn promised(trace: &mut Trace<'_>, name: &str, n: usize) -> bool {
    let possible = n.is_power_of_two() && n <= 1 << 31;
    if !possible {
        trace.fail(text(name).number(n).push(" is no power of two up to 2^31"));
    }
    possible
}

#[track_caller]
const fn runs(trace: &mut Trace<'_>, name: &str, x: Tile, axis: usize, n: usize, rising: bool) -> Tile {
    let layout = x.tiled(trace, name);
    if !promised(trace, name, n) {
        return x;
    }
    let counted = x.ty.is_pointer() || x.ty.dtype.is_integer();
    if !counted && (rising || !matches!(x.ty.dtype, DType::Bool)) {
        trace.fail(describe(text(name).push("addresses or integers are wanted, this is "), &x));
    }
    if axis >= layout.shape().rank() && !trace.failed() {
        trace.broken(name, quadpair_layouts::Error::Axis { axis, rank: layout.shape().rank() });
        return x;
    }
    trace.emit(OpKind::Runs { of: x.value, axis: axis as u32, length: n as u32, rising }, x.ty)
}

/// Promises that the condition is true, of a tile in every element.
///
/// From `assume(n % 16 == 0)` with a comptime power of two, and from several such joined by `&`, it follows that `n` is a
/// multiple of it wherever `n` is used from there on. Any other condition is checked by the simulator, and that is all.
#[track_caller]
pub const fn assume(trace: &mut Trace<'_>, condition: Tile) {
    if !condition.ty.dtype.is(DType::Bool) || condition.ty.is_pointer() {
        trace.fail(describe(text("assume").push("a condition is bool, this is "), &condition));
    }
    trace.effect(OpKind::Assume(condition.value));
}
