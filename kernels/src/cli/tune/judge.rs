//! How fast a tile is: by a model of the chip, or by the chip's clock.

use super::super::bench::{attention_rate, matmul_rate};
use super::super::engine::Gpu;
use super::super::error::CliError;
use super::candidate::Candidate;
use half::f16;
use quadpair_kernels::attention::{self, Attention, AttentionConfig};
use quadpair_kernels::matmul::{Matmul, MatmulConfig, Variant};
use quadpair_kernels::unit::{Unit, UnitChoice};
use quadpair_model::{Launch, Model, Options, Report, Tools};
use quadpair_profiles::Profile;
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

impl Judge {
    /// Judges a tile, the only one of a profile.
    pub fn judge(&self, alone: &Profile, unit: Unit, candidate: &Candidate) -> Result<Verdict, CliError> {
        let unit = UnitChoice::Only(unit);
        match *candidate {
            Candidate::Attention(tile) => {
                let config = AttentionConfig { unit, ..AttentionConfig::new(tile.head_dim_le) };
                let attention = Attention::<f16, f32>::new(alone, config)?;
                match self {
                    Judge::Time { gpu } => Ok(Verdict::timed(attention_rate(gpu, &attention, tile.head_dim_le)?)),
                    Judge::Model { model, tools } => {
                        let report = inspected(model, tools, attention.program(&attention::Variant::default())?.ptx())?;
                        let share = report.likely.share.map(|share| share * candidate.useful());
                        Ok(Verdict::modelled(&report, share))
                    }
                }
            }
            Candidate::Matmul(_) => {
                let matmul = Matmul::<f16>::new(alone, MatmulConfig { unit, ..MatmulConfig::default() })?;
                match self {
                    Judge::Time { gpu } => Ok(Verdict::timed(matmul_rate(gpu, &matmul)?)),
                    Judge::Model { model, tools } => {
                        let report = inspected(model, tools, matmul.program(&Variant::default())?.ptx())?;
                        Ok(Verdict::modelled(&report, report.likely.share))
                    }
                }
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

impl Verdict {
    fn timed(figure: f64) -> Self {
        Self { figure, taken: None }
    }

    fn modelled(report: &Report, share: Option<f64>) -> Self {
        let own = &report.resources;
        let resident_warps = own.occupancy.warps();
        let taken = Taken { registers: own.registers, spills: own.spills, resident_warps };
        Self { figure: share.unwrap_or(0.0), taken: Some(taken) }
    }
}

fn inspected(model: &Model, tools: &Tools, ptx: &str) -> Result<Report, CliError> {
    Ok(model.inspect(tools, &Launch::of(ptx)?, &Options::default())?)
}
