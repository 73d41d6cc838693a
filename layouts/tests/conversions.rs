//! Conversions carried out on data: every register of every thread gets its element, at the cost that the plan names.

// Other tests take the rest of it.
#[allow(dead_code)]
mod common;

use std::collections::{HashMap, HashSet};

use common::{held, pair, threads};
use proptest::prelude::*;
use quadpair_layouts::convert::{self, Bound, Cost, Exchange, Pass, Staged, Words};
use quadpair_layouts::{Conversion, ConversionKind, Layout, Mma, Quadpairs, SharedLayout, banks, blocked};

/// The elements of a word.
type Word = Vec<u32>;

/// An exchange run by its description, with what it took.
struct Run<'a> {
    plan: &'a Exchange,
    from: &'a Layout,
    /// What each pass gives in each thread, by pass and register.
    selected: HashSet<(usize, u32)>,
    placed: HashSet<(usize, u32)>,
    shuffles: u32,
}

fn odd(pass: &Pass, thread: usize) -> bool {
    (thread as u32 & pass.threads).count_ones() % 2 == 1
}

impl Run<'_> {
    fn word(&self, word: usize, thread: usize) -> Word {
        let words = self.plan.words();
        let register = |position| words.source_register(word, position);
        (0..words.elements()).map(|p| self.from.apply(register(p), thread % 32, thread / 32)).collect()
    }

    /// Register `r` after the first `count` sends.
    fn sent(&mut self, r: u32, thread: usize, count: usize) -> Word {
        if count == 0 {
            return self.word(r as usize, thread);
        }
        let pass = self.plan.sends().list()[count - 1];
        self.selected.insert((count, r));
        let (moved, own) = (self.sent(r ^ pass.mask, thread, count - 1), self.sent(r, thread, count - 1));
        if odd(&pass, thread) { moved } else { own }
    }

    /// What a thread gets in a round, if its bits select so.
    fn round(&mut self, round: u32, thread: usize, selects: Option<bool>) -> Word {
        let (sends, register) = (self.plan.sends(), self.plan.round_register(round as usize) as u32);
        let (count, lane) = (sends.list().len(), self.plan.round_lane(round as usize) as usize);
        if !self.plan.is_shuffle(round as usize) {
            return match selects {
                Some(odd) => {
                    let mask = if odd { sends.list()[count - 1].mask } else { 0 };
                    self.sent(register ^ mask, thread, count - 1)
                }
                None => self.sent(register, thread, count),
            };
        }
        let lanes = self.plan.lanes().iter().enumerate().filter(|(i, _)| thread >> i & 1 == 1);
        let source = lanes.fold(lane, |sum, (_, &lane)| sum ^ lane as usize);
        self.sent(register, source | thread & !31, count)
    }

    fn placed(&mut self, round: u32, thread: usize, count: usize) -> Word {
        let (passes, late) = (self.plan.places(), self.plan.late());
        let early = passes.list().iter().filter(|pass| pass.mask & late == 0).count();
        if count == early && round & late != 0 {
            let lane = self.plan.round_lane((round & late) as usize) as usize;
            return self.placed(round & !late, thread ^ lane, count);
        }
        if count == 0 {
            return self.round(round, thread, None);
        }
        let pass = passes.list()[count - 1];
        self.placed.insert((count, round));
        if count == 1 && self.plan.merges() {
            let (moved, own) =
                (self.round(round ^ pass.mask, thread, Some(true)), self.round(round, thread, Some(false)));
            return if odd(&pass, thread) { moved } else { own };
        }
        let (moved, own) = (self.placed(round ^ pass.mask, thread, count - 1), self.placed(round, thread, count - 1));
        if odd(&pass, thread) { moved } else { own }
    }
}

/// What each register of a thread gets from words, by the target's description.
fn elements(words: &Words, to: &Layout, thread: usize, mut word: impl FnMut(usize) -> Word) -> Vec<u32> {
    let moved = words.thread_positions().iter().enumerate().filter(|(i, _)| thread >> i & 1 == 1);
    let moved = moved.fold(0, |sum, (_, &position)| sum ^ position as usize);
    let pick = |r| word(words.target_word(r))[words.target_position(r) ^ moved];
    (0..to.registers()).map(pick).collect()
}

fn wanted(to: &Layout, thread: usize) -> Vec<u32> {
    held(to, (thread % 32, thread / 32))
}

fn exchanged(plan: &Exchange, from: &Layout, to: &Layout) -> (u32, u32) {
    let mut run = Run { plan, from, selected: HashSet::new(), placed: HashSet::new(), shuffles: 0 };
    run.shuffles = (0..1 << plan.round_bits()).filter(|&round| plan.is_shuffle(round)).count() as u32;
    let count = plan.places().list().len();
    for (lane, warp) in threads(to) {
        let thread = lane | warp << 5;
        let held = elements(plan.words(), to, thread, |word| run.placed(word as u32, thread, count));
        assert_eq!(held, wanted(to, thread), "thread {thread}");
    }
    (run.shuffles, (run.selected.len() + run.placed.len()) as u32)
}

fn staged(plan: &Staged, from: &Layout, to: &Layout) {
    let (words, memory) = (plan.words(), plan.memory());
    let mut places: HashMap<(usize, u32), Word> = HashMap::new();
    let store = plan.store();
    let by_warp = plan.is_by_warp();
    let free_warps = if by_warp { 0 } else { store.free_warps() };
    let free = (store.free_registers() as usize, (store.free_lanes() | free_warps << 5) as usize);
    let copy = |thread: usize| if by_warp { thread / 32 } else { 0 };
    for thread in (0..from.threads()).filter(|thread| thread & free.1 == 0) {
        for stored in (0..words.sources()).filter(|stored| stored & free.0 == 0) {
            let own = (0..words.elements()).map(|p| {
                let register = words.source_register(plan.stored_word(stored), p);
                from.apply(register, thread % 32, thread / 32)
            });
            let place = memory.offset(store.apply(stored, thread % 32, thread / 32));
            assert!(place < memory.size());
            assert!(places.insert((copy(thread), place), own.collect()).is_none(), "two words in one place");
        }
    }
    for thread in 0..to.threads() {
        let load = |word| {
            let register = (0..words.targets()).find(|&register| plan.loaded_word(register) == word).unwrap();
            let place = memory.offset(plan.load().apply(register, thread % 32, thread / 32));
            places[&(copy(thread), place)].clone()
        };
        assert_eq!(elements(words, to, thread, load), wanted(to, thread), "thread {thread}");
    }
}

/// Wide accesses may conflict, but only where they save more than that.
fn worth_it(cost: &Cost, from: &Layout, to: &Layout, bits: u32) {
    let plain = SharedLayout::between(from, to, bits);
    let (stored, loaded) = (banks::store(from, &plain, bits), banks::load(to, &plain, bits));
    assert!(stored.is_conflict_free() && loaded.is_conflict_free());
    let packing = if bits < 32 { from.registers() + to.registers() } else { 0 };
    let narrow = 2 * (stored.wavefronts + loaded.wavefronts) + stored.instructions + loaded.instructions;
    let wide = 2 * cost.wavefronts + cost.accesses + cost.permutations;
    assert!(wide <= narrow + packing as u32, "{from}\n{to}\n{cost}");
}

/// Carries a plan out on data and holds it against its cost.
fn check(plan: &Conversion, from: &Layout, to: &Layout, bits: u32) {
    let registers = if bits > 32 { 2 } else { 1 };
    match &plan.kind {
        ConversionKind::Nothing => assert!(from.same_tile(to)),
        ConversionKind::Registers(exchange) => {
            assert_eq!(exchanged(exchange, from, to), (0, plan.cost.selects));
        }
        ConversionKind::Shuffles(exchange) => {
            let (shuffles, selects) = exchanged(exchange, from, to);
            assert_eq!((shuffles * registers, selects * registers), (plan.cost.shuffles, plan.cost.selects));
            assert_eq!(plan.cost.accesses, 0);
        }
        ConversionKind::Shared(own) => {
            staged(own, from, to);
            if !own.is_by_warp() {
                worth_it(&plan.cost, from, to, bits);
            }
            assert_eq!(plan.cost.accesses, own.stored().instructions + own.loaded().instructions);
        }
    }
}

/// The fewest shuffles that can bring each thread what it wants: a lane takes one word of `elements` a shuffle, which all
/// come from one lane, and sends one.
fn fewest_shuffles(from: &Layout, to: &Layout, elements: u32) -> u32 {
    let held: Vec<HashSet<u32>> =
        (0..from.threads()).map(|t| (0..from.registers()).map(|r| from.apply(r, t % 32, t / 32)).collect()).collect();
    let mut least = 0;
    for warp in 0..from.warps() {
        let own = &held[warp * 32..][..32];
        let mut all = HashSet::new();
        for (lane, held) in own.iter().enumerate() {
            let mut missing: HashSet<u32> = wanted(to, warp * 32 + lane).into_iter().collect();
            all.extend(missing.iter().copied());
            missing.retain(|element| !held.contains(element));
            let mut taken = 0;
            while let Some(&element) = missing.iter().next() {
                // Lanes that have one of two elements have the other, or neither is wanted from them.
                let source = own.iter().find(|held| held.contains(&element)).expect("the warp has it");
                let group = missing.iter().filter(|other| source.contains(other)).count() as u32;
                missing.retain(|other| !source.contains(other));
                taken += group.div_ceil(elements);
            }
            least = least.max(taken);
        }
        // Lanes that hold the same send different words; what the warp wants of them they must send or keep.
        let mut groups: Vec<(&HashSet<u32>, u32)> = Vec::new();
        for held in own {
            match groups.iter_mut().find(|(other, _)| *other == held) {
                Some(group) => group.1 += 1,
                None => groups.push((held, 1)),
            }
        }
        let sent = groups.iter().map(|(held, lanes)| {
            let wanted_elsewhere = all.iter().filter(|e| held.contains(e)).count() as u32;
            wanted_elsewhere.div_ceil(elements).div_ceil(*lanes)
        });
        let busiest = sent.max().unwrap_or(0);
        // Where no lane keeps anything the busiest lanes send all that is wanted of them.
        let keeps = own
            .iter()
            .enumerate()
            .all(|(lane, held)| wanted(to, warp * 32 + lane).iter().any(|element| held.contains(element)));
        least = least.max(if keeps { 0 } else { busiest });
    }
    least
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_register_gets_its_element((from, to) in pair(), bits in prop::sample::select(vec![1, 8, 16, 32, 64])) {
        prop_assume!(from.fault().is_none() && to.fault().is_none());
        for bound in [Bound::Any, Bound::NoSharedMemory, Bound::NoBarrier] {
            let plan = convert::plan_within(&from, &to, bits, bound).unwrap();
            check(&plan, &from, &to, bits);
        }
    }

    #[test]
    fn no_fewer_shuffles_are_possible((from, to) in pair(), bits in prop::sample::select(vec![8, 16, 32])) {
        prop_assume!(from.fault().is_none() && to.fault().is_none());
        let plan = convert::plan_within(&from, &to, bits, Bound::NoSharedMemory).unwrap();
        if let ConversionKind::Shuffles(exchange) = &plan.kind {
            let least = fewest_shuffles(&from, &to, exchange.words().elements() as u32);
            prop_assert_eq!(plan.cost.shuffles, least);
        }
    }
}

#[test]
fn a_transposition_of_a_register_and_a_lane_bit_ships_half() {
    let lanes = |first| [first, 4, 8, 16, 32];
    let shape = quadpair_layouts::Shape::new([128]);
    let a = Layout::from_bases(shape, &[1, 64], lanes(2), &[]);
    let b = Layout::from_bases(shape, &[2, 64], lanes(1), &[]);
    let plan = convert::plan(&a, &b, 32).unwrap();
    assert_eq!(plan.cost, Cost { shuffles: 2, selects: 6, ..Cost::NONE });
    check(&plan, &a, &b, 32);
    // Halves that both keep together travel together.
    let plan = convert::plan(&a, &b, 16).unwrap();
    assert_eq!(plan.cost, Cost { shuffles: 1, selects: 3, permutations: 2, ..Cost::NONE });
    check(&plan, &a, &b, 16);
}

#[test]
fn the_accumulator_of_the_matrix_unit_becomes_an_operand_by_shuffles() {
    for (quadpairs, shape, shuffles) in [(Quadpairs::TwoByTwo, [16, 16], 6), (Quadpairs::FourByOne, [32, 8], 2)] {
        let mma = Mma::m8n8k4(quadpairs, [1, 1]);
        let (c, a) = (mma.accumulator(shape), mma.a(shape));
        let plan = convert::plan(&c, &a, 16).unwrap();
        check(&plan, &c, &a, 16);
        assert_eq!((plan.cost.shuffles, plan.cost.accesses), (shuffles, 0), "{plan}");
    }
}

#[test]
fn a_transpose_of_halves_has_wide_accesses_on_both_sides() {
    let rows = blocked([64, 64], [1, 8], [8, 4], [2, 1], [1, 0]);
    let plan = convert::plan(&rows, &rows.permute([1, 0]), 16).unwrap();
    check(&plan, &rows, &rows.permute([1, 0]), 16);
    // Two bits of a column stay in a thread: words of two halves, 16 bytes a store and 8 a load.
    assert_eq!((plan.cost.accesses, plan.cost.wavefronts), (8 + 16, 8 * 4 + 16 * 2), "{plan}");
}
