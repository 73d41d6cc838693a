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

mod tiles;

use crate::ProfileError;
use crate::Throughput;
use crate::locate::line_of;
use crate::profile::{Profile, Ptx, pair};

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
            let (target, sm, own) = (&profile.ptx.target, profile.ptx.sm(), major.saturating_mul(10) + minor);
            self.require(sm <= own, &field, chip, &format!("ptx.target is {target}, which runs on later chips only"))?;
            let runs = !profile.ptx.is_specific() || sm == own;
            self.require(
                runs,
                &field,
                chip,
                &format!("ptx.target is {target}, which runs on {}.{} only", sm / 10, sm % 10),
            )?;
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

    pub(super) const EXAMPLE: &str = include_str!("../tests/example.yml");

    /// The error of the example with one text in it replaced.
    pub(super) fn error(from: &str, to: &str) -> String {
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
        assert_eq!(
            error("sm_70", "sm_70a"),
            "mine.yml, line 3: compute_capabilities[1] is 7.2; ptx.target is sm_70a, which runs on 7.0 only"
        );
    }

    #[test]
    fn target_and_version() {
        for wrong in ["gfx90a", "sm_", "sm_90b", "sm_70aa", "sm_+70", "sm_35", "sm_99999999999"] {
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
}
