//! What the kernels ask a profile; the only place that knows how a profile says it.

use crate::unit::Unit;
use quadpair::DType;
use quadpair_profiles::Profile;

/// The profile's name.
pub(crate) fn name(profile: &Profile) -> String {
    profile.name.clone()
}

/// The operand type of the profile's m8n8k4 unit, if it declares one.
pub(crate) fn m8n8k4_operands(profile: &Profile) -> Option<DType> {
    profile.unit.as_ref().map(|_| DType::F16)
}

/// Query rows and keys of the profile's attention tile for a head dim; `None` if the unit has none that reaches it.
pub(crate) fn flash_tile(profile: &Profile, unit: Unit, head_dim: usize) -> Option<(usize, usize)> {
    let _ = head_dim;
    match unit {
        Unit::M8N8K4 => profile.unit.as_ref().map(|_| (64, 32)),
        Unit::Fma => Some((32, 32)),
    }
}

/// Rows, columns and depth of the profile's matmul tile; `None` if the unit has none.
pub(crate) fn matmul_tile(profile: &Profile, unit: Unit) -> Option<(usize, usize, usize)> {
    match unit {
        Unit::M8N8K4 => profile.unit.as_ref().map(|_| (64, 64, 32)),
        Unit::Fma => Some((64, 64, 32)),
    }
}
