//! A tile in registers and one in shared memory: wavefronts, and which lane wants which bank.

use super::Shown;
use super::drawing::{Cell, Colour, Drawing, Row, Section};
use super::one::{Registers, extents};
use crate::cli::error::CliError;
use crate::cli::table::Table;
use quadpair::inspect::bank_picture::{Direction, Instruction, Word, picture};
use quadpair::layouts::banks::BANKS;
use quadpair::layouts::{Access, Layout, SharedLayout, Text};
use serde_json::{Value, json};

/// What is asked of two layouts.
pub struct Banks<'n> {
    /// The expressions: registers, shared memory.
    pub names: [&'n str; 2],
    /// Bits of an element.
    pub bits: u32,
    /// Which access is drawn.
    pub direction: Direction,
}

impl Banks<'_> {
    /// The accesses between a tile in registers and one in shared memory.
    pub fn show(&self, tile: &Layout, memory: &SharedLayout) -> Result<Shown, CliError> {
        if !tile.shape().equals(&memory.shape()) {
            let text = Text::new("the tile in registers is ").shape(&tile.shape()).push(", the one in shared memory ");
            return Err(CliError::Pair(text.shape(&memory.shape()).push("; both have to have one shape").to_string()));
        }
        let (load, loads) = picture(tile, memory, self.bits, Direction::Load, 0);
        let (store, stores) = picture(tile, memory, self.bits, Direction::Store, 0);
        let instructions = if self.direction == Direction::Load { loads } else { stores };
        let record = json!({
            "registers": { "expression": self.names[0], "layout": Registers::of(tile) },
            "shared": { "expression": self.names[1], "shape": extents(&memory.shape()), "size": memory.size() },
            "element_bits": self.bits,
            "load": access(&load),
            "store": access(&store),
        });
        Ok(Shown { tables: self.table(&load, &store), drawing: self.drawing(&instructions), record })
    }

    fn table(&self, load: &Access, store: &Access) -> String {
        let mut table = Table::of_numbers();
        table.row(["", "load", "store"]);
        let mut row =
            |what: &str, figure: fn(&Access) -> String| table.row([what.to_owned(), figure(load), figure(store)]);
        row("elements an instruction", |access| access.vector.to_string());
        row("instructions a warp", |access| access.instructions.to_string());
        row("wavefronts a warp", |access| access.wavefronts.to_string());
        row("least possible", |access| access.ideal.to_string());
        row("conflicts", |access| match access.wavefronts.is_multiple_of(access.ideal.max(1)) {
            _ if access.is_conflict_free() => "none".to_owned(),
            true => format!("{} times", access.conflict()),
            false => format!("{:.1} times", f64::from(access.wavefronts) / f64::from(access.ideal)),
        });
        format!("{}\n{}\n\nelements of {} bits\n\n{table}", self.names[0], self.names[1], self.bits)
    }

    fn drawing(&self, instructions: &[Instruction]) -> Drawing {
        let sections: Vec<Section> = instructions.iter().map(section).collect();
        let rows = sections.iter().map(|section| section.rows.len()).max().unwrap_or(0);
        let what = if self.direction == Direction::Load { "Loads" } else { "Stores" };
        Drawing {
            title: format!("{what} of warp 0"),
            legend: "by bank the lowest lane that wants it, + where several want the same word".to_owned(),
            whole: [sections.len(), rows, BANKS],
            sections,
            least_columns: BANKS,
        }
    }
}

fn access(access: &Access) -> Value {
    json!({
        "vector": access.vector,
        "instructions": access.instructions,
        "wavefronts": access.wavefronts,
        "ideal": access.ideal,
    })
}

/// One instruction: a row for each wavefront, those that conflicts add marked.
fn section(instruction: &Instruction) -> Section {
    let registers: Vec<String> = instruction.registers.iter().map(usize::to_string).collect();
    let plural = if registers.len() == 1 { "" } else { "s" };
    let mut rows = Vec::new();
    for (pass, wavefronts) in instruction.passes.iter().map(|pass| &pass.wavefronts).enumerate() {
        for (again, wavefront) in wavefronts.iter().enumerate() {
            let cells = wavefront.iter().map(|word| word.as_ref().map(cell)).collect();
            let name = if again == 0 { format!("pass {pass}") } else { "again".to_owned() };
            rows.push(Row { name, marked: again > 0, cells });
        }
    }
    Section { title: format!("register{plural} {}", registers.join(" ")), rows }
}

fn cell(word: &Word) -> Cell {
    let lane = word.lanes.trailing_zeros() as usize;
    let lanes: Vec<String> = (0..32).filter(|lane| word.lanes >> lane & 1 == 1).map(|lane| lane.to_string()).collect();
    let several = if lanes.len() > 1 { "+" } else { "" };
    Cell {
        words: format!("{lane}{several}"),
        remark: format!("word {} for lanes {}", word.word, lanes.join(" ")),
        colour: Colour { group: (lane / 8, 4), place: (lane % 8, 8) },
    }
}
