//! What each instruction of a loop costs, under one hypothesis.
//!
//! An access to shared memory that was traced costs its wavefronts, any other what its class costs. A wavefront of the
//! multiprocessor takes one cycle, and each of four sub-partitions gets every fourth: 4 cycles of its time.

use crate::sass::Instruction;
use crate::sass::class::{Class, Memory, Width};
use crate::trace::Seen;
use quadpair_profiles::Throughput;
use quadpair_profiles::throughput::{Access, Cost, Hypothesis, Pipe, Span};

/// The floor, or what is likely under a hypothesis.
#[derive(Clone, Copy, Debug)]
pub struct View<'p> {
    units: &'p Throughput,
    hypothesis: &'p Hypothesis,
    is_floor: bool,
}

/// What one instruction costs, in cycles of its sub-partition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spent {
    /// The pipe that it goes through.
    pub pipe: Pipe,
    /// How long it holds it.
    pub cycles: f64,
    /// How long after that its result is there.
    pub latency: f64,
    /// How long it holds the front end.
    pub front: f64,
    /// Bytes that it moves to or from global memory.
    pub bytes: f64,
}

impl<'p> View<'p> {
    /// What the hardware can't do with less.
    pub fn floor(units: &'p Throughput) -> Self {
        Self { units, hypothesis: &units.floor, is_floor: true }
    }

    /// What is likely under a hypothesis.
    pub fn likely(units: &'p Throughput, hypothesis: &'p Hypothesis) -> Self {
        Self { units, hypothesis, is_floor: false }
    }

    /// The chip's units.
    pub fn units(&self) -> &'p Throughput {
        self.units
    }

    /// Cycles of work that the queue to memory takes on.
    pub fn queue(&self) -> f64 {
        self.hypothesis.queue
    }

    /// The value of a span that counts here.
    pub fn of(&self, span: Span) -> f64 {
        if self.is_floor { span.floor } else { span.likely }
    }

    /// What an instruction costs that accessed what was seen.
    pub fn spent(&self, one: &Instruction, seen: &Seen) -> Spent {
        let front = if one.class.is_matrix() { self.hypothesis.matrix_issue } else { self.hypothesis.issue };
        let bytes = f64::from(one.class.global_bytes());
        let (pipe, cycles, latency) = match one.class {
            Class::Access(memory, width) => self.access(memory, width, seen),
            class => {
                let cost = self.cost(class);
                (cost.pipe, self.of(cost.cycles), self.of(cost.latency))
            }
        };
        match one.is_never() {
            true => Spent { pipe: Pipe::Issue, cycles: 0.0, latency, front, bytes },
            false => Spent { pipe, cycles, latency, front, bytes },
        }
    }

    fn access(&self, memory: Memory, width: Width, seen: &Seen) -> (Pipe, f64, f64) {
        let access = self.accesses(memory);
        let traced = seen.mean(if self.is_floor { seen.at_least } else { seen.in_passes });
        let wavefronts = traced.unwrap_or_else(|| self.of(access.wavefronts[width as usize]));
        let factor = if Class::Access(memory, width).is_shared() { self.hypothesis.shared } else { 1.0 };
        (Pipe::Mio, f64::from(self.units.subpartitions) * factor * wavefronts, self.of(access.latency))
    }

    fn accesses(&self, memory: Memory) -> &'p Access {
        let all = &self.units.accesses;
        match memory {
            Memory::SharedLoad => &all.shared_load,
            Memory::SharedStore => &all.shared_store,
            Memory::GlobalLoad => &all.global_load,
            Memory::GlobalStore => &all.global_store,
            Memory::Atomic => &all.atomic,
        }
    }

    fn cost(&self, class: Class) -> &'p Cost {
        let all = &self.units.classes;
        match class {
            Class::MatrixF32 => &all.matrix_f32,
            Class::MatrixF16 => &all.matrix_f16,
            Class::Half => &all.half,
            Class::Double => &all.double,
            Class::Float => &all.float,
            Class::Multiply => &all.multiply,
            Class::MultiplyWide => &all.multiply_wide,
            Class::Alu => &all.alu,
            Class::Special => &all.special,
            Class::Convert => &all.convert,
            Class::Bits => &all.bits,
            Class::Shuffle => &all.shuffle,
            Class::Barrier => &all.barrier,
            Class::Branch => &all.branch,
            Class::Other | Class::Access(..) => &all.other,
        }
    }
}
