//! The warps of one sub-partition run a loop for ever, in order: how many cycles does a turn take?
//!
//! Each cycle at most one instruction is issued. A warp can issue its next when its stall is over, the counters that the
//! instruction waits for are free, its pipe is, and the front end. The scheduler stays with a warp as long as it can go on,
//! and otherwise takes the first that can, round about. A barrier joins the warps of a block. Blocks start at different times,
//! so that with several of them the mean over some such differences counts.
//!
//! For example one warp whose loop is a load of latency 26 and an addition that waits for it takes about 30 cycles a turn;
//! eight warps take hardly more for a turn of each.

use crate::cost::{Spent, View};
use crate::sass::Instruction;
use crate::sass::class::Class;
use crate::sass::control::{COUNTERS, Control};
use quadpair_profiles::throughput::Pipe;
use rayon::prelude::*;

/// Cycles between the starts of neighbouring blocks.
const STARTS: [f64; 4] = [0.0, 500.0, 1000.0, 1700.0];
/// Turns that each warp makes, and how many of the first don't count.
const TURNS: (usize, usize) = (12, 4);
/// Cycles from the pipe's release until an instruction has read its operands.
const READ: f64 = 4.0;

/// A loop body with what it costs.
pub struct Body {
    steps: Vec<Step>,
    queue: f64,
}

/// Warps of a sub-partition, and how many of them are of one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resident {
    /// All.
    pub warps: usize,
    /// Of one block.
    pub of_block: usize,
}

struct Step {
    spent: Spent,
    /// Cycles in which what it loads arrives.
    arrival: f64,
    stall: f64,
    control: Control,
    barrier: bool,
}

/// What an instruction waited for, in cycles of all warps over the turns that count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waits {
    /// For its own warp's stall count.
    pub stall: f64,
    /// For a counter: a result, or operands being read.
    pub counter: f64,
    /// For its pipe.
    pub pipe: f64,
    /// For its turn: another warp was issued, or the front end was busy.
    pub turn: f64,
}

impl Body {
    /// A loop's instructions with their costs.
    pub fn new(code: &[&Instruction], spent: &[Spent], view: &View<'_>) -> Self {
        let units = view.units();
        let rate = view.of(units.l2.burst) / f64::from(units.subpartitions);
        let step = |(one, spent): (&&Instruction, &Spent)| Step {
            spent: *spent,
            arrival: spent.bytes / rate,
            stall: f64::from(one.control.stall.max(1)),
            control: one.control,
            barrier: one.class == Class::Barrier,
        };
        Self { steps: code.iter().zip(spent).map(step).collect(), queue: view.queue() }
    }

    /// Cycles of the sub-partition for a turn of one warp, in the steady state.
    pub fn cycles(&self, resident: Resident) -> f64 {
        let starts = if resident.warps > resident.of_block { &STARTS[..] } else { &STARTS[..1] };
        let turns: Vec<f64> = starts.par_iter().map(|start| Run::new(self, resident, *start).cycles()).collect();
        turns.iter().sum::<f64>() / turns.len() as f64
    }

    /// What each instruction waits for, in cycles of a turn of one warp, where all blocks start together.
    pub fn waits(&self, resident: Resident) -> Vec<Waits> {
        let mut run = Run::new(self, resident, 0.0);
        run.waits = vec![Waits::default(); self.steps.len()];
        run.cycles();
        let turns = (resident.warps * (TURNS.0 - TURNS.1)) as f64;
        let mean = |all: Waits| Waits {
            stall: all.stall / turns,
            counter: all.counter / turns,
            pipe: all.pipe / turns,
            turn: all.turn / turns,
        };
        run.waits.into_iter().map(mean).collect()
    }
}

struct Warp {
    at: usize,
    /// When its last instruction's stall is over.
    ready: f64,
    /// When each counter is free.
    counters: [f64; COUNTERS],
    /// When the counters are free that its next instruction waits for.
    waited: f64,
    at_barrier: bool,
}

struct Run<'b> {
    body: &'b Body,
    resident: Resident,
    warps: Vec<Warp>,
    pipes: [f64; Pipe::ALL.len()],
    front: f64,
    now: f64,
    last: usize,
    waits: Vec<Waits>,
}

impl<'b> Run<'b> {
    fn new(body: &'b Body, resident: Resident, start: f64) -> Self {
        let ready = |warp: usize| start * (warp / resident.of_block) as f64;
        let warp =
            |number| Warp { at: 0, ready: ready(number), counters: [0.0; COUNTERS], waited: 0.0, at_barrier: false };
        let warps = (0..resident.warps).map(warp).collect();
        Self { body, resident, warps, pipes: [0.0; Pipe::ALL.len()], front: 0.0, now: 0.0, last: 0, waits: Vec::new() }
    }

    fn cycles(&mut self) -> f64 {
        let turn = self.resident.warps * self.body.steps.len();
        let mut first = 0.0;
        for issued in 1..=turn * TURNS.0 {
            let Some((at, warp)) = self.next() else { break };
            if !self.waits.is_empty() && issued > turn * TURNS.1 {
                self.account(warp, at);
            }
            self.issue(warp, at);
            if issued == turn * TURNS.1 {
                first = at;
            }
        }
        let last = self.now - 1.0;
        (last - first) / (TURNS.0 - TURNS.1) as f64 / self.resident.warps as f64
    }

    /// When a warp's next instruction finds its pipe ready: at its release, or at its queue's.
    fn pipe_ready(&self, step: &Step) -> f64 {
        let queue = if step.spent.pipe == Pipe::Mio { self.body.queue } else { 0.0 };
        self.pipes[step.spent.pipe as usize] - queue
    }

    /// The warp that can issue first, and when. There is always one: a barrier that all have reached is open.
    fn next(&self) -> Option<(f64, usize)> {
        let earliest = self.now.max(self.front).ceil();
        let count = self.warps.len();
        let mut best: Option<(f64, usize)> = None;
        for turn in 0..count {
            let number = (self.last + turn) % count;
            let warp = &self.warps[number];
            if warp.at_barrier {
                continue;
            }
            let pipe = self.pipe_ready(&self.body.steps[warp.at]);
            let at = earliest.max(warp.ready).max(warp.waited).max(pipe).ceil();
            if best.is_none_or(|best| at < best.0) {
                best = Some((at, number));
            }
            if at <= earliest {
                break;
            }
        }
        best
    }

    fn issue(&mut self, number: usize, at: f64) {
        let body = self.body;
        let step = &body.steps[self.warps[number].at];
        let pipe = step.spent.pipe as usize;
        let free = self.pipes[pipe].max(at) + step.spent.cycles;
        let mut end = free;
        if step.spent.pipe != Pipe::Issue {
            self.pipes[pipe] = free;
        }
        if step.arrival > 0.0 {
            end = self.pipes[Pipe::L2 as usize].max(free) + step.arrival;
            self.pipes[Pipe::L2 as usize] = end;
        }
        // What goes through no pipe has read its operands when its result is there.
        let read = if step.spent.pipe == Pipe::Issue { step.spent.latency } else { 0.0 };
        let warp = &mut self.warps[number];
        warp.hold(step.control.write, end + step.spent.latency);
        warp.hold(step.control.read, free + read + READ);
        warp.ready = at + step.stall;
        warp.at = (warp.at + 1) % body.steps.len();
        let waits = body.steps[warp.at].control.waits();
        warp.waited = waits.fold(0.0, |latest, counter| warp.counters[counter].max(latest));
        self.last = number;
        self.now = at + 1.0;
        self.front = self.front.max(at - 1.0) + step.spent.front;
        if step.barrier {
            self.arrive(number);
        }
    }

    /// A warp at a barrier waits until all of its block are.
    fn arrive(&mut self, number: usize) {
        self.warps[number].at_barrier = true;
        let first = number / self.resident.of_block * self.resident.of_block;
        let end = (first + self.resident.of_block).min(self.warps.len());
        let block = &mut self.warps[first..end];
        if block.iter().all(|warp| warp.at_barrier) {
            block.iter_mut().for_each(|warp| warp.at_barrier = false);
        }
    }

    /// Divides the cycles between the warp's last issue and this one among what it waited for.
    fn account(&mut self, number: usize, at: f64) {
        let warp = &self.warps[number];
        let step = &self.body.steps[warp.at];
        let previous = &self.body.steps[(warp.at + self.body.steps.len() - 1) % self.body.steps.len()];
        let pipe = self.pipe_ready(step);
        let mut from = warp.ready - previous.stall;
        let mut until = |end: f64| {
            let waited = (end.min(at) - from).max(0.0);
            from = from.max(end.min(at));
            waited
        };
        let (stall, counter, pipe, turn) = (until(warp.ready), until(warp.waited), until(pipe), until(at));
        let own = &mut self.waits[warp.at];
        own.stall += stall;
        own.counter += counter;
        own.pipe += pipe;
        own.turn += turn;
    }
}

impl Warp {
    fn hold(&mut self, counter: Option<u8>, until: f64) {
        if let Some(counter) = counter {
            let own = &mut self.counters[counter as usize];
            *own = own.max(until);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::Seen;
    use quadpair_profiles::{Profile, Throughput};

    /// An instruction with its stall, the counter of its result and that which it waits for.
    fn one(opcode: &str, stall: u8, write: Option<u8>, wait: Option<u8>) -> Instruction {
        let wait = wait.map_or(0, |counter| 1 << counter);
        Instruction {
            address: 0,
            guard: None,
            opcode: opcode.to_owned(),
            operands: Vec::new(),
            control: Control { stall, write, read: None, wait },
            class: Class::of(opcode),
            target: None,
        }
    }

    fn units() -> Throughput {
        Profile::by_name("volta").expect("it is shipped").throughput.expect("it has costs")
    }

    /// Cycles of a turn by the floor's costs.
    fn cycles(code: &[Instruction], warps: usize, of_block: usize) -> f64 {
        let units = units();
        let view = View::floor(&units);
        let spent: Vec<Spent> = code.iter().map(|one| view.spent(one, &Seen::default())).collect();
        Body::new(&code.iter().collect::<Vec<_>>(), &spent, &view).cycles(Resident { warps, of_block })
    }

    #[test]
    fn a_warp_stalls_as_long_as_its_instructions_say() {
        let code = [one("MOV", 4, None, None), one("FADD", 6, None, None)];
        assert_eq!(cycles(&code, 1, 1), 10.0);
        // Two warps fill each other's gaps.
        assert_eq!(cycles(&code, 2, 2), 5.0);
    }

    #[test]
    fn the_front_end_issues_one_a_cycle() {
        let code: Vec<Instruction> = (0..8).map(|_| one("NOP", 1, None, None)).collect();
        assert_eq!(cycles(&code, 1, 1), 8.0);
        assert_eq!(cycles(&code, 4, 4), 8.0);
    }

    #[test]
    fn a_pipe_takes_one_after_the_other() {
        let code: Vec<Instruction> = (0..16).map(|_| one("HMMA.884.F32.F32.STEP0", 1, None, None)).collect();
        assert_eq!(cycles(&code, 1, 1), 32.0);
        assert_eq!(cycles(&code, 2, 2), 32.0);
    }

    #[test]
    fn a_counter_makes_wait_for_the_result_and_other_warps_hide_it() {
        let code = [one("LDS", 1, Some(0), None), one("FADD", 4, None, Some(0))];
        // A wavefront, its latency, and the addition's stall.
        assert_eq!(cycles(&code, 1, 1), 4.0 + 17.0 + 4.0);
        // With eight warps the queue to memory is what counts: a wavefront every four cycles.
        assert_eq!(cycles(&code, 8, 8), 4.0);
    }

    #[test]
    fn a_barrier_joins_the_warps_of_a_block() {
        let code = |last| [one("LDS", 1, Some(0), None), one("FADD", 4, None, Some(0)), one(last, 5, None, None)];
        // All warps load at once, then none does.
        let (free, joined) = (cycles(&code("NOP"), 4, 4), cycles(&code("BAR.SYNC"), 4, 4));
        assert!(free < joined, "{free} {joined}");
        // A warp that is alone in its block meets nobody.
        assert_eq!(cycles(&code("NOP"), 1, 1), cycles(&code("BAR.SYNC"), 1, 1));
    }

    #[test]
    fn waits_are_told_apart() {
        let units = units();
        let view = View::floor(&units);
        let code = [one("LDS", 1, Some(0), None), one("FADD", 4, None, Some(0)), one("FADD", 1, None, None)];
        let spent: Vec<Spent> = code.iter().map(|one| view.spent(one, &Seen::default())).collect();
        let body = Body::new(&code.iter().collect::<Vec<_>>(), &spent, &view);
        let waits = body.waits(Resident { warps: 1, of_block: 1 });
        assert_eq!(waits[1], Waits { stall: 1.0, counter: 20.0, pipe: 0.0, turn: 0.0 });
        assert_eq!(waits[2], Waits { stall: 4.0, counter: 0.0, pipe: 0.0, turn: 0.0 });
    }
}
