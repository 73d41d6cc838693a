//! Messages of a running kernel.

use crate::ir::{MAX_ASM_ARGS, OpKind};
use crate::lang::assembly::common_type;
use crate::lang::ops::{has_its_warp, text};
use crate::lang::{Tile, Trace};

/// Prints values: `device_print("x", x)`, or several beside one another, `device_print("x and its place", x, p)`.
///
/// Every element is a line of its own, with its block and its place in the tile; scalars are printed once a block. Values
/// broadcast to the largest of them. A GPU prints in whatever order, when the work on its stream is waited for; the
/// simulator prints block after block.
#[track_caller]
pub const fn device_print<const N: usize>(trace: &mut Trace<'_>, name: &'static str, values: [Tile; N]) {
    if N == 0 || N > MAX_ASM_ARGS {
        let text = text("device_print").number(N).push(" values; 1 to ").number(MAX_ASM_ARGS);
        trace.fail(text.push(" can be printed at once"));
        return;
    }
    let ty = common_type(trace, "device_print", &values);
    has_its_warp(trace, "device_print", &Tile { value: values[0].value, ty });
    let (mut args, mut i) = ([values[0].value; MAX_ASM_ARGS], 0);
    while i < N {
        args[i] = values[i].value;
        i += 1;
    }
    trace.effect(OpKind::Print { name, args, count: N as u32 });
}
