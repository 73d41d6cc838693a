//! The facts of a kernel gathered by source line.
//!
//! ```text
//! 271  let a = q_shared[piece].slice(1, d, step).load(t.left(step));
//!        tile v98, v102, v106, .. (8): f16 [64, 8] #6
//!        8 x load of shared0: 1 instructions of 8 f16, 4 wavefronts a warp, 4 at least
//!        PTX, each turn of line 236: 8 shared loads of 16 bytes, 128 wavefronts a block, 128 at least
//! ```
//!
//! What a line does several times in the same way (an unrolled loop, a function that is called again) is said once.

use crate::cli::plan::{costs, way};
use quadpair::inspect::emitted::Emitted;
use quadpair::inspect::tiles::{Accessed, Contents, Converted, Source, Step, Tile};
use quadpair::ir::Pointer;
use quadpair::layouts::Text;
use std::collections::BTreeMap;

/// The most value numbers that are listed.
const MOST_VALUES: usize = 4;

/// What is said of each line, by file and line.
pub struct Lines(BTreeMap<(String, u32), Line>);

#[derive(Default)]
struct Line {
    /// Tiles of one type, with their values.
    tiles: Vec<(String, Vec<usize>)>,
    /// What the line does, and how often.
    steps: Vec<(String, usize)>,
    /// What became of it.
    emitted: Vec<String>,
}

impl Lines {
    /// Gathers the facts.
    pub fn of(contents: &Contents, emitted: &[Emitted]) -> Lines {
        let mut lines = Lines(BTreeMap::new());
        for tile in &contents.tiles {
            let tiles = &mut lines.line(&tile.source).tiles;
            let ty = type_text(tile);
            match tiles.iter_mut().find(|(known, _)| *known == ty) {
                Some((_, values)) => values.push(tile.value),
                None => tiles.push((ty, vec![tile.value])),
            }
        }
        for (source, text) in contents.steps.iter().map(step) {
            let steps = &mut lines.line(&source).steps;
            match steps.iter_mut().find(|(known, _)| *known == text) {
                Some((_, times)) => *times += 1,
                None => steps.push((text, 1)),
            }
        }
        for one in emitted {
            let line = lines.0.entry((one.place.file.clone(), one.place.line)).or_default();
            line.emitted.push(emitted_text(one));
        }
        lines
    }

    fn line(&mut self, source: &Source) -> &mut Line {
        self.0.entry((source.at.file().to_owned(), source.at.line())).or_default()
    }

    /// The lines with what is said of them; `source` reads a file.
    pub fn text(&self, source: &dyn Fn(&str) -> Option<String>) -> String {
        let mut text = String::new();
        let mut open: Option<(&str, Option<String>)> = None;
        for ((file, number), line) in &self.0 {
            if open.as_ref().is_none_or(|(name, _)| name != file) {
                text += &format!("{}{file}\n", if open.is_none() { "" } else { "\n" });
                open = Some((file, source(file)));
            }
            let written =
                open.as_ref().and_then(|(_, text)| text.as_ref()?.lines().nth((*number as usize).checked_sub(1)?));
            text += &format!("{number:>5}  {}\n", written.unwrap_or("").trim());
            line.facts().iter().for_each(|fact| text += &format!("         {fact}\n"));
        }
        text
    }
}

impl Line {
    fn facts(&self) -> Vec<String> {
        let tiles = self.tiles.iter().map(|(ty, values)| format!("{}: {ty}", listed(values)));
        let steps = self.steps.iter().map(|(step, times)| match times {
            1 => step.clone(),
            _ => format!("{times} x {step}"),
        });
        tiles.chain(steps).chain(self.emitted.iter().cloned()).collect()
    }
}

/// `v4, v9, .. (7)`
fn listed(values: &[usize]) -> String {
    let first: Vec<String> = values.iter().take(MOST_VALUES).map(|value| format!("v{value}")).collect();
    let more = if values.len() > MOST_VALUES { format!(", .. ({})", values.len()) } else { String::new() };
    format!("{}{more}", first.join(", "))
}

fn type_text(tile: &Tile) -> String {
    let pointer = match tile.ty.pointer {
        Pointer::No => "",
        Pointer::Read => "*const ",
        Pointer::Write => "*mut ",
    };
    let shape = tile.ty.layout.map_or(String::new(), |layout| Text::new("").shape(&layout.shape()).to_string());
    format!("{pointer}{} {shape} #{}", tile.ty.dtype.name(), tile.layout)
}

fn step(step: &Step) -> (Source, String) {
    match step {
        Step::Converted(one) => (one.source, converted(one)),
        Step::Accessed(one) => (one.source, accessed(one)),
        Step::Reduced(one) => (one.source, format!("{} of #{}", without_values(&one.made_by), one.layout)),
    }
}

/// What makes a value, without the numbers of other values: `reduce max axis 1`.
fn without_values(made_by: &str) -> String {
    let is_value = |word: &str| word.strip_prefix('v').is_some_and(|rest| rest.parse::<u32>().is_ok());
    made_by.split(' ').filter(|word| !is_value(word.trim_end_matches(','))).collect::<Vec<_>>().join(" ")
}

fn converted(one: &Converted) -> String {
    let costs: Vec<String> = costs(&one.plan)
        .into_iter()
        .filter(|(_, cost)| *cost > 0)
        .map(|(what, cost)| format!("{cost} {what}"))
        .collect();
    let costs = if costs.is_empty() { String::new() } else { format!(": {}", costs.join(", ")) };
    format!("convert #{} to #{}, {}{costs}", one.layouts[0], one.layouts[1], way(&one.plan))
}

fn accessed(one: &Accessed) -> String {
    let (access, verb) = (&one.access, if one.store { "store to" } else { "load of" });
    let by = one.matrices.map_or("instructions".to_owned(), |load| {
        format!("ldmatrix.x{}{}", load.matrices, if load.transposed { ".trans" } else { "" })
    });
    format!(
        "{verb} shared{}: {} {by} of {} {}, {} wavefronts a warp, {} at least",
        one.allocation,
        access.instructions,
        access.vector,
        one.dtype.name(),
        access.wavefronts,
        access.ideal
    )
}

/// `PTX, each turn of line 236: 8 shared loads of 16 bytes (4 registers), 128 wavefronts a block, 128 at least`
fn emitted_text(one: &Emitted) -> String {
    let turn = one.place.turn_of.map_or(String::new(), |line| format!(", each turn of line {line}"));
    let plural = if one.instructions == 1 { "" } else { "s" };
    let mut text = format!("PTX{turn}: {} {}{plural}", one.instructions, one.work.name());
    if one.bytes > 0 {
        text += &format!(" of {} bytes", one.bytes);
    }
    if one.work.is_shared() {
        text += &match one.shared.unknown {
            0 => format!(", {} wavefronts a block, {} at least", one.shared.taken, one.shared.ideal),
            _ => ", wavefronts depend on data".to_owned(),
        };
    }
    text
}
