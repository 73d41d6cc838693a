//! The call: matrices in, one out, one launch.

use super::config::{Choice, choose};
use super::fused::{Arguments, Epilogue};
use super::matrix::Matrix;
use super::tile::Order;
use super::{MatmulConfig, MatmulError, MatmulTile, plain};
use crate::memory::Memory;
use crate::number::Real;
use crate::programs::Programs;
use crate::tile::WIDEST;
use crate::unit::Unit;
use quadpair::ir::Function;
use quadpair::{Kernel, KernelError, Program, Report, Target, compile, record};
use quadpair_profiles::{MatmulTile as Tile, Profile};
use std::marker::PhantomData;
use std::sync::Arc;

/// What is computed besides the product: `alpha A B + beta C + bias`, with a bias of type `D`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms<D> {
    /// The factor of the product.
    pub alpha: f32,
    /// The factor of what C was; where it is 0, C is not read.
    pub beta: f32,
    /// A number for each column, of the type of C.
    pub bias: Option<D>,
}

impl<D> Default for Terms<D> {
    /// The product alone.
    fn default() -> Self {
        Self { alpha: 1.0, beta: 0.0, bias: None }
    }
}

/// What a program is made for besides types and tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// How A and B lie in memory.
    pub order: [Order; 2],
    /// Of A, B and C, whether every row (or column) in memory starts at a multiple of 16 bytes and has a multiple of 8
    /// elements.
    pub aligned: [bool; 3],
    /// Whether C is added to.
    pub accumulate: bool,
    /// Whether there is a bias.
    pub bias: bool,
}

impl Default for Variant {
    /// The product alone, of aligned matrices that lie row by row.
    fn default() -> Self {
        Self { order: [Order::Rows; 2], aligned: [true; 3], accumulate: false, bias: false }
    }
}

/// A product made ready for a chip: operands of type `T` and results of type `U`, each f16, bf16 or f32, and what becomes of
/// the elements before they are stored ([`matmul_with`](crate::matmul_with)).
#[derive(Debug)]
pub struct Matmul<T, U = f32, E = plain::Fused> {
    choice: Choice,
    target: Target,
    programs: Programs<Variant>,
    types: PhantomData<fn(T, U) -> E>,
}

impl<T: Real, U: Real, E: Epilogue> Matmul<T, U, E> {
    /// Chooses the kernel that the profile's chip runs for this configuration.
    ///
    /// # Errors
    /// A unit that the chip lacks or that doesn't take `T`; a tile that no kernel has or that the chip can't hold.
    pub fn new(profile: &Profile, config: MatmulConfig) -> Result<Self, MatmulError> {
        let choice = choose(profile, T::DTYPE, &config)?;
        let matmul = Self { choice, target: Target::from(profile), programs: Programs::new(), types: PhantomData };
        matmul.program(&Variant::default())?;
        Ok(matmul)
    }

    /// The unit that multiplies.
    pub fn unit(&self) -> Unit {
        self.choice.unit
    }

    /// Rows, columns and depth of a tile.
    pub fn tile(&self) -> (usize, usize, usize) {
        let Tile { block_m, block_n, block_k, .. } = self.choice.tile;
        (block_m, block_n, block_k)
    }

    /// The compiled kernel.
    ///
    /// # Errors
    /// The chip can't run it.
    pub fn program(&self, variant: &Variant) -> Result<Arc<Program>, MatmulError> {
        Ok(self.programs.get(variant, || compile(&self.name(variant), &self.kernel(variant), self.target))?)
    }

    /// The kernel's tile IR.
    ///
    /// # Errors
    /// A rule of the language that the tile breaks.
    pub fn function(&self, variant: &Variant) -> Result<Function, MatmulError> {
        Ok(record(&self.kernel(variant)).map_err(KernelError::from)?)
    }

    /// Computes `C = A B` on a backend, as [`Self::multiply_add`] does.
    ///
    /// # Errors
    /// As of [`Self::multiply_add`].
    pub fn multiply<'a, B: Memory>(
        &self,
        backend: &B,
        a: Matrix<B::Ref<'a, T>>,
        b: Matrix<B::Ref<'a, T>>,
        c: Matrix<B::Mut<'a, U>>,
    ) -> Result<Report, MatmulError> {
        self.multiply_add(backend, a, b, c, Terms::default())
    }

    /// Computes `C = alpha A B + beta C + bias`, or what the epilogue makes of these, for each matrix of C's batch, in one
    /// launch; nothing is launched if C is empty.
    ///
    /// # Errors
    /// Matrices that don't fit each other or their buffers (before anything runs), or a launch that fails.
    pub fn multiply_add<'a, B: Memory>(
        &self,
        backend: &B,
        a: Matrix<B::Ref<'a, T>>,
        b: Matrix<B::Ref<'a, T>>,
        c: Matrix<B::Mut<'a, U>>,
        terms: Terms<B::Ref<'a, U>>,
    ) -> Result<Report, MatmulError> {
        a.check("A", backend.length(&a.data))?;
        b.check("B", backend.length(&b.data))?;
        c.check("C", backend.length_mut(&c.data))?;
        check_together(&a.with(()), &b.with(()), &c.with(()))?;
        if let Some(length) = terms.bias.as_ref().map(|bias| backend.length(bias))
            && length < c.columns
        {
            return Err(MatmulError::Bias { length, columns: c.columns });
        }
        if c.batch == 0 || c.rows == 0 || c.columns == 0 {
            return Ok(Report::default());
        }
        let bytes = [T::DTYPE, T::DTYPE, U::DTYPE].map(|dtype| dtype.bytes() as usize);
        let variant = Variant {
            order: [a.order, b.order],
            aligned: [
                a.lines_aligned(bytes[0]) && backend.is_aligned(&a.data, WIDEST),
                b.lines_aligned(bytes[1]) && backend.is_aligned(&b.data, WIDEST),
                c.lines_aligned(bytes[2]) && backend.is_aligned_mut(&c.data, WIDEST),
            ],
            accumulate: terms.beta != 0.0,
            bias: terms.bias.is_some(),
        };
        let (program, kernel) = (self.program(&variant)?, self.kernel(&variant));
        let args = E::args::<B, T, U>(arguments(a, b, c, terms));
        let grid = kernel.grid::<B>(&args);
        Ok(backend.launch(&program, grid, E::Kernel::<T, U>::bind::<B>(args))?)
    }

    fn kernel(&self, variant: &Variant) -> E::Kernel<T, U> {
        let Choice { unit, tile: Tile { block_m, block_n, block_k, warps, stages } } = self.choice;
        let Variant { order, aligned, accumulate, bias } = *variant;
        E::kernel(MatmulTile { unit, block_m, block_n, block_k, warps, stages, order, aligned, accumulate, bias })
    }

    /// What a program is called in its PTX: `matmul_m8n8k4_128x64x32_f16_f32`, with what is special about the call.
    pub fn name(&self, variant: &Variant) -> String {
        let (unit, (m, n, k)) = (self.choice.unit, self.tile());
        let flag = |set: bool, text: &'static str| if set { text } else { "" };
        let special = [
            flag(variant.order[0] == Order::Columns, "_at"),
            flag(variant.order[1] == Order::Columns, "_bt"),
            flag(variant.accumulate, "_add"),
            flag(variant.bias, "_bias"),
            flag(variant.aligned != [true; 3], "_unaligned"),
        ];
        let epilogue = if E::NAME == plain::Fused::NAME { String::new() } else { format!("_{}", E::NAME) };
        let (from, to) = (T::DTYPE.name(), U::DTYPE.name());
        format!("matmul{epilogue}_{unit}_{m}x{n}x{k}_{from}_{to}{}", special.concat())
    }
}

/// Checks that matrices can be multiplied into the third.
pub(super) fn check_together(a: &Matrix<()>, b: &Matrix<()>, c: &Matrix<()>) -> Result<(), MatmulError> {
    b.check_shape("B", [a.columns, b.columns], "A")?;
    c.check_shape("C", [a.rows, b.columns], "A and B")?;
    if c.order != Order::Rows {
        return Err(MatmulError::Order);
    }
    for (matrix, batch) in [("A", a.batch), ("B", b.batch)] {
        if batch != 1 && batch != c.batch {
            return Err(MatmulError::Batch { matrix, batch, expected: c.batch });
        }
    }
    c.check_apart("C")
}

/// Arguments of the kernel; sizes are checked, so each fits.
fn arguments<'a, B: Memory, T: Real, U: Real>(
    a: Matrix<B::Ref<'a, T>>,
    b: Matrix<B::Ref<'a, T>>,
    c: Matrix<B::Mut<'a, U>>,
    terms: Terms<B::Ref<'a, U>>,
) -> Arguments<'a, B, T, U> {
    let apart = |batch: usize, stride: usize| if batch <= 1 { 0 } else { stride as i64 };
    Arguments {
        batch: c.batch as i32,
        m: c.rows as i32,
        n: c.columns as i32,
        k: a.columns as i32,
        stride: [a.stride, b.stride, c.stride].map(|stride| stride as i32),
        batch_stride: [apart(a.batch, a.batch_stride), apart(b.batch, b.batch_stride), apart(c.batch, c.batch_stride)],
        alpha: terms.alpha,
        beta: terms.beta,
        bias: terms.bias,
        a: a.data,
        b: b.data,
        c: c.data,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;
    use quadpair::sim::Simulator;

    fn message(a: Matrix<&[f16]>, b: Matrix<&[f16]>, c: Matrix<&mut [f32]>) -> String {
        let volta = Profile::by_name("volta").unwrap();
        let matmul = Matmul::<f16>::new(&volta, MatmulConfig::default()).unwrap();
        let terms = Terms { bias: Some(&[0.0; 4][..]), ..Terms::default() };
        matmul.multiply_add(&Simulator::new(&volta), a, b, c, terms).unwrap_err().to_string()
    }

    #[test]
    fn matrices_that_do_not_fit_are_named_with_what_would() {
        let (half, mut single) = ([f16::ZERO; 64], [0.0; 64]);
        let eight = Matrix::contiguous(&half[..], 8, 8);
        let c = Matrix::contiguous(&mut single[..], 8, 8);
        let b = Matrix { rows: 4, ..eight };
        assert_eq!(message(eight, b, c), "B is 4 x 8; 8 x 8 is needed, by the sizes of A");
        let c = Matrix::contiguous(&mut single[..], 8, 4);
        assert_eq!(message(eight, eight, c), "C is 8 x 4; 8 x 8 is needed, by the sizes of A and B");
        let c = Matrix { stride: 7, ..Matrix::contiguous(&mut single[..], 8, 8) };
        assert_eq!(message(eight, eight, c), "C has rows of 8 elements that start 7 apart: they overlap");
        let c = Matrix::contiguous(&mut single[..], 8, 8);
        let long = Matrix { stride: 9, ..eight };
        assert_eq!(message(long, eight, c), "A has 64 elements, its shape and strides reach 71");
        let c = Matrix::contiguous(&mut single[..], 8, 8).transposed();
        assert_eq!(
            message(eight, eight, c),
            "C lies column by column; compute its transpose, row by row: of B's transpose times A's"
        );
        let c = Matrix::contiguous(&mut single[..], 8, 8);
        assert_eq!(message(eight, eight, c), "the bias has 4 elements, C 8 columns");
    }

    #[test]
    fn batches_that_do_not_fit_are_named() {
        let (half, mut single) = ([f16::ZERO; 64], [0.0; 64]);
        let two = Matrix::batch(&half[..], 2, 4, 4);
        let c = Matrix::batch(&mut single[..], 3, 4, 4);
        assert_eq!(message(two, two, c), "A has a batch of 2; C has 3: take as many, or 1");
        let c = Matrix { batch_stride: 15, ..Matrix::batch(&mut single[..], 2, 4, 4) };
        assert_eq!(message(two, two, c), "C has matrices of 16 elements that start 15 apart: they overlap");
        let c = Matrix::contiguous(&mut single[..], 4, 4);
        let far = Matrix { stride: 1 << 23, ..Matrix::contiguous(&half[..], 4, 4) };
        assert_eq!(message(far, far, c), "A: a stride of 8388608 is more than the 8388607 that a launch can count");
    }

    #[test]
    fn a_tile_without_a_kernel_is_an_error_that_lists_what_runs() {
        let volta = Profile::by_name("volta").unwrap();
        let config = MatmulConfig { tile: Some((48, 64, 32)), ..MatmulConfig::default() };
        let error = Matmul::<f16>::new(&volta, config).unwrap_err().to_string();
        assert!(error.starts_with("no m8n8k4 kernel has a 48x64x32 tile on volta; these run: 64x64x32"), "{error}");
    }
}
