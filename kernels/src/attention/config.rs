//! Which kernel a request gets: the unit that multiplies and the tile it works in.
//!
//! The profile's tiles are listed by the head dim that they reach. With `volta.yml`, f16 operands at head dim 96 get
//! m8n8k4 and the 64 x 32 tile; a matrix unit whose tiles don't reach the head dim is left for FMA.

use super::AttentionError;
use crate::chip;
use crate::unit::{Unit, UnitChoice};
use quadpair::DType;
use quadpair_profiles::Profile;

/// What to prepare attention for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionConfig {
    /// Elements of a row of q, k and v: a multiple of 8 from 8 to 256.
    pub head_dim: usize,
    /// The unit that multiplies.
    pub unit: UnitChoice,
    /// Query rows and keys of a tile; `None` takes the profile's.
    pub tile: Option<(usize, usize)>,
    /// Where the softmax scale goes.
    pub scaling: Scaling,
}

/// Where the softmax scale is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scaling {
    /// On the scores, in float32: the accurate way.
    #[default]
    Scores,
    /// On q, which is then rounded to its own type: one multiplication less a score, for programs that did so before.
    RoundedQuery,
}

impl AttentionConfig {
    /// The profile's own choice for a head dim.
    pub fn new(head_dim: usize) -> Self {
        Self { head_dim, unit: UnitChoice::Auto, tile: None, scaling: Scaling::Scores }
    }
}

/// A unit and a tile that has a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub unit: Unit,
    /// Query rows and keys.
    pub tile: (usize, usize),
}

/// The tiles (query rows, keys) that attention has kernels for on a unit, smallest first.
///
/// How large a tile a chip can hold depends on the head dim and on the operands' type.
pub const fn tiles(unit: Unit) -> &'static [(usize, usize)] {
    match unit {
        Unit::M8N8K4 => &[(32, 32), (32, 64), (64, 32), (64, 64), (128, 32), (64, 128), (128, 64)],
        Unit::Fma => &[(16, 16), (16, 32), (32, 32), (32, 64), (64, 32), (64, 64)],
    }
}

/// The largest head dim that a tile of a unit has registers for: beyond it the assembler would spill.
pub const fn most_head_dim(unit: Unit, tile: (usize, usize)) -> usize {
    match (unit, tile) {
        (Unit::Fma, _) | (Unit::M8N8K4, (64, 32)) => 256,
        (Unit::M8N8K4, (64, 128)) => 64,
        (Unit::M8N8K4, _) => 128,
    }
}

/// Query rows that a warp owns.
pub(crate) const fn rows_per_warp(unit: Unit) -> usize {
    match unit {
        Unit::M8N8K4 => 16,
        Unit::Fma => 8,
    }
}

/// Chooses unit and tile for operands of a type.
pub(crate) fn choose(profile: &Profile, dtype: DType, config: &AttentionConfig) -> Result<Choice, AttentionError> {
    let head_dim = config.head_dim;
    if head_dim == 0 || head_dim > 256 || !head_dim.is_multiple_of(8) {
        return Err(AttentionError::HeadDim { head_dim });
    }
    let fits = chip::flash_tile(profile, Unit::M8N8K4, head_dim).is_some();
    let unit = config.unit.choose(profile, dtype, fits)?;
    let tile = config.tile.or_else(|| chip::flash_tile(profile, unit, head_dim));
    let tile =
        tile.ok_or_else(|| AttentionError::HeadDimUncovered { unit, profile: profile.name.clone(), head_dim })?;
    Ok(Choice { unit, tile })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::Attention;
    use half::f16;

    fn prepare(profile: &str, config: AttentionConfig) -> Result<(Unit, (usize, usize)), String> {
        let profile = Profile::by_name(profile).unwrap();
        let attention = Attention::<f16, f32>::new(&profile, config).map_err(|error| error.to_string())?;
        Ok((attention.unit(), attention.tile()))
    }

    #[test]
    fn the_profile_decides() {
        assert_eq!(prepare("volta", AttentionConfig::new(96)), Ok((Unit::M8N8K4, (64, 32))));
        assert_eq!(prepare("hopper", AttentionConfig::new(96)).unwrap().0, Unit::Fma);
    }

    #[test]
    fn head_dims_are_multiples_of_8_up_to_256() {
        for head_dim in [0, 4, 12, 260, 264] {
            let message = format!("head dim {head_dim} is not supported: it has to be a multiple of 8 from 8 to 256");
            assert_eq!(prepare("volta", AttentionConfig::new(head_dim)), Err(message));
        }
    }

    #[test]
    fn a_tile_without_a_kernel_is_an_error_that_lists_what_runs() {
        let config = AttentionConfig { tile: Some((48, 32)), ..AttentionConfig::new(64) };
        let error = prepare("volta", config).unwrap_err();
        let start = "no m8n8k4 kernel has a 48x32 tile at head dim 64 on volta; these run: ";
        assert!(error.starts_with(start) && error.contains("64x32"), "{error}");
    }
}
