//! Singles rounded to halves, in pairs where a chip does so.

use half::{bf16, f16};
use quadpair::Instance;
use quadpair::prelude::*;

use crate::harness::{Operand, assemble, chips, everywhere, target};

/// How a thread's elements lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Way {
    pub vector: usize,
    pub elements: usize,
    pub warps: usize,
}

/// Every element rounded.
#[kernel(grid = [1])]
pub fn rounded<T: Element>(x: Ptr<f32>, out: PtrMut<T>, #[comptime] w: Way) {
    let layout = blocked([w.elements], [w.vector], [32], [w.warps], [0]);
    let place = arange(layout);
    store(out + place, load(x + place).to::<T>());
}

fn instance<T: Element>(w: Way) -> Instance<Rounded<T>> {
    Instance::new("rounded", Rounded { w, types: std::marker::PhantomData })
}

/// Numbers at ties and next to them, small, large, and no numbers.
fn numbers() -> Vec<f32> {
    let near = |bits: u32| [bits.wrapping_sub(1), bits, bits + 1];
    let ties = (0..64).flat_map(|i| [0x3f80_1000 + (i << 13), 0x3f80_8000 + (i << 16)]).flat_map(near);
    let small = (0..24).flat_map(|i| near(0x3300_0000 + (i << 19))).chain((0..16).map(|i| 1 << i));
    let large = [0x477f_e000, 0x477f_f000, 0x7f7f_0000, 0x7f7f_8000, 0x7f80_0000, 0x7fc0_0000, 0x7f80_0001];
    let all: Vec<f32> =
        ties.chain(small).chain(large).flat_map(|bits| [bits, bits | 1 << 31]).map(f32::from_bits).collect();
    all.iter().copied().cycle().take(2048).collect()
}

fn check<T: Operand>(w: Way, profile: &str) {
    let (x, out) = (numbers(), vec![T::of(7.0); w.elements]);
    let expected: Vec<f64> = x.iter().map(|x| T::of(*x).value()).collect();
    everywhere!(instance::<T>(w), profile, RoundedArgs { x; out }, |out: &[T], _| {
        for (own, expected) in out.iter().map(|own| own.value()).zip(&expected) {
            assert!(own.to_bits() == expected.to_bits() || own.is_nan() && expected.is_nan(), "{own:e}, not {expected:e}");
        }
    });
}

#[test]
fn pairs_round_as_single_ones() {
    for (vector, warps) in [(8, 4), (2, 1), (1, 2)] {
        let w = Way { vector, elements: 2048, warps };
        for profile in ["volta", "turing", "ampere", "hopper"] {
            check::<f16>(w, profile);
            check::<bf16>(w, profile);
        }
    }
}

#[test]
fn a_pair_takes_one_instruction() {
    let w = Way { vector: 8, elements: 1024, warps: 4 };
    let halves = instance::<f16>(w).program(target("ampere")).unwrap().ptx().to_owned();
    assert_eq!((halves.matches("cvt.rn.f16x2.f32").count(), halves.matches("cvt.").count()), (4, 4), "{halves}");
    let bytes = instance::<bf16>(w).program(target("ampere")).unwrap().ptx().to_owned();
    assert_eq!((bytes.matches("cvt.rn.bf16x2.f32").count(), bytes.matches("cvt.").count()), (4, 4), "{bytes}");
    let single = Way { vector: 1, elements: 32, warps: 1 };
    assert!(instance::<bf16>(single).program(target("ampere")).unwrap().ptx().contains("cvt.rn.bf16.f32 %h"));
    for chip in chips().into_iter().filter(|chip| chip.sm >= 80) {
        for w in [w, single] {
            assemble("rounding", instance::<f16>(w).program(chip).unwrap().ptx(), chip);
            assemble("rounding", instance::<bf16>(w).program(chip).unwrap().ptx(), chip);
        }
    }
}
