//! A block's shared memory, and who touched it.
//!
//! **A race** is two accesses of one byte by different threads, at least one of them a write, that nothing orders. Barriers
//! of the block order accesses before them against those after. Atomics don't race with one another. Threads of one warp
//! run in lockstep here, so accesses of different instructions of one warp are taken as ordered (a kernel that relies on
//! it without `bar.warp.sync` is not found out); what is left between them is one instruction that writes different values
//! to one byte. So a byte races when, between two barriers, one warp writes it and another touches it.
//!
//! For each byte the record says which warps wrote and read it since the last barrier, and with which instruction; and
//! whether it was written at all: reading it before is an error too. For example after warps 0 and 3 read a byte its
//! `readers` is warp 0, its `others` warp 3, and a write by either of them is a race with the other.

use super::copies::{AsyncCopies, AsyncCopy};

/// A warp and the place of its instruction; 0 is nobody.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Who(u32);

/// Bits that hold a warp's number, plus 1; the highest bit marks an atomic and the rest is the place.
const WARP_BITS: u32 = 6;
const ATOMIC: u32 = 1 << 31;

impl Who {
    fn new(accessor: Accessor) -> Self {
        Who((accessor.at << WARP_BITS | (accessor.warp + 1)) & !ATOMIC)
    }

    fn is_atomic(self) -> bool {
        self.0 & ATOMIC != 0
    }

    /// Whether this is somebody of another warp.
    #[inline(always)]
    fn is_not(self, own: Who) -> bool {
        self.0 != 0 && (self.0 ^ own.0) & ((1 << WARP_BITS) - 1) != 0
    }

    /// The same as a mask of 32 bits, for code without branches.
    #[inline(always)]
    fn differs(self, own: Who) -> u32 {
        if (self.0 != 0) & ((self.0 ^ own.0) & ((1 << WARP_BITS) - 1) != 0) { u32::MAX } else { 0 }
    }

    fn race(self, wrote: bool) -> Conflict {
        let warp = (self.0 & ((1 << WARP_BITS) - 1)) - 1;
        Conflict::Race { warp, at: (self.0 & !ATOMIC) >> WARP_BITS, wrote: wrote || self.is_atomic() }
    }
}

/// What is known of a word's four bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    /// Between which barriers the rest holds.
    epoch: u32,
    /// The last instruction that wrote, by its number in the run; this and the next two hold for good.
    stamp: u32,
    lane: u8,
    /// Its warp's number, plus 1.
    by: u8,
    /// Bytes that have been written at all, a bit each. What a copy is bringing counts as not written.
    written: u8,
    /// Whether a copy is bringing the word.
    coming: bool,
    /// For each byte the last write, or the first warp's atomic.
    writers: [Who; 4],
    /// For each byte a read.
    readers: [Who; 4],
    /// For each byte a read, or an atomic, of a second warp.
    others: [Who; 4],
}

impl Record {
    /// What a read ran into.
    #[cold]
    fn wrong_read(&self, selected: u8, own: Who) -> Conflict {
        if self.coming {
            return Conflict::Coming;
        }
        if self.written & selected != selected {
            return Conflict::Unwritten;
        }
        let bytes = (0..4).filter(|byte| selected >> byte & 1 == 1);
        let mut races = bytes.filter_map(|byte| {
            let atomic = Some(self.others[byte]).filter(|other| other.is_atomic());
            [Some(self.writers[byte]), atomic].into_iter().flatten().find(|who| who.is_not(own))
        });
        races.next().map_or(Conflict::Unwritten, |who| who.race(true))
    }

    /// What a write ran into.
    #[cold]
    fn wrong_write(&self, selected: u8, own: Who) -> Conflict {
        if self.coming {
            return Conflict::Coming;
        }
        let mut bytes = (0..4).filter(|byte| selected >> byte & 1 == 1);
        let race = bytes.find_map(|byte| {
            let readers = [(self.readers[byte], false), (self.others[byte], false)];
            let mut all = [(self.writers[byte], true)].into_iter().chain(readers);
            all.find(|(who, _)| who.is_not(own)).map(|(who, wrote)| who.race(wrote))
        });
        race.unwrap_or(Conflict::SameInstruction { lane: self.lane.into() })
    }
}

/// What an access runs into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    /// The byte was never written.
    Unwritten,
    /// An asynchronous copy may still be bringing it.
    Coming,
    /// A product of wgmma may still be reading it.
    Multiplied,
    /// A product of wgmma reads what a warp wrote without making it visible.
    Unfenced { warp: u32 },
    /// Another warp touched it: its number, the place of its instruction, and whether it wrote.
    Race { warp: u32, at: u32, wrote: bool },
    /// Another lane of the same instruction writes another value to it.
    SameInstruction { lane: u32 },
}

/// Who accesses: the warp and lane, the instruction's place, and its number in the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accessor {
    pub(super) warp: u32,
    pub(super) lane: u32,
    pub(super) at: u32,
    pub(super) stamp: u32,
}

/// A block's shared memory.
#[derive(Debug)]
pub(super) struct SharedMemory {
    words: Vec<u32>,
    records: Vec<Record>,
    pub(super) bytes: u32,
    epoch: u32,
    pub(super) copies: AsyncCopies,
    /// For each word, if there are any, how many products of wgmma read it.
    reading: Vec<u16>,
    /// When each warp last made its writes visible to wgmma.
    fences: Vec<u32>,
}

impl SharedMemory {
    pub(super) fn new(bytes: u32) -> Self {
        let words = bytes.div_ceil(4) as usize;
        SharedMemory {
            words: vec![0; words],
            records: vec![Record::default(); words],
            bytes,
            epoch: 1,
            copies: AsyncCopies::default(),
            reading: Vec::new(),
            fences: Vec::new(),
        }
    }

    /// A barrier of the whole block: what came before is ordered against what follows.
    pub(super) fn barrier(&mut self) {
        self.epoch += 1;
    }

    /// Reads 1, 2, 4 or 8 bytes at a multiple of that.
    #[inline(always)]
    pub(super) fn read(&mut self, address: u32, bytes: u32, who: Accessor) -> Result<u64, Conflict> {
        let first = (address / 4) as usize;
        match bytes {
            4 => self.read_word(first, 0b1111, who).map(u64::from),
            8 => {
                let low = self.read_word(first, 0b1111, who)?;
                Ok(u64::from(low) | u64::from(self.read_word(first + 1, 0b1111, who)?) << 32)
            }
            _ => {
                let word = self.read_word(first, ((1 << bytes) - 1) << (address % 4), who)?;
                Ok(u64::from(word >> (address % 4 * 8) & ((1 << (bytes * 8)) - 1)))
            }
        }
    }

    /// Writes 1, 2, 4 or 8 bytes at a multiple of that.
    #[inline(always)]
    pub(super) fn write(&mut self, address: u32, bytes: u32, value: u64, who: Accessor) -> Result<(), Conflict> {
        let first = (address / 4) as usize;
        match bytes {
            4 => self.write_word(first, 0b1111, value as u32, who),
            8 => {
                self.write_word(first, 0b1111, value as u32, who)?;
                self.write_word(first + 1, 0b1111, (value >> 32) as u32, who)
            }
            _ => {
                let (selected, shift) = (((1 << bytes) - 1) << (address % 4), address % 4 * 8);
                self.write_word(first, selected, (value as u32) << shift, who)
            }
        }
    }

    /// Replaces 2, 4 or 8 bytes by a function of them and gives the old ones.
    pub(super) fn update(
        &mut self,
        address: u32,
        bytes: u32,
        who: Accessor,
        function: impl Fn(u64) -> u64,
    ) -> Result<u64, Conflict> {
        let first = (address / 4) as usize;
        if bytes == 2 {
            return self.update_half(first, address % 4, who, function);
        }
        let last = first + (bytes / 4) as usize - 1;
        for word in first..=last {
            self.touch(word, 0b1111, who)?;
        }
        let high = if bytes == 8 { u64::from(self.words[last]) << 32 } else { 0 };
        let old = u64::from(self.words[first]) | high;
        let new = function(old);
        self.words[last] = (new >> (8 * (bytes - 4))) as u32;
        self.words[first] = new as u32;
        Ok(old)
    }

    fn update_half(
        &mut self,
        word: usize,
        byte: u32,
        who: Accessor,
        function: impl Fn(u64) -> u64,
    ) -> Result<u64, Conflict> {
        self.touch(word, 0b11 << byte, who)?;
        let (own, shift) = (self.words[word], byte * 8);
        let old = u64::from(own >> shift & 0xffff);
        self.words[word] = own & !(0xffff << shift) | (function(old) as u32 & 0xffff) << shift;
        Ok(old)
    }

    /// Begins an asynchronous copy; in front of a conflict the word that has it.
    pub(super) fn begin_copy(&mut self, copy: AsyncCopy) -> Result<(), (usize, Conflict)> {
        let first = (copy.address / 4) as usize;
        for i in 0..copy.count as usize {
            let old = self.words[first + i];
            self.write_word(first + i, 0b1111, old, copy.who).map_err(|conflict| (i, conflict))?;
            let record = &mut self.records[first + i];
            (record.written, record.coming) = (0, true);
        }
        self.copies.begin(copy);
        Ok(())
    }

    /// Ends an asynchronous copy that was waited for.
    pub(super) fn end_copy(&mut self, copy: AsyncCopy) -> Result<(), (usize, Conflict)> {
        let first = (copy.address / 4) as usize;
        for (i, word) in copy.words[..copy.count as usize].iter().enumerate() {
            self.records[first + i].coming = false;
            self.write_word(first + i, 0b1111, *word, copy.who).map_err(|conflict| (i, conflict))?;
        }
        Ok(())
    }

    /// Reads a word for a product of wgmma.
    pub(super) fn multiplied(&mut self, address: u32, who: Accessor) -> Result<u32, Conflict> {
        let (word, at) = (self.read_word((address / 4) as usize, 0b1111, who)?, (address / 4) as usize);
        let Record { by, stamp, .. } = self.records[at];
        let warp = u32::from(by.saturating_sub(1));
        let fenced = self.fences.get(warp as usize).is_some_and(|&fence| fence >= stamp);
        if fenced { Ok(word) } else { Err(Conflict::Unfenced { warp }) }
    }

    /// Begins a product's reads of words.
    pub(super) fn begin_reads(&mut self, words: &[u32]) {
        self.reading.resize(self.words.len(), 0);
        words.iter().for_each(|&word| self.reading[word as usize] += 1);
    }

    /// Ends them.
    pub(super) fn end_reads(&mut self, words: &[u32]) {
        words.iter().for_each(|&word| self.reading[word as usize] -= 1);
    }

    /// Makes what a warp wrote visible to wgmma.
    pub(super) fn fence(&mut self, warp: u32, stamp: u32) {
        let warp = warp as usize;
        if self.fences.len() <= warp {
            self.fences.resize(warp + 1, 0);
        }
        self.fences[warp] = stamp;
    }

    fn is_multiplied(&self, word: usize) -> bool {
        self.reading.get(word).is_some_and(|&count| count > 0)
    }

    #[inline(always)]
    fn record(&mut self, word: usize) -> &mut Record {
        let epoch = self.epoch;
        let record = &mut self.records[word];
        if record.epoch != epoch {
            let Record { stamp, lane, by, written, coming, .. } = *record;
            *record = Record { epoch, stamp, lane, by, written, coming, ..Record::default() };
        }
        record
    }

    #[inline(always)]
    fn read_word(&mut self, word: usize, selected: u8, who: Accessor) -> Result<u32, Conflict> {
        let own = Who::new(who);
        let record = self.record(word);
        let mut wrong = 0;
        // No branches here: all four bytes are looked at, and noted, at once.
        for byte in 0..4 {
            let on = if selected >> byte & 1 == 1 { u32::MAX } else { 0 };
            let (reader, other) = (record.readers[byte], record.others[byte]);
            let second = on & reader.differs(own);
            let atomic = if other.0 & ATOMIC != 0 { u32::MAX } else { 0 };
            wrong |= on & (record.writers[byte].differs(own) | (atomic & other.differs(own)));
            record.readers[byte].0 = (own.0 & on & !second) | (reader.0 & !(on & !second));
            record.others[byte].0 = (own.0 & second) | (other.0 & !second);
        }
        let wrong = wrong != 0 || record.written & selected != selected;
        if wrong {
            return Err(record.wrong_read(selected, own));
        }
        Ok(self.words[word])
    }

    #[inline(always)]
    fn write_word(&mut self, word: usize, selected: u8, value: u32, who: Accessor) -> Result<(), Conflict> {
        let own = Who::new(who);
        let old = self.words[word];
        if self.is_multiplied(word) {
            return Err(Conflict::Multiplied);
        }
        let record = self.record(word);
        let again = record.stamp == who.stamp && record.lane != who.lane as u8;
        let (mut wrong, mut mask) = (record.coming, 0);
        for byte in 0..4 {
            let on = selected >> byte & 1 == 1;
            let (writer, bits) = (record.writers[byte], 0xff << (byte * 8));
            wrong |= on & (writer.is_not(own) | record.readers[byte].is_not(own) | record.others[byte].is_not(own));
            wrong |= on & again & (writer.0 == own.0) & ((old ^ value) & bits != 0);
            mask |= if on { bits } else { 0 };
        }
        if wrong {
            return Err(record.wrong_write(selected, own));
        }
        for (byte, writer) in record.writers.iter_mut().enumerate() {
            *writer = if selected >> byte & 1 == 1 { own } else { *writer };
        }
        record.written |= selected;
        (record.stamp, record.lane, record.by) = (who.stamp, who.lane as u8, who.warp as u8 + 1);
        self.words[word] = old & !mask | value & mask;
        Ok(())
    }

    /// Notes an atomic on some bytes of a word.
    fn touch(&mut self, word: usize, selected: u8, who: Accessor) -> Result<(), Conflict> {
        let own = Who::new(who);
        let atomic = Who(own.0 | ATOMIC);
        if self.is_multiplied(word) {
            return Err(Conflict::Multiplied);
        }
        let record = self.record(word);
        if record.written & selected != selected {
            return Err(record.wrong_read(selected, own));
        }
        for byte in (0..4).filter(|byte| selected >> byte & 1 == 1) {
            let writer = record.writers[byte];
            if writer.is_not(own) && !writer.is_atomic() {
                return Err(writer.race(true));
            }
            let readers = [record.readers[byte], record.others[byte]];
            if let Some(reader) = readers.into_iter().find(|who| who.is_not(own) && !who.is_atomic()) {
                return Err(reader.race(false));
            }
            if writer.is_not(own) {
                record.others[byte] = atomic;
            } else if writer == Who::default() {
                record.writers[byte] = atomic;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(warp: u32, lane: u32, stamp: u32) -> Accessor {
        Accessor { warp, lane, at: 7, stamp }
    }

    fn written() -> SharedMemory {
        let mut memory = SharedMemory::new(16);
        memory.write(0, 4, 1, who(0, 0, 1)).unwrap();
        memory.barrier();
        memory
    }

    #[test]
    fn a_read_needs_a_write_before() {
        let mut memory = SharedMemory::new(16);
        assert_eq!(memory.read(4, 4, who(0, 0, 1)), Err(Conflict::Unwritten));
        memory.write(4, 2, 0xabcd, who(0, 0, 2)).unwrap();
        assert_eq!(memory.read(4, 4, who(0, 0, 3)), Err(Conflict::Unwritten));
        assert_eq!(memory.read(4, 2, who(0, 0, 3)), Ok(0xabcd));
    }

    #[test]
    fn warps_race_until_a_barrier() {
        let mut memory = SharedMemory::new(16);
        memory.write(0, 4, 1, who(0, 0, 1)).unwrap();
        let race = |warp, wrote| Conflict::Race { warp, at: 7, wrote };
        assert_eq!(memory.read(0, 4, who(1, 0, 2)), Err(race(0, true)));
        memory.barrier();
        assert_eq!(memory.read(0, 4, who(1, 0, 3)), Ok(1));
        assert_eq!(memory.write(0, 4, 2, who(0, 0, 4)), Err(race(1, false)));
        memory.read(0, 4, who(2, 0, 5)).unwrap();
        assert_eq!(memory.write(0, 4, 2, who(1, 0, 6)), Err(race(2, false)));
    }

    #[test]
    fn neighbouring_bytes_do_not_race() {
        let mut memory = SharedMemory::new(16);
        memory.write(0, 2, 1, who(0, 0, 1)).unwrap();
        memory.write(2, 2, 2, who(1, 0, 2)).unwrap();
        memory.barrier();
        assert_eq!(memory.read(0, 4, who(3, 0, 3)), Ok(0x2_0001));
    }

    #[test]
    fn a_race_names_the_instruction_that_wrote_the_byte() {
        let mut memory = SharedMemory::new(16);
        memory.write(0, 2, 1, Accessor { at: 5, ..who(0, 0, 1) }).unwrap();
        memory.write(2, 2, 2, Accessor { at: 6, ..who(1, 0, 2) }).unwrap();
        assert_eq!(memory.read(0, 2, who(2, 0, 3)), Err(Conflict::Race { warp: 0, at: 5, wrote: true }));
    }

    #[test]
    fn one_instruction_may_write_one_value_only() {
        let mut memory = SharedMemory::new(16);
        memory.write(0, 4, 5, who(0, 0, 1)).unwrap();
        memory.write(0, 4, 5, who(0, 1, 1)).unwrap();
        assert_eq!(memory.write(0, 4, 6, who(0, 2, 1)), Err(Conflict::SameInstruction { lane: 1 }));
        memory.write(0, 4, 6, who(0, 2, 2)).unwrap();
    }

    #[test]
    fn what_a_copy_may_be_bringing_is_nobodys() {
        let copy = |stamp| AsyncCopy { who: who(0, 0, stamp), address: 0, words: [5, 6, 0, 0], count: 2 };
        let mut memory = written();
        memory.begin_copy(copy(2)).unwrap();
        assert_eq!(memory.read(0, 4, who(0, 0, 3)), Err(Conflict::Coming));
        assert_eq!(memory.write(4, 2, 1, who(1, 0, 4)), Err(Conflict::Coming));
        assert_eq!(memory.update(4, 4, who(1, 0, 5), |old| old), Err(Conflict::Coming));
        memory.barrier();
        assert_eq!(memory.read(4, 2, who(0, 0, 6)), Err(Conflict::Coming));
        assert_eq!(memory.begin_copy(copy(7)), Err((0, Conflict::Coming)));
        memory.end_copy(copy(2)).unwrap();
        // It came between the last barrier and here: the thread itself may read it, another behind a barrier.
        assert_eq!(memory.read(0, 8, who(0, 0, 8)), Ok(6 << 32 | 5));
        assert_eq!(memory.read(0, 4, who(1, 0, 9)), Err(Conflict::Race { warp: 0, at: 7, wrote: true }));
        memory.barrier();
        assert_eq!(memory.read(0, 8, who(1, 0, 10)), Ok(6 << 32 | 5));
    }

    #[test]
    fn a_copy_races_with_what_was_read_before_it() {
        let copy = AsyncCopy { who: who(0, 0, 3), address: 0, words: [5; 4], count: 1 };
        let mut memory = written();
        memory.read(0, 4, who(1, 0, 2)).unwrap();
        assert_eq!(memory.begin_copy(copy), Err((0, Conflict::Race { warp: 1, at: 7, wrote: false })));
        memory.barrier();
        memory.begin_copy(copy).unwrap();
    }

    #[test]
    fn atomics_race_with_the_others_only() {
        let add = |memory: &mut SharedMemory, warp| memory.update(0, 4, who(warp, 0, 9), |old| old + 1);
        let mut memory = written();
        assert_eq!([add(&mut memory, 0), add(&mut memory, 1), add(&mut memory, 0)], [Ok(1), Ok(2), Ok(3)]);
        for warp in 0..2 {
            let race = Conflict::Race { warp: 1 - warp, at: 7, wrote: true };
            assert_eq!(memory.read(0, 4, who(warp, 0, 10)), Err(race));
        }
        let mut memory = written();
        memory.read(0, 4, who(1, 0, 2)).unwrap();
        add(&mut memory, 1).unwrap();
        assert_eq!(add(&mut memory, 0), Err(Conflict::Race { warp: 1, at: 7, wrote: false }));
        let mut memory = written();
        memory.write(0, 4, 3, who(1, 0, 2)).unwrap();
        add(&mut memory, 1).unwrap();
        assert_eq!(add(&mut memory, 0), Err(Conflict::Race { warp: 1, at: 7, wrote: true }));
    }

    #[test]
    fn short_atomics_take_half_a_word() {
        let mut memory = SharedMemory::new(16);
        memory.write(2, 2, 0xffff, who(0, 0, 1)).unwrap();
        assert_eq!(memory.update(2, 2, who(0, 0, 2), |old| old + 3), Ok(0xffff));
        assert_eq!(memory.update(0, 2, who(0, 0, 2), |old| old), Err(Conflict::Unwritten));
        memory.write(0, 2, 7, who(1, 0, 3)).unwrap();
        memory.barrier();
        assert_eq!(memory.read(0, 4, who(0, 0, 4)), Ok(0x2_0007));
    }

    #[test]
    fn long_atomics_take_two_words() {
        let mut memory = SharedMemory::new(16);
        memory.write(8, 8, u64::from(u32::MAX), who(0, 0, 1)).unwrap();
        assert_eq!(memory.update(8, 8, who(0, 0, 2), |old| old + 1), Ok(u64::from(u32::MAX)));
        assert_eq!(memory.read(8, 8, who(0, 0, 3)), Ok(1 << 32));
    }
}
