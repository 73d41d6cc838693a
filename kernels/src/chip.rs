//! What the kernels ask a profile.

use crate::unit::Unit;
use quadpair::DType;
use quadpair_profiles::{Dtype, FlashTile, MatmulTile, Profile};

/// The attention tile of a unit for a head dim and any number of rows, if the profile has one.
pub(crate) fn flash_tile(profile: &Profile, unit: Unit, head_dim: usize) -> Option<FlashTile> {
    profile.flash_tile(unit.name(), head_dim, usize::MAX)
}

/// The attention tiles of a unit for a head dim that are for few rows, in the order in which they are asked.
pub(crate) fn flash_tiles_for_few(profile: &Profile, unit: Unit, head_dim: usize) -> Vec<FlashTile> {
    let all = profile.tiles(unit.name()).map_or(&[][..], |(flash, _)| flash);
    let reaching = all.iter().filter(|tile| tile.reaches(head_dim, 0)).copied();
    reaching.take_while(|tile| tile.rows_le.is_some()).collect()
}

/// The matmul tile of a unit, if the profile has one.
pub(crate) fn matmul_tile(profile: &Profile, unit: Unit) -> Option<MatmulTile> {
    profile.tiles(unit.name()).map(|(_, matmul)| *matmul)
}

/// The matrix units that a profile declares, the best first.
pub(crate) fn units(profile: &Profile) -> impl Iterator<Item = Unit> {
    profile.matrix_units.iter().filter_map(|own| Unit::named(&own.shape))
}

/// The operand types of a unit, where the profile declares it.
pub(crate) fn operands(profile: &Profile, unit: Unit) -> Option<Vec<DType>> {
    if unit == Unit::Fma {
        return Some(vec![DType::F16, DType::BF16, DType::F32]);
    }
    let of = |dtype: &Dtype| match dtype {
        Dtype::Float16 => DType::F16,
        Dtype::BFloat16 => DType::BF16,
        Dtype::Float32 => DType::F32,
    };
    Some(profile.matrix_unit(unit.name())?.operand_dtypes.iter().map(of).collect())
}
