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

/// The memory of a matrix as the tensor memory accelerator writes it and wgmma reads it: rows of `swizzle` bytes in groups
/// of 8, the 16-byte chunks of each XORed with its row; then all groups below one another, then the next `swizzle` bytes
/// of each row. `swizzle` is 0 for none (row-major), 32, 64 or 128. `transposed` makes dimension 0 of a matrix the contiguous
/// one. More than two dimensions count as one long column of rows.
///
/// ```
/// use quadpair_layouts::nvmma_shared;
/// let memory = nvmma_shared([64, 128], 128, 16, false);
/// // Row 3, halves 8 to 15: chunk 1 ^ 3 = 2 of 64 halves a row; columns from 64 on follow after all 64 rows.
/// assert_eq!(memory.offset(memory.shape().flat(&[3, 8])), 3 * 64 + 2 * 8);
/// assert_eq!(memory.offset(memory.shape().flat(&[0, 64])), 64 * 64);
/// assert_eq!(memory.alignment(), 1024);
/// ```
///
/// Invalid for another swizzle, elements of other than 8 to 64 bits, a shape without room for 8 rows of the swizzle, or a
/// transposed tile that is no matrix.
pub const fn nvmma_shared<const N: usize>(
    shape: [usize; N],
    swizzle: usize,
    element_bits: usize,
    transposed: bool,
) -> SharedLayout {
    let whole = SharedLayout::flat(&Shape::new(shape));
    if whole.fault.is_some() {
        return whole;
    }
    if !matches!(element_bits, 8 | 16 | 32 | 64) {
        return whole.failed(Error::ElementBits { bits: element_bits });
    }
    let order = rows_order::<N>(transposed);
    match swizzle {
        _ if transposed && N != 2 => whole.failed(Error::Matrix { rank: N }),
        0 => swizzled(shape, 1, 1, 1, order).aligned(128),
        32 | 64 | 128 if N < 2 => whole.failed(Error::Matrix { rank: N }),
        32 | 64 | 128 => chunked(whole, &order, swizzle, element_bits / 8).aligned(8 * swizzle),
        _ => whole.failed(Error::SwizzleBytes { bytes: swizzle }),
    }
}

/// The dimensions from the fastest: the last one first or, of a transposed matrix, the first one.
const fn rows_order<const N: usize>(transposed: bool) -> [usize; N] {
    let (mut order, mut place) = ([0; N], 0);
    while place < N {
        order[place] = if transposed { place } else { N - 1 - place };
        place += 1;
    }
    order
}

/// Rows of `swizzle` bytes: chunks XORed, all rows, then the rest of each row.
const fn chunked(mut layout: SharedLayout, order: &[usize], swizzle: usize, bytes: usize) -> SharedLayout {
    let (shape, row, inner) = (layout.shape, swizzle / bytes, order[0]);
    let (row_bits, rows) = (row.trailing_zeros() as usize, shape.bits() - shape.dim_bits(inner));
    if shape.extent(inner) < row {
        return layout.failed(Error::Pattern { dim: inner, extent: shape.extent(inner), least: row });
    }
    if rows < 3 {
        return layout.failed(Error::Pattern { dim: order[1], extent: 1 << rows, least: 8 });
    }
    let mut bit = 0;
    while bit < shape.dim_bits(inner) {
        let place = if bit < row_bits { bit } else { bit + rows };
        layout.columns[shape.shift(inner) + bit] = 1 << place;
        bit += 1;
    }
    let (mut place, mut number) = (1, 0);
    while place < order.len() {
        bit = 0;
        while bit < shape.dim_bits(order[place]) {
            let phase = if number < 3 { chunk_phase(1 << number, swizzle) * 16 / bytes } else { 0 };
            layout.columns[shape.shift(order[place]) + bit] = ((row << number) + phase) as u32;
            number += 1;
            bit += 1;
        }
        place += 1;
    }
    layout
}

/// What row `row` of a group of 8 XORs into the number of a chunk of 16 bytes: the number of its line of 128 bytes, as far
/// as its `row_bytes` have chunks.
pub(crate) const fn chunk_phase(row: usize, row_bytes: usize) -> usize {
    row * row_bytes / 128 % (row_bytes / 16)
}

/// [`nvmma_shared`] with the largest swizzle that the shape has room for.
///
/// ```
/// use quadpair_layouts::{nvmma_default, nvmma_shared};
/// assert_eq!(nvmma_default([64, 32], 16, false), nvmma_shared([64, 32], 64, 16, false));
/// assert_eq!(nvmma_default([4, 32], 16, false), nvmma_shared([4, 32], 0, 16, false));
/// ```
///
/// Invalid for elements of other than 8 to 64 bits.
pub const fn nvmma_default<const N: usize>(shape: [usize; N], element_bits: usize, transposed: bool) -> SharedLayout {
    let whole = Shape::new(shape);
    let inner = if N == 0 { 0 } else { rows_order::<N>(transposed)[0] };
    let row_bits = whole.extent(inner).saturating_mul(element_bits);
    let rows = whole.len() / whole.extent(inner);
    let swizzle = match row_bits {
        _ if N < 2 || rows < 8 => 0,
        1024.. => 128,
        512.. => 64,
        256.. => 32,
        _ => 0,
    };
    nvmma_shared(shape, swizzle, element_bits, transposed)
}

/// The memory of one barrier object: a single element of 64 bits. `[n, ...]` of them are [`row_major`].
pub const fn mbarrier() -> SharedLayout {
    row_major([1])
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
    fn chunks_of_eight_rows_are_as_the_formula_says() {
        for (swizzle, bits, transposed) in [(32, 16, false), (64, 8, false), (128, 32, true), (128, 16, false)] {
            let shape = if transposed { [64, 32] } else { [32, 128] };
            let memory = nvmma_shared(shape, swizzle, bits, transposed).check().unwrap();
            let (bytes, row) = (bits / 8, swizzle * 8 / bits);
            for element in 0..memory.shape().len() as u32 {
                let (i, j) = (memory.shape().coordinate(element, 0), memory.shape().coordinate(element, 1));
                let (r, c, rows) = if transposed { (j, i, shape[1]) } else { (i, j, shape[0]) };
                // In bytes: rows one below the other; the chunk's number is XORed with that of the 128-byte line.
                let linear = c / row * rows * swizzle + r * swizzle + c % row * bytes;
                let phase = linear / 128 % (swizzle / 16);
                let there = linear ^ (phase * 16);
                assert_eq!(memory.offset(element) as usize * bytes, there);
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
        let nvmma = |shape: [usize; 2], swizzle, bits| nvmma_shared(shape, swizzle, bits, false).fault();
        assert_eq!(nvmma([64, 64], 16, 16), Some(Error::SwizzleBytes { bytes: 16 }));
        assert_eq!(nvmma([64, 64], 32, 4), Some(Error::ElementBits { bits: 4 }));
        assert_eq!(nvmma([64, 32], 128, 16), Some(Error::Pattern { dim: 1, extent: 32, least: 64 }));
        assert_eq!(nvmma([4, 64], 128, 16), Some(Error::Pattern { dim: 0, extent: 4, least: 8 }));
        assert_eq!(nvmma_shared([64], 32, 16, false).fault(), Some(Error::Matrix { rank: 1 }));
        assert_eq!(nvmma_default([], 16, false).fault(), None);
        assert_eq!(nvmma_default([8, 8], 1 << 63, false).fault(), Some(Error::ElementBits { bits: 1 << 63 }));
        assert_eq!(row_major([4]).aligned(8).fault(), Some(Error::Alignment { bytes: 8 }));
        assert_eq!(swizzled([4, 4], 2, 1, 1, [1, 1]).fault(), Some(Error::RepeatedAxis { axis: 1 }));
        assert_eq!(swizzled([4, 6], 2, 1, 1, [1, 0]).fault(), Some(Error::NotPowerOfTwo { dim: 1, extent: 6 }));
    }
}
