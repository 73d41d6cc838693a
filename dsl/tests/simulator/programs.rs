//! Programs that are refused, that don't end, or that only look wrong.

use quadpair::Backend;
use quadpair::sim::{FaultKind, Simulator};

use crate::harness::{Launch, kernel, store};

fn refused(text: &str) -> String {
    Launch::threads(1).run(text, vec![Simulator::pointer_option::<u32>(None)]).unwrap_err().to_string()
}

#[test]
fn text_that_is_no_program_is_refused() {
    let error = refused(&kernel(".param .u64 out", "frobnicate.u32 %r1, %r2;"));
    assert!(error.starts_with("program `k` is not PTX that the simulator reads: "), "{error}");
    assert!(error.contains("frobnicate"), "{error}");
    assert_eq!(refused(".version 7.0\n.target sm_70\n.address_size 64\n"), "the PTX has no kernel `k`; it has none");
    let other = kernel(".param .u64 out", "").replace("entry k(", "entry scale(");
    assert_eq!(refused(&other), "the PTX has no kernel `k`; it has `scale`");
    let error = refused(&kernel(".param .u64 out", "ld.param.u64 %rd1, [elsewhere];"));
    assert!(error.contains("elsewhere"), "{error}");
}

#[test]
fn loops_without_an_end() {
    let fault = Launch::threads(32).fault("$L1:\nbra $L1;");
    assert!(matches!(fault.kind, FaultKind::Budget { .. }), "{fault}");
}

#[test]
fn lanes_may_write_their_own_parts_of_a_word() {
    // Lane t writes half t, twice: the second time other numbers.
    let body = format!(
        "shl.b32 %r1, %r0, 1;\ncvt.u16.u32 %h1, %r0;\nst.shared.u16 [%r1], %h1;\nadd.u16 %h2, %h1, 1000;\n\
         st.shared.u16 [%r1], %h2;\nld.shared.u16 %h3, [%r1];\ncvt.u32.u16 %r3, %h3;\n{}",
        store("%r3")
    );
    let launch = Launch { blocks: 1, threads: 64, shared: 128 };
    assert_eq!(launch.words(&body, 64), (1000..1064).collect::<Vec<_>>());
}
