//! Named shared-memory layouts.

use super::SharedLayout;
use crate::error::Error;
use crate::layout::Bit;
use crate::named::outside;
use crate::shape::{MAX_SHAPE_BITS, Shape};

/// Row-major, without gaps.
pub const fn row_major<const N: usize>(shape: [usize; N]) -> SharedLayout {
    SharedLayout::flat(&Shape::new(shape))
}

/// A layout by its bases, as coordinates: which element lies at offset 1, 2, 4, …
///
/// ```
/// use quadpair_layouts::shared_linear;
/// let memory = shared_linear([2, 4], &[[0, 1], [0, 2], [1, 1]]);
/// assert_eq!(memory.offset(memory.shape().flat(&[1, 1])), 4);
/// assert_eq!(memory.offset(memory.shape().flat(&[1, 0])), 5);
/// ```
///
/// Invalid if a basis lies outside the shape, or two elements would lie at one place.
pub const fn shared_linear<const N: usize>(shape: [usize; N], offsets: &[[usize; N]]) -> SharedLayout {
    let shape = Shape::new(shape);
    let layout = SharedLayout::flat(&shape);
    if layout.fault.is_some() {
        return layout;
    }
    if offsets.len() != shape.bits() {
        return layout.failed(Error::NotInvertible { bases: offsets.len(), bits: shape.bits() });
    }
    let (mut bases, mut i) = ([0; MAX_SHAPE_BITS], 0);
    while i < offsets.len() {
        if let Some(error) = outside(&shape, Bit::Offset(i as u8), &offsets[i]) {
            return layout.failed(error);
        }
        bases[i] = shape.flat(&offsets[i]);
        i += 1;
    }
    SharedLayout::of_bases(&shape, bases.split_at(i).0)
}

/// Rows of the fastest dimension of `order`, in vectors of `vec` elements; the vector's number is XORed with the row's
/// number divided by `per_phase`, modulo `max_phase`. So the same column of neighbouring rows lies in other banks.
///
/// ```
/// use quadpair_layouts::swizzled;
/// let memory = swizzled([8, 32], 8, 1, 4, [1, 0]);
/// // Row 3: vector 1 ^ 3 = 2.
/// assert_eq!(memory.offset(memory.shape().flat(&[3, 8])), 3 * 32 + 2 * 8);
/// ```
///
/// Invalid if a parameter is no power of two, or `order` isn't an order of the dimensions.
pub const fn swizzled<const N: usize>(
    shape: [usize; N],
    vec: usize,
    per_phase: usize,
    max_phase: usize,
    order: [usize; N],
) -> SharedLayout {
    let shape = Shape::new(shape);
    let mut layout = SharedLayout::flat(&shape);
    if layout.fault.is_some() {
        return layout;
    }
    if let Some(error) = swizzle_error(&shape, vec, per_phase, max_phase, &order) {
        return layout.failed(error);
    }
    let (mut place, mut next) = (0, 0);
    while place < N {
        let dim = order[place];
        let mut i = 0;
        while i < shape.dim_bits(dim) {
            let phase = if place == 1 { (1 << i) / per_phase % max_phase * vec } else { 0 };
            let inside = phase & (shape.extent(order[0]) - 1);
            layout.columns[shape.shift(dim) + i] = 1 << next | inside as u32;
            next += 1;
            i += 1;
        }
        place += 1;
    }
    layout
}

const fn swizzle_error(
    shape: &Shape,
    vec: usize,
    per_phase: usize,
    max_phase: usize,
    order: &[usize],
) -> Option<Error> {
    let (given, mut i) = ([("vec", vec), ("per_phase", per_phase), ("max_phase", max_phase)], 0);
    while i < given.len() {
        let (name, value) = given[i];
        if !value.is_power_of_two() {
            return Some(Error::Parameter { name, value });
        }
        if value > 1 << MAX_SHAPE_BITS {
            return Some(Error::TooLarge { name, value });
        }
        i += 1;
    }
    shape.permuted(order).fault()
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_swizzle_is_as_its_formula_says() {
        for (vec, per_phase, max_phase) in [(1, 1, 1), (8, 1, 4), (4, 2, 8), (2, 4, 16), (16, 1, 16)] {
            for order in [[1, 0], [0, 1]] {
                let memory = swizzled([16, 32], vec, per_phase, max_phase, order).check().unwrap();
                let width = memory.shape().extent(order[0]);
                for element in 0..512 {
                    let at = order.map(|dim| memory.shape().coordinate(element, dim));
                    let phase = at[1] / per_phase % max_phase * vec % width;
                    assert_eq!(memory.offset(element) as usize, at[1] * width + (at[0] ^ phase));
                }
            }
        }
    }

    #[test]
    fn each_element_of_a_linear_layout_has_its_own_offset() {
        let bases = [[0, 1], [1, 2], [2, 0], [0, 2], [3, 3]];
        let memory = shared_linear([4, 8], &bases).fault();
        assert_eq!(memory, Some(Error::NotInvertible { bases: 5, bits: 5 }));
        let bases = [[0, 1], [1, 2], [2, 0], [0, 2], [3, 4]];
        let memory = shared_linear([4, 8], &bases).check().unwrap();
        let offsets: HashSet<u32> = (0..32).map(|element| memory.offset(element)).collect();
        assert_eq!(offsets.len(), 32);
        for (i, basis) in bases.iter().enumerate() {
            assert_eq!(memory.offset(memory.shape().flat(basis)), 1 << i);
        }
    }

    #[test]
    fn faults_are_named() {
        let outside = Error::BasisOutside { bit: Bit::Offset(0), dim: 1, coordinate: 4, extent: 4 };
        assert_eq!(shared_linear([1, 4], &[[0, 4], [0, 1]]).fault(), Some(outside));
        assert_eq!(shared_linear([4], &[[1]; 40]).fault(), Some(Error::NotInvertible { bases: 40, bits: 2 }));
        assert_eq!(swizzled([4, 4], 3, 1, 1, [1, 0]).fault(), Some(Error::Parameter { name: "vec", value: 3 }));
        let large = Error::TooLarge { name: "max_phase", value: 1 << 63 };
        assert_eq!(swizzled([4, 4], 2, 1, 1 << 63, [1, 0]).fault(), Some(large));
        assert_eq!(swizzled([4, 4], 2, 1, 1, [1, 1]).fault(), Some(Error::RepeatedAxis { axis: 1 }));
        assert_eq!(swizzled([4, 6], 2, 1, 1, [1, 0]).fault(), Some(Error::NotPowerOfTwo { dim: 1, extent: 6 }));
    }
}
