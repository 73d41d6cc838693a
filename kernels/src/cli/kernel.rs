//! Which kernel a subcommand is about, with its size and tile; kernels by name in layout expressions.

use super::error::CliError;
use super::options::{Chip, Tile};
use clap::ValueEnum;
use half::f16;
use quadpair::inspect::expression::Value;
use quadpair::inspect::values;
use quadpair::ir::Function;
use quadpair::{KernelError, Program, Target, record};
use quadpair_kernels::attention::{Attention, AttentionConfig, FLASH_64, FLASH_64_FMA, FLASH_96, FLASH_128, FLASH_256};
use quadpair_kernels::matmul::{Matmul, MatmulConfig};
use quadpair_kernels::vector_add::VECTOR_ADD;
use quadpair_profiles::Profile;
use std::path::Path;
use std::sync::Arc;

/// A kernel, its size and its tile.
#[derive(Debug, clap::Args)]
pub struct KernelChoice {
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

/// A kernel made for a chip.
pub struct Made {
    /// Its tile IR.
    pub function: Function,
    /// Its text.
    pub program: Arc<Program>,
}

impl KernelChoice {
    /// Makes the kernel that was asked for.
    pub fn make(&self) -> Result<Made, CliError> {
        let profile = self.chip.profile_or_volta()?;
        match self.kernel {
            KernelName::VectorAdd => self.vector_add(&profile),
            KernelName::Matmul => self.matmul(&profile),
            KernelName::FlashAttention => self.attention(&profile),
        }
    }

    fn vector_add(&self, profile: &Profile) -> Result<Made, CliError> {
        if let Some(tile) = &self.tile {
            return Err(tile.wrong("vector_add", "none"));
        }
        let function = record(VECTOR_ADD.kernel()).map_err(KernelError::from)?;
        Ok(Made { function, program: VECTOR_ADD.program(Target::from(profile))? })
    }

    fn matmul(&self, profile: &Profile) -> Result<Made, CliError> {
        let tile = self.tile.as_ref().map(Tile::matmul).transpose()?;
        let matmul = Matmul::<f16>::new(profile, MatmulConfig { unit: self.chip.unit.0, tile })?;
        Ok(Made { function: matmul.function(true)?, program: matmul.program(true)? })
    }

    fn attention(&self, profile: &Profile) -> Result<Made, CliError> {
        let tile = self.tile.as_ref().map(Tile::attention).transpose()?;
        let config = AttentionConfig { unit: self.chip.unit.0, tile, ..AttentionConfig::new(self.head_dim) };
        let attention = Attention::<f16, f32>::new(profile, config)?;
        Ok(Made { function: attention.function(false, true)?, program: attention.program(false, true)? })
    }
}

/// Traces a kernel.
type Trace = fn() -> Result<Function, CliError>;

/// The instances that a layout expression can name.
fn instances() -> [(&'static str, Trace); 7] {
    [
        (VECTOR_ADD.name(), || traced(record(VECTOR_ADD.kernel()))),
        ("MATMUL", || Ok(Matmul::<f16>::new(&Profile::by_name("volta")?, MatmulConfig::default())?.function(true)?)),
        (FLASH_64.name(), || traced(record(FLASH_64.kernel()))),
        (FLASH_96.name(), || traced(record(FLASH_96.kernel()))),
        (FLASH_128.name(), || traced(record(FLASH_128.kernel()))),
        (FLASH_256.name(), || traced(record(FLASH_256.kernel()))),
        (FLASH_64_FMA.name(), || traced(record(FLASH_64_FMA.kernel()))),
    ]
}

fn traced(function: Result<Function, quadpair::lang::TraceError>) -> Result<Function, CliError> {
    Ok(function.map_err(KernelError::from)?)
}

/// The names of the instances.
pub fn instance_names() -> Vec<&'static str> {
    instances().map(|(name, _)| name).to_vec()
}

/// The layout of an instance's value: what `FLASH_96:scores` stands for.
pub fn lookup(instance: &str, value: &str) -> Result<Value, String> {
    let Some((_, trace)) = instances().into_iter().find(|(name, _)| *name == instance) else {
        return Err(format!("there is no instance `{instance}`; there are {}", instance_names().join(", ")));
    };
    let function = trace().map_err(|error| error.line())?;
    values::find(&function, value, &source)
}

/// The text of a source file. Kernels name theirs from the workspace's folder, so that one or one above is looked in.
pub fn source(file: &str) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find_map(|folder: &Path| std::fs::read_to_string(folder.join(file)).ok())
}
