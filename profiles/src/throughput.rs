//! What a chip's units cost, for the model of throughput.
//!
//! A cost that isn't known exactly has two values: a floor that the hardware can't go under, and what is likely. A warp's
//! instruction holds its pipe for some cycles, and its result is there some cycles after the pipe is free: on Volta a
//! conversion holds the special-function pipe for 8 cycles, `[8, 8]`, and its result takes 6 to 14 more, `[6, 14]`. All
//! cycles are those of one sub-partition. A unit that the sub-partitions share gives each its turn: where there are four, a
//! wavefront of shared memory costs each of them 4 cycles.

use std::fmt;

use serde::Deserialize;

/// What the model of throughput needs to know of a chip.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throughput {
    /// The last CUDA toolkit whose assembler knows the target, such as `12.9`.
    pub toolkit: String,
    /// Sub-partitions of a multiprocessor: each issues for its own warps.
    pub subpartitions: u32,
    /// The most blocks that a multiprocessor holds at once.
    pub blocks_per_multiprocessor: u32,
    /// Registers are given to a warp in units of so many.
    pub register_unit: u32,
    /// What an instruction of each class costs.
    pub classes: Classes,
    /// What an access to memory costs.
    pub accesses: Accesses,
    /// Distances between lanes: where all lanes share their addresses with those so far off, two passes of a wide shared
    /// access become one.
    pub paired_lanes: Vec<usize>,
    /// The rate of the cache that multiprocessors share.
    pub l2: L2,
    /// What can't be beaten.
    pub floor: Hypothesis,
    /// What was fitted to measured kernels.
    pub likely: Hypothesis,
    /// Others that the measured kernels don't exclude.
    pub range: Vec<Hypothesis>,
}

/// A floor and a likely value.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(from = "(f64, f64)")]
pub struct Span {
    /// The hardware can't do with less; of a rate, with more.
    pub floor: f64,
    /// What fits measured kernels.
    pub likely: f64,
}

impl From<(f64, f64)> for Span {
    fn from((floor, likely): (f64, f64)) -> Self {
        Self { floor, likely }
    }
}

/// A unit that takes one warp's instruction after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pipe {
    /// The front end, which issues every instruction.
    Issue,
    /// The matrix unit with the half and double precision units at its port.
    Tensor,
    /// Single precision multiplication and addition, integer multiplication.
    Fma,
    /// Integer, logic and comparisons.
    Alu,
    /// Special functions and conversions.
    Xu,
    /// Memory and shuffles: the queue to shared memory.
    Mio,
    /// Branches and barriers.
    Branch,
    /// The cache that multiprocessors share.
    L2,
}

impl Pipe {
    /// Every pipe.
    pub const ALL: [Pipe; 8] =
        [Pipe::Issue, Pipe::Tensor, Pipe::Fma, Pipe::Alu, Pipe::Xu, Pipe::Mio, Pipe::Branch, Pipe::L2];

    /// Its name in reports and profiles.
    pub const fn name(self) -> &'static str {
        match self {
            Pipe::Issue => "issue",
            Pipe::Tensor => "tensor",
            Pipe::Fma => "fma",
            Pipe::Alu => "alu",
            Pipe::Xu => "xu",
            Pipe::Mio => "mio",
            Pipe::Branch => "branch",
            Pipe::L2 => "l2",
        }
    }
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What an instruction costs.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cost {
    /// The pipe that it goes through.
    pub pipe: Pipe,
    /// Cycles that it holds the pipe.
    pub cycles: Span,
    /// Cycles from then until its result is there.
    pub latency: Span,
}

/// The classes of instructions that don't access memory.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Classes {
    /// A step of a matrix product that sums in single precision.
    pub matrix_f32: Cost,
    /// A step of a matrix product that sums in half precision.
    pub matrix_f16: Cost,
    /// Half precision arithmetic.
    pub half: Cost,
    /// Double precision arithmetic.
    pub double: Cost,
    /// Single precision arithmetic.
    pub float: Cost,
    /// Integer multiplication with a 32-bit result.
    pub multiply: Cost,
    /// Integer multiplication with a 64-bit result.
    pub multiply_wide: Cost,
    /// Everything that the integer and logic unit does.
    pub alu: Cost,
    /// Special functions.
    pub special: Cost,
    /// Conversions between types.
    pub convert: Cost,
    /// Counts of bits.
    pub bits: Cost,
    /// Shuffles between lanes.
    pub shuffle: Cost,
    /// Barriers.
    pub barrier: Cost,
    /// Branches.
    pub branch: Cost,
    /// What goes through no pipe.
    pub other: Cost,
}

/// Accesses to memory, which go through [`Pipe::Mio`].
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accesses {
    /// Loads from shared memory.
    pub shared_load: Access,
    /// Stores to shared memory.
    pub shared_store: Access,
    /// Loads from global memory.
    pub global_load: Access,
    /// Stores to global memory.
    pub global_store: Access,
    /// Atomic updates.
    pub atomic: Access,
}

/// What an access costs whose addresses aren't known.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    /// Wavefronts of 4, 8 and 16 bytes a lane.
    pub wavefronts: [Span; 3],
    /// Cycles from the last wavefront until the result is there.
    pub latency: Span,
}

/// The rate of the second-level cache, in bytes a cycle of each multiprocessor.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct L2 {
    /// Of a loop that runs for long.
    pub sustained: Span,
    /// Of one burst of loads.
    pub burst: Span,
}

/// What isn't known of the front end and of shared memory, one way to assume it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hypothesis {
    /// Cycles of the front end for a step of a matrix product.
    pub matrix_issue: f64,
    /// Cycles of the front end for any other instruction.
    pub issue: f64,
    /// Cycles of work that the queue of [`Pipe::Mio`] holds before it makes a warp wait.
    pub queue: f64,
    /// How many times its cycles a shared access takes.
    pub shared: f64,
}

impl Throughput {
    /// Every cost and rate with the path of its field below `throughput`, and whether it may be 0.
    pub(crate) fn numbers(&self) -> Vec<(String, f64, bool)> {
        let mut all = Vec::new();
        let mut span = |field: String, span: Span, zero: bool| {
            all.push((format!("{field}[0]"), span.floor, zero));
            all.push((format!("{field}[1]"), span.likely, zero));
        };
        for (name, cost) in self.classes.by_name() {
            span(format!("classes.{name}.cycles"), cost.cycles, true);
            span(format!("classes.{name}.latency"), cost.latency, true);
        }
        for (name, access) in self.accesses.by_name() {
            for (i, wavefronts) in access.wavefronts.into_iter().enumerate() {
                span(format!("accesses.{name}.wavefronts[{i}]"), wavefronts, true);
            }
            span(format!("accesses.{name}.latency"), access.latency, true);
        }
        span("l2.sustained".to_owned(), self.l2.sustained, false);
        span("l2.burst".to_owned(), self.l2.burst, false);
        let range = self.range.iter().enumerate().map(|(i, own)| (format!("range[{i}]"), own));
        let named = [("floor".to_owned(), &self.floor), ("likely".to_owned(), &self.likely)];
        for (field, own) in named.into_iter().chain(range) {
            let parts = [
                ("matrix_issue", own.matrix_issue),
                ("issue", own.issue),
                ("queue", own.queue),
                ("shared", own.shared),
            ];
            all.extend(parts.map(|(part, value)| (format!("{field}.{part}"), value, true)));
        }
        all
    }
}

impl Classes {
    fn by_name(&self) -> [(&'static str, Cost); 15] {
        [
            ("matrix_f32", self.matrix_f32),
            ("matrix_f16", self.matrix_f16),
            ("half", self.half),
            ("double", self.double),
            ("float", self.float),
            ("multiply", self.multiply),
            ("multiply_wide", self.multiply_wide),
            ("alu", self.alu),
            ("special", self.special),
            ("convert", self.convert),
            ("bits", self.bits),
            ("shuffle", self.shuffle),
            ("barrier", self.barrier),
            ("branch", self.branch),
            ("other", self.other),
        ]
    }
}

impl Accesses {
    fn by_name(&self) -> [(&'static str, Access); 5] {
        [
            ("shared_load", self.shared_load),
            ("shared_store", self.shared_store),
            ("global_load", self.global_load),
            ("global_store", self.global_store),
            ("atomic", self.atomic),
        ]
    }
}
