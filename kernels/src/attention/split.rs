//! Dividing the keys among blocks, where there are too few query rows to keep a chip busy.
//!
//! Attention works on tiles of query rows, one block for each. A step of decoding has a handful of them, and a chip that
//! could run a hundred at once idles, while a block walks over thousands of keys. So the keys of each tile are divided
//! among several blocks, whose results another launch [combines](super::combine).
//!
//! How many parts are best follows from how long blocks take. Blocks run in waves, as many at once as the chip holds; a
//! block takes its tiles of keys, and about two tiles' time to begin and to end. With room for 160 blocks at once, 64
//! blocks of 256 tiles of keys take
//!
//! ```text
//! 1 part     64 blocks, 1 wave,  1 * (256 + 2)     = 258
//! 2 parts   128 blocks, 1 wave,  1 * (128 + 2) + 4 = 134
//! 5 parts   320 blocks, 2 waves, 2 * ( 52 + 2) + 4 = 112, the least
//! 6 parts   384 blocks, 3 waves, 3 * ( 43 + 2) + 4 = 139
//! ```
//!
//! in the time of a tile; the 4 are those of combining.

use super::Problem;
use super::combine::MOST_PARTS;

/// What a block takes besides its tiles, in tiles.
const BLOCK: usize = 2;
/// What combining takes, in tiles.
const COMBINE: usize = 4;
/// The most blocks along the axis of the grid that parts and sequences share.
const GRID: usize = 65_535;

/// The keys of each row in parts of whole tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Split {
    /// How many parts; none is empty unless there are no keys.
    pub parts: usize,
    /// Keys of a part; the last may have fewer.
    pub keys: usize,
}

impl Split {
    /// All keys in one part.
    pub fn none(problem: &Problem) -> Self {
        Self { parts: 1, keys: problem.n_k }
    }

    /// At most so many parts, and no more than there are tiles of keys or a launch can count.
    pub fn at_most(parts: usize, problem: &Problem, block_n: usize) -> Self {
        let parts = parts.min(MOST_PARTS).min(GRID / problem.batch.max(1)).max(1);
        let tiles = problem.n_k.div_ceil(block_n).max(1);
        let tiles_of_part = tiles.div_ceil(parts);
        Self { parts: tiles.div_ceil(tiles_of_part), keys: tiles_of_part * block_n }
    }

    /// The parts that take the least time, if a launch in one part is of `blocks` and the chip runs `at_once`.
    pub fn fastest(blocks: usize, at_once: usize, problem: &Problem, block_n: usize) -> Self {
        if blocks >= at_once {
            return Self::none(problem);
        }
        let splits = (1..=MOST_PARTS).map(|parts| Self::at_most(parts, problem, block_n));
        splits.min_by_key(|split| split.time(blocks, at_once, block_n)).unwrap_or(Self::none(problem))
    }

    fn time(&self, blocks: usize, at_once: usize, block_n: usize) -> usize {
        let waves = (blocks * self.parts).div_ceil(at_once);
        let combine = if self.parts > 1 { COMBINE } else { 0 };
        waves * (self.keys.div_ceil(block_n) + BLOCK) + combine
    }

    /// Numbers that one part leaves behind: each row's output, and its LSE.
    pub fn workspace_of_part(problem: &Problem) -> usize {
        problem.rows() * (problem.head_dim + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(n_k: usize) -> Problem {
        Problem { batch: 8, heads: 32, kv_heads: 8, n_q: 1, n_k, head_dim: 64, causal: false, bias: false }
    }

    #[test]
    fn parts_are_of_whole_tiles_and_none_is_empty() {
        for n_k in 0..700 {
            for parts in 1..=20 {
                let split = Split::at_most(parts, &keys(n_k), 64);
                assert!(split.parts <= parts && split.keys.is_multiple_of(64), "{n_k} {parts} {split:?}");
                assert!(split.parts * split.keys >= n_k && (split.parts - 1) * split.keys < n_k.max(1), "{split:?}");
            }
        }
    }

    #[test]
    fn a_launch_counts_parts_and_sequences_together() {
        let many = Problem { batch: 30_000, ..keys(1 << 20) };
        assert_eq!(Split::at_most(100, &many, 64).parts, 2);
        assert_eq!(Split::at_most(1000, &keys(1 << 20), 64).parts, MOST_PARTS);
    }

    #[test]
    fn the_example_of_the_module() {
        let fastest = Split::fastest(64, 160, &keys(64 * 256), 64);
        assert_eq!(fastest, Split { parts: 5, keys: 52 * 64 });
        let time = |parts| Split::at_most(parts, &keys(64 * 256), 64).time(64, 160, 64);
        assert_eq!([1, 2, 5, 6].map(time), [258, 134, 112, 139]);
    }

    #[test]
    fn enough_blocks_or_few_keys_stay_whole() {
        assert_eq!(Split::fastest(160, 160, &keys(1 << 16), 64).parts, 1);
        assert_eq!(Split::fastest(1, 160, &keys(128), 64).parts, 1);
        assert_eq!(Split::fastest(1, 160, &keys(0), 64).parts, 1);
        assert!(Split::fastest(1, 160, &keys(4096), 64).parts > 8);
    }
}
