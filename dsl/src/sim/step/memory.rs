//! Parameters, loads, stores and atomics.

use quadpair_layouts::{banks::BANKS, wavefronts};

use crate::ptx::{Atomic, Space, Type};
use crate::sim::machine::{Block, Stop, stop};
use crate::sim::memory::Buffer;
use crate::sim::program::{Place, Slot};
use crate::sim::race::Accessor;
use crate::sim::report::{Direction, FaultKind, Memory, type_bytes};
use crate::sim::warp::{LANES, Lanes64, Warp, lanes};

/// Bytes of a sector of global memory.
const SECTOR: u64 = 32;

/// Bytes that all banks give in one wavefront.
const WAVEFRONT: u32 = 4 * BANKS as u32;

pub(super) fn parameter(block: &Block<'_>, warp: &mut Warp, dst: Slot, index: usize, offset: i64, mask: u32) {
    let value = block.launch.params[index] >> (offset.clamp(0, 7) * 8);
    warp.set_bits(dst, mask, &[value; LANES]);
}

pub(super) fn load(
    block: &mut Block<'_>,
    warp: &mut Warp,
    space: Space,
    ty: Type,
    dst: &[Slot],
    place: Place,
    mask: u32,
) -> Result<(), Stop> {
    let (addresses, bytes) = (addresses(warp, place), type_bytes(ty));
    let width = bytes * dst.len() as u32;
    count(block, space, &addresses, width, mask);
    let mut values = [[0_u64; LANES]; 4];
    for lane in lanes(mask) {
        let address = addresses[lane];
        check_alignment(address, width, space, lane)?;
        if space == Space::Shared {
            let address = shared_address(block, address, width, Direction::Read, lane)?;
            for (i, value) in values.iter_mut().take(dst.len()).enumerate() {
                let who = accessor(block, warp, lane);
                let at = address + i as u32 * bytes;
                let read = block.shared.read(at, bytes, who);
                value[lane] = read.map_err(|conflict| {
                    stop(lane as u32, block.shared_fault(conflict, at, bytes, warp, lane as u32, Direction::Read))
                })?;
            }
        } else {
            let (buffer, offset) = global(block, address, width, Direction::Read, lane)?;
            for (i, value) in values.iter_mut().take(dst.len()).enumerate() {
                value[lane] = buffer.read(offset + i as u64 * u64::from(bytes), bytes);
            }
        }
    }
    for (&slot, value) in dst.iter().zip(&values) {
        warp.set_bits(slot, mask, &extended(ty, value));
    }
    Ok(())
}

/// Signed narrow values keep their sign in a wider register.
fn extended(ty: Type, values: &Lanes64) -> Lanes64 {
    match ty {
        Type::S8 => values.map(|v| v as i8 as i64 as u64),
        Type::S16 => values.map(|v| v as i16 as i64 as u64),
        Type::S32 => values.map(|v| v as i32 as i64 as u64),
        _ => *values,
    }
}

pub(super) fn store(
    block: &mut Block<'_>,
    warp: &mut Warp,
    space: Space,
    ty: Type,
    src: &[Slot],
    place: Place,
    mask: u32,
) -> Result<(), Stop> {
    let (addresses, bytes) = (addresses(warp, place), type_bytes(ty));
    let width = bytes * src.len() as u32;
    count(block, space, &addresses, width, mask);
    for lane in lanes(mask) {
        let address = addresses[lane];
        check_alignment(address, width, space, lane)?;
        for (i, &slot) in src.iter().enumerate() {
            let value = warp.lane(slot, lane);
            if space == Space::Shared {
                let address = shared_address(block, address, width, Direction::Write, lane)?;
                let (who, at) = (accessor(block, warp, lane), address + i as u32 * bytes);
                block.shared.write(at, bytes, value, who).map_err(|conflict| {
                    stop(lane as u32, block.shared_fault(conflict, at, bytes, warp, lane as u32, Direction::Write))
                })?;
            } else {
                let (buffer, offset) = global(block, address, width, Direction::Write, lane)?;
                buffer.write(offset + i as u64 * u64::from(bytes), bytes, value);
            }
        }
    }
    Ok(())
}

pub(super) fn atomic(
    block: &mut Block<'_>,
    warp: &mut Warp,
    (op, space, ty): (Atomic, Space, Type),
    dst: Option<Slot>,
    place: Place,
    args: &[Slot],
    mask: u32,
) -> Result<(), Stop> {
    let (addresses, bytes) = (addresses(warp, place), type_bytes(ty));
    if !has_atomic(op, ty) {
        let what = format!("an atomic {op:?} of {ty:?}");
        return Err(stop(mask.trailing_zeros(), FaultKind::Unsupported { what }));
    }
    count(block, space, &addresses, bytes, mask);
    let mut old = [0; LANES];
    for lane in lanes(mask) {
        let address = addresses[lane];
        check_alignment(address, bytes, space, lane)?;
        let given = [args[0], args[args.len() - 1]].map(|slot| warp.word(slot)[lane]);
        let new = |old: u32| combined(op, ty, old, given);
        old[lane] = if space == Space::Shared {
            let at = shared_address(block, address, bytes, Direction::Write, lane)?;
            let who = accessor(block, warp, lane);
            block.shared.update(at, new, who).map_err(|conflict| {
                stop(lane as u32, block.shared_fault(conflict, at, bytes, warp, lane as u32, Direction::Write))
            })?
        } else {
            let (buffer, offset) = global(block, address, bytes, Direction::Write, lane)?;
            buffer.update(offset, new)
        };
    }
    if let Some(slot) = dst {
        warp.set_word(slot, mask, &old);
    }
    Ok(())
}

/// Whether the simulator has an atomic operation: those of 32-bit integers, and the sum of floats.
fn has_atomic(op: Atomic, ty: Type) -> bool {
    match ty {
        Type::B32 | Type::U32 | Type::S32 => true,
        Type::F32 => matches!(op, Atomic::Add | Atomic::Exch),
        _ => false,
    }
}

fn combined(op: Atomic, ty: Type, old: u32, [a, b]: [u32; 2]) -> u32 {
    let signed = matches!(ty, Type::S32);
    match op {
        Atomic::Add if ty == Type::F32 => (f32::from_bits(old) + f32::from_bits(a)).to_bits(),
        Atomic::Add => old.wrapping_add(a),
        Atomic::Min if signed => (old as i32).min(a as i32) as u32,
        Atomic::Max if signed => (old as i32).max(a as i32) as u32,
        Atomic::Min => old.min(a),
        Atomic::Max => old.max(a),
        Atomic::And => old & a,
        Atomic::Or => old | a,
        Atomic::Xor => old ^ a,
        Atomic::Exch => a,
        Atomic::Cas => {
            if old == a {
                b
            } else {
                old
            }
        }
    }
}

fn addresses(warp: &Warp, place: Place) -> Lanes64 {
    let offset = place.offset as u64;
    if place.base.wide() {
        warp.long(place.base).map(|base| base.wrapping_add(offset))
    } else {
        warp.word(place.base).map(|base| u64::from(base.wrapping_add(offset as u32)))
    }
}

fn accessor(block: &Block<'_>, warp: &Warp, lane: usize) -> Accessor {
    Accessor { warp: warp.index, lane: lane as u32, at: warp.pc - 1, stamp: block.stamp }
}

fn check_alignment(address: u64, width: u32, space: Space, lane: usize) -> Result<(), Stop> {
    if address.is_multiple_of(u64::from(width)) {
        return Ok(());
    }
    let memory = if space == Space::Shared { Memory::Shared } else { Memory::Global };
    Err(stop(lane as u32, FaultKind::Misaligned { address, bytes: width, memory }))
}

fn shared_address(block: &Block<'_>, address: u64, width: u32, direction: Direction, lane: usize) -> Result<u32, Stop> {
    let size = block.shared.bytes;
    if address.checked_add(width.into()).is_some_and(|end| end <= size.into()) {
        return Ok(address as u32);
    }
    Err(stop(lane as u32, FaultKind::SharedOutOfBounds { address, bytes: width, direction, size }))
}

/// The buffer of an access, and where in it.
fn global<'a>(
    block: &Block<'a>,
    address: u64,
    width: u32,
    direction: Direction,
    lane: usize,
) -> Result<(&'a Buffer, u64), Stop> {
    let memory = block.launch.memory;
    let kind = match memory.find(address, width) {
        Some((buffer, offset)) if buffer.writable || direction == Direction::Read => return Ok((buffer, offset)),
        Some((buffer, _)) => FaultKind::ReadOnly { address, parameter: buffer.name.clone() },
        None if address >> 32 == 0 => {
            let params = block.launch.program.params.iter().zip(block.launch.params);
            let null = params.filter(|(param, value)| **value == 0 && param.ty == Type::U64);
            FaultKind::Null { address, bytes: width, parameters: null.map(|(param, _)| param.name.clone()).collect() }
        }
        None => FaultKind::GlobalOutOfBounds { address, bytes: width, direction, nearest: memory.nearest(address) },
    };
    Err(stop(lane as u32, kind))
}

/// Counts what an access costs.
fn count(block: &mut Block<'_>, space: Space, addresses: &Lanes64, width: u32, mask: u32) {
    if space == Space::Shared {
        let active = std::array::from_fn(|lane| (mask >> lane & 1 == 1).then_some(addresses[lane] as u32));
        block.counters.shared_wavefronts += u64::from(wavefronts(&active, width));
        block.counters.shared_ideal += u64::from(ideal(&active, width));
        return;
    }
    let mut sectors = [u64::MAX; LANES];
    for (count, lane) in lanes(mask).enumerate() {
        sectors[count] = addresses[lane] / SECTOR;
    }
    sectors.sort_unstable();
    let mut distinct = 0;
    for (i, sector) in sectors.iter().enumerate().filter(|(_, sector)| **sector != u64::MAX) {
        distinct += u64::from(i == 0 || sectors[i - 1] != *sector);
    }
    block.counters.global_sectors += distinct;
    block.counters.global_bytes += u64::from(width) * u64::from(mask.count_ones());
}

/// The fewest wavefronts that an access of this width can take: one for each pass with an active lane.
fn ideal(addresses: &[Option<u32>; LANES], width: u32) -> u32 {
    let lanes = (WAVEFRONT / width.max(4)) as usize;
    addresses.chunks(lanes).filter(|pass| pass.iter().any(Option::is_some)).count() as u32
}
