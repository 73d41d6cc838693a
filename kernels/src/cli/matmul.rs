//! `quadpair matmul`: a product of random matrices, held against float64.

use super::engine::{Engine, Outcome};
use super::error::CliError;
use super::options::{Machine, Tile};
use super::output::{print, print_json};
use super::progress;
use super::table::{Table, counters};
use half::f16;
use quadpair_kernels::matmul::{MatmulConfig, Matrix, Terms, reference};
use quadpair_kernels::metrics::Difference;
use quadpair_kernels::number::Real;
use serde::Serialize;

/// The largest Frobenius relative error of an f32 result that counts as right: f16 operands are exact, only sums round.
pub const ALLOWED: f64 = 1e-5;

/// The product of two random f16 matrices, checked against float64.
///
/// A [M, K] and B [K, N] hold numbers from -1 to 1, the same in every run. So do C and the bias where they are added.
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
    /// How many products
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    batch: usize,
    /// A lies column by column
    #[arg(long)]
    transpose_a: bool,
    /// B lies column by column
    #[arg(long)]
    transpose_b: bool,
    /// The factor of the product
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, allow_negative_numbers = true)]
    alpha: f32,
    /// The factor of what C was
    #[arg(long, value_name = "FACTOR", default_value_t = 0.0, allow_negative_numbers = true)]
    beta: f32,
    /// Add a number to each column
    #[arg(long)]
    bias: bool,
    /// The type of C
    #[arg(long, value_name = "TYPE", default_value = "f32")]
    out: OutType,
    #[command(flatten)]
    machine: Machine,
    /// Rows, columns and depth of a tile [default: the profile's]
    #[arg(long, value_name = "MxNxK")]
    tile: Option<Tile>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// The type of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum OutType {
    F16,
    F32,
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
    batch: usize,
    m: usize,
    n: usize,
    k: usize,
    transpose_a: bool,
    transpose_b: bool,
    out: &'static str,
    relative_error: f64,
    allowed_error: f64,
    max_abs_error: f64,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    counters: Option<serde_json::Value>,
}

impl Matmul {
    /// Makes the matrices, multiplies, compares, reports.
    pub fn run(&self) -> Result<(), CliError> {
        match self.out {
            OutType::F16 => self.run_into::<f16>(),
            OutType::F32 => self.run_into::<f32>(),
        }
    }

    fn run_into<U: Real>(&self) -> Result<(), CliError> {
        let engine = Engine::open(&self.machine)?;
        let tile = self.tile.as_ref().map(Tile::matmul).transpose()?;
        let config = MatmulConfig { unit: self.machine.chip.unit.0, tile };
        let matmul = quadpair_kernels::matmul::Matmul::<f16, U>::new(engine.profile(), config)?;
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let a = random.operand(self.batch, [self.m, self.k], self.transpose_a)?;
        let b = random.operand(self.batch, [self.k, self.n], self.transpose_b)?;
        reserve::<f64>(self.batch.saturating_mul(self.m), self.n)?;
        let c = random.operand::<U>(self.batch, [self.m, self.n], false)?;
        let bias: Vec<U> = if self.bias { random.numbers(1, self.n)? } else { Vec::new() };
        let terms = Terms { alpha: self.alpha, beta: self.beta, bias: self.bias.then_some(&bias[..]) };
        let (a, b) = (a.with(&a.data[..]), b.with(&b.data[..]));
        let expected = expected(&a, &b, &c.with(&c.data[..]), &terms)?;
        let outcome = engine.multiply(&matmul, a, b, c, terms)?;
        let difference = Difference::between(outcome.out.iter().map(|number| number.to_f64()), expected);
        let record = self.record(&engine, &matmul, &outcome, &difference);
        if self.json {
            print_json(&record)?
        } else {
            print(&self.report(&record))?
        };
        verdict(&difference, record.allowed_error)
    }

    fn record<U: Real>(
        &self,
        engine: &Engine,
        matmul: &quadpair_kernels::matmul::Matmul<f16, U>,
        outcome: &Outcome<U>,
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
            batch: self.batch,
            m: self.m,
            n: self.n,
            k: self.k,
            transpose_a: self.transpose_a,
            transpose_b: self.transpose_b,
            out: U::DTYPE.name(),
            relative_error: difference.relative_or_nan(),
            allowed_error: self.out.allowed(),
            max_abs_error: difference.max_abs_or_nan(),
            seconds: outcome.seconds,
            counters: outcome.counters_json(),
        }
    }

    fn report(&self, record: &Record) -> String {
        let Record { block_m, block_n, block_k, batch, m, n, k, .. } = record;
        let mut table = Table::of_texts();
        let lies = |transposed: bool| if transposed { " by columns" } else { "" };
        let (a, b) = (lies(self.transpose_a), lies(self.transpose_b));
        let sizes = format!("{batch} of [{m}, {k}]{a} x [{k}, {n}]{b}");
        table.row(["product", &format!("{sizes}, f16 operands, f32 sums, {} results", record.out)]);
        table.row(["device", &record.device]);
        table.row(["profile", &record.profile]);
        table.row(["unit", &format!("{}, tiles of {block_m} x {block_n} x {block_k}", record.unit)]);
        table.row(["time", &format!("{:.3} s", record.seconds)]);
        let mut errors = Table::of_numbers();
        errors.row(["compared with", "relative", "max abs"]);
        errors.row(["float64", &format!("{:.2e}", record.relative_error), &format!("{:.2e}", record.max_abs_error)]);
        errors.row(["allowed", &format!("{:.0e}", record.allowed_error), ""]);
        format!("{table}\n{errors}{}", counters(record.counters.as_ref()))
    }
}

impl OutType {
    /// The largest Frobenius relative error that counts as right: results also round to their type.
    fn allowed(self) -> f64 {
        match self {
            OutType::F16 => 5e-4,
            OutType::F32 => ALLOWED,
        }
    }
}

fn expected<U: Real>(
    a: &Matrix<&[f16]>,
    b: &Matrix<&[f16]>,
    c: &Matrix<&[U]>,
    terms: &Terms<&[U]>,
) -> Result<Vec<f64>, CliError> {
    let bar = progress::bar("float64", c.batch * c.rows);
    let expected = reference(a, b, c, terms, || bar.inc(1));
    bar.finish_and_clear();
    Ok(expected?)
}

/// An error if the product is further from float64 than this.
pub fn verdict(difference: &Difference, allowed: f64) -> Result<(), CliError> {
    let (what, against) = ("C", "float64");
    match (difference.unusable, difference.relative) {
        (0, value) if value <= allowed => Ok(()),
        (0, value) => Err(CliError::Wrong { what, value, against, allowed }),
        (count, _) => Err(CliError::Unusable { what, count, against }),
    }
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

    fn numbers<T: Real>(&mut self, rows: usize, columns: usize) -> Result<Vec<T>, CliError> {
        let mut elements = reserve(rows, columns)?;
        elements.extend((0..rows * columns).map(|_| T::from_f64(self.number())));
        Ok(elements)
    }

    /// Matrices of this many rows and columns.
    fn operand<T: Real>(
        &mut self,
        batch: usize,
        [rows, columns]: [usize; 2],
        transposed: bool,
    ) -> Result<Matrix<Vec<T>>, CliError> {
        let data = self.numbers(batch.saturating_mul(rows), columns)?;
        Ok(match transposed {
            false => Matrix::batch(data, batch, rows, columns),
            true => Matrix::batch(data, batch, columns, rows).transposed(),
        })
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
        assert!(matches!(Random(1).numbers::<f16>(usize::MAX, 2), Err(CliError::Memory { .. })));
    }
}
