//! Memory of a thread's own.

use super::memory::extended;
use crate::sim::machine::{Block, Stop};
use crate::sim::program::Access;
use crate::sim::report::{FaultKind, type_bytes};
use crate::sim::warp::{LANES, Lanes64, Warp, lanes};

pub(super) fn load(block: &Block<'_>, warp: &mut Warp, step: &Access, mask: u32) -> Result<(), Stop> {
    let bytes = type_bytes(step.ty);
    for (i, &slot) in step.slots.iter().enumerate() {
        let mut values: Lanes64 = [0; LANES];
        for lane in lanes(mask) {
            let at = place(block, warp, step, lane)? + i * bytes as usize;
            values[lane] = extended(step.ty, read(block, warp, lane, at, bytes as usize));
        }
        warp.set_bits(slot, mask, &values);
    }
    Ok(())
}

pub(super) fn store(block: &Block<'_>, warp: &mut Warp, step: &Access, mask: u32) -> Result<(), Stop> {
    let bytes = type_bytes(step.ty) as usize;
    for (i, &slot) in step.slots.iter().enumerate() {
        let values = warp.bits(slot);
        for lane in lanes(mask) {
            let at = place(block, warp, step, lane)? + i * bytes + own(block, lane);
            warp.local[at..at + bytes].copy_from_slice(&values[lane].to_le_bytes()[..bytes]);
        }
    }
    Ok(())
}

/// Reads bytes of a lane's memory that it is known to have.
pub(super) fn read(block: &Block<'_>, warp: &Warp, lane: usize, at: usize, bytes: usize) -> u64 {
    let mut value = [0; 8];
    let at = own(block, lane) + at;
    value[..bytes].copy_from_slice(&warp.local[at..at + bytes]);
    u64::from_le_bytes(value)
}

/// Where a lane's memory begins.
fn own(block: &Block<'_>, lane: usize) -> usize {
    lane * block.launch.program.local as usize
}

/// Where an access of a lane begins, if it is aligned and inside.
fn place(block: &Block<'_>, warp: &Warp, step: &Access, lane: usize) -> Result<usize, Stop> {
    let address = warp.bits(step.place.base)[lane].wrapping_add(step.place.offset as u64);
    let (bytes, size) = (type_bytes(step.ty) * step.vector, block.launch.program.local);
    if address.saturating_add(bytes.into()) > size.into() || !address.is_multiple_of(bytes.into()) {
        return Err(Stop::new(lane as u32, FaultKind::LocalOutOfBounds { address, bytes, size }));
    }
    Ok(address as usize)
}
