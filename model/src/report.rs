//! What is found out about a kernel.
//!
//! Every figure here is the model's, not a measurement. Cycles are those of one sub-partition for one turn of the main loop of
//! one warp; a share is of the peak of the pipe that does the work: the tensor pipe, or [`Pipe::Fma`] for a kernel without
//! matrix steps. The least time that the work takes is 100 %.

use crate::occupancy::Occupancy;
use quadpair_profiles::throughput::Pipe;
use serde::{Serialize, Serializer};

/// A kernel as the model sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// What it takes of a multiprocessor.
    #[serde(flatten)]
    pub resources: Resources,
    /// The main loop.
    pub main_loop: MainLoop,
    /// Each pipe, with its name, what goes through it and how long that takes.
    pub pipes: Vec<PipeLoad>,
    /// The pipe that bounds the loop, by the likely costs.
    #[serde(serialize_with = "name")]
    pub bottleneck: Pipe,
    /// Shared memory.
    pub wavefronts: Wavefronts,
    /// The pipe that does the work.
    #[serde(serialize_with = "name")]
    pub work: Pipe,
    /// Cycles of a turn that the work takes at its peak.
    pub work_cycles: f64,
    /// The hardware can't do better.
    pub floor: Figure,
    /// What is likely.
    pub likely: Figure,
    /// The lowest and the highest share under all hypotheses, in percent, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// What is likely where a branch forward in the loop is taken.
    pub branches: Vec<Taken>,
    /// The loop's instructions, where they were asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub listing: Vec<Line>,
    /// Names of instructions that the trace of addresses doesn't know; what depends on them was taken as 0.
    pub unknown: Vec<String>,
    /// Whether the trace was left before the kernel's end.
    pub cut: bool,
}

/// What a kernel takes of a multiprocessor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resources {
    /// The profile whose units were counted.
    pub profile: String,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes that a thread stores and loads for want of registers.
    pub spills: u32,
    /// Threads of a block.
    pub threads: u32,
    /// Bytes of shared memory of a block.
    pub shared: u32,
    /// What a multiprocessor holds.
    #[serde(flatten)]
    pub occupancy: Occupancy,
    /// Warps of a sub-partition.
    pub warps: f64,
}

/// Where the kernel spends its time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MainLoop {
    /// The address of its first instruction; the whole kernel where it has no loop.
    pub address: u32,
    /// Instructions of a turn.
    pub instructions: usize,
    /// How many of each class, most first.
    pub classes: Vec<(String, usize)>,
    /// Loops in it, whose instructions count once.
    pub inner_loops: usize,
}

/// What goes through a pipe in a turn.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PipeLoad {
    /// The pipe.
    #[serde(serialize_with = "name")]
    pub pipe: Pipe,
    /// Instructions.
    pub instructions: usize,
    /// Cycles at least.
    pub floor: f64,
    /// Cycles that are likely.
    pub likely: f64,
    /// The likely cycles in percent of those of the work.
    pub of_work: Option<f64>,
}

/// What a turn takes of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Wavefronts {
    /// Accesses whose addresses were followed.
    pub followed: usize,
    /// Accesses whose addresses weren't reached; they count as free of conflicts.
    pub unreached: usize,
    /// Wavefronts of a warp, of those followed.
    pub taken: f64,
    /// The fewest that their widths need.
    pub least: f64,
}

impl Wavefronts {
    /// How many times the least: 1 without conflicts.
    pub fn conflicts(&self) -> f64 {
        if self.least > 0.0 { self.taken / self.least } else { 1.0 }
    }
}

/// How fast a turn is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Cycles of a turn of one warp.
    pub cycles: f64,
    /// Percent of peak; none where the loop does no such work.
    pub share: Option<f64>,
}

/// A branch that jumps over a part of the loop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Taken {
    /// Its address.
    pub address: u32,
    /// Instructions that it jumps over.
    pub skips: usize,
    /// What is likely then.
    pub likely: Figure,
}

/// An instruction of the loop.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Line {
    /// Its address.
    pub address: u32,
    /// Its text.
    pub text: String,
    /// Its pipe.
    #[serde(serialize_with = "name")]
    pub pipe: Pipe,
    /// Cycles that it holds the pipe.
    pub cycles: f64,
    /// Cycles that a warp waits for its own stall count before it.
    pub stall: f64,
    /// For results, or operands being read.
    pub counter: f64,
    /// For the pipe.
    pub busy: f64,
    /// For other warps' instructions.
    pub turn: f64,
}

fn name<S: Serializer>(pipe: &Pipe, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(pipe.name())
}
