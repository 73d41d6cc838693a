//! Loads, stores, atomics and parameters.

use quadpair::Backend;
use quadpair::sim::Simulator;

use crate::harness::{Launch, kernel, sequence, store};

#[test]
fn vectors_go_through_global_memory() {
    let input: Vec<u32> = (0..512_u32).map(|i| i.wrapping_mul(0x0101_0101)).collect();
    let mut out = vec![0_u32; 512];
    let body = "ld.param.u64 %rd1, [in];\nmul.wide.u32 %rd2, %r0, 16;\nadd.s64 %rd3, %rd1, %rd2;\nadd.s64 %rd4, %rd0, %rd2;\n\
                ld.global.nc.v4.b32 {%r1, %r2, %r3, %r4}, [%rd3];\nst.global.v2.b32 [%rd4], {%r2, %r1};\n\
                ld.global.v2.f32 {%f1, %f2}, [%rd3+8];\nst.global.v2.f32 [%rd4+8], {%f2, %f1};";
    let text = kernel(".param .u64 in, .param .u64 out", body);
    let args = vec![Simulator::pointer(&input), Simulator::pointer_mut(&mut out)];
    let counters = Launch::threads(128).run(&text, args).unwrap();
    let expected: Vec<u32> = input.chunks(4).flat_map(|w| [w[1], w[0], w[3], w[2]]).collect();
    assert_eq!(out, expected);
    assert_eq!((counters.global_load, counters.global_store), (8, 8));
    // A warp's loads of 16 bytes cover 16 sectors; those of every other 8 bytes touch the same 16.
    assert_eq!(counters.global_sectors, 4 * (16 + 16 + 16 + 16));
    assert_eq!(counters.global_bytes, 128 * (16 + 8 + 8 + 8));
}

#[test]
fn narrow_accesses_extend_as_their_type_says() {
    let body = "mov.u32 %r1, 0xfedc8081;\nst.global.u32 [%rd0], %r1;\nld.global.s8 %r2, [%rd0];\nld.global.u8 %r3, [%rd0+1];\n\
                ld.global.s16 %r4, [%rd0+2];\nld.global.u16 %h1, [%rd0];\ncvt.u32.u16 %r5, %h1;\nld.global.s32 %rd5, [%rd0];\n\
                st.global.b32 [%rd0+4], %r2;\nst.global.b32 [%rd0+8], %r3;\nst.global.b32 [%rd0+12], %r4;\n\
                st.global.b32 [%rd0+16], %r5;\nst.global.u64 [%rd0+24], %rd5;\nst.global.u8 [%rd0+21], %r1;\nst.global.u16 [%rd0+22], %h1;";
    let words = Launch::threads(1).words(body, 8);
    assert_eq!(words[1..], [0xffff_ff81, 0x80, 0xffff_fedc, 0x8081, 0x8081_8100, 0xfedc_8081, 0xffff_ffff]);
}

#[test]
fn shared_memory_crosses_warps_after_a_barrier() {
    let body = format!(
        "shl.b32 %r1, %r0, 2;\nmov.u32 %r2, dynamic;\nadd.u32 %r3, %r2, %r1;\nmul.lo.u32 %r4, %r0, 3;\nst.shared.b32 [%r3], %r4;\n\
         bar.sync 0;\nxor.b32 %r5, %r0, 96;\nshl.b32 %r5, %r5, 2;\nadd.u32 %r5, %r2, %r5;\nld.shared.b32 %r6, [%r5];\n{}",
        store("%r6")
    );
    let launch = Launch { blocks: 1, threads: 128, shared: 512 };
    assert_eq!(launch.words(&body, 128), (0..128).map(|i| (i ^ 96) * 3).collect::<Vec<_>>());
}

#[test]
fn static_arrays_stand_before_dynamic_memory() {
    let body = "mov.u32 %r1, own;\nmov.u32 %r2, dynamic;\nst.global.u32 [%rd0], %r1;\nst.global.u32 [%rd0+4], %r2;\nst.shared.u32 [own+8], %r2;\n\
                ld.shared.u32 %r3, [own+8];\nst.global.u32 [%rd0+8], %r3;";
    let body = format!(".shared .align 8 .b8 first[20];\n.shared .align 16 .b8 own[12];\n{body}");
    let launch = Launch { blocks: 1, threads: 1, shared: 16 };
    assert_eq!(launch.words(&body, 3), [32, 48, 48]);
}

#[test]
fn blocks_meet_in_atomics() {
    let body = "atom.global.add.u32 %r1, [%rd0], 3;\nmov.u32 %r2, %ctaid.x;\nred.global.max.u32 [%rd0+4], %r2;\n\
                red.global.min.s32 [%rd0+8], -7;\nred.global.or.b32 [%rd0+12], 0x10;\nred.global.add.f32 [%rd0+16], 0f3F000000;\n\
                red.global.and.b32 [%rd0+20], 12;\nred.global.xor.b32 [%rd0+24], 1;";
    let mut out = vec![0, 0, 0, 1, 0, 0xff, 0];
    let text = kernel(".param .u64 out", body);
    let launch = Launch { blocks: 37, threads: 64, shared: 0 };
    launch.run(&text, vec![Simulator::pointer_mut(&mut out)]).unwrap();
    let half_sum = (37.0_f32 * 64.0 * 0.5).to_bits();
    assert_eq!(out, [37 * 64 * 3, 36, -7_i32 as u32, 0x11, half_sum, 12, 0]);
}

#[test]
fn atomics_give_the_old_value() {
    let body = format!(
        "mov.u32 %r1, 5;\nst.shared.u32 [dynamic], %r1;\natom.shared.cas.b32 %r2, [dynamic], 5, 9;\natom.shared.exch.b32 %r3, [dynamic], 11;\n\
         ld.shared.u32 %r4, [dynamic];\nmul.lo.u32 %r2, %r2, 10000;\nmad.lo.u32 %r2, %r3, 100, %r2;\nadd.u32 %r2, %r2, %r4;\n{}",
        store("%r2")
    );
    let launch = Launch { blocks: 1, threads: 1, shared: 4 };
    assert_eq!(launch.words(&body, 1), [5 * 10000 + 9 * 100 + 11]);
}

/// Every width and number of elements, in global and in shared memory: threads copy their bytes from one to the other.
#[test]
fn vectors_of_every_width() {
    let input: Vec<u32> = sequence(3).map(|x| x as u32).take(64 * 8).collect();
    for (bits, class) in [(8, "%h"), (16, "%h"), (32, "%r"), (64, "%rd")] {
        for count in [1, 2, 4] {
            let width = bits / 8 * count;
            if width > 16 {
                continue;
            }
            let names: Vec<String> = (1..=count).map(|i| format!("{class}{}", i + 3)).collect();
            let list = if count == 1 { names[0].clone() } else { format!("{{{}}}", names.join(", ")) };
            let ty = if count == 1 { format!("b{bits}") } else { format!("v{count}.b{bits}") };
            let body = format!(
                "ld.param.u64 %rd1, [in];\nmul.wide.u32 %rd2, %r0, {width};\nadd.s64 %rd1, %rd1, %rd2;\nadd.s64 %rd3, %rd0, %rd2;\n\
                 mul.lo.u32 %r1, %r0, {width};\nld.global.{ty} {list}, [%rd1];\nst.shared.{ty} [%r1], {list};\n\
                 ld.shared.{ty} {list}, [%r1];\nst.global.{ty} [%rd3], {list};"
            );
            let mut out = vec![0_u32; 64 * 8];
            let args = vec![Simulator::pointer(&input), Simulator::pointer_mut(&mut out)];
            let launch = Launch { blocks: 1, threads: 64, shared: 1024 };
            launch.run(&kernel(".param .u64 in, .param .u64 out", &body), args).unwrap();
            let copied = 64 * width / 4;
            assert_eq!(out[..copied], input[..copied], "{ty}");
            assert!(out[copied..].iter().all(|word| *word == 0), "{ty}");
        }
    }
}

#[test]
fn parameters_of_every_kind() {
    use quadpair::Scalar;
    let body = "ld.param.u32 %r1, [n];\nld.param.f32 %f1, [x];\nld.param.u64 %rd1, [big];\nld.param.u32 %r2, [big+4];\n\
                st.global.u32 [%rd0], %r1;\nst.global.f32 [%rd0+4], %f1;\nst.global.u64 [%rd0+8], %rd1;\nst.global.u32 [%rd0+16], %r2;";
    let text = kernel(".param .u64 out, .param .u32 n, .param .f32 x, .param .u64 big", body);
    let mut out = [0_u32; 5];
    let args = vec![
        Simulator::pointer_mut(&mut out),
        Simulator::scalar(Scalar::I32(-3)),
        Simulator::scalar(Scalar::F32(1.5)),
        Simulator::scalar(Scalar::I64(0x0123_4567_89ab_cdef)),
    ];
    Launch::threads(1).run(&text, args).unwrap();
    assert_eq!(out, [-3_i32 as u32, 1.5_f32.to_bits(), 0x89ab_cdef, 0x0123_4567, 0x0123_4567]);
}

#[test]
fn generic_addresses_are_global() {
    let body = "mov.u32 %r1, 77;\ncvta.to.global.u64 %rd3, %rd0;\nst.u32 [%rd3+4], %r1;\ncvta.global.u64 %rd4, %rd3;\nld.u32 %r2, [%rd4+4];\n\
                st.global.u32 [%rd0], %r2;";
    assert_eq!(Launch::threads(1).words(body, 2), [77, 77]);
}

#[test]
fn atomics_of_64_bits() {
    let body = "mov.u64 %rd1, 0x100000001;\natom.global.add.u64 %rd2, [%rd0], %rd1;\nmov.u64 %rd3, 7;\n\
                atom.global.exch.b64 %rd4, [%rd0+8], %rd3;";
    assert_eq!(Launch::threads(32).words(body, 4), [32, 32, 7, 0]);
}

#[test]
fn generic_addresses_reach_shared_memory() {
    let body = "mov.u32 %r1, 77;\nst.shared.u32 [dynamic+4], %r1;\nmov.u64 %rd1, dynamic;\ncvta.shared.u64 %rd2, %rd1;\n\
                ld.u32 %r2, [%rd2+4];\nst.global.u32 [%rd0], %r2;\ncvta.to.global.u64 %rd3, %rd0;\nst.u32 [%rd3+4], %r2;\n\
                cvta.to.shared.u64 %rd4, %rd2;\nld.shared.u32 %r3, [%rd4+4];\nst.global.u32 [%rd0+8], %r3;";
    let launch = Launch { blocks: 1, threads: 1, shared: 16 };
    assert_eq!(launch.words(body, 3), [77, 77, 77]);
}

#[test]
fn threads_have_memory_of_their_own() {
    let body = ".local .align 8 .b8 a[4];\n.local .align 8 .b8 b[16];\nst.local.b32 [a], %r0;\nadd.u32 %r1, %r0, 100;\n\
                mov.u64 %rd1, b;\nst.local.v2.b32 [%rd1+8], {%r1, %r0};\nld.local.b32 %r2, [a];\n\
                ld.local.b32 %r3, [b+8];\nld.local.s8 %r4, [b+12];\nadd.u32 %r2, %r2, %r3;\nadd.u32 %r2, %r2, %r4;\n";
    let words = Launch::threads(40).words(&(body.to_owned() + &store("%r2")), 40);
    assert!(words.iter().enumerate().all(|(i, &word)| word == 3 * i as u32 + 100), "{words:?}");
    for (access, address) in [("[a+24]", "0x18"), ("[b+2]", "0xa")] {
        let fault = Launch::threads(1).fault(&format!("{body}\nld.local.u32 %r5, {access};"));
        let end = format!("accesses 4 bytes of the thread's own memory at {address}, which has 24");
        assert!(fault.to_string().ends_with(&end), "{fault}");
    }
}

#[test]
fn printf_takes_arguments_as_c_passes_them() {
    let text = ".version 7.0\n.target sm_70\n.address_size 64\n\
        .extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n\
        .global .align 1 .b8 word[3] = {111, 107, 0};\n\
        .global .align 1 .b8 format[23] = {37, 51, 100, 124, 37, 115, 124, 37, 48, 52, 120, 124, 37, 46, 50, 102, 124, 37, 37, 37, 117, 10, 0};\n\
        .visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<8>;\n.local .align 8 .b8 list[32];\n\
        ld.param.u64 %rd0, [out];\nmov.u32 %r1, %tid.x;\nst.local.b32 [list], %r1;\nmov.u64 %rd1, word;\n\
        st.local.b64 [list+8], %rd1;\nst.local.b32 [list+16], 254;\nst.local.b64 [list+24], 4609434218613702656;\n\
        mov.u64 %rd2, list;\ncvta.local.u64 %rd3, %rd2;\nmov.u64 %rd4, format;\n\
        {\n.param .b64 a;\nst.param.b64 [a], %rd4;\n.param .b64 b;\nst.param.b64 [b], %rd3;\n.param .b32 r;\n\
        call.uni (r), vprintf, (a, b);\nld.param.b32 %r2, [r];\n}\nst.global.b32 [%rd0], %r2;\nret;\n}\n";
    let mut out = [0_u32];
    let error = Launch::threads(2).run(text, vec![Simulator::pointer_mut(&mut out)]).unwrap_err();
    let wanted = "more arguments than there are in the format \"%3d|%s|%04x|%.2f|%%%u\\n\" (a limit of the simulator)";
    assert!(error.to_string().ends_with(wanted), "{error}");
    let text = text.replace("list[32]", "list[40]");
    assert_eq!(
        Launch::threads(2).print(&text, vec![Simulator::pointer_mut(&mut out)]),
        "  0|ok|00fe|1.50|%0\n  1|ok|00fe|1.50|%0\n"
    );
    assert_eq!(out, [1]);
}
