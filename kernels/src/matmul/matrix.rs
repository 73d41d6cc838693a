//! Matrices in buffers: sizes, strides, and what is checked of them before a launch.

use super::MatmulError;
use super::tile::Order;
use crate::tile::{VECTOR, keeps_alignment};

/// A matrix, or a batch of matrices of one size, in a buffer of type `D`.
///
/// ```
/// use quadpair_kernels::matmul::Matrix;
/// let numbers = [0.0_f32; 24];
/// let a = Matrix::contiguous(&numbers[..], 2, 12);
/// assert_eq!((a.transposed().rows, a.transposed().transposed()), (12, a));
/// // Four matrices of 2 x 3, one after the other.
/// assert_eq!(Matrix::batch(&numbers[..], 4, 2, 3).batch_stride, 6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix<D> {
    /// The buffer; the first matrix starts at its first element.
    pub data: D,
    /// How many matrices; one stands for as many as the others are.
    pub batch: usize,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Whether rows or columns are contiguous.
    pub order: Order,
    /// Elements from the start of a row (a column, where these are contiguous) to the start of the next.
    pub stride: usize,
    /// Elements from the start of a matrix to the start of the next.
    pub batch_stride: usize,
}

impl<D> Matrix<D> {
    /// A matrix whose rows lie one after the other.
    pub fn contiguous(data: D, rows: usize, columns: usize) -> Self {
        Self::batch(data, 1, rows, columns)
    }

    /// Matrices that lie one after the other, as their rows do.
    pub fn batch(data: D, batch: usize, rows: usize, columns: usize) -> Self {
        let batch_stride = rows.saturating_mul(columns);
        Self { data, batch, rows, columns, order: Order::Rows, stride: columns, batch_stride }
    }

    /// The transposed matrix in the same memory.
    pub fn transposed(self) -> Self {
        let order = match self.order {
            Order::Rows => Order::Columns,
            Order::Columns => Order::Rows,
        };
        Self { rows: self.columns, columns: self.rows, order, ..self }
    }

    /// The same matrix in another buffer.
    pub fn with<E>(&self, data: E) -> Matrix<E> {
        let Self { batch, rows, columns, order, stride, batch_stride, .. } = *self;
        Matrix { data, batch, rows, columns, order, stride, batch_stride }
    }

    /// How many rows (or columns) are in memory, and the elements of one.
    pub(super) fn lines(&self) -> [usize; 2] {
        match self.order {
            Order::Rows => [self.rows, self.columns],
            Order::Columns => [self.columns, self.rows],
        }
    }

    /// Where an element lies.
    pub(super) fn offset(&self, batch: usize, row: usize, column: usize) -> usize {
        let [line, at] = match self.order {
            Order::Rows => [row, column],
            Order::Columns => [column, row],
        };
        if self.batch == 1 { line * self.stride + at } else { batch * self.batch_stride + line * self.stride + at }
    }

    /// Checks sizes against the buffer's length and what a launch can count.
    pub(super) fn check(&self, matrix: &'static str, length: usize) -> Result<(), MatmulError> {
        let limit = i32::MAX as usize - 1024;
        // Offsets inside a tile are counted in 32 bits, and no tile has more than 256 lines.
        let farthest = i32::MAX as usize / 256;
        let limits = [
            ("a number of rows", self.rows, limit),
            ("a number of columns", self.columns, limit),
            ("a stride", self.stride, farthest),
            ("a batch", self.batch, u16::MAX.into()),
        ];
        for (what, value, limit) in limits {
            if value > limit {
                return Err(MatmulError::TooLarge { matrix, what, value, limit });
            }
        }
        let needed = match (self.batch, self.rows, self.columns) {
            (0, ..) | (_, 0, _) | (.., 0) => 0,
            _ => self.reach(),
        };
        if needed > length {
            return Err(MatmulError::Buffer { matrix, needed, length });
        }
        Ok(())
    }

    /// Elements that a buffer has at least; `usize::MAX` if it's more than can be counted.
    fn reach(&self) -> usize {
        let [lines, length] = self.lines();
        let matrices = self.batch.saturating_sub(1).saturating_mul(self.batch_stride);
        matrices.saturating_add(lines.saturating_sub(1).saturating_mul(self.stride)).saturating_add(length)
    }

    pub(super) fn check_shape(
        &self,
        matrix: &'static str,
        [expected_rows, expected_columns]: [usize; 2],
        by: &'static str,
    ) -> Result<(), MatmulError> {
        let (rows, columns) = (self.rows, self.columns);
        if (rows, columns) != (expected_rows, expected_columns) {
            return Err(MatmulError::Shape { matrix, rows, columns, expected_rows, expected_columns, by });
        }
        Ok(())
    }

    /// Checks that no element of the result is another one too.
    pub(super) fn check_apart(&self, matrix: &'static str) -> Result<(), MatmulError> {
        if self.rows > 1 && self.stride < self.columns {
            return Err(MatmulError::Overlap { matrix, what: "rows", length: self.columns, stride: self.stride });
        }
        let length = Matrix { batch: 1, ..self.with(()) }.reach();
        if self.batch > 1 && self.batch_stride < length {
            return Err(MatmulError::Overlap { matrix, what: "matrices", length, stride: self.batch_stride });
        }
        Ok(())
    }

    /// Whether every line starts at a multiple of the widest access, and has a multiple of the elements that a thread
    /// loads at once; if the buffer starts there.
    pub(super) fn lines_aligned(&self, element_bytes: usize) -> bool {
        let [lines, length] = self.lines();
        (lines <= 1 || keeps_alignment(self.stride, element_bytes))
            && (self.batch <= 1 || keeps_alignment(self.batch_stride, element_bytes))
            && length.is_multiple_of(VECTOR)
    }
}
