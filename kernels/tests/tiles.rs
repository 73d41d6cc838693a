//! Kernels in tiles that no shipped profile has, on the simulator against float64: every arrangement of quadpairs, width of
//! chunks, and number of warps that `quadpair tune` may choose.

use half::f16;
use quadpair::DType;
use quadpair::sim::Simulator;
use quadpair_kernels::attention::{self, AttentionConfig, Inputs, attend_host};
use quadpair_kernels::matmul::{self, Matmul, MatmulConfig, Matrix};
use quadpair_kernels::metrics::Difference;
use quadpair_kernels::unit::{Unit, UnitChoice};
use quadpair_kernels::view::View;
use quadpair_profiles::{FlashTile, MatmulTile, Profile};

/// Numbers from -1 to 1 that repeat after a while.
fn numbers(seed: usize, length: usize) -> Vec<f16> {
    (0..length).map(|i| f16::from_f64(((i * 7919 + seed * 104_729) % 2003) as f64 / 1001.0 - 1.0)).collect()
}

/// The first and the last of the tiles of each kind.
fn of_each_kind<T: Copy, K: PartialEq>(all: &[T], kind: impl Fn(&T) -> K) -> Vec<T> {
    let alone = |others: &[T], tile: &T| others.iter().all(|other| kind(other) != kind(tile));
    let chosen = |i: &usize| alone(&all[..*i], &all[*i]) || alone(&all[i + 1..], &all[*i]);
    (0..all.len()).filter(chosen).map(|i| all[i]).collect()
}

fn volta() -> Profile {
    Profile::by_name("volta").unwrap()
}

#[track_caller]
fn check_attention(unit: Unit, tile: FlashTile) {
    let mut profile = volta();
    match unit {
        Unit::Fma => profile.fma.flash = vec![tile],
        _ => profile.matrix_unit.as_mut().unwrap().flash = vec![tile],
    }
    // More than one tile of keys, and a part of another.
    let (head_dim, n_q, n_k) = (tile.head_dim_le, tile.block_m / 2 + 1, 2 * tile.block_n + 5);
    let (q, k, v) = (numbers(1, n_q * head_dim), numbers(2, n_k * head_dim), numbers(3, n_k * head_dim));
    let keys = |data| View::contiguous(data, [1, 1, n_k, head_dim]);
    let inputs = Inputs::<_, &[f32]>::new(View::contiguous(&q[..], [1, 1, n_q, head_dim]), keys(&k[..]), keys(&v[..]));
    let config = AttentionConfig { unit: UnitChoice::Only(unit), ..AttentionConfig::new(head_dim) };
    let result = attend_host(&profile, config, inputs).unwrap();
    let expected = attention::reference(&inputs, || ()).unwrap();
    let out = Difference::between(result.out.iter().map(|number| number.to_f64()), expected.out);
    let lse = Difference::between(result.lse.iter().map(|&number| f64::from(number)), expected.lse);
    assert!(out.unusable == 0 && out.relative <= 1e-3, "{unit} {tile} {out:?}");
    assert!(lse.unusable == 0 && lse.max_scaled <= 1e-4, "{unit} {tile} {lse:?}");
}

#[test]
fn attention_in_every_arrangement_and_chunk() {
    for (unit, head_dim) in [(Unit::M8N8K4, 40), (Unit::M8N8K4, 136), (Unit::Fma, 40)] {
        let all = attention::tiles(&volta(), unit, DType::F16, head_dim);
        for tile in of_each_kind(&all, |tile| (tile.quadpairs, tile.chunk)) {
            check_attention(unit, tile);
        }
    }
}

#[track_caller]
fn check_matmul(unit: Unit, tile: MatmulTile) {
    let mut profile = volta();
    match unit {
        Unit::Fma => profile.fma.matmul = tile,
        _ => profile.matrix_unit.as_mut().unwrap().matmul = tile,
    }
    let (m, n, k) = (tile.block_m + 8, tile.block_n / 2 + 8, 2 * tile.block_k + 8);
    let (a, b) = (numbers(1, m * k), numbers(2, k * n));
    let mut c = vec![0.0_f32; m * n];
    let config = MatmulConfig { unit: UnitChoice::Only(unit), ..MatmulConfig::default() };
    let matmul = Matmul::<f16>::new(&profile, config).unwrap();
    let (left, right) = (Matrix::contiguous(&a[..], m, k), Matrix::contiguous(&b[..], k, n));
    matmul.multiply(&Simulator::new(&profile), left, right, Matrix::contiguous(&mut c[..], m, n)).unwrap();
    let element = |i: usize| (0..k).map(|j| a[i / n * k + j].to_f64() * b[j * n + i % n].to_f64()).sum::<f64>();
    let difference = Difference::between(c.iter().map(|&number| f64::from(number)), (0..m * n).map(element));
    assert!(difference.unusable == 0 && difference.relative <= 1e-5, "{unit} {tile} {difference:?}");
}

#[test]
fn matmul_with_every_number_of_warps_and_depth() {
    for unit in [Unit::M8N8K4, Unit::Fma] {
        let all = matmul::tiles(&volta(), unit, DType::F16);
        for tile in of_each_kind(&all, |tile| (tile.warps, tile.block_k)) {
            check_matmul(unit, tile);
        }
    }
}
