//! Loops that load ahead: what they compute, in which order they load, and what becomes of variables of outside.

use std::sync::OnceLock;

use quadpair::Instance;
use quadpair::prelude::*;
use quadpair::sim::Simulator;
use quadpair_profiles::Profile;

fn simulator() -> &'static Simulator {
    static SIMULATOR: OnceLock<Simulator> = OnceLock::new();
    SIMULATOR.get_or_init(|| Simulator::new(&Profile::by_name("volta").expect("volta is shipped")))
}

const LANES: Layout = blocked([32], [1], [32], [1], [0]);

/// Stores `count` numbers and their sum, `depth` ahead: `log` gets what was done in which order, loads as i, uses as
/// 100 + i.
#[kernel(grid = [1])]
fn unrolled(log: PtrMut<i32>, #[comptime] first: usize, #[comptime] count: usize, #[comptime] depth: usize) {
    let mut at = log + arange(LANES) * 0;
    for (i, x) in pipelined(first..first + count, depth, |i| {
        store(at, full::<i32>(LANES, i as i32));
        at = at + 1;
        scalar::<i32>(i as i32)
    }) {
        store(at, full::<i32>(LANES, 100 + i as i32) + (x - i) * 1000);
        at = at + 1;
    }
}

/// The order in which a loop does things.
fn order(first: i32, count: i32, depth: i32) -> Vec<i32> {
    let last = first + count;
    let mut done: Vec<i32> = (first..last.min(first + depth)).collect();
    for i in first..last {
        done.extend((i + depth < last).then_some(i + depth));
        done.push(100 + i);
    }
    done
}

#[test]
fn a_comptime_range_loads_so_far_ahead_and_not_behind_its_end() {
    for (first, count, depth) in [(0, 4, 1), (3, 5, 2), (0, 2, 7), (0, 1, 1), (0, 0, 1), (0, 20, 3)] {
        let mut log = vec![0; 2 * count];
        let instance = Instance::new("unrolled", Unrolled { first, count, depth });
        instance.launch(simulator(), UnrolledArgs { log: &mut log[..] }).unwrap();
        assert_eq!(log, order(first as i32, count as i32, depth as i32), "{count} by {depth}");
    }
}

/// The same with a run-time range: what is loaded behind its end is a value, not an access.
#[kernel(grid = [1])]
fn looped(log: PtrMut<i32>, count: i32, step: i32, #[comptime] depth: usize) {
    let mut at = log + arange(LANES) * 0;
    let mut loads = scalar::<i32>(0);
    for (i, [x, number]) in pipelined((0..count).step_by(step), depth, |i| {
        loads = loads + 1;
        [i, loads]
    }) {
        store(at, full::<i32>(LANES, x));
        store(at + 1, full::<i32>(LANES, number));
        store(at + 2, full::<i32>(LANES, loads));
        at = at + 3 + (i - x);
    }
    store(at, full::<i32>(LANES, loads));
}

#[test]
fn a_run_time_range_carries_what_is_ahead() {
    for (count, step, depth) in [(5, 1, 1), (7, 2, 3), (1, 1, 2), (0, 1, 1)] {
        let rounds = (count + step - 1) / step;
        let mut log = vec![-1; 3 * rounds as usize + 1];
        let instance = Instance::new("looped", Looped { depth: depth as usize });
        instance.launch(simulator(), LoopedArgs { log: &mut log[..], count, step }).unwrap();
        let mut expected: Vec<i32> = (0..rounds).flat_map(|i| [i * step, i + 1, i + 1 + depth]).collect();
        expected.push(rounds + depth);
        assert_eq!(log, expected, "{count} by {step}, {depth} ahead");
    }
}

/// Rows of 64 numbers, 16 at a time through two stages of shared memory, summed 4 columns after 4.
#[kernel(grid = [1])]
fn staged(x: Ptr<f32>, sums: PtrMut<f32>, pieces: i32, #[comptime] depth: usize) {
    let whole = blocked([64, 16], [1, 4], [8, 4], [2, 1], [1, 0]);
    let part = blocked([64, 4], [1, 4], [32, 1], [2, 1], [1, 0]);
    let memory = SharedLayout::between(&whole, &part, 32);
    let stages = [shared::<f32>(memory), shared::<f32>(memory)];
    let row = arange(whole.slice(1)).expand_dims(1);
    let element = x + row * (pieces * 16) + arange(whole.slice(0)).expand_dims(0);
    let mut fetched = load_masked(element, 0 < pieces, 0.0);
    let mut acc = zeros::<f32>(part);
    for ((at, step), columns) in pipelined(((0..pieces).step_by(2), 0..8), depth, |(at, step)| {
        let stage = step / 4;
        if step % 4 == 0 {
            stages[stage].store(fetched);
            barrier();
            fetched = load_masked(element + (at + stage + 1) * 16, at + stage + 1 < pieces, 0.0);
        }
        stages[stage].slice(1, step % 4 * 4, 4).load(part)
    }) {
        acc = acc + select(at + step / 4 < pieces, columns, 1000.0);
    }
    store(sums + arange(part.slice(1)), acc.reduce_sum(1));
}

#[test]
fn loads_go_on_across_the_rounds_of_two_ranges() {
    for depth in [1, 3] {
        for pieces in [1, 2, 5, 6_i32] {
            let length = 64 * 16 * pieces as usize;
            let x: Vec<f32> = (0..length).map(|i| (i * 7 % 13) as f32).collect();
            let mut sums = vec![0.0; 64];
            let args = StagedArgs { x: &x[..], sums: &mut sums[..], pieces };
            Instance::new("staged", Staged { depth }).launch(simulator(), args).unwrap();
            let behind = if pieces % 2 == 1 { 16.0 * 1000.0 } else { 0.0 };
            let expected: Vec<f32> = x.chunks(length / 64).map(|row| row.iter().sum::<f32>() + behind).collect();
            assert_eq!(sums, expected, "{pieces} pieces, {depth} ahead");
        }
    }
}

/// A function that only does something gives nothing, so that nothing is carried.
#[kernel(grid = [1])]
fn effects(x: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let ring = shared::<f32>(row_major([4, 32]));
    for (i, ()) in pipelined(0..n, 2, |i| {
        ring.index(i % 4).store(load_masked(x + i * 32 + arange(LANES), i < n, 0.0));
        barrier();
    }) {
        store(out + i * 32 + arange(LANES), ring.index(i % 4).load(LANES) * 2.0);
    }
}

#[test]
fn a_function_may_give_nothing() {
    let x: Vec<f32> = (0..7 * 32).map(|i| i as f32).collect();
    let mut out = vec![0.0; x.len()];
    let instance = Instance::new("effects", Effects {});
    instance.launch(simulator(), EffectsArgs { x: &x[..], out: &mut out[..], n: 7 }).unwrap();
    assert!(out.iter().zip(&x).all(|(out, x)| *out == 2.0 * x));
}

/// `continue` and `break` leave the body of an unrolled loop as they do any other's.
#[kernel(grid = [1])]
fn left_early(out: PtrMut<i32>) {
    let mut sum = scalar::<i32>(0);
    for (i, x) in pipelined(0..10, |i| scalar::<i32>(i)) {
        if i == 2 {
            continue;
        }
        if i == 5 {
            break;
        }
        sum = sum + x;
    }
    store(out + arange(LANES), full::<i32>(LANES, sum));
}

#[test]
fn jumps_leave_the_body() {
    let mut out = vec![0; 32];
    Instance::new("left_early", LeftEarly {}).launch(simulator(), LeftEarlyArgs { out: &mut out[..] }).unwrap();
    assert_eq!(out, vec![8; 32]);
}
