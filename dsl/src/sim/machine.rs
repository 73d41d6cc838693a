//! Running a grid: blocks in parallel, the warps of a block in turn, each until it waits at a barrier or is done.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::prelude::*;

use super::counters::Counters;
use super::memory::GlobalMemory;
use super::program::{Instruction, Program, Slot};
use super::race::{Conflict, SharedMemory};
use super::report::{Direction, Fault, FaultKind, RaceAccess, SimError};
use super::step::{Patterns, step};
use super::warp::{LANE_BITS, Lanes32, Warp, lanes};
use crate::ptx::Special;

/// Instructions that a warp may run, some seconds' worth: a guard against loops that don't end.
pub(super) const BUDGET: u64 = 1 << 26;

/// A launch.
pub(super) struct Launch<'a> {
    pub(super) program: &'a Program,
    pub(super) grid: [u32; 3],
    pub(super) threads: u32,
    /// All shared memory of a block, in bytes.
    pub(super) shared_bytes: u32,
    pub(super) memory: &'a GlobalMemory,
    /// The parameters' values.
    pub(super) params: &'a [u64],
    /// Instructions that a warp may run.
    pub(super) budget: u64,
}

/// Where a block is in its grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockPlace {
    pub(super) block: [u32; 3],
    grid: [u32; 3],
    threads: u32,
}

impl BlockPlace {
    /// The value of a special register in a lane.
    pub(super) fn special(&self, special: Special, warp: u32, lane: u32) -> u32 {
        match special {
            Special::TidX => warp * 32 + lane,
            Special::NtidX => self.threads,
            Special::TidY | Special::TidZ | Special::Clock => 0,
            Special::NtidY | Special::NtidZ => 1,
            Special::CtaidX => self.block[0],
            Special::CtaidY => self.block[1],
            Special::CtaidZ => self.block[2],
            Special::NctaidX => self.grid[0],
            Special::NctaidY => self.grid[1],
            Special::NctaidZ => self.grid[2],
            Special::LaneId => lane,
            Special::WarpId => warp,
            Special::LaneMaskEq => 1 << lane,
            Special::LaneMaskLt => (1 << lane) - 1,
            Special::LaneMaskLe => u32::MAX >> (31 - lane),
            Special::LaneMaskGt => !(u32::MAX >> (31 - lane)),
            Special::LaneMaskGe => !((1 << lane) - 1),
        }
    }
}

/// Runs every block of a grid; what they print comes in their order, up to the one that fails. Of several faults the one
/// of the lowest block is told, whatever ran first.
pub(super) fn run(launch: &Launch<'_>) -> (String, Result<Counters, SimError>) {
    let [x, y, z] = launch.grid.map(u64::from);
    let failed = AtomicU64::new(u64::MAX);
    let results: Vec<(String, Result<Counters, Box<Fault>>)> = (0..x * y * z)
        .into_par_iter()
        .map(|index| {
            if index > failed.load(Relaxed) {
                return (String::new(), Ok(Counters::default()));
            }
            let block = [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32];
            let mut block = Block::new(launch, block);
            let result = block.run();
            if result.is_err() {
                failed.fetch_min(index, Relaxed);
            }
            (block.printed, result.map(|()| block.counters))
        })
        .collect();
    let (mut printed, mut sum) = (String::new(), Counters::default());
    for (text, result) in results {
        printed += &text;
        match result {
            Ok(counters) => sum.merge(&counters),
            Err(fault) => return (printed, Err(fault.into())),
        }
    }
    (printed, Ok(sum))
}

/// What an instruction can touch besides its warp's registers.
pub(super) struct Block<'a> {
    pub(super) launch: &'a Launch<'a>,
    pub(super) shared: SharedMemory,
    pub(super) counters: Counters,
    /// What its threads have printed.
    pub(super) printed: String,
    /// Wavefronts of the accesses seen so far.
    pub(super) patterns: Patterns,
    place: BlockPlace,
    /// The number of the instruction in the run of the block.
    pub(super) stamp: u32,
}

/// What went wrong in which lane. It is small, since every instruction returns room for one.
#[derive(Debug)]
pub(super) struct Stop(Box<(u32, FaultKind)>);

impl Stop {
    #[cold]
    pub(super) fn new(lane: u32, kind: FaultKind) -> Self {
        Stop(Box::new((lane, kind)))
    }
}

impl<'a> Block<'a> {
    fn new(launch: &'a Launch<'a>, block: [u32; 3]) -> Self {
        let place = BlockPlace { block, grid: launch.grid, threads: launch.threads };
        let shared = SharedMemory::new(launch.shared_bytes);
        let (counters, printed) = (Counters::default(), String::new());
        Block { launch, shared, counters, printed, patterns: Patterns::default(), place, stamp: 0 }
    }

    fn run(&mut self) -> Result<(), Box<Fault>> {
        let threads = self.launch.threads;
        let mut warps: Vec<Warp> =
            (0..threads.div_ceil(32)).map(|i| Warp::new(self.launch.program, i, threads, &self.place)).collect();
        loop {
            for warp in &mut warps {
                self.run_warp(warp)?;
            }
            if warps.iter().all(Warp::finished) {
                return Ok(());
            }
            self.release(&mut warps)?;
        }
    }

    /// Lets the warps go on from a barrier, if all of them are there.
    fn release(&mut self, warps: &mut [Warp]) -> Result<(), Box<Fault>> {
        let id = warps.iter().find_map(|warp| warp.barrier);
        let those = |wanted: &dyn Fn(&Warp) -> bool| -> Vec<u32> {
            warps.iter().filter(|warp| wanted(warp)).map(|warp| warp.index).collect()
        };
        let exited = those(&|warp| warp.finished());
        let elsewhere = those(&|warp| !warp.finished() && warp.barrier != id);
        if !exited.is_empty() || !elsewhere.is_empty() {
            let waiting = those(&|warp| warp.barrier == id && !warp.finished());
            let at = warps.iter().find(|warp| warp.barrier == id && !warp.finished()).map_or(0, |warp| warp.pc - 1);
            let first = waiting.first().copied().unwrap_or(0);
            let kind = FaultKind::UnfinishedBarrier { waiting, exited, elsewhere };
            return Err(self.fault(at, first * 32, kind));
        }
        self.shared.barrier();
        warps.iter_mut().for_each(|warp| warp.barrier = None);
        Ok(())
    }

    /// Runs a warp until it waits at a barrier or is done.
    fn run_warp(&mut self, warp: &mut Warp) -> Result<(), Box<Fault>> {
        let program = self.launch.program;
        while warp.barrier.is_none() && !warp.finished() {
            warp.regroup();
            let pc = warp.pc;
            let instruction = &program.code[pc as usize];
            self.stamp = self.stamp.wrapping_add(1);
            warp.executed += 1;
            self.counters.count(instruction.group);
            warp.pc = pc + 1;
            if let Err(Stop(stop)) = self.issue(warp, instruction) {
                let (lane, kind) = *stop;
                return Err(self.fault(pc, warp.index * 32 + lane, kind));
            }
        }
        Ok(())
    }

    /// Checks an instruction and runs it in the lanes that its guard lets through.
    #[inline(always)]
    fn issue(&mut self, warp: &mut Warp, instruction: &Instruction) -> Result<(), Stop> {
        let mut mask = warp.mask;
        if warp.executed > self.launch.budget {
            return Err(Stop::new(mask.trailing_zeros(), FaultKind::Budget { limit: self.launch.budget }));
        }
        if let Some(guard) = instruction.guard {
            if let Some(register) = instruction.guard_read {
                self.must_be_written(warp, register, mask)?;
            }
            mask &= warp.condition(guard);
            if mask == 0 {
                return Ok(());
            }
        }
        for &register in &instruction.reads {
            self.must_be_written(warp, register, mask)?;
        }
        step(self, warp, instruction, mask)?;
        for &register in &instruction.writes {
            warp.written[register as usize] |= mask;
        }
        Ok(())
    }

    #[inline(always)]
    fn must_be_written(&self, warp: &Warp, register: u32, mask: u32) -> Result<(), Stop> {
        let missing = mask & !warp.written[register as usize];
        if missing == 0 {
            return Ok(());
        }
        let under_way = warp.products.sum_in(register);
        let register = self.launch.program.register_name(register);
        let kind = if under_way { FaultKind::SumUnderWay { register } } else { FaultKind::Unwritten { register } };
        Err(Stop::new(missing.trailing_zeros(), kind))
    }

    /// A fault of an instruction in a thread.
    fn fault(&self, pc: u32, thread: u32, kind: FaultKind) -> Box<Fault> {
        let program = self.launch.program;
        let (position, instruction) = program.source(pc);
        Box::new(Fault { kernel: program.kernel.clone(), position, block: self.place.block, thread, instruction, kind })
    }

    /// What a conflict in shared memory is to the user.
    pub(super) fn shared_fault(
        &self,
        conflict: Conflict,
        address: u32,
        bytes: u32,
        warp: &Warp,
        lane: u32,
        direction: Direction,
    ) -> FaultKind {
        let program = self.launch.program;
        let access = |direction, warp, lane, at| {
            let (position, instruction) = program.source(at);
            RaceAccess { direction, warp, lane, position, instruction }
        };
        let own = |lane| access(direction, warp.index, lane, warp.pc - 1);
        let address = u64::from(address);
        match conflict {
            Conflict::Unwritten => FaultKind::SharedUnwritten { address, bytes },
            Conflict::Coming => {
                let mut bringing = (0..bytes).filter_map(|byte| self.shared.copies.bringing(address as u32 + byte));
                let copy = bringing
                    .next()
                    .map_or_else(|| own(None), |who| access(Direction::Write, who.warp, Some(who.lane), who.at));
                FaultKind::SharedComing { address, bytes, direction, copy }
            }
            Conflict::Multiplied => FaultKind::SharedMultiplied { address, bytes },
            Conflict::Unfenced { warp } => FaultKind::SharedUnfenced { address, warp },
            Conflict::Race { warp: other, at, wrote } => {
                let direction = if wrote { Direction::Write } else { Direction::Read };
                FaultKind::SharedRace { address, first: access(direction, other, None, at), second: own(None) }
            }
            Conflict::SameInstruction { lane: other } => {
                FaultKind::SharedRace { address, first: own(Some(other)), second: own(Some(lane)) }
            }
        }
    }
}

/// For each running lane the lanes that it names as taking part: itself and others that run.
pub(super) fn members(warp: &Warp, names: Slot, active: u32) -> Result<Lanes32, Stop> {
    let named = warp.word(names).map(|mask| mask & warp.members);
    for lane in lanes(active) {
        if named[lane] & !active != 0 || named[lane] & LANE_BITS[lane] == 0 {
            return Err(Stop::new(lane as u32, FaultKind::InactiveLanes { active, needed: named[lane] }));
        }
    }
    Ok(named)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ptx::parse;

    #[test]
    fn loops_come_to_an_end() {
        let text = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{\n$L1:\nbra $L1;\n}\n";
        let program = Program::load(&parse(text).unwrap(), "k").unwrap();
        let memory = GlobalMemory::default();
        let (program, memory) = (&program, &memory);
        let launch =
            Launch { program, grid: [9, 1, 1], threads: 40, shared_bytes: 0, memory, params: &[], budget: 1000 };
        let error = run(&launch).1.unwrap_err().to_string();
        let end = "block [0, 0, 0], thread 0: `bra $L1;` is past the 1000 instructions that a warp may run in the \
                   simulator; is there a loop that doesn't end?";
        assert!(error.ends_with(end), "{error}");
    }
}
