//! The typing rules of the language: one function an operation, from the operands' layouts to the result's.

use crate::error::{Error, PackedShape, Shapes};
use crate::layout::{Bit, LANE_BITS, Layout};
use crate::shape::Shape;

pub use crate::mma::{dot, mma};

/// An elementwise operation. Extents of 1 broadcast.
///
/// Where one side has the result's shape, the other must hold what it broadcasts to; where both broadcast (`[M, 1]` with
/// `[1, N]`) both must come from one parent, which is the result.
///
/// # Errors
/// Shapes that don't broadcast, layouts that differ.
pub const fn elementwise(a: &Layout, b: &Layout) -> Result<Layout, Error> {
    let (left, right) = (a.shape(), b.shape());
    if left.equals(&right) {
        return same(a, b);
    }
    let whole = match broadcast_shape(&left, &right) {
        Some(shape) => shape,
        None => return Err(Error::shapes(" with ", &left, &right)),
    };
    if whole.equals(&left) {
        match broadcast(b, a) {
            Ok(_) => Ok(*a),
            Err(error) => Err(error),
        }
    } else if whole.equals(&right) {
        match broadcast(a, b) {
            Ok(_) => Ok(*b),
            Err(error) => Err(error),
        }
    } else {
        parent(a, b, whole)
    }
}

/// Two tiles of one shape: the layout with more registers, which remembers more of where it came from.
const fn same(a: &Layout, b: &Layout) -> Result<Layout, Error> {
    if !a.same_tile(b) {
        return match a.difference(b) {
            Some(difference) => Err(Error::Layouts { difference }),
            None => Err(Error::Warps { from: a.warps(), to: b.warps() }),
        };
    }
    Ok(if a.register_bits() >= b.register_bits() { *a } else { *b })
}

/// The layout that both `[M, 1]` and `[1, N]` are collapses of.
const fn parent(a: &Layout, b: &Layout, whole: Shape) -> Result<Layout, Error> {
    if a.register_bits() != b.register_bits() || a.warp_bits() != b.warp_bits() {
        return Err(Error::Parents { left: a.register_bits(), right: b.register_bits() });
    }
    let joined = a.sum(b, whole, &a.embedded(&whole), &b.embedded(&whole));
    if !joined.collapse_to(&a.shape()).same_tile(a) || !joined.collapse_to(&b.shape()).same_tile(b) {
        return Err(Error::shapes(" with ", &a.shape(), &b.shape()));
    }
    joined.complete().check()
}

/// The shape that two shapes of one rank broadcast to.
const fn broadcast_shape(a: &Shape, b: &Shape) -> Option<Shape> {
    if a.rank() != b.rank() {
        return None;
    }
    let (mut shape, mut dim) = (*a, 0);
    while dim < a.rank() {
        if a.extent(dim) == 1 {
            shape = shape.with_extent(dim, b.extent(dim));
        } else if b.extent(dim) != 1 && b.extent(dim) != a.extent(dim) {
            return None;
        }
        dim += 1;
    }
    Some(shape)
}

/// Broadcasting a tile's extents of 1 to a layout.
///
/// # Errors
/// Shapes that don't fit; threads that don't hold what the layout needs.
pub const fn broadcast(from: &Layout, to: &Layout) -> Result<Layout, Error> {
    let (narrow, wide) = (from.shape(), to.shape());
    match broadcast_shape(&narrow, &wide) {
        Some(shape) if shape.equals(&wide) => {}
        _ => return Err(Error::shapes(" does not broadcast to ", &narrow, &wide)),
    }
    let wanted = to.collapse_to(&narrow);
    if wanted.same_tile(from) {
        return Ok(*to);
    }
    match from.difference(&wanted) {
        Some(difference) => Err(Error::Broadcast { difference }),
        None => Err(Error::Warps { from: from.warps(), to: to.warps() }),
    }
}

/// A reshape.
///
/// # Errors
/// Another number of elements.
pub const fn reshape<const N: usize>(layout: &Layout, shape: [usize; N]) -> Result<Layout, Error> {
    layout.reshape(shape).check()
}

/// A permutation of dimensions.
///
/// # Errors
/// An order that is none.
pub const fn permute<const N: usize>(layout: &Layout, order: [usize; N]) -> Result<Layout, Error> {
    layout.permute(order).check()
}

/// An extent of 1 inserted.
///
/// # Errors
/// No such place.
pub const fn expand_dims(layout: &Layout, axis: usize) -> Result<Layout, Error> {
    layout.expand_dims(axis).check()
}

/// A reduction along an axis: the slice of the layout.
///
/// # Errors
/// No such axis; a lane or warp that moves along it and off it at once.
pub const fn reduce(layout: &Layout, axis: usize) -> Result<Layout, Error> {
    let shape = layout.shape();
    if axis >= shape.rank() {
        return Err(Error::Axis { axis, rank: shape.rank() });
    }
    let along = (shape.extent(axis) as u32 - 1) << shape.shift(axis);
    let mut i = 0;
    while i < LANE_BITS + layout.warp_bits() {
        let (bit, basis) = if i < LANE_BITS {
            (Bit::Lane(i), layout.lane_basis(i))
        } else {
            (Bit::Warp(i - LANE_BITS), layout.warp_basis(i - LANE_BITS))
        };
        if basis & along != 0 && basis & !along != 0 {
            return Err(Error::MixedBasis { bit, axis });
        }
        i += 1;
    }
    layout.slice(axis).check()
}

/// A conversion to another layout.
///
/// # Errors
/// Another shape or number of warps.
pub const fn convert(from: &Layout, to: &Layout) -> Result<Layout, Error> {
    if let Some(error) = to.fault() {
        return Err(error);
    }
    if !from.shape().equals(&to.shape()) {
        let shapes = Shapes { left: PackedShape::of(&from.shape()), right: PackedShape::of(&to.shape()) };
        return Err(Error::Shapes { op: " cannot be converted to a layout of ", shapes });
    }
    if from.warps() != to.warps() {
        return Err(Error::Warps { from: from.warps(), to: to.warps() });
    }
    Ok(*to)
}
