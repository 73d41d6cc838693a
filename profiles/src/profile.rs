//! The data of a profile, as the YAML file has it.

use std::fmt;

use quadpair_layouts::mma::Quadpairs;
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
    /// The matrix unit, where there is one that kernels use.
    #[serde(default)]
    pub matrix_unit: Option<MatrixUnit>,
    /// Tiles of the plain kernels.
    pub fma: Tiles,
    /// What its units cost, where that is known.
    #[serde(default)]
    pub throughput: Option<Throughput>,
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
    /// Such as `sm_70`.
    pub target: String,
    /// The lowest PTX version that has the target and its unit, such as `6.4`.
    pub isa: String,
}

impl Ptx {
    /// The number of the target: 70 of `sm_70`. A profile that was read has one from 50.
    pub fn sm(&self) -> u32 {
        self.target.strip_prefix("sm_").and_then(number).unwrap_or(0)
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
    /// The type of its operands.
    pub operand_dtype: Dtype,
    /// The type that it sums in.
    pub accumulator_dtype: Dtype,
    /// Attention tiles by rising head dim.
    pub flash: Vec<FlashTile>,
    /// The tile of matrix products.
    pub matmul: MatmulTile,
}

impl MatrixUnit {
    /// The attention tile for a head dim, if one reaches it.
    pub fn flash_tile(&self, head_dim: usize) -> Option<FlashTile> {
        reaching(&self.flash, head_dim)
    }
}

/// Tiles of kernels on one unit.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tiles {
    /// Attention tiles by rising head dim.
    pub flash: Vec<FlashTile>,
    /// The tile of matrix products.
    pub matmul: MatmulTile,
}

impl Tiles {
    /// The attention tile for a head dim, if one reaches it.
    pub fn flash_tile(&self, head_dim: usize) -> Option<FlashTile> {
        reaching(&self.flash, head_dim)
    }
}

fn reaching(tiles: &[FlashTile], head_dim: usize) -> Option<FlashTile> {
    tiles.iter().find(|tile| head_dim <= tile.head_dim_le).copied()
}

/// An attention tile: its size, and how a block goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashTile {
    /// The largest head dim that it is for.
    pub head_dim_le: usize,
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
}

/// How a profile writes an arrangement of quadpairs: 8 x 8 products along the rows and along the columns.
#[derive(Deserialize)]
#[serde(remote = "Quadpairs")]
enum Arrangement {
    #[serde(rename = "4x1")]
    FourByOne,
    #[serde(rename = "2x2")]
    TwoByTwo,
    #[serde(rename = "1x4")]
    OneByFour,
}

fn arrangement<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Quadpairs>, D::Error> {
    Arrangement::deserialize(deserializer).map(Some)
}

/// The name of an arrangement, as profiles write it.
pub const fn arrangement_name(quadpairs: Quadpairs) -> &'static str {
    match quadpairs {
        Quadpairs::FourByOne => "4x1",
        Quadpairs::TwoByTwo => "2x2",
        Quadpairs::OneByFour => "1x4",
    }
}

/// An entry of a list of tiles, as a profile has it.
impl fmt::Display for FlashTile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { head_dim_le, block_m, block_n, warps, quadpairs, chunk } = self;
        write!(f, "{{head_dim_le: {head_dim_le}, block_m: {block_m}, block_n: {block_n}, warps: {warps}, ")?;
        if let Some(quadpairs) = quadpairs {
            write!(f, "quadpairs: {}, ", arrangement_name(*quadpairs))?;
        }
        write!(f, "chunk: {chunk}}}")
    }
}

/// The tile of products, as a profile has it.
impl fmt::Display for MatmulTile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { block_m, block_n, block_k, warps } = self;
        write!(f, "{{block_m: {block_m}, block_n: {block_n}, block_k: {block_k}, warps: {warps}}}")
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
