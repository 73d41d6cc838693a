//! How many blocks of a kernel a multiprocessor holds at once, and what stops the next.
//!
//! Each block takes warps, registers and shared memory. Registers are given to a warp in units: of 166 registers a thread a
//! warp of Volta takes 168 * 32, so a block of 4 warps 21504, and 65536 hold three.

use crate::ModelError;
use quadpair_profiles::{Limits, Throughput};
use serde::Serialize;

/// What a multiprocessor holds of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Occupancy {
    /// Blocks of a multiprocessor.
    pub blocks: u32,
    /// Warps of a block.
    pub warps_per_block: u32,
    /// What there is none left of for another block.
    pub limited_by: Resource,
}

/// What blocks take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)]
pub enum Resource {
    Registers,
    SharedMemory,
    Warps,
    Blocks,
}

impl Resource {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Resource::Registers => "registers",
            Resource::SharedMemory => "shared memory",
            Resource::Warps => "warps",
            Resource::Blocks => "blocks",
        }
    }
}

impl Occupancy {
    /// What fits of blocks with so many threads, registers a thread and bytes of shared memory.
    ///
    /// # Errors
    /// Not even one.
    pub fn of(
        limits: &Limits,
        units: &Throughput,
        threads: u32,
        registers: u32,
        shared: u32,
    ) -> Result<Self, ModelError> {
        let warps = threads.div_ceil(LANES).max(1);
        let of_warp =
            registers.saturating_mul(LANES).div_ceil(units.register_unit).saturating_mul(units.register_unit).max(1);
        let of_shared = limits.shared_per_multiprocessor.checked_div(shared).unwrap_or(u32::MAX);
        let bounds = [
            (limits.registers_per_multiprocessor / of_warp.saturating_mul(warps), Resource::Registers),
            (of_shared, Resource::SharedMemory),
            (limits.warps_per_multiprocessor / warps, Resource::Warps),
            (units.blocks_per_multiprocessor, Resource::Blocks),
        ];
        let too_large = ModelError::TooLarge { threads, registers, shared };
        let least = bounds.into_iter().min_by_key(|bound| bound.0).filter(|bound| bound.0 > 0);
        let (blocks, limited_by) = least.ok_or(too_large)?;
        Ok(Self { blocks, warps_per_block: warps, limited_by })
    }

    /// Warps of a multiprocessor.
    pub const fn warps(&self) -> u32 {
        self.blocks * self.warps_per_block
    }
}

const LANES: u32 = quadpair_layouts::banks::LANES as u32;

#[cfg(test)]
mod tests {
    use super::*;
    use quadpair_profiles::Profile;

    fn volta(threads: u32, registers: u32, shared: u32) -> Result<(u32, Resource), ModelError> {
        let profile = Profile::by_name("volta").expect("it is shipped");
        let units = profile.throughput.as_ref().expect("it has them");
        Occupancy::of(&profile.limits, units, threads, registers, shared).map(|own| (own.blocks, own.limited_by))
    }

    #[test]
    fn the_scarcest_decides() {
        assert_eq!(volta(128, 166, 20480), Ok((3, Resource::Registers)));
        assert_eq!(volta(128, 168, 0), Ok((3, Resource::Registers)));
        assert_eq!(volta(128, 169, 0), Ok((2, Resource::Registers)));
        assert_eq!(volta(128, 32, 49152), Ok((2, Resource::SharedMemory)));
        assert_eq!(volta(1024, 16, 0), Ok((2, Resource::Warps)));
        assert_eq!(volta(32, 16, 0), Ok((32, Resource::Blocks)));
    }

    #[test]
    fn a_block_that_does_not_fit_is_an_error() {
        let error = volta(1024, 128, 0).expect_err("131072 registers").to_string();
        assert!(error.contains("1024 threads of 128 registers"), "{error}");
        assert!(volta(32, 32, 98305).is_err());
    }
}
