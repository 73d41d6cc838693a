//! One fault a test, held by what it says.

use quadpair::sim::{FaultKind, SimError, Simulator};
use quadpair::{Backend, Scalar};

use crate::harness::{Launch, kernel, store};

/// The message of the only fault of a body.
fn message(launch: Launch, body: &str) -> String {
    launch.fault(body).to_string()
}

fn shared(threads: u32) -> Launch {
    Launch { blocks: 1, threads, shared: 256 }
}

#[track_caller]
fn ends(message: &str, end: &str) {
    assert!(message.ends_with(end), "\n{message}\ndoesn't end in\n{end}");
}

#[test]
fn a_fault_names_kernel_line_block_thread_and_instruction() {
    let body =
        ".loc 1 12 9\nmul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd1, %rd1, %rd0;\n.loc 1 13 5\nst.global.u32 [%rd1], %r0;";
    let message = message(Launch { blocks: 1, threads: 96, shared: 0 }, body);
    assert_eq!(
        message,
        "kernel `k` at kernel.rs:13:5, block [0, 0, 0], thread 64: `st.global.u32 [%rd1], %r0;` writes 4 bytes at \
         0x110000100, 0 bytes past the end of parameter `out`, which has 256 bytes"
    );
}

#[test]
fn reads_before_a_buffer() {
    ends(
        &message(Launch::threads(1), "ld.global.u64 %rd1, [%rd0+-24];"),
        "24 bytes before the start of parameter `out`, which has 256 bytes",
    );
}

#[test]
fn reads_across_the_end() {
    let body = "ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%rd0+248];";
    let fault = Launch::threads(1).fault(body);
    // 248 is no multiple of 16, which is what fails first on a GPU too.
    assert!(matches!(fault.kind, FaultKind::Misaligned { bytes: 16, .. }), "{fault}");
    let text = kernel(".param .u64 out", "ld.global.u32 %r1, [%rd0+4];");
    let mut out = [0_u16; 3];
    let Err(SimError::Fault(fault)) = Launch::threads(1).run(&text, vec![Simulator::pointer_mut(&mut out)]) else {
        panic!("no fault");
    };
    ends(&fault.to_string(), "across the end of parameter `out`: at byte 4 of 6");
}

#[test]
fn writes_to_read_only_memory() {
    let text = kernel(".param .u64 out", "st.global.u32 [%rd0], %r0;");
    let Err(SimError::Fault(fault)) = Launch::threads(1).run(&text, vec![Simulator::pointer(&[0_u32])]) else {
        panic!("no fault");
    };
    ends(&fault.to_string(), "into parameter `out`, which is passed to be read only");
}

#[test]
fn null_pointers() {
    let text = kernel(".param .u64 out", "ld.global.u32 %r1, [%rd0+8];");
    let null = Simulator::pointer_option::<u32>(None);
    let Err(SimError::Fault(fault)) = Launch::threads(1).run(&text, vec![null]) else {
        panic!("no fault");
    };
    ends(&fault.to_string(), "accesses 4 bytes at 0x8, through a null pointer; null parameters: `out`");
}

#[test]
fn misaligned_accesses() {
    ends(&message(Launch::threads(1), "ld.global.u32 %r1, [%rd0+6];"), "which is 2 past a multiple of 4");
    ends(
        &message(shared(1), "mov.u32 %r1, 8;\nst.shared.v4.b32 [%r1], {%r0, %r0, %r0, %r0};"),
        "16 bytes of shared memory at 0x8, which is 8 past a multiple of 16",
    );
}

#[test]
fn shared_memory_out_of_bounds() {
    ends(
        &message(shared(1), "st.shared.u32 [dynamic+256], %r0;"),
        "writes 4 bytes of shared memory at 0x100; the block has 256 bytes",
    );
    ends(&message(shared(1), "mov.u64 %rd1, -4;\nld.shared.u32 %r2, [%rd1];"), "the block has 256 bytes");
    ends(
        &message(shared(1), "mov.u32 %r1, -4;\nld.shared.u32 %r2, [%r1];"),
        "reads 4 bytes of shared memory at 0xfffffffc; the block has 256 bytes",
    );
}

#[test]
fn shared_memory_that_nobody_wrote() {
    let body = "st.shared.u16 [dynamic], %h1;";
    let body = format!("cvt.u16.u32 %h1, %r0;\n{body}\nld.shared.u32 %r1, [dynamic];");
    ends(&message(shared(1), &body), "reads 4 bytes of shared memory at 0x0, which no thread of the block has written");
}

/// Every thread writes its word of shared memory; a barrier; then warp 0 does `first` and warp 1 `second`, where `%r1` is
/// the address of the thread's word and `%r2` that of the other warp's.
fn two_warps(first: &str, second: &str) -> String {
    format!(
        "shl.b32 %r1, %r0, 2;\nxor.b32 %r2, %r1, 128;\nst.shared.b32 [%r1], %r0;\nbar.sync 0;\nsetp.lt.u32 %p1, %r0, 32;\n\
         .loc 1 7 2\n@%p1 {first}\n.loc 1 9 4\n@!%p1 {second}\nbar.sync 0;"
    )
}

#[test]
fn a_read_races_with_a_write() {
    let body = two_warps("st.shared.b32 [%r1], %r0;", "ld.shared.b32 %r3, [%r2];");
    ends(
        &message(shared(64), &body),
        "thread 32: `@!%p1 ld.shared.b32 %r3, [%r2];` races for the byte of shared memory at 0x0: warp 0 writes it with \
         `@%p1 st.shared.b32 [%r1], %r0;` at kernel.rs:7:2, and warp 1 reads it with `@!%p1 ld.shared.b32 %r3, [%r2];` at \
         kernel.rs:9:4, with no barrier between",
    );
}

#[test]
fn a_write_races_with_a_read() {
    let body = two_warps("ld.shared.b32 %r3, [%r2];", "st.shared.b32 [%r1], %r0;");
    ends(
        &message(shared(64), &body),
        "at 0x80: warp 0 reads it with `@%p1 ld.shared.b32 %r3, [%r2];` at kernel.rs:7:2, and warp 1 writes it with \
         `@!%p1 st.shared.b32 [%r1], %r0;` at kernel.rs:9:4, with no barrier between",
    );
}

#[test]
fn reads_do_not_race() {
    let body = two_warps("ld.shared.b32 %r3, [%r2];", "ld.shared.b32 %r3, [%r1];");
    assert_eq!(shared(64).words(&format!("{body}\n{}", store("%r3")), 64)[..3], [32, 33, 34]);
}

#[test]
fn two_writes_race() {
    let fault = shared(64).fault("st.shared.b32 [dynamic], %r0;");
    ends(&fault.to_string(), "with no barrier between");
    // In one instruction of one warp as well, unless they agree.
    let fault = shared(2).fault("st.shared.b32 [dynamic], %r0;");
    let FaultKind::SharedRace { first, second, .. } = &fault.kind else { panic!("{fault}") };
    assert_eq!((first.lane, second.lane), (Some(0), Some(1)));
    assert_eq!(shared(32).words("mov.u32 %r1, 4;\nst.shared.b32 [dynamic], %r1;", 1), [0]);
}

#[test]
fn neighbouring_halves_race_by_their_own_instructions() {
    // Both warps write their half of a word, then warp 1 reads warp 0's: the race names warp 0's store.
    let body = "cvt.u16.u32 %h1, %r0;\nmov.u32 %r1, 0;\nmov.u16 %h2, 5;\nsetp.lt.u32 %p1, %r0, 32;\n@%p1 st.shared.u32 [dynamic], %r1;\n\
                bar.sync 0;\n@%p1 bra $L1;\nst.shared.u16 [dynamic+2], %h2;\nld.shared.u16 %h1, [dynamic];\nbra $L2;\n\
                $L1:\nst.shared.u16 [dynamic], %h2;\n$L2:\nbar.sync 0;";
    let fault = shared(64).fault(body);
    let FaultKind::SharedRace { first, .. } = &fault.kind else { panic!("{fault}") };
    assert_eq!(first.instruction, "st.shared.u16 [dynamic], %h2;");
}

#[test]
fn an_atomic_races_with_a_plain_access() {
    let add = "atom.shared.add.u32 %r3, [dynamic], 1;";
    for plain in ["ld.shared.b32 %r3, [dynamic];", "st.shared.b32 [dynamic], 1;"] {
        for body in [two_warps(add, plain), two_warps(plain, add)] {
            assert!(matches!(shared(64).fault(&body).kind, FaultKind::SharedRace { .. }));
        }
    }
    let body = format!("{}\nld.shared.u32 %r3, [dynamic];\n{}", two_warps(add, add), store("%r3"));
    assert_eq!(shared(64).words(&body, 64), [64; 64]);
}

#[test]
fn barriers_need_every_thread() {
    let half = "setp.lt.u32 %p1, %r0, 16;\n@%p1 bra $L1;\nbar.sync 0;\n$L1:\nret;";
    ends(
        &message(Launch::threads(32), half),
        "is reached by 16 of the warp's 32 threads (lanes 0xffff0000 of 0xffffffff); a barrier needs them all",
    );
    let gone = "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra $L1;\nbar.sync 0;\n$L1:\nret;";
    ends(&message(Launch::threads(64), gone), "waits for ever: warps [1] are there, warps [0] have exited");
    let other = "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra $L1;\nbar.sync 0;\nret;\n$L1:\nbar.sync 1;";
    ends(&message(Launch::threads(64), other), "warps [0] are there, warps [1] wait at another barrier");
}

#[test]
fn warp_instructions_need_their_lanes() {
    let guard = "setp.lt.u32 %p1, %r0, 16;\n";
    let needs = "needs the lanes 0xffffffff, but is executed by 0x0000ffff";
    let threads = Launch::threads(32);
    ends(&message(threads, &format!("{guard}@%p1 shfl.sync.idx.b32 %r1, %r0, 0, 31, -1;")), needs);
    ends(&message(threads, &format!("{guard}@%p1 vote.sync.any.pred %p2, %p1, -1;")), needs);
    ends(&message(threads, &format!("{guard}@%p1 bar.warp.sync -1;")), needs);
    let zero: String = (0..8).map(|i| format!("mov.f32 %f{i}, 0f00000000;\n")).collect();
    let list = "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}";
    let mma = format!("mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {list}, {{%r0, %r0}}, {{%r0, %r0}}, {list};");
    ends(&message(threads, &format!("{zero}{guard}@%p1 {mma}")), needs);
    let outside = "setp.lt.u32 %p1, %r0, 16;\n@%p1 shfl.sync.idx.b32 %r1, %r0, 20, 31, 0xffff;";
    ends(&message(threads, outside), "reads from lane 20, which is not among its lanes 0x0000ffff");
}

#[test]
fn traps_speak_with_the_authors_words() {
    let body = "setp.lt.u32 %p1, %r0, 3;\n@%p1 bra $L1;\n// the index must stay below three\ntrap;\n$L1:\nret;";
    let message = message(Launch::threads(32), body);
    ends(&message, "thread 3: `trap;` stops the program: the index must stay below three");
}

#[test]
fn registers_that_were_never_written() {
    ends(
        &message(Launch::threads(1), "add.u32 %r2, %r1, 1;"),
        "`add.u32 %r2, %r1, 1;` reads %r1, which was never written",
    );
    // In one branch only.
    let body = "setp.lt.u32 %p1, %r0, 7;\n@%p1 mov.u32 %r1, 1;\nadd.u32 %r2, %r1, 1;";
    assert_eq!(Launch::threads(32).fault(body).thread, 7);
}

#[test]
fn guards_are_read_too() {
    ends(&message(Launch::threads(1), "@%p3 mov.u32 %r1, 1;"), "reads %p3, which was never written");
}

#[test]
fn launches_are_checked() {
    let text = kernel(".param .u64 out", "");
    let run = |launch: Launch, args| launch.run(&text, args).unwrap_err().to_string();
    assert_eq!(run(Launch::threads(1), vec![]), "kernel `k` takes 1 arguments, the launch gives 0");
    let scalar = vec![Simulator::scalar(Scalar::I32(1))];
    assert_eq!(
        run(Launch::threads(1), scalar),
        "parameter `out` of kernel `k` is a .u64 of 8 bytes, its argument has 4"
    );
    let null = || vec![Simulator::pointer_option::<u32>(None)];
    assert_eq!(run(Launch::threads(2000), null()), "kernel `k` asks for 2000 threads a block; the target has 1024");
    let shared = Launch { blocks: 1, threads: 1, shared: 100_000 };
    assert_eq!(run(shared, null()), "kernel `k` asks for 100000 bytes of shared memory a block; the target has 98304");
    assert_eq!(run(Launch::threads(0), null()), "kernel `k` is launched with no threads a block");
}

#[test]
fn the_first_block_speaks() {
    let body = "mov.u32 %r1, %ctaid.x;\nsetp.ge.u32 %p1, %r1, 3;\n@!%p1 bra $L1;\ntrap;\n$L1:";
    let fault = Launch { blocks: 40, threads: 32, shared: 0 }.fault(body);
    assert_eq!(fault.block, [3, 0, 0]);
}

#[test]
fn lanes_name_themselves() {
    let body = "shfl.sync.idx.b32 %r1, %r0, 0, 31, 0xffff;";
    ends(&message(Launch::threads(32), body), "needs the lanes 0x0000ffff, but is executed by 0xffffffff");
}

#[test]
fn registers_fit_their_instructions() {
    let error = |body| {
        let text = kernel(".param .u64 out", body);
        Launch::threads(1).run(&text, vec![Simulator::pointer(&[0_u32])]).unwrap_err().to_string()
    };
    let wrong = error("add.u64 %r1, %rd0, %rd0;");
    assert_eq!(wrong, "kernel `k`: instruction 3 has a register of another width than its instruction's type");
    let wrong = error("add.u32 %r1, %p0, 1;");
    assert_eq!(wrong, "kernel `k`: instruction 3 has a predicate where a number should be");
}

#[test]
fn what_is_not_reached_may_be_unsupported() {
    let limit = "can't be simulated: memory of this state space (a limit of the simulator)";
    ends(&message(Launch::threads(1), "ld.const.u32 %r1, [%rd0];"), limit);
    Launch::threads(1).words("ret;\nld.const.u32 %r1, [%rd0];", 1);
}
