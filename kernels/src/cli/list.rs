//! `quadpair list`: what there is to run, and what to run it on.

use super::error::CliError;
use super::output::print;
use super::table::Table;
use quadpair::{DType, cuda};
use quadpair_kernels::unit::Unit;
use quadpair_kernels::{attention, matmul, vector_add::VECTOR_ADD};
use quadpair_profiles::Profile;

/// List kernels and their instances, profiles, and the devices found.
#[derive(Debug, clap::Args)]
pub struct List {}

impl List {
    /// Prints the tables.
    pub fn run(&self) -> Result<(), CliError> {
        print(&format!("{}\n{}\n{}", kernels()?, profiles(), devices()))
    }
}

fn profiles() -> String {
    let mut table = Table::of_texts();
    table.row(["PROFILE", "CHIPS", "TARGET", "MATRIX UNITS"]);
    for profile in Profile::shipped() {
        let chips = profile.compute_capabilities.join(" ");
        let units: Vec<&str> = profile.matrix_units.iter().map(|unit| &unit.shape[..]).collect();
        let units = if units.is_empty() { "-".to_owned() } else { units.join(" ") };
        table.row([&profile.name, &chips, &profile.ptx.target, &units]);
    }
    table.to_string()
}

fn devices() -> String {
    let mut table = Table::of_texts();
    table.row(["DEVICE", "NAME", "CHIP", ""]);
    table.row(["sim", "simulator", "any", ""]);
    match cuda::devices() {
        Ok(devices) => {
            for device in devices {
                let (major, minor) = device.compute_capability;
                table.row([&format!("cuda:{}", device.ordinal), &device.name, &format!("{major}.{minor}"), ""]);
            }
        }
        Err(error) => table.row(["cuda", &format!("none: {error}"), "-", ""]),
    }
    table.to_string()
}

/// Each unit with the first shipped profile that declares it: sizes of tiles are those that f16 operands have there.
fn units() -> Vec<(Unit, Profile)> {
    let first = |unit: &Unit| Profile::shipped().find(|profile| Unit::of(profile).contains(unit));
    Unit::ALL.iter().filter_map(|unit| Some((*unit, first(unit)?))).collect()
}

fn kernels() -> Result<String, CliError> {
    let mut table = Table::of_texts();
    table.row(["KERNEL", "UNIT", "OPERANDS", "INSTANCES"]);
    table.row(["vector_add", "-", "f32", &format!("{} elements a block", VECTOR_ADD.kernel().block)]);
    for (unit, profile) in units() {
        let sizes = matmul::tiles(&profile, unit, DType::F16);
        let mut sizes: Vec<_> = sizes.iter().map(|t| format!("{}x{}x{}", t.block_m, t.block_n, t.block_k)).collect();
        sizes.dedup();
        table.row(["matmul", unit.name(), &unit.operands(&profile).join(", "), &sizes.join(" ")]);
    }
    for (unit, profile) in units() {
        let operands = unit.operands(&profile).join(", ");
        table.row(["flash_attention", unit.name(), &operands, &attention_sizes(&profile, unit)]);
    }
    Ok(table.to_string())
}

/// The sizes of attention tiles, each with the largest head dim that it has registers and shared memory for.
fn attention_sizes(profile: &Profile, unit: Unit) -> String {
    let mut most: Vec<((usize, usize), usize)> = Vec::new();
    for head_dim in (8..=256).step_by(8) {
        for tile in attention::tiles(profile, unit, DType::F16, head_dim) {
            let size = (tile.block_m, tile.block_n);
            match most.iter_mut().find(|known| known.0 == size) {
                Some(known) => known.1 = head_dim,
                None => most.push((size, head_dim)),
            }
        }
    }
    most.sort_by_key(|((m, n), _)| (m * n, *m));
    let sizes: Vec<String> = most.iter().map(|((m, n), most)| format!("{m}x{n} to D {most}")).collect();
    format!("{}, in steps of 8", sizes.join(", "))
}
