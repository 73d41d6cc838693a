//! Which lane wants which bank of shared memory, access by access and wavefront by wavefront.
//!
//! [`quadpair_layouts::banks`] says how many wavefronts an access takes; this lays them out. 32 lanes that load floats
//! 8 bytes apart want the even banks only, two words of each:
//!
//! ```text
//!              bank 0  1  2  3  ..  30  31
//! wavefront 0  lane 0     1     ..  15
//! wavefront 1      16    17     ..  31
//! ```

use quadpair_layouts::banks::{self, BANKS, LANES};
use quadpair_layouts::banks::{WORD, element_bytes};
use quadpair_layouts::{Access, Layout, SharedLayout};

/// Which way data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From shared memory to registers.
    Load,
    /// From registers to shared memory.
    Store,
}

/// The word that a bank gives in one wavefront, and the lanes that want it, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word's number from the start of the allocation.
    pub word: u32,
    /// The lanes.
    pub lanes: u32,
}

/// What the banks give in one wavefront.
pub type Wavefront = [Option<Word>; BANKS];

/// The lanes that go at once: a warp, half of it or a quarter, by the width of the access.
#[derive(Clone, Debug)]
pub struct Pass {
    /// Its wavefronts, as many as the busiest bank has words to give.
    pub wavefronts: Vec<Wavefront>,
}

/// One instruction of a warp.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// The registers that it moves, in the order of their addresses.
    pub registers: Vec<usize>,
    /// Its passes.
    pub passes: Vec<Pass>,
}

impl Instruction {
    /// Wavefronts of all passes.
    pub fn wavefronts(&self) -> usize {
        self.passes.iter().map(|pass| pass.wavefronts.len()).sum()
    }
}

/// How a tile is moved, and what each instruction of one warp does.
pub fn picture(
    tile: &Layout,
    memory: &SharedLayout,
    element_bits: u32,
    direction: Direction,
    warp: usize,
) -> (Access, Vec<Instruction>) {
    let (access, skipped, idle) = match direction {
        Direction::Load => (banks::load(tile, memory, element_bits), tile.repeated_registers() as usize, 0),
        Direction::Store => {
            (banks::store(tile, memory, element_bits), tile.free_registers() as usize, tile.free_lanes() as usize)
        }
    };
    let bytes = element_bytes(element_bits);
    let taken = skipped | access.moved() as usize;
    let instruction = |first: usize| {
        let address = |lane: usize| memory.offset(tile.apply(first, lane, warp)) * bytes;
        let lanes = (0..LANES).filter(|lane| lane & idle == 0).map(|lane| (lane, address(lane)));
        Instruction {
            registers: (0..access.vector).map(|i| first | access.register(i)).collect(),
            passes: passes(lanes, bytes * access.vector as u32),
        }
    };
    let instructions = (0..tile.registers()).filter(|r| r & taken == 0).map(instruction).collect();
    (access, instructions)
}

/// The passes of an access of so many bytes a lane.
fn passes(lanes: impl Iterator<Item = (usize, u32)>, bytes: u32) -> Vec<Pass> {
    let words = bytes.div_ceil(WORD).max(1);
    let mut passes = vec![Pass { wavefronts: Vec::new() }; words as usize];
    for (lane, address) in lanes {
        let pass = &mut passes[lane * words as usize / LANES];
        (0..words).for_each(|i| pass.want(lane, address / WORD + i));
    }
    passes.retain(|pass| !pass.wavefronts.is_empty());
    passes
}

impl Pass {
    /// Gives a lane a word, in the first wavefront whose bank has that word or is free.
    fn want(&mut self, lane: usize, word: u32) {
        let bank = word as usize % BANKS;
        let serves = |wavefront: &&mut Wavefront| wavefront[bank].is_none_or(|given| given.word == word);
        match self.wavefronts.iter_mut().find(serves) {
            Some(wavefront) => wavefront[bank].get_or_insert(Word { word, lanes: 0 }).lanes |= 1 << lane,
            None => {
                let mut wavefront = [None; BANKS];
                wavefront[bank] = Some(Word { word, lanes: 1 << lane });
                self.wavefronts.push(wavefront);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadpair_layouts::{Mma, Quadpairs, blocked, row_major, swizzled};

    /// Pictures have the wavefronts that the law counts, and each lane gets every byte of its registers.
    fn check(tile: Layout, memory: SharedLayout, bits: u32) {
        for (direction, warp) in [(Direction::Load, 0), (Direction::Store, tile.warps() - 1)] {
            let (access, instructions) = picture(&tile, &memory, bits, direction, warp);
            assert_eq!(instructions.len() as u32, access.instructions);
            let wavefronts: usize = instructions.iter().map(Instruction::wavefronts).sum();
            assert_eq!(wavefronts as u32, access.wavefronts, "{tile} {direction:?}");
            for instruction in &instructions {
                assert_eq!(instruction.registers.len(), access.vector);
                for (i, &r) in instruction.registers.iter().enumerate() {
                    let place = memory.offset(tile.apply(r, 0, warp));
                    assert_eq!(place, memory.offset(tile.apply(instruction.registers[0], 0, warp)) + i as u32);
                }
                let words = (bits / 8 * access.vector as u32).div_ceil(4);
                let given = instruction.passes.iter().flat_map(|pass| &pass.wavefronts).flatten().flatten();
                let lanes: u32 = given.map(|word| word.lanes.count_ones()).sum();
                let idle = if direction == Direction::Store { tile.free_lanes().count_ones() } else { 0 };
                assert_eq!(lanes, words * (32 >> idle));
            }
        }
    }

    #[test]
    fn pictures_agree_with_the_law_of_banks() {
        let columns = blocked([32, 32], [4, 1], [8, 4], [1, 1], [0, 1]);
        let mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]);
        let operands = [mma.a([64, 16]), mma.a_col([64, 16]), mma.accumulator([64, 16])];
        for bits in [8, 16, 32, 64] {
            check(columns, row_major([32, 32]), bits);
            check(columns, swizzled([32, 32], 4, 4, 8, [1, 0]), bits);
            for tile in operands {
                check(tile, row_major([64, 16]), bits);
                check(tile, swizzled([64, 16], 8, 2, 4, [1, 0]), bits);
                check(tile, row_major([16, 64]).permute([1, 0]), bits);
            }
            check(mma.b([16, 32]), row_major([16, 32]), bits);
        }
    }
}
