//! Bank conflicts: how many wavefronts a shared-memory access takes.
//!
//! Shared memory has 32 banks of 4 bytes. An access of at most 4 bytes a lane goes in one pass, of 8 bytes in two passes
//! of half a warp, of 16 bytes in four passes of a quarter. In a pass a bank gives one word a wavefront, to every lane that
//! wants that word; so a pass takes as many wavefronts as its busiest bank has different words. [`wavefronts`] is this
//! law: the algebra asks it for the addresses that layouts give, the simulator for those that a program used.
//!
//! 32 lanes that read floats 128 bytes apart all want bank 0: 32 wavefronts. At 132 bytes each has its own bank: 1.

use crate::f2::Map;
use crate::layout::{LANE_BITS, Layout};
use crate::shared::SharedLayout;

/// Banks of shared memory.
pub const BANKS: usize = 32;

/// Lanes of a warp.
pub const LANES: usize = 1 << LANE_BITS;

/// Bytes that a bank gives a wavefront.
pub const WORD: u32 = 4;

/// Bytes of a lane that the widest access moves.
pub(crate) const WIDEST: u32 = 16;

/// Wavefronts of one access of a warp: the byte address of each active lane, and the bytes (1 to 16) that each moves.
///
/// Addresses are multiples of the bytes; other numbers of bytes count as the next larger access.
pub const fn wavefronts(addresses: &[Option<u32>; LANES], bytes: u32) -> u32 {
    let words = words(bytes);
    let lanes = LANES / words as usize;
    let (mut sum, mut first) = (0, 0);
    while first < LANES {
        sum += pass(addresses, first, lanes, words);
        first += lanes;
    }
    sum
}

/// Words of a lane, which are also the passes of a warp.
const fn words(bytes: u32) -> u32 {
    match bytes {
        0..=4 => 1,
        5..=8 => 2,
        _ => 4,
    }
}

/// Wavefronts of the lanes `first..first + lanes`.
const fn pass(addresses: &[Option<u32>; LANES], first: usize, lanes: usize, words: u32) -> u32 {
    let mut wanted = Wanted { words: [0; LANES], next: [0; LANES], count: 0, first: [0; BANKS], depth: [0; BANKS] };
    let (mut busiest, mut lane) = (0, first);
    while lane < first + lanes {
        if let Some(address) = addresses[lane] {
            let mut i = 0;
            while i < words {
                let depth = wanted.add((address / WORD).wrapping_add(i));
                busiest = if depth > busiest { depth } else { busiest };
                i += 1;
            }
        }
        lane += 1;
    }
    busiest
}

/// The different words that a pass wants, at most one a lane, in a chain for each bank. A place in the list is kept plus
/// 1, so that 0 ends a chain.
struct Wanted {
    words: [u32; LANES],
    next: [u8; LANES],
    count: u8,
    first: [u8; BANKS],
    depth: [u32; BANKS],
}

impl Wanted {
    /// Adds a word, unless it is there; gives how many different words its bank has.
    const fn add(&mut self, word: u32) -> u32 {
        let bank = word as usize % BANKS;
        let mut place = self.first[bank];
        while place != 0 {
            if self.words[place as usize - 1] == word {
                return self.depth[bank];
            }
            place = self.next[place as usize - 1];
        }
        self.words[self.count as usize] = word;
        self.next[self.count as usize] = self.first[bank];
        self.count += 1;
        self.first[bank] = self.count;
        self.depth[bank] += 1;
        self.depth[bank]
    }
}

/// How a tile is stored to shared memory, or loaded from it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Elements that one instruction of a thread moves.
    pub vector: usize,
    /// The bits of the register's number that count the elements of an instruction, from the lowest; as many as `vector`
    /// has bits, the others are 0.
    pub vector_bits: [u8; 4],
    /// Instructions a thread.
    pub instructions: u32,
    /// Wavefronts a warp, of all instructions; where gaps make warps differ, of the one that takes most.
    pub wavefronts: u32,
    /// The fewest wavefronts that accesses of this width can take: one for each pass that has an active lane.
    pub ideal: u32,
}

impl Access {
    /// Whether no access takes more wavefronts than its width needs.
    pub const fn is_conflict_free(&self) -> bool {
        self.wavefronts <= self.ideal
    }

    /// The bits of the register's number that an instruction moves together.
    pub const fn moved(&self) -> u32 {
        self.register(self.vector - 1) as u32
    }

    /// What element `number` of an instruction adds to the register's number.
    pub const fn register(&self, number: usize) -> usize {
        let (mut register, mut i) = (0, 0);
        while 1 << i < self.vector {
            register |= (number >> i & 1) << self.vector_bits[i];
            i += 1;
        }
        register
    }

    /// How many times as many wavefronts it takes as its width needs: 1 without conflicts.
    pub const fn conflict(&self) -> u32 {
        self.wavefronts / self.ideal
    }
}

/// The accesses that load a tile in a register layout from a view of shared memory.
///
/// ```
/// use quadpair_layouts::{banks, blocked, row_major, swizzled};
/// let columns = blocked([32, 32], [4, 1], [8, 4], [1, 1], [0, 1]);
/// const PLAIN: u32 = 8;
/// assert_eq!(banks::load(&columns, &row_major([32, 32]), 32).conflict(), PLAIN);
/// assert!(banks::load(&columns, &swizzled([32, 32], 4, 4, 8, [1, 0]), 32).is_conflict_free());
/// ```
pub const fn load(tile: &Layout, memory: &SharedLayout, element_bits: u32) -> Access {
    access(tile, memory, element_bits, tile.repeated_registers(), 0)
}

/// The accesses that store a tile: one of the threads and registers that hold an element stores it.
pub const fn store(tile: &Layout, memory: &SharedLayout, element_bits: u32) -> Access {
    access(tile, memory, element_bits, tile.free_registers(), tile.free_lanes())
}

/// Bytes of an element in memory: truth values have one.
pub const fn element_bytes(element_bits: u32) -> u32 {
    match element_bits {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=64 => 8,
        _ => 16,
    }
}

const fn access(tile: &Layout, memory: &SharedLayout, element_bits: u32, skipped: u32, idle: u32) -> Access {
    let bytes = element_bytes(element_bits);
    let moves = Moves::new(tile, memory, skipped);
    let (vector_bits, count) = moves.vector_bits(WIDEST / bytes);
    let instructions = 1 << (tile.register_bits() as u32 - skipped.count_ones() - count);
    let lanes = Lanes { moves: &moves, registers: tile.register_bits(), idle, bytes };
    lanes.access(vector_bits, count, instructions, bytes << count)
}

/// The lanes of an access.
pub(crate) struct Lanes<'m> {
    pub moves: &'m Moves<'m>,
    pub registers: usize,
    /// Bits of the lane's number that idle lanes have.
    pub idle: u32,
    /// Bytes of an element.
    pub bytes: u32,
}

impl Lanes<'_> {
    /// What so many instructions take, whose active lanes read `width` bytes each.
    pub const fn access(&self, vector_bits: [u8; 4], count: u32, instructions: u32, width: u32) -> Access {
        let first = self.addresses(0);
        let wavefronts = if self.moves.memory.is_padded() {
            self.busiest_warp(&vector_bits, count, width)
        } else {
            // Registers and warps only XOR a constant into every lane's address, which permutes banks and words alike.
            wavefronts(&first, width) * instructions
        };
        let ideal = active_passes(&first, words(width) as usize) * instructions;
        Access { vector: 1 << count, vector_bits, instructions, wavefronts, ideal }
    }

    /// Where the active lanes' elements lie, of the register and warp in `others`: the bits of the layout's domain, the
    /// lane's 0.
    const fn addresses(&self, others: u32) -> [Option<u32>; LANES] {
        let (mut addresses, mut lane) = ([None; LANES], 0);
        while lane < LANES as u32 {
            if lane & self.idle == 0 {
                let offset = self.moves.map.apply(others | lane << self.registers) ^ self.moves.memory.constant();
                addresses[lane as usize] = Some(self.moves.memory.with_gaps(offset) * self.bytes);
            }
            lane += 1;
        }
        addresses
    }

    /// Wavefronts of all instructions of the warp that takes most: among gaps each register and warp counts for itself.
    const fn busiest_warp(&self, vector_bits: &[u8; 4], count: u32, width: u32) -> u32 {
        let (mut left_out, mut i) = (self.moves.skipped, 0);
        while i < count as usize {
            left_out |= 1 << vector_bits[i];
            i += 1;
        }
        let (mut most, mut warp) = (0, 0);
        while warp < 1 << (self.moves.map.inputs() - self.registers - LANE_BITS) {
            let (mut sum, mut register) = (0, 0);
            while register < 1 << self.registers {
                if register & left_out == 0 {
                    sum += wavefronts(&self.addresses(register | warp << (self.registers + LANE_BITS)), width);
                }
                register += 1;
            }
            most = if sum > most { sum } else { most };
            warp += 1;
        }
        most
    }
}

/// The least wavefronts that an access of so many bytes a lane takes: one for each pass with an active lane.
pub const fn ideal(addresses: &[Option<u32>; LANES], bytes: u32) -> u32 {
    active_passes(addresses, words(bytes) as usize)
}

const fn active_passes(addresses: &[Option<u32>; LANES], passes: usize) -> u32 {
    let (mut active, mut lane) = (0_u32, 0);
    while lane < LANES {
        if addresses[lane].is_some() {
            active |= 1 << (lane * passes / LANES);
        }
        lane += 1;
    }
    active.count_ones()
}

/// The offset that each bit of a register's, lane's and warp's number moves by.
pub(crate) struct Moves<'m> {
    pub map: Map,
    registers: usize,
    /// Register bits that are not accessed, because they duplicate others.
    pub skipped: u32,
    /// What every offset begins with, and the gaps.
    pub memory: &'m SharedLayout,
}

impl<'m> Moves<'m> {
    pub const fn new(tile: &Layout, memory: &'m SharedLayout, skipped: u32) -> Moves<'m> {
        // A tile of another shape than the memory's has no meaning there; its elements lie beyond.
        let outer = Map::new(memory.columns(), memory.map().outputs());
        let (mut columns, mut i) = ([0; crate::f2::MAX_DIMENSION], 0);
        while i < tile.columns().len() {
            columns[i] = outer.apply(tile.columns()[i]);
            i += 1;
        }
        let map = Map::new(columns.split_at(i).0, outer.outputs());
        Moves { map, registers: tile.register_bits(), skipped, memory }
    }

    /// The same with lanes that move by other bases of the tile.
    pub const fn with_lanes(&self, tile: &Layout, bases: [u32; LANE_BITS]) -> Moves<'m> {
        let (outer, mut columns) = (self.memory.map(), [0; crate::f2::MAX_DIMENSION]);
        let count = self.map.columns().len();
        columns.split_at_mut(count).0.copy_from_slice(self.map.columns());
        let mut lane = 0;
        while lane < LANE_BITS {
            columns[tile.register_bits() + lane] = outer.apply(bases[lane]);
            lane += 1;
        }
        let map = Map::new(columns.split_at(count).0, outer.outputs());
        Moves { map, registers: self.registers, skipped: self.skipped, memory: self.memory }
    }

    /// The register bits that count the elements of the widest access: they move by 1, 2, 4, … elements, while everything
    /// else moves by multiples of the whole.
    const fn vector_bits(&self, most: u32) -> ([u8; 4], u32) {
        let (mut bits, mut count) = ([0; 4], 0);
        while count < 4 && 2 << count <= most {
            match self.register_that_moves_by(1 << count) {
                Some(bit) if self.others_are_multiples(&bits, count, bit, 2 << count) => bits[count as usize] = bit,
                _ => break,
            }
            count += 1;
        }
        (bits, count)
    }

    pub const fn register_that_moves_by(&self, offset: u32) -> Option<u8> {
        let mut i = 0;
        while i < self.registers {
            if self.skipped >> i & 1 == 0 && self.map.columns()[i] == offset {
                return Some(i as u8);
            }
            i += 1;
        }
        None
    }

    /// Whether all but `count` register bits and one more move by multiples of a width.
    const fn others_are_multiples(&self, bits: &[u8; 4], count: u32, bit: u8, width: u32) -> bool {
        let (mut vector, mut i) = (1_u32 << bit, 0);
        while i < count as usize {
            vector |= 1 << bits[i];
            i += 1;
        }
        let (columns, mut moved, mut i) = (self.map.columns(), self.memory.constant(), 0);
        while i < columns.len() {
            if (vector | self.skipped) >> i & 1 == 0 {
                moved |= columns[i];
            }
            i += 1;
        }
        moved.is_multiple_of(width) && self.memory.gaps_keep(width, moved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mma::{Mma, Quadpairs};
    use crate::named::{blocked, linear};
    use crate::shared::{padded, row_major, swizzled};

    fn every(f: impl Fn(u32) -> u32) -> [Option<u32>; LANES] {
        core::array::from_fn(|lane| Some(f(lane as u32)))
    }

    #[test]
    fn a_bank_gives_one_word_a_wavefront() {
        assert_eq!(wavefronts(&every(|lane| lane * 4), 4), 1);
        assert_eq!(wavefronts(&every(|lane| lane * 128), 4), 32);
        assert_eq!(wavefronts(&every(|lane| lane * 132), 4), 1);
        assert_eq!(wavefronts(&every(|lane| lane * 8), 4), 2);
        assert_eq!(wavefronts(&every(|_| 40), 4), 1);
        // Halves of one word are no conflict.
        assert_eq!(wavefronts(&every(|lane| lane * 2), 2), 1);
        assert_eq!(wavefronts(&every(|lane| lane / 2 * 128 + lane % 2 * 2), 2), 16);
    }

    #[test]
    fn wide_accesses_go_in_parts_of_a_warp() {
        assert_eq!(wavefronts(&every(|lane| lane * 8), 8), 2);
        assert_eq!(wavefronts(&every(|lane| lane * 16), 16), 4);
        assert_eq!(wavefronts(&every(|_| 0), 16), 4);
        // Lanes 0 and 16 would conflict, but go in different passes.
        assert_eq!(wavefronts(&every(|lane| lane % 16 * 8 + lane / 16 * 128), 8), 2);
        assert_eq!(wavefronts(&every(|lane| lane % 8 * 256), 16), 32);
    }

    #[test]
    fn idle_lanes_cost_nothing() {
        let mut addresses = every(|lane| lane * 128);
        addresses[8..].fill(None);
        assert_eq!(wavefronts(&addresses, 4), 8);
        assert_eq!(wavefronts(&addresses, 16), 8);
        assert_eq!(wavefronts(&[None; LANES], 8), 0);
        assert_eq!(wavefronts(&every(|lane| lane * 16), 12), 4);
    }

    #[test]
    fn any_register_bits_can_make_a_vector() {
        // Register bit 1 moves along the row, bit 0 down the column.
        let lanes = [[0, 4], [0, 8], [0, 16], [2, 0], [4, 0]];
        let tile = linear([8, 32], &[[1, 0], [0, 2], [0, 1]], &lanes, &[]).check().unwrap();
        let access = load(&tile, &row_major([8, 32]), 32);
        assert_eq!((access.vector, access.vector_bits, access.instructions), (4, [2, 1, 0, 0], 2));
        assert_eq!(load(&tile, &row_major([8, 32]), 64).vector, 2);
        assert_eq!(load(&tile, &row_major([8, 32]), 128).vector, 1);
    }

    #[test]
    fn a_view_that_is_not_aligned_is_not_accessed_as_vectors() {
        let tile = blocked([8, 2], [1, 2], [32, 1], [1, 1], [1, 0]);
        let whole = swizzled([8, 8], 1, 1, 2, [1, 0]);
        assert_eq!(load(&tile, &whole.slice(1, 2, 2), 32).vector, 1);
        assert_eq!(load(&tile, &swizzled([8, 8], 2, 1, 2, [1, 0]).slice(1, 2, 2), 32).vector, 2);
    }

    #[test]
    fn gaps_bound_vectors_and_move_banks() {
        let tile = blocked([32, 32], [1, 8], [8, 4], [2, 2], [1, 0]);
        let vector = |pairs: &[(usize, usize)], bits| load(&tile, &padded([32, 32], pairs, [1, 0]), bits).vector;
        assert_eq!([vector(&[(32, 8)], 16), vector(&[(32, 2)], 16), vector(&[(32, 1)], 16)], [8, 2, 1]);
        assert_eq!([vector(&[(4, 4)], 32), vector(&[(2, 4)], 32), vector(&[(1024, 1)], 32)], [4, 2, 4]);
        // Columns of floats, a bank apart for each row.
        let columns = blocked([32, 32], [1, 1], [32, 1], [1, 4], [1, 0]);
        assert_eq!(load(&columns, &row_major([32, 32]), 32).conflict(), 32);
        assert!(load(&columns, &padded([32, 32], &[(32, 1)], [1, 0]), 32).is_conflict_free());
        // Four rows of 128 bytes before a gap: four lanes a bank.
        assert_eq!(load(&columns, &padded([32, 32], &[(128, 1)], [1, 0]), 32).conflict(), 4);
    }

    #[test]
    fn duplicates_are_stored_once() {
        let b = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]).b([8, 16]);
        let memory = row_major([16, 8]).permute([1, 0]);
        let (stored, loaded) = (store(&b, &memory, 16), load(&b, &memory, 16));
        assert_eq!((stored.vector, stored.instructions, loaded.instructions), (8, 1, 1));
        // Lane bit 2 duplicates: of each quarter of the warp, half is active.
        assert_eq!((stored.wavefronts, loaded.wavefronts, loaded.ideal), (4, 4, 4));
        assert_eq!(store(&b.slice(0), &row_major([16]), 16).instructions, 1);
    }
}
