//! Tensor memory: the accumulators' memory of Blackwell, 128 rows (lanes) of 512 columns of 32 bits. Columns are counted in
//! elements here, so that there are 1024 of 16 bits and 2048 of 8.
//!
//! A tile is laid out in blocks of `[m, n]` elements, an element in each column or in every `col_stride`-th. Blocks of 128 rows
//! fill the lanes; blocks of 64 rows take lanes 0 to 15, 32 to 47, 64 to 79 and 96 to 111, and the next block the lanes
//! between. Written by bases as a register layout is, for `[128, 32]` in blocks of `[64, 32]`:
//!
//! ```text
//! rows (1, 0) (2, 0) (4, 0) (8, 0) (64, 0) (16, 0) (32, 0); columns (0, 1) (0, 2) (0, 4) (0, 8) (0, 16)
//! ```
//!
//! Nothing here loads or stores it: it is the map, as data.

use crate::error::Error;
use crate::shape::{MAX_SHAPE_BITS, Shape};

/// Bits of a row's number.
const ROW_BITS: usize = 7;

/// The most bits of a column's number: 2048 columns of 8 bits.
const COLUMN_BITS: usize = 11;

/// Which element of a tile lies in a row and column of tensor memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TensorMemory {
    shape: Shape,
    rows: [u32; ROW_BITS],
    columns: [u32; MAX_SHAPE_BITS],
    column_bits: usize,
    fault: Option<Error>,
}

impl TensorMemory {
    /// What is wrong with it, if anything.
    pub const fn fault(&self) -> Option<Error> {
        self.fault
    }

    /// The tile's extents.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// What each bit of a row's number moves by, as a flat index; 0 if both halves of the rows hold the same, or nothing.
    pub const fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// What each bit of a column's number moves by; 0 for the columns between two elements.
    pub const fn columns(&self) -> &[u32] {
        self.columns.split_at(self.column_bits).0
    }

    const fn failed(mut self, error: Error) -> TensorMemory {
        if self.fault.is_none() {
            self.fault = Some(error);
        }
        self
    }

    const fn push(&mut self, basis: u32) {
        if self.column_bits == MAX_SHAPE_BITS {
            *self = self.failed(Error::TooManyColumns { bits: self.column_bits + 1 });
            return;
        }
        self.columns[self.column_bits] = basis;
        self.column_bits += 1;
    }

    /// Further columns for the bits `from..to` of a dimension.
    const fn push_bits(&mut self, dim: usize, from: usize, to: usize) {
        let mut bit = from;
        while bit < to {
            self.push(1 << (self.shape.shift(dim) + bit));
            bit += 1;
        }
    }
}

/// A tile in blocks of `[64 or 128, n]` elements, each in every `col_stride`-th column: first all blocks below one another,
/// then those to the right.
///
/// ```
/// use quadpair_layouts::tensor_memory;
/// let memory = tensor_memory([128, 64], [128, 64], 2);
/// assert_eq!(memory.fault(), None);
/// assert_eq!(memory.columns()[..3], [0, 1, 2]);
/// ```
///
/// Invalid if a block has other than 64 or 128 rows, is larger than the tile, or the tile needs more than 2048 columns.
pub const fn tensor_memory(shape: [usize; 2], block: [usize; 2], col_stride: usize) -> TensorMemory {
    let (shape, block) = (Shape::new(shape), Shape::new(block));
    let (rows, columns) = ([0; ROW_BITS], [0; MAX_SHAPE_BITS]);
    let mut memory = TensorMemory { shape, rows, columns, column_bits: 0, fault: shape.fault() };
    if let Some(error) = block_error(&shape, &block, col_stride) {
        return memory.failed(error);
    }
    let (m, n) = (shape.dim_bits(0), shape.dim_bits(1));
    let (mut m_used, mut n_used) = (block.dim_bits(0), block.dim_bits(1));
    let mut bit = 0;
    while bit < m_used {
        let row = if m_used == ROW_BITS || bit < 4 { bit } else { bit + 1 };
        memory.rows[row] = 1 << (shape.shift(0) + bit);
        bit += 1;
    }
    let mut stride = col_stride;
    while stride > 1 {
        memory.push(0);
        stride /= 2;
    }
    memory.push_bits(1, 0, n_used);
    if m_used < ROW_BITS && m > m_used {
        memory.rows[4] = 1 << (shape.shift(0) + m_used);
        m_used += 1;
    } else if m_used < ROW_BITS && n > n_used {
        memory.rows[4] = 1 << n_used;
        n_used += 1;
    }
    memory.push_bits(0, m_used, m);
    memory.push_bits(1, n_used, n);
    if memory.column_bits > COLUMN_BITS {
        return memory.failed(Error::TooManyColumns { bits: memory.column_bits });
    }
    memory
}

const fn block_error(shape: &Shape, block: &Shape, col_stride: usize) -> Option<Error> {
    if shape.fault().is_some() {
        return shape.fault();
    }
    if block.fault().is_some() {
        return block.fault();
    }
    if !col_stride.is_power_of_two() {
        return Some(Error::Parameter { name: "col_stride", value: col_stride });
    }
    if col_stride > 1 << COLUMN_BITS {
        return Some(Error::TooManyColumns { bits: col_stride.ilog2() as usize });
    }
    if !matches!(block.extent(0), 64 | 128) {
        return Some(Error::TensorRows { rows: block.extent(0) });
    }
    let mut dim = 0;
    while dim < 2 {
        if shape.extent(dim) < block.extent(dim) {
            return Some(Error::Pattern { dim, extent: shape.extent(dim), least: block.extent(dim) });
        }
        dim += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_element_has_a_row_and_column() {
        for (shape, block, stride) in [([128, 64], [128, 64], 1), ([256, 64], [64, 16], 2), ([64, 64], [64, 16], 1)] {
            let memory = tensor_memory(shape, block, stride);
            assert_eq!(memory.fault(), None);
            let bases: HashSet<u32> =
                memory.rows().iter().chain(memory.columns()).copied().filter(|&b| b != 0).collect();
            assert_eq!(bases.len(), memory.shape().bits());
        }
    }

    #[test]
    fn the_second_block_of_64_rows_lies_between_the_first_ones() {
        let memory = tensor_memory([128, 32], [64, 32], 1);
        assert_eq!(memory.rows(), [32, 64, 128, 256, 64 * 32, 512, 1024]);
        assert_eq!(tensor_memory([64, 64], [64, 32], 1).rows()[4], 32);
        assert_eq!(tensor_memory([64, 32], [64, 32], 1).rows()[4], 0);
    }

    #[test]
    fn faults_are_named() {
        let fault = |shape, block, stride| tensor_memory(shape, block, stride).fault();
        assert_eq!(fault([128, 64], [32, 64], 1), Some(Error::TensorRows { rows: 32 }));
        assert_eq!(fault([128, 64], [128, 128], 1), Some(Error::Pattern { dim: 1, extent: 64, least: 128 }));
        assert_eq!(fault([128, 64], [128, 64], 3), Some(Error::Parameter { name: "col_stride", value: 3 }));
        assert_eq!(fault([128, 1024], [128, 64], 4), Some(Error::TooManyColumns { bits: 12 }));
        assert_eq!(fault([96, 64], [64, 64], 1), Some(Error::NotPowerOfTwo { dim: 0, extent: 96 }));
    }
}
