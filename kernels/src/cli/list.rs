//! `quadpair list`: what there is to run, and what to run it on.

use super::error::CliError;
use super::output::print;
use super::table::Table;
use quadpair::cuda;
use quadpair_kernels::unit::Unit;
use quadpair_kernels::{attention, matmul, vector_add::VECTOR_ADD};
use quadpair_profiles::Profile;

/// List kernels and their instances, profiles, and the devices found.
#[derive(Debug, clap::Args)]
pub struct List {}

impl List {
    /// Prints the tables.
    pub fn run(&self) -> Result<(), CliError> {
        print(&format!("{}\n{}\n{}", kernels(), profiles(), devices()))
    }
}

fn profiles() -> String {
    let mut table = Table::of_texts();
    table.row(["PROFILE", "CHIPS", "TARGET", "MATRIX UNIT"]);
    for profile in Profile::shipped() {
        let unit = profile.matrix_unit.as_ref().map_or("-", |unit| &unit.shape);
        table.row([&profile.name, &profile.compute_capabilities.join(" "), &profile.ptx.target, unit]);
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

fn kernels() -> String {
    let mut table = Table::of_texts();
    table.row(["KERNEL", "UNIT", "OPERANDS", "INSTANCES"]);
    table.row(["vector_add", "-", "f32", &format!("{} elements a block", VECTOR_ADD.kernel().block)]);
    for (unit, operands) in [(Unit::M8N8K4, "f16"), (Unit::Fma, "f16, bf16, f32")] {
        let tiles = matmul::tiles(unit).iter().map(|(m, n, k)| format!("{m}x{n}x{k}"));
        table.row(["matmul", unit.name(), operands, &tiles.collect::<Vec<_>>().join(" ")]);
    }
    for (unit, operands) in [(Unit::M8N8K4, "f16"), (Unit::Fma, "f16, bf16, f32")] {
        let up_to = |tile| attention::most_head_dim(unit, tile);
        let tiles = attention::tiles(unit).iter().map(|&(m, n)| format!("{m}x{n} to D {}", up_to((m, n))));
        let instances = format!("{}, in steps of 8", tiles.collect::<Vec<_>>().join(", "));
        table.row(["flash_attention", unit.name(), operands, &instances]);
    }
    table.to_string()
}
