//! Branches that each warp takes for itself.

use quadpair::Backend;
use quadpair::inspect::emitted::{Work, emitted};
use quadpair::prelude::*;
use quadpair::sim::Simulator;
use quadpair_profiles::Profile;

const TILE: Layout = blocked([4, 64], [1, 2], [1, 32], [4, 1], [1, 0]);

/// A row a warp. Where any element of a row is above the limit, the whole row is halved.
#[kernel(grid = [1])]
fn halve_rows(x: Ptr<f32>, out: PtrMut<f32>, limit: f32) {
    let row = arange(TILE.slice(1)).expand_dims(1);
    let place = row * 64 + arange(TILE.slice(0)).expand_dims(0);
    let mut values = load(x + place);
    let mut halved = zeros::<f32>(TILE.slice(1));
    if warp_any(values > limit) {
        values = values * 0.5;
        halved = halved + 1.0;
    }
    store(out + place, values + halved.expand_dims(1));
}

instances! { HALVE_ROWS = HalveRows {}; }

#[test]
fn a_warp_decides_for_its_own_elements() {
    let mut x = vec![1.0; 256];
    x[64 + 17] = 5.0;
    x[3 * 64] = 6.0;
    let mut out = vec![f32::NAN; 256];
    let simulator = Simulator::new(&Profile::by_name("volta").expect("a shipped profile"));
    let args = HalveRowsArgs { x: x.as_slice(), out: out.as_mut_slice(), limit: 4.0 };
    HALVE_ROWS.launch(&simulator, args).expect("the kernel is right");
    for (i, (&before, &after)) in x.iter().zip(&out).enumerate() {
        let wanted = if i / 64 % 2 == 1 { before * 0.5 + 1.0 } else { before };
        assert_eq!(after, wanted, "element {i}");
    }
}

/// A row a warp. Where any element of a row is above the limit, the row is divided by its largest.
#[kernel(grid = [1])]
fn shrink_rows(x: Ptr<f32>, out: PtrMut<f32>, limit: f32) {
    let row = arange(TILE.slice(1)).expand_dims(1);
    let place = row * 64 + arange(TILE.slice(0)).expand_dims(0);
    let mut values = load(x + place);
    let largest = values.thread_max(1);
    if warp_any(largest > limit) {
        // A row is one warp's, so that no other is waited for.
        values = values / largest.reduce_max(1).expand_dims(1);
    }
    store(out + place, values);
}

instances! { SHRINK_ROWS = ShrinkRows {}; }

#[test]
fn lanes_of_a_warp_combine_what_they_have_in_its_branch() {
    let x: Vec<f32> = (0..256).map(|i| (i * 37 % 64) as f32 / if i / 64 == 2 { 16.0 } else { 8.0 }).collect();
    let mut out = vec![f32::NAN; 256];
    let simulator = Simulator::new(&Profile::by_name("volta").expect("a shipped profile"));
    let args = ShrinkRowsArgs { x: x.as_slice(), out: out.as_mut_slice(), limit: 4.0 };
    let report = SHRINK_ROWS.launch(&simulator, args).expect("the kernel is right");
    for (i, (&before, &after)) in x.iter().zip(&out).enumerate() {
        // The largest of 0 to 63 in each row.
        let wanted = if i / 64 == 2 { before } else { before / (63.0 / 8.0) };
        assert_eq!(after, wanted, "element {i}");
    }
    // Five rounds of three warps, and a vote of each; what a thread has needs none.
    assert_eq!(report.counters.expect("a simulator counts").shuffle, 3 * 5 + 4);
}

/// What a branch votes with is counted where it stands, as a run counts it.
#[test]
fn votes_are_counted_with_the_shuffles() {
    let simulator = Simulator::new(&Profile::by_name("volta").expect("a shipped profile"));
    let program = HALVE_ROWS.program(simulator.target()).expect("the kernel is right");
    let emitted = emitted(&program).expect("its own text");
    let votes: u32 = emitted.iter().filter(|one| one.work == Work::Shuffle).map(|one| one.instructions).sum();
    let (x, mut out) = (vec![1.0; 256], vec![0.0; 256]);
    let args = HalveRowsArgs { x: x.as_slice(), out: out.as_mut_slice(), limit: 4.0 };
    let counters =
        HALVE_ROWS.launch(&simulator, args).expect("the kernel is right").counters.expect("a simulator counts");
    assert_eq!((votes, counters.shuffle), (1, 4));
}
