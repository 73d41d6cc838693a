//! `quadpair tune`: the tiles that a profile should have, found by trying.
//!
//! A tile is a size, a number of warps, and for attention an arrangement of quadpairs and a width of chunks. Which exist and
//! fit on a chip is known beforehand ([`candidate`]); how fast each is, a model or a GPU says ([`judge`]); the best of each
//! problem takes its place in the profile's text ([`outcome`]).
//!
//! ```text
//! problem                candidates      judged             profile
//! attention, D 64   ──▶  64x64, 4 warps  60.1 %
//!                        128x64, 4 warps 71.0 % ──▶ best ──▶ - {head_dim_le: 64, block_m: 128, ...}
//! ```

mod candidate;
mod judge;
mod outcome;

use super::engine::Gpu;
use super::error::CliError;
use super::options::Chip;
use super::output::{PendingFile, note, print, print_json};
use super::progress;
use candidate::{Candidate, Problem};
use clap::ValueEnum;
use judge::Judge;
use outcome::Outcome;
use quadpair::DType;
use quadpair_kernels::attention::{AttentionConfig, AttentionError};
use quadpair_kernels::unit::Unit;
use quadpair_model::Model;
use quadpair_profiles::Profile;
use std::path::PathBuf;

/// Find the fastest tiles of a profile's chip, and write a profile that has them.
///
/// Each tile that a kernel has and that the chip can hold is judged: by timing where the GPU is the profile's own chip, else by
/// the throughput model of `quadpair inspect`, which needs NVIDIA's ptxas and nvdisasm but no GPU. Tiles that the model sees spill
/// registers are left out, and so are those that fail while they are timed, with a note. Of tiles within a point (by timing: a
/// percent) of the fastest, the one with the smallest part of the output is taken, which shares a problem out among most blocks.
///
/// A problem is f16 operands at a head dim, without a bias or a mask, and the product of f16 matrices that lie row by row.
#[derive(Debug, clap::Args)]
pub struct Tune {
    /// Whose tiles
    #[arg(value_name = "KERNEL", default_value = "all")]
    kernel: Kernels,
    /// The head dims to find attention's tiles for; other entries of the profile stay
    #[arg(long, value_name = "D", value_delimiter = ',', default_value = "32,64,96,128,192,256")]
    head_dim: Vec<usize>,
    #[command(flatten)]
    chip: Chip,
    /// What judges [default: time where the GPU is the profile's own chip, else model]
    #[arg(long, value_name = "model|time")]
    by: Option<By>,
    /// The folder with ptxas and nvdisasm [default: those in PATH, CUDA_HOME, CUDA_PATH,
    /// /usr/local/cuda/bin or ~/.cache/quadpair-ptxas]
    #[arg(long, value_name = "FOLDER")]
    tools: Option<PathBuf>,
    /// Write the profile with the new tiles; all but these stays as it is
    #[arg(short, long, value_name = "FILE.yml")]
    output: Option<PathBuf>,
    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,
}

/// Whose tiles are tuned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kernels {
    /// Both
    All,
    /// flash_attention's
    Attention,
    /// matmul's
    Matmul,
}

/// What tells how fast a tile is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum By {
    /// A throughput model
    Model,
    /// A GPU's clock
    Time,
}

impl Tune {
    /// Judges, prints, writes.
    pub fn run(&self) -> Result<(), CliError> {
        let (profile, judge) = self.judge()?;
        // Whether the profile has a tile yet doesn't matter: one is sought.
        let unit = self.chip.unit.0.choose(&profile, DType::F16, |_| true).map_err(AttentionError::from)?;
        let problems = self.problems()?;
        let file = self.output.as_deref().map(PendingFile::create).transpose()?;
        let searches: Vec<(Problem, Vec<Candidate>)> =
            problems.into_iter().map(|problem| (problem, candidate::candidates(&profile, unit, problem))).collect();
        let bar = progress::bar("judging tiles", searches.iter().map(|(_, candidates)| candidates.len()).sum());
        let judged = |(problem, candidates): (Problem, Vec<Candidate>)| {
            let tried = judge.all(&profile, unit, (problem, &candidates), &bar)?;
            Outcome::of(problem, tried, |best| judge.margin(best))
        };
        let outcomes: Vec<Outcome> = searches.into_iter().map(judged).collect::<Result<_, _>>()?;
        bar.finish_and_clear();
        if let Some(file) = file {
            file.write(self.rewritten(&profile, unit, &outcomes, &judge)?.as_bytes())?;
        }
        let record = outcome::Record::new(&profile, unit, &judge, &outcomes);
        if self.json { print_json(&record) } else { print(&outcome::text(&record)) }
    }

    /// What is tuned: a head dim that can't be shows before anything is judged.
    fn problems(&self) -> Result<Vec<Problem>, AttentionError> {
        let (attention, matmul) = (self.kernel != Kernels::Matmul, self.kernel != Kernels::Attention);
        let mut dims = self.head_dim.clone();
        dims.sort_unstable();
        dims.dedup();
        dims.iter().try_for_each(|&head_dim| AttentionConfig::new(head_dim).check_head_dim())?;
        let attention = dims.into_iter().filter(|_| attention).map(|head_dim| Problem::Attention { head_dim });
        Ok(attention.chain(matmul.then_some(Problem::Matmul)).collect())
    }

    /// The profile, and what judges its tiles.
    fn judge(&self) -> Result<(Profile, Judge), CliError> {
        let by_model = |profile: Profile| {
            let model = Model::of(&profile)?;
            let tools = model.tools(self.tools.as_deref())?;
            Ok((profile, Judge::Model { model: Box::new(model), tools }))
        };
        let gpu = if self.by == Some(By::Model) { None } else { Some(self.own_gpu()) };
        match gpu {
            None => by_model(self.chip.profile_or_volta()?),
            Some(Ok(gpu)) => Ok((gpu.profile.clone(), Judge::Time { gpu: Box::new(gpu) })),
            Some(Err(error)) if self.by.is_some() => Err(error),
            Some(Err(error)) => {
                let profile = self.chip.profile_or_volta()?;
                if profile.throughput.is_none() {
                    let model = Model::of(&profile).err().map_or_else(String::new, |error| error.to_string());
                    return Err(CliError::NoJudge { model, gpu: error.line() });
                }
                note(&format!("note: {}; tiles are judged by the model", error.line()));
                by_model(profile)
            }
        }
    }

    /// The first GPU, if it is one of the profile's own chips.
    fn own_gpu(&self) -> Result<Gpu, CliError> {
        let gpu = Gpu::required(&self.chip, 0)?;
        if gpu.profile.compute_capabilities.contains(&gpu.capability) {
            return Ok(gpu);
        }
        Err(CliError::OtherChip { gpu: gpu.device, capability: gpu.capability, profile: gpu.profile.name })
    }

    /// The profile's text with the best tiles in it.
    fn rewritten(
        &self,
        profile: &Profile,
        unit: Unit,
        outcomes: &[Outcome],
        judge: &Judge,
    ) -> Result<String, CliError> {
        let name = self.chip.profile.as_deref().unwrap_or(&profile.name);
        let tuned = outcome::tuned(outcomes, judge, &command());
        Ok(Profile::with_tiles(name, &Profile::text(name)?, unit.name(), &tuned)?)
    }
}

/// The command as it was given.
fn command() -> String {
    std::iter::once("quadpair".to_owned()).chain(std::env::args().skip(1)).collect::<Vec<_>>().join(" ")
}
