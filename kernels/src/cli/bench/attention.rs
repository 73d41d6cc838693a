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
use quadpair_kernels::attention::{self, AttentionConfig, Inputs, Outputs, reference};
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
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Record {
    device: String,
    profile: String,
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
            let config = AttentionConfig { unit: self.machine.chip.unit.0, tile, ..AttentionConfig::new(head_dim) };
            let attention = attention::Attention::new(&gpu.profile, config)?;
            for &shape in &self.shape {
                rows.push(measure(&gpu, &attention, shape, head_dim)?);
                bar.inc(1);
            }
        }
        bar.finish_and_clear();
        let record = Record { device: gpu.device, profile: gpu.profile.name, rows };
        if self.json { print_json(&record) } else { print(&report(&record)) }
    }
}

fn measure(
    gpu: &Gpu,
    attention: &attention::Attention<f16, f32>,
    shape: Shape,
    head_dim: usize,
) -> Result<Row, CliError> {
    let (q_shape, k_shape) = (shape.q(head_dim), shape.k(head_dim));
    let [q_length, k_length] = [q_shape, k_shape].map(|shape| shape.iter().product::<usize>());
    let mut inputs = None;
    let make = |set| -> Result<Set, CliError> {
        let (q_host, q) = random(gpu, set, 0, q_length)?;
        let (k_host, k) = random(gpu, set, 1, k_length)?;
        let (v_host, v) = random(gpu, set, 2, k_length)?;
        inputs.get_or_insert([q_host, k_host, v_host]);
        Ok(Set { q, k, v, out: unwritten(gpu, q_length)?, lse: unwritten(gpu, shape.rows())? })
    };
    let sets: Result<Vec<Set>, CliError> = (0..sets(gpu, 2 * (q_length + 2 * k_length))).map(make).collect();
    let (mut sets, [q, k, v]) = (sets?, inputs.unwrap_or_default());
    launch(gpu, attention, &mut sets[0], q_shape, k_shape)?;
    let (out, lse) = (read(gpu, &sets[0].out)?, read(gpu, &sets[0].lse)?);
    let keys = |data| View::contiguous(data, k_shape);
    let inputs = Inputs::new(View::contiguous(&q[..], q_shape), keys(&k[..]), keys(&v[..]));
    let (checked, comparison) = check(inputs, &out, &lse, shape)?;
    Limits::of(DType::F16).check(&comparison)?;
    let turns = sets.len();
    let times = Times::of(&gpu.cuda, |turn| launch(gpu, attention, &mut sets[turn % turns], q_shape, k_shape))?;
    let bytes = 2 * (2 * q_length + 2 * k_length) + 4 * shape.rows();
    let (block_m, block_n) = attention.tile();
    let (out, lse) = (comparison.out.unwrap_or_default(), comparison.lse.unwrap_or_default());
    Ok(Row {
        shape,
        head_dim,
        unit: attention.unit().name(),
        tile: format!("{block_m}x{block_n}"),
        tflops: times.giga(shape.operations(head_dim)) / 1e3,
        gbytes_per_s: times.giga(bytes as f64),
        times,
        checked,
        out_relative_error: out.relative,
        out_max_abs_error: out.max_abs,
        lse_max_abs_error: lse.max_abs,
    })
}

fn launch(
    gpu: &Gpu,
    attention: &attention::Attention<f16, f32>,
    set: &mut Set,
    q_shape: [usize; 4],
    k_shape: [usize; 4],
) -> Result<(), CliError> {
    let (k, v) = (View::contiguous(set.k.as_view(), k_shape), View::contiguous(set.v.as_view(), k_shape));
    let inputs = Inputs::new(View::contiguous(set.q.as_view(), q_shape), k, v);
    let out = View::contiguous(set.out.as_view_mut(), q_shape);
    attention.forward(&gpu.cuda, inputs, Outputs { out, lse: set.lse.as_view_mut() })?;
    Ok(())
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

/// The inputs of one row of the output: its query, and the keys and values of the head that it shares.
fn one_row<'a>(
    inputs: &Inputs<&'a [f16], &'a [f32]>,
    shape: Shape,
    [batch, head, query]: [usize; 3],
) -> Inputs<&'a [f16], &'a [f32]> {
    let head_dim = inputs.q.shape[3];
    let part = |data: &'a [f16], start: usize, rows: usize| {
        View::contiguous(&data[start * head_dim..][..rows * head_dim], [1, 1, rows, head_dim])
    };
    let keys = shape.key_row(batch, head);
    let (k, v) = (part(inputs.k.data, keys, shape.keys), part(inputs.v.data, keys, shape.keys));
    Inputs::new(part(inputs.q.data, shape.row([batch, head, query]), 1), k, v)
}

fn report(record: &Record) -> String {
    let mut table = Table::of_numbers();
    table.row(["shape", "head dim", "unit", "tile", "ms", "+-", "TFLOP/s", "GB/s", "out relative", "lse max abs"]);
    for row in &record.rows {
        table.row([
            row.shape.to_string(),
            row.head_dim.to_string(),
            row.unit.to_owned(),
            row.tile.clone(),
            format!("{:.4}", row.times.median_ms),
            format!("{:.1}%", row.times.spread()),
            format!("{:.1}", row.tflops),
            format!("{:.0}", row.gbytes_per_s),
            format!("{:.1e}", row.out_relative_error),
            format!("{:.1e}", row.lse_max_abs_error),
        ]);
    }
    format!("Attention, f16, on {}, profile {}\n\n{table}", record.device, record.profile)
}

#[cfg(test)]
mod tests {
    use super::super::random::normal;
    use super::*;

    #[test]
    fn checked_rows_are_those_of_the_whole_output() {
        for (text, head_dim) in [("2x4/2x5/7", 8), ("1x2x3", 16), ("3x2/1x1/9", 8)] {
            let shape: Shape = text.parse().unwrap();
            let (q_shape, k_shape) = (shape.q(head_dim), shape.k(head_dim));
            let random = |seed, shape: [usize; 4]| normal(seed, shape.iter().product());
            let (q, k, v) = (random(0, q_shape), random(1, k_shape), random(2, k_shape));
            let keys = |data| View::contiguous(data, k_shape);
            let inputs = Inputs::<_, &[f32]>::new(View::contiguous(&q[..], q_shape), keys(&k[..]), keys(&v[..]));
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
