//! Puts together what is found out about one kernel.

use crate::ModelError;
use crate::bounds::{bottleneck, bounds};
use crate::cost::{Spent, View};
use crate::model::{Model, Options};
use crate::occupancy::Occupancy;
use crate::report::{Figure, Line, MainLoop, PipeLoad, Report, Resources, Taken, Wavefronts};
use crate::sass::Instruction;
use crate::sass::class::{Class, Work};
use crate::sass::loops::{self, Branch};
use crate::simulate::{Body, Resident, Waits};
use crate::tools::Assembled;
use crate::trace::Trace;
use quadpair_profiles::throughput::{Hypothesis, Pipe};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

/// Numbers of the loop's instructions, without those that are jumped over.
type Numbers = Vec<usize>;

/// A kernel and what is known of it.
pub struct Judge<'j> {
    model: &'j Model,
    code: &'j [Instruction],
    trace: &'j Trace,
    main: Range<usize>,
    branches: Vec<Branch>,
    resident: Resident,
}

impl<'j> Judge<'j> {
    /// Gets ready to judge a kernel whose addresses were followed.
    pub fn new(model: &'j Model, kernel: &'j Assembled, trace: &'j Trace, occupancy: &Occupancy) -> Self {
        let main = loops::main_loop(&kernel.code);
        let branches = loops::branches(&kernel.code, &main);
        let of = |warps: u32| (warps / model.units.subpartitions).max(1) as usize;
        let warps = of(occupancy.warps());
        let resident = Resident { warps, of_block: of(occupancy.warps_per_block).min(warps) };
        Self { model, code: &kernel.code, trace, main, branches, resident }
    }

    /// Everything that is asked for.
    pub fn report(&self, resources: Resources, options: &Options) -> Result<Report, ModelError> {
        let body = self.without(&options.taken)?;
        let units = &self.model.units;
        let (floor, likely) = (View::floor(units), View::likely(units, &units.likely));
        let pipes = self.pipes(&body, &floor, &likely);
        let (work, work_cycles) = self.work(&body);
        let (lowest, likely_figure) = rayon::join(|| self.figure(&body, &floor), || self.figure(&body, &likely));
        Ok(Report {
            resources,
            main_loop: self.main_loop(&body),
            bottleneck: bottleneck(pipes.iter().map(|pipe| (pipe.pipe, pipe.likely))),
            pipes,
            wavefronts: self.wavefronts(&body),
            work,
            work_cycles,
            floor: lowest,
            likely: likely_figure,
            range: options.range.then(|| self.range(&body, likely_figure)).flatten(),
            branches: if options.branches { self.each_taken(&body) } else { Vec::new() },
            listing: if options.listing { self.listing(&body, &likely) } else { Vec::new() },
            unknown: self.trace.unknown.iter().cloned().collect(),
            cut: self.trace.cut,
        })
    }

    /// The loop, where the branches at these addresses are taken.
    fn without(&self, taken: &[u32]) -> Result<Numbers, ModelError> {
        let mut body: Numbers = self.main.clone().collect();
        for address in taken {
            let branch = self.branches.iter().find(|branch| self.code[branch.at].address == *address);
            let branch = branch.ok_or_else(|| self.no_branch(*address))?;
            body.retain(|number| !branch.skips(*number));
        }
        Ok(body)
    }

    fn no_branch(&self, address: u32) -> ModelError {
        let has: Vec<String> = self.branches.iter().map(|one| format!("{:#x}", self.code[one.at].address)).collect();
        let has = if has.is_empty() { "none".to_owned() } else { has.join(", ") };
        ModelError::NoBranch { address, has }
    }

    fn spent(&self, body: &Numbers, view: &View<'_>) -> Vec<Spent> {
        body.iter().map(|number| view.spent(&self.code[*number], &self.trace.seen[*number])).collect()
    }

    fn figure(&self, body: &Numbers, view: &View<'_>) -> Figure {
        let cycles = self.simulated(body, view).cycles(self.resident);
        let work = self.work(body).1;
        Figure { cycles, share: (work > 0.0).then(|| 100.0 * work / cycles) }
    }

    fn simulated(&self, body: &Numbers, view: &View<'_>) -> Body {
        let code: Vec<&Instruction> = body.iter().map(|number| &self.code[*number]).collect();
        Body::new(&code, &self.spent(body, view), view)
    }

    fn likely(&self, body: &Numbers, hypothesis: &Hypothesis) -> Figure {
        self.figure(body, &View::likely(&self.model.units, hypothesis))
    }

    /// The pipe that does the work, and the cycles of it that the work takes.
    fn work(&self, body: &Numbers) -> (Pipe, f64) {
        let classes = || body.iter().map(|number| self.code[*number].class);
        let work = Work::of(classes());
        let costs = &self.model.units.classes;
        let cycles = classes().filter(|class| work.is_done_by(*class)).map(|class| match class {
            Class::MatrixF16 => costs.matrix_f16.cycles.floor,
            Class::MatrixF32 => costs.matrix_f32.cycles.floor,
            _ => costs.float.cycles.floor,
        });
        let pipe = match work {
            Work::Matrix => costs.matrix_f32.pipe,
            Work::Float => costs.float.pipe,
        };
        (pipe, cycles.sum())
    }

    fn main_loop(&self, body: &Numbers) -> MainLoop {
        let mut counts: BTreeMap<Class, usize> = BTreeMap::new();
        body.iter().for_each(|number| *counts.entry(self.code[*number].class).or_default() += 1);
        let mut classes: Vec<(String, usize)> =
            counts.into_iter().map(|(class, count)| (class.to_string(), count)).collect();
        classes.sort_by_key(|class| std::cmp::Reverse(class.1));
        let address = self.code.get(self.main.start).map_or(0, |one| one.address);
        let inner_loops = loops::inner(self.code, &self.main);
        MainLoop { address, instructions: body.len(), classes, inner_loops }
    }

    fn pipes(&self, body: &Numbers, floor: &View<'_>, likely: &View<'_>) -> Vec<PipeLoad> {
        let (least, spent) = (self.spent(body, floor), self.spent(body, likely));
        let work = self.work(body).1;
        let pairs = bounds(&least, floor).into_iter().zip(bounds(&spent, likely));
        let load = |((pipe, floor), (_, likely)): ((Pipe, f64), (Pipe, f64))| PipeLoad {
            pipe,
            instructions: spent.iter().filter(|own| goes_through(own, pipe)).count(),
            floor,
            likely,
            of_work: (work > 0.0).then(|| 100.0 * likely / work),
        };
        pairs.map(load).collect()
    }

    fn wavefronts(&self, body: &Numbers) -> Wavefronts {
        let mut sum = Wavefronts { followed: 0, unreached: 0, taken: 0.0, least: 0.0 };
        for number in body.iter().filter(|number| self.code[**number].class.is_shared()) {
            let seen = &self.trace.seen[*number];
            match seen.mean(seen.in_passes).zip(seen.mean(seen.without_conflicts)) {
                None => sum.unreached += 1,
                Some((taken, least)) => {
                    sum.followed += 1;
                    sum.taken += taken;
                    sum.least += least;
                }
            }
        }
        sum
    }

    /// The lowest and the highest share over all hypotheses.
    fn range(&self, body: &Numbers, likely: Figure) -> Option<[f64; 2]> {
        let others: Vec<Figure> = self.model.units.range.par_iter().map(|other| self.likely(body, other)).collect();
        let shares = others.iter().chain([&likely]).filter_map(|figure| figure.share);
        let ends = |ends: Option<[f64; 2]>, share: f64| {
            Some(ends.map_or([share; 2], |[low, high]| [low.min(share), high.max(share)]))
        };
        shares.fold(None, ends)
    }

    /// The figure of each guarded branch that isn't taken yet, were it taken.
    fn each_taken(&self, body: &Numbers) -> Vec<Taken> {
        let open = |branch: &&Branch| {
            self.code[branch.at].guard.is_some()
                && body.contains(&branch.at)
                && body.iter().any(|own| branch.skips(*own))
        };
        let branches: Vec<&Branch> = self.branches.iter().filter(open).collect();
        let taken = |branch: &&Branch| {
            let rest: Numbers = body.iter().copied().filter(|number| !branch.skips(*number)).collect();
            let likely = self.likely(&rest, &self.model.units.likely);
            Taken { address: self.code[branch.at].address, skips: body.len() - rest.len(), likely }
        };
        branches.par_iter().map(taken).collect()
    }

    fn listing(&self, body: &Numbers, view: &View<'_>) -> Vec<Line> {
        let waits = self.simulated(body, view).waits(self.resident);
        let lines = body.iter().zip(self.spent(body, view)).zip(waits);
        let line = |((number, spent), waits): ((&usize, Spent), Waits)| Line {
            address: self.code[*number].address,
            text: self.code[*number].text(),
            pipe: spent.pipe,
            cycles: spent.cycles,
            stall: waits.stall,
            counter: waits.counter,
            busy: waits.pipe,
            turn: waits.turn,
        };
        lines.map(line).collect()
    }
}

fn goes_through(spent: &Spent, pipe: Pipe) -> bool {
    match pipe {
        Pipe::Issue => true,
        Pipe::L2 => spent.bytes > 0.0,
        _ => spent.pipe == pipe,
    }
}
