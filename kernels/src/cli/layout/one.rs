//! One layout: its bases, and where each element lies.

use super::Shown;
use super::drawing::{Cell, Colour, Drawing, Limit, Row, Section};
use crate::cli::table::Table;
use quadpair::inspect::holders::{copies, holders};
use quadpair::layouts::{LANE_BITS, Layout, Shape, SharedLayout, Text};
use serde::Serialize;

/// A tile in registers.
pub fn registers(name: &str, tile: &Layout) -> Shown {
    let record = serde_json::json!({ "expression": name, "layout": Registers::of(tile) });
    Shown { tables: format!("{name}\n\n{}\n{}", size(tile), bases(tile)), drawing: holders_of(name, tile), record }
}

/// What `--json` says of a layout of registers: bases as coordinates.
#[derive(Serialize)]
pub struct Registers {
    shape: Vec<usize>,
    registers: Vec<Vec<usize>>,
    lanes: Vec<Vec<usize>>,
    warps: Vec<Vec<usize>>,
    elements_a_thread: usize,
    vector: usize,
    threads: usize,
    copies: usize,
}

impl Registers {
    /// The record of a layout.
    pub fn of(tile: &Layout) -> Registers {
        let shape = tile.shape();
        let bases = |count: usize, basis: &dyn Fn(usize) -> u32| {
            (0..count).map(|bit| coordinates(basis(bit), &shape)).collect::<Vec<_>>()
        };
        Registers {
            shape: extents(&shape),
            registers: bases(tile.register_bits(), &|bit| tile.register_basis(bit)),
            lanes: bases(LANE_BITS, &|bit| tile.lane_basis(bit)),
            warps: bases(tile.warp_bits(), &|bit| tile.warp_basis(bit)),
            elements_a_thread: tile.registers(),
            vector: tile.vector(),
            threads: tile.threads(),
            copies: copies(tile),
        }
    }
}

/// The extents of a shape.
pub fn extents(shape: &Shape) -> Vec<usize> {
    (0..shape.rank()).map(|dim| shape.extent(dim)).collect()
}

fn coordinates(element: u32, shape: &Shape) -> Vec<usize> {
    (0..shape.rank()).map(|dim| shape.coordinate(element, dim)).collect()
}

/// The coordinates of an element as messages write them.
fn element(element: u32, shape: &Shape) -> String {
    Text::new("").element(element, shape).to_string()
}

fn size(tile: &Layout) -> String {
    let shape = Text::new("").shape(&tile.shape());
    let vector = tile.vector();
    let vectors = if vector > 1 { format!(" in vectors of {vector}") } else { String::new() };
    let held = match copies(tile) {
        1 => "once".to_owned(),
        copies => format!("by {copies}"),
    };
    let (warps, registers) = (counted(tile.warps(), "warp"), counted(tile.registers(), "element"));
    format!("{shape} in {warps}: {registers} a thread{vectors}, each element held {held}\n")
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// What each bit moves by. Bits that bring no element of their own are marked.
fn bases(tile: &Layout) -> Table {
    let mut table = Table::of_texts();
    table.row(["bit", "moves by", ""]);
    let groups = [
        ("register", tile.register_bits(), tile.free_registers(), 0),
        ("lane", LANE_BITS, tile.free_lanes(), tile.register_bits()),
        ("warp", tile.warp_bits(), tile.free_warps(), tile.register_bits() + LANE_BITS),
    ];
    for (kind, count, free, first) in groups {
        for bit in 0..count {
            let basis = tile.columns()[first + bit];
            let duplicates = if free >> bit & 1 == 1 { "duplicates" } else { "" };
            table.row([&format!("{kind} {bit}"), &element(basis, &tile.shape()), duplicates]);
        }
    }
    table
}

/// Who holds each element of a tile.
pub fn holders_of(name: &str, tile: &Layout) -> Drawing {
    let all = holders(tile);
    let cell = |at: u32| {
        let holder = all[at as usize];
        let warp = if tile.warps() > 1 { format!("{}:", holder.warp) } else { String::new() };
        Cell {
            words: format!("{warp}{}:{}", holder.lane, holder.register),
            remark: format!(
                "{} warp {} lane {} register {}",
                element(at, &tile.shape()),
                holder.warp,
                holder.lane,
                holder.register
            ),
            colour: Colour { group: (holder.warp, tile.warps()), place: (holder.lane, 32) },
        }
    };
    let legend = if tile.warps() > 1 { "warp:lane:register of each element" } else { "lane:register of each element" };
    let holder = if copies(tile) > 1 { ", of several the lowest" } else { "" };
    drawing(name, format!("{legend}{holder}"), &tile.shape(), cell)
}

/// A drawing of the elements of a shape: a section for each index of the leading dimensions, rows and columns for the last
/// two.
fn drawing(title: &str, legend: String, shape: &Shape, cell: impl Fn(u32) -> Cell) -> Drawing {
    let rank = shape.rank();
    let [rows, columns] = [2, 1].map(|back| if rank >= back { shape.extent(rank - back) } else { 1 });
    let leading = shape.len() / (rows * columns);
    let section = |index: usize| {
        let first = index * rows * columns;
        let row = |row: usize| Row {
            name: if rank < 2 { String::new() } else { row.to_string() },
            marked: false,
            cells: (0..columns.min(Limit::ALL.columns))
                .map(|column| Some(cell((first + row * columns + column) as u32)))
                .collect(),
        };
        let indices = &coordinates(first as u32, shape)[..rank.saturating_sub(2)];
        let indices = indices.iter().map(|index| format!("{index}, ")).collect::<String>();
        let title = if rank > 2 { format!("[{indices}.., ..]") } else { String::new() };
        Section { title, rows: (0..rows.min(Limit::ALL.rows)).map(row).collect() }
    };
    Drawing {
        title: title.to_owned(),
        legend,
        sections: (0..leading.min(Limit::ALL.sections)).map(section).collect(),
        whole: [leading, rows, columns],
        least_columns: 0,
    }
}

/// A tile in shared memory.
pub fn shared(name: &str, memory: &SharedLayout, bits: u32) -> Shown {
    let shape = memory.shape();
    let mut table = Table::of_texts();
    table.row(["element", "offset"]);
    for bit in 0..shape.bits() {
        table.row([element(1 << bit, &shape), memory.offset(1 << bit).to_string()]);
    }
    let extents_text = Text::new("").shape(&shape);
    let first = memory.offset(0);
    let tables = format!(
        "{name}\n\n{extents_text} in shared memory of {} elements, the first at offset {first}\n\n{table}",
        memory.size()
    );
    let record = serde_json::json!({
        "expression": name,
        "layout": {
            "shape": extents(&shape),
            "size": memory.size(),
            "first": first,
            "offsets_of_bits": (0..shape.bits()).map(|bit| memory.offset(1 << bit)).collect::<Vec<_>>(),
        },
    });
    Shown { tables, drawing: offsets_of(name, memory, bits), record }
}

fn offsets_of(name: &str, memory: &SharedLayout, bits: u32) -> Drawing {
    let shape = memory.shape();
    let cell = |at: u32| {
        let offset = memory.offset(at);
        let bank = (offset * (bits / 8) / 4 % 32) as usize;
        let remark = format!("{} offset {offset} bank {bank} with {bits} bits an element", element(at, &shape));
        Cell { words: offset.to_string(), remark, colour: Colour { group: (bank, 32), place: (0, 2) } }
    };
    drawing(name, "offset of each element".to_owned(), &shape, cell)
}
