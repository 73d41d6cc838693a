//! Parameters, loads, stores and atomics.

use half::{bf16, f16};
use quadpair_layouts::{banks::BANKS, wavefronts};

use crate::ptx::{Atomic, Space, Type};
use crate::sim::machine::{Block, Stop};
use crate::sim::memory::{Buffer, GlobalMemory, SHARED_WINDOW};
use crate::sim::program::{Access, AtomStep, Slot};
use crate::sim::race::{Accessor, Conflict};
use crate::sim::report::{Direction, FaultKind, Memory, type_bytes};
use crate::sim::warp::{LANES, Lanes32, Lanes64, Warp, lanes};

/// Bytes of a sector of global memory.
const SECTOR: u64 = 32;

/// Bytes that all banks give in one wavefront.
const WAVEFRONT: u32 = 4 * BANKS as u32;

pub(super) fn parameter(block: &Block<'_>, warp: &mut Warp, dst: Slot, index: usize, offset: i64, mask: u32) {
    let value = block.launch.params[index] >> (offset.clamp(0, 7) * 8);
    warp.set_bits(dst, mask, &[value; LANES]);
}

pub(super) fn load(block: &mut Block<'_>, warp: &mut Warp, step: &Access, mask: u32) -> Result<(), Stop> {
    let way = Way::new(warp, step, Direction::Read, mask)?;
    way.check(block, mask)?;
    way.count(block, warp, mask);
    for (i, &slot) in step.slots.iter().enumerate() {
        if way.bytes == 4 && !slot.wide() {
            let mut value: Lanes32 = [0; LANES];
            way.read::<4>(block, warp, i, mask, |lane, own| value[lane] = own as u32)?;
            warp.set_word(slot, mask, &value);
        } else {
            let mut value: Lanes64 = [0; LANES];
            let keep = |lane: usize, own| value[lane] = extended(step.ty, own);
            match way.bytes {
                1 => way.read::<1>(block, warp, i, mask, keep)?,
                2 => way.read::<2>(block, warp, i, mask, keep)?,
                4 => way.read::<4>(block, warp, i, mask, keep)?,
                _ => way.read::<8>(block, warp, i, mask, keep)?,
            }
            warp.set_bits(slot, mask, &value);
        }
    }
    Ok(())
}

/// Signed narrow values keep their sign in a wider register.
pub(super) fn extended(ty: Type, value: u64) -> u64 {
    match ty {
        Type::S8 => i64::from(value as i8).cast_unsigned(),
        Type::S16 => i64::from(value as i16).cast_unsigned(),
        Type::S32 => i64::from(value as i32).cast_unsigned(),
        _ => value,
    }
}

pub(super) fn store(block: &mut Block<'_>, warp: &mut Warp, step: &Access, mask: u32) -> Result<(), Stop> {
    let way = Way::new(warp, step, Direction::Write, mask)?;
    way.check(block, mask)?;
    way.count(block, warp, mask);
    for (i, &slot) in step.slots.iter().enumerate() {
        let values = warp.bits(slot);
        match way.bytes {
            1 => way.write::<1>(block, warp, i, &values, mask)?,
            2 => way.write::<2>(block, warp, i, &values, mask)?,
            4 => way.write::<4>(block, warp, i, &values, mask)?,
            _ => way.write::<8>(block, warp, i, &values, mask)?,
        }
    }
    Ok(())
}

pub(super) fn atomic(block: &mut Block<'_>, warp: &mut Warp, step: &AtomStep, mask: u32) -> Result<(), Stop> {
    let way = Way::new(warp, &step.access, Direction::Write, mask)?;
    way.check(block, mask)?;
    way.count(block, warp, mask);
    let (first, last) = (step.access.slots[0], step.access.slots[step.access.slots.len() - 1]);
    let (first, last) = (warp.bits(first), warp.bits(last));
    let mut old = [0; LANES];
    for lane in lanes(mask) {
        let (op, ty) = (step.op, step.access.ty);
        // Sums of f32 in global memory flush what is too small for a normal number; in shared memory they don't.
        let flushed = |bits: u64| if ty == Type::F32 && !way.shared && op == Atomic::Add { flush(bits) } else { bits };
        let new = |old: u64| flushed(combined(op, ty, flushed(old), flushed(first[lane]), last[lane]));
        old[lane] = if way.shared {
            let (at, who) = (way.addresses[lane] as u32, way.accessor(block, warp, lane));
            let result = block.shared.update(at, way.bytes, who, new);
            result.map_err(|conflict| way.conflict(block, warp, conflict, 0, lane))?
        } else {
            let (buffer, offset) = way.buffer(block.launch.memory, lane);
            buffer.update(offset, way.bytes, new)
        };
    }
    if let Some(slot) = step.dst {
        warp.set_bits(slot, mask, &old);
    }
    Ok(())
}

/// What an atomic leaves, given what was there and its operands.
fn combined(op: Atomic, ty: Type, old: u64, a: u64, b: u64) -> u64 {
    let signed = matches!(ty, Type::S32 | Type::S64);
    let number = |x: u64| if ty == Type::S32 { i64::from(x as i32) } else { x.cast_signed() };
    match op {
        Atomic::Add => sum(ty, old, a),
        Atomic::Min if signed => {
            if number(a) < number(old) {
                a
            } else {
                old
            }
        }
        Atomic::Max if signed => {
            if number(a) > number(old) {
                a
            } else {
                old
            }
        }
        Atomic::Min => old.min(a),
        Atomic::Max => old.max(a),
        Atomic::And => old & a,
        Atomic::Or => old | a,
        Atomic::Xor => old ^ a,
        Atomic::Exch => a,
        Atomic::Cas => {
            let own = u64::MAX >> (64 - 8 * type_bytes(ty));
            if old == a & own { b } else { old }
        }
    }
}

/// A subnormal `f32` as zero of its sign.
fn flush(bits: u64) -> u64 {
    if f32::from_bits(bits as u32).is_subnormal() { bits & 0x8000_0000 } else { bits }
}

fn sum(ty: Type, a: u64, b: u64) -> u64 {
    let halves = |add: fn(u16, u16) -> u16| {
        let low = add(a as u16, b as u16);
        u64::from(add((a >> 16) as u16, (b >> 16) as u16)) << 16 | u64::from(low)
    };
    match ty {
        Type::F32 => (f32::from_bits(a as u32) + f32::from_bits(b as u32)).to_bits().into(),
        Type::F64 => (f64::from_bits(a) + f64::from_bits(b)).to_bits(),
        Type::F16 => (f16::from_bits(a as u16) + f16::from_bits(b as u16)).to_bits().into(),
        Type::BF16 => (bf16::from_bits(a as u16) + bf16::from_bits(b as u16)).to_bits().into(),
        Type::F16x2 => halves(|a, b| (f16::from_bits(a) + f16::from_bits(b)).to_bits()),
        Type::BF16x2 => halves(|a, b| (bf16::from_bits(a) + bf16::from_bits(b)).to_bits()),
        _ => a.wrapping_add(b),
    }
}

/// An access under way: which memory it is to, and each lane's address there.
pub(super) struct Way {
    shared: bool,
    direction: Direction,
    addresses: Lanes64,
    /// Bytes of an element.
    bytes: u32,
    /// Bytes that a lane moves.
    width: u32,
}

impl Way {
    pub(super) fn new(warp: &Warp, step: &Access, direction: Direction, mask: u32) -> Result<Self, Stop> {
        let offset = step.place.offset as u64;
        let mut addresses = if step.place.base.wide() {
            warp.long(step.place.base).map(|base| base.wrapping_add(offset))
        } else {
            warp.word(step.place.base).map(|base| u64::from(base.wrapping_add(offset as u32)))
        };
        let is_shared = |lane: usize| step.space == Space::Shared || addresses[lane] >= SHARED_WINDOW;
        let shared = is_shared(mask.trailing_zeros() as usize);
        if step.space == Space::Generic
            && let Some(lane) = lanes(mask).find(|&lane| is_shared(lane) != shared)
        {
            let what = "an access of global and of shared memory in one instruction".into();
            return Err(Stop::new(lane as u32, FaultKind::Unsupported { what }));
        }
        if step.space == Space::Generic && shared {
            addresses = addresses.map(|address| address.wrapping_sub(SHARED_WINDOW));
        }
        let bytes = type_bytes(step.ty);
        Ok(Way { shared, direction, addresses, bytes, width: bytes * step.vector })
    }

    /// Whether every lane's address is aligned and inside of memory that allows the access.
    pub(super) fn check(&self, block: &Block<'_>, mask: u32) -> Result<(), Stop> {
        let (width, direction) = (u64::from(self.width), self.direction);
        let memory = block.launch.memory;
        let size = u64::from(block.shared.bytes);
        // The buffer of the lane before: mostly this one's too.
        let (mut start, mut length) = (0, 0);
        for lane in lanes(mask) {
            let address = self.addresses[lane];
            if address & (width - 1) != 0 {
                let memory = if self.shared { Memory::Shared } else { Memory::Global };
                return Err(Stop::new(lane as u32, FaultKind::Misaligned { address, bytes: self.width, memory }));
            }
            if self.shared {
                if address.saturating_add(width) > size {
                    let (bytes, size) = (self.width, block.shared.bytes);
                    return Err(Stop::new(
                        lane as u32,
                        FaultKind::SharedOutOfBounds { address, bytes, direction, size },
                    ));
                }
            } else if address.wrapping_sub(start).saturating_add(width) > length {
                match memory.find(address, self.width) {
                    Some((buffer, offset)) if buffer.writable || direction == Direction::Read => {
                        (start, length) = (address - offset, buffer.bytes);
                    }
                    _ => return Err(Stop::new(lane as u32, outside(block, address, self.width, direction))),
                }
            }
        }
        Ok(())
    }

    /// Where a lane's access to shared memory begins, and who makes it.
    pub(super) fn shared_place(&self, block: &Block<'_>, warp: &Warp, lane: usize) -> (u32, Accessor) {
        (self.addresses[lane] as u32, self.accessor(block, warp, lane))
    }

    #[inline(always)]
    fn accessor(&self, block: &Block<'_>, warp: &Warp, lane: usize) -> Accessor {
        Accessor { warp: warp.index, lane: lane as u32, at: warp.pc - 1, stamp: block.stamp }
    }

    #[cold]
    pub(super) fn conflict(&self, block: &Block<'_>, warp: &Warp, conflict: Conflict, i: usize, lane: usize) -> Stop {
        let at = self.addresses[lane] as u32 + i as u32 * self.bytes;
        Stop::new(lane as u32, block.shared_fault(conflict, at, self.bytes, warp, lane as u32, self.direction))
    }

    /// Reads element `i` of every lane and hands it on.
    #[inline(always)]
    pub(super) fn read<const BYTES: u32>(
        &self,
        block: &mut Block<'_>,
        warp: &Warp,
        i: usize,
        mask: u32,
        mut keep: impl FnMut(usize, u64),
    ) -> Result<(), Stop> {
        let offset = i as u32 * BYTES;
        for lane in lanes(mask) {
            if self.shared {
                let (at, who) = (self.addresses[lane] as u32 + offset, self.accessor(block, warp, lane));
                match block.shared.read(at, BYTES, who) {
                    Ok(value) => keep(lane, value),
                    Err(conflict) => return Err(self.conflict(block, warp, conflict, i, lane)),
                }
            } else {
                let (buffer, start) = self.buffer(block.launch.memory, lane);
                keep(lane, buffer.read(start + u64::from(offset), BYTES));
            }
        }
        Ok(())
    }

    /// Writes element `i` of every lane.
    #[inline(always)]
    fn write<const BYTES: u32>(
        &self,
        block: &mut Block<'_>,
        warp: &Warp,
        i: usize,
        values: &Lanes64,
        mask: u32,
    ) -> Result<(), Stop> {
        let offset = i as u32 * BYTES;
        for lane in lanes(mask) {
            if self.shared {
                let (at, who) = (self.addresses[lane] as u32 + offset, self.accessor(block, warp, lane));
                if let Err(conflict) = block.shared.write(at, BYTES, values[lane], who) {
                    return Err(self.conflict(block, warp, conflict, i, lane));
                }
            } else {
                let (buffer, start) = self.buffer(block.launch.memory, lane);
                buffer.write(start + u64::from(offset), BYTES, values[lane]);
            }
        }
        Ok(())
    }

    /// The buffer that a lane's address was found to be in, and where in it.
    #[inline(always)]
    fn buffer<'a>(&self, memory: &'a GlobalMemory, lane: usize) -> (&'a Buffer, u64) {
        memory.place(self.addresses[lane])
    }

    /// Counts what the access costs.
    pub(super) fn count(&self, block: &mut Block<'_>, warp: &Warp, mask: u32) {
        if self.shared {
            let active = std::array::from_fn(|lane| (mask >> lane & 1 == 1).then_some(self.addresses[lane] as u32));
            block.counters.shared_wavefronts += block.patterns.wavefronts(warp.pc as usize - 1, &active, self.width);
            block.counters.shared_ideal += u64::from(ideal(mask, self.width));
            return;
        }
        block.counters.global_sectors += sectors(&self.addresses, mask);
        block.counters.global_bytes += u64::from(self.width) * u64::from(mask.count_ones());
    }
}

/// What is wrong with an address that no buffer has, or not for this.
#[cold]
fn outside(block: &Block<'_>, address: u64, width: u32, direction: Direction) -> FaultKind {
    let memory = block.launch.memory;
    if let Some((buffer, _)) = memory.find(address, width) {
        return FaultKind::ReadOnly { address, parameter: buffer.name.clone() };
    }
    if address >> 32 == 0 {
        let params = block.launch.program.params.iter().zip(block.launch.params);
        let null = params.filter(|(param, value)| **value == 0 && param.ty == Type::U64);
        let parameters = null.map(|(param, _)| param.name.clone()).collect();
        return FaultKind::Null { address, bytes: width, parameters };
    }
    FaultKind::GlobalOutOfBounds { address, bytes: width, direction, nearest: memory.nearest(address) }
}

/// Sectors that the lanes touch. An aligned access is within one.
fn sectors(addresses: &Lanes64, mask: u32) -> u64 {
    let (mut found, mut count) = ([0; LANES], 0);
    for lane in lanes(mask) {
        let sector = addresses[lane] / SECTOR;
        // Neighbours are mostly in the sector found last.
        if !found[..count].iter().rev().any(|own| *own == sector) {
            found[count] = sector;
            count += 1;
        }
    }
    count as u64
}

/// The fewest wavefronts that an access of this width can take: one for each pass with an active lane.
fn ideal(mask: u32, width: u32) -> u32 {
    let lanes = WAVEFRONT / width.max(4);
    (0..LANES as u32).step_by(lanes as usize).filter(|first| mask >> first & (u32::MAX >> (32 - lanes)) != 0).count()
        as u32
}

/// Wavefronts of the shared accesses so far, by instruction. An instruction in a loop makes the same pattern again and
/// again, somewhere else: moved by whole words it takes as many wavefronts.
#[derive(Debug, Default)]
pub(in crate::sim) struct Patterns(Vec<Option<Box<Pattern>>>);

#[derive(Debug)]
struct Pattern {
    /// Addresses as seen from the word of the first active lane.
    relative: [Option<u32>; LANES],
    width: u32,
    wavefronts: u64,
}

impl Patterns {
    fn wavefronts(&mut self, pc: usize, addresses: &[Option<u32>; LANES], width: u32) -> u64 {
        let base = addresses.iter().flatten().next().map_or(0, |first| first & !3);
        let relative = addresses.map(|address| address.map(|address| address.wrapping_sub(base)));
        if self.0.len() <= pc {
            self.0.resize_with(pc + 1, || None);
        }
        match &self.0[pc] {
            Some(known) if known.relative == relative && known.width == width => known.wavefronts,
            _ => {
                let wavefronts = u64::from(wavefronts(addresses, width));
                self.0[pc] = Some(Box::new(Pattern { relative, width, wavefronts }));
                wavefronts
            }
        }
    }
}
