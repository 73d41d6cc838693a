//! Global memory: the buffers that a launch passes, far apart from one another.
//!
//! Buffer `i` begins at address `(i + 1) << 32` plus a margin, so that an address tells its buffer and a stray one is
//! outside of all. Blocks run in parallel and share the buffers, so their words are atomics, read and written relaxed:
//! blocks that don't touch the same memory don't notice, and those that do get one of the values.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// How far into its 4 GiB a buffer begins: room for addresses before it.
const MARGIN: u64 = 1 << 28;

/// The most bytes of a buffer.
pub(super) const LARGEST: u64 = (1 << 32) - 2 * MARGIN;

/// Where a thread's own memory begins in the space of generic addresses.
pub(super) const LOCAL_WINDOW: u64 = 0x7e00_0000_0000_0000;

/// Where shared memory begins in the space of generic addresses.
pub(super) const SHARED_WINDOW: u64 = 0x7f00_0000_0000_0000;

/// One buffer.
#[derive(Debug)]
pub(super) struct Buffer {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) writable: bool,
    words: Vec<AtomicU32>,
    /// Held by atomics of two words.
    long_atomic: Mutex<()>,
}

impl Buffer {
    pub(super) fn new(name: String, bytes: &[u8], writable: bool) -> Self {
        let word = |chunk: &[u8]| {
            let mut own = [0; 4];
            own[..chunk.len()].copy_from_slice(chunk);
            AtomicU32::new(u32::from_le_bytes(own))
        };
        let words = bytes.chunks(4).map(word).collect();
        Buffer { name, bytes: bytes.len() as u64, writable, words, long_atomic: Mutex::new(()) }
    }

    /// The buffer's bytes.
    pub(super) fn contents(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.load(Relaxed).to_le_bytes()).collect();
        bytes.truncate(self.bytes as usize);
        bytes
    }

    /// Reads 1, 2, 4 or 8 bytes at a multiple of that.
    #[inline(always)]
    pub(super) fn read(&self, offset: u64, bytes: u32) -> u64 {
        let word = (offset / 4) as usize;
        let low = u64::from(self.words[word].load(Relaxed));
        match bytes {
            8 => low | u64::from(self.words[word + 1].load(Relaxed)) << 32,
            4 => low,
            _ => low >> (offset % 4 * 8) & ((1 << (bytes * 8)) - 1),
        }
    }

    /// Writes 1, 2, 4 or 8 bytes at a multiple of that.
    #[inline(always)]
    pub(super) fn write(&self, offset: u64, bytes: u32, value: u64) {
        let word = (offset / 4) as usize;
        match bytes {
            8 => {
                self.words[word].store(value as u32, Relaxed);
                self.words[word + 1].store((value >> 32) as u32, Relaxed);
            }
            4 => self.words[word].store(value as u32, Relaxed),
            _ => {
                let shift = offset as u32 % 4 * 8;
                let mask = ((1_u32 << (bytes * 8)) - 1) << shift;
                let own = (value as u32) << shift & mask;
                let _ = self.words[word].fetch_update(Relaxed, Relaxed, |old| Some(old & !mask | own));
            }
        }
    }

    /// Replaces 2, 4 or 8 bytes by a function of them, in one step, and gives the old ones.
    pub(super) fn update(&self, offset: u64, bytes: u32, function: impl Fn(u64) -> u64) -> u64 {
        if bytes == 2 {
            return self.update_half(offset, function);
        }
        if bytes == 8 {
            let _alone = self.long_atomic.lock().unwrap_or_else(PoisonError::into_inner);
            let old = self.read(offset, 8);
            self.write(offset, 8, function(old));
            return old;
        }
        let word = &self.words[(offset / 4) as usize];
        let new = |old: u32| Some(function(old.into()) as u32);
        word.fetch_update(Relaxed, Relaxed, new).unwrap_or_else(|old| old).into()
    }

    fn update_half(&self, offset: u64, function: impl Fn(u64) -> u64) -> u64 {
        let shift = offset as u32 % 4 * 8;
        let half = |word: u32| u64::from(word >> shift & 0xffff);
        let new = |old: u32| Some(old & !(0xffff << shift) | (function(half(old)) as u32 & 0xffff) << shift);
        half(self.words[(offset / 4) as usize].fetch_update(Relaxed, Relaxed, new).unwrap_or_else(|old| old))
    }
}

/// Every buffer of a launch.
#[derive(Debug, Default)]
pub(super) struct GlobalMemory {
    pub(super) buffers: Vec<Buffer>,
}

impl GlobalMemory {
    /// Where a buffer begins.
    pub(super) fn base(index: usize) -> u64 {
        ((index as u64 + 1) << 32) + MARGIN
    }

    /// The buffer that an access lies in, and where in it.
    #[inline(always)]
    pub(super) fn find(&self, address: u64, bytes: u32) -> Option<(&Buffer, u64)> {
        let index = (address >> 32).checked_sub(1)? as usize;
        let buffer = self.buffers.get(index)?;
        let offset = address.checked_sub(Self::base(index))?;
        (offset + u64::from(bytes) <= buffer.bytes).then_some((buffer, offset))
    }

    /// The buffer and the place in it of an address that [`GlobalMemory::find`] found.
    #[inline(always)]
    pub(super) fn place(&self, address: u64) -> (&Buffer, u64) {
        let index = (address >> 32) as usize - 1;
        (&self.buffers[index], address - Self::base(index))
    }

    /// The buffer nearest to an address: its name, its bytes, and how far from its start the address is.
    pub(super) fn nearest(&self, address: u64) -> Option<(String, u64, i64)> {
        let distances = self.buffers.iter().enumerate().map(|(index, buffer)| {
            let start = address.wrapping_sub(Self::base(index)) as i64;
            let outside = if start < 0 { start.unsigned_abs() } else { (start as u64).saturating_sub(buffer.bytes) };
            (outside, (buffer.name.clone(), buffer.bytes, start))
        });
        distances.min_by_key(|(outside, _)| *outside).map(|(_, found)| found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> GlobalMemory {
        let bytes: Vec<u8> = (1..=10).collect();
        let buffer = |name: &str, writable| Buffer::new(name.into(), &bytes, writable);
        GlobalMemory { buffers: vec![buffer("x", false), buffer("y", true)] }
    }

    #[test]
    fn buffers_keep_their_bytes() {
        let buffer = &memory().buffers[1];
        buffer.write(2, 2, 0xdead_beef);
        buffer.write(9, 1, 0x77);
        assert_eq!(buffer.contents(), [1, 2, 0xef, 0xbe, 5, 6, 7, 8, 9, 0x77]);
        assert_eq!((buffer.read(4, 2), buffer.read(0, 8)), (0x0605, 0x0807_0605_beef_0201));
        assert_eq!(buffer.update(0, 8, |old| old + 1), 0x0807_0605_beef_0201);
        assert_eq!(buffer.update(0, 4, |old| old << 8), 0xbeef_0202);
        assert_eq!(buffer.read(0, 4), 0xef02_0200);
        assert_eq!(buffer.update(2, 2, |old| old + 0x1_0001), 0xef02);
        assert_eq!(buffer.read(0, 4), 0xef03_0200);
    }

    #[test]
    fn addresses_find_their_buffer() {
        let memory = memory();
        let find = |address, bytes| memory.find(address, bytes).map(|(buffer, offset)| (buffer.name.as_str(), offset));
        let base = GlobalMemory::base;
        assert_eq!(find(base(0), 4), Some(("x", 0)));
        assert_eq!(find(base(1) + 8, 2), Some(("y", 8)));
        assert_eq!([find(base(1) + 8, 4), find(base(0) - 4, 4), find(64, 4), find(base(2), 4)], [None; 4]);
    }

    #[test]
    fn the_nearest_buffer_is_named() {
        let nearest = |address| memory().nearest(address);
        let base = GlobalMemory::base;
        assert_eq!(nearest(base(0) + 16), Some(("x".into(), 10, 16)));
        assert_eq!(nearest(base(1) - 4), Some(("y".into(), 10, -4)));
    }
}
