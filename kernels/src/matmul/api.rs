//! The call: two matrices in, one out, one launch.

use super::config::{Choice, choose, tiles};
use super::kernel::Order;
const ORDER: [Order;2] = match option_env!("ORD") { Some(x) => { let b = x.as_bytes(); [if b[0]==b'c' {Order::Columns} else {Order::Rows}, if b[1]==b'c' {Order::Columns} else {Order::Rows}] }, None => [Order::Rows, Order::Rows] };
use super::{MatmulArgs, MatmulConfig, MatmulError, MatmulKernel, MatmulTile};
use crate::memory::Memory;
use crate::number::Real;
use crate::tile::VECTOR;
use crate::unit::Unit;
use quadpair::ir::Function;
use quadpair::{Kernel, KernelError, Program, Report, Target, compile, record};
use quadpair_profiles::Profile;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of the widest access that a thread makes; matrices whose rows all start at a multiple of it are loaded that wide.
const WIDEST: usize = 16;

/// A matrix in a buffer of type `D`, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix<D> {
    /// The buffer; the matrix starts at its first element.
    pub data: D,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// Elements from the start of a row to the start of the next.
    pub stride: usize,
}

impl<D> Matrix<D> {
    /// A matrix whose rows lie one after the other.
    pub fn contiguous(data: D, rows: usize, columns: usize) -> Self {
        Self { data, rows, columns, stride: columns }
    }

    /// Checks sizes against the buffer's length and what a launch can count.
    pub(crate) fn check(&self, matrix: &'static str, length: usize) -> Result<(), MatmulError> {
        let limit = i32::MAX as usize - 1024;
        for (what, value) in [("rows", self.rows), ("columns", self.columns)] {
            if value > limit {
                return Err(MatmulError::TooLarge { what, value, limit });
            }
        }
        let needed = match (self.rows, self.columns) {
            (0, _) | (_, 0) => 0,
            (rows, columns) => (rows - 1).saturating_mul(self.stride).saturating_add(columns),
        };
        if needed > length {
            return Err(MatmulError::Buffer { matrix, needed, length });
        }
        Ok(())
    }

    pub(crate) fn check_shape(
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

    fn check_overlap(&self, matrix: &'static str) -> Result<(), MatmulError> {
        if self.rows > 1 && self.stride < self.columns {
            return Err(MatmulError::Overlap { matrix, columns: self.columns, stride: self.stride });
        }
        Ok(())
    }

    fn rows_aligned(&self, element_bytes: usize) -> bool {
        self.rows <= 1 || (self.stride * element_bytes).is_multiple_of(WIDEST)
    }

    /// Whether rows have a multiple of the elements that a thread loads at once.
    fn whole_vectors(&self) -> bool {
        self.columns.is_multiple_of(VECTOR)
    }
}

/// A product made ready for a chip: operands of type `T` (f16, bf16 or f32), the result in f32.
#[derive(Debug)]
pub struct Matmul<T> {
    choice: Choice,
    target: Target,
    programs: Mutex<[Option<Arc<Program>>; 2]>,
    types: PhantomData<fn() -> T>,
}

impl<T: Real> Matmul<T> {
    /// Chooses the kernel that the profile's chip runs for this configuration.
    ///
    /// # Errors
    /// A unit that the chip lacks or that doesn't take `T`; a tile that no kernel has or that the chip can't hold.
    pub fn new(profile: &Profile, config: MatmulConfig) -> Result<Self, MatmulError> {
        let choice = choose(profile, T::DTYPE, &config)?;
        let all = tiles(choice.unit);
        let prepare = |tile: &(usize, usize, usize)| Self::prepared(profile, Choice { tile: *tile, ..choice });
        all.iter().find(|tile| **tile == choice.tile).and_then(prepare).ok_or_else(|| MatmulError::Tile {
            unit: choice.unit,
            tile: choice.tile,
            profile: profile.name.clone(),
            runs: all.iter().filter(|tile| prepare(tile).is_some()).copied().collect(),
        })
    }

    /// The unit that multiplies.
    pub fn unit(&self) -> Unit {
        self.choice.unit
    }

    /// Rows, columns and depth of a tile.
    pub fn tile(&self) -> (usize, usize, usize) {
        self.choice.tile
    }

    /// The compiled kernel, for rows that all start at a multiple of 16 bytes and have a multiple of 8
    /// elements, or for any.
    ///
    /// # Errors
    /// The chip can't run it.
    pub fn program(&self, aligned: bool) -> Result<Arc<Program>, MatmulError> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = &mut programs[usize::from(aligned)];
        if let Some(program) = slot {
            return Ok(Arc::clone(program));
        }
        let program = Arc::new(compile(&self.name(aligned), &self.kernel(aligned), self.target)?);
        *slot = Some(Arc::clone(&program));
        Ok(program)
    }

    /// The kernel's tile IR, for aligned rows or any.
    ///
    /// # Errors
    /// A rule of the language that the tile breaks.
    pub fn function(&self, aligned: bool) -> Result<Function, MatmulError> {
        Ok(record(&self.kernel(aligned)).map_err(KernelError::from)?)
    }

    /// Computes `C = A B` on a backend, in one launch; nothing is launched if C is empty.
    ///
    /// # Errors
    /// Matrices that don't fit each other or their buffers (before anything runs), or a launch that fails.
    pub fn multiply<'a, B: Memory>(
        &self,
        backend: &B,
        a: Matrix<B::Ref<'a, T>>,
        b: Matrix<B::Ref<'a, T>>,
        c: Matrix<B::Mut<'a, f32>>,
    ) -> Result<Report, MatmulError> {
        a.check("A", backend.length(&a.data))?;
        b.check("B", backend.length(&b.data))?;
        c.check("C", backend.length_mut(&c.data))?;
        b.check_shape("B", [a.columns, b.columns], "A")?;
        c.check_shape("C", [a.rows, b.columns], "A and B")?;
        c.check_overlap("C")?;
        if c.rows == 0 || c.columns == 0 {
            return Ok(Report::default());
        }
        let bytes = T::DTYPE.bytes() as usize;
        let aligned =
            [&a, &b].iter().all(|m| m.whole_vectors() && m.rows_aligned(bytes) && backend.is_aligned(&m.data, WIDEST))
                && c.rows_aligned(size_of::<f32>())
                && backend.is_aligned_mut(&c.data, WIDEST);
        let program = self.program(aligned)?;
        let args = args::<B, T>(a, b, c);
        let grid = self.kernel(aligned).grid::<B>(&args);
        Ok(backend.launch(&program, grid, MatmulKernel::<T>::bind::<B>(args))?)
    }

    /// A product in a tile, if the profile's chip can run that.
    fn prepared(profile: &Profile, choice: Choice) -> Option<Self> {
        let matmul = Self { choice, target: Target::from(profile), programs: Mutex::default(), types: PhantomData };
        matmul.program(true).inspect_err(|e| eprintln!("{e}")).is_ok().then_some(matmul)
    }

    fn kernel(&self, aligned: bool) -> MatmulKernel<T> {
        let Choice { unit, tile: (block_m, block_n, block_k) } = self.choice;
        let warps = if unit == Unit::M8N8K4 { (block_m * block_n / 4096).max(4) } else { 4 };
        MatmulKernel { t: MatmulTile { unit, block_m, block_n, block_k, warps, order: ORDER, aligned, accumulate: false }, types: PhantomData }
    }

    /// What the program is called in its PTX: `matmul_m8n8k4_128x64x32_f16`.
    fn name(&self, aligned: bool) -> String {
        let Choice { unit, tile: (m, n, k) } = self.choice;
        let alignment = if aligned { "" } else { "_unaligned" };
        format!("matmul_{unit}_{m}x{n}x{k}_{}{alignment}", T::DTYPE.name())
    }
}

/// Arguments of the kernel; sizes are checked, so each fits an i32.
fn args<'a, B: Memory, T: Real>(
    a: Matrix<B::Ref<'a, T>>,
    b: Matrix<B::Ref<'a, T>>,
    c: Matrix<B::Mut<'a, f32>>,
) -> MatmulArgs<'a, B, T> {
    MatmulArgs {
        m: c.rows as i32,
        n: c.columns as i32,
        k: a.columns as i32,
        a_stride: a.stride as i64,
        b_stride: b.stride as i64,
        c_stride: c.stride as i64,
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
        let matmul = Matmul::new(&volta, MatmulConfig::default()).unwrap();
        matmul.multiply(&Simulator::new(&volta), a, b, c).unwrap_err().to_string()
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
        let c = Matrix { data: &mut single[..], rows: 8, columns: 8, stride: 7 };
        assert_eq!(message(eight, eight, c), "C has rows of 8 elements that start 7 apart: they overlap");
        let c = Matrix::contiguous(&mut single[..], 8, 8);
        let long = Matrix { stride: 9, ..eight };
        assert_eq!(message(long, eight, c), "A has 64 elements, its shape and stride reach 71");
    }

    #[test]
    fn a_tile_without_a_kernel_is_an_error_that_lists_what_runs() {
        let volta = Profile::by_name("volta").unwrap();
        let config = MatmulConfig { tile: Some((48, 64, 32)), ..MatmulConfig::default() };
        let error = Matmul::<f16>::new(&volta, config).unwrap_err().to_string();
        assert!(error.starts_with("no m8n8k4 kernel has a 48x64x32 tile on volta; these run: 64x64x32"), "{error}");
    }
}
