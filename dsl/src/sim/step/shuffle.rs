//! Shuffles and votes: what the lanes of a warp say to one another.

use crate::ptx::{Shuffle, Vote};
use crate::sim::machine::{Stop, members};
use crate::sim::program::{Condition, ShuffleStep, Slot, VoteResult};
use crate::sim::report::FaultKind;
use crate::sim::warp::{LANES, Warp, lanes};

pub(super) fn shuffle(warp: &mut Warp, step: &ShuffleStep, active: u32) -> Result<(), Stop> {
    let members = members(warp, step.members, active)?;
    let values = *warp.word(step.src);
    let (offsets, clamps) = (warp.word(step.lane), warp.word(step.clamp));
    let (mut result, mut inside) = ([0; LANES], 0);
    for own in lanes(active) {
        let (source, valid) = source_lane(step.mode, own as u32, offsets[own], clamps[own]);
        if members[own] >> source & 1 == 0 {
            return Err(Stop::new(own as u32, FaultKind::ShuffleSource { source, members: members[own] }));
        }
        result[own] = values[source as usize];
        inside |= u32::from(valid) << own;
    }
    warp.set_word(step.dst, active, &result);
    if let Some(predicate) = step.in_range {
        warp.set_predicate(predicate, active, inside);
    }
    Ok(())
}

/// The lane that a lane reads, and whether it is in range; where it isn't, a lane reads itself. The low bits of the clamp
/// are the last lane of a segment, its bits 8 to 12 those of a lane's number that say which segment it is in.
#[inline(always)]
fn source_lane(mode: Shuffle, own: u32, offset: u32, clamp: u32) -> (u32, bool) {
    let (limit, segment, offset) = (clamp & 31, clamp >> 8 & 31, offset & 31);
    let last = (own & segment) | (limit & !segment);
    let (source, valid) = match mode {
        Shuffle::Up => (own.wrapping_sub(offset), own >= last + offset),
        Shuffle::Down => (own + offset, own + offset <= last),
        Shuffle::Butterfly => (own ^ offset, own ^ offset <= last),
        Shuffle::Index => {
            let source = (own & segment) | (offset & !segment);
            (source, source <= last)
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
    let voters = members(warp, mask, active)?;
    let votes = warp.condition(src);
    match dst {
        VoteResult::Word(slot) => {
            let ballots = voters.map(|voters| votes & voters);
            warp.set_word(slot, active, &ballots);
        }
        VoteResult::Predicate(predicate) => {
            let holds = |voters: u32| match mode {
                Vote::Any => votes & voters != 0,
                Vote::All => votes & voters == voters,
                Vote::Uni | Vote::Ballot => votes & voters == 0 || votes & voters == voters,
            };
            let result = lanes(active).fold(0, |result, lane| result | u32::from(holds(voters[lane])) << lane);
            warp.set_predicate(predicate, active, result);
        }
    }
    Ok(())
}
