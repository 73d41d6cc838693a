//! From the holder of an element to all who have it.
//!
//! Where a layout has elements several times, what only their holders did (an atomic operation) has a result that the
//! others need. Where the holder of each is a lane of the same warp they ask it by a shuffle; else the holders write to
//! shared memory and all read.

use quadpair_layouts::{LANE_BITS, Layout, Map, Shape, SharedLayout};

use super::Lowering;
use super::linear::ThreadMap;
use super::num::Num;
use crate::element::DType;
use crate::ir::TileType;

/// The registers that hold an element for the thread.
pub(super) fn held_once(layout: &Layout) -> Vec<usize> {
    let free = layout.free_registers() as usize;
    (0..layout.registers()).filter(|r| r & free == 0).collect()
}

impl Lowering<'_> {
    /// The layout of a value: that of a scalar has its one element in every thread.
    pub(super) fn spread_over(&self, ty: &TileType) -> Layout {
        let warp_bits = self.function.warps.ilog2() as usize;
        ty.layout.unwrap_or_else(|| Layout::from_bases(Shape::SCALAR, &[], [0; LANE_BITS], &vec![0; warp_bits]))
    }

    /// Whether an operation after this one uses the value that this one gives.
    pub(super) fn is_wanted(&self) -> bool {
        let own = crate::ir::Value(self.values.len() as u32);
        self.function.ops[self.position + 1..].iter().any(|op| op.kind.operands().contains(&own))
    }

    /// A tile's elements in every register and thread that has them, given those of the holders.
    pub(super) fn held_by_all(&mut self, layout: &Layout, dtype: DType, held: &[Num]) -> Vec<Num> {
        let ways = Ways::of(layout);
        if !ways.in_one_warp {
            let flat = SharedLayout::flat(&layout.shape());
            let window = self.scratch(dtype, flat, flat.size() * dtype.bytes());
            let mask = self.holder(layout);
            self.store_to(&window, layout, held, mask);
            self.barrier();
            return self.load_from(&window, layout);
        }
        (0..layout.registers())
            .map(|r| {
                let (register, lane) = ways.of_register(r);
                if ways.own_lane && lane == 0 {
                    return held[register];
                }
                let source = self.linear(&ways.lanes, lane);
                self.asked_of_lane(dtype, held[register], source)
            })
            .collect()
    }
}

/// Where the holders are, as seen from a thread.
struct Ways {
    holders: Map,
    registers: usize,
    /// The holder's lane, less what the register adds.
    lanes: ThreadMap,
    in_one_warp: bool,
    /// Whether a thread is its own holder, but for what the register adds.
    own_lane: bool,
}

impl Ways {
    fn of(layout: &Layout) -> Ways {
        let (holders, registers) = (layout.holders(), layout.register_bits());
        let lane_of = |place: u32| place >> registers & 31;
        let warp_of = |place: u32| place >> (registers + LANE_BITS);
        let in_one_warp = holders.columns().iter().enumerate().all(|(bit, &place)| warp_of(place) == warp_of(1 << bit));
        let (_, threads) = holders.columns().split_at(registers);
        let own_lane = (0..LANE_BITS).all(|i| lane_of(threads[i]) == 1 << i);
        let lanes = ThreadMap::from_columns(threads.iter().map(|&place| lane_of(place)).collect());
        Ways { holders, registers, lanes, in_one_warp, own_lane }
    }

    /// The register of the holder, and what a register adds to the holder's lane.
    fn of_register(&self, register: usize) -> (usize, u32) {
        let place = self.holders.apply(register as u32);
        ((place & ((1 << self.registers) - 1)) as usize, place >> self.registers & 31)
    }
}
