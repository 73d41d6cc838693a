//! Which kernel a request gets: the unit that multiplies, the tile it works in, and how a block goes about that.
//!
//! A profile lists tiles by the head dim that they reach; `quadpair tune` finds them. A caller can ask for another size, and
//! gets the first of the [`tiles`] of that size. What a tile takes follows from its parts. With r = block_m / warps query
//! rows a warp, a thread has
//!
//! ```text
//! registers      block_n r / 32 scores, columns r / 32 of the output (columns: head dim, up to whole chunks), and a chunk
//!                of K or V on its way, block_n chunk / (32 warps) elements; where the unit reads shared memory, no such
//!                chunk but P, half as much as the scores
//! shared memory  of the block: Q, block_m columns; two chunks, block_n chunk each; where K and V are copied a whole
//!                tile of each, block_n columns, or two on the unit that reads them there; P, where it isn't shuffled
//! ```
//!
//! Of the profile's matrix units the first is taken whose tiles reach the head dim; where there is none, FMA.

use super::{AttentionError, FlashTile};
use crate::chip;
use crate::unit::{Unit, UnitChoice};
use quadpair::DType;
use quadpair::layouts::mma::Quadpairs;
use quadpair_profiles::{FlashTile as Tile, Limits, Profile};

/// What to prepare attention for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttentionConfig {
    /// Elements of a row of q, k and v: a multiple of 8 from 8 to 256.
    pub head_dim: usize,
    /// The unit that multiplies.
    pub unit: UnitChoice,
    /// Query rows and keys of a tile, one of [`tiles`]; `None` takes the profile's.
    pub tile: Option<(usize, usize)>,
    /// Where the softmax scale goes.
    pub scaling: Scaling,
    /// At most how many parts keys are divided in by calls that may; `None` leaves it to the chip.
    pub parts: Option<usize>,
}

/// Where the softmax scale is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scaling {
    /// On the scores, in float32: the accurate way.
    #[default]
    Scores,
    /// On q, which is then rounded to its own type: one multiplication less a score, for programs that did so before.
    RoundedQuery,
}

impl AttentionConfig {
    /// The profile's own choice for a head dim.
    pub fn new(head_dim: usize) -> Self {
        Self { head_dim, unit: UnitChoice::Auto, tile: None, scaling: Scaling::Scores, parts: None }
    }

    /// Whether any tile can have this head dim.
    ///
    /// # Errors
    /// It isn't a multiple of 8 from 8 to 256.
    pub fn check_head_dim(&self) -> Result<(), AttentionError> {
        let head_dim = self.head_dim;
        let supported = (8..=256).contains(&head_dim) && head_dim.is_multiple_of(8);
        if supported { Ok(()) } else { Err(AttentionError::HeadDim { head_dim }) }
    }
}

/// A unit and a tile that has a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub unit: Unit,
    pub tile: Tile,
}

/// Query rows, keys and warps that a block can have, and columns of a chunk.
const ROWS: [usize; 5] = [16, 32, 64, 128, 256];
const KEYS: [usize; 4] = [16, 32, 64, 128];
const WARPS: [usize; 5] = [1, 2, 4, 8, 16];
const WIDTHS: [usize; 4] = [16, 32, 64, 128];

/// The tiles that attention has kernels for on a unit and that the profile's chip can hold, for operands of a type. Those of
/// one size (query rows, keys) come with the one first that a request for this size gets.
pub fn tiles(profile: &Profile, unit: Unit, dtype: DType, head_dim: usize) -> Vec<Tile> {
    let arrangements = match unit {
        Unit::M8N8K4 => Quadpairs::ALL.map(Some).to_vec(),
        _ => vec![None],
    };
    let mut all = Vec::new();
    for (block_m, block_n, warps) in product(&ROWS, &KEYS, &WARPS) {
        for &quadpairs in &arrangements {
            let (head_dim_le, rows_le) = (head_dim, None);
            all.extend(WIDTHS.map(|chunk| Tile { head_dim_le, rows_le, block_m, block_n, warps, quadpairs, chunk }));
        }
    }
    let limits = &profile.limits;
    all.retain(|tile| {
        exists(unit, tile) && has_registers(limits, unit, dtype, tile) && holds(limits, unit, dtype, tile)
    });
    // By size, and in a size the usual rows a warp and the usual chunk before others.
    all.sort_by_key(|tile| {
        let others = (rows(tile).abs_diff(rows_per_warp(unit)), tile.chunk != FlashTile::width_of(unit, head_dim));
        (tile.block_m * tile.block_n, tile.block_m, others)
    });
    all
}

fn product(a: &[usize], b: &[usize], c: &[usize]) -> Vec<(usize, usize, usize)> {
    let pairs = a.iter().flat_map(|&a| b.iter().map(move |&b| (a, b)));
    pairs.flat_map(|(a, b)| c.iter().map(move |&c| (a, b, c))).collect()
}

/// Query rows of a warp.
const fn rows(tile: &Tile) -> usize {
    tile.block_m / tile.warps
}

/// Query rows that a warp has in a size's first tile.
const fn rows_per_warp(unit: Unit) -> usize {
    match unit {
        Unit::Fma => 8,
        Unit::Wgmma => 16,
        _ => 32,
    }
}

/// Columns of the output that a block computes: the head dim, up to whole chunks.
const fn columns(tile: &Tile) -> usize {
    tile.head_dim_le.div_ceil(tile.chunk) * tile.chunk
}

/// Rows and columns of a product that a warp computes at once on the unit.
const fn product_of_a_warp(unit: Unit, quadpairs: Option<Quadpairs>) -> Option<[usize; 2]> {
    match (unit, quadpairs) {
        (Unit::M8N8K4, Some(Quadpairs::FourByOne)) => Some([32, 8]),
        (Unit::M8N8K4, Some(Quadpairs::TwoByTwo)) => Some([16, 16]),
        (Unit::M8N8K4, Some(Quadpairs::OneByFour)) => Some([8, 32]),
        (Unit::Fma, None) => Some([8, 16]),
        (Unit::M16N8K8 | Unit::M16N8K16, None) => Some([16, 16]),
        (Unit::Wgmma, None) => Some([16, 16]),
        (Unit::M8N8K4, None) | (_, Some(_)) => None,
    }
}

/// Whether the kernel can be written in this tile: whole products for each warp and whole steps of V, up to four chunks, none
/// without columns. The unit that reads shared memory takes rows of up to 128 bytes, and four warps at once.
fn exists(unit: Unit, tile: &Tile) -> bool {
    let Some([row, column]) = product_of_a_warp(unit, tile.quadpairs) else { return false };
    let quadpairs = tile.quadpairs.unwrap_or(Quadpairs::TwoByTwo);
    let (_, value_step, _) = FlashTile::pace_of(unit, quadpairs, tile.head_dim_le);
    let needless = tile.chunk > WIDTHS[0] && tile.chunk >= 2 * tile.head_dim_le;
    rows(tile) * tile.warps == tile.block_m
        && rows(tile).is_multiple_of(row)
        && tile.block_n.is_multiple_of(column)
        && tile.block_n.is_multiple_of(value_step)
        && tile.chunk.is_multiple_of(column)
        && columns(tile) / tile.chunk <= Tile::CHUNKS
        && (!unit.reads_shared() || tile.chunk <= 64 && tile.warps >= 4)
        && !needless
}

/// Registers that a thread needs besides sums, scores and P on the unit that reads shared memory.
const BESIDES_SUMS: usize = 48;

/// Whether a thread's 255 registers are likely to do: for the sums, for the operands of a product, of which the next ones are
/// loaded while the unit has the last, and for what comes from global memory. Not all of it is alive at once, so that a sum
/// just above 255 can do.
///
/// The unit that reads shared memory takes nothing else through registers, but P of a tile waits there beside the next one's
/// scores, and its sums can't make room for other values while a product is under way.
fn has_registers(limits: &Limits, unit: Unit, dtype: DType, tile: &Tile) -> bool {
    let (scores, output) = (tile.block_n * rows(tile) / 32, columns(tile) * rows(tile) / 32);
    if unit.reads_shared() {
        let most = limits.registers_per_thread.min(limits.registers_per_multiprocessor / (32 * tile.warps as u32));
        return scores + output + scores / 2 + BESIDES_SUMS <= most as usize;
    }
    // How many quadpairs have the same of the left operand and of the right one; the deepest unit takes twice as much of both.
    let [left, right] = match (unit, tile.quadpairs) {
        (_, Some(Quadpairs::FourByOne)) => [1, 4],
        (_, Some(Quadpairs::TwoByTwo)) | (Unit::M16N8K16, None) => [2, 2],
        (_, Some(Quadpairs::OneByFour)) => [4, 1],
        (_, None) => [1, 1],
    };
    let of_q_and_k = (left * rows(tile) + right * tile.block_n) / 4;
    let of_v = tile.chunk / 2;
    let fetched = match unit.copies() {
        true => 0,
        false => 2 * tile.block_n * tile.chunk * dtype.bytes() as usize / 4 / (32 * tile.warps),
    };
    scores + output + of_q_and_k.max(of_v) + fetched <= 256
}

/// Whether a block of the chip has the threads and the shared memory.
fn holds(limits: &Limits, unit: Unit, dtype: DType, tile: &Tile) -> bool {
    shared_elements(unit, tile) * dtype.bytes() as usize <= limits.shared_per_block as usize
        && 32 * tile.warps <= limits.threads_per_block as usize
}

/// Elements of the operands' type in a block's shared memory.
fn shared_elements(unit: Unit, tile: &Tile) -> usize {
    let exchanged = if unit == Unit::Fma { tile.block_m * tile.block_n } else { 0 };
    let keys_and_values = match unit.copies() {
        true if unit.reads_shared() => 4 * tile.block_n * columns(tile),
        true => 2 * tile.block_n * columns(tile),
        false => 2 * tile.block_n * tile.chunk,
    };
    tile.block_m * columns(tile) + keys_and_values + exchanged
}

/// Chooses unit and tile for operands of a type.
pub(crate) fn choose(profile: &Profile, dtype: DType, config: &AttentionConfig) -> Result<Choice, AttentionError> {
    config.check_head_dim()?;
    let head_dim = config.head_dim;
    let fits = |unit| chip::flash_tile(profile, unit, head_dim).is_some();
    let unit = config.unit.choose(profile, dtype, fits)?;
    let own = chip::flash_tile(profile, unit, head_dim).map(|tile| adapted(tile, head_dim));
    let Some(size) = config.tile.or(own.map(|tile| (tile.block_m, tile.block_n))) else {
        return Err(AttentionError::HeadDimUncovered { unit, profile: profile.name.clone(), head_dim });
    };
    let runs = |tile: &Tile| exists(unit, tile) && holds(&profile.limits, unit, dtype, tile);
    if let Some(tile) = own.filter(|tile| (tile.block_m, tile.block_n) == size && runs(tile)) {
        return Ok(Choice { unit, tile });
    }
    let all = tiles(profile, unit, dtype, head_dim);
    // The profile's tile may be for narrower operands than these: then the next smaller one.
    let may_shrink = config.tile.is_none() && own.is_some_and(|tile| exists(unit, &tile));
    let sizes = all.iter().map(|tile| (tile.block_m, tile.block_n));
    let smaller = || sizes.clone().filter(|(m, n)| may_shrink && m * n < size.0 * size.1).max_by_key(|(m, n)| m * n);
    let chosen = sizes.clone().find(|own| *own == size).or_else(smaller);
    let tile = all.iter().find(|tile| Some((tile.block_m, tile.block_n)) == chosen);
    let none = || {
        let mut runs: Vec<_> = sizes.clone().collect();
        runs.dedup();
        AttentionError::Tile { unit, tile: size, head_dim, profile: profile.name.clone(), runs }
    };
    tile.map(|&tile| Choice { unit, tile }).ok_or_else(none)
}

/// The tiles that the profile has for few rows, of those that the kernel can run.
pub(crate) fn for_few_rows(profile: &Profile, unit: Unit, dtype: DType, head_dim: usize) -> Vec<Tile> {
    let own = chip::flash_tiles_for_few(profile, unit, head_dim).into_iter().map(|tile| adapted(tile, head_dim));
    own.filter(|tile| exists(unit, tile) && holds(&profile.limits, unit, dtype, tile)).collect()
}

/// A profile's tile for a head dim that it reaches: a chunk isn't wider than that takes.
fn adapted(mut tile: Tile, head_dim: usize) -> Tile {
    tile.head_dim_le = head_dim;
    while tile.chunk > WIDTHS[0] && tile.chunk >= 2 * head_dim {
        tile.chunk /= 2;
    }
    tile
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::{Attention, Variant};
    use half::f16;

    fn prepare(profile: &str, config: AttentionConfig) -> Result<(Unit, (usize, usize)), String> {
        let profile = Profile::by_name(profile).unwrap();
        let attention = Attention::<f16, f32>::new(&profile, config).map_err(|error| error.to_string())?;
        Ok((attention.unit(), attention.tile()))
    }

    #[test]
    fn the_profile_decides() {
        for (name, unit) in
            [("volta", Unit::M8N8K4), ("turing", Unit::M16N8K8), ("ada", Unit::M16N8K16), ("hopper", Unit::Wgmma)]
        {
            let profile = Profile::by_name(name).unwrap();
            let tile = chip::flash_tile(&profile, unit, 96).unwrap();
            assert_eq!(prepare(name, AttentionConfig::new(96)), Ok((unit, (tile.block_m, tile.block_n))));
        }
    }

    #[test]
    fn every_head_dim_has_tiles_and_the_profile_is_one_of_them() {
        for profile in Profile::shipped() {
            for (head_dim, unit) in
                (8..=256).step_by(8).flat_map(|d| Unit::of(&profile).into_iter().map(move |u| (d, u)))
            {
                let all = tiles(&profile, unit, DType::F16, head_dim);
                let own = adapted(chip::flash_tile(&profile, unit, head_dim).unwrap(), head_dim);
                assert!(all.contains(&own), "{} {unit} D {head_dim} {own}", profile.name);
                assert!(holds(&profile.limits, unit, DType::F16, &own), "{} {unit} D {head_dim} {own}", profile.name);
                let small = if unit.reads_shared() { (64, 32) } else { (32, 32) };
                assert!(all.iter().any(|tile| (tile.block_m, tile.block_n) == small), "{unit} D {head_dim}");
            }
        }
    }

    #[test]
    fn a_tile_takes_no_more_shared_memory_than_it_is_said_to_take() {
        for (name, unit, head_dim) in [
            ("volta", Unit::M8N8K4, 72),
            ("turing", Unit::M16N8K8, 72),
            ("ampere", Unit::M16N8K16, 72),
            ("hopper", Unit::Wgmma, 72),
            ("volta", Unit::Fma, 40),
        ] {
            let mut profile = Profile::by_name(name).unwrap();
            let all = tiles(&profile, unit, DType::F16, head_dim);
            // Each arrangement and each chunk, in the smallest and in the largest tile that has it.
            let kinds = |tile: &Tile| (tile.quadpairs, tile.chunk);
            let first = |i: &usize| all[..*i].iter().all(|tile| kinds(tile) != kinds(&all[*i]));
            let last = |i: &usize| all[i + 1..].iter().all(|tile| kinds(tile) != kinds(&all[*i]));
            for tile in (0..all.len()).filter(|i| first(i) || last(i)).map(|i| all[i]) {
                *profile.tiles_mut(unit.name()).unwrap().0 = vec![tile];
                let config = AttentionConfig { unit: UnitChoice::Only(unit), ..AttentionConfig::new(head_dim) };
                let attention = Attention::<f16, f32>::new(&profile, config).unwrap();
                let taken = attention.program(&Variant::default()).unwrap().shared_bytes();
                let said = 2 * shared_elements(unit, &tile);
                // Where P has all of a row in one thread there is nothing to exchange.
                assert!(
                    taken as usize == said || unit == Unit::Fma && (taken as usize) < said,
                    "{unit} {tile} {taken}"
                );
            }
        }
    }

    #[test]
    fn operands_that_are_too_wide_for_the_profile_get_a_smaller_tile() {
        let mut volta = Profile::by_name("volta").unwrap();
        volta.limits.shared_per_block = 20480;
        let tile = |dtype| choose(&volta, dtype, &AttentionConfig::new(64)).unwrap().tile;
        let [half, single] = [DType::BF16, DType::F32].map(tile);
        assert_eq!(half, volta.fma.flash[0]);
        assert!(single.block_m * single.block_n < half.block_m * half.block_n, "{single}");
    }

    #[test]
    fn head_dims_are_multiples_of_8_up_to_256() {
        for head_dim in [0, 4, 12, 260, 264] {
            let message = format!("head dim {head_dim} is not supported: it has to be a multiple of 8 from 8 to 256");
            assert_eq!(prepare("volta", AttentionConfig::new(head_dim)), Err(message));
        }
    }

    #[test]
    fn a_tile_without_a_kernel_is_an_error_that_lists_what_runs() {
        let config = AttentionConfig { tile: Some((48, 32)), ..AttentionConfig::new(64) };
        let error = prepare("volta", config).unwrap_err();
        let start = "no m8n8k4 kernel has a 48x32 tile at head dim 64 on volta; these run: ";
        assert!(error.starts_with(start) && error.contains("64x32"), "{error}");
    }

    /// The sums of a tile of 128 keys are too many for a warp of 32 rows, and P waits beside the next tile's scores.
    #[test]
    fn registers_of_wgmma_hold_its_sums() {
        let hopper = Profile::by_name("hopper").unwrap();
        let choice = |size, head_dim| {
            let config = AttentionConfig { tile: Some(size), ..AttentionConfig::new(head_dim) };
            choose(&hopper, DType::F16, &config).map(|choice| choice.tile.warps)
        };
        assert_eq!(choice((128, 128), 64).unwrap(), 8);
        assert_eq!(choice((256, 64), 64).unwrap(), 16);
        for (size, head_dim) in [((256, 128), 64), ((256, 128), 128), ((256, 64), 128), ((256, 32), 256)] {
            let error = choice(size, head_dim).unwrap_err().to_string();
            assert!(error.contains("these run: ") && error.contains("128x64"), "{error}");
        }
    }

    #[test]
    fn every_tile_of_a_profile_has_a_kernel_or_is_refused() {
        let powers = |from: u32, to: u32| (from..=to).map(|power| 1_usize << power).collect::<Vec<_>>();
        let (sizes, warps, mut made) = (powers(3, 8), powers(0, 5), 0);
        for unit in Unit::ALL {
            let profile = Profile::shipped().find(|profile| Unit::of(profile).contains(&unit)).unwrap();
            let arrangements = if unit == Unit::M8N8K4 { Quadpairs::ALL.map(Some).to_vec() } else { vec![None] };
            for ((block_m, block_n, warps), head_dim) in
                product(&sizes, &sizes, &warps).into_iter().flat_map(|size| [24, 64, 96, 256].map(|d| (size, d)))
            {
                for (&quadpairs, chunk) in arrangements.iter().flat_map(|own| WIDTHS.map(|chunk| (own, chunk))) {
                    // A head has at most so many chunks: a profile can't list this tile.
                    if chunk * Tile::CHUNKS < head_dim {
                        continue;
                    }
                    let (head_dim_le, rows_le) = (head_dim, None);
                    let tile = Tile { head_dim_le, rows_le, block_m, block_n, warps, quadpairs, chunk };
                    let fitted = adapted(tile, head_dim);
                    let runs = exists(unit, &fitted) && holds(&profile.limits, unit, DType::F16, &fitted);
                    made += usize::from(runs);
                    // Compiling all that run takes minutes.
                    if runs && !made.is_multiple_of(61) {
                        continue;
                    }
                    let mut profile = profile.clone();
                    *profile.tiles_mut(unit.name()).unwrap().0 = vec![tile];
                    let config = AttentionConfig { unit: UnitChoice::Only(unit), ..AttentionConfig::new(head_dim) };
                    let result = match runs {
                        true => Attention::<f16, f32>::new(&profile, config).map(|_| ()),
                        false => choose(&profile, DType::F16, &config).map(|_| ()),
                    };
                    let refused = matches!(result, Err(AttentionError::Tile { .. }));
                    assert!(result.is_ok() || refused && !runs, "{unit} {tile}: {result:?}");
                }
            }
        }
        assert!(made > 500);
    }
}
