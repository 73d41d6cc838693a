//! A block's shared memory, and who touched it.
//!
//! **A race** is two accesses of one byte by different threads, at least one of them a write, that nothing orders. Barriers of
//! the block order accesses before them against those after. Threads of one warp run in lockstep here, so accesses of
//! different instructions of one warp are taken as ordered; what is left between them is one instruction that writes
//! different values to one byte. So a byte races when, between two barriers, one warp writes it and another touches it.
//!
//! Atomics are ordered against one another, but not against another warp's plain accesses.
//!
//! For each byte the record says which warp wrote it and which read it since the last barrier, and where; for each word,
//! which bytes have been written at all: a read of others is an error too.

/// Several warps, in place of a warp's number.
const SEVERAL: u8 = u8::MAX;

/// What is known of a word.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    /// Between which barriers the rest holds.
    epoch: u32,
    bytes: [ByteRecord; 4],
    /// The warp that made an atomic access, plus 1, or [`SEVERAL`]; 0 is none.
    updater: u8,
    update_at: u32,
    /// Bytes that have been written at all, a bit each.
    written: u8,
    /// The last instruction that wrote, by its number in the run, and the bytes that it wrote.
    stamp: u64,
    fresh: u8,
}

/// What is known of a byte: the warp that wrote it, plus 1; that which read it, plus 1, or [`SEVERAL`]; the places of their
/// last instructions; the lane that wrote. 0 is none.
#[derive(Clone, Copy, Debug, Default)]
struct ByteRecord {
    writer: u8,
    reader: u8,
    lane: u8,
    write_at: u32,
    read_at: u32,
}

impl Record {
    /// Fails if a warp other than `own` made an atomic access.
    #[inline]
    fn updated_by_others(&self, own: u8) -> Result<(), Conflict> {
        if self.updater == 0 || self.updater == own {
            return Ok(());
        }
        Err(Conflict::Race { warp: number(self.updater), at: self.update_at, wrote: true })
    }
}

impl ByteRecord {
    /// Fails if a warp other than `own` wrote it.
    #[inline]
    fn written_by_others(&self, own: u8) -> Result<(), Conflict> {
        if self.writer == 0 || self.writer == own {
            return Ok(());
        }
        Err(Conflict::Race { warp: number(self.writer), at: self.write_at, wrote: true })
    }

    /// Fails if a warp other than `own` read it.
    #[inline]
    fn read_by_others(&self, own: u8) -> Result<(), Conflict> {
        if self.reader == 0 || self.reader == own {
            return Ok(());
        }
        Err(Conflict::Race { warp: number(self.reader), at: self.read_at, wrote: false })
    }
}

/// A record's warp once more, or both.
#[inline]
fn joined(record: u8, own: u8) -> u8 {
    if record == 0 || record == own { own } else { SEVERAL }
}

fn number(record: u8) -> Option<u32> {
    (record != SEVERAL).then(|| u32::from(record) - 1)
}

/// What an access runs into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    /// The byte was never written.
    Unwritten,
    /// Another warp touched it: its number, where it is known, the place of its instruction, and whether it wrote.
    Race { warp: Option<u32>, at: u32, wrote: bool },
    /// Another lane of the same instruction writes another value to it.
    SameInstruction { lane: u32 },
}

/// Who accesses: the warp and lane, the instruction's place, and its number in the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Accessor {
    pub(super) warp: u32,
    pub(super) lane: u32,
    pub(super) at: u32,
    pub(super) stamp: u64,
}

/// A block's shared memory.
#[derive(Debug)]
pub(super) struct SharedMemory {
    words: Vec<u32>,
    records: Vec<Record>,
    pub(super) bytes: u32,
    epoch: u32,
}

impl SharedMemory {
    pub(super) fn new(bytes: u32) -> Self {
        let words = bytes.div_ceil(4) as usize;
        SharedMemory { words: vec![0; words], records: vec![Record::default(); words], bytes, epoch: 1 }
    }

    /// A barrier of the whole block: what came before is ordered against what follows.
    pub(super) fn barrier(&mut self) {
        self.epoch += 1;
    }

    /// Reads 1, 2, 4 or 8 bytes at a multiple of that.
    #[inline]
    pub(super) fn read(&mut self, address: u32, bytes: u32, who: Accessor) -> Result<u64, Conflict> {
        let first = (address / 4) as usize;
        if bytes == 8 {
            let low = self.read_word(first, 0b1111, who)?;
            return Ok(u64::from(low) | u64::from(self.read_word(first + 1, 0b1111, who)?) << 32);
        }
        let shift = address % 4;
        let word = self.read_word(first, ((1 << bytes) - 1) << shift, who)?;
        let mask = if bytes == 4 { u32::MAX } else { (1 << (bytes * 8)) - 1 };
        Ok(u64::from(word >> (shift * 8) & mask))
    }

    /// Writes 1, 2, 4 or 8 bytes at a multiple of that.
    #[inline]
    pub(super) fn write(&mut self, address: u32, bytes: u32, value: u64, who: Accessor) -> Result<(), Conflict> {
        let first = (address / 4) as usize;
        if bytes == 8 {
            self.write_word(first, 0b1111, u32::MAX, value as u32, who)?;
            return self.write_word(first + 1, 0b1111, u32::MAX, (value >> 32) as u32, who);
        }
        let shift = address % 4;
        let mask = if bytes == 4 { u32::MAX } else { ((1 << (bytes * 8)) - 1) << (shift * 8) };
        self.write_word(first, ((1 << bytes) - 1) << shift, mask, (value as u32) << (shift * 8), who)
    }

    #[inline]
    fn record(&mut self, word: usize) -> &mut Record {
        let epoch = self.epoch;
        let record = &mut self.records[word];
        if record.epoch != epoch {
            let written = record.written;
            *record = Record { epoch, written, ..Record::default() };
        }
        record
    }

    #[inline]
    fn read_word(&mut self, word: usize, selected: u8, who: Accessor) -> Result<u32, Conflict> {
        let own = who.warp as u8 + 1;
        let record = self.record(word);
        if record.written & selected != selected {
            return Err(Conflict::Unwritten);
        }
        record.updated_by_others(own)?;
        for byte in selected_bytes(&mut record.bytes, selected) {
            byte.written_by_others(own)?;
            (byte.reader, byte.read_at) = (joined(byte.reader, own), who.at);
        }
        Ok(self.words[word])
    }

    #[inline]
    fn write_word(&mut self, word: usize, selected: u8, mask: u32, value: u32, who: Accessor) -> Result<(), Conflict> {
        let (old, own) = (self.words[word], who.warp as u8 + 1);
        let new = old & !mask | value & mask;
        let record = self.record(word);
        record.updated_by_others(own)?;
        let again = if record.stamp == who.stamp { record.fresh & selected } else { 0 };
        let changed = old ^ new;
        for (i, byte) in record.bytes.iter_mut().enumerate().filter(|(i, _)| selected >> i & 1 == 1) {
            byte.written_by_others(own)?;
            byte.read_by_others(own)?;
            if again >> i & 1 == 1 && changed >> (8 * i) & 0xff != 0 {
                return Err(Conflict::SameInstruction { lane: byte.lane.into() });
            }
            (byte.writer, byte.write_at, byte.lane) = (own, who.at, who.lane as u8);
        }
        record.fresh = selected | if record.stamp == who.stamp { record.fresh } else { 0 };
        record.stamp = who.stamp;
        record.written |= selected;
        self.words[word] = new;
        Ok(())
    }

    /// Replaces 4 bytes by a function of them and gives the old ones: an atomic access.
    pub(super) fn update(
        &mut self,
        address: u32,
        function: impl Fn(u32) -> u32,
        who: Accessor,
    ) -> Result<u32, Conflict> {
        let (word, own) = ((address / 4) as usize, who.warp as u8 + 1);
        let record = self.record(word);
        if record.written != 0b1111 {
            return Err(Conflict::Unwritten);
        }
        for byte in &record.bytes {
            byte.written_by_others(own)?;
            byte.read_by_others(own)?;
        }
        (record.updater, record.update_at) = (joined(record.updater, own), who.at);
        let old = self.words[word];
        self.words[word] = function(old);
        Ok(old)
    }
}

#[inline]
fn selected_bytes(bytes: &mut [ByteRecord; 4], selected: u8) -> impl Iterator<Item = &mut ByteRecord> {
    bytes.iter_mut().enumerate().filter(move |(i, _)| selected >> i & 1 == 1).map(|(_, byte)| byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn who(warp: u32, lane: u32, stamp: u64) -> Accessor {
        Accessor { warp, lane, at: 7, stamp }
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
        let race = Conflict::Race { warp: Some(0), at: 7, wrote: true };
        assert_eq!(memory.read(0, 4, who(1, 0, 2)), Err(race));
        memory.barrier();
        assert_eq!(memory.read(0, 4, who(1, 0, 3)), Ok(1));
        let race = Conflict::Race { warp: Some(1), at: 7, wrote: false };
        assert_eq!(memory.write(0, 4, 2, who(0, 0, 4)), Err(race));
        memory.read(0, 4, who(2, 0, 5)).unwrap();
        let race = Conflict::Race { warp: None, at: 7, wrote: false };
        assert_eq!(memory.write(0, 4, 2, who(1, 0, 6)), Err(race));
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
    fn one_instruction_may_write_one_value_only() {
        let mut memory = SharedMemory::new(16);
        memory.write(0, 4, 5, who(0, 0, 1)).unwrap();
        memory.write(0, 4, 5, who(0, 1, 1)).unwrap();
        assert_eq!(memory.write(0, 4, 6, who(0, 2, 1)), Err(Conflict::SameInstruction { lane: 1 }));
        memory.write(0, 4, 6, who(0, 2, 2)).unwrap();
        // Each byte is held against what the instruction itself wrote to it, not to its neighbours.
        memory.write(0, 2, 7, who(0, 0, 3)).unwrap();
        memory.write(2, 2, 8, who(0, 1, 3)).unwrap();
        assert_eq!(memory.write(0, 2, 9, who(0, 2, 3)), Err(Conflict::SameInstruction { lane: 0 }));
    }

    #[test]
    fn atomics_race_with_plain_accesses_of_others() {
        let mut memory = SharedMemory::new(16);
        memory.write(0, 4, 1, who(0, 0, 1)).unwrap();
        let race = |warp, wrote| Err(Conflict::Race { warp, at: 7, wrote });
        assert_eq!(memory.update(0, |old| old + 1, who(0, 0, 2)), Ok(1));
        assert_eq!(memory.update(0, |old| old + 1, who(1, 0, 3)), race(Some(0), true));
        memory.barrier();
        memory.update(0, |old| old + 1, who(0, 0, 4)).unwrap();
        assert_eq!(memory.read(0, 4, who(0, 0, 5)), Ok(3));
        assert_eq!(memory.update(0, |old| old + 1, who(1, 0, 6)), race(Some(0), false));
        memory.barrier();
        memory.update(0, |old| old + 1, who(0, 0, 7)).unwrap();
        memory.update(0, |old| old + 1, who(1, 0, 8)).unwrap();
        let race = Conflict::Race { warp: None, at: 7, wrote: true };
        assert_eq!(memory.read(0, 4, who(1, 0, 9)), Err(race));
    }
}
