//! `quadpair ptx`: the PTX text that would run.

use super::error::CliError;
use super::options::{Chip, Tile};
use super::output::{PendingFile, print};
use clap::ValueEnum;
use half::f16;
use quadpair::Target;
use quadpair_kernels::attention::{Attention, AttentionConfig};
use quadpair_kernels::matmul::{Matmul, MatmulConfig};
use quadpair_kernels::vector_add::VECTOR_ADD;
use quadpair_profiles::Profile;
use std::path::PathBuf;

/// Print the PTX of a kernel as it would run on a profile's chip.
///
/// Flash attention is the kernel for f16 operands without a bias, matmul the one for f16 operands, both for rows that
/// start at multiples of 16 bytes.
#[derive(Debug, clap::Args)]
pub struct Ptx {
    /// The kernel
    #[arg(value_name = "KERNEL")]
    kernel: KernelName,
    #[command(flatten)]
    chip: Chip,
    /// Head dim of flash_attention
    #[arg(long, value_name = "D", default_value_t = 64)]
    head_dim: usize,
    /// The tile: MxN for flash_attention, MxNxK for matmul [default: the profile's]
    #[arg(long, value_name = "TILE")]
    tile: Option<Tile>,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The kernels by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum KernelName {
    /// Sum of two vectors
    VectorAdd,
    /// Matrix product
    Matmul,
    /// Attention
    FlashAttention,
}

impl Ptx {
    /// Makes the kernel and prints its text.
    pub fn run(&self) -> Result<(), CliError> {
        let profile = self.chip.profile_or_volta()?;
        let text = match self.kernel {
            KernelName::VectorAdd => self.vector_add(&profile)?,
            KernelName::Matmul => self.matmul(&profile)?,
            KernelName::FlashAttention => self.attention(&profile)?,
        };
        match &self.output {
            Some(path) => PendingFile::create(path)?.write(text.as_bytes()),
            None => print(&text),
        }
    }

    fn vector_add(&self, profile: &Profile) -> Result<String, CliError> {
        match &self.tile {
            Some(tile) => Err(tile.wrong("vector_add", "none")),
            None => Ok(VECTOR_ADD.program(Target::from(profile))?.ptx.clone()),
        }
    }

    fn matmul(&self, profile: &Profile) -> Result<String, CliError> {
        let tile = self.tile.as_ref().map(Tile::matmul).transpose()?;
        let matmul = Matmul::<f16>::new(profile, MatmulConfig { unit: self.chip.unit.0, tile })?;
        Ok(matmul.program(true)?.ptx.clone())
    }

    fn attention(&self, profile: &Profile) -> Result<String, CliError> {
        let tile = self.tile.as_ref().map(Tile::attention).transpose()?;
        let config = AttentionConfig { unit: self.chip.unit.0, tile, ..AttentionConfig::new(self.head_dim) };
        let attention = Attention::<f16, f32>::new(profile, config)?;
        Ok(attention.program(false, true)?.ptx.clone())
    }
}
