//! Which part of the chip multiplies: the m8n8k4 matrix unit, or the ordinary FMA pipes.
//!
//! The matrix unit is taken when the profile declares it, one of its tiles fits the task, and the operands are of the
//! type that it takes. Otherwise a kernel runs on FMA, which every chip and every operand type has. With `volta.yml`, f16
//! operands get m8n8k4; the same tensors in f32 get FMA. No code names a chip: the profile says it all.

use crate::chip;
use quadpair::DType;
use quadpair_profiles::Profile;
use std::fmt;

/// What a kernel computes its products with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// The matrix unit's `mma.m8n8k4`: f16 operands, f32 accumulators.
    M8N8K4,
    /// The matrix unit's `mma.m16n8k8`: f16 operands, f32 accumulators.
    M16N8K8,
    /// The matrix unit's `mma.m16n8k16`: f16 or bf16 operands, f32 accumulators.
    M16N8K16,
    /// Fused multiply-add, one product a thread at a time: every chip, every operand type.
    Fma,
}

/// What a caller asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnitChoice {
    /// The matrix unit where it can be had, else FMA.
    #[default]
    Auto,
    /// This one or an error.
    Only(Unit),
}

/// Why a unit that was asked for can't be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnitError {
    /// The profile's chip lacks it.
    #[error("profile {profile} declares no {unit} unit; what it can run is fma")]
    Missing {
        /// The unit asked for.
        unit: Unit,
        /// The profile's name.
        profile: String,
    },
    /// It doesn't take operands of this type.
    #[error(
        "the {unit} unit of profile {profile} takes {takes} operands, these are {dtype}; fma takes f16, bf16 and f32"
    )]
    Operands {
        /// The unit asked for.
        unit: Unit,
        /// The profile's name.
        profile: String,
        /// The type that it takes.
        takes: &'static str,
        /// The type of the operands.
        dtype: &'static str,
    },
}

impl Unit {
    /// The name that profiles, options and reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::M8N8K4 => "m8n8k4",
            Unit::M16N8K8 => "m16n8k8",
            Unit::M16N8K16 => "m16n8k16",
            Unit::Fma => "fma",
        }
    }

    /// Whether the profile's chip has the unit, for operands of this type.
    fn check(self, profile: &Profile, dtype: DType) -> Result<(), UnitError> {
        if self == Unit::Fma {
            return Ok(());
        }
        match chip::operands(profile, self) {
            None => Err(UnitError::Missing { unit: self, profile: profile.name.clone() }),
            Some(takes) if takes != dtype => {
                let (takes, dtype) = (takes.name(), dtype.name());
                Err(UnitError::Operands { unit: self, profile: profile.name.clone(), takes, dtype })
            }
            Some(_) => Ok(()),
        }
    }
}

impl UnitChoice {
    /// The unit for operands of a type; `fits` tells whether the profile's matrix unit has a tile for the task.
    ///
    /// # Errors
    /// The chip lacks the unit that was asked for, or that doesn't take such operands.
    pub fn choose(self, profile: &Profile, dtype: DType, fits: bool) -> Result<Unit, UnitError> {
        match self {
            UnitChoice::Only(unit) => unit.check(profile, dtype).map(|()| unit),
            UnitChoice::Auto if fits && Unit::M8N8K4.check(profile, dtype).is_ok() => Ok(Unit::M8N8K4),
            UnitChoice::Auto => Ok(Unit::Fma),
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const M8N8K4: UnitChoice = UnitChoice::Only(Unit::M8N8K4);

    fn choose(choice: UnitChoice, profile: &str, dtype: DType, fits: bool) -> Result<Unit, String> {
        let profile = Profile::by_name(profile).unwrap();
        choice.choose(&profile, dtype, fits).map_err(|error| error.to_string())
    }

    #[test]
    fn auto_takes_the_matrix_unit_where_profile_type_and_tile_allow() {
        assert_eq!(choose(UnitChoice::Auto, "volta", DType::F16, true), Ok(Unit::M8N8K4));
        assert_eq!(choose(UnitChoice::Auto, "volta", DType::F16, false), Ok(Unit::Fma));
        assert_eq!(choose(UnitChoice::Auto, "volta", DType::BF16, true), Ok(Unit::Fma));
        assert_eq!(choose(UnitChoice::Auto, "hopper", DType::F16, true), Ok(Unit::Fma));
    }

    #[test]
    fn a_unit_that_cannot_be_had_is_an_error_that_says_what_can() {
        assert_eq!(choose(M8N8K4, "volta", DType::F16, true), Ok(Unit::M8N8K4));
        let missing = "profile hopper declares no m8n8k4 unit; what it can run is fma";
        assert_eq!(choose(M8N8K4, "hopper", DType::F16, true), Err(missing.into()));
        let operands =
            "the m8n8k4 unit of profile volta takes f16 operands, these are f32; fma takes f16, bf16 and f32";
        assert_eq!(choose(M8N8K4, "volta", DType::F32, true), Err(operands.into()));
    }
}
