//! Random layouts, and what threads hold by brute force.

use proptest::prelude::*;
use quadpair_layouts::{Layout, Shape, SharedLayout, shared_linear};

/// The extents of up to three dimensions.
pub fn extents() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec((0_usize..5).prop_map(|bits| 1 << bits), 1..4)
}

/// A layout of this shape: unit vectors and zeros in any order, some of them added to one another.
pub fn layout_of(extents: Vec<usize>, warp_bits: usize) -> impl Strategy<Value = Layout> {
    let shape = Shape::from_slice(&extents);
    (0_usize..3).prop_flat_map(move |duplicates| {
        let count = (shape.bits() + duplicates).max(5 + warp_bits);
        let columns: Vec<u32> = (0..count).map(|i| if i < shape.bits() { 1 << i } else { 0 }).collect();
        (Just(columns).prop_shuffle(), sums(count)).prop_map(move |(mut columns, sums)| {
            add(&mut columns, &sums);
            let (registers, threads) = columns.split_at(count - 5 - warp_bits);
            let lanes = [0, 1, 2, 3, 4].map(|i| threads[i]);
            Layout::from_bases(shape, registers, lanes, &threads[5..])
        })
    })
}

/// A layout of any shape in one to four warps.
pub fn layout() -> impl Strategy<Value = Layout> {
    (extents(), 0_usize..3).prop_flat_map(|(extents, warp_bits)| layout_of(extents, warp_bits))
}

/// Two layouts of one shape and number of warps: any two, or one and a change to it, so that conversions of all kinds
/// occur.
pub fn pair() -> impl Strategy<Value = (Layout, Layout)> {
    let any = (extents(), 0_usize..3)
        .prop_flat_map(|(extents, warp_bits)| (layout_of(extents.clone(), warp_bits), layout_of(extents, warp_bits)));
    prop_oneof![
        any,
        (layout(), sums(12)).prop_map(|(layout, sums)| (layout, with_registers_added(&layout, &sums))),
        (layout(), 1_usize..5).prop_map(|(layout, by)| (layout, with_threads_rotated(&layout, by))),
    ]
}

/// Registers added to registers, lanes and warps: every thread keeps its elements.
fn with_registers_added(layout: &Layout, sums: &[(usize, usize)]) -> Layout {
    let (mut columns, registers) = (layout.columns().to_vec(), layout.register_bits());
    for &(to, from) in sums.iter().filter(|_| registers > 0) {
        let (to, from) = (to % columns.len(), from % registers);
        columns[to] ^= if to == from { 0 } else { columns[from] };
    }
    of_columns(layout, &columns)
}

/// The same registers in other threads.
fn with_threads_rotated(layout: &Layout, by: usize) -> Layout {
    let mut columns = layout.columns().to_vec();
    columns[layout.register_bits()..].rotate_left(by);
    of_columns(layout, &columns)
}

fn of_columns(layout: &Layout, columns: &[u32]) -> Layout {
    let (registers, threads) = columns.split_at(layout.register_bits());
    Layout::from_bases(layout.shape(), registers, [0, 1, 2, 3, 4].map(|i| threads[i]), &threads[5..])
}

/// Memory for `1 << bits` elements, each at a place of its own.
pub fn memory(bits: usize) -> impl Strategy<Value = SharedLayout> {
    let units: Vec<u32> = (0..bits).map(|i| 1 << i).collect();
    (Just(units).prop_shuffle(), sums(bits)).prop_map(move |(mut columns, sums)| {
        add(&mut columns, &sums);
        let bases: Vec<[usize; 1]> = columns.iter().map(|&column| [column as usize]).collect();
        shared_linear([1 << bits], &bases)
    })
}

/// Memory for `1 << bits` elements with up to three kinds of gaps.
#[allow(dead_code)]
pub fn memory_with_gaps(bits: usize) -> impl Strategy<Value = SharedLayout> {
    let gaps = prop::collection::btree_map(0_u32..8, 0_u32..5, 1..4);
    (memory(bits), gaps).prop_map(|(memory, gaps)| {
        let pairs: Vec<(usize, usize)> = gaps.into_iter().map(|(interval, gap)| (1 << interval, 1 << gap)).collect();
        memory.with_padding(&pairs)
    })
}

fn sums(count: usize) -> impl Strategy<Value = Vec<(usize, usize)>> {
    prop::collection::vec((0..count.max(1), 0..count.max(1)), 0..4)
}

fn add(columns: &mut [u32], sums: &[(usize, usize)]) {
    for &(to, from) in sums.iter().filter(|(to, from)| to != from) {
        columns[to] ^= columns[from];
    }
}

/// Every lane and warp of a layout.
pub fn threads(layout: &Layout) -> impl Iterator<Item = (usize, usize)> + use<> {
    (0..layout.threads()).map(|thread| (thread % 32, thread / 32))
}

/// What a thread holds, by register.
pub fn held(layout: &Layout, (lane, warp): (usize, usize)) -> Vec<u32> {
    (0..layout.registers()).map(|register| layout.apply(register, lane, warp)).collect()
}
