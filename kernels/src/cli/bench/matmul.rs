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

/// The operands of one turn.
struct Set {
    a: CudaSlice<f16>,
    b: CudaSlice<f16>,
    c: CudaSlice<f32>,
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
            rows.push(measure(&gpu, &matmul, size)?);
            bar.inc(1);
        }
        bar.finish_and_clear();
        let (m, n, k) = matmul.tile();
        let (tile, unit) = (format!("{m}x{n}x{k}"), matmul.unit().name());
        let record = Record { device: gpu.device, profile: gpu.profile.name, unit, tile, rows };
        if self.json { print_json(&record) } else { print(&report(&record)) }
    }
}

/// TFLOP/s of a product that fills a GPU, once it was checked.
pub fn rate(gpu: &Gpu, matmul: &matmul::Matmul<f16>) -> Result<f64, CliError> {
    Ok(measure(gpu, matmul, Size { m: 4096, n: 4096, k: 4096 })?.tflops)
}

fn measure(gpu: &Gpu, matmul: &matmul::Matmul<f16>, size: Size) -> Result<Row, CliError> {
    let Size { m, n, k } = size;
    let (mut turns, mut host) = (Vec::new(), (Vec::new(), Vec::new()));
    for set in 0..sets(gpu, 2 * (m * k + k * n)) {
        let (a_host, a) = random(gpu, set, 0, m * k)?;
        let (b_host, b) = random(gpu, set, 1, k * n)?;
        if set == 0 {
            host = (a_host, b_host);
        }
        turns.push(Set { a, b, c: unwritten(gpu, m * n)? });
    }
    launch(gpu, matmul, &mut turns[0], size)?;
    let (checked, difference) = check(&host.0, &host.1, &read(gpu, &turns[0].c)?, size)?;
    verdict(&difference, ALLOWED)?;
    let count = turns.len();
    let times = Times::of(&gpu.cuda, |turn| launch(gpu, matmul, &mut turns[turn % count], size))?;
    let operations = 2.0 * m as f64 * n as f64 * k as f64;
    let bytes = 2 * (m * k + k * n) + 4 * m * n;
    Ok(Row {
        size,
        tflops: times.giga(operations) / 1e3,
        gbytes_per_s: times.giga(bytes as f64),
        times,
        checked,
        relative_error: difference.relative,
        max_abs_error: difference.max_abs,
    })
}

fn launch(gpu: &Gpu, matmul: &matmul::Matmul<f16>, set: &mut Set, Size { m, n, k }: Size) -> Result<(), CliError> {
    let (a, b) = (Matrix::contiguous(set.a.as_view(), m, k), Matrix::contiguous(set.b.as_view(), k, n));
    matmul.multiply(&gpu.cuda, a, b, Matrix::contiguous(set.c.as_view_mut(), m, n))?;
    Ok(())
}

/// Compares evenly spaced rows of C with float64, and counts every element that is no number.
fn check(a: &[f16], b: &[f16], c: &[f32], Size { m, n, k }: Size) -> Result<(Vec<usize>, Difference), CliError> {
    let (step, rows) = ((m / CHECKED).max(1), CHECKED.min(m));
    let checked: Vec<usize> = (0..rows).map(|row| step / 2 + row * step).collect();
    let a = Matrix { stride: step * k, ..Matrix::contiguous(&a[(step / 2 * k).min(a.len())..], rows, k) };
    let expected = product(&a, &Matrix::contiguous(b, k, n))?;
    let actual = checked.iter().flat_map(|row| &c[row * n..][..n]).map(|number| number.to_f64());
    let mut difference = Difference::between(actual, expected);
    difference.unusable += c.iter().filter(|number| number.is_nan()).count();
    Ok((checked, difference))
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
            let (checked, difference) = check(&a, &b, &c, Size { m, n, k }).unwrap();
            assert!(checked.len() == m.min(8) && checked.iter().all(|&row| row < m), "{checked:?} of {m}");
            assert!(difference.relative < 1e-6 && difference.unusable == 0, "{difference:?}");
            c[0] = f32::NAN;
            assert_ne!(check(&a, &b, &c, Size { m, n, k }).unwrap().1.unusable, 0);
        }
    }
}
