//! A gated recurrence, `h[t] = a[t] h[t - 1] + b[t]`, along rows of any length: a scan, a reduction and a carried struct.
//!
//! One step is the map x -> a x + b. Two steps are one such map again, so the recurrence is a scan over pairs (a, b), whose
//! function is associative but not commutative. A block of time steps is scanned at once; what the state is at its end
//! goes on to the next block in the struct that the loop carries. Run it with
//! `cargo run --release --example recurrence -p quadpair`; there is no GPU needed.

use std::error::Error;

use quadpair::prelude::*;
use quadpair::sim::{Counters, Simulator};
use quadpair_profiles::Profile;

/// Rows of a block, and time steps that are scanned at once.
const ROWS: usize = 8;
const STEPS: usize = 128;

/// Each warp has two rows: 16 lanes with 8 steps each.
const TILE: Layout = blocked([ROWS, STEPS], [1, 8], [2, 16], [4, 1], [1, 0]);

/// The map x -> a x + b, one for each element of a tile.
#[derive(Clone, Copy, Aggregate)]
struct Step {
    a: Tile,
    b: Tile,
}

impl Step {
    /// First one step, then the next.
    #[device]
    fn then(first: Step, next: Step) -> Step {
        Step { a: next.a * first.a, b: fma(next.a, first.b, next.b) }
    }
}

/// What a block of time steps leaves to the next.
#[derive(Clone, Copy, Aggregate)]
struct State {
    /// h at the last step, one a row.
    h: Tile,
    /// The largest |h| so far, one a row.
    largest: Tile,
}

/// `h[r, t] = a[r, t] h[r, t - 1] + b[r, t]` with `h[r, -1] = 0`, and the largest |h| of each row.
#[kernel(grid = [rows as usize / ROWS])]
pub fn recurrence(a: Ptr<f32>, b: Ptr<f32>, h: PtrMut<f32>, largest: PtrMut<f32>, rows: i32, steps: i32) {
    let row = program_id(0) * ROWS + arange(TILE.slice(1));
    let mut state = State { h: zeros::<f32>(TILE.slice(1)), largest: zeros::<f32>(TILE.slice(1)) };
    for first in (0..steps).step_by(STEPS) {
        let step = first + arange(TILE.slice(0));
        let inside = (step < steps).expand_dims(0).broadcast_to(TILE);
        let place = (row * steps).expand_dims(1) + step.expand_dims(0);
        // Behind the last step nothing changes: x -> 1 x + 0.
        let one = Step { a: load_masked(a + place, inside, 1.0), b: load_masked(b + place, inside, 0.0) };
        let since_start = associative_scan(one, 1, Step::then);
        let now = fma(since_start.a, state.h.expand_dims(1), since_start.b);
        store_masked(h + place, now, inside);
        state = State { h: now.reduce(1, |_, last| last), largest: maximum(state.largest, abs(now).reduce_max(1)) };
    }
    store(largest + row, state.largest);
}

instances! {
    /// The only one: sizes are run-time arguments.
    pub RECURRENCE = Recurrence {};
}

/// One launch: how far from `f64` it was and what the simulator counted.
#[derive(Debug)]
pub struct Run {
    /// Rows and time steps.
    pub size: [usize; 2],
    /// The largest error of an element.
    pub error: f64,
    /// What the simulator counted.
    pub counters: Counters,
}

/// The largest error that a right kernel makes where gates are below 1 and inputs below 1.
const TOLERANCE: f64 = 1e-5;

/// Runs rows of several lengths and compares each with `f64`.
///
/// # Errors
/// A launch that fails, or a result that is wrong.
pub fn check() -> Result<Vec<Run>, Box<dyn Error>> {
    let simulator = Simulator::new(&Profile::by_name("volta")?);
    [[8, 1], [8, 128], [16, 129], [8, 1000]].into_iter().map(|size| run(&simulator, size)).collect()
}

fn run(simulator: &Simulator, size: [usize; 2]) -> Result<Run, Box<dyn Error>> {
    let [rows, steps] = size;
    let (a, b): (Vec<f32>, Vec<f32>) = (0..rows * steps).map(|i| (fraction(2 * i), fraction(2 * i + 1) - 0.5)).unzip();
    let (mut h, mut largest) = (vec![f32::NAN; a.len()], vec![f32::NAN; rows]);
    let args = RecurrenceArgs {
        a: a.as_slice(),
        b: b.as_slice(),
        h: h.as_mut_slice(),
        largest: largest.as_mut_slice(),
        rows: rows as i32,
        steps: steps as i32,
    };
    let report = RECURRENCE.launch(simulator, args)?;
    let mut error: f64 = 0.0;
    for (row, largest) in largest.iter().enumerate() {
        let (mut wanted, mut peak) = (0.0, 0.0_f64);
        for i in row * steps..(row + 1) * steps {
            wanted = f64::from(a[i]) * wanted + f64::from(b[i]);
            peak = peak.max(wanted.abs());
            error = error.max(difference(h[i], wanted));
        }
        error = error.max(difference(*largest, peak));
    }
    if error > TOLERANCE {
        return Err(format!("{rows} x {steps}: error {error:.1e}, at most {TOLERANCE:.0e} is right").into());
    }
    Ok(Run { size, error, counters: report.counters.unwrap_or_default() })
}

/// How far a result is off; infinitely far where it is no number.
fn difference(found: f32, wanted: f64) -> f64 {
    let error = (f64::from(found) - wanted).abs();
    if error.is_nan() { f64::INFINITY } else { error }
}

/// Numbers from 0 to 1 in no order.
fn fraction(i: usize) -> f32 {
    let mixed = (i as u32).wrapping_mul(0x9e37_79b9) ^ 0x85eb_ca6b;
    (mixed.wrapping_mul(0xc2b2_ae35) >> 8) as f32 / (1 << 24) as f32
}

fn main() -> Result<(), Box<dyn Error>> {
    println!("{:>5} {:>6} {:>10} {:>13} {:>9}", "rows", "steps", "error", "instructions", "shuffles");
    for Run { size: [rows, steps], error, counters } in check()? {
        let (instructions, shuffles) = (counters.instructions(), counters.shuffle);
        println!("{rows:>5} {steps:>6} {error:>10.1e} {instructions:>13} {shuffles:>9}");
    }
    Ok(())
}
