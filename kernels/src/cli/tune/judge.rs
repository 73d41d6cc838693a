//! How fast a tile is: by a model of the chip, or by the chip's clock.

use super::super::bench::{AttentionInputs, MatmulInputs};
use super::super::engine::Gpu;
use super::super::error::CliError;
use super::super::output::note;
use super::candidate::{Candidate, Problem};
use super::outcome::Tried;
use half::f16;
use indicatif::ProgressBar;
use quadpair_kernels::attention::{self, Attention, AttentionConfig};
use quadpair_kernels::matmul::{Matmul, MatmulConfig, Variant};
use quadpair_kernels::unit::{Unit, UnitChoice};
use quadpair_model::{Launch, Model, Options, Report, Tools};
use quadpair_profiles::Profile;
use rayon::prelude::*;
use serde::Serialize;

/// What judges.
pub enum Judge {
    /// A throughput model.
    Model { model: Box<Model>, tools: Tools },
    /// The profile's own chip.
    Time { gpu: Box<Gpu> },
}

/// What is found out about a tile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Verdict {
    /// The likely percentage of the chip's peak that goes into the problem, or TFLOP/s.
    pub figure: f64,
    /// What it takes of a multiprocessor, where that is known.
    #[serde(flatten)]
    pub taken: Option<Taken>,
}

/// What a kernel takes of a multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes that a thread spills.
    pub spills: u32,
    /// Warps that a multiprocessor holds.
    pub resident_warps: u32,
}

/// Where one tile after the other is judged, and how far that is.
struct Search<'s> {
    profile: &'s Profile,
    unit: Unit,
    problem: Problem,
    bar: &'s ProgressBar,
}

impl Judge {
    /// Judges tiles of a problem, each alone in the profile, and moves the bar.
    pub fn all(
        &self,
        profile: &Profile,
        unit: Unit,
        (problem, candidates): (Problem, &[Candidate]),
        bar: &ProgressBar,
    ) -> Result<Vec<Tried>, CliError> {
        let search = Search { profile, unit, problem, bar };
        match (self, problem) {
            (Judge::Model { model, tools }, _) => {
                let modelled = |candidate: &Candidate| {
                    let verdict =
                        Verdict::modelled(&inspected(model, tools, &search.ptx(candidate)?)?, candidate.useful());
                    bar.inc(1);
                    Ok(Tried { candidate: *candidate, verdict })
                };
                candidates.par_iter().map(modelled).collect()
            }
            (Judge::Time { gpu }, Problem::Attention { head_dim }) => {
                let mut inputs = AttentionInputs::filling(gpu, head_dim)?;
                search.one_by_one(candidates, |candidate| inputs.rate(gpu, &search.attention(candidate, head_dim)?))
            }
            (Judge::Time { gpu }, Problem::Matmul) => {
                let mut inputs = MatmulInputs::filling(gpu)?;
                search.one_by_one(candidates, |candidate| inputs.rate(gpu, &search.matmul(candidate)?))
            }
        }
    }

    /// How far below the best a figure may be to be as good.
    pub fn margin(&self, best: f64) -> f64 {
        match self {
            Judge::Model { .. } => 1.0,
            Judge::Time { .. } => best / 100.0,
        }
    }

    /// What a figure is of.
    pub const fn figures(&self) -> &'static str {
        match self {
            Judge::Model { .. } => "% of peak",
            Judge::Time { .. } => "TFLOP/s",
        }
    }

    /// Where the figures come from.
    pub const fn source(&self) -> &'static str {
        match self {
            Judge::Model { .. } => "by a throughput model: no figure here is measured",
            Judge::Time { .. } => "measured",
        }
    }
}

impl Search<'_> {
    /// Times tiles one after the other. One that fails is named and left out, so that what the others took isn't lost.
    fn one_by_one(
        &self,
        candidates: &[Candidate],
        mut rate: impl FnMut(&Candidate) -> Result<f64, CliError>,
    ) -> Result<Vec<Tried>, CliError> {
        let (mut tried, mut failed, mut best) = (Vec::new(), None, 0.0_f64);
        for candidate in candidates {
            match rate(candidate) {
                Ok(figure) => {
                    best = best.max(figure);
                    // Without a terminal there is no bar: a search that is cut short has said what it found.
                    if self.bar.is_hidden() {
                        note(&format!("{}, {candidate}: {figure:.1} TFLOP/s", self.problem));
                    }
                    tried.push(Tried { candidate: *candidate, verdict: Verdict { figure, taken: None } });
                }
                Err(error) => {
                    self.bar.suspend(|| {
                        note(&format!("note: {}, {candidate} is left out: {}", self.problem, error.line()))
                    });
                    failed = Some(error);
                }
            }
            self.bar.inc(1);
            self.bar.set_message(format!("{}: up to {best:.1} TFLOP/s", self.problem));
        }
        match failed {
            Some(error) if tried.is_empty() => Err(error),
            _ => Ok(tried),
        }
    }

    fn attention(&self, candidate: &Candidate, head_dim: usize) -> Result<Attention<f16, f32>, CliError> {
        let config = AttentionConfig { unit: UnitChoice::Only(self.unit), ..AttentionConfig::new(head_dim) };
        Ok(Attention::new(&candidate.alone(self.profile, self.unit), config)?)
    }

    fn matmul(&self, candidate: &Candidate) -> Result<Matmul<f16>, CliError> {
        let config = MatmulConfig { unit: UnitChoice::Only(self.unit), ..MatmulConfig::default() };
        Ok(Matmul::new(&candidate.alone(self.profile, self.unit), config)?)
    }

    /// The text of the kernel in this tile.
    fn ptx(&self, candidate: &Candidate) -> Result<String, CliError> {
        let program = match self.problem {
            Problem::Attention { head_dim } => {
                self.attention(candidate, head_dim)?.program(&attention::Variant::default())?
            }
            Problem::Matmul => self.matmul(candidate)?.program(&Variant::default())?,
        };
        Ok(program.ptx().to_owned())
    }
}

impl Verdict {
    /// What a model reports, of a kernel of whose columns such a share is needed.
    fn modelled(report: &Report, useful: f64) -> Self {
        let own = &report.resources;
        let resident_warps = own.occupancy.warps();
        let taken = Taken { registers: own.registers, spills: own.spills, resident_warps };
        Self { figure: report.likely.share.map_or(0.0, |share| share * useful), taken: Some(taken) }
    }
}

fn inspected(model: &Model, tools: &Tools, ptx: &str) -> Result<Report, CliError> {
    Ok(model.inspect(tools, &Launch::of(ptx)?, &Options::default())?)
}

#[cfg(test)]
mod tests {
    use super::super::candidate::candidates;
    use super::*;

    fn failing() -> CliError {
        CliError::NoTime
    }

    #[test]
    fn tiles_are_timed_in_order_and_one_that_fails_is_left_out() {
        let profile = Profile::by_name("hopper").unwrap();
        let problem = Problem::Attention { head_dim: 64 };
        let (unit, bar) = (Unit::M16N8K16, ProgressBar::hidden());
        let all = &candidates(&profile, unit, problem)[..5];
        let search = Search { profile: &profile, unit, problem, bar: &bar };
        let mut calls = 0..;
        let mut rate = |_: &Candidate| match calls.next() {
            Some(2) => Err(failing()),
            turn => Ok(f64::from(turn.unwrap_or(0))),
        };
        let tried = search.one_by_one(all, &mut rate).unwrap();
        let found: Vec<(Candidate, f64)> = tried.iter().map(|tried| (tried.candidate, tried.verdict.figure)).collect();
        assert_eq!(found, [(all[0], 0.0), (all[1], 1.0), (all[3], 3.0), (all[4], 4.0)]);
        assert_eq!(bar.position(), 5);
        let none = search.one_by_one(all, |_| Err(failing()));
        assert!(matches!(none, Err(CliError::NoTime)));
    }

    #[test]
    fn a_candidate_is_the_kernel_that_is_judged() {
        let (profile, unit, bar) = (Profile::by_name("turing").unwrap(), Unit::M16N8K8, ProgressBar::hidden());
        let problem = Problem::Attention { head_dim: 40 };
        let search = Search { profile: &profile, unit, problem, bar: &bar };
        for candidate in candidates(&profile, unit, problem).iter().step_by(7) {
            let Candidate::Attention(tile) = candidate else { panic!("{candidate:?}") };
            let ptx = search.ptx(candidate).unwrap();
            let name = format!("flash_attention_m16n8k8_{}x{}_d40_f16", tile.block_m, tile.block_n);
            assert!(ptx.contains(&name) && ptx.contains(&format!("threads={} ", 32 * tile.warps)), "{tile}");
        }
    }
}
