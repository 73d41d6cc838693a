//! `ldmatrix`: when one instruction loads a register layout from shared memory as matrices of eight rows of 16 bytes.
//!
//! The instruction is given the address of each row, by eight lanes a matrix, and hands the row out to four lanes, a word
//! of 4 bytes each: a fragment of a matrix unit. Of a matrix of halves at `row r, column c` a lane gets
//!
//! ```text
//! straight    register bit 0: column 1; lane bits 0 and 1: columns 2 and 4; lane bits 2, 3, 4: rows 1, 2, 4
//! transposed  register bit 0: row 1;    lane bits 0 and 1: rows 2 and 4;    lane bits 2, 3, 4: columns 1, 2, 4
//! ```
//!
//! So it is this load if the layout and the memory together move the bits of a column by 1, 2, 4, … elements of the memory
//! and everything else by whole rows of 16 bytes; where rows lie doesn't matter, swizzled or not. Of the other register
//! bits one counts two matrices of an instruction, a second one four. For m16n8k16's left operand in `[64, 64]` row-major
//! halves, registers (0, 1) (8, 0) (0, 8) and lanes (0, 2) (0, 4) (1, 0) (2, 0) (4, 0): the pack (0, 1), the lanes' 2 and 4
//! move along 16 bytes, (8, 0) and (0, 8) by a multiple of 8, and one `ldmatrix.x4` loads all of a lane's registers.
//!
//! The bits that count matrices are the lowest that are left. So an instruction's words have numbers in a row, as the unit
//! takes a fragment's, and nothing has to be moved between the load and the product.

use super::SharedLayout;
use crate::banks::{Access, LANES, Lanes, Moves, element_bytes};
use crate::layout::{LANE_BITS, Layout};

/// Bytes of a matrix's row.
const ROW: u32 = 16;

/// Bits of the number of a row.
const ROW_BITS: usize = 3;

/// Bits of the number of a matrix of the widest instruction.
const MOST: usize = 2;

/// How a tile is loaded from shared memory by `ldmatrix`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixLoad {
    /// Whether a row's elements go to eight lanes of a column instead of four lanes a word.
    pub transposed: bool,
    /// Matrices of an instruction: 1, 2 or 4.
    pub matrices: usize,
    /// Elements of a word of 4 bytes: a lane's part of a matrix.
    pub pack: usize,
    /// What an instruction moves; of its register bits those that count a word's elements come first, then those that
    /// count matrices.
    pub access: Access,
    /// What each bit of the number of a lane that gives an address moves by in the tile.
    lanes: [u32; LANE_BITS],
}

impl MatrixLoad {
    /// The load of a tile in a register layout from a view of shared memory of its shape, if it is one.
    ///
    /// ```
    /// use quadpair_layouts::{MatrixLoad, Mma, swizzled};
    /// const UNIT: Mma = Mma::m16n8k16([4, 1]);
    /// const A: MatrixLoad = MatrixLoad::of(&UNIT.a([64, 64]), &swizzled([64, 64], 8, 1, 8, [1, 0]), 16).unwrap();
    /// assert_eq!((A.matrices, A.transposed, A.access.instructions), (4, false, 4));
    /// // The right operand's words lie along k: memory whose rows are n has them transposed.
    /// let b = MatrixLoad::of(&UNIT.b([64, 64]), &swizzled([64, 64], 8, 1, 8, [1, 0]), 16).unwrap();
    /// assert!(b.transposed && b.access.is_conflict_free());
    /// ```
    pub const fn of(tile: &Layout, memory: &SharedLayout, element_bits: u32) -> Option<MatrixLoad> {
        let bytes = element_bytes(element_bits);
        if bytes > 4 || tile.fault().is_some() || memory.fault().is_some() {
            return None;
        }
        let load = Load { tile, moves: Moves::new(tile, memory, tile.repeated_registers()), bytes };
        match load.straight() {
            Some(found) => Some(found),
            None if bytes == 2 => load.transposed(),
            None => None,
        }
    }

    /// What each bit of the number of a lane that gives an address moves by in the tile: three bits count rows, the upper
    /// ones matrices. Bits of lanes whose addresses aren't looked at are 0.
    pub const fn lane_bases(&self) -> [u32; LANE_BITS] {
        self.lanes
    }

    /// The register bits that an instruction moves.
    pub const fn moved(&self) -> u32 {
        self.access.moved()
    }

    /// What an element of a matrix of an instruction adds to the register's number.
    pub const fn register(&self, matrix: usize, element: usize) -> usize {
        self.access.register(matrix * self.pack + element)
    }
}

/// A load in question.
struct Load<'l> {
    tile: &'l Layout,
    /// What each bit of a register's, lane's and warp's number moves by in memory, in elements.
    moves: Moves<'l>,
    bytes: u32,
}

impl Load<'_> {
    const fn lane_moves(&self, lane: usize) -> u32 {
        self.moves.map.columns()[self.tile.register_bits() + lane]
    }

    /// Registers move inside a word, lane bits 0 and 1 by one and two words, lane bits 2 to 4 by rows.
    const fn straight(&self) -> Option<MatrixLoad> {
        let (bits, mut vector_bits, mut pack) = ((4 / self.bytes).trailing_zeros() as usize, [0; 4], 0);
        while pack < bits {
            match self.moves.register_that_moves_by(1 << pack) {
                Some(bit) => vector_bits[pack] = bit,
                None => return None,
            }
            pack += 1;
        }
        if self.lane_moves(0) != 1 << bits || self.lane_moves(1) != 2 << bits {
            return None;
        }
        let bases = [self.tile.lane_basis(2), self.tile.lane_basis(3), self.tile.lane_basis(4)];
        self.with_rows(false, (vector_bits, bits), 0b00011, bases)
    }

    /// A register and lane bits 0 and 1 move by rows, lane bits 2 to 4 by one, two and four elements.
    const fn transposed(&self) -> Option<MatrixLoad> {
        let mut lane = 0;
        while lane < ROW_BITS {
            if self.lane_moves(2 + lane) != 1 << lane {
                return None;
            }
            lane += 1;
        }
        let mut pack = 0;
        while pack < self.tile.register_bits() && self.moves.skipped >> pack & 1 == 1 {
            pack += 1;
        }
        if pack == self.tile.register_bits() {
            return None;
        }
        let bases = [self.tile.register_basis(pack), self.tile.lane_basis(0), self.tile.lane_basis(1)];
        self.with_rows(true, ([pack as u8, 0, 0, 0], 1), 0b11100, bases)
    }

    /// The load whose words are these register bits and whose rows move by these bases, if all but the lanes along a row
    /// move by whole rows.
    const fn with_rows(
        &self,
        transposed: bool,
        (mut vector_bits, pack): ([u8; 4], usize),
        along_rows: u32,
        rows: [u32; ROW_BITS],
    ) -> Option<MatrixLoad> {
        let mut words = 0;
        let mut i = 0;
        while i < pack {
            words |= 1_u32 << vector_bits[i];
            i += 1;
        }
        let inside = along_rows << self.tile.register_bits() | if transposed { 0 } else { words };
        if !self.move_by_rows(inside) {
            return None;
        }
        let (chosen, count) = self.matrix_bits(words);
        let mut lanes = [rows[0], rows[1], rows[2], 0, 0];
        i = 0;
        while i < count {
            vector_bits[pack + i] = chosen[i];
            lanes[ROW_BITS + i] = self.tile.register_basis(chosen[i] as usize);
            i += 1;
        }
        let access = self.access(lanes, (vector_bits, pack + count), count);
        Some(MatrixLoad { transposed, matrices: 1 << count, pack: 1 << pack, access, lanes })
    }

    /// Whether all bits but those inside a row move by whole rows, among gaps too.
    const fn move_by_rows(&self, inside: u32) -> bool {
        let (columns, mut moved, mut i) = (self.moves.map.columns(), self.moves.memory.constant(), 0);
        while i < columns.len() {
            if (inside | self.moves.skipped) >> i & 1 == 0 {
                moved |= columns[i];
            }
            i += 1;
        }
        let row = ROW / self.bytes;
        moved.is_multiple_of(row) && self.moves.memory.gaps_keep(row, moved)
    }

    /// The register bits that count an instruction's matrices: the first that move neither words nor nothing.
    const fn matrix_bits(&self, words: u32) -> ([u8; MOST], usize) {
        let (mut bits, mut count, mut i) = ([0; MOST], 0, 0);
        while i < self.tile.register_bits() && count < MOST {
            if (words | self.moves.skipped) >> i & 1 == 0 {
                bits[count] = i as u8;
                count += 1;
            }
            i += 1;
        }
        (bits, count)
    }

    /// What the instructions take: eight lanes a matrix read 16 bytes each.
    const fn access(&self, bases: [u32; LANE_BITS], (vector_bits, bits): ([u8; 4], usize), count: usize) -> Access {
        let moves = self.moves.with_lanes(self.tile, bases);
        let idle = (LANES as u32 - 1) & !((8 << count) - 1);
        let lanes = Lanes { moves: &moves, registers: self.tile.register_bits(), idle, bytes: self.bytes };
        let left = self.tile.register_bits() as u32 - self.moves.skipped.count_ones() - bits as u32;
        lanes.access(vector_bits, bits as u32, 1 << left, ROW)
    }
}
