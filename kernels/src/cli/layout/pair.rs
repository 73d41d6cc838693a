//! Two layouts in registers: how a tile gets from one to the other.

use super::Shown;
use super::drawing::Drawing;
use super::one::{Registers, holders_of};
use crate::cli::error::CliError;
use crate::cli::plan::{costs, way};
use crate::cli::table::Table;
use quadpair::layouts::{Layout, convert, difference};
use serde_json::{Map, Value, json};

/// The conversion of a tile with elements of so many bits.
pub fn conversion(names: [&str; 2], from: &Layout, to: &Layout, bits: u32) -> Result<Shown, CliError> {
    let plan = convert::plan(from, to, bits).map_err(|error| CliError::Pair(error.to_string()))?;
    let difference = difference(from, to).to_string();
    let mut table = Table::of_texts();
    table.row(["from", names[0]]);
    table.row(["to", names[1]]);
    table.row(["first difference", &difference]);
    table.row([format!("elements of {bits} bits"), way(&plan).to_owned()]);
    for (what, cost) in costs(&plan) {
        table.row([what.to_owned(), cost.to_string()]);
    }
    let costs: Map<String, Value> =
        costs(&plan).into_iter().map(|(what, cost)| (what.replace(' ', "_"), cost.into())).collect();
    let record = json!({
        "from": { "expression": names[0], "layout": Registers::of(from) },
        "to": { "expression": names[1], "layout": Registers::of(to) },
        "element_bits": bits,
        "first_difference": difference,
        "way": way(&plan),
        "cost": costs,
    });
    Ok(Shown { tables: table.to_string(), drawing: both(names, from, to), record })
}

/// Both tiles, one under the other.
fn both(names: [&str; 2], from: &Layout, to: &Layout) -> Drawing {
    let (mut both, mut other) = (holders_of(names[0], from), holders_of(names[1], to));
    for (drawing, name) in [(&mut both, names[0]), (&mut other, names[1])] {
        for section in &mut drawing.sections {
            section.title = format!("{name} {}", section.title).trim_end().to_owned();
        }
    }
    both.sections.append(&mut other.sections);
    both.title = "Both tiles".to_owned();
    both.whole[0] *= 2;
    both
}
