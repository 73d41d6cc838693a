//! What a conversion costs, as numbers that a program's counters show.

use crate::text::Text;

/// What a conversion costs. Instructions are those of a thread, which are those of a warp.
///
/// The counts are what the program has, where all elements are different values: of selections and permutations there can
/// be fewer, since elements that are known to be equal need none, and halves that share a register already aren't packed.
/// Integers of 16 bits take a permutation each that floats don't, as they are kept in registers of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cost {
    /// Shuffles.
    pub shuffles: u32,
    /// Selections by the thread's number.
    pub selects: u32,
    /// Byte permutations that pack narrow elements into registers and take them apart.
    pub permutations: u32,
    /// Stores to and loads from shared memory.
    pub accesses: u32,
    /// Wavefronts of these, a warp.
    pub wavefronts: u32,
    /// Bytes of shared memory for the whole block.
    pub shared_bytes: u32,
    /// Synchronizations of a warp between stores and loads. There is one more before the stores where an earlier
    /// conversion may still be reading the memory; so it is with barriers.
    pub warp_syncs: u32,
    /// Barriers of the block between stores and loads.
    pub barriers: u32,
}

/// What a wavefront or a shuffle weighs against a selection: the unit that moves data takes one every other cycle.
const MOVE: u32 = 2;

/// What waiting for a warp's stores weighs, and for those of all warps.
const WARP_SYNC: u32 = 12;
const BARRIER: u32 = 40;

impl Cost {
    /// Cost of nothing.
    pub const NONE: Cost = Cost {
        shuffles: 0,
        selects: 0,
        permutations: 0,
        accesses: 0,
        wavefronts: 0,
        shared_bytes: 0,
        warp_syncs: 0,
        barriers: 0,
    };

    /// One number, by which a plan is chosen: about the issue cycles of a warp.
    ///
    /// A wavefront and a shuffle count 2, every other instruction 1, a synchronization of a warp 12 and a barrier 40. So a
    /// register-lane transposition of 32-bit elements is done by shuffles (2 of 4 registers: 2 shuffles and 6 selections
    /// weigh 10, 8 wavefronts and 8 accesses 24 and the wait), a whole transpose of 32 by 32 through shared memory.
    pub const fn weight(&self) -> u32 {
        MOVE * (self.shuffles + self.wavefronts)
            + self.selects
            + self.permutations
            + self.accesses
            + WARP_SYNC * self.warp_syncs
            + BARRIER * self.barriers
    }

    /// Appends the cost in words: `3 shuffles, 8 selections`.
    pub(crate) const fn write(&self, text: Text) -> Text {
        let mut list = List { text, empty: true };
        list.add(self.shuffles, "shuffle", "shuffles");
        list.add(self.selects, "selection", "selections");
        list.add(self.permutations, "byte permutation", "byte permutations");
        list.add(self.accesses, "shared-memory access", "shared-memory accesses");
        list.add(self.wavefronts, "wavefront", "wavefronts");
        list.add(self.shared_bytes, "byte of shared memory", "bytes of shared memory");
        list.add(self.warp_syncs, "synchronization of the warp", "synchronizations of the warp");
        list.add(self.barriers, "barrier of the block", "barriers of the block");
        if list.empty { list.text.push("nothing") } else { list.text }
    }
}

/// A list of counts, of which those of 0 aren't named.
struct List {
    text: Text,
    empty: bool,
}

impl List {
    const fn add(&mut self, count: u32, one: &str, many: &str) {
        if count > 0 {
            let text = if self.empty { self.text } else { self.text.push(", ") };
            self.text = text.number(count as usize).push(" ").push(if count == 1 { one } else { many });
            self.empty = false;
        }
    }
}

impl core::fmt::Display for Cost {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.write(Text::new("")).as_str())
    }
}
