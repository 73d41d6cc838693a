//! What a launch counts.

use quadpair::Backend;
use quadpair::sim::{Counters, Simulator};

use crate::harness::{Launch, kernel};

/// The counts of a body with one output parameter.
fn counts(launch: Launch, body: &str) -> Counters {
    let mut out = vec![0_u32; 4096];
    launch.run(&kernel(".param .u64 out", body), vec![Simulator::pointer_mut(&mut out)]).unwrap()
}

/// The shared wavefronts and the fewest possible ones of a load, where `%r1` is each lane's address.
fn wavefronts(address: &str, load: &str) -> (u64, u64) {
    // All of shared memory is written first, a word a lane at a time: one wavefront each.
    let fill = "mov.u32 %r2, 0;\n$L1:\nshl.b32 %r3, %r0, 2;\nadd.u32 %r3, %r3, %r2;\nst.shared.b32 [%r3], %r0;\nadd.u32 %r2, %r2, 128;\n\
                setp.lt.u32 %p1, %r2, 8192;\n@%p1 bra $L1;";
    let counters = counts(Launch { blocks: 1, threads: 32, shared: 8192 }, &format!("{fill}\n{address}\n{load}"));
    assert_eq!((counters.shared_store, counters.shared_load), (64, 1));
    (counters.shared_wavefronts - 64, counters.shared_ideal - 64)
}

const WORD: &str = "ld.shared.b32 %r4, [%r1];";
const HALF: &str = "ld.shared.b16 %h4, [%r1];";
const LONG: &str = "ld.shared.b64 %rd4, [%r1];";
const PAIR: &str = "ld.shared.v2.b32 {%r4, %r5}, [%r1];";
const FOUR: &str = "ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r1];";

#[test]
fn wavefronts_follow_the_banks() {
    // Lanes a given distance apart, in bytes.
    for (stride, load, expected) in [
        (4, WORD, (1, 1)),
        (0, WORD, (1, 1)),
        (8, WORD, (2, 1)),
        (16, WORD, (4, 1)),
        (128, WORD, (32, 1)),
        (132, WORD, (1, 1)),
        (2, HALF, (1, 1)),
        (64, HALF, (16, 1)),
        // Half a warp a pass: 8 bytes apart is free, 16 bytes apart two lanes share each bank.
        (8, LONG, (2, 2)),
        (8, PAIR, (2, 2)),
        (0, PAIR, (2, 2)),
        (16, PAIR, (4, 2)),
        (128, PAIR, (32, 2)),
        // A quarter of it.
        (16, FOUR, (4, 4)),
        (32, FOUR, (8, 4)),
        (128, FOUR, (32, 4)),
        (0, FOUR, (4, 4)),
        (144, FOUR, (4, 4)),
    ] {
        let address = format!("mul.lo.u32 %r1, %r0, {stride};");
        assert_eq!(wavefronts(&address, load), expected, "stride {stride} of {load}");
    }
}

#[test]
fn lanes_that_share_words_share_wavefronts() {
    // Eight words, four lanes each.
    assert_eq!(wavefronts("and.b32 %r1, %r0, 28;", WORD), (1, 1));
    // Two words of one bank, sixteen lanes each.
    assert_eq!(wavefronts("and.b32 %r1, %r0, 1;\nshl.b32 %r1, %r1, 7;", WORD), (2, 1));
    // An XOR swizzle of a column of 32 rows.
    assert_eq!(wavefronts("mul.lo.u32 %r1, %r0, 132;\nand.b32 %r1, %r1, 0xfff;", WORD), (1, 1));
}

#[test]
fn inactive_lanes_take_no_wavefronts() {
    let some = |lanes: u32, load: &str| {
        let address = format!("mul.lo.u32 %r1, %r0, 128;\nsetp.lt.u32 %p2, %r0, {lanes};");
        wavefronts(&address, &format!("@%p2 {load}"))
    };
    assert_eq!(some(5, WORD), (5, 1));
    assert_eq!(some(8, FOUR), (8, 1));
    assert_eq!(some(9, FOUR), (9, 2));
    assert_eq!(some(0, WORD), (0, 0));
}

/// Sectors and bytes of a load by one warp, its lanes a distance apart and a first byte.
fn sectors(stride: u32, first: u32, load: &str) -> (u64, u64) {
    let body =
        format!("mul.wide.u32 %rd1, %r0, {stride};\nadd.s64 %rd1, %rd1, %rd0;\nadd.s64 %rd1, %rd1, {first};\n{load}");
    let counters = counts(Launch::threads(32), &body);
    assert_eq!(counters.global_load, 1);
    (counters.global_sectors, counters.global_bytes)
}

#[test]
fn sectors_of_global_memory() {
    let word = "ld.global.b32 %r1, [%rd1];";
    let four = "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1];";
    assert_eq!(sectors(4, 0, word), (4, 128));
    // One sector more where the first is cut.
    assert_eq!(sectors(4, 16, word), (5, 128));
    assert_eq!(sectors(8, 0, word), (8, 128));
    assert_eq!(sectors(32, 0, word), (32, 128));
    assert_eq!(sectors(256, 0, word), (32, 128));
    assert_eq!(sectors(0, 0, word), (1, 128));
    assert_eq!(sectors(16, 0, four), (16, 512));
    assert_eq!(sectors(64, 0, four), (32, 512));
}

#[test]
fn every_run_counts_the_same() {
    let body = "mov.u32 %r1, %ctaid.x;\nshl.b32 %r2, %r0, 3;\nst.shared.b32 [%r2], %r1;\nbar.sync 0;\nmov.u32 %r3, 0;\n\
                $L1:\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r0;\n@%p1 bra $L1;\nld.shared.b32 %r4, [%r2];\n\
                atom.global.add.u32 %r5, [%rd0], %r4;";
    let launch = Launch { blocks: 64, threads: 96, shared: 768 };
    let first = counts(launch, body);
    assert!((1..8).all(|_| counts(launch, body) == first));
    assert_eq!((first.barrier, first.global_store, first.shared_wavefronts), (64 * 3, 64 * 3, 64 * 3 * 4));
}

#[test]
fn every_class_is_counted() {
    let body = "mov.u32 %r1, 3;\nadd.u32 %r1, %r1, 1;\ncvt.rn.f32.u32 %f1, %r1;\nadd.f32 %f1, %f1, %f1;\nex2.approx.f32 %f1, %f1;\n\
                shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;\nst.shared.u32 [dynamic], %r1;\nld.shared.u32 %r2, [dynamic];\nbar.sync 0;\n\
                bar.warp.sync -1;\nbra $L1;\n$L1:\nst.global.u32 [%rd0], %r2;\nld.global.u32 %r3, [%rd0];";
    let mut out = [0_u32];
    let launch = Launch { blocks: 3, threads: 32, shared: 4 };
    let counters = launch.run(&kernel(".param .u64 out", body), vec![Simulator::pointer_mut(&mut out)]).unwrap();
    let expected = [
        ("mma", 0),
        ("float", 1),
        ("integer", 1),
        ("conversion", 1),
        ("special", 1),
        ("shuffle", 1),
        ("global_load", 1),
        ("global_store", 1),
        ("shared_load", 1),
        ("shared_store", 1),
        ("barrier", 1),
        ("warp_sync", 1),
        ("branch", 2),
        // The parameter, the thread's number, and a move.
        ("other", 3),
        ("shared_wavefronts", 2),
        ("shared_ideal", 2),
        ("global_sectors", 2),
        ("global_bytes", 256),
    ];
    assert_eq!(counters.fields().collect::<Vec<_>>(), expected.map(|(name, count)| (name, 3 * count)));
}
