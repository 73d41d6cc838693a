//! The checks that a type can't express. Each names the field, its value and what would be right.

use crate::profile::{Dtype, FlashTile, MatmulTile, MatrixUnit, Profile, pair};
use crate::ProfileError;

/// Units that the layout algebra defines, with the types that they take and sum in.
const UNITS: [(&str, Dtype, Dtype); 1] = [("m8n8k4", Dtype::Float16, Dtype::Float32)];

/// Tile sizes that kernels can have.
const SMALLEST: usize = 8;
const LARGEST: usize = 256;

/// Checks a profile that was read from a text.
pub(crate) fn validate(file: &str, text: &str, profile: &Profile) -> Result<(), ProfileError> {
    Validator { file, text }.profile(profile)
}

struct Validator<'t> {
    file: &'t str,
    text: &'t str,
}

impl Validator<'_> {
    fn profile(&self, profile: &Profile) -> Result<(), ProfileError> {
        self.require(!profile.name.is_empty(), "name", "empty", "a profile needs a name")?;
        for capability in &profile.compute_capabilities {
            let allowed = "a compute capability is two numbers, such as \"7.0\"";
            self.require(pair(capability).is_some(), "compute_capabilities", capability, allowed)?;
        }
        let sm = profile.ptx.sm();
        self.require(sm >= 50, "ptx.target", &profile.ptx.target, "a target is sm_50 or later, such as sm_70")?;
        let isa = pair(&profile.ptx.isa).is_some();
        self.require(isa, "ptx.isa", &profile.ptx.isa, "a PTX version is two numbers, such as \"6.4\"")?;
        self.limits(profile)?;
        if let Some(unit) = &profile.matrix_unit {
            self.unit(unit)?;
        }
        self.flash("fma.flash", &profile.fma.flash)?;
        self.matmul("fma.matmul", &profile.fma.matmul)
    }

    fn limits(&self, profile: &Profile) -> Result<(), ProfileError> {
        let limits = &profile.limits;
        let fields = [
            ("threads_per_block", limits.threads_per_block),
            ("registers_per_thread", limits.registers_per_thread),
            ("registers_per_multiprocessor", limits.registers_per_multiprocessor),
            ("warps_per_multiprocessor", limits.warps_per_multiprocessor),
            ("shared_per_block", limits.shared_per_block),
            ("shared_per_multiprocessor", limits.shared_per_multiprocessor),
        ];
        for (name, value) in fields {
            self.require(value > 0, &format!("limits.{name}"), &value, "a chip has more than nothing of it")?;
        }
        let most = limits.shared_per_multiprocessor;
        let allowed = format!("a block can have at most shared_per_multiprocessor, {most}");
        self.require(limits.shared_per_block <= most, "limits.shared_per_block", &limits.shared_per_block, &allowed)
    }

    fn unit(&self, unit: &MatrixUnit) -> Result<(), ProfileError> {
        let known = UNITS.iter().find(|known| known.0 == unit.shape);
        let names = UNITS.map(|known| known.0).join(", ");
        let allowed = format!("the units are {names}");
        self.require(known.is_some(), "matrix_unit.shape", &unit.shape, &allowed)?;
        if let Some(&(shape, operand, accumulator)) = known {
            let allowed = format!("{shape} takes {operand}");
            let field = "matrix_unit.operand_dtype";
            self.require(unit.operand_dtype == operand, field, &unit.operand_dtype, &allowed)?;
            let allowed = format!("{shape} sums in {accumulator}");
            let field = "matrix_unit.accumulator_dtype";
            self.require(unit.accumulator_dtype == accumulator, field, &unit.accumulator_dtype, &allowed)?;
        }
        self.flash("matrix_unit.flash", &unit.flash)?;
        self.matmul("matrix_unit.matmul", &unit.matmul)
    }

    fn flash(&self, path: &str, tiles: &[FlashTile]) -> Result<(), ProfileError> {
        self.require(!tiles.is_empty(), path, "empty", "at least one tile is needed")?;
        let mut reached = 0;
        for (i, tile) in tiles.iter().enumerate() {
            let field = format!("{path}[{i}].head_dim_le");
            let allowed = format!("tiles are listed by rising head_dim_le, this one must be over {reached}");
            self.require(tile.head_dim_le > reached, &field, &tile.head_dim_le, &allowed)?;
            reached = tile.head_dim_le;
            self.size(&format!("{path}[{i}].block_m"), tile.block_m)?;
            self.size(&format!("{path}[{i}].block_n"), tile.block_n)?;
        }
        Ok(())
    }

    fn matmul(&self, path: &str, tile: &MatmulTile) -> Result<(), ProfileError> {
        self.size(&format!("{path}.block_m"), tile.block_m)?;
        self.size(&format!("{path}.block_n"), tile.block_n)?;
        self.size(&format!("{path}.block_k"), tile.block_k)
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
        let (file, line) = (self.file.to_owned(), self.line_of(field, &value.to_string()));
        Err(ProfileError::Value { file, line, field: field.to_owned(), value: value.to_string(), allowed: allowed.to_owned() })
    }

    /// The first line that has the field's last name and its value.
    fn line_of(&self, field: &str, value: &str) -> Option<usize> {
        let name = field.rsplit('.').next().unwrap_or(field);
        let mut lines = self.text.lines();
        lines.position(|line| line.contains(&format!("{name}:")) && line.contains(value)).map(|index| index + 1)
    }
}
