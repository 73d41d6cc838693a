//! What the kernels ask a profile.

use crate::unit::Unit;
use quadpair::DType;
use quadpair_profiles::{Dtype, FlashTile, MatmulTile, Profile};

/// The attention tile of a unit for a head dim, if the profile has one.
pub(crate) fn flash_tile(profile: &Profile, unit: Unit, head_dim: usize) -> Option<FlashTile> {
    match unit {
        Unit::Fma => profile.fma.flash_tile(head_dim),
        _ => declared(profile, unit)?.flash_tile(head_dim),
    }
}

/// The matmul tile of a unit, if the profile has one.
pub(crate) fn matmul_tile(profile: &Profile, unit: Unit) -> Option<MatmulTile> {
    match unit {
        Unit::Fma => Some(profile.fma.matmul),
        _ => Some(declared(profile, unit)?.matmul),
    }
}

/// The operand type of a matrix unit, where the profile declares it.
pub(crate) fn operands(profile: &Profile, unit: Unit) -> Option<DType> {
    declared(profile, unit).map(|unit| match unit.operand_dtype {
        Dtype::Float16 => DType::F16,
        Dtype::BFloat16 => DType::BF16,
        Dtype::Float32 => DType::F32,
    })
}

fn declared(profile: &Profile, unit: Unit) -> Option<&quadpair_profiles::MatrixUnit> {
    profile.matrix_unit.as_ref().filter(|own| own.shape == unit.name())
}
