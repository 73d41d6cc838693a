//! Which part of the chip multiplies: a matrix unit, or the ordinary FMA pipes.
//!
//! Of the matrix units that the profile declares, the first is taken of which a tile fits the task and that takes operands
//! of this type. Otherwise a kernel runs on FMA, which every chip and every operand type has. With `volta.yml`, f16
//! operands get m8n8k4; the same tensors in f32 get FMA. No code names a chip: the profile says it all.

use crate::chip;
use quadpair::DType;
use quadpair::layouts::mma::{FMA, M8N8K4, M16N8K8, M16N8K16, WGMMA};
use quadpair_profiles::Profile;
use std::fmt;

/// What a kernel computes its products with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unit {
    /// The matrix unit's `mma.m8n8k4`: f16 operands, f32 accumulators.
    M8N8K4,
    /// The matrix unit's `mma.m16n8k8`: f16 operands, from sm_80 on bf16 too, f32 accumulators.
    M16N8K8,
    /// The matrix unit's `mma.m16n8k16`: f16 or bf16 operands, f32 accumulators.
    M16N8K16,
    /// Hopper's `wgmma`: f16 or bf16 operands from shared memory, f32 accumulators.
    Wgmma,
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
    #[error("profile {profile} declares no {unit} unit; what it can run is {}", names(.declared))]
    Missing {
        /// The unit asked for.
        unit: Unit,
        /// The profile's name.
        profile: String,
        /// The units that the profile declares, and FMA.
        declared: Vec<Unit>,
    },
    /// It doesn't take operands of this type.
    #[error(
        "the {unit} unit of profile {profile} takes {} operands, these are {dtype}; fma takes f16, bf16 and f32",
        names(.takes)
    )]
    Operands {
        /// The unit asked for.
        unit: Unit,
        /// The profile's name.
        profile: String,
        /// The types that it takes.
        takes: Vec<&'static str>,
        /// The type of the operands.
        dtype: &'static str,
    },
}

/// `a, b and c`.
fn names(all: &[impl fmt::Display]) -> String {
    let all: Vec<String> = all.iter().map(ToString::to_string).collect();
    match all.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => all.concat(),
    }
}

impl Unit {
    /// The matrix units.
    pub const MATRIX: [Unit; 4] = [Unit::M8N8K4, Unit::M16N8K8, Unit::M16N8K16, Unit::Wgmma];

    /// All units.
    pub const ALL: [Unit; 5] = [Unit::M8N8K4, Unit::M16N8K8, Unit::M16N8K16, Unit::Wgmma, Unit::Fma];

    /// The name that profiles, options and reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::M8N8K4 => M8N8K4.name,
            Unit::M16N8K8 => M16N8K8.name,
            Unit::M16N8K16 => M16N8K16.name,
            Unit::Wgmma => WGMMA,
            Unit::Fma => FMA.name,
        }
    }

    /// Whether every chip that has it copies from global to shared memory by itself, so that tiles of aligned rows come that
    /// way.
    pub const fn copies(self) -> bool {
        matches!(self, Unit::M16N8K16 | Unit::Wgmma)
    }

    /// Whether it takes operands from shared memory, not from registers.
    pub const fn reads_shared(self) -> bool {
        matches!(self, Unit::Wgmma)
    }

    /// The unit of this name.
    pub fn named(name: &str) -> Option<Unit> {
        Unit::ALL.into_iter().find(|unit| unit.name() == name)
    }

    /// The units that a profile's chip can run, the best first; FMA is the last.
    pub fn of(profile: &Profile) -> Vec<Unit> {
        chip::units(profile).chain([Unit::Fma]).collect()
    }

    /// The operand types of the unit on a profile's chip, by name; none if the profile doesn't declare the unit.
    pub fn operands(self, profile: &Profile) -> Vec<&'static str> {
        chip::operands(profile, self).unwrap_or_default().iter().map(|dtype| dtype.name()).collect()
    }

    /// Whether the profile's chip has the unit, for operands of this type.
    fn check(self, profile: &Profile, dtype: DType) -> Result<(), UnitError> {
        let name = || profile.name.clone();
        match chip::operands(profile, self) {
            None => Err(UnitError::Missing { unit: self, profile: name(), declared: Unit::of(profile) }),
            Some(takes) if takes.contains(&dtype) => Ok(()),
            Some(_) => {
                let (takes, dtype) = (self.operands(profile), dtype.name());
                Err(UnitError::Operands { unit: self, profile: name(), takes, dtype })
            }
        }
    }
}

impl UnitChoice {
    /// The unit for operands of a type; `fits` tells whether a matrix unit of the profile has a tile for the task.
    ///
    /// # Errors
    /// The chip lacks the unit that was asked for, or that doesn't take such operands.
    pub fn choose(self, profile: &Profile, dtype: DType, fits: impl Fn(Unit) -> bool) -> Result<Unit, UnitError> {
        match self {
            UnitChoice::Only(unit) => unit.check(profile, dtype).map(|()| unit),
            UnitChoice::Auto => {
                let can = |unit: &Unit| unit.check(profile, dtype).is_ok() && fits(*unit);
                Ok(chip::units(profile).find(can).unwrap_or(Unit::Fma))
            }
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

    const VOLTAS: UnitChoice = UnitChoice::Only(Unit::M8N8K4);

    fn choose(choice: UnitChoice, profile: &str, dtype: DType, fits: bool) -> Result<Unit, String> {
        let profile = Profile::by_name(profile).unwrap();
        choice.choose(&profile, dtype, |_| fits).map_err(|error| error.to_string())
    }

    #[test]
    fn auto_takes_a_matrix_unit_where_profile_type_and_tile_allow() {
        assert_eq!(choose(UnitChoice::Auto, "volta", DType::F16, true), Ok(Unit::M8N8K4));
        assert_eq!(choose(UnitChoice::Auto, "volta", DType::F16, false), Ok(Unit::Fma));
        assert_eq!(choose(UnitChoice::Auto, "volta", DType::BF16, true), Ok(Unit::Fma));
        assert_eq!(choose(UnitChoice::Auto, "turing", DType::F16, true), Ok(Unit::M16N8K8));
        assert_eq!(choose(UnitChoice::Auto, "turing", DType::BF16, true), Ok(Unit::Fma));
        for dtype in [DType::F16, DType::BF16] {
            assert_eq!(choose(UnitChoice::Auto, "ampere", dtype, true), Ok(Unit::M16N8K16));
        }
        assert_eq!(choose(UnitChoice::Auto, "ampere", DType::F32, true), Ok(Unit::Fma));
    }

    #[test]
    fn auto_takes_the_first_declared_unit_that_fits() {
        let mut profile = Profile::by_name("ampere").unwrap();
        let second = quadpair_profiles::MatrixUnit { shape: "m16n8k8".into(), ..profile.matrix_units[0].clone() };
        profile.matrix_units.push(second);
        let chosen = |fits: fn(Unit) -> bool| UnitChoice::Auto.choose(&profile, DType::F16, fits);
        assert_eq!(chosen(|_| true), Ok(Unit::M16N8K16));
        assert_eq!(chosen(|unit| unit == Unit::M16N8K8), Ok(Unit::M16N8K8));
        assert_eq!(Unit::of(&profile), [Unit::M16N8K16, Unit::M16N8K8, Unit::Fma]);
    }

    #[test]
    fn a_unit_that_cannot_be_had_is_an_error_that_says_what_can() {
        assert_eq!(choose(VOLTAS, "volta", DType::F16, true), Ok(Unit::M8N8K4));
        let missing = "profile ampere declares no m8n8k4 unit; what it can run is m16n8k16 and fma";
        assert_eq!(choose(VOLTAS, "ampere", DType::F16, true), Err(missing.into()));
        let operands =
            "the m8n8k4 unit of profile volta takes f16 operands, these are f32; fma takes f16, bf16 and f32";
        assert_eq!(choose(VOLTAS, "volta", DType::F32, true), Err(operands.into()));
        let both = choose(UnitChoice::Only(Unit::M16N8K16), "ampere", DType::F32, true).unwrap_err();
        assert!(both.contains("takes f16 and bf16 operands, these are f32"), "{both}");
    }

    #[test]
    fn units_are_found_by_their_names() {
        for unit in Unit::ALL {
            assert_eq!(Unit::named(unit.name()), Some(unit));
        }
        assert!(Unit::MATRIX.iter().all(|unit| Unit::ALL.contains(unit)) && !Unit::MATRIX.contains(&Unit::Fma));
    }
}
