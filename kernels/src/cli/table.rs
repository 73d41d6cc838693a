//! Plain-text tables: columns as wide as their widest cell.

use std::fmt;

/// Rows of cells. The first column is aligned to the left, the others too unless the table is one of numbers.
#[derive(Debug)]
pub struct Table {
    rows: Vec<Vec<String>>,
    numbers: bool,
}

impl Table {
    /// A table of texts.
    pub fn of_texts() -> Self {
        Self { rows: Vec::new(), numbers: false }
    }

    /// A table of numbers: all columns but the first are aligned to the right.
    pub fn of_numbers() -> Self {
        Self { rows: Vec::new(), numbers: true }
    }

    /// Adds a row.
    pub fn row<C: Into<String>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    fn width(&self, column: usize) -> usize {
        self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let gap = if column == 0 { "" } else { "  " };
                let width = self.width(column);
                line += &if self.numbers && column > 0 {
                    format!("{gap}{cell:>width$}")
                } else {
                    format!("{gap}{cell:<width$}")
                };
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// The simulator's counters under a heading of their own; nothing if there are none.
pub fn counters(counters: Option<&serde_json::Value>) -> String {
    let Some(counters) = counters.and_then(serde_json::Value::as_object) else {
        return String::new();
    };
    let mut table = Table::of_numbers();
    for (name, value) in counters {
        table.row([name.clone(), value.to_string()]);
    }
    format!("\nThe simulator counted\n\n{table}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let mut table = Table::of_numbers();
        table.row(["", "relative"]);
        table.row(["float64", "2e-4"]);
        assert_eq!(table.to_string(), "         relative\nfloat64      2e-4\n");
        let mut table = Table::of_texts();
        table.row(["unit", "fma", ""]);
        table.row(["a", "b", "c"]);
        assert_eq!(table.to_string(), "unit  fma\na     b    c\n");
    }
}
