//! Which kernel a product gets: the unit that multiplies and the tile it works in.

use super::MatmulError;
use crate::chip;
use crate::unit::{Unit, UnitChoice};
use quadpair::DType;
use quadpair_profiles::Profile;

/// What to prepare a product for; the default is the profile's own choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatmulConfig {
    /// The unit that multiplies.
    pub unit: UnitChoice,
    /// Rows, columns and depth of a tile; `None` takes the profile's.
    pub tile: Option<(usize, usize, usize)>,
}

/// A unit and a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub unit: Unit,
    /// Rows, columns, depth.
    pub tile: (usize, usize, usize),
}

/// The tiles (rows, columns, depth) that matmul has kernels for on a unit.
pub const fn tiles(unit: Unit) -> &'static [(usize, usize, usize)] {
    match unit {
        Unit::M8N8K4 => &[(64, 64, 32), (128, 64, 32), (64, 128, 32), (128, 128, 32), (256, 128, 32), (128, 256, 32)],
        Unit::Fma => &[(32, 32, 32), (64, 64, 16), (64, 64, 32)],
    }
}

/// Warps of a block. The matrix unit's have 64 x 64 elements each where the tile has room for four of them.
pub(crate) const fn warps(unit: Unit, (block_m, block_n, _): (usize, usize, usize)) -> usize {
    match unit {
        Unit::M8N8K4 if block_m * block_n >= 8 * 64 * 64 => 8,
        Unit::M8N8K4 | Unit::Fma => 4,
    }
}

/// Chooses unit and tile for operands of a type.
pub(crate) fn choose(profile: &Profile, dtype: DType, config: &MatmulConfig) -> Result<Choice, MatmulError> {
    let fits = chip::matmul_tile(profile, Unit::M8N8K4).is_some();
    let unit = config.unit.choose(profile, dtype, fits)?;
    let tile = config.tile.or_else(|| chip::matmul_tile(profile, unit));
    let none = || MatmulError::Tile { unit, tile: (0, 0, 0), profile: profile.name.clone(), runs: Vec::new() };
    Ok(Choice { unit, tile: tile.ok_or_else(none)? })
}
