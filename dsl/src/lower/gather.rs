//! Elements of a tile by run-time indices along one axis.
//!
//! Where each warp has all of the axis for the elements that it wants, the lanes ask one another: which lane has an
//! element is a linear map of the index and of the asking thread's number. If the index decides the register as well, a
//! lane that is asked can't know which one is wanted, so it offers each that may be, and the asking lane selects. With an
//! axis of 64 in 32 lanes and 2 registers that is 2 shuffles and a selection for each element. Where this would be too
//! many, or warps have parts of the axis only, the tile goes through shared memory.

use quadpair_layouts::f2::Span;
use quadpair_layouts::{LANE_BITS, Layout, SharedLayout};

use super::Lowering;
use super::indexed::off_axis;
use super::linear::ThreadMap;
use super::num::Num;
use crate::element::DType;
use crate::ir::{BinaryOp, CompareOp, TileType, Value};

/// The most registers that a lane offers for one element. Loads at random addresses take about four times as long as a
/// shuffle, and two barriers come on top.
const MOST_OFFERS: u32 = 8;

impl Lowering<'_> {
    pub(super) fn gather(&mut self, source: Value, index: Value, axis: usize, ty: &TileType) {
        let to = ty.layout.expect("typing gives a gathered tile a layout");
        let from = self.function.type_of(source).layout.expect("typing lets only tiles be gathered from");
        let dtype = ty.stored();
        let (held, indices) = (self.held(source), self.held(index));
        let gathered = match Lookup::in_one_warp(&from, &to, axis) {
            Some(lookup) => self.gather_lanes(&lookup, dtype, &held, &indices, &to),
            None => {
                let flat = SharedLayout::flat(&from.shape());
                let window = self.scratch(dtype, flat, flat.size() * dtype.bytes());
                let mask = self.holder(&from);
                self.store_to(&window, &from, &held, mask);
                self.barrier();
                self.gather_from(&window, &to, &indices, axis)
            }
        };
        self.define(gathered);
    }

    fn gather_lanes(&mut self, lookup: &Lookup, dtype: DType, held: &[Num], indices: &[Num], to: &Layout) -> Vec<Num> {
        let mut done = std::collections::HashMap::new();
        let element = |r: usize| (to.apply(r, 0, 0), indices[r]);
        (0..indices.len())
            .map(|r| match done.get(&element(r)) {
                Some(&known) => known,
                None => {
                    let num = self.gather_element(lookup, dtype, held, element(r));
                    done.insert(element(r), num);
                    num
                }
            })
            .collect()
    }

    /// The element at an index, for the thread's place in the tile of indices.
    fn gather_element(&mut self, lookup: &Lookup, dtype: DType, held: &[Num], (element, index): (u32, Num)) -> Num {
        let start = lookup.start(element);
        self.hold_to_bound(index, lookup.extent);
        let (lanes, first) = (self.looked_up(&lookup.lanes, index), start >> lookup.registers & 31);
        let lane = self.with_constant(lanes, lookup.lanes.mask(), first);
        let register = self.looked_up(&lookup.chosen, index);
        let first = start & ((1 << lookup.registers) - 1);
        let mut bits = (0..32).filter(|bit| lookup.chosen.mask() >> bit & 1 == 1).collect::<Vec<u32>>();
        let mut offers: Vec<Num> = (0..1_u32 << bits.len())
            .map(|choice| {
                let own = bits.iter().enumerate().fold(first, |own, (i, bit)| own ^ (choice >> i & 1) << bit);
                let offer = held[own as usize];
                if lookup.own_lane { offer } else { self.asked_of_lane(dtype, offer, lane) }
            })
            .collect();
        // Halves the offers, by the highest bit that is left.
        while let Some(bit) = bits.pop() {
            let own = self.integer(BinaryOp::And, DType::U32, register, Num::int(1 << bit));
            let set = self.compare(CompareOp::Ne, DType::U32, own, Num::int(0));
            let upper = offers.split_off(offers.len() / 2);
            offers = offers.into_iter().zip(upper).map(|(low, high)| self.select(dtype, set, high, low)).collect();
        }
        offers[0]
    }

    /// What the thread and the index say together.
    fn looked_up(&mut self, way: &Way, index: Num) -> Num {
        let (thread, along) = (self.linear(&way.threads, 0), self.image(&way.along, index));
        match (thread, along) {
            (part, zero) | (zero, part) if zero == Num::int(0) => part,
            _ => self.integer(BinaryOp::Xor, DType::U32, thread, along),
        }
    }
}

/// A linear map of the thread's number and of an index.
struct Way {
    threads: ThreadMap,
    along: ThreadMap,
}

impl Way {
    fn mask(&self) -> u32 {
        self.threads.mask() | self.along.mask()
    }
}

/// Where the elements of a tile are, as seen from the threads that want some of them.
struct Lookup {
    registers: usize,
    extent: u32,
    /// The lane that has an element.
    lanes: Way,
    /// Which of its registers does.
    chosen: Way,
    /// Whether that is always the lane itself.
    own_lane: bool,
    /// Solvable for register and lane, but for the warp's part.
    places: Span,
    /// An element of the tile of indices as one of the source, at index 0.
    project: Box<dyn Fn(u32) -> u32>,
}

impl Lookup {
    /// `None` where some warp lacks what it wants, or too many registers might be meant.
    fn in_one_warp(from: &Layout, to: &Layout, axis: usize) -> Option<Lookup> {
        let (shape, tile, registers) = (from.shape(), to.shape(), from.register_bits());
        let project = move |element| off_axis(element, &tile, &shape, axis);
        let inner = registers + LANE_BITS;
        let mut places = Span::new();
        for (bit, &column) in from.columns()[..inner].iter().enumerate() {
            places.insert(column, 1 << bit);
        }
        let wanted = (0..to.register_bits()).map(|i| to.register_basis(i)).map(project);
        let wanted: Vec<u32> = wanted.map(|element| places.solve(element)).collect::<Option<_>>()?;
        let lanes = (0..LANE_BITS).map(|i| to.lane_basis(i));
        // What a warp's number moves in the tile of indices it must move in the source, as far as the warp can't reach.
        let warps = (0..to.warp_bits()).map(|i| project(to.warp_basis(i)) ^ from.warp_basis(i));
        let lanes: Vec<u32> = lanes.map(project).map(|element| places.solve(element)).collect::<Option<_>>()?;
        let warps: Vec<u32> = warps.map(|element| places.solve(element)).collect::<Option<_>>()?;
        let along = (0..shape.dim_bits(axis)).map(|i| places.solve(1 << (shape.shift(axis) + i)));
        let along: Vec<u32> = along.collect::<Option<_>>()?;
        let part = |of: &dyn Fn(u32) -> u32| {
            let threads = ThreadMap::from_columns(lanes.iter().chain(&warps).map(|&place| of(place)).collect());
            Way { threads, along: ThreadMap::from_columns(along.iter().map(|&place| of(place)).collect()) }
        };
        let lane_of = |place: u32| place >> registers & 31;
        let (lane, chosen) = (part(&lane_of), part(&|place| place & ((1 << registers) - 1)));
        if 1 << chosen.mask().count_ones() > MOST_OFFERS {
            return None;
        }
        let threads = lanes.iter().chain(&warps).enumerate();
        let stays = threads.clone().all(|(i, &place)| lane_of(place) == 1 << i & 31);
        let own_lane = stays && along.iter().chain(&wanted).all(|&place| lane_of(place) == 0);
        let extent = shape.extent(axis) as u32;
        Some(Lookup { registers, extent, lanes: lane, chosen, own_lane, places, project: Box::new(project) })
    }

    /// Register and lane of an element of the tile of indices at index 0, for thread 0.
    fn start(&self, element: u32) -> u32 {
        self.places.solve((self.project)(element)).unwrap_or(0)
    }
}
