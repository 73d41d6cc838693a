//! A warp: 32 lanes, their registers and where each of them is in the program.
//!
//! A register is an array of 32 lanes. Lanes that are at the same place run together as a group; when a branch splits
//! them the group that is furthest behind runs first, so groups meet again where their paths join. For example after
//! `@%p1 bra $L1` with lanes 0 to 15 jumping ahead, lanes 16 to 31 run until they reach `$L1`, and from there all 32 go on.

use super::machine::BlockPlace;
use super::products::Products;
use super::program::{Condition, Program, Slot};

/// Lanes of a warp.
pub(super) const LANES: usize = 32;

/// All lanes.
pub(super) const FULL: u32 = u32::MAX;

/// The bit of each lane in a mask.
pub(super) const LANE_BITS: [u32; LANES] = lane_bits();

const fn lane_bits() -> [u32; LANES] {
    let mut bits = [0; LANES];
    let mut lane = 0;
    while lane < LANES {
        bits[lane] = 1 << lane;
        lane += 1;
    }
    bits
}

/// A value of 32 bits in every lane.
pub(super) type Lanes32 = [u32; LANES];

/// A value of 64 bits in every lane.
pub(super) type Lanes64 = [u64; LANES];

/// Lanes that are at one place in the program.
#[derive(Clone, Copy, Debug)]
struct Group {
    pc: u32,
    mask: u32,
}

/// A warp's state.
#[derive(Debug)]
pub(super) struct Warp {
    /// Its number in the block.
    pub(super) index: u32,
    /// Lanes that hold a thread.
    pub(super) members: u32,
    /// Where the running group is.
    pub(super) pc: u32,
    /// Lanes of the running group.
    pub(super) mask: u32,
    /// The other groups.
    waiting: Vec<Group>,
    /// The lowest place of a waiting group.
    next: u32,
    /// Instructions run so far.
    pub(super) executed: u64,
    /// The number of the barrier that the warp waits at.
    pub(super) barrier: Option<u32>,
    /// Predicates, a bit for each lane.
    pub(super) predicates: Vec<u32>,
    words: Vec<Lanes32>,
    longs: Vec<Lanes64>,
    /// Lanes in which each register was written.
    pub(super) written: Vec<u32>,
    pub(super) products: Products,
    /// Each lane's own memory, one after the other.
    pub(super) local: Vec<u8>,
}

impl Warp {
    pub(super) fn new(program: &Program, index: u32, threads: u32, block: &BlockPlace) -> Self {
        let members = match threads.saturating_sub(index * 32) {
            count @ 0..32 => (1 << count) - 1,
            _ => FULL,
        };
        let mut warp = Warp {
            index,
            members,
            pc: 0,
            mask: members,
            waiting: Vec::new(),
            next: u32::MAX,
            executed: 0,
            barrier: None,
            predicates: vec![0; program.predicates],
            words: vec![[0; LANES]; program.words],
            longs: vec![[0; LANES]; program.longs],
            written: vec![0; program.registers.iter().sum::<u32>() as usize],
            products: Products::default(),
            local: vec![0; program.local as usize * LANES],
        };
        warp.fill(program, block);
        warp
    }

    /// Writes constants and special registers to their slots.
    fn fill(&mut self, program: &Program, block: &BlockPlace) {
        for &(slot, value) in &program.constants {
            match slot.wide() {
                true => self.longs[slot.index()] = [value; LANES],
                false => self.words[slot.index()] = [value as u32; LANES],
            }
        }
        for &(slot, value) in &program.constant_predicates {
            self.predicates[slot as usize] = if value { FULL } else { 0 };
        }
        for &(slot, special) in &program.specials {
            let index = self.index;
            self.words[slot.index()] = std::array::from_fn(|lane| block.special(special, index, lane as u32));
        }
    }

    /// Whether every thread has exited.
    pub(super) fn finished(&self) -> bool {
        self.mask == 0 && self.waiting.is_empty()
    }

    /// Lets the group that is furthest behind run, with those at the same place.
    #[inline(always)]
    pub(super) fn regroup(&mut self) {
        if self.pc >= self.next || self.mask == 0 {
            self.reorder();
        }
    }

    #[cold]
    fn reorder(&mut self) {
        if self.mask != 0 {
            self.waiting.push(Group { pc: self.pc, mask: self.mask });
        }
        let lowest = self.waiting.iter().map(|group| group.pc).min().unwrap_or(u32::MAX);
        self.mask = self.waiting.iter().filter(|group| group.pc == lowest).fold(0, |mask, group| mask | group.mask);
        self.waiting.retain(|group| group.pc != lowest);
        self.pc = lowest;
        self.next = self.waiting.iter().map(|group| group.pc).min().unwrap_or(u32::MAX);
    }

    /// Sends some lanes of the running group to a place; the others go on at `pc`.
    pub(super) fn jump(&mut self, mask: u32, target: u32) {
        let stay = self.mask & !mask;
        if stay == 0 {
            self.pc = target;
            return;
        }
        self.waiting.push(Group { pc: target, mask });
        self.next = self.next.min(target);
        self.mask = stay;
    }

    /// Ends some lanes of the running group.
    pub(super) fn exit(&mut self, mask: u32) {
        self.mask &= !mask;
    }

    /// The lanes in which a condition holds.
    #[inline(always)]
    pub(super) fn condition(&self, condition: Condition) -> u32 {
        let predicate = self.predicates[condition.slot as usize];
        if condition.negated { !predicate } else { predicate }
    }

    #[inline(always)]
    pub(super) fn word(&self, slot: Slot) -> &Lanes32 {
        &self.words[slot.index()]
    }

    #[inline(always)]
    pub(super) fn long(&self, slot: Slot) -> &Lanes64 {
        &self.longs[slot.index()]
    }

    /// A register's lanes as 64 bits, whatever its width.
    #[inline(always)]
    pub(super) fn bits(&self, slot: Slot) -> Lanes64 {
        match slot.wide() {
            true => self.longs[slot.index()],
            false => self.words[slot.index()].map(u64::from),
        }
    }

    #[inline(always)]
    pub(super) fn set_word(&mut self, slot: Slot, mask: u32, value: &Lanes32) {
        blend(&mut self.words[slot.index()], mask, value);
    }

    #[inline(always)]
    pub(super) fn set_long(&mut self, slot: Slot, mask: u32, value: &Lanes64) {
        blend(&mut self.longs[slot.index()], mask, value);
    }

    /// Sets a register of either width; 32-bit ones take the low part.
    #[inline(always)]
    pub(super) fn set_bits(&mut self, slot: Slot, mask: u32, value: &Lanes64) {
        match slot.wide() {
            true => self.set_long(slot, mask, value),
            false => self.set_word(slot, mask, &value.map(|v| v as u32)),
        }
    }

    #[inline(always)]
    pub(super) fn set_predicate(&mut self, slot: u32, mask: u32, value: u32) {
        let old = &mut self.predicates[slot as usize];
        *old = (*old & !mask) | (value & mask);
    }
}

#[inline(always)]
fn blend<T: Copy>(register: &mut [T; LANES], mask: u32, value: &[T; LANES]) {
    if mask == FULL {
        *register = *value;
        return;
    }
    for lane in 0..LANES {
        register[lane] = if mask & LANE_BITS[lane] != 0 { value[lane] } else { register[lane] };
    }
}

/// The lanes of a mask, in order.
#[inline(always)]
pub(super) fn lanes(mask: u32) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest.wrapping_sub(1);
        (lane < LANES).then_some(lane)
    })
}
