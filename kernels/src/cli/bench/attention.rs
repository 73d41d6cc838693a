//! `quadpair bench attention`: the forward pass on f16 tensors.

use super::super::engine::Gpu;
use super::super::error::CliError;
use super::super::options::{Machine, Tile};
use super::super::output::{print, print_json};
use super::super::progress;
use super::super::table::Table;
use super::attention_inputs::AttentionInputs;
use super::gpu::open;
use super::shape::Shape;
use super::timing::Times;
use half::f16;
use quadpair_kernels::attention::{self, AttentionConfig, Problem};
use serde::Serialize;

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

/// Makes the inputs, checks the first output, then times.
fn measure(
    gpu: &Gpu,
    attention: &attention::Attention<f16, f32>,
    shape: Shape,
    problem: Problem,
) -> Result<Row, CliError> {
    let Problem { head_dim, causal, .. } = problem;
    let mut inputs = AttentionInputs::new(gpu, shape, problem)?;
    let (times, comparison) = inputs.measure(gpu, attention)?;
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
        checked: inputs.checked().to_vec(),
        out_relative_error: out.relative,
        out_max_abs_error: out.max_abs,
        lse_max_abs_error: lse.max_abs,
    })
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
