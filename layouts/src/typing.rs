//! The typing rules of the language: one function an operation, from the operands' layouts to the result's.
//!
//! | operation | the operands | the result |
//! |---|---|---|
//! | [`elementwise`] | one layout, or extents of 1 that broadcast | the larger one |
//! | [`broadcast`] | a tile that each thread holds its part of | the given layout |
//! | [`reshape`], [`permute`], [`expand_dims`] | any | the same elements, other names |
//! | [`reduce`] | any whose bits along the axis are its own | the slice |
//! | [`convert`] | any of the same shape and warps | the given layout |
//! | [`mma`], [`mma_of`], [`dot`] | operands of the accumulator | a plan; the result has the accumulator's layout |
//!
//! An invalid operand's own error comes first.

use crate::error::{ElementOf, Error, PackedShape};
use crate::f2::Span;
use crate::layout::Layout;
use crate::shape::Shape;

pub use crate::mma::{dot, mma, mma_of};

/// An elementwise operation. Extents of 1 broadcast.
///
/// Where one side has the result's shape, the other must hold what it broadcasts to; where both broadcast (`[M, 1]` with
/// `[1, N]`) both must come from one parent, which is the result.
///
/// ```
/// use quadpair_layouts::{blocked, typing};
/// let tile = blocked([32, 32], [1, 4], [8, 4], [1, 1], [1, 0]);
/// let rows = tile.slice(1).expand_dims(1);
/// assert!(typing::elementwise(&tile, &rows).unwrap().equals(&tile));
/// assert!(typing::elementwise(&rows, &tile.slice(0).expand_dims(0)).unwrap().equals(&tile));
/// assert!(typing::elementwise(&tile, &tile.slice(0).expand_dims(1)).is_err());
/// ```
///
/// # Errors
/// Shapes that don't broadcast, layouts that differ.
pub const fn elementwise(a: &Layout, b: &Layout) -> Result<Layout, Error> {
    if let Some(error) = first_fault(a, b) {
        return Err(error);
    }
    let (left, right) = (a.shape(), b.shape());
    if left.equals(&right) {
        return same(a, b);
    }
    let whole = match broadcast_shape(&left, &right) {
        Some(shape) => shape,
        None => return Err(Error::shapes(" with ", &left, &right)),
    };
    if whole.equals(&left) {
        broadcast(b, a)
    } else if whole.equals(&right) {
        broadcast(a, b)
    } else {
        parent(a, b, whole)
    }
}

const fn first_fault(a: &Layout, b: &Layout) -> Option<Error> {
    match a.fault() {
        Some(error) => Some(error),
        None => b.fault(),
    }
}

/// Two tiles of one shape: the layout with more registers, which remembers more of where it came from.
const fn same(a: &Layout, b: &Layout) -> Result<Layout, Error> {
    if a.warps() != b.warps() {
        return Err(Error::Warps { from: a.warps(), to: b.warps() });
    }
    match a.difference(b) {
        Some(difference) => Err(Error::Layouts { difference }),
        None => Ok(if a.register_bits() >= b.register_bits() { *a } else { *b }),
    }
}

/// The layout that both `[M, 1]` and `[1, N]` are collapses of.
const fn parent(a: &Layout, b: &Layout, whole: Shape) -> Result<Layout, Error> {
    if a.warps() != b.warps() {
        return Err(Error::Warps { from: a.warps(), to: b.warps() });
    }
    if a.register_bits() != b.register_bits() {
        return Err(Error::Parents { left: a.register_bits(), right: b.register_bits() });
    }
    let parent = a.embedded(&whole).join(&b.embedded(&whole));
    // Where both move along one dimension, or one moves where the other doesn't, there is no such layout.
    if let Some(difference) = a.difference(&parent.collapse_to(&a.shape())) {
        return Err(Error::Broadcast { difference });
    }
    if let Some(difference) = b.difference(&parent.collapse_to(&b.shape())) {
        return Err(Error::Broadcast { difference });
    }
    parent.complete().check()
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
    if let Some(error) = first_fault(from, to) {
        return Err(error);
    }
    let (narrow, wide) = (from.shape(), to.shape());
    match broadcast_shape(&narrow, &wide) {
        Some(shape) if shape.equals(&wide) => {}
        _ => return Err(Error::shapes(" does not broadcast to ", &narrow, &wide)),
    }
    if from.warps() != to.warps() {
        return Err(Error::Warps { from: from.warps(), to: to.warps() });
    }
    match from.difference(&to.collapse_to(&narrow)) {
        Some(difference) => Err(Error::Broadcast { difference }),
        None => Ok(*to),
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
/// Threads combine what their own registers hold of a row, then exchange with the threads whose number differs in bits
/// that move along the axis only. All of that together must reach the whole axis.
///
/// # Errors
/// No such axis; a bit that is needed moves along the axis and off it at once.
pub const fn reduce(layout: &Layout, axis: usize) -> Result<Layout, Error> {
    let result = layout.slice(axis);
    if result.fault().is_some() {
        return result.check();
    }
    let shape = layout.shape();
    let along = (shape.extent(axis) as u32 - 1) << shape.shift(axis);
    let (mut reached, columns) = (registers_along(layout, along), layout.columns());
    let (mut mixed, mut i) = (0, layout.register_bits());
    while i < columns.len() {
        if columns[i] & !along == 0 {
            reached.insert(columns[i], 0);
        } else if columns[i] & along != 0 {
            mixed = i;
        }
        i += 1;
    }
    if reached.rank() == shape.dim_bits(axis) {
        return result.check();
    }
    i = 0;
    while mixed == 0 && i + 1 < layout.register_bits() {
        i += 1;
        mixed = if columns[i] & along != 0 && columns[i] & !along != 0 { i } else { 0 };
    }
    let basis = ElementOf { element: columns[mixed], shape: PackedShape::of(&shape) };
    Err(Error::MixedBasis { bit: layout.bit(mixed), axis: axis as u8, basis })
}

/// The span of what a thread's registers hold of one row: sums of register bases that have no part off the axis.
const fn registers_along(layout: &Layout, along: u32) -> Span {
    let (mut off_axis, mut rows, mut i) = (Span::new(), Span::new(), 0);
    while i < layout.register_bits() {
        let basis = layout.register_basis(i);
        match off_axis.solve(basis & !along) {
            Some(others) => {
                rows.insert(layout.apply((others ^ 1 << i) as usize, 0, 0), 0);
            }
            None => {
                off_axis.insert(basis & !along, 1 << i);
            }
        }
        i += 1;
    }
    rows
}

/// A conversion to another layout.
///
/// # Errors
/// Another shape or number of warps.
pub const fn convert(from: &Layout, to: &Layout) -> Result<Layout, Error> {
    if let Some(error) = first_fault(from, to) {
        return Err(error);
    }
    if !from.shape().equals(&to.shape()) {
        return Err(Error::shapes(" cannot be converted to a layout of ", &from.shape(), &to.shape()));
    }
    if from.warps() != to.warps() {
        return Err(Error::Warps { from: from.warps(), to: to.warps() });
    }
    Ok(*to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Bit;
    use crate::mma::{Mma, Quadpairs};
    use crate::named::{blocked, linear};

    fn tile() -> Layout {
        Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]).accumulator([64, 32])
    }

    #[test]
    fn equal_maps_are_equal_whoever_made_them() {
        let (tile, rows) = (tile(), tile().slice(1));
        assert!(elementwise(&tile, &tile.reshape([2048]).reshape([64, 32])).unwrap().equals(&tile));
        // Of two slices that differ in duplicate registers the one that remembers its parent is kept.
        assert!(elementwise(&rows.compact(), &rows).unwrap().equals(&rows));
        assert!(elementwise(&rows, &rows.compact()).unwrap().equals(&rows));
    }

    #[test]
    fn extents_of_one_broadcast() {
        let tile = tile();
        let (rows, columns) = (tile.slice(1).expand_dims(1), tile.slice(0).expand_dims(0));
        for (a, b) in [(&tile, &rows), (&columns, &tile), (&rows, &columns), (&columns, &rows)] {
            assert!(elementwise(a, b).unwrap().equals(&tile));
        }
        assert!(broadcast(&rows.compact(), &tile).unwrap().equals(&tile));
        assert_eq!(elementwise(&rows.compact(), &columns), Err(Error::Parents { left: 1, right: 4 }));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let (tile, other) = (tile(), blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0]));
        assert!(matches!(elementwise(&tile, &other), Err(Error::Layouts { .. })));
        let rows = other.slice(1).expand_dims(1);
        assert!(matches!(elementwise(&tile, &rows), Err(Error::Broadcast { .. })));
        assert!(matches!(broadcast(&tile, &rows), Err(Error::Shapes { .. })));
        assert!(matches!(elementwise(&tile, &tile.slice(1)), Err(Error::Shapes { .. })));
        assert!(matches!(elementwise(&tile, &tile.reshape([32, 64])), Err(Error::Shapes { .. })));
        let fewer = Mma::m8n8k4(Quadpairs::TwoByTwo, [2, 1]).accumulator([64, 32]);
        assert_eq!(elementwise(&tile, &fewer), Err(Error::Warps { from: 4, to: 2 }));
        let fault = tile.slice(3);
        assert_eq!(elementwise(&tile, &fault).err(), fault.fault());
    }

    #[test]
    fn a_reduction_gives_the_slice() {
        for axis in [0, 1] {
            assert!(reduce(&tile(), axis).unwrap().equals(&tile().slice(axis)));
        }
        assert_eq!(reduce(&tile(), 2), Err(Error::Axis { axis: 2, rank: 2 }));
    }

    #[test]
    fn a_reduction_must_reach_the_whole_axis() {
        let lanes = [[1, 1], [2, 0], [4, 0], [8, 0], [16, 0]];
        // Each lane has its own column of a row: no exchange along the axis alone.
        let mixed = linear([32, 2], &[[1, 0]], &lanes, &[]).check().unwrap();
        assert!(matches!(reduce(&mixed, 1), Err(Error::MixedBasis { bit: Bit::Lane(0), axis: 1, .. })));
        // The same lanes are fine where registers hold the whole row.
        assert!(reduce(&linear([32, 2], &[[0, 1]], &lanes, &[]), 1).is_ok());
        // A register that moves both ways, and a lane that moves off the axis.
        let lanes = [[1, 0], [2, 0], [4, 0], [8, 0], [16, 0]];
        let mixed = linear([32, 4], &[[0, 1], [1, 2]], &lanes, &[]).check().unwrap();
        assert!(matches!(reduce(&mixed, 1), Err(Error::MixedBasis { bit: Bit::Register(1), axis: 1, .. })));
        // Two registers whose sum moves along the axis reach it.
        assert!(reduce(&linear([32, 2], &[[1, 0], [1, 1]], &lanes, &[]), 1).is_ok());
    }
}
