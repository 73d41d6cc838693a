//! Operations that pair elements up or put them in other shapes. No element leaves its thread.
//!
//! Two tiles one after the other are `join(a, b)` permuted and reshaped: of rank 1,
//! `join(a, b).permute([1, 0]).reshape([2 * n])`.

use quadpair_layouts::typing;

use crate::element::{DType, Element};
use crate::ir::{OpKind, TileType};
use crate::lang::operators::common_layout;
use crate::lang::ops::{describe, text};
use crate::lang::{Tile, Trace};

/// Two tiles of one layout as one with a new last dimension of extent 2: element (.., 0) is of `a`, (.., 1) of `b`. Both
/// of a pair are in the thread that had them.
#[track_caller]
pub const fn join(trace: &mut Trace<'_>, a: Tile, b: Tile) -> Tile {
    let (left, right) = (a.tiled(trace, "join"), b.tiled(trace, "join"));
    if !a.ty.dtype.is(b.ty.dtype) || a.ty.is_pointer() || b.ty.is_pointer() {
        let text = describe(describe(text("join"), &a).push(" with "), &b);
        trace.fail(text.push("; two tiles of one element type are wanted: convert one with `as`"));
    }
    let layout = trace.rule("join", typing::join(&left, &right), left);
    trace.emit(OpKind::Join(a.value, b.value), a.ty.with_layout(Some(layout)))
}

/// Both tiles in the shape and layout that an operator would give: `let [a, b] = broadcast(a, b);`
#[track_caller]
pub const fn broadcast(trace: &mut Trace<'_>, a: Tile, b: Tile) -> [Tile; 2] {
    let layout = common_layout(trace, "broadcast", &a, &b);
    [grown(trace, a, layout), grown(trace, b, layout)]
}

#[track_caller]
const fn grown(trace: &mut Trace<'_>, tile: Tile, layout: Option<quadpair_layouts::Layout>) -> Tile {
    match layout {
        None => tile,
        layout => trace.emit(OpKind::Broadcast(tile.value), tile.ty.with_layout(layout)),
    }
}

/// The two numbers of 4 bits (a sign, 2 bits of exponent, 1 of fraction: 0, 0.5, 1, 1.5, 2, 3, 4 or 6) in each byte, the
/// lower one first, next to one another along an axis, which becomes twice as long. `fp4_to_fp::<f16>(x, 1)`
#[track_caller]
pub const fn fp4_to_fp<T: Element>(trace: &mut Trace<'_>, x: Tile, axis: usize) -> Tile {
    let own = x.tiled(trace, "fp4_to_fp");
    if !x.ty.dtype.is(DType::U8) || x.ty.is_pointer() {
        trace.fail(describe(text("fp4_to_fp").push("pairs of numbers in u8 are wanted, this is "), &x));
    }
    if !T::DTYPE.is_float() {
        trace.fail(text("fp4_to_fp").push(T::DTYPE.name()).push(" is no floating-point type"));
    }
    let layout = trace.rule("fp4_to_fp", typing::unpack(&own, axis), own);
    trace.emit(OpKind::UnpackFp4(x.value), TileType::tile(T::DTYPE, layout))
}

impl Tile {
    /// The two halves of a tile whose last dimension has extent 2: `let [even, odd] = x.split();`
    ///
    /// Each thread must hold both of a pair in two registers, as [`join`] gives them.
    #[track_caller]
    pub const fn split(self, trace: &mut Trace<'_>) -> [Tile; 2] {
        let own = self.tiled(trace, "split");
        let layout = trace.rule("split", typing::split(&own), own);
        let ty = self.ty.with_layout(Some(layout));
        [trace.emit(OpKind::Half(self.value, 0), ty), trace.emit(OpKind::Half(self.value, 1), ty)]
    }

    /// The part of `length` indices of dimension `dim` from `start` on; `length` is a power of two and divides `start`.
    ///
    /// Each thread must have what it keeps in its own registers. `p.slice(1, 16, 16)` is columns 16 to 31.
    #[track_caller]
    pub const fn slice(self, trace: &mut Trace<'_>, dim: usize, start: usize, length: usize) -> Tile {
        let own = self.tiled(trace, "slice");
        let layout = trace.rule("slice", typing::part(&own, dim, start, length), own);
        let first = if dim < own.shape().rank() { (start as u32) << own.shape().shift(dim) } else { 0 };
        trace.emit(OpKind::Part(self.value, first), self.ty.with_layout(Some(layout)))
    }

    /// All elements in row-major order in one dimension. Nothing moves.
    #[track_caller]
    pub const fn ravel(self, trace: &mut Trace<'_>) -> Tile {
        let layout = self.tiled(trace, "ravel");
        self.relabelled(trace, "ravel", typing::ravel(&layout))
    }
}
