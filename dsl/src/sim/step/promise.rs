//! Promises of the kernel's author: checked in every lane that comes by.

use crate::sim::machine::Stop;
use crate::sim::program::{Claim, Slot};
use crate::sim::report::FaultKind;
use crate::sim::warp::{Warp, lanes};

pub(super) fn check(warp: &Warp, claim: &Claim, mask: u32) -> Result<(), Stop> {
    let broken = |lane: u32, values| Err(Stop::new(lane, FaultKind::BrokenPromise { values }));
    match *claim {
        Claim::Holds { slot } => {
            first(mask & !warp.predicates[slot as usize]).map_or(Ok(()), |lane| broken(lane, vec![0]))
        }
        Claim::Below { slot, limit, guard } => {
            let mask = guard.map_or(mask, |guard| mask & warp.condition(guard));
            let indices = warp.word(slot);
            match lanes(mask).find(|&lane| indices[lane] >= limit) {
                Some(lane) => {
                    let index = indices[lane].cast_signed();
                    Err(Stop::new(lane as u32, FaultKind::IndexOutOfBounds { index, limit }))
                }
                None => Ok(()),
            }
        }
        Claim::Agree { slots } => {
            let [own, other] = slots.map(|slot| warp.predicates[slot as usize]);
            let bit = |predicate: u32, lane: u32| i64::from(predicate >> lane & 1);
            first(mask & (own ^ other)).map_or(Ok(()), |lane| broken(lane, vec![bit(own, lane), bit(other, lane)]))
        }
        Claim::Multiple { slot, offset, of } => {
            let values = numbers(warp, slot);
            let wrong = |value: i64| value.wrapping_add(offset) & i64::from(of - 1) != 0;
            let lane = lanes(mask).find(|&lane| wrong(values[lane]));
            lane.map_or(Ok(()), |lane| broken(lane as u32, vec![values[lane].wrapping_add(offset)]))
        }
        Claim::Same { slot, other, offset } => {
            let (own, others) = (numbers(warp, slot), numbers(warp, other));
            let sum = |value: i64| {
                if slot.wide() { value.wrapping_add(offset) } else { value.wrapping_add(offset) as i32 as i64 }
            };
            let lane = lanes(mask).find(|&lane| own[lane] != sum(others[lane]));
            lane.map_or(Ok(()), |lane| broken(lane as u32, vec![own[lane], others[lane]]))
        }
    }
}

fn first(lanes: u32) -> Option<u32> {
    (lanes != 0).then(|| lanes.trailing_zeros())
}

/// A register as numbers with a sign.
fn numbers(warp: &Warp, slot: Slot) -> [i64; 32] {
    let bits = warp.bits(slot);
    if slot.wide() { bits.map(u64::cast_signed) } else { bits.map(|bits| i64::from(bits as i32)) }
}
