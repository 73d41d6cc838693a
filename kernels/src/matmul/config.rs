//! Which kernel a product gets: the unit that multiplies, the tile it works in, and the warps that share it out.
//!
//! A profile has one tile; `quadpair tune` finds it. A caller can ask for another size, and gets the first of the [`tiles`] of
//! that size. A thread holds block_m block_n / (32 warps) sums, and what is on its way through it of the next tile of A and B;
//! a block holds as many tiles of each in shared memory as it has stages.

use super::MatmulError;
use super::tile::least_depth;
use crate::chip;
use crate::unit::{Unit, UnitChoice};
use quadpair::DType;
use quadpair_profiles::{Limits, MatmulTile as Tile, Profile};

/// What to prepare a product for; the default is the profile's own choice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatmulConfig {
    /// The unit that multiplies.
    pub unit: UnitChoice,
    /// Rows, columns and depth of a tile, one of [`tiles`]; `None` takes the profile's.
    pub tile: Option<(usize, usize, usize)>,
}

/// A unit and a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub unit: Unit,
    pub tile: Tile,
}

/// Warps of a block; where a size has a choice, the first that fits is the usual one.
const WARPS: [usize; 4] = [4, 8, 16, 2];

/// Rows or columns, and depths, of tiles.
const fn extents(unit: Unit) -> ([usize; 3], &'static [usize]) {
    match unit {
        Unit::Fma => ([32, 64, 128], &[16, 32]),
        Unit::Wgmma => ([64, 128, 256], &[32, 64, 128]),
        _ => ([64, 128, 256], &[32, 64]),
    }
}

/// Tiles of A and B in shared memory, the usual number first: where they are copied, more than two are worth it.
const fn stages(unit: Unit) -> &'static [usize] {
    if unit.copies() { &[4, 3, 2] } else { &[2] }
}

/// The tiles that matmul has kernels for on a unit and that the profile's chip can hold, for operands of a type. Those of one
/// size (rows, columns, depth) come with the one first that a request for this size gets.
pub fn tiles(profile: &Profile, unit: Unit, dtype: DType) -> Vec<Tile> {
    let (sides, depths) = extents(unit);
    let sides = sides.into_iter().flat_map(|m| sides.map(|n| (m, n)));
    let sizes = sides.flat_map(|(m, n)| depths.iter().map(move |&k| (m, n, k)));
    let all = sizes.flat_map(|(block_m, block_n, block_k)| {
        let tile = move |warps, stages| Tile { block_m, block_n, block_k, warps, stages };
        WARPS.into_iter().flat_map(move |warps| stages(unit).iter().map(move |&stages| tile(warps, stages)))
    });
    let limits = &profile.limits;
    let fits =
        |tile: &Tile| exists(unit, tile) && has_registers(limits, unit, dtype, tile) && holds(limits, dtype, tile);
    let mut all: Vec<Tile> = all.filter(fits).collect();
    all.sort_by_key(|tile| (tile.block_m * tile.block_n, tile.block_m, tile.block_k));
    all
}

/// Elements of A and B in a tile.
const fn operands(tile: &Tile) -> usize {
    (tile.block_m + tile.block_n) * tile.block_k
}

/// Columns that an instruction of wgmma has at most.
const INSTRUCTION_COLUMNS: usize = 256;

/// Registers that a thread needs besides the sums of wgmma: these can't make room while a product is under way.
const BESIDES_SUMS: usize = 48;

/// Rows that four warps multiply together.
const ROWS_TOGETHER: usize = 64;

/// Whether the kernel can be written in this tile: whole products of the unit for each warp, or for each four where they
/// multiply together, along rows, columns and depth, of a block that isn't much longer than wide, or wider than long.
const fn exists(unit: Unit, tile: &Tile) -> bool {
    if unit.reads_shared() && tile.block_m < ROWS_TOGETHER || !tile.block_k.is_multiple_of(least_depth(unit)) {
        return false;
    }
    let [along_m, along_n] = super::MatmulTile::warp_grid(unit, [tile.block_m, tile.block_n], tile.warps);
    let [m, n] = match unit {
        Unit::M8N8K4 => [32, 32],
        // An instruction takes whole lines of memory, which have 64 elements.
        Unit::Wgmma => [16, 64],
        _ => [16, 16],
    };
    let by_fours =
        !matches!(unit, Unit::Wgmma) || along_m.is_multiple_of(4) && tile.block_n <= INSTRUCTION_COLUMNS * along_n;
    let whole = tile.block_m.is_multiple_of(m * along_m) && tile.block_n.is_multiple_of(n * along_n);
    whole && by_fours && tile.block_m <= 2 * tile.block_n && tile.block_n <= 2 * tile.block_m
}

/// Whether a thread's registers are likely to do: up to 128 sums, and elements of the next tile if it comes through them.
fn has_registers(limits: &Limits, unit: Unit, dtype: DType, tile: &Tile) -> bool {
    let threads = 32 * tile.warps;
    let sums = tile.block_m * tile.block_n / threads;
    if unit.reads_shared() && threads * (sums + BESIDES_SUMS) > limits.registers_per_multiprocessor as usize {
        return false;
    }
    let fetched = if unit.copies() { 0 } else { operands(tile) * dtype.bytes() as usize / 4 / threads };
    sums <= 128 && sums + fetched <= 160
}

/// Whether a block of the chip has the threads and the shared memory.
fn holds(limits: &Limits, dtype: DType, tile: &Tile) -> bool {
    tile.stages * operands(tile) * dtype.bytes() as usize <= limits.shared_per_block as usize
        && 32 * tile.warps <= limits.threads_per_block as usize
}

/// Chooses unit and tile for operands of a type.
pub(crate) fn choose(profile: &Profile, dtype: DType, config: &MatmulConfig) -> Result<Choice, MatmulError> {
    let fits = |unit| chip::matmul_tile(profile, unit).is_some();
    let unit = config.unit.choose(profile, dtype, fits)?;
    let own = chip::matmul_tile(profile, unit);
    let size = |tile: &Tile| (tile.block_m, tile.block_n, tile.block_k);
    let wanted = config.tile.or(own.as_ref().map(size)).unwrap_or_default();
    let all = tiles(profile, unit, dtype);
    let runs = |tile: &Tile| size(tile) == wanted && exists(unit, tile) && holds(&profile.limits, dtype, tile);
    let tile = own.filter(runs).or_else(|| all.iter().copied().find(|tile| size(tile) == wanted));
    let none = || {
        let mut runs: Vec<_> = all.iter().map(size).collect();
        runs.dedup();
        MatmulError::Tile { unit, tile: wanted, profile: profile.name.clone(), runs }
    };
    tile.map(|tile| Choice { unit, tile }).ok_or_else(none)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matmul::{Matmul, Variant};
    use half::f16;

    /// Every tile that a profile can have: sizes and warps are powers of two.
    fn all_tiles() -> impl Iterator<Item = Tile> {
        let powers = |from: u32, to: u32| (from..=to).map(|power| 1_usize << power);
        let sizes = powers(3, 8).flat_map(move |m| powers(3, 8).map(move |n| (m, n)));
        let sizes = sizes.flat_map(move |(m, n)| powers(3, 8).map(move |k| (m, n, k)));
        sizes.flat_map(move |(block_m, block_n, block_k)| {
            powers(0, 5).map(move |warps| Tile { block_m, block_n, block_k, warps, stages: 2 })
        })
    }

    /// Each unit with a shipped profile that has it.
    fn units() -> impl Iterator<Item = (Profile, Unit)> {
        let first = |unit| Profile::shipped().find(|profile| Unit::of(profile).contains(&unit)).unwrap();
        Unit::ALL.into_iter().map(move |unit| (first(unit), unit))
    }

    fn prepare(profile: &Profile, unit: Unit, tile: Tile) -> Result<Matmul<f16>, MatmulError> {
        let mut profile = profile.clone();
        *profile.tiles_mut(unit.name()).unwrap().1 = tile;
        Matmul::new(&profile, MatmulConfig { unit: UnitChoice::Only(unit), tile: None })
    }

    #[test]
    fn every_tile_of_a_profile_has_a_kernel_or_is_refused() {
        let mut made = 0;
        for (profile, unit) in units() {
            for tile in all_tiles() {
                let runs = exists(unit, &tile) && holds(&profile.limits, DType::F16, &tile);
                made += usize::from(runs);
                // What runs is compiled for each kind of line in memory; there is much of it.
                if runs && !made.is_multiple_of(7) {
                    continue;
                }
                match prepare(&profile, unit, tile) {
                    Ok(matmul) => {
                        let variant = Variant { aligned: [false; 3], ..Variant::default() };
                        assert!(matmul.program(&variant).is_ok(), "{unit} {tile}");
                    }
                    Err(MatmulError::Tile { .. }) => assert!(!runs, "{unit} {tile}"),
                    Err(other) => panic!("{unit} {tile}: {other}"),
                }
            }
        }
        assert!(made > 500);
    }
}
