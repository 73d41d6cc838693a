//! Running a grid: blocks in parallel, the warps of a block in turn, each until it waits at a barrier or is done.

use rayon::prelude::*;

use super::counters::Counters;
use super::memory::GlobalMemory;
use super::program::{Condition, Instruction, Kind, Program};
use super::race::{Conflict, SharedMemory};
use super::report::{Direction, Fault, FaultKind, Position, RaceAccess, SimError, statement_text};
use super::step;
use super::warp::Warp;
use crate::ptx::Special;

/// Instructions that a warp may run, some seconds' worth: a guard against loops that don't end.
const BUDGET: u64 = 1 << 26;

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

/// Runs every block of a grid.
pub(super) fn run(launch: &Launch<'_>) -> Result<Counters, SimError> {
    let [x, y, z] = launch.grid.map(u64::from);
    let results: Vec<Result<Counters, Box<Fault>>> = (0..x * y * z)
        .into_par_iter()
        .map(|index| {
            let block = [(index % x) as u32, (index / x % y) as u32, (index / x / y) as u32];
            Block::new(launch, block).run()
        })
        .collect();
    let mut sum = Counters::default();
    for result in results {
        sum.merge(&result?);
    }
    Ok(sum)
}

/// What an instruction can touch besides its warp's registers.
pub(super) struct Block<'a> {
    pub(super) launch: &'a Launch<'a>,
    pub(super) shared: SharedMemory,
    pub(super) counters: Counters,
    place: BlockPlace,
    /// The number of the instruction in the run of the block.
    pub(super) stamp: u64,
}

/// What went wrong in which lane.
pub(super) type Stop = Box<(u32, FaultKind)>;

/// Something that went wrong in a lane.
pub(super) fn stop(lane: u32, kind: FaultKind) -> Stop {
    Box::new((lane, kind))
}

impl<'a> Block<'a> {
    fn new(launch: &'a Launch<'a>, block: [u32; 3]) -> Self {
        let place = BlockPlace { block, grid: launch.grid, threads: launch.threads };
        let shared = SharedMemory::new(launch.shared_bytes);
        Block { launch, shared, counters: Counters::default(), place, stamp: 0 }
    }

    fn run(mut self) -> Result<Counters, Box<Fault>> {
        let threads = self.launch.threads;
        let mut warps: Vec<Warp> =
            (0..threads.div_ceil(32)).map(|i| Warp::new(self.launch.program, i, threads, &self.place)).collect();
        loop {
            for warp in &mut warps {
                self.run_warp(warp)?;
            }
            if warps.iter().all(Warp::finished) {
                return Ok(self.counters);
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
            let mask = warp.guarded(instruction.guard);
            self.stamp += 1;
            warp.executed += 1;
            self.counters.count(instruction.group);
            warp.pc = pc + 1;
            self.check(warp, instruction, mask)
                .and_then(|()| if mask == 0 { Ok(()) } else { step::step(self, warp, instruction, mask) })
                .map_err(|stop| self.fault(pc, warp.index * 32 + stop.0, stop.1))?;
            for &register in &instruction.writes {
                warp.written[register as usize] |= mask;
            }
        }
        Ok(())
    }

    /// Whether what the instruction reads was written, and the warp hasn't run for too long.
    fn check(&self, warp: &Warp, instruction: &Instruction, mask: u32) -> Result<(), Stop> {
        let guard = instruction.guard_register.iter().map(|&register| (register, warp.mask));
        for (register, lanes) in guard.chain(instruction.reads.iter().map(|&register| (register, mask))) {
            let missing = lanes & !warp.written[register as usize];
            if missing != 0 {
                return Err(stop(
                    missing.trailing_zeros(),
                    FaultKind::Unwritten { register: self.register_name(register) },
                ));
            }
        }
        if warp.executed > BUDGET {
            return Err(stop(warp.mask.trailing_zeros(), FaultKind::Budget { limit: BUDGET }));
        }
        Ok(())
    }

    fn register_name(&self, register: u32) -> String {
        self.launch.program.register_name(register)
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
            let (position, instruction): (Option<Position>, String) = program.source(at);
            RaceAccess { direction, warp, lane, position, instruction }
        };
        let own = |lane| access(direction, warp.index, lane, warp.pc - 1);
        let address = u64::from(address);
        match conflict {
            Conflict::Unwritten => FaultKind::SharedUnwritten { address, bytes },
            Conflict::Race { warp: other, at, wrote } => {
                let direction = if wrote { Direction::Write } else { Direction::Read };
                // Where several warps read, any of them but ours stands for all.
                let other = other.unwrap_or(if warp.index == 0 { 1 } else { 0 });
                FaultKind::SharedRace { address, first: access(direction, other, None, at), second: own(None) }
            }
            Conflict::SameInstruction { lane: other } => {
                FaultKind::SharedRace { address, first: own(Some(other)), second: own(Some(lane)) }
            }
        }
    }
}

impl Warp {
    /// The lanes of the running group whose guard holds.
    #[inline]
    pub(super) fn guarded(&self, guard: Option<Condition>) -> u32 {
        match guard {
            None => self.mask,
            Some(condition) => self.mask & self.condition(condition),
        }
    }

    /// The lanes in which a condition holds.
    #[inline]
    pub(super) fn condition(&self, condition: Condition) -> u32 {
        let predicate = self.predicates[condition.slot as usize];
        if condition.negated { !predicate } else { predicate }
    }
}

impl Program {
    /// The source position of an instruction, and its text.
    fn source(&self, pc: u32) -> (Option<Position>, String) {
        let instruction = &self.code[(pc as usize).min(self.code.len() - 1)];
        let position = instruction.position.map(|(file, line, column)| {
            let file = self.files.get(file as usize - 1).cloned().unwrap_or_default();
            Position { file, line, column }
        });
        let text = match (&instruction.kind, self.body.get(instruction.statement)) {
            (Kind::Exit, None) | (_, None) => "ret;".to_owned(),
            (_, Some(statement)) => statement_text(statement),
        };
        (position, text)
    }
}

/// The lanes that a mask operand names; it must be the same in all lanes that run.
pub(super) fn members(mask: u32, active: u32) -> Result<u32, Stop> {
    if active & mask != mask {
        return Err(stop(active.trailing_zeros(), FaultKind::InactiveLanes { active, needed: mask }));
    }
    Ok(mask)
}
