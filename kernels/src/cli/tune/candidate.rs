//! Which tiles are tried for a problem.
//!
//! A kernel's own list says which exist and fit. Many of these can't win, and aren't tried: a thread has enough sums for the
//! loads of a tile to be worth it; a block of attention has 4 or 8 warps, so that each sub-partition has as many, and chunks
//! of 32 columns or more: narrower ones have a barrier for too few products.

use quadpair::DType;
use quadpair_kernels::unit::Unit;
use quadpair_kernels::{attention, matmul};
use quadpair_profiles::{FlashTile, MatmulTile, Profile};
use serde::Serialize;
use std::fmt;

/// What a tile is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kernel", rename_all = "snake_case")]
pub enum Problem {
    /// Attention at a head dim.
    #[serde(rename = "flash_attention")]
    Attention { head_dim: usize },
    /// A matrix product.
    Matmul,
}

/// A tile to be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Candidate {
    Attention(FlashTile),
    Matmul(MatmulTile),
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Attention { head_dim } => write!(f, "flash_attention, D {head_dim}"),
            Problem::Matmul => f.write_str("matmul"),
        }
    }
}

/// As a profile has it.
impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Candidate::Attention(tile) => tile.fmt(f),
            Candidate::Matmul(tile) => tile.fmt(f),
        }
    }
}

/// The tiles that are tried.
pub fn candidates(profile: &Profile, unit: Unit, problem: Problem) -> Vec<Candidate> {
    match problem {
        Problem::Attention { head_dim } => {
            let tiles = attention::tiles(profile, unit, DType::F16, head_dim).into_iter();
            tiles.filter(|tile| is_promising(unit, tile)).map(Candidate::Attention).collect()
        }
        Problem::Matmul => {
            let tiles = matmul::tiles(profile, unit, DType::F16).into_iter();
            tiles.filter(|tile| sums(unit, tile) >= 64).map(Candidate::Matmul).collect()
        }
    }
}

fn is_promising(unit: Unit, tile: &FlashTile) -> bool {
    let rows = tile.block_m / tile.warps;
    let (scores, output) = (tile.block_n * rows / 32, tile.head_dim_le * rows / 32);
    let is_wide = tile.chunk >= 32.min(tile.head_dim_le);
    let enough = match unit {
        Unit::Fma => scores >= 16 && tile.block_n >= 32,
        Unit::M8N8K4 => tile.block_m >= 64 && scores >= 32 && scores + output >= 80,
        Unit::M16N8K8 | Unit::M16N8K16 | Unit::Wgmma => tile.block_m >= 64 && scores >= 16 && scores + output >= 64,
    };
    matches!(tile.warps, 4 | 8) && is_wide && enough
}

/// Sums of a thread; of FMA each counts twice.
fn sums(unit: Unit, tile: &MatmulTile) -> usize {
    let own = tile.block_m * tile.block_n / (32 * tile.warps);
    if unit == Unit::Fma { 2 * own } else { own }
}

impl Candidate {
    /// The profile with this tile as the only one of the unit.
    pub fn alone(&self, profile: &Profile, unit: Unit) -> Profile {
        let mut alone = profile.clone();
        if let Some((flash, product)) = alone.tiles_mut(unit.name()) {
            match *self {
                Candidate::Attention(tile) => *flash = vec![tile],
                Candidate::Matmul(tile) => *product = tile,
            }
        }
        alone
    }

    /// The share of the columns computed that the problem has: a head dim is filled up to whole chunks.
    pub fn useful(&self) -> f64 {
        match self {
            Candidate::Attention(tile) => {
                tile.head_dim_le as f64 / tile.head_dim_le.next_multiple_of(tile.chunk) as f64
            }
            Candidate::Matmul(_) => 1.0,
        }
    }

    /// What a block has of the output: the less it is, the more blocks share a problem out.
    pub fn share(&self) -> usize {
        match self {
            Candidate::Attention(tile) => tile.block_m,
            Candidate::Matmul(tile) => tile.block_m * tile.block_n,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;
    use quadpair_kernels::attention::{Attention, AttentionConfig};
    use quadpair_kernels::matmul::{Matmul, MatmulConfig};
    use quadpair_kernels::unit::UnitChoice;

    /// Each unit with a profile that declares it.
    fn units() -> Vec<(Profile, Unit)> {
        let all = Profile::shipped()
            .flat_map(|profile| Unit::of(&profile).into_iter().map(move |unit| (profile.clone(), unit)));
        all.filter(|(profile, unit)| *unit != Unit::Fma || profile.name == "volta").collect()
    }

    #[test]
    fn every_head_dim_has_some_candidates_but_not_too_many_to_try() {
        for (profile, unit) in units() {
            for head_dim in (8..=256).step_by(8) {
                let count = candidates(&profile, unit, Problem::Attention { head_dim }).len();
                assert!((1..=100).contains(&count), "{} {unit} D {head_dim}: {count}", profile.name);
            }
            let count = candidates(&profile, unit, Problem::Matmul).len();
            assert!((1..=80).contains(&count), "{unit}: {count}");
        }
    }

    #[test]
    fn what_the_profile_has_was_a_candidate() {
        for (profile, unit) in units().into_iter().filter(|(_, unit)| *unit != Unit::Fma) {
            let (flash, matmul) = profile.tiles(unit.name()).unwrap();
            for tile in flash.iter().copied().filter(|tile| tile.rows_le.is_none()) {
                let all = candidates(&profile, unit, Problem::Attention { head_dim: tile.head_dim_le });
                assert!(all.contains(&Candidate::Attention(tile)), "{} {tile}", profile.name);
            }
            assert!(candidates(&profile, unit, Problem::Matmul).contains(&Candidate::Matmul(*matmul)));
        }
    }

    #[test]
    fn a_kernel_takes_the_candidate_that_is_alone() {
        let volta = Profile::by_name("volta").unwrap();
        for unit in [Unit::M8N8K4, Unit::Fma] {
            let choice = UnitChoice::Only(unit);
            for candidate in candidates(&volta, unit, Problem::Attention { head_dim: 96 }).into_iter().step_by(5) {
                let config = AttentionConfig { unit: choice, ..AttentionConfig::new(96) };
                let attention = Attention::<f16, f32>::new(&candidate.alone(&volta, unit), config).unwrap();
                let Candidate::Attention(tile) = candidate else { panic!("{candidate:?}") };
                assert_eq!(attention.tile(), (tile.block_m, tile.block_n));
                assert_eq!(
                    attention.program(&quadpair_kernels::attention::Variant::default()).unwrap().threads() as usize,
                    32 * tile.warps
                );
            }
            for candidate in candidates(&volta, unit, Problem::Matmul).into_iter().step_by(5) {
                let config = MatmulConfig { unit: choice, ..MatmulConfig::default() };
                let product = Matmul::<f16>::new(&candidate.alone(&volta, unit), config).unwrap();
                let Candidate::Matmul(tile) = candidate else { panic!("{candidate:?}") };
                assert_eq!(product.tile(), (tile.block_m, tile.block_n, tile.block_k));
            }
        }
    }
}
