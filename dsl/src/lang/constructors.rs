//! Tiles made of nothing but a layout, and of a number.
//!
//! A run-time scalar becomes a tile with [`full`](crate::lang::full): `full::<i32>(layout, n)`; a comptime number becomes a
//! scalar with [`scalar`](crate::lang::scalar).

use quadpair_layouts::Layout;

use crate::element::{DType, Element};
use crate::ir::{OpKind, TileType};
use crate::lang::operators::add;
use crate::lang::ops::{describe, filled, text};
use crate::lang::{Operand, Tile, Trace, arange};

/// start, start + 1, … up to but without `end`, along a layout of rank 1 that has as many elements, `i32`.
#[track_caller]
pub const fn arange_between(trace: &mut Trace<'_>, start: i32, end: i32, layout: Layout) -> Tile {
    let from_zero = arange(trace, layout);
    let (wanted, extent) = (end as i64 - start as i64, layout.shape().len() as i64);
    if wanted != extent && !trace.failed() {
        let text = text("arange_between").push("from ").number_signed(start as i64).push(" to ");
        let text = text.number_signed(end as i64).push(" are ").number_signed(wanted).push(" numbers, the layout has ");
        trace.fail(text.number_signed(extent).push(" elements"));
    }
    add(trace, Operand::Tile(from_zero), Operand::Int(start as i64))
}

/// One in every element. `ones::<f32>(layout)`
#[track_caller]
pub const fn ones<T: Element>(trace: &mut Trace<'_>, layout: Layout) -> Tile {
    let one = if T::DTYPE.is_float() { Operand::Float(1.0) } else { Operand::Int(1) };
    filled::<T>(trace, "ones", layout, one)
}

/// One value in every element of a tile like another.
#[track_caller]
pub const fn full_like(trace: &mut Trace<'_>, tile: Tile, value: Operand) -> Tile {
    let value = value.tile(trace, "full_like", tile.ty.dtype);
    if !value.is_scalar() || !value.ty.dtype.is(tile.ty.dtype) || value.ty.is_pointer() {
        let text = describe(text("full_like"), &tile).push(" is filled with a scalar of its element type, not with ");
        trace.fail(describe(text, &value));
    }
    trace.emit(OpKind::Splat(value.value), tile.ty.with_dtype(tile.ty.dtype))
}

/// Zero in every element of a tile like another.
#[track_caller]
pub const fn zeros_like(trace: &mut Trace<'_>, tile: Tile) -> Tile {
    full_like(trace, tile, if matches!(tile.ty.dtype, DType::Bool) { Operand::Bool(false) } else { Operand::Int(0) })
}

/// Warps of a block, `i32`: those of the kernel's layouts, 1 where it has only scalars.
#[track_caller]
pub const fn num_warps(trace: &mut Trace<'_>) -> Tile {
    trace.emit(OpKind::NumWarps, TileType::scalar(DType::I32))
}
