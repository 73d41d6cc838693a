//! The matrix product in float64: what the kernels are held against.

use super::api::check_together;
use super::{MatmulError, Matrix, Terms};
use crate::number::Real;
use rayon::prelude::*;

/// Computes `alpha A B + beta C + bias` in float64, contiguous, rows in parallel; `on_row` is called once a finished row.
///
/// # Errors
/// The matrices don't fit each other or their buffers.
pub fn reference<T: Real, U: Real>(
    a: &Matrix<&[T]>,
    b: &Matrix<&[T]>,
    c: &Matrix<&[U]>,
    terms: &Terms<&[U]>,
    on_row: impl Fn() + Sync,
) -> Result<Vec<f64>, MatmulError> {
    a.check("A", a.data.len())?;
    b.check("B", b.data.len())?;
    c.check("C", c.data.len())?;
    check_together(&a.with(()), &b.with(()), &c.with(()))?;
    // Operands once as float64: an element of A is read as often as B has columns.
    let (left, right) = (contiguous(a, a.rows), contiguous(&b.transposed(), b.columns));
    let of = |batch: usize, matrices: usize| if matrices == 1 { 0 } else { batch };
    let mut out = vec![0.0; c.batch * c.rows * c.columns];
    out.par_chunks_mut(c.columns.max(1)).enumerate().for_each(|(line, sums)| {
        let (batch, row) = (line / c.rows, line % c.rows);
        let own = &left[(of(batch, a.batch) * a.rows + row) * a.columns..][..a.columns];
        for (column, sum) in sums.iter_mut().enumerate() {
            let other = &right[(of(batch, b.batch) * b.columns + column) * a.columns..][..a.columns];
            let product: f64 = own.iter().zip(other).map(|(x, y)| x * y).sum();
            *sum = f64::from(terms.alpha) * product + terms.bias.map_or(0.0, |bias| bias[column].to_f64());
            if terms.beta != 0.0 {
                *sum += f64::from(terms.beta) * c.data[c.offset(batch, row, column)].to_f64();
            }
        }
        on_row();
    });
    Ok(out)
}

/// A batch's elements row by row.
fn contiguous<T: Real>(matrix: &Matrix<&[T]>, rows: usize) -> Vec<f64> {
    let lines = (0..matrix.batch).flat_map(|batch| (0..rows).map(move |row| (batch, row)));
    let element = |(batch, row), column| matrix.data[matrix.offset(batch, row, column)].to_f64();
    lines.flat_map(|line| (0..matrix.columns).map(move |column| element(line, column))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_by_two_by_hand_with_rows_apart() {
        let (a, b, c) = ([1.0, 2.0, 9.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0_f32], [1.0_f32, 0.0, 0.0, 2.0]);
        let a = Matrix { stride: 3, ..Matrix::contiguous(&a[..], 2, 2) };
        let (b, c) = (Matrix::contiguous(&b[..], 2, 2), Matrix::contiguous(&c[..], 2, 2));
        assert_eq!(reference(&a, &b, &c, &Terms::default(), || ()).unwrap(), [19.0, 22.0, 43.0, 50.0]);
        let terms = Terms { alpha: 2.0, beta: 10.0, bias: Some(&[0.5, 0.25][..]) };
        assert_eq!(reference(&a, &b, &c, &terms, || ()).unwrap(), [48.5, 44.25, 86.5, 120.25]);
        // A B^T of two matrices of B.
        let b = Matrix { batch: 2, batch_stride: 0, ..b.transposed() };
        let twice = [0.0_f32; 8];
        let c = Matrix::batch(&twice[..], 2, 2, 2);
        let expected = [17.0, 23.0, 39.0, 53.0];
        assert_eq!(reference(&a, &b, &c, &Terms::default(), || ()).unwrap(), [expected, expected].concat());
    }

    #[test]
    fn an_empty_sum_is_zero() {
        let (empty, zeros): ([f32; 0], _) = ([], [1.0_f32; 6]);
        let (a, b) = (Matrix::contiguous(&empty[..], 2, 0), Matrix::contiguous(&empty[..], 0, 3));
        let c = Matrix::contiguous(&zeros[..], 2, 3);
        assert_eq!(reference(&a, &b, &c, &Terms::default(), || ()).unwrap(), [0.0; 6]);
        let (a, b) = (Matrix::contiguous(&empty[..], 0, 2), Matrix::contiguous(&empty[..], 2, 0));
        let c = Matrix::contiguous(&zeros[..], 0, 0);
        assert!(reference(&a, &b, &c, &Terms::default(), || ()).unwrap().is_empty());
    }
}
