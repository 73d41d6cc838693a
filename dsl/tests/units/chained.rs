//! Two products in a row, as attention has them: the first one's sums are the second one's left operand, and nothing moves.

use half::{bf16, f16};
use quadpair::Instance;
use quadpair::prelude::*;
use quadpair::sim::Counters;

use crate::harness::{Operand, assemble, chips, everywhere, random};

const WARPS: usize = 4;
const UNIT: Mma = Mma::m16n8k16([WARPS, 1]);
/// Rows and columns of every tile.
const M: usize = 64;
const SIDE: usize = 32;

/// `d = (a b) c`, with the inner product rounded to the operands' type.
#[kernel(grid = [1])]
pub fn chain<T: Element>(a: Ptr<T>, b: Ptr<T>, c: Ptr<T>, d: PtrMut<f32>) {
    let (left, right, sum) = (UNIT.a([M, SIDE]), UNIT.b([SIDE, SIDE]), UNIT.accumulator([M, SIDE]));
    let first = load(a + (arange(left.slice(1)).expand_dims(1) * SIDE + arange(left.slice(0)).expand_dims(0)));
    let place = arange(right.slice(1)).expand_dims(1) * SIDE + arange(right.slice(0)).expand_dims(0);
    let inner = mma(first, load(b + place), zeros::<f32>(sum)).to::<T>();
    let outer = mma(inner.assert_trivial(left), load(c + place), zeros::<f32>(sum));
    store(d + (arange(sum.slice(1)).expand_dims(1) * SIDE + arange(sum.slice(0)).expand_dims(0)), outer);
}

instances! {
    #[target(sm_75)]
    CHAIN_F16 = Chain::<f16> {};
    #[target(sm_80)]
    CHAIN_BF16 = Chain::<bf16> {};
}

fn matrices<T: Operand>(left: &[T], right: &[T]) -> Vec<f64> {
    let element = |place: usize| {
        let (row, column) = (place / SIDE, place % SIDE);
        (0..SIDE).map(|k| left[row * SIDE + k].value() * right[k * SIDE + column].value()).sum()
    };
    (0..left.len()).map(element).collect()
}

fn check<T: Operand>(instance: &Instance<Chain<T>>, profile: &str, digits: i32) {
    let (a, b, c) = (random::<T>(M * SIDE, 1), random::<T>(SIDE * SIDE, 2), random::<T>(SIDE * SIDE, 3));
    let inner: Vec<T> = matrices(&a, &b).into_iter().map(|value| T::of(value as f32)).collect();
    let (expected, d) = (matrices(&inner, &c), vec![f32::NAN; M * SIDE]);
    everywhere!(instance, profile, ChainArgs { a, b, c; d }, |d: &[f32], counters: Option<Counters>| {
        if let Some(own) = counters {
            assert_eq!((own.shuffle, own.shared_load, own.shared_store, own.barrier), (0, 0, 0, 0));
        }
        for (own, expected) in d.iter().zip(&expected) {
            // An inner sum at a tie may round the other way, one last place of up to 16.
            let most = 2.0 * 16.0 * 2.0_f64.powi(-digits);
            assert!((f64::from(*own) - expected).abs() < most, "{own}, not {expected}");
        }
    });
}

#[test]
fn sums_are_the_next_products_left_operand() {
    check(&CHAIN_F16, "turing", 10);
    check(&CHAIN_F16, "ampere", 10);
    check(&CHAIN_BF16, "ampere", 7);
    for chip in chips() {
        assemble("chain", CHAIN_F16.program(chip).unwrap().ptx(), chip);
    }
}
