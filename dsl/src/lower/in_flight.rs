//! Products on wgmma that are under way, and where the warps wait for them.
//!
//! A product is issued and goes on while its warps do other things. Each is a group; groups end in order, so waiting for
//! one is waiting for all but those issued after it:
//!
//! ```text
//! s = q k        group 0                             nothing waits here
//! o = p v + o    group 1
//! max of s       wgmma.wait_group 1                  group 0 is done, group 1 may go on
//! barrier        wgmma.wait_group 0                  behind it others may write what group 1 reads
//! ```
//!
//! A wait stands before the first operation that reads the sums, that writes memory which is read, or that tells others
//! that they may write it; and before loops and branches begin and end, so that what is under way is known from the text.
//! What only gives registers another name needs none.
//!
//! NVIDIA's assembler sees no reason why what was computed in between should come before the wait, and moves it behind:
//! then nothing is left to do meanwhile. It moves nothing across a `pmevent`, which only counts, so one of these stands
//! before such a wait.

use std::collections::{HashSet, VecDeque};

use super::Lowering;
use crate::ir::{Factor, OpKind, Value};
use crate::ptx::{Op, Reg};

/// A product under way.
pub(super) struct Group {
    /// The registers that it sums in.
    pub sums: HashSet<Reg>,
    /// The columns of its instructions.
    pub columns: usize,
    /// The allocations that it reads.
    pub memory: Vec<u32>,
}

/// The products under way, the first issued first.
#[derive(Default)]
pub(super) struct InFlight {
    groups: VecDeque<Group>,
    /// Registers that there were when the last one was issued.
    registers: u32,
}

impl Lowering<'_> {
    /// Waits for the products under way that an operation must not overtake.
    pub(super) fn settle(&mut self, kind: &OpKind) {
        let groups = &self.in_flight.groups;
        let newest = match closes_a_stretch(kind) {
            true => groups.len().checked_sub(1),
            false => groups.iter().rposition(|group| self.meets(kind, group)),
        };
        self.wait_for(newest);
    }

    /// Waits for all products under way.
    pub(super) fn settle_all(&mut self) {
        self.wait_for(self.in_flight.groups.len().checked_sub(1));
    }

    /// Waits for the products that sum in some of these registers.
    pub(super) fn settle_sums(&mut self, sums: &HashSet<Reg>) {
        self.wait_for(self.in_flight.groups.iter().rposition(|group| !group.sums.is_disjoint(sums)));
    }

    /// Waits for the products under way that sum in some of these registers, but not for those that sum in all of them by
    /// instructions of so many columns: the unit keeps these in order with one more of their kind.
    pub(super) fn settle_unlike(&mut self, sums: &HashSet<Reg>, columns: usize) {
        let alike = |group: &Group| group.sums == *sums && group.columns == columns;
        let unlike = |group: &Group| !(group.sums.is_disjoint(sums) || alike(group));
        self.wait_for(self.in_flight.groups.iter().rposition(unlike));
    }

    /// Makes a group of what has been issued since the last.
    pub(super) fn issued(&mut self, group: Group) {
        self.emit.push(Op::WgmmaCommit);
        self.in_flight.groups.push_back(group);
        self.in_flight.registers = self.registers();
    }

    /// How many registers there are: more, once something has been computed.
    fn registers(&self) -> u32 {
        self.emit.counts.iter().sum()
    }

    fn wait_for(&mut self, newest: Option<usize>) {
        let Some(newest) = newest else { return };
        let groups = (self.in_flight.groups.len() - 1 - newest) as u32;
        if self.registers() > self.in_flight.registers {
            self.emit.push(Op::PmEvent { event: 0 });
        }
        self.emit.push(Op::WgmmaWait { groups });
        self.in_flight.groups.drain(..=newest);
    }

    fn meets(&self, kind: &OpKind, group: &Group) -> bool {
        // The values of a function of elements have no registers before its end.
        let held = reads(kind).into_iter().filter_map(|value| self.values.get(value.index()));
        let mut registers = held.flat_map(|held| held.iter()).filter_map(|num| num.register());
        let reads_sums = registers.any(|reg| group.sums.contains(&reg));
        reads_sums || written(kind).is_some_and(|allocation| group.memory.contains(&allocation))
    }
}

/// Whether what follows may run at other times, or none of it.
fn closes_a_stretch(kind: &OpKind) -> bool {
    matches!(
        kind,
        OpKind::For { .. }
            | OpKind::Carry(_)
            | OpKind::Yield { .. }
            | OpKind::EndFor
            | OpKind::If(_)
            | OpKind::IfAny(_)
            | OpKind::Else
            | OpKind::Merge(..)
            | OpKind::EndIf
            | OpKind::Assert(..)
            | OpKind::Print { .. }
            | OpKind::Asm(crate::ir::Asm { pure: false, .. })
    )
}

/// The values whose registers an operation reads. A product adds to its sums behind those that do so already.
fn reads(kind: &OpKind) -> Vec<Value> {
    match *kind {
        OpKind::Relabel(_) | OpKind::Part(..) | OpKind::Half(..) | OpKind::Join(..) => Vec::new(),
        OpKind::WarpgroupMma(Factor::Tile(a), ..) => vec![a],
        OpKind::WarpgroupMma(..) => Vec::new(),
        _ => kind.operands(),
    }
}

/// The allocation that an operation writes to.
fn written(kind: &OpKind) -> Option<u32> {
    match kind {
        OpKind::SharedStore(memory, _) | OpKind::AsyncCopy { memory, .. } => Some(memory.allocation),
        OpKind::SharedScatter(place, _) | OpKind::SharedAtomic { place, .. } => Some(place.memory.allocation),
        _ => None,
    }
}
