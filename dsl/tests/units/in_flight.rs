//! Products of wgmma under way: what is waited for where, and what stays of a tile that is added to.

use half::f16;
use quadpair::prelude::*;
use quadpair::{Instance, Target};

use crate::harness::{everywhere, random, target};
use crate::warpgroup::{CHIP, ONE, assembled, matrices, near, place_of, rows};

/// What else asks for the tile that a product adds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Asks {
    /// The same sum of it before, and of the product after.
    Before,
    /// It is stored after.
    After,
    /// The next turn of a loop.
    NextTurn,
    /// The other side of a branch.
    OtherSide,
}

/// a b + c where more is made of c.
#[kernel(grid = [1])]
pub fn shared_sum(a: Ptr<f16>, b: Ptr<f16>, out: PtrMut<f32>, turns: i32, #[comptime] asks: Asks) {
    let memory = nvmma_shared([64, 64], 128, 16, false);
    let [left, right] = [shared::<f16>(memory), shared::<f16>(memory)];
    left.store(load(place_of(a, rows([64, 64], 4), 64)));
    right.store(load(place_of(b, rows([64, 64], 4), 64)));
    barrier();
    let to = place_of(out, ONE.accumulator([64, 64]), 64);
    let c = load(to);
    match asks {
        Asks::Before => {
            let before = c * 3.0;
            store(to, left.warpgroup_mma(right, c) * 3.0 - before);
        }
        Asks::After => {
            let d = left.warpgroup_mma(right, c);
            store(to, d * 3.0 - c * 3.0);
        }
        Asks::NextTurn => {
            let mut sum = zeros::<f32>(ONE.accumulator([64, 64]));
            for _ in 0..turns {
                sum += left.warpgroup_mma(right, c) - c;
            }
            store(to, sum);
        }
        Asks::OtherSide => {
            let mut sum = c;
            if turns > 3 {
                sum = c;
            } else {
                sum = left.warpgroup_mma(right, left.warpgroup_mma(right, c)) + left.warpgroup_mma(right, c) - c;
            }
            store(to, sum - c);
        }
    }
}

#[test]
fn a_tile_that_is_added_to_stays_what_it_was() {
    let (a, b, out) = (random::<f16>(64 * 64, 1), random::<f16>(64 * 64, 2), vec![0.75_f32; 64 * 64]);
    let expected: Vec<f64> = matrices(&a, &b, &[0.0; 64 * 64], [64, 64]).into_iter().map(|sum| sum * 3.0).collect();
    for asks in [Asks::Before, Asks::After, Asks::NextTurn, Asks::OtherSide] {
        let instance = Instance::new("shared_sum", SharedSum { asks });
        assembled("shared_sum", instance.program(target(CHIP)).unwrap().ptx());
        everywhere!(instance, CHIP, SharedSumArgs { a, b; out, turns: 3 }, |out: &[f32], _| near(out, &expected, 1e-3));
    }
}

/// Three products, of which the first is asked for, then the others.
#[kernel(grid = [1])]
pub fn several(a: Ptr<f16>, b: Ptr<f16>, out: PtrMut<f32>) {
    let memory = nvmma_shared([64, 64], 128, 16, false);
    let [left, right, other] = [shared::<f16>(memory), shared::<f16>(memory), shared::<f16>(memory)];
    left.store(load(place_of(a, rows([64, 64], 4), 64)));
    right.store(load(place_of(b, rows([64, 64], 4), 64)));
    barrier();
    let sums = ONE.accumulator([64, 64]);
    let first = left.warpgroup_mma(right, zeros::<f32>(sums));
    let second = left.warpgroup_mma(right.permute([1, 0]), zeros::<f32>(sums));
    // Adds to the first, which needn't be there.
    let first = left.warpgroup_mma(right, first);
    // Memory of its own.
    other.store(full::<f16>(rows([64, 64], 4), 1.0));
    let second = second * 2.0;
    barrier();
    right.store(full::<f16>(rows([64, 64], 4), 0.0));
    store(place_of(out, sums, 64), first + second);
}

#[test]
fn each_product_is_waited_for_where_it_is_needed() {
    let instance = Instance::new("several", Several {});
    let program = instance.program(target(CHIP)).unwrap();
    assembled("several", program.ptx());
    let words: Vec<&str> = program.ptx().lines().filter_map(|line| line.split_whitespace().next()).collect();
    let waits = ["fence.proxy", "bar.sync", "wgmma.fence", "wgmma.commit", "wgmma.wait", "st.shared", "mul"];
    let mut order: Vec<&str> =
        words.iter().filter_map(|word| waits.iter().find(|w| word.starts_with(**w))).copied().collect();
    order.dedup();
    let stores = ["st.shared", "fence.proxy", "bar.sync"];
    let products = ["wgmma.fence", "wgmma.commit"].repeat(3);
    let rest = ["st.shared", "wgmma.wait", "mul", "wgmma.wait", "fence.proxy", "bar.sync", "st.shared"];
    assert!(order.ends_with(&[&stores[..], &products, &rest].concat()), "{order:?}\n{}", program.ptx());
    assert!(program.ptx().contains("wgmma.wait_group.sync.aligned 1;"));
    let (a, b) = (random::<f16>(64 * 64, 1), random::<f16>(64 * 64, 2));
    let turned: Vec<f16> = (0..64 * 64).map(|i| b[i % 64 * 64 + i / 64]).collect();
    let plain = matrices(&a, &b, &[0.0; 64 * 64], [64, 64]);
    let turned = matrices(&a, &turned, &[0.0; 64 * 64], [64, 64]);
    let expected: Vec<f64> = plain.iter().zip(turned).map(|(plain, turned)| 2.0 * (plain + turned)).collect();
    let out = vec![0.0_f32; 64 * 64];
    everywhere!(instance, CHIP, SeveralArgs { a, b; out }, |out: &[f32], _| near(out, &expected, 1e-3));
}

#[test]
fn other_targets_are_refused() {
    for (chip, name) in [("ampere", "sm_80"), ("hopper", "sm_90,")] {
        let chip = Target { specific: false, ..target(chip) };
        let error = Instance::new("several", Several {}).program(chip).unwrap_err().to_string();
        assert!(
            error.contains("in_flight.rs") && error.contains("needs the target sm_90a") && error.contains(name),
            "{error}"
        );
    }
}

/// A product adds to a part of another's sums.
#[kernel(grid = [1])]
pub fn narrowed(a: Ptr<f16>, b: Ptr<f16>, out: PtrMut<f32>, #[comptime] columns: usize) {
    let unit = Mma::wgmma(64, [4, 1]);
    let memory = nvmma_shared([64, 64], 128, 16, false);
    let [left, right] = [shared::<f16>(memory), shared::<f16>(memory)];
    left.store(load(place_of(a, rows([64, 64], 4), 64)));
    right.store(load(place_of(b, rows([64, 64], 4), 64)));
    barrier();
    let whole = left.warpgroup_mma(right, zeros::<f32>(unit.accumulator([64, 64])));
    let part = left.warpgroup_mma(right.slice(1, 0, columns), whole.slice(1, 0, columns));
    store(place_of(out, part.layout(), columns), part);
}

/// Instructions of another shape are waited for, those of one are in order.
#[test]
fn sums_of_another_shape_are_waited_for_before_they_are_added_to() {
    for (columns, waits) in [(32, 2), (64, 1)] {
        let instance = Instance::new("narrowed", Narrowed { columns });
        let ptx = instance.program(target(CHIP)).unwrap().ptx().to_owned();
        assert_eq!(ptx.matches("wgmma.wait_group").count(), waits, "{columns}: {ptx}");
        let (a, b) = (random::<f16>(64 * 64, 1), random::<f16>(64 * 64, 2));
        let product = matrices(&a, &b, &[0.0; 64 * 64], [64, 64]);
        let expected: Vec<f64> = product.chunks(64).flat_map(|row| row[..columns].iter().map(|x| 2.0 * x)).collect();
        let out = vec![f32::NAN; 64 * columns];
        everywhere!(instance, CHIP, NarrowedArgs { a, b; out }, |out: &[f32], _| near(out, &expected, 1e-2));
    }
}
