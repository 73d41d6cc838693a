//! Which kernel a subcommand is about, with its size and tile; kernels by name in layout expressions.

use super::error::CliError;
use super::options::{Chip, Tile};
use clap::ValueEnum;
use half::f16;
use quadpair::inspect::expression::Value;
use quadpair::inspect::values;
use quadpair::ir::Function;
use quadpair::{Instance, Kernel, KernelError, Program, Target, record};
use quadpair_kernels::attention::{
    self, Attention, AttentionConfig, FLASH_64, FLASH_64_FMA, FLASH_64_M16N8K8, FLASH_96, FLASH_96_WGMMA, FLASH_128,
    FLASH_128_M16N8K16, FLASH_128_WGMMA, FLASH_256,
};
use quadpair_kernels::matmul::{Matmul, MatmulConfig, Order, Variant};
use quadpair_kernels::vector_add::VECTOR_ADD;
use quadpair_profiles::Profile;
use std::path::Path;
use std::sync::Arc;

/// The head dim of flash_attention where none is given.
const HEAD_DIM: usize = 64;

/// A kernel, its size and its tile.
#[derive(Debug, clap::Args)]
pub struct KernelChoice {
    /// The kernel
    #[arg(value_name = "KERNEL")]
    kernel: KernelName,
    #[command(flatten)]
    settings: Settings,
}

/// What a kernel is made for, its size and its tile.
#[derive(Clone, Debug, clap::Args)]
pub struct Settings {
    #[command(flatten)]
    pub chip: Chip,
    /// Head dim of flash_attention
    #[arg(long, value_name = "D", default_value_t = HEAD_DIM)]
    head_dim: usize,
    /// The tile: MxN for flash_attention, MxNxK for matmul [default: the profile's]
    #[arg(long, value_name = "TILE")]
    tile: Option<Tile>,
    /// flash_attention: mask the keys behind a query's own place, counted from the end
    #[arg(long)]
    causal: bool,
    /// Matmul: A lies column by column
    #[arg(long)]
    transpose_a: bool,
    /// Matmul: B lies column by column
    #[arg(long)]
    transpose_b: bool,
}

/// The kernels by name, and the instances that are built with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum KernelName {
    /// Sum of two vectors
    VectorAdd,
    /// Matrix product
    Matmul,
    /// Attention
    FlashAttention,
    /// Attention, head dim 64
    #[value(name = "FLASH_64")]
    Flash64,
    /// Attention, head dim 96
    #[value(name = "FLASH_96")]
    Flash96,
    /// Attention, head dim 128
    #[value(name = "FLASH_128")]
    Flash128,
    /// Attention, head dim 256
    #[value(name = "FLASH_256")]
    Flash256,
    /// Attention, head dim 64, on m16n8k8
    #[value(name = "FLASH_64_M16N8K8")]
    Flash64M16N8K8,
    /// Attention, head dim 128, on m16n8k16
    #[value(name = "FLASH_128_M16N8K16")]
    Flash128M16N8K16,
    /// Attention, head dim 96, on wgmma
    #[value(name = "FLASH_96_WGMMA")]
    Flash96Wgmma,
    /// Attention, head dim 128, on wgmma
    #[value(name = "FLASH_128_WGMMA")]
    Flash128Wgmma,
    /// Attention, head dim 64, on FMA
    #[value(name = "FLASH_64_FMA")]
    Flash64Fma,
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
        self.settings.make(self.kernel)
    }
}

impl Settings {
    /// Makes a kernel with these settings.
    pub fn make(&self, kernel: KernelName) -> Result<Made, CliError> {
        let default = || self.chip.profile_or_volta();
        match kernel {
            KernelName::VectorAdd => self.instance(&VECTOR_ADD, "vector_add"),
            KernelName::Matmul => self.matmul(&default()?),
            KernelName::FlashAttention => self.attention(&default()?),
            KernelName::Flash64 => self.instance(&FLASH_64, FLASH_64.name()),
            KernelName::Flash96 => self.instance(&FLASH_96, FLASH_96.name()),
            KernelName::Flash128 => self.instance(&FLASH_128, FLASH_128.name()),
            KernelName::Flash256 => self.instance(&FLASH_256, FLASH_256.name()),
            KernelName::Flash64M16N8K8 => self.instance(&FLASH_64_M16N8K8, FLASH_64_M16N8K8.name()),
            KernelName::Flash128M16N8K16 => self.instance(&FLASH_128_M16N8K16, FLASH_128_M16N8K16.name()),
            KernelName::Flash96Wgmma => self.instance(&FLASH_96_WGMMA, FLASH_96_WGMMA.name()),
            KernelName::Flash128Wgmma => self.instance(&FLASH_128_WGMMA, FLASH_128_WGMMA.name()),
            KernelName::Flash64Fma => self.instance(&FLASH_64_FMA, FLASH_64_FMA.name()),
        }
    }

    /// An instance, which has its size and tile already.
    fn instance<K: Kernel>(&self, instance: &Instance<K>, name: &'static str) -> Result<Made, CliError> {
        if let Some(tile) = &self.tile {
            return Err(tile.wrong(name, "none"));
        }
        let function = record(instance.kernel()).map_err(KernelError::from)?;
        let first = instance.program(Target::from(&self.chip.profile_or_volta()?));
        // Volta can't run every instance: then it is made for the first chip that can, unless one was asked for.
        let mut others = Profile::shipped().filter(|_| first.is_err() && self.chip.profile.is_none());
        let other = others.find_map(|profile| instance.program(Target::from(&profile)).ok());
        Ok(Made { function, program: other.map_or(first, Ok)? })
    }

    fn matmul(&self, profile: &Profile) -> Result<Made, CliError> {
        let tile = self.tile.as_ref().map(Tile::matmul).transpose()?;
        let matmul = Matmul::<f16>::new(profile, MatmulConfig { unit: self.chip.unit.0, tile })?;
        let order = [self.transpose_a, self.transpose_b].map(|t| if t { Order::Columns } else { Order::Rows });
        let variant = Variant { order, ..Variant::default() };
        Ok(Made { function: matmul.function(&variant)?, program: matmul.program(&variant)? })
    }

    fn attention(&self, profile: &Profile) -> Result<Made, CliError> {
        let tile = self.tile.as_ref().map(Tile::attention).transpose()?;
        let config = AttentionConfig { unit: self.chip.unit.0, tile, ..AttentionConfig::new(self.head_dim) };
        let attention = Attention::<f16, f32>::new(profile, config)?;
        let variant = attention::Variant { causal: self.causal, ..attention::Variant::default() };
        Ok(Made { function: attention.function(&variant)?, program: attention.program(&variant)? })
    }
}

/// The names of kernels and instances.
pub fn kernel_names() -> Vec<String> {
    let names = KernelName::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    names.map(|name| name.get_name().to_owned()).collect()
}

/// The layout of a kernel's value, of a kernel as `explain` shows it: what `FLASH_96:s` stands for.
pub fn lookup(kernel: &str, value: &str) -> Result<Value, String> {
    let Ok(name) = KernelName::from_str(kernel, false) else {
        return Err(format!("there is no kernel `{kernel}`; there are {}", kernel_names().join(", ")));
    };
    let settings = Settings {
        chip: Chip::default(),
        head_dim: HEAD_DIM,
        tile: None,
        causal: false,
        transpose_a: false,
        transpose_b: false,
    };
    let made = settings.make(name).map_err(|error| error.line())?;
    values::find(&made.function, value, &source)
}

/// The text of a source file. Kernels name theirs from the workspace's folder, so that one or one above is looked in.
pub fn source(file: &str) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find_map(|folder: &Path| std::fs::read_to_string(folder.join(file)).ok())
}
