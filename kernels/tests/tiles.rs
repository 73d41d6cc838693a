//! Kernels in every kind of tile, on the simulator against float64: those of the shipped profiles, and every arrangement of
//! quadpairs, width of chunks, and number of warps that `quadpair tune` may choose.

mod common;

use common::{Random, profile_with};
use half::{bf16, f16};
use quadpair::DType;
use quadpair::sim::Simulator;
use quadpair_kernels::attention::{self, AttentionConfig, Inputs, attend_host};
use quadpair_kernels::matmul::{self, Matmul, MatmulConfig, Matrix, Terms};
use quadpair_kernels::metrics::Difference;
use quadpair_kernels::number::Real;
use quadpair_kernels::unit::{Unit, UnitChoice};
use quadpair_kernels::view::View;
use quadpair_profiles::{FlashTile, MatmulTile, Profile};

/// The first and the last of the tiles of each kind.
fn of_each_kind<T: Copy, K: PartialEq>(all: &[T], kind: impl Fn(&T) -> K) -> Vec<T> {
    let alone = |others: &[T], tile: &T| others.iter().all(|other| kind(other) != kind(tile));
    let chosen = |i: &usize| alone(&all[..*i], &all[*i]) || alone(&all[i + 1..], &all[*i]);
    (0..all.len()).filter(chosen).map(|i| all[i]).collect()
}

/// Whether a matrix unit takes bf16 on the chips of the first profile that has it.
fn takes_bf16(unit: Unit) -> bool {
    unit != Unit::Fma && unit.operands(&profile_with(unit)).contains(&DType::BF16.name())
}

/// What differs between the units and tiles of shipped profiles; what they share is there once.
fn shipped<T: PartialEq>(tiles: impl Fn(&Profile, Unit) -> Vec<T>) -> Vec<(Unit, T)> {
    let mut all = Vec::new();
    for profile in Profile::shipped() {
        for unit in Unit::of(&profile) {
            for tile in tiles(&profile, unit).into_iter().map(|tile| (unit, tile)) {
                if !all.contains(&tile) {
                    all.push(tile);
                }
            }
        }
    }
    all
}

#[track_caller]
fn check_attention<T: Real>(unit: Unit, tile: FlashTile) {
    let mut profile = profile_with(unit);
    *profile.tiles_mut(unit.name()).unwrap().0 = vec![tile];
    // More than one tile of keys, and a part of another.
    let (head_dim, n_q, n_k) = (tile.head_dim_le, tile.block_m / 2 + 1, 2 * tile.block_n + 5);
    let mut random = Random(7);
    let [q, k, v] = [n_q, n_k, n_k].map(|rows| random.numbers::<T>(1.0, rows * head_dim));
    let keys = |data| View::contiguous(data, [1, 1, n_k, head_dim]);
    let inputs = Inputs::<_, &[f32]>::new(View::contiguous(&q[..], [1, 1, n_q, head_dim]), keys(&k[..]), keys(&v[..]));
    let config = AttentionConfig { unit: UnitChoice::Only(unit), ..AttentionConfig::new(head_dim) };
    let result = attend_host(&profile, config, inputs).unwrap();
    let expected = attention::reference(&inputs, || ()).unwrap();
    let out = Difference::between(result.out.iter().map(|number| number.to_f64()), expected.out);
    let lse = Difference::between(result.lse.iter().map(|&number| f64::from(number)), expected.lse);
    let allowed = if T::DTYPE == DType::BF16 { 8e-3 } else { 1e-3 };
    assert!(out.unusable == 0 && out.relative <= allowed, "{unit} {tile} {out:?}");
    assert!(lse.unusable == 0 && lse.max_scaled <= 1e-4, "{unit} {tile} {lse:?}");
}

#[test]
fn attention_in_every_arrangement_and_chunk() {
    for (unit, head_dim) in [
        (Unit::M8N8K4, 40),
        (Unit::M8N8K4, 136),
        (Unit::M16N8K8, 40),
        (Unit::M16N8K16, 40),
        (Unit::Wgmma, 40),
        (Unit::Wgmma, 136),
        (Unit::Fma, 40),
    ] {
        let all = attention::tiles(&profile_with(unit), unit, DType::F16, head_dim);
        for tile in of_each_kind(&all, |tile| (tile.quadpairs, tile.chunk)) {
            check_attention::<f16>(unit, tile);
        }
    }
}

#[test]
fn attention_in_every_shipped_tile() {
    let tiles = |profile: &Profile, unit: Unit| profile.tiles(unit.name()).unwrap().0.to_vec();
    for (unit, tile) in shipped(tiles) {
        check_attention::<f16>(unit, FlashTile { rows_le: None, ..tile });
        if takes_bf16(unit) {
            check_attention::<bf16>(unit, FlashTile { rows_le: None, ..tile });
        }
    }
}

#[track_caller]
fn check_matmul<T: Real>(unit: Unit, tile: MatmulTile) {
    let mut profile = profile_with(unit);
    *profile.tiles_mut(unit.name()).unwrap().1 = tile;
    check_product::<T>(&profile, unit, [tile.block_m + 8, tile.block_n / 2 + 8, 2 * tile.block_k + 8]);
}

/// A product of this size in the profile's tile of the unit.
#[track_caller]
fn check_product<T: Real>(profile: &Profile, unit: Unit, [m, n, k]: [usize; 3]) {
    let tile = *profile.tiles(unit.name()).unwrap().1;
    let mut random = Random(7);
    let (a, b) = (random.numbers::<T>(1.0, m * k), random.numbers::<T>(1.0, k * n));
    let (left, right) = (Matrix::contiguous(&a[..], m, k), Matrix::contiguous(&b[..], k, n));
    let mut c = vec![0.0_f32; m * n];
    let before = Matrix::contiguous(&c[..], m, n);
    let expected = matmul::reference(&left, &right, &before, &Terms::default(), || ()).unwrap();
    let config = MatmulConfig { unit: UnitChoice::Only(unit), ..MatmulConfig::default() };
    let matmul = Matmul::<T>::new(profile, config).unwrap();
    matmul.multiply(&Simulator::new(profile), left, right, Matrix::contiguous(&mut c[..], m, n)).unwrap();
    let difference = Difference::between(c.iter().map(|&number| f64::from(number)), expected);
    assert!(difference.unusable == 0 && difference.relative <= 1e-5, "{unit} {tile} {difference:?}");
}

#[test]
fn matmul_with_every_number_of_warps_and_stages_and_depth() {
    for unit in Unit::ALL {
        let all = matmul::tiles(&profile_with(unit), unit, DType::F16);
        for tile in of_each_kind(&all, |tile| (tile.warps, tile.block_k, tile.stages)) {
            check_matmul::<f16>(unit, tile);
        }
    }
}

/// In a tile as shallow as a profile can have it the next one is still on its way in time, by copies or through registers.
#[test]
fn matmul_in_the_shallowest_tile() {
    for unit in Unit::ALL {
        let mut profile = profile_with(unit);
        let config = MatmulConfig { unit: UnitChoice::Only(unit), ..MatmulConfig::default() };
        let mut taken = |block_k: &usize| {
            *profile.tiles_mut(unit.name()).unwrap().1 =
                MatmulTile { block_m: 64, block_n: 64, block_k: *block_k, warps: 4, stages: 2 };
            Matmul::<f16>::new(&profile, config).is_ok()
        };
        let depth = [8, 16, 32].into_iter().find(|block_k| taken(block_k)).unwrap();
        for k in [5 * depth + 8, 5 * depth + 3] {
            check_product::<f16>(&profile, unit, [72, 72, k]);
        }
    }
}

#[test]
fn matmul_in_every_shipped_tile() {
    for (unit, tile) in shipped(|profile: &Profile, unit: Unit| vec![*profile.tiles(unit.name()).unwrap().1]) {
        check_matmul::<f16>(unit, tile);
        if takes_bf16(unit) {
            check_matmul::<bf16>(unit, tile);
        }
    }
}
