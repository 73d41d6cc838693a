//! The static counts of a kernel without loops are what the simulator counts when it runs.

use half::f16;
use quadpair::inspect::emitted::{Emitted, Wavefronts, Work, emitted};
use quadpair::inspect::tiles::{Contents, Step};
use quadpair::sim::{Counters, Simulator};
use quadpair::{Backend, Program, record};
use quadpair_profiles::Profile;

use crate::kernel::{BLOCKS, MIXED, MixedArgs};

fn simulator() -> Simulator {
    Simulator::new(&Profile::by_name("volta").unwrap())
}

fn program() -> std::sync::Arc<Program> {
    MIXED.program(simulator().target()).unwrap()
}

fn counted() -> Counters {
    let x: Vec<f16> = (0..BLOCKS * 2048).map(|i| f16::from_f32((i % 13) as f32)).collect();
    let (mut sums, mut out) = (vec![0.0; BLOCKS * 32], vec![0.0; BLOCKS * 2048]);
    let args = MixedArgs { x: &x[..], sums: &mut sums[..], out: &mut out[..], blocks: BLOCKS as i32 };
    MIXED.launch(&simulator(), args).unwrap().counters.unwrap()
}

/// Instructions of all warps of all blocks.
fn instructions(all: &[Emitted], work: Work) -> u64 {
    let warps = u64::from(program().threads() / 32) * BLOCKS as u64;
    all.iter().filter(|one| one.work == work).map(|one| u64::from(one.instructions)).sum::<u64>() * warps
}

#[test]
fn instructions_and_wavefronts_are_those_of_a_run() {
    let (all, counters) = (emitted(&program()).unwrap(), counted());
    for (work, expected) in [
        (Work::GlobalLoad, counters.global_load),
        (Work::GlobalStore, counters.global_store),
        (Work::SharedLoad, counters.shared_load),
        (Work::SharedStore, counters.shared_store),
        (Work::Shuffle, counters.shuffle),
        (Work::Barrier, counters.barrier),
        (Work::Mma, counters.mma),
    ] {
        assert_eq!(instructions(&all, work), expected, "{}", work.name());
        assert!(expected > 0, "the kernel has no {}", work.name());
    }
    let mut shared = Wavefronts::default();
    all.iter().for_each(|one| shared.add(one.shared));
    assert_eq!(u64::from(shared.taken) * BLOCKS as u64, counters.shared_wavefronts);
    assert_eq!(u64::from(shared.ideal) * BLOCKS as u64, counters.shared_ideal);
    assert!(shared.taken > shared.ideal, "the kernel has conflicts");
    assert_eq!((shared.unknown, shared.guarded), (0, 0));
}

#[test]
fn what_the_algebra_says_of_each_access_is_what_its_line_became() {
    let (program, contents) = (program(), Contents::of(&record(MIXED.kernel()).unwrap(), simulator().target()));
    let (all, warps) = (emitted(&program).unwrap(), program.threads() / 32);
    let mut seen = 0;
    for step in &contents.steps {
        let Step::Accessed(one) = step else { continue };
        let work = if one.store { Work::SharedStore } else { Work::SharedLoad };
        let bytes = one.dtype.bytes() * one.access.vector as u32;
        let there = |e: &&Emitted| e.place.line == one.source.at.line() && (e.work, e.bytes) == (work, bytes);
        let line = all.iter().find(there).unwrap_or_else(|| panic!("no {} of {bytes} bytes: {one:?}", work.name()));
        assert_eq!(line.instructions, one.access.instructions);
        assert_eq!((line.shared.taken, line.shared.ideal), (one.access.wavefronts * warps, one.access.ideal * warps));
        seen += 1;
    }
    assert_eq!(seen, 4);
}

#[test]
fn conversions_cost_what_their_plans_say() {
    let (program, contents) = (program(), Contents::of(&record(MIXED.kernel()).unwrap(), simulator().target()));
    let all = emitted(&program).unwrap();
    let plans: Vec<_> = contents
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::Converted(one) => Some(one),
            _ => None,
        })
        .collect();
    assert_eq!(plans.len(), 3);
    // The first and the last stand on lines with no other use of shared memory.
    for plan in [plans[0], plans[2]] {
        let line = plan.source.at.line();
        let taken: u32 = all.iter().filter(|one| one.place.line == line).map(|one| one.shared.taken).sum();
        assert_eq!(taken, plan.plan.cost.wavefronts * (program.threads() / 32), "line {line}");
    }
}

#[test]
fn global_accesses_have_their_widths() {
    let all = emitted(&program()).unwrap();
    let global = |work: Work| {
        let found = all.iter().filter(|one| one.work == work);
        found.map(|one| (one.bytes, one.vector, one.instructions)).collect::<Vec<_>>()
    };
    assert_eq!(global(Work::GlobalLoad), [(16, 4, 2)]);
    assert!(global(Work::GlobalStore).contains(&(16, 4, 4)), "{:?}", global(Work::GlobalStore));
}
