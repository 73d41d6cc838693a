//! A drawing as SVG: a picture that needs nothing but a browser.
//!
//! Each section is a grid under its heading, with numbers on top and names at the left. A group's colours have one hue;
//! the shade says the place in the group. Cells are wide enough for their words; where there would be more than a few
//! thousand, they are small squares without words, and a pointer over one shows its remark.

use super::drawing::{Cell, Colour, Drawing, Limit, Part, Row};
use std::fmt::Write;

/// The most cells that are drawn with words in them.
const MOST_WORDS: usize = 4096;

/// Height of a line of text, and width of a character, in pixels.
const LINE: usize = 18;
const CHARACTER: usize = 7;

/// Side of a cell without words.
const SMALL: usize = 8;

/// Space around everything.
const MARGIN: usize = 12;

/// Sizes that all cells of a drawing have.
struct Grid {
    cell: [usize; 2],
    /// Room for the names of rows.
    names: usize,
    words: bool,
}

/// The picture of as much as a limit lets through.
pub fn draw(drawing: &Drawing, limit: Limit) -> String {
    let part = drawing.part(limit);
    let grid = Grid::of(&part);
    let mut body = String::new();
    let mut y = MARGIN;
    for line in [Some(&drawing.title), Some(&drawing.legend), part.note.as_ref()].into_iter().flatten() {
        y += LINE;
        text(&mut body, [MARGIN, y], "", line);
    }
    for (title, rows) in &part.sections {
        y = grid.section(&mut body, y + LINE, title, rows, part.columns);
    }
    let longest =
        [drawing.title.chars().count(), drawing.legend.chars().count(), part.note.map_or(0, |note| note.len())];
    let words = longest.into_iter().max().unwrap_or(0) * CHARACTER;
    let width = 2 * MARGIN + words.max(grid.names + part.columns * grid.cell[0]);
    page([width, y + MARGIN], &body)
}

fn page([width, height]: [usize; 2], body: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         font-family=\"monospace\" font-size=\"11\">\n<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         {body}</svg>\n"
    )
}

impl Grid {
    fn of(part: &Part<'_>) -> Grid {
        let rows = || part.sections.iter().flat_map(|(_, rows)| rows);
        let cells = || rows().flat_map(|row| row.cells.iter().take(part.columns)).flatten();
        let widest = cells().map(|cell| cell.words.len()).max().unwrap_or(0);
        let words = cells().count() <= MOST_WORDS;
        let cell = if words { [(widest + 1) * CHARACTER, LINE] } else { [SMALL, SMALL] };
        let names = rows().map(|row| row.name.len()).max().unwrap_or(0);
        Grid { cell, names: (names + 1) * CHARACTER, words }
    }

    /// Draws a section from a height on, and gives where it ends.
    fn section(&self, body: &mut String, top: usize, title: &str, rows: &[&Row], columns: usize) -> usize {
        let mut y = top;
        if !title.is_empty() {
            y += LINE;
            text(body, [MARGIN, y], " font-weight=\"bold\"", title);
        }
        y += LINE;
        // Numbers over columns that are too narrow for them stand apart.
        let every = (columns.to_string().len() + 1) * CHARACTER / self.cell[0] + 1;
        for column in (0..columns).step_by(every.next_power_of_two()) {
            text(body, [self.x(column) + 2, y - 5], " fill=\"#666666\"", &column.to_string());
        }
        for (i, row) in rows.iter().enumerate() {
            self.row(
                body,
                y + i * self.cell[1],
                row,
                columns,
                i.is_multiple_of(LINE.div_ceil(self.cell[1]).next_power_of_two()),
            );
        }
        y + rows.len() * self.cell[1]
    }

    fn x(&self, column: usize) -> usize {
        MARGIN + self.names + column * self.cell[0]
    }

    fn row(&self, body: &mut String, y: usize, row: &Row, columns: usize, named: bool) {
        if named {
            let colour = if row.marked { " fill=\"#c00000\" font-weight=\"bold\"" } else { " fill=\"#666666\"" };
            text(body, [MARGIN, y + self.cell[1].min(LINE) - 4 * usize::from(self.words)], colour, &row.name);
        }
        for (column, cell) in row.cells.iter().take(columns).enumerate() {
            match cell {
                Some(cell) => self.cell(body, [self.x(column), y], cell),
                None => self.empty(body, [self.x(column), y]),
            }
        }
    }

    fn empty(&self, body: &mut String, [x, y]: [usize; 2]) {
        let [width, height] = self.cell;
        let _ = writeln!(
            body,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"#f2f2f2\" stroke=\"#ffffff\" \
             stroke-width=\"0.5\"/>"
        );
    }

    fn cell(&self, body: &mut String, [x, y]: [usize; 2], cell: &Cell) {
        let [width, height] = self.cell;
        let (fill, ink) = colours(cell.colour);
        let remark = escaped(&cell.remark);
        let _ = write!(
            body,
            "<g><title>{remark}</title><rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\" \
             stroke=\"#ffffff\" stroke-width=\"0.5\"/>"
        );
        if self.words {
            let middle = x + width / 2;
            let _ = write!(
                body,
                "<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" fill=\"{ink}\">{}</text>",
                y + height - 5,
                escaped(&cell.words)
            );
        }
        body.push_str("</g>\n");
    }
}

fn text(body: &mut String, [x, y]: [usize; 2], attributes: &str, words: &str) {
    let _ = writeln!(body, "<text x=\"{x}\" y=\"{y}\"{attributes}>{}</text>", escaped(words));
}

/// Text with nothing in it that XML would take for its own.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// The colour of a cell, and of words on it.
fn colours(colour: Colour) -> (String, &'static str) {
    let ((group, groups), (place, places)) = (colour.group, colour.place);
    let hue = 210.0 + 360.0 * group as f64 / groups.max(1) as f64;
    let lightness = 0.90 - 0.45 * place as f64 / (places.max(2) - 1) as f64;
    let channel = |offset: f64| {
        let k = (offset + hue / 30.0) % 12.0;
        let chroma = 0.65 * lightness.min(1.0 - lightness);
        let value = lightness - chroma * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (value * 255.0).round() as u8
    };
    let fill = format!("#{:02x}{:02x}{:02x}", channel(0.0), channel(8.0), channel(4.0));
    (fill, if lightness > 0.6 { "#000000" } else { "#ffffff" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_hue_and_lightness() {
        let fill = |group, place| colours(Colour { group, place }).0;
        assert_eq!(fill((0, 1), (0, 2)), "#d5e6f6");
        assert_ne!(fill((0, 4), (0, 2)), fill((1, 4), (0, 2)));
        assert_ne!(fill((0, 4), (0, 32)), fill((0, 4), (1, 32)));
        assert_eq!(
            (colours(Colour::default()).1, colours(Colour { group: (0, 1), place: (1, 2) }).1),
            ("#000000", "#ffffff")
        );
    }

    #[test]
    fn text_is_escaped() {
        assert_eq!(escaped("a < b & \"c\""), "a &lt; b &amp; &quot;c&quot;");
    }
}
