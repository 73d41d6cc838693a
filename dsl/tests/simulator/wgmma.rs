//! Products of wgmma in a text: what is computed, and what a text does wrong that doesn't wait or makes nothing visible.

use quadpair::sim::{Fault, FaultKind};

use crate::harness::{Launch, store};

const LAUNCH: Launch = Launch { blocks: 1, threads: 128, shared: 256 };

/// Ones in `[8 columns, 16 k]`, eight rows of 32 bytes.
const FILL: &str = "mov.u32 %r1, dynamic;\nshl.b32 %r2, %r0, 2;\nadd.s32 %r2, %r2, %r1;\nsetp.lt.u32 %p1, %r0, 64;\n\
                    @%p1 st.shared.b32 [%r2], 1006648320;\n";
const FENCE: &str = "fence.proxy.async.shared::cta;\n";
/// A left operand of ones. The descriptor is that of a swizzle of 32 bytes.
const READY: &str = "bar.sync 0;\nmov.b64 %rd1, -4611686014132355072;\nmov.u32 %r4, 1006648320;\n\
                     setp.eq.u32 %p2, %r0, %r0;\nsetp.ne.u32 %p3, %r0, %r0;\n";
const ISSUE: &str = "wgmma.fence.sync.aligned;\n\
                     wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r4, %r4, %r4, %r4}, %rd1, %p3, 1, 1, 0;\n\
                     wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r4, %r4, %r4, %r4}, %rd1, %p2, 1, 1, 0;\n\
                     wgmma.commit_group.sync.aligned;\n";
const WAIT: &str = "wgmma.wait_group.sync.aligned 0;\n";

fn fault(parts: &[&str]) -> Fault {
    LAUNCH.fault(&parts.concat())
}

#[test]
fn sums_are_there_after_the_wait() {
    let body = [FILL, FENCE, READY, ISSUE, WAIT, "mov.b32 %r5, %f3;\n", &store("%r5")].concat();
    assert!(LAUNCH.words(&body, 128).iter().all(|&bits| f32::from_bits(bits) == 32.0));
}

#[test]
fn a_sum_is_not_read_before_the_wait() {
    let own = fault(&[FILL, FENCE, READY, ISSUE, "mov.b32 %r5, %f3;\n", WAIT]);
    assert_eq!(own.kind, FaultKind::SumUnderWay { register: "%f3".into() });
    // A later group may go on.
    let own = fault(&[FILL, FENCE, READY, ISSUE, "wgmma.wait_group.sync.aligned 1;\n", "mov.b32 %r5, %f3;\n"]);
    assert_eq!(own.kind, FaultKind::SumUnderWay { register: "%f3".into() });
}

#[test]
fn a_sum_is_not_written_before_the_wait() {
    let own = fault(&[FILL, FENCE, READY, ISSUE, "mov.f32 %f2, 0f00000000;\n", WAIT]);
    assert_eq!(own.kind, FaultKind::SumUnderWay { register: "%f2".into() });
}

#[test]
fn memory_is_not_written_before_the_wait() {
    let own = fault(&[FILL, FENCE, READY, ISSUE, "st.shared.b32 [%r1], 0;\n", WAIT]);
    assert_eq!(own.kind, FaultKind::SharedMultiplied { address: 0, bytes: 4 });
    let own = fault(&[FILL, FENCE, READY, ISSUE, "bar.sync 0;\nst.shared.b32 [%r1], 0;\n"]);
    assert_eq!(own.kind, FaultKind::SharedMultiplied { address: 0, bytes: 4 });
}

#[test]
fn what_is_multiplied_was_made_visible() {
    let own = fault(&[FILL, READY, ISSUE, WAIT]);
    assert!(matches!(own.kind, FaultKind::SharedUnfenced { warp: 0, .. }), "{own}");
    let own = fault(&[FENCE, FILL, READY, ISSUE, WAIT]);
    assert!(matches!(own.kind, FaultKind::SharedUnfenced { warp: 0, .. }), "{own}");
    let own = fault(&[FILL, FENCE, &READY.replace("bar.sync 0;", ""), ISSUE, WAIT]);
    assert!(matches!(own.kind, FaultKind::SharedUnwritten { .. } | FaultKind::SharedRace { .. }), "{own}");
}

#[test]
fn there_is_something_to_add_to() {
    let own = fault(&[FILL, FENCE, READY, &ISSUE.replace("%p3", "%p2")]);
    assert_eq!(own.kind, FaultKind::Unwritten { register: "%f0".into() });
}
