//! Tiles of random layouts: how kernels read and write them, and what plain Rust makes of them.

use std::sync::OnceLock;

use proptest::prelude::*;
use quadpair::prelude::*;
use quadpair::sim::Simulator;
use quadpair_profiles::Profile;

#[path = "../../../layouts/tests/common/mod.rs"]
#[allow(dead_code)]
mod common;

/// Where a function of elements goes: a layout in one to eight warps, and an axis of it.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    pub layout: Layout,
    pub axis: usize,
}

pub fn case() -> impl Strategy<Value = Case> {
    (common::extents(), 0_usize..4, any::<usize>()).prop_flat_map(|(extents, warp_bits, axis)| {
        let axis = axis % extents.len();
        common::layout_of(extents, warp_bits).prop_map(move |layout| Case { layout, axis })
    })
}

impl Case {
    pub fn len(&self) -> usize {
        self.layout.shape().len()
    }

    /// The rows along the axis: for each, the flat indices of its elements in order.
    pub fn rows(&self) -> Vec<Vec<usize>> {
        let shape = self.layout.shape();
        let (extent, stride) = (shape.extent(self.axis), 1 << shape.shift(self.axis));
        let starts = (0..shape.len()).filter(|&i| shape.coordinate(i as u32, self.axis) == 0);
        starts.map(|start| (0..extent).map(|i| start + i * stride).collect()).collect()
    }

    /// What combining neighbours makes of each row.
    pub fn reduced<T: Copy>(&self, values: &[T], function: impl Fn(T, T) -> T) -> Vec<T> {
        let fold = |row: &Vec<usize>| row[1..].iter().fold(values[row[0]], |all, &i| function(all, values[i]));
        self.rows().iter().map(fold).collect()
    }

    /// What a scan makes of the tile.
    pub fn scanned<T: Copy>(&self, values: &[T], reverse: bool, function: impl Fn(T, T) -> T) -> Vec<T> {
        let mut result = values.to_vec();
        for mut row in self.rows() {
            if reverse {
                row.reverse();
            }
            for pair in row.windows(2) {
                result[pair[1]] = function(result[pair[0]], values[pair[1]]);
            }
        }
        result
    }
}

/// Reads a tile from its row-major elements.
#[device]
pub fn read(p: Tile, #[comptime] layout: Layout) -> Tile {
    let flat = load(p + arange(layout.reshape([layout.shape().len()])));
    let (extents, rank) = layout.shape().extents();
    match rank {
        1 => flat,
        2 => flat.reshape([extents[0], extents[1]]),
        _ => flat.reshape([extents[0], extents[1], extents[2]]),
    }
}

/// Writes a tile, or a scalar, as row-major elements.
#[device]
pub fn write(p: Tile, x: Tile) {
    if x.shape().rank() == 0 {
        store(p, x);
    } else {
        let flat = x.reshape([x.shape().len()]);
        store(p + arange(flat.layout()), flat);
    }
}

pub fn simulator() -> &'static Simulator {
    static SIMULATOR: OnceLock<Simulator> = OnceLock::new();
    SIMULATOR.get_or_init(|| Simulator::new(&Profile::by_name("volta").expect("the profile is bundled")))
}

/// Numbers in no order.
pub fn number(i: usize) -> u32 {
    let mixed = (i as u32 ^ 0x85eb_ca6b).wrapping_mul(0x9e37_79b9);
    (mixed ^ mixed >> 15).wrapping_mul(0xc2b2_ae35) >> 3
}
