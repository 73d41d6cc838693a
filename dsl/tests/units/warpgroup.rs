//! Products on wgmma: where operands may lie, and tiles of several instructions.

use half::{bf16, f16};
use quadpair::Instance;
use quadpair::prelude::*;
use quadpair::sim::Counters;

use crate::harness::{Operand, assemble, everywhere, random, target};

pub const CHIP: &str = "hopper";

/// Where an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    Registers,
    /// With k contiguous, in a swizzle of so many bytes.
    K(usize),
    /// With m or n contiguous.
    Outer(usize),
}

/// A product's extents, unit and operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Way {
    m: usize,
    n: usize,
    k: usize,
    unit: Mma,
    warps: usize,
    left: Place,
    right: Place,
}

/// The memory of an operand `[m or n, k]`.
const fn memory(place: Place, extents: [usize; 2]) -> SharedLayout {
    match place {
        Place::K(swizzle) => nvmma_shared(extents, swizzle, 16, false),
        Place::Outer(swizzle) => nvmma_shared([extents[1], extents[0]], swizzle, 16, false).permute([1, 0]),
        Place::Registers => row_major(extents),
    }
}

pub const fn rows(extents: [usize; 2], warps: usize) -> Layout {
    blocked(extents, [1, 8], [8, 4], [warps, 1], [1, 0])
}

/// The addresses of a tile's elements, rows of `length` one after the other.
#[device]
pub fn place_of(base: Tile, #[comptime] layout: Layout, #[comptime] length: usize) -> Tile {
    base + (arange(layout.slice(1)).expand_dims(1) * length + arange(layout.slice(0)).expand_dims(0))
}

/// `d = a b + d`, a `[m, k]`, b `[k, n]`.
#[kernel(grid = [1])]
pub fn product<T: Element>(a: Ptr<T>, b: Ptr<T>, d: PtrMut<f32>, #[comptime] w: Way) {
    let right = shared::<T>(memory(w.right, [w.n, w.k])).permute([1, 0]);
    right.store(load(place_of(b, rows([w.k, w.n], w.warps), w.n)));
    let sum = w.unit.accumulator([w.m, w.n]);
    let out = place_of(d, sum, w.n);
    if matches!(w.left, Place::Registers) {
        barrier();
        let left = load(place_of(a, w.unit.a([w.m, w.k]), w.k));
        store(out, left.warpgroup_mma(right, load(out)));
    } else {
        let left = shared::<T>(memory(w.left, [w.m, w.k]));
        left.store(load(place_of(a, rows([w.m, w.k], w.warps), w.k)));
        barrier();
        store(out, left.warpgroup_mma(right, load(out)));
    }
}

/// a b + c in 64 bits.
pub fn matrices<T: Operand>(a: &[T], b: &[T], c: &[f64], [n, k]: [usize; 2]) -> Vec<f64> {
    let element = |place: usize| {
        let (row, column) = (place / n, place % n);
        (0..k).map(|i| a[row * k + i].value() * b[i * n + column].value()).sum::<f64>() + c[place]
    };
    (0..c.len()).map(element).collect()
}

pub fn near(own: &[f32], expected: &[f64], most: f64) {
    assert_eq!(own.len(), expected.len());
    for (i, (own, expected)) in own.iter().zip(expected).enumerate() {
        assert!((f64::from(*own) - expected).abs() < most, "element {i}: {own}, not {expected}");
    }
}

/// Has the assembler read it: products aren't told to wait for one another, and registers suffice.
pub fn assembled(name: &str, ptx: &str) {
    if let Some(said) = assemble(name, ptx, target(CHIP)) {
        assert!(!said.contains("serialized"), "{name}: {said}");
        assert!(said.contains(" 0 bytes spill stores"), "{name}: {said}");
    }
}

fn check<T: Operand>(w: Way) {
    let (a, b) = (random::<T>(w.m * w.k, 1), random::<T>(w.k * w.n, 2));
    let d: Vec<f32> = random::<f16>(w.m * w.n, 3).into_iter().map(f32::from).collect();
    let start: Vec<f64> = d.iter().copied().map(f64::from).collect();
    let expected = matrices(&a, &b, &start, [w.n, w.k]);
    let instance = Instance::new("product", Product::<T> { w, types: std::marker::PhantomData });
    assembled("product", instance.program(target(CHIP)).unwrap().ptx());
    everywhere!(instance, CHIP, ProductArgs { a, b; d }, |d: &[f32], counters: Option<Counters>| {
        // No operand of memory goes through registers.
        assert!(counters.is_none_or(|own| own.shared_load == 0));
        near(d, &expected, 1e-4 * w.k as f64);
    });
}

pub const ONE: Mma = Mma::wgmma(64, [4, 1]);
const TWO: Mma = Mma::wgmma(64, [8, 1]);
const BESIDE: Mma = Mma::wgmma(64, [4, 2]);

#[test]
fn both_dimensions_of_memory_may_be_contiguous_in_every_swizzle() {
    for swizzle in [32, 64, 128] {
        for left in [Place::K(swizzle), Place::Outer(swizzle), Place::Registers] {
            for right in [Place::K(swizzle), Place::Outer(swizzle)] {
                check::<f16>(Way { m: 64, n: 64, k: 64, unit: ONE, warps: 4, left, right });
            }
        }
    }
}

#[test]
fn tiles_take_several_instructions_along_every_dimension() {
    for right in [Place::K(128), Place::Outer(128)] {
        for left in [Place::K(128), Place::Outer(64), Place::Registers] {
            let way = Way { m: 64, n: 64, k: 64, unit: ONE, warps: 4, left, right };
            // Rows that a warp has twice, the widest instruction, patterns side by side along k.
            check::<bf16>(Way { m: 128, ..way });
            check::<f16>(Way { n: 256, ..way });
            check::<f16>(Way { k: 128, ..way });
            // Two groups of four warps, below one another and side by side, each with two instructions.
            check::<f16>(Way { m: 256, unit: TWO, warps: 8, ..way });
            check::<f16>(Way { n: 256, unit: BESIDE, warps: 8, ..way });
            // Both compute the same.
            check::<f16>(Way { unit: TWO, warps: 8, ..way });
        }
    }
    let small = Way { m: 64, n: 8, k: 16, unit: ONE, warps: 4, left: Place::K(32), right: Place::K(32) };
    check::<bf16>(small);
}
