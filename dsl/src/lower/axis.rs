//! The rounds in which the elements along an axis are combined.
//!
//! In each round, every place (a register of a thread) has a *partner*: the place whose number differs in some bits. What
//! the two have is combined, and both have the result. After round k a place has what the 2^(k+1) places that it has met
//! hold, and after the last round the whole axis. As an example take a row of 8 elements, bit 0 of the index in register
//! bit 0 and bits 1 and 2 in lane bits 0 and 1:
//!
//! ```text
//! round   partner differs in    a place then has
//! 0       register bit 0        elements 2 k, 2 k + 1
//! 1       lane bit 0            elements 4 k to 4 k + 3
//! 2       lane bit 1            all 8
//! ```
//!
//! The *side* of a place in a round says which of the two stands first. The rounds follow the bits of the index from low
//! to high, so that a place's elements are always neighbours; where order does not matter, they begin with what a thread
//! can do alone. A partner is a sum of bits in general: nothing is asked of a layout but that it holds every element. Bits
//! that only duplicate are in no round, so nothing is combined twice.

use quadpair_layouts::f2::Span;
use quadpair_layouts::{Layout, Shape};

/// By which bits of its number a place differs from its partner.
#[derive(Clone, Copy)]
pub(super) struct Round {
    pub registers: usize,
    pub lanes: u32,
    pub warps: u32,
}

/// How partners meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Via {
    /// In one thread, each place's side being known.
    Registers,
    /// In two lanes of a warp, or in one thread where the side depends on the thread.
    Lanes,
    /// In several warps.
    Warps,
}

/// Rounds that are done at once.
#[derive(Clone, Copy)]
pub(super) struct Group {
    pub via: Via,
    pub first: usize,
    pub count: usize,
}

/// An axis of a layout, and the rounds along it.
pub(super) struct Axis {
    layout: Layout,
    pub rounds: Vec<Round>,
    /// For each bit of a place's number, the rounds in which it changes the side.
    sides: Vec<u32>,
    /// For each bit of a place's number, what it moves by across the axis.
    across: Vec<u32>,
    across_bits: usize,
    keeps_order: bool,
}

impl Axis {
    /// Rounds along an axis, in the order of its index.
    pub fn in_order(layout: &Layout, axis: usize) -> Axis {
        let (along, across) = (along(layout, axis), layout.collapse(axis).columns().to_vec());
        let bits = layout.shape().dim_bits(axis);
        let partner = |round: usize| {
            // What the rounds before have combined is one.
            let seen = |i: usize| across[i] << bits | along[i] >> round;
            let mut span = Span::new();
            for i in 0..along.len() {
                span.insert(seen(i), 1 << i);
            }
            span.solve(1).expect("a layout holds every element")
        };
        let partners: Vec<u32> = (0..bits).map(partner).collect();
        Axis::new(layout, axis, &partners, along.clone(), true)
    }

    /// Rounds along an axis, first those that stay in a thread, then those that stay in a warp.
    pub fn in_any_order(layout: &Layout, axis: usize) -> Axis {
        let (along, across) = (along(layout, axis), layout.collapse(axis));
        let (mut rows, mut reached, mut partners) = (Span::new(), Span::new(), Vec::new());
        for (i, &row) in across.columns().iter().enumerate() {
            let Some(others) = rows.solve(row) else {
                rows.insert(row, 1 << i);
                continue;
            };
            let partner = others ^ 1 << i;
            if reached.insert(sum(&along, partner), 1 << partners.len()) {
                partners.push(partner);
            }
        }
        let sides = along.iter().map(|&own| reached.solve(own).expect("a layout holds every element")).collect();
        Axis::new(layout, axis, &partners, sides, false)
    }

    fn new(layout: &Layout, axis: usize, partners: &[u32], sides: Vec<u32>, keeps_order: bool) -> Axis {
        let registers = layout.register_bits();
        let round = |&bits: &u32| Round {
            registers: bits as usize & ((1 << registers) - 1),
            lanes: bits >> registers & 31,
            warps: bits >> (registers + 5),
        };
        let collapsed = layout.collapse(axis);
        Axis {
            layout: *layout,
            rounds: partners.iter().map(round).collect(),
            sides,
            across: collapsed.columns().to_vec(),
            across_bits: collapsed.shape().bits(),
            keeps_order,
        }
    }

    /// Whether the left and the right side may not be exchanged.
    pub fn keeps_order(&self) -> bool {
        self.keeps_order
    }

    /// Registers of a thread.
    pub fn registers(&self) -> usize {
        self.layout.registers()
    }

    /// The rounds in order, those together that are done at once.
    pub fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for first in 0..self.rounds.len() {
            let via = self.via(first);
            match groups.last_mut() {
                Some(group) if group.via == via && via != Via::Lanes => group.count += 1,
                _ => groups.push(Group { via, first, count: 1 }),
            }
        }
        groups
    }

    fn via(&self, round: usize) -> Via {
        let Round { lanes, warps, .. } = self.rounds[round];
        let known = !self.keeps_order || self.thread_sides(round).iter().all(|&side| side == 0);
        match (warps, lanes) {
            (0, 0) if known => Via::Registers,
            (0, _) => Via::Lanes,
            _ => Via::Warps,
        }
    }

    /// What a register contributes to the side of its places.
    pub fn register_side(&self, round: usize, register: usize) -> bool {
        sum(&self.sides, register as u32) >> round & 1 == 1
    }

    /// What each bit of the thread's number contributes to the side.
    pub fn thread_sides(&self, round: usize) -> Vec<u32> {
        self.sides[self.layout.register_bits()..].iter().map(|own| own >> round & 1).collect()
    }

    /// The registers that a register meets in a group of rounds within its thread, itself included, in their order.
    pub fn members(&self, group: &Group, register: usize) -> Vec<usize> {
        let with_position = |position: usize| {
            // A partner may change the sides of earlier rounds, but of no later one.
            (0..group.count).rev().fold(register, |own, i| {
                let round = group.first + i;
                let wanted = position >> i & 1 == 1;
                if self.register_side(round, own) == wanted { own } else { own ^ self.rounds[round].registers }
            })
        };
        (0..1 << group.count).map(with_position).collect()
    }

    /// What is left to be combined before a group of rounds, as a tile: its first dimension is the place in the group, its
    /// second everything else.
    pub fn before(&self, group: &Group) -> Layout {
        let after = self.across_bits + self.rounds.len() - group.first - group.count;
        let mask = (1 << group.count) - 1;
        let basis = |i: usize| (self.sides[i] >> group.first & mask) << after | self.rest(group, i);
        self.with_bases(Shape::new([1 << group.count, 1 << after]), basis)
    }

    /// What is left after a group of rounds: the second dimension of what was there before.
    pub fn after(&self, group: &Group) -> Layout {
        let after = self.across_bits + self.rounds.len() - group.first - group.count;
        self.with_bases(Shape::new([1 << after]), |i| self.rest(group, i))
    }

    fn rest(&self, group: &Group, bit: usize) -> u32 {
        self.across[bit] | self.sides[bit] >> (group.first + group.count) << self.across_bits
    }

    fn with_bases(&self, shape: Shape, basis: impl Fn(usize) -> u32) -> Layout {
        let bases: Vec<u32> = (0..self.sides.len()).map(basis).collect();
        let (registers, threads) = bases.split_at(self.layout.register_bits());
        let lanes = std::array::from_fn(|i| threads[i]);
        Layout::from_bases(shape, registers, lanes, &threads[5..])
    }
}

/// For each bit of a place's number, the coordinate along the axis that it moves by.
fn along(layout: &Layout, axis: usize) -> Vec<u32> {
    layout.columns().iter().map(|&basis| layout.shape().coordinate(basis, axis) as u32).collect()
}

/// The sum of the columns of the bits that are set.
fn sum(columns: &[u32], bits: u32) -> u32 {
    (0..columns.len()).filter(|i| bits >> i & 1 == 1).fold(0, |sum, i| sum ^ columns[i])
}

#[cfg(test)]
mod tests {
    use quadpair_layouts::linear;

    use super::*;

    /// Bits 0 and 3 of the index in registers, 1 in a lane that moves bit 0 too, 2 in a warp; a row and a duplicate beside.
    fn mixed() -> Layout {
        let lanes = [[0, 3], [1, 0], [0, 0], [0, 0], [0, 0]];
        linear([2, 16], &[[0, 1], [0, 8]], &lanes, &[[0, 4]]).check().expect("every element is held")
    }

    fn vias(axis: &Axis) -> Vec<(Via, usize)> {
        axis.groups().iter().map(|group| (group.via, group.count)).collect()
    }

    #[test]
    fn rounds_follow_the_index_or_the_cost() {
        // The side of the first round depends on the lane, since lane bit 0 moves by 3.
        let expected = [(Via::Lanes, 1), (Via::Lanes, 1), (Via::Warps, 1), (Via::Registers, 1)];
        assert_eq!(vias(&Axis::in_order(&mixed(), 1)), expected);
        assert_eq!(vias(&Axis::in_any_order(&mixed(), 1)), [(Via::Registers, 2), (Via::Lanes, 1), (Via::Warps, 1)]);
        assert_eq!(vias(&Axis::in_order(&mixed(), 0)), [(Via::Lanes, 1)]);
    }

    #[test]
    fn members_stand_in_order() {
        let layout = linear([8], &[[3], [4], [1]], &[[0]; 5], &[]).check().expect("every element is held");
        let axis = Axis::in_order(&layout, 0);
        let [group] = axis.groups()[..] else { panic!("one thread holds all") };
        for r in 0..8 {
            let elements: Vec<u32> = axis.members(&group, r).iter().map(|&member| layout.apply(member, 0, 0)).collect();
            assert_eq!(elements, [0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }

    #[test]
    fn what_is_left_is_a_tile() {
        let axis = Axis::in_order(&mixed(), 1);
        let warps = axis.groups()[2];
        let (before, after) = (axis.before(&warps), axis.after(&warps));
        assert_eq!((before.check().is_ok(), before.shape()), (true, Shape::new([2, 4])));
        assert_eq!((after.check().is_ok(), after.shape()), (true, Shape::new([4])));
        assert_eq!((before.warp_basis(0), before.lane_basis(0), after.warp_basis(0)), (4, 0, 0));
    }
}
