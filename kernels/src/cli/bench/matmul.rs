//! `quadpair bench matmul`: f16 matrices, the product in f32.

use super::super::engine::Gpu;
use super::super::error::CliError;
use super::super::matmul::{ALLOWED, verdict};
use super::super::options::{Machine, Tile};
use super::super::output::{print, print_json};
use super::super::progress;
use super::super::table::Table;
use super::gpu::{open, random, read, sets, unwritten};
use super::timing::Times;
use half::f16;
use quadpair::cuda::cudarc::driver::CudaSlice;
use quadpair_kernels::matmul::{self, MatmulConfig, Matrix, Terms, reference};
use quadpair_kernels::metrics::Difference;
use quadpair_kernels::number::Real;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// Rows of a product that are held against float64.
const CHECKED: usize = 8;

/// Times products of random f16 matrices on a GPU and checks a sample of their rows against float64.
#[derive(Debug, clap::Args)]
pub struct Matmul {
    /// Rows of A, columns of B and depth of the products
    #[arg(
        long,
        value_name = "MxNxK",
        value_delimiter = ',',
        default_value = "2048x2048x2048,4096x4096x4096,8192x8192x8192"
    )]
    size: Vec<Size>,
    #[command(flatten)]
    machine: Machine,
    /// Rows, columns and depth of a tile [default: the profile's]
    #[arg(long, value_name = "MxNxK")]
    tile: Option<Tile>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Record {
    device: String,
    profile: String,
    unit: &'static str,
    tile: String,
    rows: Vec<Row>,
}

/// One product.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    size: Size,
    #[serde(flatten)]
    times: Times,
    tflops: f64,
    gbytes_per_s: f64,
    /// The rows of C that were checked.
    checked: Vec<usize>,
    relative_error: f64,
    max_abs_error: f64,
}

/// The size of a product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct Size {
    m: usize,
    n: usize,
    k: usize,
}

impl FromStr for Size {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let extents = text.split('x').map(|extent| extent.parse().ok().filter(|&extent: &usize| extent > 0));
        match extents.collect::<Option<Vec<_>>>().as_deref() {
            Some(&[m, n, k]) => Ok(Self { m, n, k }),
            _ => Err("a size is MxNxK, each of them 1 or more, such as 4096x4096x4096"),
        }
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.m, self.n, self.k)
    }
}

/// One product's inputs: several sets that take turns, made once for any kernel, and what some rows of C should be.
pub struct MatmulInputs {
    size: Size,
    turns: Vec<Set>,
    sample: Sample,
}

/// The operands of one turn.
struct Set {
    a: CudaSlice<f16>,
    b: CudaSlice<f16>,
    c: CudaSlice<f32>,
}

/// Some rows of the first set's product.
struct Sample {
    /// Their numbers.
    rows: Vec<usize>,
    /// Their elements in float64.
    expected: Vec<f64>,
}

impl Matmul {
    /// Times each size, reports.
    pub fn run(&self) -> Result<(), CliError> {
        let gpu = open(&self.machine)?;
        let tile = self.tile.as_ref().map(Tile::matmul).transpose()?;
        let matmul = matmul::Matmul::new(&gpu.profile, MatmulConfig { unit: self.machine.chip.unit.0, tile })?;
        let bar = progress::bar("measuring", self.size.len());
        let mut rows = Vec::new();
        for &size in &self.size {
            rows.push(MatmulInputs::new(&gpu, size)?.measure(&gpu, &matmul)?);
            bar.inc(1);
        }
        bar.finish_and_clear();
        let (m, n, k) = matmul.tile();
        let (tile, unit) = (format!("{m}x{n}x{k}"), matmul.unit().name());
        let record = Record { device: gpu.device, profile: gpu.profile.name, unit, tile, rows };
        if self.json { print_json(&record) } else { print(&report(&record)) }
    }
}

impl MatmulInputs {
    /// Random inputs of a size.
    fn new(gpu: &Gpu, size: Size) -> Result<Self, CliError> {
        let Size { m, n, k } = size;
        let (mut turns, mut sample) = (Vec::new(), Sample { rows: Vec::new(), expected: Vec::new() });
        for set in 0..sets(gpu, 2 * (m * k + k * n)) {
            let (a_host, a) = random(gpu, set, 0, m * k)?;
            let (b_host, b) = random(gpu, set, 1, k * n)?;
            if set == 0 {
                sample = Sample::of(&a_host, &b_host, size)?;
            }
            turns.push(Set { a, b, c: unwritten(gpu, m * n)? });
        }
        Ok(Self { size, turns, sample })
    }

    /// Inputs that fill a GPU.
    pub fn filling(gpu: &Gpu) -> Result<Self, CliError> {
        Self::new(gpu, Size { m: 4096, n: 4096, k: 4096 })
    }

    /// TFLOP/s of a product, once it was checked.
    pub fn rate(&mut self, gpu: &Gpu, matmul: &matmul::Matmul<f16>) -> Result<f64, CliError> {
        Ok(self.measure(gpu, matmul)?.tflops)
    }

    fn measure(&mut self, gpu: &Gpu, matmul: &matmul::Matmul<f16>) -> Result<Row, CliError> {
        let Size { m, n, k } = self.size;
        // What an earlier kernel wrote is no result of this one.
        self.turns[0].c = unwritten(gpu, m * n)?;
        self.launch(gpu, matmul, 0)?;
        let difference = self.sample.compare(&read(gpu, &self.turns[0].c)?, n);
        verdict(&difference, ALLOWED)?;
        let times = Times::of(&gpu.cuda, |turn| self.launch(gpu, matmul, turn))?;
        let operations = 2.0 * m as f64 * n as f64 * k as f64;
        let bytes = 2 * (m * k + k * n) + 4 * m * n;
        Ok(Row {
            size: self.size,
            tflops: times.giga(operations) / 1e3,
            gbytes_per_s: times.giga(bytes as f64),
            times,
            checked: self.sample.rows.clone(),
            relative_error: difference.relative,
            max_abs_error: difference.max_abs,
        })
    }

    fn launch(&mut self, gpu: &Gpu, matmul: &matmul::Matmul<f16>, turn: usize) -> Result<(), CliError> {
        let (Size { m, n, k }, count) = (self.size, self.turns.len());
        let set = &mut self.turns[turn % count];
        let (a, b) = (Matrix::contiguous(set.a.as_view(), m, k), Matrix::contiguous(set.b.as_view(), k, n));
        matmul.multiply(&gpu.cuda, a, b, Matrix::contiguous(set.c.as_view_mut(), m, n))?;
        Ok(())
    }
}

impl Sample {
    /// Evenly spaced rows of C.
    fn of(a: &[f16], b: &[f16], Size { m, n, k }: Size) -> Result<Self, CliError> {
        let (step, count) = ((m / CHECKED).max(1), CHECKED.min(m));
        let rows: Vec<usize> = (0..count).map(|row| step / 2 + row * step).collect();
        let a: Vec<f16> = rows.iter().flat_map(|row| &a[row * k..][..k]).copied().collect();
        Ok(Self { rows, expected: product(&Matrix::contiguous(&a, count, k), &Matrix::contiguous(b, k, n))? })
    }

    /// Compares a product of `n` columns with the sample, and counts every element that is no number.
    fn compare(&self, c: &[f32], n: usize) -> Difference {
        let actual = self.rows.iter().flat_map(|row| &c[row * n..][..n]).map(|number| number.to_f64());
        let mut difference = Difference::between(actual, self.expected.iter().copied());
        difference.unusable += c.iter().filter(|number| number.is_nan()).count();
        difference
    }
}

/// The product in float64.
fn product(a: &Matrix<&[f16]>, b: &Matrix<&[f16]>) -> Result<Vec<f64>, CliError> {
    let before = vec![0.0_f32; a.rows * b.columns];
    let c = Matrix::contiguous(&before[..], a.rows, b.columns);
    Ok(reference(a, b, &c, &Terms::default(), || ())?)
}

fn report(record: &Record) -> String {
    let mut table = Table::of_numbers();
    table.row(["MxNxK", "ms", "+-", "TFLOP/s", "GB/s", "relative error"]);
    for row in &record.rows {
        table.row([
            row.size.to_string(),
            format!("{:.4}", row.times.median_ms),
            format!("{:.1}%", row.times.spread()),
            format!("{:.1}", row.tflops),
            format!("{:.0}", row.gbytes_per_s),
            format!("{:.1e}", row.relative_error),
        ]);
    }
    let Record { device, profile, unit, tile, .. } = record;
    format!("f16 matrices, f32 product, on {device}, profile {profile}, unit {unit}, tiles of {tile}\n\n{table}")
}

#[cfg(test)]
mod tests {
    use super::super::random::normal;
    use super::*;

    #[test]
    fn sizes_are_read_and_printed_alike() {
        assert_eq!("4x5x6".parse::<Size>().unwrap().to_string(), "4x5x6");
        for wrong in ["", "4x5", "4x5x6x7", "0x1x1", "ax1x1"] {
            assert!(wrong.parse::<Size>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn checked_rows_are_rows_of_the_product_and_unwritten_ones_show() {
        for (m, n, k) in [(3, 8, 16), (8, 8, 8), (100, 24, 8)] {
            let (a, b) = (normal(0, m * k), normal(1, k * n));
            let whole = product(&Matrix::contiguous(&a[..], m, k), &Matrix::contiguous(&b[..], k, n)).unwrap();
            let mut c: Vec<f32> = whole.iter().map(|&number| number as f32).collect();
            let sample = Sample::of(&a, &b, Size { m, n, k }).unwrap();
            let (rows, difference) = (&sample.rows, sample.compare(&c, n));
            assert!(rows.len() == m.min(8) && rows.iter().all(|&row| row < m), "{rows:?} of {m}");
            assert!(difference.relative < 1e-6 && difference.unusable == 0, "{difference:?}");
            c[0] = f32::NAN;
            assert_ne!(sample.compare(&c, n).unusable, 0);
        }
    }
}
