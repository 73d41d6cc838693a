//! Products on m16n8k8 and m16n8k16 against sums in doubles, and the chips and types that they are refused for.

use half::{bf16, f16};
use quadpair::lower::LowerError;
use quadpair::prelude::*;
use quadpair::{Instance, KernelError, Target};

use crate::harness::{Operand, assemble, chips, everywhere, random, target};

/// A product of whole tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Product {
    pub unit: Mma,
    pub m: usize,
    pub n: usize,
    pub k: usize,
}

/// `d = a b + c`, every tile from global memory.
#[kernel(grid = [1])]
pub fn multiplied<T: Element>(a: Ptr<T>, b: Ptr<T>, c: Ptr<f32>, d: PtrMut<f32>, #[comptime] p: Product) {
    let (left, right, sum) = (p.unit.a([p.m, p.k]), p.unit.b([p.k, p.n]), p.unit.accumulator([p.m, p.n]));
    let left = load(a + (arange(left.slice(1)).expand_dims(1) * p.k + arange(left.slice(0)).expand_dims(0)));
    let right = load(b + (arange(right.slice(1)).expand_dims(1) * p.n + arange(right.slice(0)).expand_dims(0)));
    let place = arange(sum.slice(1)).expand_dims(1) * p.n + arange(sum.slice(0)).expand_dims(0);
    store(d + place, mma(left, right, load(c + place)));
}

const SHALLOW: Product = Product { unit: Mma::m16n8k8([1, 1]), m: 16, n: 8, k: 8 };
const DEEP: Product = Product { unit: Mma::m16n8k16([1, 1]), m: 16, n: 8, k: 16 };

instances! {
    SHALLOW_F16 = Multiplied::<f16> { p: SHALLOW };
    #[target(sm_75)]
    DEEP_F16_ON_TURING = Multiplied::<f16> { p: DEEP };
    #[target(sm_80)]
    DEEP_BF16_ON_AMPERE = Multiplied::<bf16> { p: DEEP };
}

fn instance<T: Operand>(p: Product) -> Instance<Multiplied<T>> {
    Instance::new("multiplied", Multiplied { p, types: std::marker::PhantomData })
}

/// Runs a product and compares every element with its sum in doubles.
fn check<T: Operand>(p: Product, profile: &str, seed: u32) {
    let (a, b) = (random::<T>(p.m * p.k, seed), random::<T>(p.k * p.n, seed + 1));
    let c: Vec<f32> = random::<f16>(p.m * p.n, seed + 2).into_iter().map(f32::from).collect();
    let (sums, d) = (sums(p, &a, &b, &c), vec![f32::NAN; p.m * p.n]);
    everywhere!(instance::<T>(p), profile, MultipliedArgs { a, b, c; d }, |d: &[f32], _| {
        for (place, (own, sum)) in d.iter().zip(&sums).enumerate() {
            // Products are exact in singles; each of the k sums, of up to k, loses at most a last place.
            let most = (p.k * (p.k + 1)) as f64 * 2.0_f64.powi(-24);
            assert!((f64::from(*own) - sum).abs() <= most, "{p:?}: element {place} is {own}, not {sum}");
        }
    });
}

fn sums<T: Operand>(p: Product, a: &[T], b: &[T], c: &[f32]) -> Vec<f64> {
    let element = |place: usize| {
        let (row, column) = (place / p.n, place % p.n);
        let products = (0..p.k).map(|k| a[row * p.k + k].value() * b[k * p.n + column].value());
        products.sum::<f64>() + f64::from(c[place])
    };
    (0..c.len()).map(element).collect()
}

#[test]
fn random_tiles_are_multiplied() {
    for (seed, warps) in [[1, 1], [4, 1], [1, 4], [2, 2], [8, 1]].into_iter().enumerate() {
        let (m, n, seed) = (32 * warps[0], 16 * warps[1], 10 * seed as u32 + 1);
        for (unit, k) in [(Mma::m16n8k8(warps), 8), (Mma::m16n8k16(warps), 16), (Mma::m16n8k16(warps), 64)] {
            let p = Product { unit, m, n, k };
            check::<f16>(p, "turing", seed);
            check::<f16>(p, "ampere", seed);
            check::<bf16>(p, "ampere", seed);
        }
    }
}

/// Tiles that are smaller than what the warps have, so that some hold the same.
#[test]
fn small_tiles_are_multiplied() {
    for warps in [[2, 1], [2, 4]] {
        let p = Product { unit: Mma::m16n8k16(warps), m: 16, n: 8, k: 32 };
        check::<f16>(p, "ampere", 7);
    }
}

#[test]
fn the_deepest_unit_that_a_chip_has_is_taken() {
    let text = |instance: Instance<Multiplied<f16>>, target| instance.program(target).unwrap().ptx().to_owned();
    let deep = text(instance(DEEP), target("ampere"));
    assert!(deep.contains("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f"), "{deep}");
    let shallow = text(instance(DEEP), target("turing"));
    assert_eq!(shallow.matches("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32").count(), 2, "{shallow}");
    assert!(text(instance(SHALLOW), target("ampere")).contains("m16n8k8"));
    let bytes = instance::<bf16>(SHALLOW).program(target("ampere")).unwrap().ptx().to_owned();
    assert!(bytes.contains("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32"), "{bytes}");
}

#[test]
fn assemblers_take_every_form() {
    for target in chips() {
        for (name, p) in [("shallow", SHALLOW), ("deep", DEEP)] {
            assemble(name, instance::<f16>(p).program(target).unwrap().ptx(), target);
            if target.sm >= 80 {
                assemble(name, instance::<bf16>(p).program(target).unwrap().ptx(), target);
            }
        }
    }
}

fn refused<T: Operand>(p: Product, target: Target) -> String {
    match instance::<T>(p).program(target) {
        Err(KernelError::Lower(error @ (LowerError::MatrixUnit { .. } | LowerError::UnitVersion { .. }))) => {
            error.to_string()
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_a_target_lacks_is_named() {
    let words = "multiplied uses m16n8k8, which needs sm_75 or later; the target is sm_70";
    assert_eq!(refused::<f16>(DEEP, target("volta")), words);
    let words = "multiplied uses m16n8k8, which needs sm_80 or later; the target is sm_75";
    assert_eq!(refused::<bf16>(SHALLOW, target("turing")), words);
    let old = Target { isa: (6, 4), ..target("turing") };
    let words = "multiplied uses m16n8k8, which needs PTX 6.5; the target is written in PTX 6.4";
    assert_eq!(refused::<f16>(SHALLOW, old), words);
}
