//! Asynchronous copies from global to shared memory: where they begin, their groups, and where they are waited for.

use super::memory::Way;
use crate::sim::copies::AsyncCopy;
use crate::sim::machine::{Block, Stop};
use crate::sim::program::CopyStep;
use crate::sim::report::{Direction, FaultKind};
use crate::sim::warp::{FULL, LANES, Warp, lanes};

/// Begins a lane's copy of 4, 8 or 16 bytes, of which the first are read and the others are zero.
pub(super) fn begin(block: &mut Block<'_>, warp: &mut Warp, step: &CopyStep, mask: u32) -> Result<(), Stop> {
    let read = step.read.map_or([step.to.vector * 4; LANES], |slot| *warp.word(slot));
    if let Some(lane) = lanes(mask).find(|&lane| !matches!(read[lane], 0) && read[lane] != 4 * step.to.vector) {
        let what = "a copy that reads a part of its bytes".into();
        return Err(Stop::new(lane as u32, FaultKind::Unsupported { what }));
    }
    let reading = lanes(mask).filter(|&lane| read[lane] != 0).fold(0, |all, lane| all | 1 << lane);
    let mut words = [[0; LANES]; 4];
    if reading != 0 {
        let from = Way::new(warp, &step.from, Direction::Read, reading)?;
        from.check(block, reading)?;
        from.count(block, warp, reading);
        for (i, words) in words.iter_mut().take(step.from.vector as usize).enumerate() {
            from.read::<4>(block, warp, i, reading, |lane, word| words[lane] = word as u32)?;
        }
    }
    let to = Way::new(warp, &step.to, Direction::Write, mask)?;
    to.check(block, mask)?;
    to.count(block, warp, mask);
    for lane in lanes(mask) {
        let (address, who) = to.shared_place(block, warp, lane);
        let copy = AsyncCopy { who, address, words: words.map(|word| word[lane]), count: step.to.vector };
        block.shared.begin_copy(copy).map_err(|(i, conflict)| to.conflict(block, warp, conflict, i, lane))?;
    }
    Ok(())
}

/// Groups are those of a whole warp here.
fn together(warp: &Warp, mask: u32) -> Result<(), Stop> {
    if mask == warp.members {
        return Ok(());
    }
    Err(Stop::new(mask.trailing_zeros(), FaultKind::InactiveLanes { active: mask, needed: warp.members & FULL }))
}

pub(super) fn commit(block: &mut Block<'_>, warp: &Warp, mask: u32) -> Result<(), Stop> {
    together(warp, mask)?;
    block.shared.copies.commit(warp.index);
    Ok(())
}

pub(super) fn wait(block: &mut Block<'_>, warp: &Warp, groups: u32, mask: u32) -> Result<(), Stop> {
    together(warp, mask)?;
    for mut copy in block.shared.copies.wait(warp.index, groups) {
        // It is here that the warp can make it visible to wgmma.
        copy.who.stamp = block.stamp;
        if let Err((i, conflict)) = block.shared.end_copy(copy) {
            let (lane, at) = (copy.who.lane, copy.address + 4 * i as u32);
            return Err(Stop::new(lane, block.shared_fault(conflict, at, 4, warp, lane, Direction::Write)));
        }
    }
    Ok(())
}
