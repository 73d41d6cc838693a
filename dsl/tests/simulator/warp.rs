//! Shuffles, votes, divergence and barriers.

use quadpair::Backend;
use quadpair::sim::Simulator;

use crate::harness::{Launch, kernel, store};

/// Where `shfl` reads from, as the manual has it, and whether that is in range.
fn source(mode: &str, lane: i32, b: i32, c: i32) -> (i32, bool) {
    let (limit, segment) = (c & 31, c >> 8 & 31);
    let (b, max, min) = (b & 31, (lane & segment) | (limit & !segment), lane & segment);
    let (j, inside) = match mode {
        "up" => (lane - b, lane - b >= max),
        "down" => (lane + b, lane + b <= max),
        "bfly" => (lane ^ b, (lane ^ b) <= max),
        _ => (min | (b & !segment & 31), (min | (b & !segment & 31)) <= max),
    };
    if inside { (j, true) } else { (lane, false) }
}

#[test]
fn shuffles() {
    for mode in ["up", "down", "bfly", "idx"] {
        for segment in [0, 16, 24, 28] {
            for (b, limit) in
                [0, 1, 2, 3, 5, 8, 16, 31].into_iter().flat_map(|b| [0, 3, 7, 20, 31].map(|limit| (b, limit)))
            {
                let c = segment << 8 | limit;
                let body = format!(
                    "mul.lo.u32 %r1, %r0, 5;\nshfl.sync.{mode}.b32 %r2|%p1, %r1, {b}, {c}, -1;\nselp.u32 %r3, 1000, 0, %p1;\n\
                     add.u32 %r2, %r2, %r3;\n{}",
                    store("%r2")
                );
                let expected: Vec<u32> = (0..32)
                    .map(|lane| source(mode, lane, b, c))
                    .map(|(from, inside)| from as u32 * 5 + if inside { 1000 } else { 0 })
                    .collect();
                assert_eq!(Launch::threads(32).words(&body, 32), expected, "{mode} {b} {c:#x}");
            }
        }
    }
}

#[test]
fn votes() {
    let run = |condition: &str, vote: &str| {
        let text = format!("setp.{condition};\n{vote}\n{}", store("%r2"));
        Launch::threads(32).words(&text, 32)
    };
    let holds = |mode: &str, condition: &str| {
        let vote = format!("vote.sync.{mode}.pred %p2, %p1, -1;\nselp.u32 %r2, 1, 0, %p2;");
        let all = run(condition, &vote);
        assert!(all.iter().all(|own| *own == all[0]));
        all[0] == 1
    };
    for (condition, any, all) in [
        ("lt.u32 %p1, %r0, 99", true, true),
        ("lt.u32 %p1, %r0, 3", true, false),
        ("gt.u32 %p1, %r0, 99", false, false),
    ] {
        assert_eq!((holds("any", condition), holds("all", condition)), (any, all));
        assert_eq!(holds("uni", condition), any == all);
    }
    assert_eq!(run("lt.u32 %p1, %r0, 3", "vote.sync.ballot.b32 %r2, %p1, -1;")[9], 7);
    assert_eq!(run("lt.u32 %p1, %r0, 3", "vote.sync.ballot.b32 %r2, !%p1, -1;")[9], !7);
}

#[test]
fn special_registers_know_the_place() {
    let names =
        ["laneid", "warpid", "lanemask_lt", "lanemask_le", "lanemask_eq", "lanemask_ge", "lanemask_gt", "ntid.x"];
    for (i, name) in names.iter().enumerate() {
        let words = Launch::threads(96).words(&format!("mov.u32 %r1, %{name};\n{}", store("%r1")), 96);
        for (thread, word) in words.into_iter().enumerate() {
            let lane = thread as u32 % 32;
            let at = 1_u64 << lane;
            let masks = [at - 1, 2 * at - 1, at, !(at - 1), !(2 * at - 1)].map(|mask| mask as u32);
            let expected = [lane, thread as u32 / 32, masks[0], masks[1], masks[2], masks[3], masks[4], 96][i];
            assert_eq!(word, expected, "{name} of thread {thread}");
        }
    }
}

#[test]
fn blocks_know_their_place() {
    let body = "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %nctaid.x;\nmul.wide.u32 %rd1, %r1, 4;\nadd.s64 %rd1, %rd1, %rd0;\nmad.lo.u32 %r3, %r2, 100, %r1;\n\
                st.global.u32 [%rd1], %r3;";
    let mut out = [0_u32; 7];
    let launch = Launch { blocks: 7, threads: 1, shared: 0 };
    launch.run(&kernel(".param .u64 out", body), vec![Simulator::pointer_mut(&mut out)]).unwrap();
    assert_eq!(out, [700, 701, 702, 703, 704, 705, 706]);
}

#[test]
fn diverged_lanes_meet_again() {
    // A loop of a different length in each lane, with a branch inside; afterwards all lanes vote.
    let body = format!(
        "mov.u32 %r1, 0;\nmov.u32 %r2, 0;\n\
         $L1:\nsetp.gt.u32 %p1, %r2, %r0;\n@%p1 bra $L4;\nand.b32 %r3, %r2, 1;\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra $L2;\n\
         add.u32 %r1, %r1, 100;\nbra.uni $L3;\n$L2:\nadd.u32 %r1, %r1, %r2;\n$L3:\nadd.u32 %r2, %r2, 1;\nbra $L1;\n\
         $L4:\nactivemask.b32 %r4;\nvote.sync.ballot.b32 %r5, %p1, -1;\nand.b32 %r4, %r4, %r5;\nnot.b32 %r4, %r4;\nadd.u32 %r1, %r1, %r4;\n{}",
        store("%r1")
    );
    let expected: Vec<u32> =
        (0..32_u32).map(|lane| (0..=lane).map(|i| if i % 2 == 0 { i } else { 100 }).sum()).collect();
    assert_eq!(Launch::threads(32).words(&body, 32), expected);
}

#[test]
fn lanes_exit_early() {
    let body = format!("mov.u32 %r1, 7;\nsetp.ge.u32 %p1, %r0, 5;\n@%p1 ret;\n{}", store("%r1"));
    let words = Launch::threads(32).words(&body, 32);
    assert_eq!(words.iter().filter(|word| **word == 7).count(), 5);
    // What the others do in the meantime stands behind, not before.
    let body = format!(
        "mov.u32 %r1, 7;\nsetp.lt.u32 %p1, %r0, 5;\n@%p1 bra $L1;\nret;\n$L1:\nactivemask.b32 %r1;\n{}",
        store("%r1")
    );
    assert_eq!(Launch::threads(32).words(&body, 6), [31, 31, 31, 31, 31, 0]);
}

#[test]
fn guards_leave_the_other_lanes_alone() {
    let body = format!(
        "mov.u32 %r1, 1;\nand.b32 %r2, %r0, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 mov.u32 %r1, 2;\n@!%p1 add.u32 %r1, %r1, 10;\n{}",
        store("%r1")
    );
    let expected: Vec<u32> = (0..32).map(|lane| if lane % 2 == 0 { 2 } else { 11 }).collect();
    assert_eq!(Launch::threads(32).words(&body, 32), expected);
}

#[test]
fn a_part_of_a_warp_is_a_warp() {
    let body = format!("vote.sync.ballot.b32 %r1, %p1, -1;\nbar.sync 0;\n{}", store("%r1"));
    let body = format!("setp.lt.u32 %p1, %r0, 99;\n{body}");
    assert_eq!(Launch::threads(40).words(&body, 40)[39], 0xff);
}

#[test]
fn shuffles_take_each_lanes_own_operands() {
    // A run-time lane: a warp reversed, then half of it through a mask of half of the lanes.
    let body = format!(
        "mov.u32 %r1, 31;\nsub.u32 %r1, %r1, %r0;\nmul.lo.u32 %r2, %r0, 3;\nshfl.sync.idx.b32 %r3, %r2, %r1, 31, -1;\n\
         setp.lt.u32 %p1, %r0, 16;\n@%p1 bra $L1;\nbra $L2;\n$L1:\nshfl.sync.bfly.b32 %r3, %r3, 15, 31, 0xffff;\n$L2:\n{}",
        store("%r3")
    );
    let expected: Vec<u32> = (0..32).map(|lane| 3 * (31 - if lane < 16 { lane ^ 15 } else { lane })).collect();
    assert_eq!(Launch::threads(32).words(&body, 32), expected);
}

#[test]
fn halves_of_a_warp_vote_and_shuffle_apart() {
    // In one instruction each lane names its own half of the warp.
    let body = format!(
        "setp.lt.u32 %p1, %r0, 16;\nselp.b32 %r1, 0xffff, 0xffff0000, %p1;\nand.b32 %r2, %r0, 3;\nsetp.eq.u32 %p2, %r2, 0;\n\
         vote.sync.ballot.b32 %r3, %p2, %r1;\nshfl.sync.bfly.b32 %r3, %r3, 8, 31, %r1;\n{}",
        store("%r3")
    );
    let words = Launch::threads(32).words(&body, 32);
    assert_eq!((words[0], words[15], words[16], words[31]), (0x1111, 0x1111, 0x1111_0000, 0x1111_0000));
}
