//! `quadpair list`: what there is to run, and what to run it on.

use super::error::CliError;
use super::output::print;
use super::table::Table;
use quadpair_kernels::unit::Unit;
use quadpair_kernels::{attention, matmul, vector_add::VECTOR_ADD};

/// List kernels and their instances, profiles, and the devices found.
#[derive(Debug, clap::Args)]
pub struct List {}

impl List {
    /// Prints the tables.
    pub fn run(&self) -> Result<(), CliError> {
        print(&kernels())
    }
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
        let tiles = attention::tiles(unit).iter().map(|(m, n)| format!("{m}x{n}"));
        let instances = format!("{} at head dims 8, 16, ... 256", tiles.collect::<Vec<_>>().join(" "));
        table.row(["flash_attention", unit.name(), operands, &instances]);
    }
    table.to_string()
}
