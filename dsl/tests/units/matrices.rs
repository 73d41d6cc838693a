//! Operands loaded as matrices: the same bits as on a chip that loads them lane by lane, at the cost that the plan says.

use half::f16;
use quadpair::inspect::emitted::{Work, emitted};
use quadpair::inspect::tiles::{Contents, Step};
use quadpair::prelude::*;
use quadpair::sim::Counters;
use quadpair::{Instance, Target, record};
use quadpair_layouts::{MatrixLoad, banks};

use crate::harness::{as_chip, assemble, chips, everywhere, target};

/// Which operand of a unit is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    Left,
    Right,
}

/// How the memory is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stored {
    /// Rows without a swizzle.
    Rows,
    /// Rows whose chunks of 16 bytes are swizzled.
    Swizzled,
    /// Columns, swizzled.
    Columns,
    /// Rows with gaps of 16 bytes.
    Gaps,
}

/// A tile that is stored to shared memory by rows and loaded as an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Load {
    pub unit: Mma,
    pub side: Side,
    pub stored: Stored,
    pub shape: [usize; 2],
    pub warps: usize,
}

impl Load {
    const fn tile(&self) -> Layout {
        match self.side {
            Side::Left => self.unit.a(self.shape),
            Side::Right => self.unit.b(self.shape),
        }
    }

    const fn memory(&self) -> SharedLayout {
        let columns = self.shape[1];
        match self.stored {
            Stored::Rows => row_major(self.shape),
            Stored::Swizzled => swizzled(self.shape, 8, 1, 8, [1, 0]),
            Stored::Columns => swizzled(self.shape, 8, 1, 8, [0, 1]),
            Stored::Gaps => padded(self.shape, &[(columns, 8)], [1, 0]),
        }
    }
}

/// Each thread writes what it got: the operand's elements by register, then by thread.
#[kernel(grid = [1])]
pub fn loaded<T: Element>(x: Ptr<T>, out: PtrMut<T>, #[comptime] t: Load) {
    let rows = blocked(t.shape, [1, 8], [4, 8], [t.warps, 1], [1, 0]);
    let memory = shared::<T>(t.memory());
    let place = arange(rows.slice(1)).expand_dims(1) * t.shape[1] + arange(rows.slice(0)).expand_dims(0);
    memory.store(load(x + place));
    barrier();
    let tile = memory.load(t.tile());
    let place = arange(t.tile().slice(1)).expand_dims(1) * t.shape[1] + arange(t.tile().slice(0)).expand_dims(0);
    store(out + place, tile);
}

fn instance<T: Element>(t: Load) -> Instance<Loaded<T>> {
    Instance::new("loaded", Loaded { t, types: std::marker::PhantomData })
}

fn every() -> Vec<Load> {
    let mut all = Vec::new();
    for warps in [[1, 1], [4, 1], [2, 2]] {
        for unit in [Mma::m16n8k8(warps), Mma::m16n8k16(warps)] {
            for side in [Side::Left, Side::Right] {
                for stored in [Stored::Rows, Stored::Swizzled, Stored::Columns, Stored::Gaps] {
                    all.push(Load { unit, side, stored, shape: [64, 64], warps: warps[0] * warps[1] });
                }
            }
        }
    }
    all
}

#[test]
fn matrices_bring_the_bits_that_lanes_would() {
    let x: Vec<f16> = (0..64 * 64).map(|i| f16::from_bits(i as u16)).collect();
    for t in every() {
        let load = MatrixLoad::of(&t.tile(), &t.memory(), 16).expect("an operand comes as matrices").access;
        let rows = blocked(t.shape, [1, 8], [4, 8], [t.warps, 1], [1, 0]);
        let (store, by_lanes) = (banks::store(&rows, &t.memory(), 16), banks::load(&t.tile(), &t.memory(), 16));
        assert!(load.instructions < by_lanes.instructions, "{t:?}");
        for (profile, load) in [("volta", by_lanes), ("turing", load)] {
            let (x, copied, out) = (x.clone(), x.clone(), vec![f16::ZERO; x.len()]);
            let check = |out: &[f16], counters: Option<Counters>| {
                assert!(out.iter().zip(&copied).all(|(a, b)| a.to_bits() == b.to_bits()), "{t:?}");
                let of_block = |warp: u32| u64::from(warp) * t.warps as u64;
                let Some(own) = counters else { return };
                assert_eq!(own.shared_load, of_block(load.instructions), "{t:?}");
                assert_eq!(own.shared_wavefronts, of_block(load.wavefronts + store.wavefronts), "{t:?}");
                assert_eq!(own.shared_ideal, of_block(load.ideal + store.ideal), "{t:?}");
            };
            everywhere!(instance::<f16>(t), profile, LoadedArgs { x; out }, check);
        }
    }
}

#[test]
fn a_swizzle_costs_an_exclusive_or_for_each_place_that_it_moves() {
    let t = Load { unit: Mma::m16n8k16([4, 1]), side: Side::Left, stored: Stored::Swizzled, shape: [64, 64], warps: 4 };
    let text = instance::<f16>(t).program(target("ampere")).unwrap().ptx().to_owned();
    assert_eq!(text.matches("ldmatrix.sync.aligned.m8n8.x4.shared.b16").count(), 4, "{text}");
    let right = Load { side: Side::Right, ..t };
    let text = instance::<f16>(right).program(target("ampere")).unwrap().ptx().to_owned();
    assert_eq!(text.matches("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16").count(), 16, "{text}");
}

#[test]
fn inspection_names_the_matrices_and_counts_them() {
    for (side, name) in [(Side::Left, "left"), (Side::Right, "right")] {
        let t = Load { unit: Mma::m16n8k16([2, 1]), side, stored: Stored::Swizzled, shape: [64, 64], warps: 2 };
        let (instance, target) = (instance::<f16>(t), target("turing"));
        let contents = Contents::of(&record(instance.kernel()).unwrap(), target);
        let loads = contents.steps.iter().filter_map(|step| match step {
            Step::Accessed(one) if !one.store => Some((one.matrices.expect("a load of matrices"), one.access)),
            _ => None,
        });
        let [(load, access)] = loads.collect::<Vec<_>>()[..] else { panic!("{name}: one load") };
        let all = emitted(&instance.program(target).unwrap()).unwrap();
        let line = all.iter().find(|one| one.work == Work::MatrixLoad).expect("a load of matrices");
        assert_eq!((line.instructions, line.vector as usize), (access.instructions, load.matrices), "{name}");
        assert_eq!((line.shared.taken, line.shared.ideal), (access.wavefronts * 2, access.ideal * 2), "{name}");
    }
}

#[test]
fn assemblers_take_the_loads() {
    for side in [Side::Left, Side::Right] {
        let t = Load { unit: Mma::m16n8k8([4, 1]), side, stored: Stored::Swizzled, shape: [64, 64], warps: 4 };
        for chip in chips() {
            assemble("matrices", instance::<f16>(t).program(chip).unwrap().ptx(), chip);
        }
        let old = Target { isa: (6, 4), ..as_chip(target("turing"), 75) };
        assert!(!instance::<f16>(t).program(old).unwrap().ptx().contains("ldmatrix"));
    }
}

/// Bytes and words have their fragments, too, where memory has their pack in a row.
#[kernel(grid = [1])]
pub fn turned<T: Element>(x: Ptr<T>, out: PtrMut<T>, #[comptime] tile: Layout, #[comptime] side: usize) {
    let rows = blocked([side, side], [1, 4], [8, 4], [1, 1], [1, 0]);
    let memory = shared::<T>(row_major([side, side]));
    memory.store(load(x + (arange(rows.slice(1)).expand_dims(1) * side + arange(rows.slice(0)).expand_dims(0))));
    barrier();
    let place = arange(tile.slice(1)).expand_dims(1) * side + arange(tile.slice(0)).expand_dims(0);
    store(out + place, memory.load(tile));
}

fn of_width<T: Element + Default + PartialEq + std::fmt::Debug>(tile: Layout, element: impl Fn(usize) -> T) {
    let side = tile.shape().extent(0);
    let x: Vec<T> = (0..side * side).map(element).collect();
    let (copied, out) = (x.clone(), vec![T::default(); side * side]);
    let instance = Instance::new("turned", Turned::<T> { tile, side, types: std::marker::PhantomData });
    assert!(instance.program(target("turing")).unwrap().ptx().contains("ldmatrix"));
    everywhere!(instance, "turing", TurnedArgs { x; out }, |out: &[T], _| assert_eq!(out, copied));
}

#[test]
fn bytes_and_words_come_as_matrices_too() {
    of_width(Mma::m16n8k32([1, 1]).a([32, 32]), |i| i as i8);
    of_width(Mma::m16n8k8_tf32([1, 1]).a([32, 32]), |i| i as f32);
    of_width(Mma::m16n8k8_tf32([1, 1]).a([32, 32]), |i| i as i32);
    of_width(Mma::m16n8k16([1, 1]).a([32, 32]), |i| i as i16);
}
