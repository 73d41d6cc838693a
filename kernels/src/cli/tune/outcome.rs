//! What came out: the best tiles of each problem, as a table, as JSON, and as a profile's entries.

use super::super::error::CliError;
use super::super::table::Table;
use super::candidate::{Candidate, Problem};
use super::judge::{Judge, Verdict};
use quadpair::layouts::mma::Quadpairs;
use quadpair_kernels::unit::Unit;
use quadpair_profiles::{Profile, Tuned};
use serde::Serialize;

/// How many tiles of a problem are shown.
const SHOWN: usize = 3;

/// A tile that was judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tried {
    pub candidate: Candidate,
    pub verdict: Verdict,
}

/// The tiles of a problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    problem: Problem,
    /// The best ones, the one to take first.
    best: Vec<Tried>,
    /// How many were tried.
    tried: usize,
    /// The fastest of those that spill, if it is faster than the best by more than the margin.
    spilled: Option<Tried>,
}

impl Tried {
    fn spills(&self) -> bool {
        self.verdict.taken.is_some_and(|taken| taken.spills > 0)
    }

    /// What is preferred among tiles that are as fast: many blocks, then few registers.
    fn cost(&self) -> (usize, u32) {
        (self.candidate.share(), self.verdict.taken.map_or(0, |taken| taken.registers))
    }
}

impl Outcome {
    /// Ranks the tiles that were tried; `margin` is how far below the best figure one is as good.
    pub fn of(problem: Problem, mut tried: Vec<Tried>, margin: impl Fn(f64) -> f64) -> Result<Self, CliError> {
        let count = tried.len();
        tried.sort_by(|a, b| b.verdict.figure.total_cmp(&a.verdict.figure));
        let (spilled, mut best): (Vec<Tried>, Vec<Tried>) = tried.into_iter().partition(Tried::spills);
        let top = best.first().map(|tried| tried.verdict.figure).filter(|figure| *figure > 0.0);
        let top = top.ok_or_else(|| CliError::NoTile { problem: problem.to_string(), tried: count })?;
        let margin = margin(top);
        // A stable sort: those as fast as the fastest come by cost, the others stay by figure.
        best.sort_by_key(
            |tried| {
                if tried.verdict.figure >= top - margin { (false, tried.cost()) } else { (true, (0, 0)) }
            },
        );
        best.truncate(SHOWN);
        let spilled = spilled.first().copied().filter(|tried| tried.verdict.figure > top + margin);
        Ok(Self { problem, best, tried: count, spilled })
    }
}

/// The entries of a profile for the best tiles.
pub fn tuned(outcomes: &[Outcome], judge: &Judge, command: &str) -> Tuned {
    let mut tuned = Tuned { flash_note: format!("By `{command}`, {}.", judge.source()), ..Tuned::default() };
    for outcome in outcomes {
        let Some(best) = outcome.best.first() else { continue };
        let figures = figures(&best.verdict, judge.figures());
        match best.candidate {
            Candidate::Attention(tile) => tuned.flash.push((tile, figures)),
            Candidate::Matmul(tile) => {
                tuned.matmul = Some((tile, format!("{figures}, by `{command}`, {}.", judge.source())));
            }
        }
    }
    tuned
}

/// `71.0 % of peak, 250 registers, 8 warps a multiprocessor`.
fn figures(verdict: &Verdict, of: &str) -> String {
    let taken = verdict.taken.map_or_else(String::new, |taken| {
        format!(", {} registers, {} warps a multiprocessor", taken.registers, taken.resident_warps)
    });
    format!("{:.1} {of}{taken}", verdict.figure)
}

/// What `--json` prints.
#[derive(Serialize)]
pub struct Record {
    profile: String,
    unit: &'static str,
    /// Where the figures come from.
    figures: &'static str,
    /// What they are of.
    figure: &'static str,
    problems: Vec<Found>,
}

/// A problem's tiles.
#[derive(Serialize)]
struct Found {
    #[serde(flatten)]
    problem: Problem,
    #[serde(skip)]
    name: String,
    tried: usize,
    best: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    faster_but_spills: Option<Row>,
}

/// A tile.
#[derive(Serialize)]
struct Row {
    tile: String,
    warps: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    quadpairs: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chunk: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stages: Option<usize>,
    #[serde(flatten)]
    verdict: Verdict,
}

impl Record {
    /// The record of some problems.
    pub fn new(profile: &Profile, unit: Unit, judge: &Judge, outcomes: &[Outcome]) -> Self {
        let found = |outcome: &Outcome| Found {
            problem: outcome.problem,
            name: outcome.problem.to_string(),
            tried: outcome.tried,
            best: outcome.best.iter().map(row).collect(),
            faster_but_spills: outcome.spilled.as_ref().map(row),
        };
        let problems = outcomes.iter().map(found).collect();
        let (figures, figure) = (judge.source(), judge.figures());
        Self { profile: profile.name.clone(), unit: unit.name(), figures, figure, problems }
    }
}

fn row(tried: &Tried) -> Row {
    let verdict = tried.verdict;
    match tried.candidate {
        Candidate::Attention(tile) => Row {
            tile: format!("{}x{}", tile.block_m, tile.block_n),
            warps: tile.warps,
            quadpairs: tile.quadpairs.map(Quadpairs::name),
            chunk: Some(tile.chunk),
            stages: None,
            verdict,
        },
        Candidate::Matmul(tile) => Row {
            tile: format!("{}x{}x{}", tile.block_m, tile.block_n, tile.block_k),
            warps: tile.warps,
            quadpairs: None,
            chunk: None,
            stages: Some(tile.stages),
            verdict,
        },
    }
}

/// The record as a table.
pub fn text(record: &Record) -> String {
    let mut table = Table::of_texts();
    let columns = ["PROBLEM", "TRIED", "TILE", "WARPS", "QUADPAIRS", "CHUNK", "STAGES"];
    table.row(columns.into_iter().chain([record.figure, "REGISTERS", "RESIDENT WARPS"]));
    let mut notes = String::new();
    for found in &record.problems {
        for (i, row) in found.best.iter().enumerate() {
            let head = if i == 0 { [found.name.clone(), found.tried.to_string()] } else { Default::default() };
            table.row(head.into_iter().chain(cells(row)));
        }
        if let Some(row) = &found.faster_but_spills {
            let spills = row.verdict.taken.map_or(0, |taken| taken.spills);
            let parts: Vec<String> = cells(row).into_iter().collect();
            let [tile, warps, quadpairs, chunk, _, figure, ..] = &parts[..] else { continue };
            notes += &format!(
                "{}: {tile} with {warps} warps, quadpairs {quadpairs} and chunks of {chunk} has {figure} {}, but spills {spills} bytes.\n",
                found.name, record.figure
            );
        }
    }
    let notes = if notes.is_empty() { notes } else { format!("\n{notes}") };
    format!("Tiles for {} on {}, {}\n\n{table}{notes}", record.unit, record.profile, record.figures)
}

fn cells(row: &Row) -> [String; 8] {
    let number = |number: Option<usize>| number.map_or("-".to_owned(), |number| number.to_string());
    let taken =
        |of: fn(super::judge::Taken) -> u32| row.verdict.taken.map_or("-".to_owned(), |taken| of(taken).to_string());
    [
        row.tile.clone(),
        row.warps.to_string(),
        row.quadpairs.unwrap_or("-").to_owned(),
        number(row.chunk),
        number(row.stages),
        format!("{:.1}", row.verdict.figure),
        taken(|taken| taken.registers),
        taken(|taken| taken.resident_warps),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::judge::Taken;
    use super::*;
    use quadpair_profiles::MatmulTile;

    fn tried(block_m: usize, figure: f64, registers: u32, spills: u32) -> Tried {
        let tile = MatmulTile { block_m, block_n: 64, block_k: 32, warps: 4, stages: 2 };
        let taken = Some(Taken { registers, spills, resident_warps: 8 });
        Tried { candidate: Candidate::Matmul(tile), verdict: Verdict { figure, taken } }
    }

    fn ranked(all: &[Tried]) -> Result<Outcome, CliError> {
        Outcome::of(Problem::Matmul, all.to_vec(), |_| 1.0)
    }

    #[test]
    fn of_tiles_as_fast_as_the_fastest_the_smallest_is_taken() {
        let [fast, lean, small] = [tried(128, 80.0, 180, 0), tried(32, 79.2, 190, 0), tried(32, 79.1, 180, 0)];
        let slow = tried(64, 60.0, 100, 0);
        let outcome = ranked(&[slow, fast, lean, small]).unwrap();
        assert_eq!((outcome.best, outcome.tried, outcome.spilled), (vec![small, lean, fast], 4, None));
    }

    #[test]
    fn tiles_that_spill_are_left_out_and_named_if_they_were_faster() {
        let (whole, close, far) = (tried(64, 70.0, 255, 0), tried(128, 70.5, 255, 4), tried(128, 75.0, 255, 4));
        assert_eq!(ranked(&[whole, close]).unwrap().spilled, None);
        let outcome = ranked(&[far, whole, close]).unwrap();
        assert_eq!((outcome.best, outcome.spilled), (vec![whole], Some(far)));
        let error = ranked(&[far, close]).unwrap_err().to_string();
        assert_eq!(error, "matmul: of 2 tiles none does without spilled registers");
    }
}
