//! Follows the addresses of a kernel's shared accesses, without running it.
//!
//! What a bank conflict costs depends on the addresses of a warp's lanes, and those are integers computed from the thread's
//! number, the parameters and loop counters. So the integer part of the code is interpreted, for all lanes of each warp of
//! the first block: `operation` reads each instruction once, `warp` runs them, `function` has what they make of words. What
//! comes from memory or from floating point is 0: an address that depends on data is not known, and a branch that does is not
//! taken.
//!
//! A branch that only some lanes take is taken by all. That is right for loops of equal length and for the tails of tiles,
//! where it overcounts.

mod function;
mod operand;
mod operation;
mod warp;

use self::operation::{Action, Operation};
use self::warp::Warp;
use crate::sass::Instruction;
use crate::wavefronts::{Addresses, at_least, in_passes};
use quadpair_layouts::banks::LANES;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// Instructions of a warp after which it isn't followed any further: loops that long have shown what they do.
const ENOUGH: u64 = 4 << 20;

/// What one instruction accessed, over all visits of all warps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Visits.
    pub visits: u64,
    /// Wavefronts in passes, of all.
    pub in_passes: u64,
    /// The fewest that these passes can take, of all.
    pub without_conflicts: u64,
    /// The fewest that the words can take, were all lanes one pass, of all.
    pub at_least: u64,
}

impl Seen {
    fn add(&mut self, other: &Seen) {
        self.visits += other.visits;
        self.in_passes += other.in_passes;
        self.without_conflicts += other.without_conflicts;
        self.at_least += other.at_least;
    }

    fn access(&mut self, addresses: &Addresses, bytes: u32, paired: &[usize]) {
        let (taken, ideal) = in_passes(addresses, bytes, paired);
        self.visits += 1;
        self.in_passes += u64::from(taken);
        self.without_conflicts += u64::from(ideal);
        self.at_least += u64::from(at_least(addresses, bytes));
    }

    /// A sum's part of one visit; `None` where there was none.
    pub fn mean(&self, sum: u64) -> Option<f64> {
        (self.visits > 0).then(|| sum as f64 / self.visits as f64)
    }
}

/// What was followed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Of each instruction, what it accessed in shared memory.
    pub seen: Vec<Seen>,
    /// Names of instructions that weren't interpreted; their results are 0.
    pub unknown: BTreeSet<String>,
    /// Whether a warp was left before its end.
    pub cut: bool,
}

/// Follows a block of so many threads. `constants` are the words of the parameters by address, `paired` the lanes' distances
/// at which passes merge.
pub fn trace(code: &[Instruction], threads: u32, constants: &[(u32, u32)], paired: &[usize]) -> Trace {
    let constants = constants.iter().copied().collect();
    let operations: Vec<Operation> = code.iter().map(|one| Operation::of(one, &constants)).collect();
    let warps = threads.div_ceil(LANES as u32);
    let traces = (0..warps).into_par_iter().map(|number| follow(Warp::new(number, threads), &operations, paired));
    let mut whole = traces.reduce(Trace::default, Trace::with);
    whole.seen.resize(code.len(), Seen::default());
    let unknown = |one: &&Operation| matches!(one.action, Action::Unknown(_));
    let names = operations.iter().zip(code).filter(|(one, _)| unknown(one)).map(|(_, one)| one.base().to_owned());
    whole.unknown = names.collect();
    whole
}

impl Trace {
    fn with(mut self, other: Trace) -> Self {
        self.seen.resize(self.seen.len().max(other.seen.len()), Seen::default());
        self.seen.iter_mut().zip(&other.seen).for_each(|(own, other)| own.add(other));
        self.cut |= other.cut;
        self
    }
}

fn follow(mut warp: Warp, operations: &[Operation], paired: &[usize]) -> Trace {
    let mut seen = vec![Seen::default(); operations.len()];
    for _ in 0..ENOUGH {
        let Some((at, operation)) = warp.at().and_then(|at| Some((at, operations.get(at)?))) else {
            return Trace { seen, ..Trace::default() };
        };
        if let Some((addresses, bytes)) = warp.step(operation) {
            seen[at].access(&addresses, bytes, paired);
        }
    }
    Trace { seen, cut: true, ..Trace::default() }
}
