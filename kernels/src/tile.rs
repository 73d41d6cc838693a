//! What the kernels' tiles have in common: how they come from global memory, and how they are multiplied.

use crate::unit::Unit;
use quadpair::prelude::*;

/// Neighbours of a row that a thread loads from global memory: 16 bytes of f16.
pub(crate) const VECTOR: usize = 8;

/// Bytes of the widest access that a thread makes: rows that all start at a multiple of it are loaded that wide.
pub(crate) const WIDEST: usize = 16;

/// Whether what lies so many elements apart is aligned where the first is: for the widest access, and as
/// [`row_aligned`] promises.
pub(crate) const fn keeps_alignment(elements: usize, element_bytes: usize) -> bool {
    (elements * element_bytes).is_multiple_of(WIDEST) && elements.is_multiple_of(VECTOR)
}

/// A tile as it comes from global memory: each thread has [`VECTOR`] neighbours of a row, the warps lie along the rows.
pub(crate) const fn loaded_rows(rows: usize, columns: usize, warps: usize) -> Layout {
    let lanes = if columns / VECTOR < 32 { columns / VECTOR } else { 32 };
    blocked([rows, columns], [1, VECTOR], [32 / lanes, lanes], [warps, 1], [1, 0])
}

/// Shared memory of rows whose 16-byte pieces are copied, and loaded as 8x8 matrices, without a bank conflict: the eight
/// rows of a matrix have theirs in eight different places of 128 bytes.
pub(crate) const fn for_matrices(rows: usize, columns: usize) -> SharedLayout {
    let pieces = if columns / VECTOR < 8 { columns / VECTOR } else { 8 };
    swizzled([rows, columns], VECTOR, 8 / pieces, pieces, [1, 0])
}

/// An address, a distance or a count that is known to keep rows aligned where they are.
#[device]
pub(crate) fn row_aligned(x: Tile, #[comptime] aligned: bool) -> Tile {
    if aligned { multiple_of(x, VECTOR) } else { x }
}

/// a b + c on the unit.
#[device]
pub(crate) fn product(a: Tile, b: Tile, c: Tile, #[comptime] unit: Unit) -> Tile {
    match unit {
        Unit::Fma => dot(a as f32, b as f32, c),
        _ => mma(a, b, c),
    }
}
