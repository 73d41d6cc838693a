//! A chip's model, and what can be asked of it.

use crate::ModelError;
use crate::judge::Judge;
use crate::launch::{Launch, constants};
use crate::occupancy::Occupancy;
use crate::report::{Report, Resources};
use crate::tools::{Assembled, Tools};
use crate::trace::trace;
use quadpair_profiles::{Limits, Profile, Throughput};
use std::path::Path;

/// A chip's model: what its multiprocessor holds and what its units cost.
#[derive(Clone, Debug)]
pub struct Model {
    profile: String,
    target: String,
    limits: Limits,
    pub(crate) units: Throughput,
}

/// What is asked for beyond the figures.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Addresses of branches forward in the main loop that are taken.
    pub taken: Vec<u32>,
    /// The figure of each other such branch, were it taken.
    pub branches: bool,
    /// The range over all hypotheses.
    pub range: bool,
    /// The loop's instructions.
    pub listing: bool,
}

impl Model {
    /// The model of a profile's chip.
    ///
    /// # Errors
    /// The profile has no section `throughput`.
    pub fn of(profile: &Profile) -> Result<Self, ModelError> {
        let having =
            || Profile::shipped().filter(|own| own.throughput.is_some()).map(|own| own.name).collect::<Vec<_>>();
        let none = || ModelError::NoThroughput { profile: profile.name.clone(), having: having().join(", ") };
        let units = profile.throughput.clone().ok_or_else(none)?;
        let (profile, target, limits) = (profile.name.clone(), profile.ptx.target.clone(), profile.limits);
        Ok(Self { profile, target, limits, units })
    }

    /// The tools that assemble for the chip, in a folder or where they usually are.
    ///
    /// # Errors
    /// They aren't there.
    pub fn tools(&self, folder: Option<&Path>) -> Result<Tools, ModelError> {
        Tools::find(folder, &self.target, &self.units.toolkit)
    }

    /// Assembles a kernel and judges it. Calls on several threads don't get into each other's way.
    ///
    /// # Errors
    /// It doesn't assemble, doesn't fit into a multiprocessor, or lacks what the launch or the options name.
    pub fn inspect(&self, tools: &Tools, launch: &Launch<'_>, options: &Options) -> Result<Report, ModelError> {
        self.judge(&tools.assemble(launch.ptx)?, launch, options)
    }

    /// Judges a kernel that is assembled.
    ///
    /// # Errors
    /// It doesn't fit into a multiprocessor, or lacks what the launch or the options name.
    pub fn judge(&self, kernel: &Assembled, launch: &Launch<'_>, options: &Options) -> Result<Report, ModelError> {
        let resources = self.resources(kernel, launch)?;
        let trace = trace(&kernel.code, launch.threads, &constants(launch)?, &self.units.paired_lanes);
        Judge::new(self, kernel, &trace, &resources.occupancy).report(resources, options)
    }

    fn resources(&self, kernel: &Assembled, launch: &Launch<'_>) -> Result<Resources, ModelError> {
        let (threads, shared) = (launch.threads, launch.shared.max(kernel.shared));
        let occupancy = Occupancy::of(&self.limits, &self.units, threads, kernel.registers, shared)?;
        Ok(Resources {
            profile: self.profile.clone(),
            registers: kernel.registers,
            spills: kernel.spills,
            threads,
            shared,
            warps: f64::from(occupancy.warps()) / f64::from(self.units.subpartitions),
            occupancy,
        })
    }
}
