//! `quadpair attend`: attention on a file's tensors, held against float64 and against the file's own results.

use super::engine::{Engine, Outcome};
use super::error::CliError;
use super::options::{Machine, Tile};
use super::output::{PendingFile, note, print, print_json};
use super::progress;
use super::table::{Table, counters};
use super::tensors::{AttentionFile, Bias, Operands, Qkv, Tensor, encode};
use quadpair::DType;
use quadpair_kernels::attention::{Attention, AttentionConfig, Inputs, Problem, reference};
use quadpair_kernels::metrics::Difference;
use quadpair_kernels::number::Real;
use serde::Serialize;
use std::path::PathBuf;

/// Attention on the tensors of a file, checked against float64.
///
/// Reads q [batch, heads, queries, head dim], k and v [batch, kv heads, keys, head dim] (f16, bf16 or f32) and, if the
/// file has them, bias [batch|1, heads|1, queries|1, keys|1] (f16 or f32), out and lse, with which the result is then
/// compared too. Fails if the result is further from float64 than rounding explains; results in the file that differ
/// from float64 themselves are only noted.
#[derive(Debug, Default, clap::Args)]
pub struct Attend {
    /// The tensors [default: the bundled sample]
    #[arg(value_name = "FILE.safetensors")]
    file: Option<PathBuf>,
    #[command(flatten)]
    machine: Machine,
    /// Query rows and keys of a tile [default: the profile's]
    #[arg(long, value_name = "MxN")]
    tile: Option<Tile>,
    /// What scores are multiplied by [default: 1 / sqrt(head dim)]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    scale: Option<f32>,
    /// Mask the keys behind a query's own place, counted from the end: query i sees key j if j <= i + keys - queries
    #[arg(long)]
    causal: bool,
    /// Write out and lse to a safetensors file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

impl Attend {
    /// Loads, runs, compares, reports.
    pub fn run(&self) -> Result<(), CliError> {
        let file = AttentionFile::load(self.file.as_deref())?;
        match &file.operands {
            Operands::F16(qkv) => self.with_operands(&file, qkv),
            Operands::BF16(qkv) => self.with_operands(&file, qkv),
            Operands::F32(qkv) => self.with_operands(&file, qkv),
        }
    }

    fn with_operands<T: Real>(&self, file: &AttentionFile, qkv: &Qkv<T>) -> Result<(), CliError> {
        match &file.bias {
            Bias::None => self.with_bias::<T, f32>(file, qkv, None),
            Bias::F16(bias) => self.with_bias(file, qkv, Some(bias)),
            Bias::F32(bias) => self.with_bias(file, qkv, Some(bias)),
        }
    }

    fn with_bias<T: Real, U: Real>(
        &self,
        file: &AttentionFile,
        qkv: &Qkv<T>,
        bias: Option<&Tensor<U>>,
    ) -> Result<(), CliError> {
        let (q, k, v) = (qkv.q.view(), qkv.k.view(), qkv.v.view());
        let inputs = Inputs { q, k, v, bias: bias.map(Tensor::view), scale: self.scale, causal: self.causal };
        let engine = Engine::open(&self.machine)?;
        let attention = Attention::<T, U>::new(engine.profile(), self.config(q.shape[3])?)?;
        let pending = self.out.as_deref().map(PendingFile::create).transpose()?;
        let outcome = engine.attend(&attention, &inputs)?;
        let comparisons = compare(file, &inputs, &outcome)?;
        if let Some(pending) = pending {
            let encoded = encode(&outcome.out, &outcome.lse, q.shape);
            pending.write(&encoded.map_err(|source| CliError::Format { file: "the result".into(), source })?)?;
        }
        let limits = Limits::of(T::DTYPE);
        let record = Record::new(&engine, &attention, &inputs.problem()?, &outcome, &comparisons);
        if self.json {
            print_json(&record)?;
        } else {
            print(&report(file, &inputs, &record, &comparisons, &limits))?;
        }
        limits.check(&comparisons[0])?;
        // Float64 has agreed, so whatever the file holds instead is not this attention.
        if let Some(Err(error)) = comparisons.get(1).map(|file| limits.check(file)) {
            note(&format!("note: {} holds other results than float64 does: {}", file.name, error.line()));
        }
        Ok(())
    }

    fn config(&self, head_dim: usize) -> Result<AttentionConfig, CliError> {
        let tile = self.tile.as_ref().map(Tile::attention).transpose()?;
        Ok(AttentionConfig { unit: self.machine.chip.unit.0, tile, ..AttentionConfig::new(head_dim) })
    }
}

/// The result beside one other source of it.
pub struct Comparison {
    pub against: &'static str,
    pub out: Option<Difference>,
    pub lse: Option<Difference>,
}

/// Compares with float64, then with what the file holds.
fn compare<T: Real, U: Real>(
    file: &AttentionFile,
    inputs: &Inputs<&[T], &[U]>,
    outcome: &Outcome<T>,
) -> Result<Vec<Comparison>, CliError> {
    let bar = progress::bar("float64", outcome.lse.len());
    let expected = reference(inputs, || bar.inc(1));
    bar.finish_and_clear();
    let expected = expected?;
    let comparison = |against, out: Option<&Vec<f64>>, lse: Option<&Vec<f64>>| Comparison {
        against,
        out: out.map(|out| difference(&outcome.out, out)),
        lse: lse.map(|lse| difference(&outcome.lse, lse)),
    };
    let mut comparisons = vec![comparison("float64", Some(&expected.out), Some(&expected.lse))];
    if file.out.is_some() || file.lse.is_some() {
        comparisons.push(comparison("the file", file.out.as_ref(), file.lse.as_ref()));
    }
    Ok(comparisons)
}

fn difference<T: Real>(actual: &[T], expected: &[f64]) -> Difference {
    Difference::between(actual.iter().map(|number| number.to_f64()), expected.iter().copied())
}

/// How far a result may be from what it's compared with.
pub struct Limits {
    /// Frobenius relative error of the output.
    out: f64,
    /// Difference of the LSE, relative where the LSE is above 1.
    lse: f64,
}

impl Limits {
    /// What rounding to a type explains, twice over (the file's own output is rounded too) and with room.
    pub fn of(dtype: DType) -> Self {
        match dtype {
            DType::F16 => Self { out: 1e-3, lse: 1e-4 },
            DType::BF16 => Self { out: 1e-2, lse: 1e-4 },
            _ => Self { out: 1e-4, lse: 1e-4 },
        }
    }

    /// An error that names the first figure beyond its limit.
    pub fn check(&self, comparison: &Comparison) -> Result<(), CliError> {
        let check = |what, difference: Option<Difference>, value: fn(&Difference) -> f64, allowed| {
            let Some(difference) = difference else {
                return Ok(());
            };
            let (against, count, value) = (comparison.against, difference.unusable, value(&difference));
            match () {
                () if count > 0 => Err(CliError::Unusable { what, count, against }),
                () if value > allowed => Err(CliError::Wrong { what, value, against, allowed }),
                () => Ok(()),
            }
        };
        check("out", comparison.out, |difference| difference.relative, self.out)?;
        check("lse", comparison.lse, |difference| difference.max_scaled, self.lse)
    }
}

/// What `--json` prints. An error that isn't a number (the result has NaNs) is null.
#[derive(Serialize)]
struct Record {
    device: String,
    profile: String,
    unit: &'static str,
    block_m: usize,
    block_n: usize,
    out_relative_error: f64,
    out_max_abs_error: f64,
    lse_max_abs_error: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_out_relative_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file_lse_max_abs_error: Option<f64>,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    counters: Option<serde_json::Value>,
}

impl Record {
    fn new<T: Real, U: Real>(
        engine: &Engine,
        attention: &Attention<T, U>,
        problem: &Problem,
        outcome: &Outcome<T>,
        comparisons: &[Comparison],
    ) -> Self {
        let (float64, file) = (&comparisons[0], comparisons.get(1));
        let relative = |comparison: &Comparison| comparison.out.map(|out| out.relative_or_nan());
        let lse = |comparison: &Comparison| comparison.lse.map(|lse| lse.max_abs_or_nan());
        let (block_m, block_n) = attention.tile_for(problem);
        Self {
            device: engine.device().into(),
            profile: engine.profile_name(),
            unit: attention.unit().name(),
            block_m,
            block_n,
            out_relative_error: relative(float64).unwrap_or(f64::NAN),
            out_max_abs_error: float64.out.map_or(f64::NAN, |out| out.max_abs_or_nan()),
            lse_max_abs_error: lse(float64).unwrap_or(f64::NAN),
            file_out_relative_error: file.and_then(relative),
            file_lse_max_abs_error: file.and_then(lse),
            seconds: outcome.seconds,
            counters: outcome.counters_json(),
        }
    }
}

/// The tables for people.
fn report<T: Real, U: Real>(
    file: &AttentionFile,
    inputs: &Inputs<&[T], &[U]>,
    record: &Record,
    comparisons: &[Comparison],
    limits: &Limits,
) -> String {
    let mut what = Table::of_texts();
    let shapes = format!("q {:?}, k and v {:?}, {}", inputs.q.shape, inputs.k.shape, T::DTYPE.name());
    let bias = inputs.bias.as_ref().map_or("none".into(), |bias| format!("{:?}, {}", bias.shape, U::DTYPE.name()));
    what.row(["tensors", &shapes]);
    what.row(["bias", &bias]);
    what.row(["mask", if inputs.causal { "causal" } else { "none" }]);
    what.row(["device", &record.device]);
    what.row(["profile", &record.profile]);
    what.row(["unit", &format!("{}, tiles of {} queries x {} keys", record.unit, record.block_m, record.block_n)]);
    what.row(["time", &format!("{:.3} s", record.seconds)]);
    let counters = counters(record.counters.as_ref());
    format!("Attention on {}\n\n{what}\n{}{counters}", file.name, accuracy(comparisons, limits))
}

fn accuracy(comparisons: &[Comparison], limits: &Limits) -> String {
    let mut table = Table::of_numbers();
    table.row(["compared with", "out relative", "out max abs", "lse max abs"]);
    let number = |number: Option<f64>| number.map_or("-".into(), |number| format!("{number:.2e}"));
    for Comparison { against, out, lse } in comparisons {
        let relative = number(out.map(|out| out.relative_or_nan()));
        let max = number(out.map(|out| out.max_abs_or_nan()));
        table.row([(*against).into(), relative, max, number(lse.map(|lse| lse.max_abs_or_nan()))]);
    }
    table.row(["allowed", &format!("{:.0e}", limits.out), "", &format!("{:.0e}", limits.lse)]);
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(out: Difference, lse: Difference) -> Result<(), String> {
        let comparison = Comparison { against: "float64", out: Some(out), lse: Some(lse) };
        Limits::of(DType::F16).check(&comparison).map_err(|error| error.to_string())
    }

    #[test]
    fn the_samples_own_results_are_those_of_the_reference() {
        let sample = AttentionFile::load(None).unwrap();
        let (Operands::F16(qkv), Bias::F32(bias)) = (&sample.operands, &sample.bias) else { panic!("{sample:?}") };
        let (q, k, v) = (qkv.q.view(), qkv.k.view(), qkv.v.view());
        let expected = reference(&Inputs { bias: Some(bias.view()), ..Inputs::new(q, k, v) }, || ()).unwrap();
        let out = Difference::between(sample.out.unwrap(), expected.out);
        let lse = Difference::between(sample.lse.unwrap(), expected.lse);
        assert!(out.relative < 1e-7 && lse.max_scaled < 1e-7 && out.unusable + lse.unusable == 0, "{out:?} {lse:?}");
    }

    #[test]
    fn results_within_rounding_pass() {
        let near = Difference { relative: 9e-4, max_abs: 0.5, max_scaled: 9e-5, unusable: 0 };
        assert_eq!(verdict(near, near), Ok(()));
    }

    #[test]
    fn results_beyond_rounding_fail_with_figures() {
        let far = Difference { relative: 2e-3, max_scaled: 2e-4, ..Difference::default() };
        let wrong = "out is 2.00e-3 away from float64, 1e-3 is allowed";
        assert_eq!(verdict(far, Difference::default()), Err(wrong.into()));
        let wrong = "lse is 2.00e-4 away from float64, 1e-4 is allowed";
        assert_eq!(verdict(Difference::default(), far), Err(wrong.into()));
    }

    #[test]
    fn a_nan_fails() {
        let nan = Difference::between([f64::NAN], [1.0]);
        let wrong = "1 elements of out are NaN, or infinite where float64 is not";
        assert_eq!(verdict(nan, Difference::default()), Err(wrong.into()));
    }
}
