//! Shuffles and votes: what the lanes of a warp say to one another.

use crate::ptx::{Shuffle, Vote};
use crate::sim::machine::{Stop, members, stop};
use crate::sim::program::{Condition, Slot, VoteResult};
use crate::sim::report::FaultKind;
use crate::sim::warp::{LANES, Warp, lanes};

/// `src`, `lane`, `clamp` and the mask of lanes that take part.
pub(super) fn shuffle(
    warp: &mut Warp,
    mode: Shuffle,
    (dst, in_range): (Slot, Option<u32>),
    [src, lane, clamp, mask]: [Slot; 4],
    active: u32,
) -> Result<(), Stop> {
    let wanted = warp.word(mask)[active.trailing_zeros() as usize] & warp.members;
    let taking_part = members(wanted, active)?;
    let (values, offsets, clamps) = (*warp.word(src), *warp.word(lane), *warp.word(clamp));
    let (mut result, mut inside) = ([0; LANES], 0);
    for own in lanes(active) {
        let (source, valid) = source_lane(mode, own as u32, offsets[own], clamps[own]);
        if taking_part >> source & 1 == 0 {
            return Err(stop(own as u32, FaultKind::ShuffleSource { source, members: taking_part }));
        }
        result[own] = values[source as usize];
        inside |= u32::from(valid) << own;
    }
    warp.set_word(dst, active, &result);
    if let Some(predicate) = in_range {
        warp.set_predicate(predicate, active, inside);
    }
    Ok(())
}

/// The lane that a lane reads, and whether it is in range; where it isn't, a lane reads itself.
fn source_lane(mode: Shuffle, own: u32, offset: u32, clamp: u32) -> (u32, bool) {
    let (limit, segment) = (clamp & 31, clamp >> 8 & 31);
    let most = (own & segment) | (limit & !segment);
    let offset = offset & 31;
    let (source, valid) = match mode {
        Shuffle::Up => (own.wrapping_sub(offset), own as i32 - offset as i32 >= most as i32),
        Shuffle::Down => (own + offset, own + offset <= most),
        Shuffle::Butterfly => (own ^ offset, own ^ offset <= most),
        Shuffle::Index => {
            let source = (own & segment) | (offset & !segment);
            (source, source <= most)
        }
    };
    if valid { (source & 31, true) } else { (own, false) }
}

pub(super) fn vote(
    warp: &mut Warp,
    mode: Vote,
    dst: VoteResult,
    src: Condition,
    mask: Slot,
    active: u32,
) -> Result<(), Stop> {
    let wanted = warp.word(mask)[active.trailing_zeros() as usize] & warp.members;
    let voters = members(wanted, active)?;
    let ballot = warp.condition(src) & voters;
    let holds = match mode {
        Vote::Any => ballot != 0,
        Vote::All => ballot == voters,
        Vote::Uni => ballot == 0 || ballot == voters,
        Vote::Ballot => false,
    };
    match dst {
        VoteResult::Predicate(predicate) => warp.set_predicate(predicate, active, if holds { u32::MAX } else { 0 }),
        VoteResult::Word(slot) => warp.set_word(slot, active, &[ballot; LANES]),
    }
    Ok(())
}
