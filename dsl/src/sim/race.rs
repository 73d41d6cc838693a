//! A block's shared memory, and who touched it.
//!
//! **A race** is two accesses of one byte by different threads, at least one of them a write, that nothing orders. Barriers of
//! the block order accesses before them against those after. Threads of one warp run in lockstep here, so accesses of
//! different instructions of one warp are taken as ordered; what is left between them is one instruction that writes
//! different values to one byte. So a byte races when, between two barriers, one warp writes it and another touches it.
//!
//! For each word the record says which warps wrote and read each of its bytes since the last barrier, and which bytes have
//! been written at all: a read of others is an error too.

/// Several warps, in place of a warp's number.
const SEVERAL: u8 = u8::MAX;

/// What is known of a word's four bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    /// Between which barriers the rest holds.
    epoch: u32,
    /// For each byte the warp that wrote it, plus 1; 0 is none.
    writers: [u8; 4],
    /// For each byte the warp that read it, plus 1, or [`SEVERAL`].
    readers: [u8; 4],
    /// Bytes that have been written at all, a bit each.
    written: u8,
    write_at: u32,
    read_at: u32,
    /// The last instruction that wrote, by its number in the run.
    stamp: u64,
    lane: u8,
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
        let record = self.record(word);
        if record.written & selected != selected {
            return Err(Conflict::Unwritten);
        }
        let own = who.warp as u8 + 1;
        for byte in (0..4).filter(|byte| selected >> byte & 1 == 1) {
            let writer = record.writers[byte];
            if writer != 0 && writer != own {
                return Err(Conflict::Race { warp: Some(u32::from(writer) - 1), at: record.write_at, wrote: true });
            }
            let reader = &mut record.readers[byte];
            *reader = if *reader == 0 || *reader == own { own } else { SEVERAL };
        }
        record.read_at = who.at;
        Ok(self.words[word])
    }

    #[inline]
    fn write_word(&mut self, word: usize, selected: u8, mask: u32, value: u32, who: Accessor) -> Result<(), Conflict> {
        let old = self.words[word];
        let record = self.record(word);
        let own = who.warp as u8 + 1;
        let again = record.stamp == who.stamp;
        for byte in (0..4).filter(|byte| selected >> byte & 1 == 1) {
            let (writer, reader) = (record.writers[byte], record.readers[byte]);
            if writer != 0 && writer != own {
                return Err(Conflict::Race { warp: Some(u32::from(writer) - 1), at: record.write_at, wrote: true });
            }
            if reader != 0 && reader != own {
                let warp = (reader != SEVERAL).then(|| u32::from(reader) - 1);
                return Err(Conflict::Race { warp, at: record.read_at, wrote: false });
            }
            let bits = 0xff << (byte * 8);
            if again && writer == own && old & bits != value & bits && record.lane != who.lane as u8 {
                return Err(Conflict::SameInstruction { lane: u32::from(record.lane) });
            }
            record.writers[byte] = own;
        }
        record.written |= selected;
        (record.write_at, record.stamp, record.lane) = (who.at, who.stamp, who.lane as u8);
        self.words[word] = old & !mask | value & mask;
        Ok(())
    }

    /// Replaces 4 bytes by a function of them and gives the old ones. Atomics don't race with one another.
    pub(super) fn update(&mut self, address: u32, function: impl Fn(u32) -> u32) -> Result<u32, Conflict> {
        let word = (address / 4) as usize;
        if self.records[word].written != 0b1111 {
            return Err(Conflict::Unwritten);
        }
        let old = self.words[word];
        self.words[word] = function(old);
        Ok(old)
    }
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
    }
}
