//! Softmax of each row of a matrix: a kernel, its launch and its check in one file.
//!
//! A row lies in the lanes of one warp, so the two reductions are shuffles. Short rows need few lanes: then a warp has
//! several of them. Run it with `cargo run --release --example row_softmax -p quadpair`; there is no GPU needed, since
//! the simulator runs the same PTX.

use std::error::Error;

use quadpair::prelude::*;
use quadpair::sim::{Counters, Simulator};
use quadpair_profiles::Profile;

/// Warps of a block.
const WARPS: usize = 4;

/// The comptime parameters: how rows lie in warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rows {
    /// The longest row that fits, a power of two.
    pub width: usize,
    /// Lanes that share a row; a warp has `32 / lanes` rows.
    pub lanes: usize,
}

impl Rows {
    /// Rows of a block.
    const fn count(&self) -> usize {
        WARPS * (32 / self.lanes)
    }

    /// Each thread has 4 neighbours of a row, and more of them where the row is longer than its lanes reach.
    const fn layout(&self) -> Layout {
        blocked([self.count(), self.width], [1, 4], [32 / self.lanes, self.lanes], [WARPS, 1], [1, 0])
    }
}

/// `out[i, j] = exp(x[i, j]) / sum over l of exp(x[i, l])` for a row-major matrix of at most `t.width` columns.
///
/// The largest score of a row is subtracted first, which changes no quotient and keeps the exponentials below 1.
#[kernel(grid = [(rows as usize).div_ceil(t.count())])]
pub fn row_softmax(x: Ptr<f32>, out: PtrMut<f32>, rows: i32, columns: i32, #[comptime] t: Rows) {
    let row = program_id(0) * t.count() + arange(t.layout().slice(1));
    let column = arange(t.layout().slice(0));
    let inside = (row < rows).expand_dims(1) & (column < columns).expand_dims(0);
    let place = (row as i64 * columns as i64).expand_dims(1) + (column as i64).expand_dims(0);

    // What lies outside has weight 0. Rows behind the last are NaN, and not stored.
    let scores = load_masked(x + place, inside, f32::NEG_INFINITY) * std::f32::consts::LOG2_E;
    let weights = exp2(scores - scores.reduce_max(1).expand_dims(1));
    store_masked(out + place, weights / weights.reduce_sum(1).expand_dims(1), inside);
}

instances! {
    /// Four rows a warp.
    pub SHORT = RowSoftmax { t: Rows { width: 32, lanes: 8 } };
    /// A row a warp.
    pub MIDDLE = RowSoftmax { t: Rows { width: 128, lanes: 32 } };
    /// A row a warp, 32 elements a thread.
    pub LONG = RowSoftmax { t: Rows { width: 1024, lanes: 32 } };
}

/// One launch: what ran, how far from `f64` it was and what the simulator counted.
#[derive(Debug)]
pub struct Run {
    /// The instance.
    pub name: &'static str,
    /// Rows and columns.
    pub size: [usize; 2],
    /// The largest error of an element, relative to the element.
    pub error: f64,
    /// What the simulator counted.
    pub counters: Counters,
}

/// The largest relative error that a right kernel makes: roundings of scores of size 8, in `f32`.
const TOLERANCE: f64 = 4e-6;

/// Runs matrices of several sizes and compares each with `f64`.
///
/// # Errors
/// A launch that fails, or a result that is wrong.
pub fn check() -> Result<Vec<Run>, Box<dyn Error>> {
    let simulator = Simulator::new(&Profile::by_name("volta")?);
    let sizes = [[1, 1], [7, 31], [33, 32], [5, 33], [6, 128], [3, 129], [9, 777], [2, 1024]];
    sizes.into_iter().map(|size| softmax(&simulator, size)).collect()
}

fn softmax(simulator: &Simulator, size: [usize; 2]) -> Result<Run, Box<dyn Error>> {
    let [rows, columns] = size;
    let instance = [&SHORT, &MIDDLE, &LONG].into_iter().find(|own| columns <= own.kernel().t.width);
    let instance = instance.ok_or_else(|| format!("rows have at most 1024 columns, these have {columns}"))?;
    let x: Vec<f32> = (0..rows * columns).map(score).collect();
    // An element that the kernel forgets stays NaN, and is found.
    let mut out = vec![f32::NAN; x.len()];
    let args = RowSoftmaxArgs { x: x.as_slice(), out: out.as_mut_slice(), rows: rows as i32, columns: columns as i32 };
    let report = instance.launch(simulator, args)?;
    let error = largest_error(&x, &out, columns);
    if error.is_nan() || error > TOLERANCE {
        return Err(format!("{rows} x {columns}: relative error {error:.1e}, at most {TOLERANCE:.0e} is right").into());
    }
    Ok(Run { name: instance.name(), size, error, counters: report.counters.unwrap_or_default() })
}

/// Scores between -8 and 8 in no order.
fn score(i: usize) -> f32 {
    let mixed = (i as u32).wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    (mixed.wrapping_mul(0xc2b2_ae35) >> 8) as f32 / (1 << 20) as f32 - 8.0
}

/// The largest relative error of any element; NaN if any element is.
fn largest_error(x: &[f32], out: &[f32], columns: usize) -> f64 {
    let mut largest = 0.0;
    for (x, out) in x.chunks(columns).zip(out.chunks(columns)) {
        let sum: f64 = x.iter().map(|&score| f64::from(score).exp()).sum();
        for (&score, &found) in x.iter().zip(out) {
            let wanted = f64::from(score).exp() / sum;
            let error = (f64::from(found) - wanted).abs() / wanted;
            largest = if error <= largest { largest } else { error };
        }
    }
    largest
}

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "{:<8} {:>5} {:>8} {:>10} {:>13} {:>9}",
        "instance", "rows", "columns", "error", "instructions", "shuffles"
    );
    for run in check()? {
        let ([rows, columns], counters) = (run.size, &run.counters);
        let (instructions, shuffles) = (counters.instructions(), counters.shuffle);
        println!("{:<8} {rows:>5} {columns:>8} {:>10.1e} {instructions:>13} {shuffles:>9}", run.name, run.error);
    }
    Ok(())
}
