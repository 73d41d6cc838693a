//! Barriers and traps.

use crate::ptx::Statement;
use crate::sim::machine::{Block, Stop, members};
use crate::sim::program::{Instruction, Slot};
use crate::sim::report::FaultKind;
use crate::sim::warp::Warp;

/// The author's message is the comment right before the instruction.
pub(super) fn trap(block: &Block<'_>, instruction: &Instruction, mask: u32) -> Stop {
    let before = block.launch.program.body[..instruction.statement].iter().rev();
    let mut near = before.take_while(|statement| !matches!(statement, Statement::Instruction { .. }));
    let message = near.find_map(|statement| match statement {
        Statement::Comment(text) => Some(text.trim().to_owned()),
        _ => None,
    });
    Stop::new(mask.trailing_zeros(), FaultKind::Trap { message })
}

/// A barrier of the block needs every thread of the warp.
pub(super) fn barrier(warp: &mut Warp, id: u32, mask: u32) -> Result<(), Stop> {
    if mask != warp.members {
        let kind = FaultKind::DivergentBarrier { arrived: mask, expected: warp.members };
        return Err(Stop::new(mask.trailing_zeros(), kind));
    }
    warp.barrier = Some(id);
    Ok(())
}

/// Lanes run together here, so a barrier of the warp only checks that they do.
pub(super) fn warp_sync(warp: &Warp, lanes: Slot, mask: u32) -> Result<(), Stop> {
    members(warp, lanes, mask).map(drop)
}
