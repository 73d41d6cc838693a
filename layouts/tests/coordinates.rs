//! Operations on random layouts, element by element, and products that the law accepts.

#[allow(dead_code)]
mod common;
mod support;

use std::collections::{HashMap, HashSet};

use common::{extents, held, layout, layout_of, memory, memory_with_gaps, threads};
use proptest::prelude::*;
use quadpair_layouts::{
    Layout, Mma, MmaPlan, Quadpairs, Shape, SharedLayout, banks, blocked, linear, row_major, typing,
};

fn coordinates(shape: Shape, element: u32) -> Vec<usize> {
    (0..shape.rank()).map(|dim| shape.coordinate(element, dim)).collect()
}

/// What two layouts hold in each register of each thread.
fn pairs(one: &Layout, other: &Layout) -> Vec<(Vec<usize>, Vec<usize>)> {
    assert_eq!((one.registers(), one.threads()), (other.registers(), other.threads()));
    let elements = threads(one).flat_map(|thread| held(one, thread).into_iter().zip(held(other, thread)));
    elements.map(|(a, b)| (coordinates(one.shape(), a), coordinates(other.shape(), b))).collect()
}

/// Blocks of a shape: elements of a thread, lanes, warps, and an order of the dimensions.
#[derive(Clone, Debug)]
struct Blocks {
    shape: [usize; 3],
    counts: [[usize; 3]; 3],
    order: [usize; 3],
}

impl Blocks {
    fn layout(&self) -> Layout {
        let [per_thread, lanes, warps] = self.counts;
        blocked(self.shape, per_thread, lanes, warps, self.order)
    }

    /// The digits of a number whose digit of dimension `order[0]` counts fastest.
    fn digits(&self, mut number: usize, counts: [usize; 3]) -> [usize; 3] {
        let mut digits = [0; 3];
        for dim in self.order {
            digits[dim] = number % counts[dim];
            number /= counts[dim];
        }
        digits
    }

    /// The element of a register by division and remainder: blocks of threads, threads of warps, warps of repetitions,
    /// and all of that modulo the extents.
    fn element(&self, register: usize, lane: usize, warp: usize) -> Vec<usize> {
        let [per_thread, lanes, warps] = self.counts;
        let own = [0, 1, 2].map(|dim| per_thread[dim].min(self.shape[dim]));
        let repeated = [0, 1, 2].map(|dim| (self.shape[dim] / (per_thread[dim] * lanes[dim] * warps[dim])).max(1));
        let size: usize = own.iter().product();
        let (inner, outer) = (self.digits(register % size, own), self.digits(register / size, repeated));
        let (lane, warp) = (self.digits(lane, lanes), self.digits(warp, warps));
        let place = |d: usize| inner[d] + per_thread[d] * (lane[d] + lanes[d] * (warp[d] + warps[d] * outer[d]));
        (0..3).map(|dim| place(dim) % self.shape[dim]).collect()
    }
}

/// `bits` doublings, each of some dimension.
fn counts(bits: std::ops::Range<usize>) -> impl Strategy<Value = [usize; 3]> {
    prop::collection::vec(0_usize..3, bits)
        .prop_map(|dims| [0, 1, 2].map(|dim| 1 << dims.iter().filter(|&&d| d == dim).count()))
}

fn blocks() -> impl Strategy<Value = Blocks> {
    let order = Just([0, 1, 2]).prop_shuffle();
    (counts(0..10), counts(0..4), counts(5..6), counts(0..3), order)
        .prop_map(|(shape, own, lanes, warps, order)| Blocks { shape, counts: [own, lanes, warps], order })
}

/// Elements of `a [M, K]` and `b [K, N]` that an instruction multiplies in some lane, by the unit's index formulas.
struct Operands<'l> {
    plan: &'l MmaPlan,
    layouts: [&'l Layout; 3],
}

impl Operands<'_> {
    /// The (depth, depth) that each accumulator gets from both factors, if their row and column are its own.
    fn depths(&self) -> Option<HashMap<(usize, usize, usize), Vec<u32>>> {
        let [_, _, c] = self.layouts;
        let mut got: HashMap<(usize, usize, usize), Vec<u32>> = HashMap::new();
        for (lane, warp) in threads(c) {
            for repetition in 0..self.plan.repetitions {
                let mut seen = HashSet::new();
                for v in 0..8 {
                    let register = self.plan.c_register(repetition, v);
                    for step in 0..self.plan.steps {
                        let depths = self.instruction(repetition, step, (lane, warp), v)?;
                        if !seen.contains(&register) {
                            got.entry((register, lane, warp)).or_default().extend(depths);
                        }
                    }
                    seen.insert(register);
                }
            }
        }
        Some(got)
    }

    fn instruction(&self, repetition: usize, step: usize, at: (usize, usize), v: usize) -> Option<Vec<u32>> {
        let ([a, b, c], (lane, warp)) = (self.layouts, at);
        let (t, quadpair) = (lane % 4 + lane / 16 * 4, lane / 4 % 4);
        let (i, j) = ((t & 1) + (v & 2) + (t & 4), (v & 1) + (t & 2) + (v & 4));
        let of = |t: usize| t % 4 + 4 * quadpair + 16 * (t / 4);
        let place = |other: bool, row: usize, k: usize| if other { (k + 4 * (row / 4), row % 4) } else { (row, k) };
        let own = coordinates(c.shape(), c.apply(self.plan.c_register(repetition, v), lane, warp));
        let depth = |k: usize| {
            let ((ta, ra), (tb, rb)) = (place(self.plan.a_col, i, k), place(self.plan.b_row, j, k));
            let left = a.apply(self.plan.a_register(repetition, step, ra), of(ta), warp);
            let right = b.apply(self.plan.b_register(repetition, step, rb), of(tb), warp);
            let (left, right) = (coordinates(a.shape(), left), coordinates(b.shape(), right));
            (left[0] == own[0] && right[1] == own[1] && left[1] == right[0]).then_some(left[1] as u32)
        };
        (0..4).map(depth).collect()
    }
}

/// The layout with one column added to another, if it still reaches every element.
fn changed(layout: &Layout, change: Option<(usize, usize)>) -> Layout {
    let mut columns = layout.columns().to_vec();
    if let Some((to, from)) = change {
        let (to, from) = (to % columns.len(), from % columns.len());
        columns[to] ^= if to == from { 0 } else { columns[from] };
    }
    let (registers, threads) = columns.split_at(layout.register_bits());
    let changed = Layout::from_bases(layout.shape(), registers, [0, 1, 2, 3, 4].map(|i| threads[i]), &threads[5..]);
    changed.check().unwrap_or(*layout)
}

proptest! {
    #[test]
    fn blocks_are_numbered_by_division_and_remainder(blocks in blocks()) {
        let layout = blocks.layout().check().unwrap();
        for (lane, warp) in threads(&layout) {
            for register in 0..layout.registers() {
                let element = coordinates(layout.shape(), layout.apply(register, lane, warp));
                prop_assert_eq!(element, blocks.element(register, lane, warp));
            }
        }
    }

    #[test]
    fn bases_are_what_single_bits_hold(layout in layout_of(vec![4, 2, 8], 2)) {
        let basis = |flat: u32| -> [usize; 3] { coordinates(layout.shape(), flat).try_into().unwrap() };
        let columns: Vec<[usize; 3]> = layout.columns().iter().map(|&flat| basis(flat)).collect();
        let (registers, threads) = columns.split_at(layout.register_bits());
        prop_assert!(linear([4, 2, 8], registers, &threads[..5], &threads[5..]).equals(&layout));
    }

    #[test]
    fn slices_and_collapses_lose_one_coordinate(layout in layout()) {
        for dim in 0..layout.shape().rank() {
            for (whole, slice) in pairs(&layout, &layout.slice(dim)) {
                let kept: Vec<usize> = (0..whole.len()).filter(|&d| d != dim).map(|d| whole[d]).collect();
                prop_assert_eq!(slice, kept);
            }
            for (whole, collapsed) in pairs(&layout, &layout.collapse(dim)) {
                let zeroed: Vec<usize> = (0..whole.len()).map(|d| if d == dim { 0 } else { whole[d] }).collect();
                prop_assert_eq!(collapsed, zeroed);
            }
        }
    }

    #[test]
    fn expanding_inserts_a_zero(layout in layout()) {
        for axis in 0..=layout.shape().rank() {
            for (mut own, expanded) in pairs(&layout, &layout.expand_dims(axis)) {
                own.insert(axis, 0);
                prop_assert_eq!(expanded, own);
            }
        }
    }

    #[test]
    fn permutations_move_coordinates_and_reshapes_keep_the_order(
        layout in layout_of(vec![4, 2, 8], 1),
        order in Just([0_usize, 1, 2]).prop_shuffle(),
    ) {
        for (own, permuted) in pairs(&layout, &layout.permute(order)) {
            prop_assert_eq!(permuted, order.map(|dim| own[dim]).to_vec());
        }
        for (own, reshaped) in pairs(&layout, &layout.reshape([16, 4])) {
            prop_assert_eq!((own[0] * 2 + own[1]) * 8 + own[2], reshaped[0] * 4 + reshaped[1]);
        }
    }

    #[test]
    fn zero_registers_make_no_other_tile(layout in layout(), at in 0_usize..8, change in (0_usize..20, 0_usize..20)) {
        let (mut columns, at) = (layout.columns().to_vec(), at.min(layout.register_bits()));
        columns.insert(at, 0);
        let (registers, threads) = columns.split_at(layout.register_bits() + 1);
        let more = Layout::from_bases(layout.shape(), registers, [0, 1, 2, 3, 4].map(|i| threads[i]), &threads[5..]);
        prop_assert!(more.same_tile(&layout) && !more.equals(&layout) && more.difference(&layout).is_none());
        let other = changed(&layout, Some(change));
        let same = threads_hold_the_same(&layout.compact(), &other.compact());
        prop_assert_eq!((more.same_tile(&other), more.difference(&other).is_none()), (same, same));
    }

    #[test]
    fn operands_are_the_rows_and_columns_of_the_thread(c in layout_of(vec![8, 4], 1), k in (0_u32..3).prop_map(|bits| 1_usize << bits)) {
        let (a, b) = (c.operand_a(k).check().unwrap(), c.operand_b(k).check().unwrap());
        for thread in threads(&c) {
            let all = |layout: &Layout| -> HashSet<Vec<usize>> {
                held(layout, thread).into_iter().map(|element| coordinates(layout.shape(), element)).collect()
            };
            let own = all(&c);
            let with_k = |place: &dyn Fn(&Vec<usize>, usize) -> Vec<usize>| -> HashSet<Vec<usize>> {
                own.iter().flat_map(|element| (0..k).map(move |depth| place(element, depth))).collect()
            };
            prop_assert_eq!(all(&a), with_k(&|element, depth| vec![element[0], depth]));
            prop_assert_eq!(all(&b), with_k(&|element, depth| vec![depth, element[1]]));
        }
    }

    #[test]
    fn views_have_the_offsets_of_the_whole(
        memory in memory(7),
        dim in 0_usize..3,
        (bits, start) in (0_u32..3, 0_usize..4),
        order in Just([0_usize, 1, 2]).prop_shuffle(),
    ) {
        let whole = memory.reshape([4, 8, 4]);
        let (shape, length) = (whole.shape(), 1 << bits);
        let start = start * length % shape.extent(dim);
        let slice = whole.slice(dim, start, length).check().unwrap();
        let (turned, flat) = (slice.permute(order), slice.reshape([slice.shape().len()]));
        for element in 0..slice.shape().len() as u32 {
            let mut place = coordinates(slice.shape(), element);
            prop_assert_eq!(turned.offset(turned.shape().flat(&order.map(|dim| place[dim]))), slice.offset(element));
            prop_assert_eq!(flat.offset(element), slice.offset(element));
            place[dim] += start;
            prop_assert_eq!(slice.offset(element), whole.offset(shape.flat(&place)));
        }
    }

    #[test]
    fn an_index_stride_reaches_every_index(memory in memory(6), high in prop::bool::ANY) {
        // Three upper bits in their order, or any.
        let whole = if high { row_major([8, 64]) } else { memory.reshape([8, 8]) };
        if let Ok(stride) = whole.index_stride() {
            let one = whole.without_dim0();
            for element in 0..whole.shape().len() as u32 {
                let (index, rest) = (element >> whole.shape().shift(0), element & (one.shape().len() as u32 - 1));
                prop_assert_eq!(whole.offset(element), index * stride + one.offset(rest));
            }
        } else {
            prop_assert!(!high);
        }
    }

    #[test]
    fn gaps_are_counted_one_by_one(memory in memory_with_gaps(7), start in 0_usize..4) {
        let (mut next, mut places) = (0_u32, Vec::new());
        for linear in 0_u32..128 {
            let ends = |&&(interval, _): &&(u8, u8)| linear > 0 && linear.is_multiple_of(1 << interval);
            next += memory.gap_shifts().iter().filter(ends).map(|&(_, gap)| 1 << gap).sum::<u32>();
            places.push(next);
            next += 1;
        }
        for element in 0..128 {
            prop_assert_eq!(memory.offset(element), places[memory.linear_offset(element) as usize]);
        }
        prop_assert_eq!(memory.size(), next);
        let (whole, view) = (memory.reshape([2, 16, 4]), memory.reshape([2, 16, 4]).slice(1, start * 4, 4));
        for element in 0..32 {
            let mut place = coordinates(view.shape(), element);
            place[1] += start * 4;
            prop_assert_eq!(view.offset(element), whole.offset(whole.shape().flat(&place)));
        }
        if let Ok(stride) = whole.index_stride() {
            let one = whole.without_dim0();
            for element in 0..128 {
                prop_assert_eq!(whole.offset(element), element / 64 * stride + one.offset(element % 64));
            }
        }
    }

    #[test]
    fn wavefronts_are_those_of_the_words(
        units in prop::collection::vec(prop::option::weighted(0.8, 0_u32..96), 32),
        spread in prop::sample::select(vec![1_u32, 2, 8, 16]),
        bytes in prop::sample::select(vec![1_u32, 2, 4, 8, 16]),
    ) {
        let addresses: [Option<u32>; 32] = std::array::from_fn(|lane| units[lane].map(|unit| unit * spread * bytes));
        prop_assert_eq!(banks::wavefronts(&addresses, bytes), support::wavefronts(&addresses, bytes));
    }

    /// Where every bit moves by a power of two, the width is the most that lies side by side in every thread.
    #[test]
    fn vectors_are_as_wide_as_can_be(
        columns in Just((0..8).map(|i| 1_u32 << i).collect::<Vec<_>>()).prop_shuffle(),
        bytes in prop::sample::select(vec![1_u32, 2, 4, 8]),
    ) {
        let tile = Layout::from_bases(Shape::new([256]), &columns[..3], [3, 4, 5, 6, 7].map(|i| columns[i]), &[]);
        let memory = row_major([256]);
        let widest = (0..4).map(|bits| 1_usize << bits).filter(|&width| width as u32 * bytes <= 16 && fits(&tile, &memory, width)).max();
        prop_assert_eq!(Some(banks::load(&tile, &memory, bytes * 8).vector), widest);
        prop_assert_eq!(Some(banks::store(&tile, &memory, bytes * 8).vector), widest);
    }

    /// Operands and accumulators with some basis changed: most are refused, and what is accepted multiplies right: every
    /// element that a thread holds gets each k once, in one of the registers that hold it.
    #[test]
    fn products_that_are_accepted_are_right(
        which in 0_usize..3,
        quadpairs in prop::sample::select(Quadpairs::ALL.to_vec()),
        (m, n, k) in (2_u32..6, 2_u32..6, 2_u32..5).prop_map(|(m, n, k)| (1_usize << m, 1_usize << n, 1_usize << k)),
        forms in (prop::bool::ANY, prop::bool::ANY),
        changes in prop::collection::vec((0_usize..24, 0_usize..24), 0..3),
    ) {
        let mma = Mma::m8n8k4(quadpairs, [2, 1]);
        let a = if forms.0 { mma.a_col([m, k]) } else { mma.a([m, k]) };
        let b = if forms.1 { mma.b_row([k, n]) } else { mma.b([k, n]) };
        let mut layouts = [a, b, mma.accumulator([m, n])];
        for change in &changes {
            layouts[which] = changed(&layouts[which], Some(*change));
        }
        let [a, b, c] = &layouts;
        match typing::mma(a, b, c) {
            Ok(plan) => {
                let depths = Operands { plan: &plan, layouts: [a, b, c] }.depths();
                let depths = depths.expect("every factor is in its accumulator's row and column");
                for thread in threads(c) {
                    let summed = depths.keys().filter(|(_, lane, warp)| (*lane, *warp) == thread);
                    let summed: HashSet<u32> = summed.map(|&(register, lane, warp)| c.apply(register, lane, warp)).collect();
                    prop_assert_eq!(summed, held(c, thread).into_iter().collect::<HashSet<u32>>(), "{}", c);
                }
                for mut depths in depths.into_values() {
                    depths.sort_unstable();
                    prop_assert!(depths.iter().copied().eq(0..k as u32), "{depths:?}: {a} times {b} into {c}");
                }
            }
            Err(error) => prop_assert!(!changes.is_empty(), "{error}"),
        }
    }
}

fn threads_hold_the_same(one: &Layout, other: &Layout) -> bool {
    one.registers() == other.registers() && threads(one).all(|thread| held(one, thread) == held(other, thread))
}

/// Whether every thread's registers can be divided into groups of this many elements side by side, aligned to it.
fn fits(tile: &Layout, memory: &SharedLayout, width: usize) -> bool {
    threads(tile).all(|thread| {
        let mut groups: HashMap<u32, HashSet<u32>> = HashMap::new();
        for element in held(tile, thread) {
            let offset = memory.offset(element);
            groups.entry(offset / width as u32).or_default().insert(offset);
        }
        groups.values().all(|group| group.len() == width)
    })
}

#[test]
fn shapes_of_random_layouts_have_up_to_three_dimensions() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let ranks: HashSet<usize> = (0..64).map(|_| extents().new_tree(&mut runner).unwrap().current().len()).collect();
    assert_eq!(ranks, HashSet::from([1, 2, 3]));
}
