//! `quadpair bench attention`: the forward pass on f16 tensors.

use super::super::attend::{Comparison, Limits};
use super::super::engine::Gpu;
use super::super::error::CliError;
use super::super::options::{Machine, Tile};
use super::super::output::{print, print_json};
use super::super::progress;
use super::super::table::Table;
use super::gpu::{open, random, read, sets, unwritten};
use super::shape::Shape;
use super::timing::Times;
use half::f16;
use quadpair::DType;
use quadpair::cuda::cudarc::driver::CudaSlice;
use quadpair_kernels::attention::{self, AttentionConfig, Inputs, Outputs, Problem, reference};
use quadpair_kernels::metrics::Difference;
use quadpair_kernels::number::Real;
use quadpair_kernels::view::View;
use rayon::prelude::*;
use serde::Serialize;

/// Rows of an output that are held against float64.
const CHECKED: usize = 64;

/// Times attention on random f16 tensors on a GPU and checks a sample of its rows against float64.
///
/// A shape is BATCH x HEADS x QUERIES. Where k and v have fewer heads or another length than q, they follow a slash:
/// 8x32/8x1/16384 is one query for each of 32 heads that share 8, against 16384 keys.
#[derive(Debug, clap::Args)]
pub struct Attention {
    /// The shapes
    #[arg(
        long,
        value_name = "BxH[/KV]xQ[/K]",
        value_delimiter = ',',
        default_value = "4x16x4096,1x16x16384,8x32/8x1/16384"
    )]
    shape: Vec<Shape>,
    /// The head dims to measure each shape at
    #[arg(long, value_name = "D", value_delimiter = ',', default_value = "64,96,128")]
    head_dim: Vec<usize>,
    #[command(flatten)]
    machine: Machine,
    /// Query rows and keys of a tile [default: the profile's]
    #[arg(long, value_name = "MxN")]
    tile: Option<Tile>,
    /// Mask the keys behind a query's own place, counted from the end; operations count half
    #[arg(long)]
    causal: bool,
    /// At most how many parts to divide the keys in [default: what fills the GPU]
    #[arg(long, value_name = "N")]
    parts: Option<usize>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Record {
    device: String,
    profile: String,
    causal: bool,
    rows: Vec<Row>,
}

/// One shape at one head dim.
#[derive(Serialize)]
struct Row {
    #[serde(flatten)]
    shape: Shape,
    head_dim: usize,
    unit: &'static str,
    tile: String,
    /// How many parts the keys were divided in.
    parts: usize,
    #[serde(flatten)]
    times: Times,
    tflops: f64,
    gbytes_per_s: f64,
    /// Batch, head and query of each row that was checked.
    checked: Vec<[usize; 3]>,
    out_relative_error: f64,
    out_max_abs_error: f64,
    lse_max_abs_error: f64,
}

/// One problem: several sets of tensors that take turns.
struct Turns {
    problem: Problem,
    shape: Shape,
    sets: Vec<Set>,
    workspace: CudaSlice<f32>,
    /// q, k and v of the first set.
    host: [Vec<f16>; 3],
}

/// The tensors of one turn.
struct Set {
    q: CudaSlice<f16>,
    k: CudaSlice<f16>,
    v: CudaSlice<f16>,
    out: CudaSlice<f16>,
    lse: CudaSlice<f32>,
}

impl Attention {
    /// Times each shape at each head dim, reports.
    pub fn run(&self) -> Result<(), CliError> {
        let gpu = open(&self.machine)?;
        let bar = progress::bar("measuring", self.shape.len() * self.head_dim.len());
        let mut rows = Vec::new();
        for &head_dim in &self.head_dim {
            let tile = self.tile.as_ref().map(Tile::attention).transpose()?;
            let unit = self.machine.chip.unit.0;
            let config = AttentionConfig { unit, tile, parts: self.parts, ..AttentionConfig::new(head_dim) };
            let attention = attention::Attention::new(&gpu.profile, config)?;
            for &shape in &self.shape {
                rows.push(measure(&gpu, &attention, shape, shape.problem(head_dim, self.causal))?);
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        let record = Record { device: gpu.device, profile: gpu.profile.name, causal: self.causal, rows };
        if self.json { print_json(&record) } else { print(&report(&record)) }
    }
}

/// TFLOP/s of an attention on inputs that fill a GPU, once its output was checked.
pub fn rate(gpu: &Gpu, attention: &attention::Attention<f16, f32>, head_dim: usize) -> Result<f64, CliError> {
    let shape = Shape { batch: 1, heads: 32, kv_heads: 32, queries: 4096, keys: 4096 };
    Ok(measure(gpu, attention, shape, shape.problem(head_dim, false))?.tflops)
}

/// Makes the inputs, checks the first output, then times.
fn measure(
    gpu: &Gpu,
    attention: &attention::Attention<f16, f32>,
    shape: Shape,
    problem: Problem,
) -> Result<Row, CliError> {
    let Problem { head_dim, causal, .. } = problem;
    let mut turns = Turns::new(gpu, attention, shape, problem)?;
    turns.launch(gpu, attention, 0)?;
    let (checked, comparison) = turns.check(gpu)?;
    Limits::of(DType::F16).check(&comparison)?;
    let times = Times::of(&gpu.cuda, |turn| turns.launch(gpu, attention, turn))?;
    let (block_m, block_n) = attention.tile_for(&problem);
    let (out, lse) = (comparison.out.unwrap_or_default(), comparison.lse.unwrap_or_default());
    Ok(Row {
        shape,
        head_dim,
        unit: attention.unit().name(),
        tile: format!("{block_m}x{block_n}"),
        parts: attention.parts(&gpu.cuda, &problem)?,
        tflops: times.giga(shape.operations(head_dim, causal)) / 1e3,
        gbytes_per_s: times.giga(shape.bytes(head_dim)),
        times,
        checked,
        out_relative_error: out.relative,
        out_max_abs_error: out.max_abs,
        lse_max_abs_error: lse.max_abs,
    })
}

impl Turns {
    fn new(
        gpu: &Gpu,
        attention: &attention::Attention<f16, f32>,
        shape: Shape,
        problem: Problem,
    ) -> Result<Self, CliError> {
        let head_dim = problem.head_dim;
        let length = |shape: [usize; 4]| shape.iter().product::<usize>();
        let (q_length, k_length) = (length(shape.q(head_dim)), length(shape.k(head_dim)));
        let (mut host, mut made) = ([const { Vec::new() }; 3], Vec::new());
        for set in 0..sets(gpu, 2 * (q_length + 2 * k_length)) {
            let (q_host, q) = random(gpu, set, 0, q_length)?;
            let (k_host, k) = random(gpu, set, 1, k_length)?;
            let (v_host, v) = random(gpu, set, 2, k_length)?;
            if set == 0 {
                host = [q_host, k_host, v_host];
            }
            made.push(Set { q, k, v, out: unwritten(gpu, q_length)?, lse: unwritten(gpu, shape.rows())? });
        }
        let workspace = unwritten(gpu, attention.workspace(&gpu.cuda, &problem)?)?;
        Ok(Self { problem, shape, sets: made, workspace, host })
    }

    fn launch(&mut self, gpu: &Gpu, attention: &attention::Attention<f16, f32>, turn: usize) -> Result<(), CliError> {
        let (q, k) = (self.shape.q(self.problem.head_dim), self.shape.k(self.problem.head_dim));
        let count = self.sets.len();
        let set = &mut self.sets[turn % count];
        let (k, v) = (View::contiguous(set.k.as_view(), k), View::contiguous(set.v.as_view(), k));
        let inputs = Inputs::new(View::contiguous(set.q.as_view(), q), k, v);
        let inputs = Inputs { causal: self.problem.causal, ..inputs };
        let outputs = Outputs { out: View::contiguous(set.out.as_view_mut(), q), lse: set.lse.as_view_mut() };
        attention.forward_in_parts(&gpu.cuda, inputs, outputs, self.workspace.as_view_mut())?;
        Ok(())
    }

    fn check(&self, gpu: &Gpu) -> Result<(Vec<[usize; 3]>, Comparison), CliError> {
        let (out, lse) = (read(gpu, &self.sets[0].out)?, read(gpu, &self.sets[0].lse)?);
        let [q, k, v] = &self.host;
        let keys = |data| View::contiguous(data, self.shape.k(self.problem.head_dim));
        let q = View::contiguous(&q[..], self.shape.q(self.problem.head_dim));
        let inputs = Inputs { causal: self.problem.causal, ..Inputs::new(q, keys(&k[..]), keys(&v[..])) };
        check(inputs, &out, &lse, self.shape)
    }
}

/// Compares a sample of the output's rows with float64, and counts every element that is no number.
fn check(
    inputs: Inputs<&[f16], &[f32]>,
    out: &[f16],
    lse: &[f32],
    shape: Shape,
) -> Result<(Vec<[usize; 3]>, Comparison), CliError> {
    let checked = shape.sample(CHECKED);
    let expected: Result<Vec<_>, _> =
        checked.par_iter().map(|&row| reference(&one_row(&inputs, shape, row), || ())).collect();
    let expected = expected?;
    let head_dim = inputs.q.shape[3];
    let rows: Vec<usize> = checked.iter().map(|&row| shape.row(row)).collect();
    let actual = rows.iter().flat_map(|row| &out[row * head_dim..][..head_dim]).map(|number| number.to_f64());
    let mut out_difference = Difference::between(actual, expected.iter().flat_map(|row| row.out.iter().copied()));
    out_difference.unusable += out.iter().filter(|number| number.is_nan()).count();
    let actual = rows.iter().map(|&row| lse[row].to_f64());
    let lse_difference = Difference::between(actual, expected.iter().flat_map(|row| row.lse.iter().copied()));
    let (out, lse) = (Some(out_difference), Some(lse_difference));
    Ok((checked, Comparison { against: "float64", out, lse }))
}

/// The inputs of one row of the output: its query, and the keys and values that it sees of the head that it shares.
fn one_row<'a>(
    inputs: &Inputs<&'a [f16], &'a [f32]>,
    shape: Shape,
    [batch, head, query]: [usize; 3],
) -> Inputs<&'a [f16], &'a [f32]> {
    let head_dim = inputs.q.shape[3];
    let part = |data: &'a [f16], start: usize, rows: usize| {
        View::contiguous(&data[start * head_dim..][..rows * head_dim], [1, 1, rows, head_dim])
    };
    let (keys, seen) = (shape.key_row(batch, head), shape.problem(head_dim, inputs.causal).seen(query));
    let (k, v) = (part(inputs.k.data, keys, seen), part(inputs.v.data, keys, seen));
    Inputs::new(part(inputs.q.data, shape.row([batch, head, query]), 1), k, v)
}

fn report(record: &Record) -> String {
    let mut table = Table::of_numbers();
    table.row([
        "shape",
        "head dim",
        "unit",
        "tile",
        "parts",
        "ms",
        "+-",
        "TFLOP/s",
        "GB/s",
        "out relative",
        "lse max abs",
    ]);
    for row in &record.rows {
        table.row([
            row.shape.to_string(),
            row.head_dim.to_string(),
            row.unit.to_owned(),
            row.tile.clone(),
            row.parts.to_string(),
            format!("{:.4}", row.times.median_ms),
            format!("{:.1}%", row.times.spread()),
            format!("{:.1}", row.tflops),
            format!("{:.0}", row.gbytes_per_s),
            format!("{:.1e}", row.out_relative_error),
            format!("{:.1e}", row.lse_max_abs_error),
        ]);
    }
    let mask = if record.causal { ", causal" } else { "" };
    format!("Attention, f16{mask}, on {}, profile {}\n\n{table}", record.device, record.profile)
}

#[cfg(test)]
mod tests {
    use super::super::random::normal;
    use super::*;

    #[test]
    fn checked_rows_are_those_of_the_whole_output() {
        let cases = [("2x4/2x5/7", 8, false), ("1x2x3", 16, false), ("3x2/1x1/9", 8, true), ("1x2x6/5", 8, true)];
        for (text, head_dim, causal) in cases {
            let shape: Shape = text.parse().unwrap();
            let (q_shape, k_shape) = (shape.q(head_dim), shape.k(head_dim));
            let random = |seed, shape: [usize; 4]| normal(seed, shape.iter().product());
            let (q, k, v) = (random(0, q_shape), random(1, k_shape), random(2, k_shape));
            let keys = |data| View::contiguous(data, k_shape);
            let inputs = Inputs::<_, &[f32]>::new(View::contiguous(&q[..], q_shape), keys(&k[..]), keys(&v[..]));
            let inputs = Inputs { causal, ..inputs };
            let whole = reference(&inputs, || ()).unwrap();
            let mut out: Vec<f16> = whole.out.iter().map(|&number| f16::from_f64(number)).collect();
            let lse: Vec<f32> = whole.lse.iter().map(|&number| number as f32).collect();
            let (checked, comparison) = check(inputs, &out, &lse, shape).unwrap();
            assert!(!checked.is_empty());
            Limits::of(DType::F16).check(&comparison).unwrap();
            out[0] = f16::NAN;
            let (_, comparison) = check(inputs, &out, &lse, shape).unwrap();
            assert!(Limits::of(DType::F16).check(&comparison).is_err());
        }
    }
}
