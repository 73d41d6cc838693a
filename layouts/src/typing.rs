//! The typing rules of the language: one function an operation, from the operands' layouts to the result's.
//!
//! | operation | the operands | the result |
//! |---|---|---|
//! | [`elementwise`] | one layout, or extents of 1 that broadcast | the larger one |
//! | [`broadcast`] | a tile that each thread holds its part of | the given layout |
//! | [`reshape`], [`permute`], [`expand_dims`] | any | the same elements, other names |
//! | [`ravel`] | any | one dimension |
//! | [`join`], [`split`] | two of one layout; pairs in a thread's registers | a last dimension of 2 more, less |
//! | [`unpack`] | bytes of two numbers | the dimension twice as long |
//! | [`reduce`] | any | the slice |
//! | [`scan`] | any | the same layout |
//! | [`together`] | one shape and layout | the same layout |
//! | [`gather`], [`scatter`] | indices of the source's extents but for the axis | the layout of the indices |
//! | [`histogram`] | a tile of rank 1 | the given layout of rank 1 |
//! | [`convert`] | any of the same shape and warps | the given layout |
//! | [`mma`], [`mma_of`], [`mma_on`], [`dot`] | operands of the accumulator | a plan; the result has the accumulator's layout |
//! | [`warpgroup_mma`], [`warpgroup_left`] | operands of wgmma, the right one and perhaps the left one in memory | a plan, too |
//!
//! An invalid operand's own error comes first.

use crate::error::{Error, PackedShape, Shapes};
use crate::layout::Layout;
use crate::shape::Shape;

pub use crate::mma::{dot, mma, mma_of, mma_on, warpgroup_left, warpgroup_mma};

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
        None => return Err(Error::Extents { shapes: Shapes::of(&left, &right) }),
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

/// All elements in row-major order in one dimension.
///
/// # Errors
/// The layout's own.
pub const fn ravel(layout: &Layout) -> Result<Layout, Error> {
    layout.reshape([layout.shape().len()]).check()
}

/// Two tiles as one of pairs: [`Layout::paired`] of their common layout.
///
/// # Errors
/// Layouts that differ, also by a broadcast; no room for another dimension or register.
pub const fn join(a: &Layout, b: &Layout) -> Result<Layout, Error> {
    if let Some(error) = first_fault(a, b) {
        return Err(error);
    }
    if !a.shape().equals(&b.shape()) {
        return Err(Error::shapes(" with ", &a.shape(), &b.shape()));
    }
    match same(a, b) {
        Ok(layout) => layout.paired().check(),
        Err(error) => Err(error),
    }
}

/// Each half of a tile of pairs.
///
/// # Errors
/// A last dimension that isn't 2, or pairs that aren't in two registers of a thread.
pub const fn split(layout: &Layout) -> Result<Layout, Error> {
    layout.unpaired().check()
}

/// `length` indices of a dimension from `start` on, in the registers that have them.
///
/// # Errors
/// They aren't inside, or not in each thread's own registers.
pub const fn part(layout: &Layout, dim: usize, start: usize, length: usize) -> Result<Layout, Error> {
    layout.part(dim, start, length).check()
}

/// Two numbers of each element, next to one another along an axis.
///
/// # Errors
/// No such axis, no room for another register.
pub const fn unpack(layout: &Layout, axis: usize) -> Result<Layout, Error> {
    layout.doubled(axis).check()
}

/// A reduction along an axis: the slice of the layout.
///
/// Every layout can be reduced: since it holds every element, the threads' numbers have a combination of bits that moves
/// along the axis alone for each bit of the axis.
///
/// # Errors
/// No such axis.
pub const fn reduce(layout: &Layout, axis: usize) -> Result<Layout, Error> {
    layout.slice(axis).check()
}

/// A scan along an axis: the layout of the operand.
///
/// # Errors
/// No such axis.
pub const fn scan(layout: &Layout, axis: usize) -> Result<Layout, Error> {
    match layout.slice(axis).fault() {
        Some(error) => Err(error),
        None => Ok(*layout),
    }
}

/// The operands of one reduction or scan, which walk along the axis side by side.
///
/// # Errors
/// Shapes or layouts that differ.
pub const fn together(a: &Layout, b: &Layout) -> Result<Layout, Error> {
    if let Some(error) = first_fault(a, b) {
        return Err(error);
    }
    if !a.shape().equals(&b.shape()) {
        return Err(Error::shapes(" together with ", &a.shape(), &b.shape()));
    }
    same(a, b)
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

/// Reading along an axis by run-time indices: `result[i, j] = source[index[i, j], j]` along axis 0.
///
/// ```
/// use quadpair_layouts::{Shape, blocked, typing};
/// let index = blocked([16, 32], [1, 4], [4, 8], [1, 1], [1, 0]);
/// assert!(typing::gather(&index, &Shape::new([64, 32]), 0).is_ok());
/// assert!(typing::gather(&index, &Shape::new([64, 32]), 1).is_err());
/// ```
///
/// # Errors
/// Another rank, no such axis, other extents off the axis.
pub const fn gather(index: &Layout, source: &Shape, axis: usize) -> Result<Layout, Error> {
    if let Some(error) = index.fault() {
        return Err(error);
    }
    let shape = index.shape();
    if axis >= source.rank() {
        return Err(Error::Axis { axis, rank: source.rank() });
    }
    let (mut same, mut dim) = (shape.rank() == source.rank(), 0);
    while same && dim < shape.rank() {
        same = dim == axis || shape.extent(dim) == source.extent(dim);
        dim += 1;
    }
    if !same {
        let (source, index) = (PackedShape::of(source), PackedShape::of(&shape));
        return Err(Error::Indices { source, index, axis: axis as u8 });
    }
    Ok(*index)
}

/// Writing along an axis by run-time indices: `target[index[i, j], j] = values[i, j]` along axis 0.
///
/// # Errors
/// As [`gather`]; values in another layout than the indices.
pub const fn scatter(values: &Layout, index: &Layout, target: &Shape, axis: usize) -> Result<Layout, Error> {
    if let Some(error) = first_fault(values, index) {
        return Err(error);
    }
    if !values.shape().equals(&index.shape()) {
        return Err(Error::shapes(" values by indices of ", &values.shape(), &index.shape()));
    }
    if let Err(error) = same(values, index) {
        return Err(error);
    }
    gather(index, target, axis)
}

/// Counts of a tile's elements, by value: one element of the result for each value.
///
/// # Errors
/// Another rank than 1, another number of warps.
pub const fn histogram(from: &Layout, to: &Layout) -> Result<Layout, Error> {
    if let Some(error) = first_fault(from, to) {
        return Err(error);
    }
    if from.shape().rank() != 1 {
        return Err(Error::Vector { rank: from.shape().rank() });
    }
    if to.shape().rank() != 1 {
        return Err(Error::Vector { rank: to.shape().rank() });
    }
    if from.warps() != to.warps() {
        return Err(Error::Warps { from: from.warps(), to: to.warps() });
    }
    Ok(*to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mma::{Mma, Quadpairs};
    use crate::named::blocked;

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
        assert!(matches!(elementwise(&tile, &tile.slice(1)), Err(Error::Extents { .. })));
        assert!(matches!(elementwise(&tile, &tile.reshape([32, 64])), Err(Error::Extents { .. })));
        let fewer = Mma::m8n8k4(Quadpairs::TwoByTwo, [2, 1]).accumulator([64, 32]);
        assert_eq!(elementwise(&tile, &fewer), Err(Error::Warps { from: 4, to: 2 }));
        let fault = tile.slice(3);
        assert_eq!(elementwise(&tile, &fault).err(), fault.fault());
    }

    #[test]
    fn pairs_are_joined_and_split() {
        let tile = tile();
        let joined = join(&tile, &tile).unwrap();
        assert!(joined.equals(&tile.paired()) && split(&joined).unwrap().equals(&tile));
        // Slices that differ in duplicate registers have one layout.
        assert!(join(&tile.slice(1), &tile.slice(1).compact()).unwrap().equals(&tile.slice(1).paired()));
        assert!(matches!(join(&tile, &tile.reshape([32, 64])), Err(Error::Shapes { .. })));
        assert!(matches!(join(&tile, &tile.reshape([32, 64]).permute([1, 0])), Err(Error::Layouts { .. })));
        assert!(matches!(split(&tile), Err(Error::NoPairs { .. })));
        assert!(ravel(&tile).unwrap().reshape([64, 32]).equals(&tile));
        assert!(unpack(&tile, 0).unwrap().equals(&tile.doubled(0)));
    }

    #[test]
    fn indices_have_the_extents_off_the_axis() {
        let (index, source) = (blocked([16, 32], [1, 4], [4, 8], [1, 1], [1, 0]), Shape::new([64, 32]));
        assert!(gather(&index, &source, 0).unwrap().equals(&index));
        assert!(matches!(gather(&index, &source, 1), Err(Error::Indices { axis: 1, .. })));
        assert!(matches!(gather(&index, &Shape::new([64]), 0), Err(Error::Indices { axis: 0, .. })));
        assert_eq!(gather(&index, &source, 2), Err(Error::Axis { axis: 2, rank: 2 }));
        assert!(scatter(&index, &index, &source, 0).unwrap().equals(&index));
        let other = blocked([16, 32], [1, 4], [8, 4], [1, 1], [1, 0]);
        assert!(matches!(scatter(&other, &index, &source, 0), Err(Error::Layouts { .. })));
        assert!(matches!(scatter(&index.slice(0), &index, &source, 0), Err(Error::Shapes { .. })));
    }

    #[test]
    fn a_histogram_has_rank_one() {
        let (values, bins) = (blocked([256], [4], [32], [2], [0]), blocked([64], [1], [32], [2], [0]));
        assert!(histogram(&values, &bins).unwrap().equals(&bins));
        assert_eq!(histogram(&values.reshape([16, 16]), &bins), Err(Error::Vector { rank: 2 }));
        assert_eq!(histogram(&values, &bins.reshape([8, 8])), Err(Error::Vector { rank: 2 }));
        let fewer = blocked([64], [2], [32], [1], [0]);
        assert_eq!(histogram(&values, &fewer), Err(Error::Warps { from: 2, to: 1 }));
    }

    #[test]
    fn a_reduction_gives_the_slice() {
        for axis in [0, 1] {
            assert!(reduce(&tile(), axis).unwrap().equals(&tile().slice(axis)));
        }
        assert_eq!(reduce(&tile(), 2), Err(Error::Axis { axis: 2, rank: 2 }));
    }

    #[test]
    fn a_scan_keeps_the_layout_and_operands_go_side_by_side() {
        let tile = tile();
        assert!(scan(&tile, 1).unwrap().equals(&tile));
        assert_eq!(scan(&tile, 2), Err(Error::Axis { axis: 2, rank: 2 }));
        assert!(together(&tile, &tile).unwrap().equals(&tile));
        assert!(matches!(together(&tile, &tile.slice(1)), Err(Error::Shapes { .. })));
        assert!(matches!(together(&tile, &tile.slice(1).expand_dims(1)), Err(Error::Shapes { .. })));
        let other = blocked([64, 32], [1, 4], [4, 8], [4, 1], [1, 0]);
        assert!(matches!(together(&tile, &other), Err(Error::Layouts { .. })));
    }
}
