//! A drawing: sections of cells in rows and columns, each with words, a colour and a remark.
//!
//! It knows no layout. Text and SVG are made from the same drawing, so that they can't disagree; a [`Limit`] says how
//! much of it is shown.

use crate::cli::table::Table;

/// What stands at one place.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// A few characters.
    pub words: String,
    /// What a pointer over the cell shows.
    pub remark: String,
    /// The colour.
    pub colour: Colour,
}

/// A colour: a group gives the hue, a place in it the shade.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Colour {
    /// Which group, and of how many.
    pub group: (usize, usize),
    /// Which place in it, and of how many.
    pub place: (usize, usize),
}

/// A row.
#[derive(Clone, Debug)]
pub struct Row {
    /// What it is called.
    pub name: String,
    /// Whether to point it out.
    pub marked: bool,
    /// Its cells; `None` is an empty place.
    pub cells: Vec<Option<Cell>>,
}

/// Rows under one heading.
#[derive(Clone, Debug)]
pub struct Section {
    /// The heading; empty for none.
    pub title: String,
    /// The rows, of one length.
    pub rows: Vec<Row>,
}

/// Sections under one heading.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The heading.
    pub title: String,
    /// What the words in the cells mean.
    pub legend: String,
    /// The sections.
    pub sections: Vec<Section>,
    /// How many sections, rows and columns there would be if all were drawn.
    pub whole: [usize; 3],
    /// The fewest columns that are shown: all 32 banks are.
    pub least_columns: usize,
}

/// How much of a drawing is shown.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    pub sections: usize,
    pub rows: usize,
    pub columns: usize,
}

impl Limit {
    /// What fits a terminal.
    pub const TEXT: Limit = Limit { sections: 2, rows: 32, columns: 16 };
    /// What a viewer of pictures shows with ease.
    pub const SVG: Limit = Limit { sections: 8, rows: 128, columns: 128 };
    /// More than anyone reads, and little enough to draw.
    pub const ALL: Limit = Limit { sections: 64, rows: 1024, columns: 1024 };
}

/// A part of a drawing, and what is left out.
pub struct Part<'d> {
    /// The sections' headings and rows, cut.
    pub sections: Vec<(&'d str, Vec<&'d Row>)>,
    /// How many cells of a row are shown.
    pub columns: usize,
    /// What is left out, in words.
    pub note: Option<String>,
}

impl Drawing {
    /// The part that a limit lets through.
    pub fn part(&self, limit: Limit) -> Part<'_> {
        let [all_sections, all_rows, all_columns] = self.whole;
        let columns = all_columns.min(limit.columns.max(self.least_columns));
        let shown = self.sections.iter().take(limit.sections);
        let sections = shown
            .map(|section| (section.title.as_str(), section.rows.iter().take(limit.rows).collect()))
            .collect::<Vec<_>>();
        let counts = [
            (sections.len(), all_sections, "parts"),
            (all_rows.min(limit.rows), all_rows, "rows"),
            (columns, all_columns, "columns"),
        ];
        let cut = counts.iter().filter(|(shown, all, _)| shown < all);
        let cut: Vec<String> = cut.map(|(shown, all, what)| format!("{shown} of {all} {what}")).collect();
        let note = (!cut.is_empty()).then(|| format!("{} are shown; --full shows more", cut.join(", ")));
        Part { sections, columns, note }
    }

    /// The drawing as text.
    pub fn text(&self, limit: Limit) -> String {
        let part = self.part(limit);
        let mut text = format!("{}; {}\n", self.title, self.legend);
        for (title, rows) in &part.sections {
            let mut table = Table::of_numbers();
            let numbers = (0..part.columns).map(|column| column.to_string());
            table.row([String::new()].into_iter().chain(numbers));
            for row in rows {
                let cells = row.cells.iter().take(part.columns);
                let words = cells.map(|cell| cell.as_ref().map_or(String::new(), |cell| cell.words.clone()));
                table.row([row.name.clone()].into_iter().chain(words));
            }
            let heading = if title.is_empty() { String::new() } else { format!("{title}\n") };
            text += &format!("\n{heading}{table}");
        }
        text + &part.note.map_or(String::new(), |note| format!("\n{note}\n"))
    }
}
