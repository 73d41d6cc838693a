//! Conversions of random pairs of layouts, as kernels: right in every register of every thread, and at the cost that the
//! plan names, instruction by instruction. On a GPU, where there is one, a sample of them.

mod kernel;
mod random;

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::Arc;

use half::{bf16, f16};
use quadpair::cuda::Cuda;
use quadpair::sim::{Counters, Simulator};
use quadpair::{Backend, Element, Kernel, Program, compile};
use quadpair_layouts::convert::{self, Bound};
use quadpair_layouts::{Conversion, ConversionKind, Layout, Mma, Quadpairs, blocked};
use quadpair_profiles::Profile;

use kernel::Convert;
use random::Random;

/// How many pairs are run.
const PAIRS: u64 = 2000;

/// Different numbers of every type, none of them NaN: a halve's exponent stays below the highest.
fn elements<T: Element>(count: usize) -> Vec<T> {
    let element = |i: usize| {
        let mixed = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bits = match T::DTYPE.bytes() {
            1 => mixed >> 32,
            2 => 0x400 + i as u64,
            4 => (0x0080_0000 + i as u64) | (mixed >> 48 & 0xf) << 24,
            _ => (mixed >> 2) & !0xf_ffff | i as u64,
        };
        T::read(&bits.to_le_bytes()[..T::DTYPE.bytes() as usize])
    };
    (0..count).map(element).collect()
}

fn bits<T: Element>(elements: &[T]) -> Vec<u8> {
    let mut bytes = Vec::new();
    elements.iter().for_each(|element| element.write(&mut bytes));
    bytes
}

/// A pair of layouts with a bound.
struct Case {
    seed: u64,
    from: Layout,
    through: Vec<Layout>,
    to: Layout,
    bound: Bound,
}

impl Case {
    fn random(seed: u64) -> Self {
        let mut random = Random::new(seed);
        loop {
            let (from, to) = random.pair();
            if from.fault().is_none() && to.fault().is_none() {
                let plan = convert::plan(&from, &to, 32).unwrap();
                let forced = plan.is_within_warps() && random.below(2) == 0;
                let bound = if forced { Bound::NoSharedMemory } else { Bound::Any };
                return Case { seed, from, through: Vec::new(), to, bound };
            }
        }
    }

    fn program<T: Element>(&self, simulator: &Simulator) -> Arc<Program> {
        let stops = self.through.len();
        let through = [0, 1].map(|i| *self.through.get(i).unwrap_or(&self.to));
        let (from, to, bound) = (self.from, self.to, self.bound);
        let kernel = Convert::<T> { from, through, stops, to, bound, element: PhantomData };
        Arc::new(compile("convert", &kernel, simulator.target()).unwrap_or_else(|error| panic!("{self}: {error}")))
    }

    fn simulated<T: Element>(&self, simulator: &Simulator) -> (Arc<Program>, Vec<T>, Counters) {
        let program = self.program::<T>(simulator);
        let input = elements::<T>(self.from.shape().len());
        let mut out = vec![T::default(); input.len()];
        let args = Convert::<T>::bind::<Simulator>((&input, &mut out));
        let report = simulator.launch(&program, [1, 1, 1], args);
        let report = report.unwrap_or_else(|error| panic!("{self}: {error}\n{}", program.ptx()));
        assert_eq!(bits(&input), bits(&out), "{self}");
        (program, out, report.counters.unwrap())
    }

    /// Runs the case in the simulator and holds its counters against the plan.
    fn check<T: Element>(&self, simulator: &Simulator) -> Conversion {
        let plan = convert::plan_within(&self.from, &self.to, T::DTYPE.bits(), self.bound).unwrap();
        let (program, _, counters) = self.simulated::<T>(simulator);
        let warps = self.from.warps() as u64;
        let cost = plan.cost;
        let counted = [
            ("shuffles", counters.shuffle, u64::from(cost.shuffles) * warps),
            ("accesses", counters.shared_load + counters.shared_store, u64::from(cost.accesses) * warps),
            ("barriers", counters.barrier, u64::from(cost.barriers) * warps),
            ("synchronizations", counters.warp_sync, u64::from(cost.warp_syncs) * warps),
            ("wavefronts", counters.shared_wavefronts, wavefronts(&plan)),
            ("bytes", program.shared_bytes().into(), cost.shared_bytes.into()),
        ];
        for (name, found, planned) in counted {
            assert_eq!(found, planned, "{name} of {self}, {}: {plan}\n{}", T::DTYPE.name(), program.ptx());
        }
        let count = |opcode: &str| program.ptx().matches(opcode).count() as u32;
        if T::DTYPE.name() != "bool" {
            assert_eq!(count("selp."), cost.selects, "selections of {self}: {plan}\n{}", program.ptx());
        }
        // Narrow integers are also packed and taken apart for global memory.
        if T::DTYPE.is_float() {
            assert!(
                count("prmt.") + count("bfe.") <= cost.permutations,
                "permutations of {self}: {plan}\n{}",
                program.ptx()
            );
        }
        plan
    }

    /// Runs the case with elements of the type that its number picks.
    fn run_by<R: Run>(&self, run: &R) -> R::Result {
        match self.seed / 10 % 11 {
            0 => run.with::<u8>(self),
            1 => run.with::<i8>(self),
            2 => run.with::<bool>(self),
            3 => run.with::<f16>(self),
            4 => run.with::<bf16>(self),
            5 => run.with::<i16>(self),
            6 => run.with::<f32>(self),
            7 => run.with::<i32>(self),
            8 => run.with::<f64>(self),
            9 => run.with::<u64>(self),
            _ => run.with::<u16>(self),
        }
    }
}

/// What is done with a case for any type of its elements.
trait Run {
    type Result;
    fn with<T: Element>(&self, case: &Case) -> Self::Result;
}

/// Holds the simulator's counters against the plan.
struct OnSimulator;

impl Run for OnSimulator {
    type Result = Conversion;
    fn with<T: Element>(&self, case: &Case) -> Conversion {
        // A simulator keeps every program, so each case has its own.
        case.check::<T>(&simulator())
    }
}

/// Holds a GPU's bits against the simulator's.
struct OnGpu(Cuda);

impl Run for OnGpu {
    type Result = ();
    fn with<T: Element>(&self, case: &Case) {
        let (program, expected, _) = case.simulated::<T>(&simulator());
        let stream = self.0.stream();
        let input = stream.clone_htod(&elements::<T>(expected.len())[..]).unwrap();
        let mut out = stream.clone_htod(&vec![T::default(); expected.len()][..]).unwrap();
        let args = Convert::<T>::bind::<Cuda>((input.as_view(), out.as_view_mut()));
        self.0.launch(&program, [1, 1, 1], args).unwrap_or_else(|error| panic!("{case}: {error}"));
        assert_eq!(bits(&stream.clone_dtoh(&out).unwrap()), bits(&expected), "{case}");
    }
}

/// There, back and there again: the memory of one conversion is that of the next.
#[test]
fn conversions_follow_one_another() {
    for seed in 0..200 {
        let mut case = Case::random(PAIRS + seed);
        case.through = vec![case.to, case.from];
        let plans =
            [(case.from, case.to, Bound::Any), (case.to, case.from, Bound::Any), (case.from, case.to, case.bound)];
        let plans = plans.map(|(from, to, bound)| convert::plan_within(&from, &to, 32, bound).unwrap());
        let (_, _, counters) = case.simulated::<f32>(&simulator());
        let count = |kind: fn(&Conversion) -> bool| plans.iter().filter(|&plan| kind(plan)).count() as u64;
        let (by_warp, by_block) = (count(|plan| plan.cost.warp_syncs == 1), count(|plan| plan.cost.barriers == 1));
        // One between stores and loads, and one before all but the first stores.
        let waits = |conversions: u64| (2 * conversions).saturating_sub(1) * case.from.warps() as u64;
        assert_eq!((counters.warp_sync, counters.barrier), (waits(by_warp), waits(by_block)), "{case}");
    }
}

/// The wavefronts of all warps: of those that hold the same, one stores.
fn wavefronts(plan: &Conversion) -> u64 {
    let ConversionKind::Shared(staged) = &plan.kind else { return 0 };
    let warps = staged.store().warps() as u64;
    let storing = if staged.is_by_warp() { warps } else { warps >> staged.store().free_warps().count_ones() };
    u64::from(staged.stored().wavefronts) * storing + u64::from(staged.loaded().wavefronts) * warps
}

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "case {}\n  {}\n  {}\n", self.seed, self.from, self.to)
    }
}

fn simulator() -> Simulator {
    Simulator::new(&Profile::by_name("volta").unwrap())
}

fn name(plan: &Conversion) -> &'static str {
    match plan.kind {
        ConversionKind::Nothing => "nothing",
        ConversionKind::Registers(_) => "registers",
        ConversionKind::Shuffles(_) => "shuffles",
        ConversionKind::Shared(_) if plan.is_within_warps() => "shared memory of a warp",
        ConversionKind::Shared(_) => "shared memory of the block",
    }
}

#[test]
fn random_pairs_are_converted_as_planned() {
    let threads = std::thread::available_parallelism().map_or(2, usize::from) as u64;
    let run = |first: u64| {
        let mut kinds = BTreeMap::new();
        for seed in (first..PAIRS).step_by(threads as usize) {
            *kinds.entry(name(&Case::random(seed).run_by(&OnSimulator))).or_insert(0) += 1;
        }
        kinds
    };
    let parts: Vec<BTreeMap<&str, u64>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|first| scope.spawn(move || run(first))).collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    let count = |name| parts.iter().filter_map(|kinds| kinds.get(name)).sum::<u64>();
    let kinds = ["registers", "shuffles", "shared memory of a warp", "shared memory of the block"];
    let counts = kinds.map(|name| (name, count(name)));
    println!("{counts:?}");
    assert!(counts.iter().all(|&(_, count)| count > PAIRS / 25), "too few of a kind: {counts:?}");
}

#[test]
fn named_pairs_cost_what_they_should() {
    let (simulator, any) = (simulator(), Bound::Any);
    let rows = blocked([64, 64], [1, 8], [8, 4], [2, 1], [1, 0]);
    let transpose = Case { seed: 0, from: rows, through: Vec::new(), to: rows.permute([1, 0]), bound: any };
    let plan = transpose.check::<f16>(&simulator);
    println!("transpose: {plan}");
    assert!(plan.cost.accesses <= 24, "{plan}");
    let mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [1, 1]);
    let operand =
        Case { seed: 0, from: mma.accumulator([16, 16]), through: Vec::new(), to: mma.a([16, 16]), bound: any };
    let plan = operand.check::<f16>(&simulator);
    println!("accumulator to operand: {plan}");
    assert_eq!((plan.cost.shuffles, plan.cost.accesses), (6, 0), "{plan}");
}

/// The GPU, where there is one, runs the same sm_70 PTX: a sample of the pairs, in every type.
#[test]
fn a_gpu_gives_the_same_bits() {
    let Ok(gpu) = Cuda::open(0, &Profile::by_name("volta").unwrap()) else { return };
    let gpu = OnGpu(gpu);
    (0..PAIRS).step_by(10).for_each(|seed| Case::random(seed).run_by(&gpu));
}
