//! Random labelled maps.

use proptest::prelude::*;
use quadpair_layouts::Dim::{Axis, Block, Lane, Offset, Register, Warp};
use quadpair_layouts::{Dim, LinearMap, Space};

pub const HARDWARE: [Dim; 4] = [Register, Lane, Warp, Block];
pub const AXES: [Dim; 3] = [Axis(0), Axis(1), Axis(2)];

/// Every input index of a map.
pub fn inputs(map: &LinearMap) -> std::ops::Range<u32> {
    0..1 << map.ins().bits()
}

/// One to three of the labels in any order, with up to two bits each.
pub fn dims(labels: &[Dim]) -> impl Strategy<Value = Vec<(Dim, usize)>> + use<> {
    let some = prop::sample::subsequence(labels.to_vec(), 1..=labels.len().min(3)).prop_shuffle();
    (some, [0_usize..3, 0_usize..3, 0_usize..3]).prop_map(|(dims, bits)| dims.into_iter().zip(bits).collect())
}

fn space(dims: &[(Dim, usize)]) -> Space {
    Space::new(dims).expect("labels differ and bits are few")
}

/// A map between these dimensions, columns of zero, one or more bits.
pub fn map_between(ins: Vec<(Dim, usize)>, outs: Vec<(Dim, usize)>) -> impl Strategy<Value = LinearMap> {
    let (ins, outs) = (space(&ins), space(&outs));
    let mask = (1_u32 << outs.bits()) - 1;
    let bits = outs.bits().max(1);
    let column =
        prop_oneof![Just(0), (0..bits).prop_map(|bit| 1 << bit), (0..bits).prop_map(|bit| 1 << bit), any::<u32>()];
    prop::collection::vec(column, ins.bits()).prop_map(move |columns| {
        let columns: Vec<u32> = columns.into_iter().map(|column| column & mask).collect();
        LinearMap::between(&ins, &outs, &columns)
    })
}

/// A map from the hardware to the axes of a tile.
pub fn map() -> impl Strategy<Value = LinearMap> {
    (dims(&HARDWARE), dims(&AXES)).prop_flat_map(|(ins, outs)| map_between(ins, outs))
}

/// Two maps whose dimensions come in one order, so that they have a product.
pub fn factors() -> impl Strategy<Value = (LinearMap, LinearMap)> {
    let sorted = |labels: &[Dim]| {
        let labels = labels.to_vec();
        dims(&labels).prop_map(move |mut dims| {
            dims.sort_by_key(|(dim, _)| labels.iter().position(|label| label == dim));
            dims
        })
    };
    let one = (sorted(&HARDWARE), sorted(&AXES)).prop_flat_map(|(ins, outs)| map_between(ins, outs));
    let other = (sorted(&HARDWARE), sorted(&AXES)).prop_flat_map(|(ins, outs)| map_between(ins, outs));
    (one, other)
}

/// A map to some axes, and one from these axes, with as many bits or more, to memory.
pub fn chain() -> impl Strategy<Value = (LinearMap, LinearMap)> {
    (dims(&HARDWARE), dims(&AXES), [0_usize..2, 0_usize..2, 0_usize..2], dims(&[Offset, Block])).prop_flat_map(
        |(ins, between, more, outs)| {
            let wider: Vec<(Dim, usize)> =
                between.iter().zip(more).rev().map(|(&(dim, bits), more)| (dim, bits + more)).collect();
            (map_between(ins, between), map_between(wider, outs))
        },
    )
}

/// Two maps to the same axes, in orders of their own.
pub fn same_outs() -> impl Strategy<Value = (LinearMap, LinearMap)> {
    (dims(&HARDWARE), dims(&HARDWARE), dims(&AXES)).prop_flat_map(|(ins, other, outs)| {
        let turned = outs.iter().rev().copied().collect();
        (map_between(ins, outs), map_between(other, turned))
    })
}

/// A map that reaches every output: the identity with duplicates behind it, columns added to one another.
pub fn surjective(ins: &[(Dim, usize)], outs: &[(Dim, usize)], sums: &[(usize, usize)]) -> LinearMap {
    let outs = space(outs);
    let missing = outs.bits().saturating_sub(space(ins).bits());
    let mut ins = ins.to_vec();
    ins[0].1 += missing;
    let ins = space(&ins);
    let mut columns: Vec<u32> = (0..ins.bits()).map(|bit| if bit < outs.bits() { 1 << bit } else { 0 }).collect();
    for &(to, from) in sums.iter().filter(|_| ins.bits() > 0) {
        let (to, from) = (to % ins.bits(), from % ins.bits());
        if to != from {
            columns[to] ^= columns[from];
        }
    }
    columns.reverse();
    LinearMap::between(&ins, &outs, &columns)
}

/// A map of the hardware to itself, the identity or nearly, and some of its dimensions.
pub fn endomorphism() -> impl Strategy<Value = (LinearMap, Vec<Dim>)> {
    (dims(&HARDWARE), prop::collection::vec((0_usize..6, 0_u32..64), 0..3)).prop_flat_map(|(ins, changes)| {
        let space = space(&ins);
        let mut columns: Vec<u32> = (0..space.bits()).map(|bit| 1 << bit).collect();
        for (bit, change) in changes {
            if bit < columns.len() {
                columns[bit] ^= change & ((1 << space.bits()) - 1);
            }
        }
        let map = LinearMap::between(&space, &space, &columns);
        (Just(map), prop::sample::subsequence(space.dims().to_vec(), 1..=space.dims().len()))
    })
}

/// A map from registers and threads to offsets.
pub fn addresses() -> impl Strategy<Value = LinearMap> {
    (0_usize..5, 0_usize..3, 0_usize..2).prop_flat_map(|(registers, lanes, warps)| {
        map_between(vec![(Register, registers), (Lane, lanes), (Warp, warps)], vec![(Offset, 8)])
    })
}
