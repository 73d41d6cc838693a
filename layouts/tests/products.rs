//! Products on the matrix unit, instruction by instruction.
//!
//! An instruction is played in every quadpair: by the index formulas of the instruction set, not by the fragments of the
//! library. Each product of an element of `a` and one of `b` must be one that its accumulator needs, and over all
//! instructions each accumulator must get each k once.

use std::collections::HashMap;

use quadpair_layouts::{Layout, Mma, MmaPlan, Quadpairs, typing};

const ARRANGEMENTS: [Quadpairs; 3] = [Quadpairs::FourByOne, Quadpairs::TwoByTwo, Quadpairs::OneByFour];
const WARPS: [[usize; 2]; 6] = [[1, 1], [4, 1], [2, 2], [1, 4], [8, 1], [4, 8]];
/// Rows, columns and depth; some smaller than one arrangement of the unit.
const TILES: [[usize; 3]; 8] =
    [[64, 32, 8], [64, 32, 16], [32, 64, 4], [16, 16, 16], [64, 8, 8], [8, 8, 4], [4, 2, 8], [128, 16, 4]];

/// The lane of thread `t` of a quadpair.
fn lane(quadpair: usize, t: usize) -> usize {
    t % 4 + 4 * quadpair + 16 * (t / 4)
}

struct Played<'l> {
    plan: MmaPlan,
    a: &'l Layout,
    b: &'l Layout,
    c: &'l Layout,
}

impl Played<'_> {
    /// The (m, k) of row `i`, depth `k` of one instruction's left operand.
    fn left(&self, at: (usize, usize), quadpair: usize, warp: usize, i: usize, k: usize) -> (usize, usize) {
        let (t, v) = if self.plan.a_col { (k + 4 * (i / 4), i % 4) } else { (i, k) };
        let register = self.plan.a_register(at.0, at.1, v);
        coordinates(self.a, self.a.apply(register, lane(quadpair, t), warp))
    }

    fn right(&self, at: (usize, usize), quadpair: usize, warp: usize, j: usize, k: usize) -> (usize, usize) {
        let (t, v) = if self.plan.b_row { (k + 4 * (j / 4), j % 4) } else { (j, k) };
        let register = self.plan.b_register(at.0, at.1, v);
        coordinates(self.b, self.b.apply(register, lane(quadpair, t), warp))
    }

    /// The depths that each accumulator of a quadpair gets.
    fn play(&self, quadpair: usize, warp: usize) -> HashMap<(usize, usize), Vec<usize>> {
        let mut got: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
        for at in (0..self.plan.repetitions).flat_map(|r| (0..self.plan.steps).map(move |s| (r, s))) {
            let mut now: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
            for (t, v) in (0..64).map(|n| (n / 8, n % 8)) {
                let (i, j) = ((t & 1) + (v & 2) + 4 * (t / 4), (v & 1) + (t & 2) + (v & 4));
                let register = self.plan.c_register(at.0, v);
                let (row, column) = coordinates(self.c, self.c.apply(register, lane(quadpair, t), warp));
                let mut depths = Vec::new();
                for k in 0..4 {
                    let (left, right) = (self.left(at, quadpair, warp, i, k), self.right(at, quadpair, warp, j, k));
                    assert_eq!((left.0, right.1, left.1), (row, column, right.0));
                    depths.push(left.1);
                }
                // Where a tile is smaller than the atom, one register has several of its results: all the same.
                let before = now.insert((lane(quadpair, t), register), depths.clone());
                assert!(before.is_none_or(|before| before == depths));
            }
            now.into_iter().for_each(|(accumulator, depths)| got.entry(accumulator).or_default().extend(depths));
        }
        got
    }
}

fn coordinates(layout: &Layout, element: u32) -> (usize, usize) {
    (layout.shape().coordinate(element, 0), layout.shape().coordinate(element, 1))
}

#[test]
fn every_accumulator_gets_each_k_once() {
    for (quadpairs, warps, [m, n, k]) in cases() {
        let mma = Mma::m8n8k4(quadpairs, warps);
        let c = mma.accumulator([m, n]).check().unwrap();
        for (a, a_col) in [(mma.a([m, k]), false), (mma.a_col([m, k]), true)] {
            for (b, b_row) in [(mma.b([k, n]), false), (mma.b_row([k, n]), true)] {
                let plan = typing::mma(&a, &b, &c).unwrap_or_else(|error| panic!("{error}: {a} times {b} into {c}"));
                assert_eq!((plan.a_col, plan.b_row), (a_col, b_row));
                all_get_each_k_once(&Played { plan, a: &a, b: &b, c: &c }, k);
            }
        }
    }
}

fn cases() -> impl Iterator<Item = (Quadpairs, [usize; 2], [usize; 3])> {
    let tiles = |(quadpairs, warps)| TILES.map(|tile| (quadpairs, warps, tile));
    ARRANGEMENTS.into_iter().flat_map(|quadpairs| WARPS.map(|warps| (quadpairs, warps))).flat_map(tiles)
}

fn all_get_each_k_once(played: &Played<'_>, k: usize) {
    for (quadpair, warp) in (0..4 * played.c.warps()).map(|i| (i % 4, i / 4)) {
        let got = played.play(quadpair, warp);
        let distinct = played.c.registers() >> zero_bits(played.c);
        assert_eq!(got.len(), 8 * distinct);
        for mut depths in got.into_values() {
            depths.sort_unstable();
            assert!(depths.into_iter().eq(0..k));
        }
    }
}

fn zero_bits(layout: &Layout) -> usize {
    (0..layout.register_bits()).filter(|&i| layout.register_basis(i) == 0).count()
}

/// Other layouts than the arrangement's multiply, too, if they obey the law: here with registers in another order.
#[test]
fn the_law_and_not_the_name_decides() {
    let mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [2, 1]);
    let (a, b, c) = (mma.a([64, 16]), mma.b_row([16, 32]), mma.accumulator([64, 32]));
    let turned = |layout: &Layout| {
        let registers: Vec<u32> = (0..layout.register_bits()).rev().map(|i| layout.register_basis(i)).collect();
        let lanes = [0, 1, 2, 3, 4].map(|i| layout.lane_basis(i));
        Layout::from_bases(layout.shape(), &registers, lanes, &[layout.warp_basis(0)]).check().unwrap()
    };
    for (a, b, c) in [(turned(&a), b, c), (a, turned(&b), c), (a, b, turned(&c)), (turned(&a), turned(&b), turned(&c))]
    {
        let plan = typing::mma(&a, &b, &c).unwrap();
        all_get_each_k_once(&Played { plan, a: &a, b: &b, c: &c }, 16);
    }
}
