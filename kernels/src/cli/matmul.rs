//! `quadpair matmul`: a product of random matrices, held against float64.

use super::engine::{Engine, Outcome};
use super::error::CliError;
use super::options::{Machine, Tile};
use super::output::{print, print_json};
use super::progress;
use super::table::{Table, counters};
use half::f16;
use quadpair_kernels::matmul::{MatmulConfig, Matrix, reference};
use quadpair_kernels::metrics::Difference;
use quadpair_kernels::number::Real;
use serde::Serialize;

/// The largest Frobenius relative error that counts as right: f16 operands are exact, only the f32 sums round.
const ALLOWED: f64 = 1e-5;

/// The product of two random f16 matrices in f32, checked against float64.
///
/// A [M, K] and B [K, N] hold numbers from -1 to 1, the same in every run.
#[derive(Debug, clap::Args)]
pub struct Matmul {
    /// Rows of A and of the product
    #[arg(long, value_name = "M", default_value_t = 256)]
    m: usize,
    /// Columns of B and of the product
    #[arg(long, value_name = "N", default_value_t = 256)]
    n: usize,
    /// Columns of A, rows of B
    #[arg(long, value_name = "K", default_value_t = 256)]
    k: usize,
    #[command(flatten)]
    machine: Machine,
    /// Rows, columns and depth of a tile [default: the profile's]
    #[arg(long, value_name = "MxNxK")]
    tile: Option<Tile>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Record {
    device: String,
    profile: String,
    unit: &'static str,
    block_m: usize,
    block_n: usize,
    block_k: usize,
    m: usize,
    n: usize,
    k: usize,
    relative_error: f64,
    max_abs_error: f64,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    counters: Option<serde_json::Value>,
}

impl Matmul {
    /// Makes the matrices, multiplies, compares, reports.
    pub fn run(&self) -> Result<(), CliError> {
        let engine = Engine::open(&self.machine)?;
        let tile = self.tile.as_ref().map(Tile::matmul).transpose()?;
        let config = MatmulConfig { unit: self.machine.chip.unit.0, tile };
        let matmul = quadpair_kernels::matmul::Matmul::<f16>::new(engine.profile(), config)?;
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let (a, b) = (random.matrix(self.m, self.k)?, random.matrix(self.k, self.n)?);
        reserve::<f64>(self.m, self.n)?;
        let (a, b) = (Matrix::contiguous(&a[..], self.m, self.k), Matrix::contiguous(&b[..], self.k, self.n));
        let outcome = engine.multiply(&matmul, a, b)?;
        let difference = compare(a, b, &outcome)?;
        let record = self.record(&engine, &matmul, &outcome, &difference);
        if self.json {
            print_json(&record)?
        } else {
            print(&report(&record))?
        };
        verdict(&difference)
    }

    fn record(
        &self,
        engine: &Engine,
        matmul: &quadpair_kernels::matmul::Matmul<f16>,
        outcome: &Outcome<f32>,
        difference: &Difference,
    ) -> Record {
        let (block_m, block_n, block_k) = matmul.tile();
        Record {
            device: engine.device().into(),
            profile: engine.profile_name(),
            unit: matmul.unit().name(),
            block_m,
            block_n,
            block_k,
            m: self.m,
            n: self.n,
            k: self.k,
            relative_error: difference.relative_or_nan(),
            max_abs_error: difference.max_abs_or_nan(),
            seconds: outcome.seconds,
            counters: outcome.counters_json(),
        }
    }
}

fn compare(a: Matrix<&[f16]>, b: Matrix<&[f16]>, outcome: &Outcome<f32>) -> Result<Difference, CliError> {
    let bar = progress::bar("float64", a.rows);
    let expected = reference(&a, &b, || bar.inc(1));
    bar.finish_and_clear();
    Ok(Difference::between(outcome.out.iter().map(|number| number.to_f64()), expected?))
}

/// An error if the product is further from float64 than rounding explains.
pub fn verdict(difference: &Difference) -> Result<(), CliError> {
    let (what, against) = ("C", "float64");
    match (difference.unusable, difference.relative) {
        (0, value) if value <= ALLOWED => Ok(()),
        (0, value) => Err(CliError::Wrong { what, value, against, allowed: ALLOWED }),
        (count, _) => Err(CliError::Unusable { what, count, against }),
    }
}

fn report(record: &Record) -> String {
    let Record { block_m, block_n, block_k, m, n, k, .. } = record;
    let mut table = Table::of_texts();
    table.row(["product", &format!("[{m}, {k}] x [{k}, {n}], f16 operands, f32 sums")]);
    table.row(["device", &record.device]);
    table.row(["profile", &record.profile]);
    table.row(["unit", &format!("{}, tiles of {block_m} x {block_n} x {block_k}", record.unit)]);
    table.row(["time", &format!("{:.3} s", record.seconds)]);
    let mut errors = Table::of_numbers();
    errors.row(["compared with", "relative", "max abs"]);
    errors.row(["float64", &format!("{:.2e}", record.relative_error), &format!("{:.2e}", record.max_abs_error)]);
    errors.row(["allowed", &format!("{ALLOWED:.0e}"), ""]);
    format!("{table}\n{errors}{}", counters(record.counters.as_ref()))
}

/// Checks that a matrix of this size can be had, without keeping it.
fn reserve<T>(rows: usize, columns: usize) -> Result<Vec<T>, CliError> {
    let mut elements = Vec::new();
    let length = rows.saturating_mul(columns);
    elements.try_reserve_exact(length).map_err(|_| CliError::Memory { rows, columns })?;
    Ok(elements)
}

/// Marsaglia's xorshift generator: the same numbers everywhere.
struct Random(u64);

impl Random {
    /// The next number, from -1 to 1.
    fn number(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn matrix(&mut self, rows: usize, columns: usize) -> Result<Vec<f16>, CliError> {
        let mut elements = reserve(rows, columns)?;
        elements.extend((0..rows * columns).map(|_| f16::from_f64(self.number())));
        Ok(elements)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_numbers_fill_the_range_evenly() {
        let mut random = Random(1);
        let numbers: Vec<f64> = (0..10_000).map(|_| random.number()).skip(100).collect();
        assert!(numbers.iter().all(|number| (-1.0..=1.0).contains(number)));
        let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
        assert!(mean.abs() < 0.05, "{mean}");
        assert!(numbers.iter().any(|&number| number < -0.9) && numbers.iter().any(|&number| number > 0.9));
    }

    #[test]
    fn sizes_beyond_memory_are_an_error() {
        assert!(matches!(Random(1).matrix(usize::MAX, 2), Err(CliError::Memory { .. })));
    }
}
