//! The checks that a type can't express. Each names the field, its value and what would be right.
//!
//! - the name isn't empty; the compute capabilities are there and well formed;
//! - the PTX target runs on every chip listed, and the PTX version is well formed;
//! - no limit is nothing, and no limit of a part exceeds that of the whole;
//! - each matrix unit is one that the layout algebra defines, takes these types, and exists in this target and version;
//! - costs and rates are finite, and no rate is nothing;
//! - tile sizes are powers of two that kernels can have, a block's warps fit into a block, head dims and rows rise,
//!   and no number of rows is left out;
//! - the arrangement of quadpairs is named where the unit has quadpairs, and nowhere else.

use crate::ProfileError;
use crate::Throughput;
use crate::locate::line_of;
use crate::profile::{Dtype, FlashTile, MatmulTile, MatrixUnit, Profile, Ptx, Tiles, pair};
use crate::units::{ACCUMULATOR, UNITS, Unit};
use quadpair_layouts::mma::Quadpairs;
use std::ops::RangeInclusive;

/// Tile sizes that kernels can have.
const SMALLEST: usize = 8;
const LARGEST: usize = 256;

/// Columns that a chunk of K or V can have.
const NARROWEST: usize = 16;
const WIDEST: usize = 128;

/// Chunks, and tiles of products, that shared memory can be divided for.
const SLOTS: RangeInclusive<usize> = 2..=8;
const STAGES: RangeInclusive<usize> = 2..=6;

/// The most cycles, wavefronts or bytes a cycle that something can be said to take.
const MOST: f64 = 1e6;

/// The most registers that an instruction can name, on every chip so far.
const NAMEABLE_REGISTERS: u32 = 255;

/// Checks a profile that was read from a text.
pub(crate) fn validate(file: &str, text: &str, profile: &Profile) -> Result<(), ProfileError> {
    Validator { file, text, threads: profile.limits.threads_per_block as usize }.profile(profile)
}

struct Validator<'t> {
    file: &'t str,
    text: &'t str,
    /// The most of a block.
    threads: usize,
}

impl Validator<'_> {
    fn profile(&self, profile: &Profile) -> Result<(), ProfileError> {
        self.require(!profile.name.is_empty(), "name", "empty", "a profile needs a name")?;
        self.ptx(&profile.ptx)?;
        self.chips(profile)?;
        self.limits(profile)?;
        for (i, unit) in profile.matrix_units.iter().enumerate() {
            let again = profile.matrix_units[..i].iter().any(|other| other.shape == unit.shape);
            let path = format!("matrix_units[{i}]");
            self.require(!again, &format!("{path}.shape"), &unit.shape, "a unit is listed once")?;
            self.unit(&path, unit, &profile.ptx)?;
        }
        if let Some(throughput) = &profile.throughput {
            self.throughput(throughput)?;
        }
        self.tiles("fma", &profile.fma)
    }

    fn throughput(&self, units: &Throughput) -> Result<(), ProfileError> {
        let field = |name: &str| format!("throughput.{name}");
        let allowed = "a toolkit is two numbers, such as \"12.9\"";
        self.require(pair(&units.toolkit).is_some(), &field("toolkit"), &units.toolkit, allowed)?;
        let counts = [
            ("subpartitions", units.subpartitions),
            ("blocks_per_multiprocessor", units.blocks_per_multiprocessor),
            ("register_unit", units.register_unit),
        ];
        for (name, count) in counts {
            self.require(count > 0, &field(name), &count, "a chip has more than nothing of it")?;
        }
        for (i, lanes) in units.paired_lanes.iter().enumerate() {
            let is_bit = lanes.is_power_of_two() && *lanes < 32;
            self.require(
                is_bit,
                &field(&format!("paired_lanes[{i}]")),
                lanes,
                "a power of two below 32, a warp's lanes",
            )?;
        }
        for (name, value, may_be_zero) in units.numbers() {
            let holds = (0.0..=MOST).contains(&value) && (may_be_zero || value > 0.0);
            let from = if may_be_zero { "0 to" } else { "more than 0, at most" };
            self.require(holds, &field(&name), &value, &format!("cycles, wavefronts and rates are {from} {MOST}"))?;
        }
        Ok(())
    }

    fn ptx(&self, ptx: &Ptx) -> Result<(), ProfileError> {
        let allowed = "a target is sm_50 or later, such as sm_70";
        self.require(ptx.sm() >= 50, "ptx.target", &ptx.target, allowed)?;
        let allowed = "a PTX version is two numbers, such as \"6.4\"";
        self.require(pair(&ptx.isa).is_some(), "ptx.isa", &ptx.isa, allowed)
    }

    fn chips(&self, profile: &Profile) -> Result<(), ProfileError> {
        let chips = &profile.compute_capabilities;
        self.require(!chips.is_empty(), "compute_capabilities", "empty", "at least one is needed, such as \"7.0\"")?;
        for (i, chip) in chips.iter().enumerate() {
            let field = format!("compute_capabilities[{i}]");
            let allowed = "a compute capability is a number, a point and a digit, such as \"7.0\"";
            let (major, minor) = pair(chip).unwrap_or((0, 10));
            self.require(minor < 10, &field, chip, allowed)?;
            let (target, runs) = (&profile.ptx.target, profile.ptx.sm() <= major.saturating_mul(10) + minor);
            self.require(runs, &field, chip, &format!("ptx.target is {target}, which runs on later chips only"))?;
        }
        Ok(())
    }

    fn limits(&self, profile: &Profile) -> Result<(), ProfileError> {
        let limits = &profile.limits;
        let threads = limits.warps_per_multiprocessor.saturating_mul(32);
        let registers = NAMEABLE_REGISTERS.min(limits.registers_per_multiprocessor);
        let shared = limits.shared_per_multiprocessor;
        let (any, whole) = (u32::MAX, |what: &str| format!("a multiprocessor has {what}"));
        let fields = [
            ("registers_per_multiprocessor", limits.registers_per_multiprocessor, any, String::new()),
            ("warps_per_multiprocessor", limits.warps_per_multiprocessor, any, String::new()),
            ("shared_per_multiprocessor", limits.shared_per_multiprocessor, any, String::new()),
            ("threads_per_block", limits.threads_per_block, threads, whole("32 for each of its warps")),
            ("registers_per_thread", limits.registers_per_thread, registers, "no code can name more".to_owned()),
            ("shared_per_block", limits.shared_per_block, shared, whole("no more, shared_per_multiprocessor")),
        ];
        for (name, value, most, why) in fields {
            let field = format!("limits.{name}");
            self.require(value > 0, &field, &value, "a chip has more than nothing of it")?;
            self.require(value <= most, &field, &value, &format!("at most {most}: {why}"))?;
        }
        Ok(())
    }

    fn unit(&self, path: &str, own: &MatrixUnit, ptx: &Ptx) -> Result<(), ProfileError> {
        let field = |name: &str| format!("{path}.{name}");
        let Some(unit) = Unit::named(&own.shape) else {
            let names: Vec<&str> = UNITS.iter().map(|unit| unit.name).collect();
            let allowed = format!("the units are {}", names.join(", "));
            return self.require(false, &field("shape"), &own.shape, &allowed);
        };
        let (name, first) = (unit.name, unit.atom.first_sm);
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

    fn tiles(&self, path: &str, tiles: &Tiles) -> Result<(), ProfileError> {
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
            self.count(&field("slots"), tile.slots, SLOTS, "chunks that shared memory has room for")?;
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
        self.count(&format!("{path}.stages"), tile.stages, STAGES, "tiles of A and B that shared memory has room for")
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

    fn require(
        &self,
        holds: bool,
        field: &str,
        value: &(impl ToString + ?Sized),
        allowed: &str,
    ) -> Result<(), ProfileError> {
        if holds {
            return Ok(());
        }
        Err(ProfileError::Value {
            file: self.file.to_owned(),
            line: line_of(self.text, field).or_else(|| line_of(self.text, field.rsplit_once('.')?.0)),
            field: field.to_owned(),
            value: value.to_string(),
            allowed: allowed.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::Profile;

    const EXAMPLE: &str = include_str!("../tests/example.yml");

    /// The matrix unit's attention tile.
    const FIRST: &str = "{head_dim_le: 256, block_m: 64, block_n: 32, warps: 2, quadpairs: 2x2, chunk: 64}";

    /// The error of the example with one text in it replaced.
    fn error(from: &str, to: &str) -> String {
        assert!(EXAMPLE.contains(from), "{from}");
        Profile::parse("mine.yml", &EXAMPLE.replacen(from, to, 1)).expect_err(to).to_string()
    }

    #[test]
    fn names_and_chips() {
        assert_eq!(error("name: volta", "name: \"\""), "mine.yml, line 2: name is empty; a profile needs a name");
        let form = "a compute capability is a number, a point and a digit, such as \"7.0\"";
        for wrong in ["seven", "7", "7.", "+7.0", "7.10", "7.0.0", "-7.0"] {
            let expected = format!("mine.yml, line 3: compute_capabilities[1] is {wrong}; {form}");
            assert_eq!(error("\"7.2\"", &format!("\"{wrong}\"")), expected);
        }
        assert!(error("[\"7.0\", \"7.2\"]", "[]").starts_with("mine.yml, line 3: compute_capabilities is empty"));
        assert_eq!(
            error("sm_70", "sm_72"),
            "mine.yml, line 3: compute_capabilities[0] is 7.0; ptx.target is sm_72, which runs on later chips only"
        );
    }

    #[test]
    fn target_and_version() {
        for wrong in ["gfx90a", "sm_", "sm_90a", "sm_+70", "sm_35", "sm_99999999999"] {
            let expected = format!("line 12: ptx.target is {wrong}; a target is sm_50 or later");
            assert!(error("sm_70", wrong).contains(&expected), "{wrong}");
        }
        for wrong in ["six", "6", "6.4.1", "6.", "99999999999.0"] {
            let expected = format!("line 13: ptx.isa is {wrong}; a PTX version is two numbers");
            assert!(error("isa: \"6.4\"", &format!("isa: \"{wrong}\"")).contains(&expected), "{wrong}");
        }
    }

    #[test]
    fn limits_of_a_part_and_of_the_whole() {
        for (line, value) in [
            (5, "threads_per_block: 1024"),
            (6, "registers_per_thread: 255"),
            (7, "registers_per_multiprocessor: 65536"),
            (8, "warps_per_multiprocessor: 64"),
            (9, "shared_per_block: 98304"),
            (10, "shared_per_multiprocessor: 98304"),
        ] {
            let name = value.split(':').next().unwrap_or_default();
            let expected = format!("mine.yml, line {line}: limits.{name} is 0; a chip has more than nothing of it");
            assert_eq!(error(value, &format!("{name}: 0")), expected);
        }
        assert_eq!(
            error("threads_per_block: 1024", "threads_per_block: 2049"),
            "mine.yml, line 5: limits.threads_per_block is 2049; at most 2048: a multiprocessor has 32 for each of its warps"
        );
        assert!(error("registers_per_thread: 255", "registers_per_thread: 256").contains("at most 255"));
        assert!(error("shared_per_block: 98304", "shared_per_block: 98305").contains("at most 98304"));
    }

    #[test]
    fn a_unit_is_one_that_is_known_with_its_types_and_its_chip() {
        assert_eq!(
            error("shape: m8n8k4", "shape: m16n8k32"),
            "mine.yml, line 15: matrix_units[0].shape is m16n8k32; the units are m8n8k4, m16n8k8, m16n8k16"
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
        let turing = include_str!("../turing.yml");
        let error = |from: &str, to: &str| {
            assert!(turing.contains(from), "{from}");
            Profile::parse("mine.yml", &turing.replacen(from, to, 1)).expect_err(to).to_string()
        };
        assert!(error("[float16]", "[float16, bfloat16]").ends_with("bfloat16; m16n8k8 takes float16 on sm_75"));
        assert!(error("\"6.5\"", "\"6.4\"").ends_with("ptx.isa is 6.4; m16n8k8 needs 6.5 or later"));
        let ampere = include_str!("../ampere.yml");
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
        let slots = "chunks that shared memory has room for are 2 to 8";
        let expected = format!("mine.yml, line 19: matrix_units[0].flash[0].slots is 1; {slots}");
        assert_eq!(error("2x2, chunk: 64", "2x2, chunk: 64, slots: 1"), expected);
        let stages = "tiles of A and B that shared memory has room for are 2 to 6";
        let expected = format!("mine.yml, line 20: matrix_units[0].matmul.stages is 7; {stages}");
        assert_eq!(error("block_k: 32, warps: 4", "block_k: 32, warps: 4, stages: 7"), expected);
    }

    #[test]
    fn costs_and_rates() {
        let volta = include_str!("../volta.yml");
        let error = |from: &str, to: &str| {
            assert!(volta.contains(from), "{from}");
            Profile::parse("mine.yml", &volta.replacen(from, to, 1)).expect_err(to).to_string()
        };
        for (from, to, expected) in [
            ("toolkit: \"12.9\"", "toolkit: new", "throughput.toolkit is new; a toolkit is two numbers"),
            ("subpartitions: 4", "subpartitions: 0", "throughput.subpartitions is 0; a chip has more"),
            ("[1, 2]\n  l2", "[1, 3]\n  l2", "throughput.paired_lanes[1] is 3; a power of two below 32"),
            ("sustained: [25.6, 19.5]", "sustained: [25.6, 0]", "throughput.l2.sustained[1] is 0; "),
            (
                "half: {pipe: tensor, cycles: [2,",
                "half: {pipe: tensor, cycles: [-2,",
                "throughput.classes.half.cycles[0] is -2; ",
            ),
            ("latency: [17, 24]", "latency: [17, .inf]", "throughput.accesses.shared_load.latency[1] is inf; "),
            ("queue: 32", "queue: .nan", "throughput.range[2].queue is NaN; "),
            ("pipe: xu", "pipe: sfu", "unknown variant `sfu`"),
        ] {
            let error = error(from, to);
            assert!(error.contains(expected) && error.contains("line "), "{error}");
        }
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
