//! Options that several subcommands share, and how their values are read.

use super::error::CliError;
use quadpair_kernels::unit::{Unit, UnitChoice};
use quadpair_profiles::{Profile, ProfileError};
use std::fmt;
use std::str::FromStr;

/// Where a kernel runs and what it's made for.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Machine {
    /// Where to run: auto takes the first GPU, or the simulator if there is none
    #[arg(long, value_name = "auto|sim|cuda|cuda:N", default_value = "auto")]
    pub device: Device,
    #[command(flatten)]
    pub chip: Chip,
}

/// What a kernel is made for.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Chip {
    /// The chip to make the kernel for: a name from `quadpair list` or a YAML file [default: the GPU's own, or volta]
    #[arg(long, value_name = "NAME|FILE.yml")]
    pub profile: Option<String>,
    /// What multiplies: auto takes the first matrix unit that the profile declares for these operands, else fma
    #[arg(long, value_name = "auto|m8n8k4|m16n8k8|m16n8k16|wgmma|fma", default_value = "auto")]
    pub unit: UnitName,
}

impl Chip {
    /// The profile asked for, or volta.
    pub fn profile_or_volta(&self) -> Result<Profile, ProfileError> {
        Profile::resolve(self.profile.as_deref().unwrap_or("volta"))
    }
}

/// Where to run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The first GPU, else the simulator.
    #[default]
    Auto,
    /// The simulator.
    Simulator,
    /// The GPU with this number.
    Cuda(usize),
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "sim" => Ok(Self::Simulator),
            "cuda" => Ok(Self::Cuda(0)),
            _ => {
                let ordinal = text.strip_prefix("cuda:").and_then(|number| number.parse().ok());
                ordinal.map(Self::Cuda).ok_or_else(|| "it's auto, sim, cuda or cuda:N with a number N".into())
            }
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Simulator => f.write_str("sim"),
            Self::Cuda(ordinal) => write!(f, "cuda:{ordinal}"),
        }
    }
}

/// A choice of unit by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitName(pub UnitChoice);

impl FromStr for UnitName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match Unit::named(text) {
            Some(unit) => Ok(Self(UnitChoice::Only(unit))),
            None if text == "auto" => Ok(Self(UnitChoice::Auto)),
            None => Err(format!("it's auto or one of {}", Unit::ALL.map(Unit::name).join(", "))),
        }
    }
}

impl fmt::Display for UnitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            UnitChoice::Auto => f.write_str("auto"),
            UnitChoice::Only(unit) => unit.fmt(f),
        }
    }
}

/// A tile: extents with an x between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tile(Vec<usize>);

impl Tile {
    /// Query rows and keys of an attention tile.
    pub fn attention(&self) -> Result<(usize, usize), CliError> {
        match self.0[..] {
            [m, n] => Ok((m, n)),
            _ => Err(self.wrong("flash_attention", "two, as in 64x32: query rows and keys")),
        }
    }

    /// Rows, columns and depth of a matmul tile.
    pub fn matmul(&self) -> Result<(usize, usize, usize), CliError> {
        match self.0[..] {
            [m, n, k] => Ok((m, n, k)),
            _ => Err(self.wrong("matmul", "three, as in 64x64x32: rows, columns and depth")),
        }
    }

    /// The error for a kernel that has no tile of this form.
    pub fn wrong(&self, kernel: &'static str, form: &'static str) -> CliError {
        CliError::Tile { tile: self.to_string(), given: self.0.len(), kernel, form }
    }
}

impl FromStr for Tile {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let extents: Option<Vec<usize>> = text.split('x').map(|extent| extent.parse().ok()).collect();
        extents.map(Self).ok_or_else(|| "a tile is numbers with an x between them, such as 64x32".into())
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extents: Vec<String> = self.0.iter().map(usize::to_string).collect();
        f.write_str(&extents.join("x"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_read_and_printed_alike() {
        for (text, device) in [("auto", Device::Auto), ("sim", Device::Simulator), ("cuda:3", Device::Cuda(3))] {
            assert_eq!(text.parse(), Ok(device));
            assert_eq!(device.to_string(), text);
        }
        assert_eq!("cuda".parse(), Ok(Device::Cuda(0)));
        for wrong in ["", "gpu", "cuda:", "cuda:-1", "cuda:x"] {
            assert!(wrong.parse::<Device>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn units_are_read_and_printed_alike() {
        for text in Unit::ALL.map(Unit::name).into_iter().chain(["auto"]) {
            assert_eq!(text.parse::<UnitName>().unwrap().to_string(), text);
        }
        let error = "m16n8k32".parse::<UnitName>().unwrap_err();
        assert_eq!(error, "it's auto or one of m8n8k4, m16n8k8, m16n8k16, wgmma, fma");
    }

    #[test]
    fn tiles_have_the_extents_of_their_kernel() {
        assert_eq!("64x32".parse::<Tile>().unwrap().attention().unwrap(), (64, 32));
        assert_eq!("64x32x16".parse::<Tile>().unwrap().matmul().unwrap(), (64, 32, 16));
        let error = "64x32x16".parse::<Tile>().unwrap().attention().unwrap_err().to_string();
        assert!(error.starts_with("--tile 64x32x16 has 3 extents; flash_attention takes two"), "{error}");
        for wrong in ["", "x", "64x", "64X32", "-1x2"] {
            assert!(wrong.parse::<Tile>().is_err(), "{wrong}");
        }
    }
}
