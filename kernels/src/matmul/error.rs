//! What can be wrong with a request for a matrix product, in the caller's words.

use crate::unit::{Unit, UnitError};
use quadpair::{KernelError, LaunchError};

/// Why a product can't be prepared or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MatmulError {
    /// The unit asked for can't be had.
    #[error(transparent)]
    Unit(#[from] UnitError),
    /// No kernel has this tile.
    #[error("no {unit} kernel has a {} tile on {profile}; these run: {}", form(*.tile), list(.runs))]
    Tile {
        /// The unit.
        unit: Unit,
        /// Rows, columns and depth of the tile asked for.
        tile: (usize, usize, usize),
        /// The profile's name.
        profile: String,
        /// The tiles that run there.
        runs: Vec<(usize, usize, usize)>,
    },
    /// The matrices don't fit each other.
    #[error("{matrix} is {rows} x {columns}; {expected_rows} x {expected_columns} is needed, by the sizes of {by}")]
    Shape {
        /// Which matrix.
        matrix: &'static str,
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
        /// Rows that it has to have.
        expected_rows: usize,
        /// Columns that it has to have.
        expected_columns: usize,
        /// The matrices that say so.
        by: &'static str,
    },
    /// Rows or matrices of the result overlap.
    #[error("{matrix} has {what} of {length} elements that start {stride} apart: they overlap")]
    Overlap {
        /// Which matrix.
        matrix: &'static str,
        /// What overlaps.
        what: &'static str,
        /// Elements of one.
        length: usize,
        /// Elements from the start of one to the next.
        stride: usize,
    },
    /// The result lies column by column.
    #[error("C lies column by column; compute its transpose, row by row: of B's transpose times A's")]
    Order,
    /// An operand has neither one matrix nor as many as the result.
    #[error("{matrix} has a batch of {batch}; C has {expected}: take as many, or 1")]
    Batch {
        /// Which operand.
        matrix: &'static str,
        /// Its matrices.
        batch: usize,
        /// Those of the result.
        expected: usize,
    },
    /// A bias that is too short.
    #[error("the bias has {length} elements, C {columns} columns")]
    Bias {
        /// Its elements.
        length: usize,
        /// Columns of the result.
        columns: usize,
    },
    /// A matrix reaches past its buffer.
    #[error("{matrix} has {length} elements, its shape and strides reach {needed}")]
    Buffer {
        /// Which matrix.
        matrix: &'static str,
        /// Elements that it needs; `usize::MAX` if it's more than can be counted.
        needed: usize,
        /// Elements that it has.
        length: usize,
    },
    /// More than a launch can count.
    #[error("{matrix}: {what} of {value} is more than the {limit} that a launch can count")]
    TooLarge {
        /// Which matrix.
        matrix: &'static str,
        /// What is too large.
        what: &'static str,
        /// How much.
        value: usize,
        /// The most.
        limit: usize,
    },
    /// The kernel can't be made for this chip.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The launch failed.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

fn form((m, n, k): (usize, usize, usize)) -> String {
    format!("{m}x{n}x{k}")
}

fn list(tiles: &[(usize, usize, usize)]) -> String {
    if tiles.is_empty() {
        return "none".into();
    }
    tiles.iter().map(|tile| form(*tile)).collect::<Vec<_>>().join(", ")
}
