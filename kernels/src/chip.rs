//! What the kernels ask a profile.

use crate::unit::Unit;
use quadpair::DType;
use quadpair_profiles::{Dtype, FlashTile, MatmulTile, Profile};

/// The attention tile of a unit for a head dim, if the profile has one.
pub(crate) fn flash_tile(profile: &Profile, unit: Unit, head_dim: usize) -> Option<FlashTile> {
    match unit {
        Unit::M8N8K4 => m8n8k4(profile)?.flash_tile(head_dim),
        Unit::Fma => profile.fma.flash_tile(head_dim),
    }
}

/// The matmul tile of a unit, if the profile has one.
pub(crate) fn matmul_tile(profile: &Profile, unit: Unit) -> Option<MatmulTile> {
    match unit {
        Unit::M8N8K4 => Some(m8n8k4(profile)?.matmul),
        Unit::Fma => Some(profile.fma.matmul),
    }
}

/// The operand type of the m8n8k4 unit, where the profile declares it.
pub(crate) fn m8n8k4_operands(profile: &Profile) -> Option<DType> {
    m8n8k4(profile).map(|unit| match unit.operand_dtype {
        Dtype::Float16 => DType::F16,
        Dtype::BFloat16 => DType::BF16,
        Dtype::Float32 => DType::F32,
    })
}

fn m8n8k4(profile: &Profile) -> Option<&quadpair_profiles::MatrixUnit> {
    profile.matrix_unit.as_ref().filter(|unit| unit.shape == Unit::M8N8K4.name())
}
