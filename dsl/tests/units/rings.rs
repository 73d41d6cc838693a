//! Rings of copies that feed wgmma: two products under way in attention, and the tile of a matrix product.

use half::f16;
use quadpair::prelude::*;

use crate::harness::{everywhere, random, target};
use crate::warpgroup::{CHIP, assembled, matrices, near, place_of, rows};

/// Keys of a tile, and queries.
const SIDE: usize = 128;
const WIDE: Mma = Mma::wgmma(SIDE, [8, 1]);

/// The rest of a step of attention: what the scores become, what the sums so far are multiplied by.
#[device]
fn weighted(s: Tile, most: Tile, total: Tile) -> (Tile, Tile, Tile, Tile) {
    let next = maximum(most, s.reduce_max(1));
    let p = exp2(s - next.expand_dims(1));
    let scale = exp2(most - next);
    (p, scale, next, total * scale + p.reduce_sum(1))
}

/// Attention without a scale, in base 2, of 128 queries to tiles of keys: while the scores of a tile become weights, the
/// product of the last tile's weights goes on.
#[kernel(grid = [1])]
pub fn attend(q: Ptr<f16>, k: Ptr<f16>, v: Ptr<f16>, out: PtrMut<f32>, tiles: i32, #[comptime] depth: usize) {
    let [scores, sums] = [WIDE.accumulator([SIDE, SIDE]), WIDE.accumulator([SIDE, depth])];
    let tile = rows([SIDE, depth], 8);
    let ring = nvmma_shared([2, SIDE, depth], 128, 16, false);
    let queries = shared::<f16>(nvmma_shared([SIDE, depth], 128, 16, false));
    let [keys, values] = [shared::<f16>(ring), shared::<f16>(ring)];
    let [next_key, next_value] = [place_of(multiple_of(k, 8), tile, depth), place_of(multiple_of(v, 8), tile, depth)];
    queries.async_copy(place_of(multiple_of(q, 8), tile, depth));
    keys.slice(0, 0, 1).reshape([SIDE, depth]).async_copy(next_key);
    commit_group();
    keys.slice(0, 1, 1)
        .reshape([SIDE, depth])
        .async_copy_masked(next_key + SIDE * depth, full::<bool>(tile, tiles > 1));
    values.slice(0, 0, 1).reshape([SIDE, depth]).async_copy(next_value);
    commit_group();
    wait_group(1);
    barrier();
    let first = queries.warpgroup_mma(keys.slice(0, 0, 1).reshape([SIDE, depth]).permute([1, 0]), zeros::<f32>(scores));
    let low = full::<f32>(scores.slice(1), -1e30);
    let (weights, _, mut most, mut total) = weighted(first, low, zeros::<f32>(scores.slice(1)));
    let mut p = weights.to::<f16>();
    let mut o = zeros::<f32>(sums);
    for i in 1..tiles {
        wait_group(0);
        barrier();
        let more = full::<bool>(tile, i + 1 < tiles);
        keys.index((i + 1) % 2).async_copy_masked(next_key + (i + 1) * SIDE * depth, more);
        values.index(i % 2).async_copy(next_value + i * SIDE * depth);
        commit_group();
        let s = queries.warpgroup_mma(keys.index(i % 2).permute([1, 0]), zeros::<f32>(scores));
        let before = p.warpgroup_mma(values.index((i + 1) % 2), o);
        let (weights, scale, next, sum) = weighted(s, most, total);
        most = next;
        total = sum;
        o = before * scale.expand_dims(1);
        // Once the product is done that reads the last ones: the assembler would put these in the same registers.
        p = weights.to::<f16>();
    }
    wait_group(0);
    barrier();
    o = p.warpgroup_mma(values.index((tiles + 1) % 2), o);
    store(place_of(out, sums, depth), o / total.expand_dims(1));
}

instances! {
    #[target(sm_90a)]
    ATTEND_64 = Attend { depth: 64 };
    #[target(sm_90a)]
    ATTEND_128 = Attend { depth: 128 };
    #[target(sm_90a)]
    PIPED = Piped { stages: 4 };
}

fn attention(q: &[f16], k: &[f16], v: &[f16], depth: usize) -> Vec<f64> {
    let value = |x: &f16| x.to_f64();
    let row = |q: &[f16]| {
        let scores = k.chunks(depth).map(|k| q.iter().zip(k).map(|(q, k)| value(q) * value(k)).sum::<f64>().exp2());
        let weights: Vec<f64> = scores.collect();
        let total: f64 = weights.iter().sum();
        let sum = |d: usize| weights.iter().zip(v.chunks(depth)).map(|(w, v)| w * value(&v[d])).sum::<f64>() / total;
        (0..depth).map(sum).collect::<Vec<f64>>()
    };
    q.chunks(depth).flat_map(row).collect()
}

#[test]
fn two_products_are_under_way_in_attention() {
    for (instance, depth) in [(&ATTEND_64, 64), (&ATTEND_128, 128)] {
        let ptx = instance.program(target(CHIP)).unwrap().ptx().to_owned();
        assembled("attend", &ptx);
        // What is computed of them stays before the wait for the other product.
        assert!(ptx.contains("pmevent 0;\n\twgmma.wait_group.sync.aligned 0;"), "{ptx}");
        // The scores are waited for while the other product goes on; nothing is moved to be added to.
        assert!(ptx.contains("wgmma.wait_group.sync.aligned 1;"), "{ptx}");
        for tiles in [1, 2, 4] {
            let [q, k, v] = [1, tiles, tiles].map(|count| random::<f16>(SIDE * depth * count, count as u32));
            let (expected, out) = (attention(&q, &k, &v, depth), vec![f32::NAN; SIDE * depth]);
            everywhere!(instance, CHIP, AttendArgs { q, k, v; out, tiles: tiles as i32 }, |out: &[f32], _| {
                near(out, &expected, 2e-3);
            });
        }
    }
}

/// A tile `[128, 256]` of a product, operands through a ring of four stages.
#[kernel(grid = [1])]
pub fn piped(a: Ptr<f16>, b: Ptr<f16>, out: PtrMut<f32>, steps: i32, #[comptime] stages: usize) {
    const UNIT: Mma = Mma::wgmma(256, [8, 1]);
    let [left, right] = [rows([128, 64], 8), rows([64, 256], 8)];
    let lefts = shared::<f16>(nvmma_shared([stages, 128, 64], 128, 16, false));
    let rights = shared::<f16>(nvmma_shared([stages, 64, 256], 128, 16, false));
    let row = arange(left.slice(1)).expand_dims(1) * multiple_of(steps * 64, 64);
    let [from, below] =
        [multiple_of(a, 8) + (row + arange(left.slice(0)).expand_dims(0)), place_of(multiple_of(b, 8), right, 256)];
    for stage in 0..stages - 1 {
        let there = steps > stage as i32;
        lefts.slice(0, stage, 1).reshape([128, 64]).async_copy_masked(from + 64 * stage, full::<bool>(left, there));
        let to = rights.slice(0, stage, 1).reshape([64, 256]);
        to.async_copy_masked(below + 64 * 256 * stage, full::<bool>(right, there));
        commit_group();
    }
    let mut sum = zeros::<f32>(UNIT.accumulator([128, 256]));
    for step in 0..steps {
        wait_group(stages - 2);
        barrier();
        let (next, own) = (step + (stages - 1) as i32, step % stages as i32);
        let (there, stage) = (next < steps, next % stages as i32);
        lefts.index(stage).async_copy_masked(from + next * 64, full::<bool>(left, there));
        rights.index(stage).async_copy_masked(below + next * (64 * 256), full::<bool>(right, there));
        commit_group();
        sum = lefts.index(own).warpgroup_mma(rights.index(own), sum);
    }
    store(place_of(out, UNIT.accumulator([128, 256]), 256), sum);
}

#[test]
fn a_ring_of_copies_feeds_products() {
    assembled("piped", PIPED.program(target(CHIP)).unwrap().ptx());
    for steps in [1, 3, 7] {
        let (a, b) = (random::<f16>(128 * 64 * steps, 1), random::<f16>(64 * 256 * steps, 2));
        let (expected, out) = (matrices(&a, &b, &[0.0; 128 * 256], [256, 64 * steps]), vec![f32::NAN; 128 * 256]);
        everywhere!(PIPED, CHIP, PipedArgs { a, b; out, steps: steps as i32 }, |out: &[f32], _| {
            near(out, &expected, 1e-2);
        });
    }
}
