//! The matrix product in float64: what the kernels are held against.

use super::{MatmulError, Matrix};
use crate::number::Real;
use rayon::prelude::*;

/// Computes `A B` in float64, contiguous, rows in parallel; `on_row` is called once a finished row.
///
/// # Errors
/// The matrices don't fit each other or their buffers.
pub fn reference<T: Real>(
    a: &Matrix<&[T]>,
    b: &Matrix<&[T]>,
    on_row: impl Fn() + Sync,
) -> Result<Vec<f64>, MatmulError> {
    a.check("A", a.data.len())?;
    b.check("B", b.data.len())?;
    b.check_shape("B", [a.columns, b.columns], "A")?;
    let b_rows: Vec<f64> = (0..b.rows).flat_map(|row| row_of(b, row)).map(|element| element.to_f64()).collect();
    let mut c = vec![0.0; a.rows * b.columns];
    // Without columns there is no row to compute.
    c.par_chunks_mut(b.columns.max(1)).enumerate().for_each(|(row, sums)| {
        for (a, b_row) in row_of(a, row).iter().zip(b_rows.chunks(b.columns)) {
            let a = a.to_f64();
            sums.iter_mut().zip(b_row).for_each(|(sum, b)| *sum += a * b);
        }
        on_row();
    });
    Ok(c)
}

fn row_of<'a, T>(matrix: &Matrix<&'a [T]>, row: usize) -> &'a [T] {
    &matrix.data[row * matrix.stride..][..matrix.columns]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_by_two_by_hand_with_rows_apart() {
        let (a, b) = ([1.0, 2.0, 9.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0_f32]);
        let a = Matrix { data: &a[..], rows: 2, columns: 2, stride: 3 };
        let b = Matrix::contiguous(&b[..], 2, 2);
        assert_eq!(reference(&a, &b, || ()).unwrap(), [19.0, 22.0, 43.0, 50.0]);
    }

    #[test]
    fn an_empty_sum_is_zero() {
        let empty: [f32; 0] = [];
        let (a, b) = (Matrix::contiguous(&empty[..], 2, 0), Matrix::contiguous(&empty[..], 0, 3));
        assert_eq!(reference(&a, &b, || ()).unwrap(), [0.0; 6]);
        let (a, b) = (Matrix::contiguous(&empty[..], 0, 2), Matrix::contiguous(&empty[..], 2, 0));
        assert!(reference(&a, &b, || ()).unwrap().is_empty());
    }
}
