//! The data of a profile, as the YAML file has it.

use std::fmt;
use std::ops::RangeInclusive;

use quadpair_layouts::mma::{FMA, Quadpairs};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::throughput::Throughput;

/// What a chip offers.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// How options and reports call it.
    pub name: String,
    /// The chips that it is chosen for, such as `7.0`.
    pub compute_capabilities: Vec<String>,
    /// What every one of these chips has.
    pub limits: Limits,
    /// What PTX is made for.
    pub ptx: Ptx,
    /// The matrix units that kernels use, the best first.
    #[serde(default)]
    pub matrix_units: Vec<MatrixUnit>,
    /// Tiles of the plain kernels.
    pub fma: Tiles,
    /// What its units cost, where that is known.
    #[serde(default)]
    pub throughput: Option<Throughput>,
}

impl Profile {
    /// The matrix unit of this name, if the profile declares it.
    pub fn matrix_unit(&self, shape: &str) -> Option<&MatrixUnit> {
        self.matrix_units.iter().find(|unit| unit.shape == shape)
    }

    /// Attention tiles and the tile of products of a unit by name: a declared matrix unit's, or those of `fma`.
    pub fn tiles(&self, unit: &str) -> Option<(&[FlashTile], &MatmulTile)> {
        if unit == FMA.name {
            return Some((&self.fma.flash, &self.fma.matmul));
        }
        self.matrix_unit(unit).map(|own| (&own.flash[..], &own.matmul))
    }

    /// The same, to be changed.
    pub fn tiles_mut(&mut self, unit: &str) -> Option<(&mut Vec<FlashTile>, &mut MatmulTile)> {
        if unit == FMA.name {
            return Some((&mut self.fma.flash, &mut self.fma.matmul));
        }
        let own = self.matrix_units.iter_mut().find(|own| own.shape == unit)?;
        Some((&mut own.flash, &mut own.matmul))
    }

    /// The attention tile of a unit for a head dim and so many query rows, if one reaches them.
    pub fn flash_tile(&self, unit: &str, head_dim: usize, rows: usize) -> Option<FlashTile> {
        let (tiles, _) = self.tiles(unit)?;
        tiles.iter().find(|tile| tile.reaches(head_dim, rows)).copied()
    }
}

/// What a chip has of each resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Threads of a block.
    pub threads_per_block: u32,
    /// 32-bit registers of a thread.
    pub registers_per_thread: u32,
    /// 32-bit registers of a multiprocessor.
    pub registers_per_multiprocessor: u32,
    /// Warps that a multiprocessor holds at once.
    pub warps_per_multiprocessor: u32,
    /// Bytes of shared memory that a block can have, with the opt-in.
    pub shared_per_block: u32,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_per_multiprocessor: u32,
}

/// What PTX is made for.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ptx {
    /// Such as `sm_70`, or `sm_90a`.
    pub target: String,
    /// The lowest PTX version that has the target and its unit, such as `6.4`.
    pub isa: String,
}

impl Ptx {
    /// The number of the target: 70 of `sm_70`, 90 of `sm_90a`. A profile that was read has one from 50.
    pub fn sm(&self) -> u32 {
        let name = self.target.strip_suffix('a').unwrap_or(&self.target);
        name.strip_prefix("sm_").and_then(number).unwrap_or(0)
    }

    /// Whether the target is one like `sm_90a`, whose code no other architecture runs.
    pub fn is_specific(&self) -> bool {
        self.target.ends_with('a')
    }

    /// The two parts of the version.
    pub fn version(&self) -> (u32, u32) {
        pair(&self.isa).unwrap_or((0, 0))
    }
}

/// Two numbers with a point between them.
pub(crate) fn pair(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    Some((number(major)?, number(minor)?))
}

/// A number in digits alone: `parse` would take a sign too.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// A matrix unit and the tiles of the kernels that use it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatrixUnit {
    /// The unit's name, one that the layout algebra defines.
    pub shape: String,
    /// The types of operands that kernels give it.
    pub operand_dtypes: Vec<Dtype>,
    /// The type that it sums in.
    pub accumulator_dtype: Dtype,
    /// Attention tiles by rising head dim, and of one head dim by rising number of rows.
    pub flash: Vec<FlashTile>,
    /// The tile of matrix products.
    pub matmul: MatmulTile,
}

/// Tiles of kernels on one unit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiles {
    /// Attention tiles by rising head dim, and of one head dim by rising number of rows.
    pub flash: Vec<FlashTile>,
    /// The tile of matrix products.
    pub matmul: MatmulTile,
}

/// An attention tile: its size, and how a block goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashTile {
    /// The largest head dim that it is for.
    pub head_dim_le: usize,
    /// The most query rows that it is for, queries of a key head times the query heads that share it; none is any.
    #[serde(default)]
    pub rows_le: Option<usize>,
    /// Query rows.
    pub block_m: usize,
    /// Keys.
    pub block_n: usize,
    /// Warps of a block, which share out the query rows.
    pub warps: usize,
    /// How the products of a warp's quadpairs lie; of a unit that has quadpairs.
    #[serde(default, deserialize_with = "arrangement")]
    pub quadpairs: Option<Quadpairs>,
    /// Columns of K and V that go through shared memory at once.
    pub chunk: usize,
}

impl MatmulTile {
    /// How many stages there can be: one is read while another is filled.
    pub const STAGES: RangeInclusive<usize> = TWO..=6;
}

impl FlashTile {
    /// The most chunks of a head.
    pub const CHUNKS: usize = 4;

    /// Whether it is for this head dim and so many query rows.
    pub fn reaches(&self, head_dim: usize, rows: usize) -> bool {
        head_dim <= self.head_dim_le && self.rows_le.is_none_or(|most| rows <= most)
    }

    /// What lists are sorted by: head dim, then rows.
    pub(crate) fn order(&self) -> (usize, usize) {
        (self.head_dim_le, self.rows_le.unwrap_or(usize::MAX))
    }
}

/// A matrix product's tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatmulTile {
    /// Rows.
    pub block_m: usize,
    /// Columns.
    pub block_n: usize,
    /// Depth.
    pub block_k: usize,
    /// Warps of a block, which share out rows and columns.
    pub warps: usize,
    /// Tiles of A and of B that shared memory has room for, of [`Self::STAGES`], on a unit whose chips can copy to it behind
    /// a thread's back.
    #[serde(default = "two")]
    pub stages: usize,
}

/// The stages where a tile doesn't say, the fewest.
const TWO: usize = 2;

fn two() -> usize {
    TWO
}

/// The arrangement of this name: 8 x 8 products along the rows and along the columns.
fn arrangement<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Quadpairs>, D::Error> {
    let name = String::deserialize(deserializer)?;
    let known = Quadpairs::ALL.map(Quadpairs::name).join(", ");
    let unknown = || D::Error::custom(format!("there is no arrangement {name}; there are {known}"));
    Quadpairs::named(&name).map(Some).ok_or_else(unknown)
}

/// An entry of a list of tiles, as a profile has it.
impl fmt::Display for FlashTile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { head_dim_le, rows_le, block_m, block_n, warps, quadpairs, chunk } = self;
        write!(f, "{{head_dim_le: {head_dim_le}, ")?;
        if let Some(rows_le) = rows_le {
            write!(f, "rows_le: {rows_le}, ")?;
        }
        write!(f, "block_m: {block_m}, block_n: {block_n}, warps: {warps}, ")?;
        if let Some(quadpairs) = quadpairs {
            write!(f, "quadpairs: {}, ", quadpairs.name())?;
        }
        write!(f, "chunk: {chunk}}}")
    }
}

/// The tile of products, as a profile has it.
impl fmt::Display for MatmulTile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { block_m, block_n, block_k, warps, stages } = self;
        write!(f, "{{block_m: {block_m}, block_n: {block_n}, block_k: {block_k}, warps: {warps}")?;
        if *stages != TWO {
            write!(f, ", stages: {stages}")?;
        }
        f.write_str("}")
    }
}

/// An element type of a matrix unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Dtype {
    Float16,
    BFloat16,
    Float32,
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dtype::Float16 => "float16",
            Dtype::BFloat16 => "bfloat16",
            Dtype::Float32 => "float32",
        })
    }
}
