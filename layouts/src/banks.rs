//! Bank conflicts: how many wavefronts a shared-memory access takes.
//!
//! Shared memory has 32 banks of 4 bytes. An access of at most 4 bytes a lane goes in one pass, of 8 bytes in two passes
//! of half a warp, of 16 bytes in four passes of a quarter. In a pass a bank gives one word a wavefront, to every lane that
//! wants that word; so a pass takes as many wavefronts as its busiest bank has different words. [`wavefronts`] is this
//! law: the algebra asks it for the addresses that layouts give, the simulator for those that a program used.

use crate::layout::{LANE_BITS, Layout};
use crate::shared::SharedLayout;

/// Banks of shared memory.
pub const BANKS: usize = 32;

/// Lanes of a warp.
pub const LANES: usize = 32;

/// Bytes that a bank gives a wavefront.
const WORD: u32 = 4;

/// Wavefronts of one access of a warp: the byte address of each active lane, and the bytes (1 to 16) that each moves.
pub const fn wavefronts(addresses: &[Option<u32>; LANES], bytes: u32) -> u32 {
    let words = if bytes > WORD { bytes / WORD } else { 1 };
    let lanes = LANES / words as usize;
    let (mut sum, mut first) = (0, 0);
    while first < LANES {
        sum += pass(addresses, first, lanes, words);
        first += lanes;
    }
    sum
}

/// Wavefronts of the lanes `first..first + lanes`.
const fn pass(addresses: &[Option<u32>; LANES], first: usize, lanes: usize, words: u32) -> u32 {
    let mut seen = [[0_u32; LANES]; BANKS];
    let mut counts = [0_usize; BANKS];
    let (mut busiest, mut lane) = (0, first);
    while lane < first + lanes {
        if let Some(address) = addresses[lane] {
            let mut i = 0;
            while i < words {
                let word = address / WORD + i;
                let bank = word as usize % BANKS;
                if !contains(&seen[bank], counts[bank], word) {
                    seen[bank][counts[bank]] = word;
                    counts[bank] += 1;
                    if counts[bank] > busiest {
                        busiest = counts[bank];
                    }
                }
                i += 1;
            }
        }
        lane += 1;
    }
    busiest as u32
}

const fn contains(words: &[u32; LANES], count: usize, word: u32) -> bool {
    let mut i = 0;
    while i < count {
        if words[i] == word {
            return true;
        }
        i += 1;
    }
    false
}

/// How a tile is stored to shared memory, or loaded from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Elements that one instruction of a thread moves.
    pub vector: usize,
    /// Instructions a thread.
    pub instructions: u32,
    /// Wavefronts a warp, of all instructions.
    pub wavefronts: u32,
    /// The fewest wavefronts that accesses of this width can take.
    pub ideal: u32,
}

impl Access {
    /// Whether no access takes more wavefronts than its width needs.
    pub const fn is_conflict_free(&self) -> bool {
        self.wavefronts <= self.ideal
    }
}

/// The accesses that load a tile in a register layout from a view of shared memory.
pub const fn load(tile: &Layout, memory: &SharedLayout, element_bits: u32) -> Access {
    let (mut duplicates, mut i) = (0, 0);
    while i < tile.register_bits() {
        if tile.register_basis(i) == 0 {
            duplicates |= 1 << i;
        }
        i += 1;
    }
    access(tile, memory, element_bits, duplicates, 0)
}

/// The accesses that store a tile: one of the threads and registers that hold an element stores it.
pub const fn store(tile: &Layout, memory: &SharedLayout, element_bits: u32) -> Access {
    access(tile, memory, element_bits, tile.free_registers(), tile.free_lanes())
}

const fn access(tile: &Layout, memory: &SharedLayout, element_bits: u32, skipped: u32, idle: u32) -> Access {
    let bytes = element_bits / 8;
    let vector_bits = vector_bits(tile, memory, element_bits, skipped);
    let registers = tile.register_bits() as u32 - skipped.count_ones();
    let instructions = 1 << (registers - vector_bits);
    let (mut addresses, mut lane) = ([None; LANES], 0);
    while lane < LANES {
        if lane as u32 & idle == 0 {
            addresses[lane] = Some(memory.offset(tile.apply(0, lane, 0)) * bytes);
        }
        lane += 1;
    }
    let width = bytes << vector_bits;
    // Registers only XOR a constant into every lane's address, which permutes banks and words alike.
    let each = wavefronts(&addresses, width);
    let least = if width > WORD { width / WORD } else { 1 };
    let active = LANES as u32 >> idle.count_ones();
    let ideal = if active < LANES as u32 / least { 1 } else { least };
    let ideal = if each < ideal { each } else { ideal };
    Access { vector: 1 << vector_bits, instructions, wavefronts: each * instructions, ideal: ideal * instructions }
}

/// How many times the width doubles: register bits that move by 1, 2, 4, … elements of memory, while everything else
/// moves by multiples of the whole, up to 16 bytes.
const fn vector_bits(tile: &Layout, memory: &SharedLayout, element_bits: u32, skipped: u32) -> u32 {
    let mut bits = 0;
    while element_bits << (bits + 1) <= 128 && widens(tile, memory, bits, skipped) {
        bits += 1;
    }
    bits
}

/// Whether accesses of `1 << bits` elements can be twice as wide.
const fn widens(tile: &Layout, memory: &SharedLayout, bits: u32, skipped: u32) -> bool {
    let constant = memory.constant();
    let (mut has_next, mut i) = (false, 0);
    while i < tile.register_bits() {
        let moved = memory.offset(tile.register_basis(i)) ^ constant;
        if skipped >> i & 1 == 0 && moved == 1 << bits {
            has_next = true;
        }
        i += 1;
    }
    // Register bits must move by exactly 1, 2, .. or by multiples of the doubled width; threads by multiples only.
    let width = 2_u32 << bits;
    i = 0;
    while i < tile.register_bits() {
        let moved = memory.offset(tile.register_basis(i)) ^ constant;
        if skipped >> i & 1 == 0 && !moved.is_multiple_of(width) && !(moved.is_power_of_two() && moved < width) {
            return false;
        }
        i += 1;
    }
    has_next && threads_aligned(tile, memory, width)
}

const fn threads_aligned(tile: &Layout, memory: &SharedLayout, width: u32) -> bool {
    let mut low = memory.constant();
    let mut i = 0;
    while i < LANE_BITS {
        low |= memory.offset(tile.lane_basis(i)) ^ memory.constant();
        i += 1;
    }
    i = 0;
    while i < tile.warp_bits() {
        low |= memory.offset(tile.warp_basis(i)) ^ memory.constant();
        i += 1;
    }
    low.is_multiple_of(width)
}
