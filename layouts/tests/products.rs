//! Products on matrix units, instruction by instruction.
//!
//! An instruction is played, m8n8k4 in every quadpair: by the index formulas of the instruction set, not by the fragments of the
//! library. Each product of an element of `a` and one of `b` must be one that its accumulator needs, and over all
//! instructions each accumulator must get each k once.

use std::collections::HashMap;

use quadpair_layouts::{Bound, Layout, Mma, MmaPlan, Quadpairs, convert, typing};

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
    Quadpairs::ALL.into_iter().flat_map(|quadpairs| WARPS.map(|warps| (quadpairs, warps))).flat_map(tiles)
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

/// What a unit of 16 rows multiplies, by the index formulas of the instruction set: elements come in packs of `width`.
#[derive(Clone, Copy)]
struct Packed {
    width: usize,
    k: usize,
}

impl Packed {
    /// The lane and element of the fragment that have row `i` and depth `k` of the left operand.
    fn left(self, i: usize, k: usize) -> (usize, usize) {
        let half = k / (4 * self.width);
        (i % 8 * 4 + k / self.width % 4, k % self.width + self.width * (i / 8) + 2 * self.width * half)
    }

    fn right(self, k: usize, j: usize) -> (usize, usize) {
        (j * 4 + k / self.width % 4, k % self.width + self.width * (k / (4 * self.width)))
    }

    fn sum(self, i: usize, j: usize) -> (usize, usize) {
        (i % 8 * 4 + j / 2, j % 2 + 2 * (i / 8))
    }
}

/// Plays every instruction: each product must be one that its accumulator needs, and each needs every k once.
fn packed_gets_each_k_once(unit: Packed, plan: &MmaPlan, [a, b, c]: [&Layout; 3], k: usize) {
    for warp in 0..c.warps() {
        let mut got: HashMap<(usize, usize), Vec<usize>> = HashMap::new();
        let places = (0..plan.repetitions * plan.steps).map(|n| (n % plan.repetitions, n / plan.repetitions));
        for ((repetition, step), (i, j)) in places.flat_map(|at| (0..128).map(move |n| (at, (n / 8, n % 8)))) {
            let (holder, v) = unit.sum(i, j);
            let register = plan.c_register(repetition, v);
            let (row, column) = coordinates(c, c.apply(register, holder, warp));
            for depth in 0..unit.k {
                let (lane, v) = unit.left(i, depth);
                let left = coordinates(a, a.apply(plan.a_register(repetition, step, v), lane, warp));
                let (lane, v) = unit.right(depth, j);
                let right = coordinates(b, b.apply(plan.b_register(repetition, step, v), lane, warp));
                assert_eq!((left.0, right.1, left.1), (row, column, right.0));
                got.entry((holder, register)).or_default().push(left.1);
            }
        }
        assert_eq!(got.len(), 32 * c.registers());
        for mut depths in got.into_values() {
            depths.sort_unstable();
            assert!(depths.into_iter().eq(0..k));
        }
    }
}

#[test]
fn the_units_of_16_rows_give_every_accumulator_each_k_once() {
    type Unit = (fn([usize; 2]) -> Mma, &'static str, u32, Packed);
    let units: [Unit; 4] = [
        (Mma::m16n8k8, "m16n8k8", 16, Packed { width: 2, k: 8 }),
        (Mma::m16n8k16, "m16n8k16", 16, Packed { width: 2, k: 16 }),
        (Mma::m16n8k8_tf32, "m16n8k8", 32, Packed { width: 1, k: 8 }),
        (Mma::m16n8k32, "m16n8k32", 8, Packed { width: 4, k: 32 }),
    ];
    for (make, name, bits, unit) in units {
        for warps in [[1, 1], [4, 1], [2, 2]] {
            for steps in [1, 2] {
                let (mma, k) = (make(warps), unit.k * steps);
                let c = mma.accumulator([64, 32]).check().unwrap();
                let (a, b) = (mma.a([64, k]), mma.b([k, 32]));
                let plan = typing::mma_of(bits, 32, &a, &b, &c).unwrap_or_else(|error| panic!("{name}: {error}"));
                // The layouts of both 16-bit units are one: the deeper one is planned where k has room for it.
                let deep = name == "m16n8k8" && bits == 16 && k >= 16;
                let (name, unit) = if deep { ("m16n8k16", Packed { k: 16, ..unit }) } else { (name, unit) };
                assert_eq!((plan.atom.name, plan.steps * unit.k, plan.a_col, plan.b_row), (name, k, false, false));
                packed_gets_each_k_once(unit, &plan, [&a, &b, &c], k);
            }
        }
    }
}

#[test]
fn accumulators_in_halves_are_told_from_those_in_singles() {
    let volta = Mma::m8n8k4(Quadpairs::TwoByTwo, [2, 1]);
    let (a, b) = (volta.a([32, 8]), volta.b([8, 16]));
    let (single, half) = (volta.accumulator([32, 16]), volta.accumulator_half([32, 16]));
    assert!(typing::mma_of(16, 32, &a, &b, &single).is_ok() && typing::mma_of(16, 16, &a, &b, &half).is_ok());
    assert!(typing::mma_of(16, 32, &a, &b, &half).is_err() && typing::mma_of(16, 16, &a, &b, &single).is_err());
    let ampere = Mma::m16n8k16([2, 1]);
    assert!(ampere.accumulator([32, 16]).equals(&ampere.accumulator_half([32, 16])));
    assert!(typing::mma_of(16, 16, &ampere.a([32, 16]), &ampere.b([16, 16]), &ampere.accumulator([32, 16])).is_ok());
}

/// An operand in wider packs multiplies, too: k is taken in another order, the same in both operands.
#[test]
fn wider_packs_multiply_in_another_order_of_k() {
    let mma = Mma::m16n8k16([2, 1]);
    let (a, b, c) = (mma.dot_operand([32, 32], 0, 4), mma.dot_operand([32, 16], 1, 4), mma.accumulator([32, 16]));
    let plan = typing::mma(&a, &b, &c).unwrap();
    packed_gets_each_k_once(Packed { width: 2, k: 16 }, &plan, [&a, &b, &c], 32);
    assert!(typing::mma(&a, &mma.b([32, 16]), &c).is_err());
}

/// What attention multiplies by V are the sums of Q K^T: in the units of 16 rows every element is already in its thread.
#[test]
fn sums_are_the_next_products_left_operand() {
    let free =
        |from: &Layout, to: &Layout| convert::plan(from, to, 16).is_ok_and(|plan| Bound::Registers.allows(&plan));
    let (ampere, across) = (Mma::m16n8k16([4, 1]), Mma::m16n8k16([2, 2]));
    for n in [16, 32, 128] {
        assert!(free(&ampere.accumulator([64, n]), &ampere.a([64, n])));
        // A warp with half the columns lacks the other half of k.
        assert!(!free(&across.accumulator([64, n]), &across.a([64, n])));
    }
    let turing = Mma::m16n8k8([4, 1]);
    for n in [8, 64] {
        assert!(free(&turing.accumulator([64, n]), &turing.a([64, n])));
    }
    let volta = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]);
    assert!(!free(&volta.accumulator([64, 32]), &volta.a([64, 32])));
}

/// A chip that lacks the deepest unit of some layouts multiplies them on a shallower one.
#[test]
fn the_deepest_unit_of_a_chip_is_planned() {
    let unit = Mma::m16n8k16([2, 1]);
    let plan =
        |sm, k| typing::mma_on(sm, 16, 32, &unit.a([32, k]), &unit.b([k, 16]), &unit.accumulator([32, 16])).unwrap();
    for (sm, k, name, steps) in
        [(75, 32, "m16n8k8", 4), (80, 32, "m16n8k16", 2), (120, 16, "m16n8k16", 1), (80, 8, "m16n8k8", 1)]
    {
        assert_eq!((plan(sm, k).atom.name, plan(sm, k).steps), (name, steps));
    }
    // Where there is none, the first that came tells what is missing.
    assert_eq!(plan(70, 32).atom.first_sm, 75);
    assert_eq!([75, 80].map(|sm| plan(sm, 16).atom.first_sm_of(true)), [Some(80), Some(80)]);
}
