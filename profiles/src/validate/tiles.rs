//! The checks of units and their tiles.

use std::ops::RangeInclusive;

use quadpair_layouts::mma::Quadpairs;

use super::Validator;
use crate::ProfileError;
use crate::profile::{Dtype, FlashTile, MatmulTile, MatrixUnit, Ptx, Tiles};
use crate::units::{ACCUMULATOR, UNITS, Unit};

/// Tile sizes that kernels can have.
const SMALLEST: usize = 8;
const LARGEST: usize = 256;

/// Columns that a chunk of K or V can have.
const NARROWEST: usize = 16;
const WIDEST: usize = 128;

impl Validator<'_> {
    pub(super) fn unit(&self, path: &str, own: &MatrixUnit, ptx: &Ptx) -> Result<(), ProfileError> {
        let field = |name: &str| format!("{path}.{name}");
        let Some(unit) = Unit::named(&own.shape) else {
            let names: Vec<&str> = UNITS.iter().map(|unit| unit.name).collect();
            let allowed = format!("the units are {}", names.join(", "));
            return self.require(false, &field("shape"), &own.shape, &allowed);
        };
        let (name, first) = (unit.name, unit.atom.first_sm);
        let only = unit.only.unwrap_or(&ptx.target);
        self.require(ptx.target == only, "ptx.target", &ptx.target, &format!("{name} needs {only}"))?;
        let allowed = format!("{name} needs sm_{first} or later");
        self.require(ptx.sm() >= first, "ptx.target", &ptx.target, &allowed)?;
        let allowed = format!("{name} needs {}.{} or later", unit.isa.0, unit.isa.1);
        self.require(ptx.version() >= unit.isa, "ptx.isa", &ptx.isa, &allowed)?;
        self.operands(&field("operand_dtypes"), &own.operand_dtypes, unit, ptx)?;
        let (field_of_sums, sums) = (field("accumulator_dtype"), own.accumulator_dtype);
        self.require(sums == ACCUMULATOR, &field_of_sums, &sums, &format!("{name} sums in {ACCUMULATOR}"))?;
        self.flash(&field("flash"), &own.flash, unit.has_quadpairs().then_some(name))?;
        self.matmul(&field("matmul"), &own.matmul)
    }

    fn operands(&self, field: &str, dtypes: &[Dtype], unit: &Unit, ptx: &Ptx) -> Result<(), ProfileError> {
        let takes = unit.operands(ptx.sm());
        let names: Vec<String> = takes.iter().map(Dtype::to_string).collect();
        let allowed = format!("{} takes {} on {}", unit.name, names.join(" and "), ptx.target);
        self.require(!dtypes.is_empty(), field, "empty", &allowed)?;
        for (i, dtype) in dtypes.iter().enumerate() {
            self.require(takes.contains(dtype), &format!("{field}[{i}]"), dtype, &allowed)?;
        }
        Ok(())
    }

    pub(super) fn tiles(&self, path: &str, tiles: &Tiles) -> Result<(), ProfileError> {
        self.flash(&format!("{path}.flash"), &tiles.flash, None)?;
        self.matmul(&format!("{path}.matmul"), &tiles.matmul)
    }

    /// Attention tiles; `with_quadpairs` is the unit's name if it has quadpairs.
    fn flash(&self, path: &str, tiles: &[FlashTile], with_quadpairs: Option<&str>) -> Result<(), ProfileError> {
        self.require(!tiles.is_empty(), path, "empty", "at least one tile is needed")?;
        for (i, tile) in tiles.iter().enumerate() {
            let field = |name: &str| format!("{path}[{i}].{name}");
            self.order(&field, tile, i.checked_sub(1).map(|before| &tiles[before]))?;
            self.size(&field("block_m"), tile.block_m)?;
            self.size(&field("block_n"), tile.block_n)?;
            self.warps(&field("warps"), tile.warps, tile.block_m)?;
            self.quadpairs(&field("quadpairs"), tile, with_quadpairs)?;
            self.chunk(&field("chunk"), tile)?;
        }
        let last = tiles.len() - 1;
        let rows = tiles[last].rows_le;
        let allowed = "the last tile is for any number of rows, without a rows_le";
        self.require(rows.is_none(), &format!("{path}[{last}].rows_le"), &rows.unwrap_or(0), allowed)
    }

    /// A tile's place: the first that reaches head dim and rows is taken, so that none may hide the next.
    fn order(
        &self,
        field: &impl Fn(&str) -> String,
        tile: &FlashTile,
        before: Option<&FlashTile>,
    ) -> Result<(), ProfileError> {
        self.require(tile.rows_le != Some(0), &field("rows_le"), &0, "a tile is for one row or more")?;
        let (dim, rows) = before.map_or((0, 0), FlashTile::order);
        if tile.head_dim_le != dim || before.is_none() {
            let allowed = format!("tiles are listed by rising head_dim_le, this one must be over {dim}");
            return self.require(tile.head_dim_le > dim, &field("head_dim_le"), &tile.head_dim_le, &allowed);
        }
        let allowed = "the tile before is for this head dim and any number of rows";
        self.require(rows < usize::MAX, &field("head_dim_le"), &dim, allowed)?;
        let allowed = format!("tiles of a head dim are listed by rising rows_le, this one must be over {rows}");
        self.require(tile.order().1 > rows, &field("rows_le"), &tile.rows_le.unwrap_or(0), &allowed)
    }

    fn count(&self, field: &str, value: usize, can: RangeInclusive<usize>, what: &str) -> Result<(), ProfileError> {
        self.require(can.contains(&value), field, &value, &format!("{what} are {} to {}", can.start(), can.end()))
    }

    fn quadpairs(&self, field: &str, tile: &FlashTile, unit: Option<&str>) -> Result<(), ProfileError> {
        let arrangements = Quadpairs::ALL.map(Quadpairs::name);
        match (unit, tile.quadpairs) {
            (Some(unit), None) => {
                self.require(false, field, "absent", &format!("{unit} takes {}", arrangements.join(", ")))
            }
            (None, Some(own)) => {
                self.require(false, field, own.name(), "only a matrix unit with quadpairs arranges them")
            }
            _ => Ok(()),
        }
    }

    fn chunk(&self, field: &str, tile: &FlashTile) -> Result<(), ProfileError> {
        let allowed = format!("columns of a chunk are a power of two from {NARROWEST} to {WIDEST}");
        let is_width = tile.chunk.is_power_of_two() && (NARROWEST..=WIDEST).contains(&tile.chunk);
        self.require(is_width, field, &tile.chunk, &allowed)?;
        let reach = tile.head_dim_le.min(LARGEST);
        let allowed = format!("a head has at most {} chunks, and head dim {reach} is to be reached", FlashTile::CHUNKS);
        self.require(tile.chunk * FlashTile::CHUNKS >= reach, field, &tile.chunk, &allowed)
    }

    fn matmul(&self, path: &str, tile: &MatmulTile) -> Result<(), ProfileError> {
        self.size(&format!("{path}.block_m"), tile.block_m)?;
        self.size(&format!("{path}.block_n"), tile.block_n)?;
        self.size(&format!("{path}.block_k"), tile.block_k)?;
        self.warps(&format!("{path}.warps"), tile.warps, tile.block_m * tile.block_n)?;
        let stages = MatmulTile::STAGES;
        self.count(&format!("{path}.stages"), tile.stages, stages, "tiles of A and B that shared memory has room for")
    }

    /// Warps that share out so many rows or elements, at least [`SMALLEST`] each.
    fn warps(&self, field: &str, warps: usize, shared_out: usize) -> Result<(), ProfileError> {
        let most = (self.threads / 32).min(shared_out / SMALLEST);
        let allowed = format!("a block of this tile has a power of two of warps, from 1 to {most}");
        self.require(warps.is_power_of_two() && warps <= most, field, &warps, &allowed)
    }

    fn size(&self, field: &str, value: usize) -> Result<(), ProfileError> {
        let allowed = format!("a tile size is a power of two from {SMALLEST} to {LARGEST}");
        self.require(value.is_power_of_two() && (SMALLEST..=LARGEST).contains(&value), field, &value, &allowed)
    }
}

#[cfg(test)]
mod tests {
    use crate::Profile;
    use crate::validate::tests::{EXAMPLE, error};

    /// The matrix unit's attention tile.
    const FIRST: &str = "{head_dim_le: 256, block_m: 64, block_n: 32, warps: 2, quadpairs: 2x2, chunk: 64}";

    #[test]
    fn a_unit_is_one_that_is_known_with_its_types_and_its_chip() {
        assert_eq!(
            error("shape: m8n8k4", "shape: m16n8k32"),
            "mine.yml, line 15: matrix_units[0].shape is m16n8k32; the units are m8n8k4, m16n8k8, m16n8k16, wgmma"
        );
        assert_eq!(
            error("[float16]", "[float16, bfloat16]"),
            "mine.yml, line 16: matrix_units[0].operand_dtypes[1] is bfloat16; m8n8k4 takes float16 on sm_70"
        );
        assert_eq!(
            error("[float16]", "[]"),
            "mine.yml, line 16: matrix_units[0].operand_dtypes is empty; m8n8k4 takes float16 on sm_70"
        );
        assert_eq!(
            error("accumulator_dtype: float32", "accumulator_dtype: float16"),
            "mine.yml, line 17: matrix_units[0].accumulator_dtype is float16; m8n8k4 sums in float32"
        );
        assert_eq!(error("sm_70", "sm_60"), "mine.yml, line 12: ptx.target is sm_60; m8n8k4 needs sm_70 or later");
        assert_eq!(error("\"6.4\"", "\"6.0\""), "mine.yml, line 13: ptx.isa is 6.0; m8n8k4 needs 6.4 or later");
    }

    #[test]
    fn units_of_later_chips_need_them_and_take_more_types() {
        let later = error("shape: m8n8k4", "shape: m16n8k8");
        assert!(later.ends_with("ptx.target is sm_70; m16n8k8 needs sm_75 or later"), "{later}");
        let turing = include_str!("../../turing.yml");
        let error = |from: &str, to: &str| {
            assert!(turing.contains(from), "{from}");
            Profile::parse("mine.yml", &turing.replacen(from, to, 1)).expect_err(to).to_string()
        };
        assert!(error("[float16]", "[float16, bfloat16]").ends_with("bfloat16; m16n8k8 takes float16 on sm_75"));
        assert!(error("\"6.5\"", "\"6.4\"").ends_with("ptx.isa is 6.4; m16n8k8 needs 6.5 or later"));
        let ampere = include_str!("../../ampere.yml");
        let both = "[float16, bfloat16]";
        for dtypes in [both, "[bfloat16]", "[float16]"] {
            let text = ampere.replacen("m16n8k16", "m16n8k8", 1).replacen(both, dtypes, 1);
            let profile = Profile::parse("mine.yml", &text).expect("sm_80 has both types");
            assert!(profile.matrix_unit("m16n8k8").is_some() && profile.matrix_unit("m16n8k16").is_none());
        }
    }

    #[test]
    fn a_unit_is_listed_once() {
        let (start, end) = (EXAMPLE.find("  - shape").unwrap_or(0), EXAMPLE.find("fma:").unwrap_or(0));
        let twice = format!("{}{}{}", &EXAMPLE[..end], &EXAMPLE[start..end], &EXAMPLE[end..]);
        let error = Profile::parse("mine.yml", &twice).expect_err("it is listed twice").to_string();
        assert_eq!(error, "mine.yml, line 21: matrix_units[1].shape is m8n8k4; a unit is listed once");
    }

    /// The error of the example with these attention tiles of FMA.
    fn listed(tiles: &[&str]) -> String {
        let entries: Vec<String> = tiles
            .iter()
            .map(|tile| format!("    - {{{tile}, block_m: 16, block_n: 32, warps: 2, chunk: 64}}\n"))
            .collect();
        let (start, end) = (EXAMPLE.rfind("  flash:").unwrap_or(0), EXAMPLE.rfind("  matmul:").unwrap_or(0));
        let text = format!("{}  flash:\n{}{}", &EXAMPLE[..start], entries.concat(), &EXAMPLE[end..]);
        Profile::parse("mine.yml", &text).map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn every_number_of_rows_is_reached() {
        let any = [
            "head_dim_le: 64, rows_le: 16",
            "head_dim_le: 64, rows_le: 64",
            "head_dim_le: 128, rows_le: 8",
            "head_dim_le: 256",
        ];
        assert_eq!(listed(&any), "");
        for (tiles, expected) in [
            (
                &any[..3],
                "line 25: fma.flash[2].rows_le is 8; the last tile is for any number of rows, without a rows_le",
            ),
            (&["head_dim_le: 64, rows_le: 0"], "line 23: fma.flash[0].rows_le is 0; a tile is for one row or more"),
            (
                &[any[1], any[0]],
                "line 24: fma.flash[1].rows_le is 16; tiles of a head dim are listed by rising rows_le, this one must be over 64",
            ),
            (
                &[any[3], any[3]],
                "line 24: fma.flash[1].head_dim_le is 256; the tile before is for this head dim and any number of rows",
            ),
            (
                &[any[3], any[0]],
                "line 24: fma.flash[1].head_dim_le is 64; tiles are listed by rising head_dim_le, this one must be over 256",
            ),
        ] {
            assert_eq!(listed(tiles), format!("mine.yml, {expected}"));
        }
    }

    #[test]
    fn shared_memory_is_divided_for_a_few() {
        let stages = "tiles of A and B that shared memory has room for are 2 to 6";
        let expected = format!("mine.yml, line 20: matrix_units[0].matmul.stages is 7; {stages}");
        assert_eq!(error("block_k: 32, warps: 4", "block_k: 32, warps: 4, stages: 7"), expected);
    }

    #[test]
    fn tiles() {
        let tile = "a tile size is a power of two from 8 to 256";
        let first = "{block_m: 128, block_n: 64, block_k: 32, warps: 4}";
        assert_eq!(
            error(first, "{block_m: 128, block_n: 48, block_k: 32, warps: 4}"),
            format!("mine.yml, line 20: matrix_units[0].matmul.block_n is 48; {tile}")
        );
        // A value like that stands in other tiles too: the line is still the field's own.
        assert_eq!(
            error("block_m: 64, block_n: 64, block_k: 16", "block_m: 4, block_n: 64, block_k: 16"),
            format!("mine.yml, line 26: fma.matmul.block_m is 4; {tile}")
        );
        for size in ["0", "512", "18446744073709551615"] {
            assert!(error("block_k: 16", &format!("block_k: {size}")).contains(&format!("block_k is {size}; {tile}")));
        }
        assert_eq!(
            error("head_dim_le: 128", "head_dim_le: 64"),
            "mine.yml, line 24: fma.flash[1].head_dim_le is 64; the tile before is for this head dim and any number of rows"
        );
        let none = EXAMPLE.replacen(&format!("\n      - {FIRST}"), " []", 1);
        let none = Profile::parse("mine.yml", &none).expect_err("no tile").to_string();
        assert_eq!(none, "mine.yml, line 18: matrix_units[0].flash is empty; at least one tile is needed");
    }

    #[test]
    fn warps_share_out_a_tile_and_fit_into_a_block() {
        let warps = "a block of this tile has a power of two of warps, from 1 to";
        for (wrong, most) in [("0", 8), ("3", 8), ("16", 8)] {
            let expected = format!("mine.yml, line 19: matrix_units[0].flash[0].warps is {wrong}; {warps} {most}");
            assert_eq!(error("warps: 2, quad", &format!("warps: {wrong}, quad")), expected);
        }
        let expected = format!("mine.yml, line 20: matrix_units[0].matmul.warps is 64; {warps} 32");
        assert_eq!(error("block_k: 32, warps: 4", "block_k: 32, warps: 64"), expected);
    }

    #[test]
    fn quadpairs_are_arranged_where_there_are_some() {
        assert_eq!(
            error("quadpairs: 2x2, ", ""),
            "mine.yml, line 19: matrix_units[0].flash[0].quadpairs is absent; m8n8k4 takes 2x2, 1x4, 4x1"
        );
        assert_eq!(
            error("warps: 8, chunk: 64", "warps: 8, quadpairs: 1x4, chunk: 64"),
            "mine.yml, line 23: fma.flash[0].quadpairs is 1x4; only a matrix unit with quadpairs arranges them"
        );
        let unknown = error("quadpairs: 2x2", "quadpairs: 2x4");
        assert!(
            unknown.contains("there is no arrangement 2x4; there are 2x2, 1x4, 4x1") && unknown.contains("line 19"),
            "{unknown}"
        );
    }

    #[test]
    fn chunks_reach_the_head_dim() {
        let own = "matrix_units[0].flash[0].chunk";
        for wrong in ["8", "48", "256"] {
            let expected = format!("line 19: {own} is {wrong}; columns of a chunk are a power of two from 16 to 128");
            assert!(error("2x2, chunk: 64", &format!("2x2, chunk: {wrong}")).ends_with(&expected), "{wrong}");
        }
        assert_eq!(
            error("2x2, chunk: 64", "2x2, chunk: 32"),
            format!("mine.yml, line 19: {own} is 32; a head has at most 4 chunks, and head dim 256 is to be reached")
        );
    }
}
