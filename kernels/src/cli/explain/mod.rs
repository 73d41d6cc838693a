//! `quadpair explain`: what a kernel holds and does, by source line.
//!
//! From the tile IR: tiles with their layouts, conversions with their plans, shared accesses, reductions. From the PTX: how
//! many instructions that became, how wide, with which wavefronts. Both meet at the source line.

mod lines;
mod record;

use self::lines::Lines;
use self::record::Record;
use super::error::CliError;
use super::kernel::{KernelChoice, Made, source};
use super::output::{print, print_json};
use super::table::Table;
use quadpair::inspect::emitted::{Emitted, Wavefronts, Work, emitted};
use quadpair::inspect::tiles::Contents;
use std::collections::BTreeSet;

/// Explain a kernel line by line: its tiles and their layouts, what conversions and shared memory cost, what it loads.
///
/// For each source line: the tiles that it makes (value numbers, type, the number of the layout), every conversion with
/// its plan and cost, every shared-memory access with vector width and wavefronts, reductions, and how many instructions
/// of which width the line became. Counts are static: an instruction counts once, whether it stands in a loop, which is
/// then named, or in a branch. Wavefronts of instructions are those of all warps of a block; what a conversion or an access
/// of the kernel costs is that of one warp.
///
/// Flash attention is the kernel for f16 operands without a bias, matmul the one for f16 operands, both for rows that
/// start at multiples of 16 bytes.
#[derive(Debug, clap::Args)]
pub struct Explain {
    #[command(flatten)]
    kernel: KernelChoice,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// What is known of a kernel.
struct Explained {
    made: Made,
    contents: Contents,
    emitted: Vec<Emitted>,
}

impl Explain {
    /// Makes the kernel, and prints what it holds and does.
    pub fn run(&self) -> Result<(), CliError> {
        let made = self.kernel.make()?;
        let (contents, emitted) = (Contents::of(&made.function, made.program.target()), emitted(&made.program)?);
        let explained = Explained { made, contents, emitted };
        match self.json {
            true => print_json(&Record::of(&explained)),
            false => print(&explained.text()),
        }
    }
}

impl Explained {
    fn text(&self) -> String {
        let program = &self.made.program;
        let head = format!(
            "{}: {} warps, {} bytes of shared memory a block",
            program.name(),
            program.threads() / 32,
            program.shared_bytes()
        );
        let lines = Lines::of(&self.contents, &self.emitted);
        format!("{head}\n\n{}\n{}\n{}", self.layouts(), lines.text(&source), self.totals())
    }

    fn layouts(&self) -> Table {
        let mut table = Table::of_texts();
        table.row(["LAYOUT", ""]);
        for (number, layout) in self.contents.layouts.iter().enumerate() {
            table.row([format!("#{number}"), layout.to_string()]);
        }
        table
    }

    /// All the work, once and in each turn of each loop; what there is none of is left out.
    fn totals(&self) -> String {
        let scopes: BTreeSet<Option<u32>> = self.emitted.iter().map(|one| one.place.turn_of).collect();
        let mut table = Table::of_numbers();
        let name = |scope: &Option<u32>| scope.map_or("once".to_owned(), |line| format!("each turn of line {line}"));
        table.row(["TOTAL, instructions of a warp".to_owned()].into_iter().chain(scopes.iter().map(name)));
        let mut row = |what: &str, count: &dyn Fn(Option<u32>) -> u32| {
            let counts: Vec<u32> = scopes.iter().map(|scope| count(*scope)).collect();
            if counts.iter().any(|count| *count > 0) {
                table.row([what.to_owned()].into_iter().chain(counts.iter().map(u32::to_string)));
            }
        };
        for work in Work::ALL {
            row(work.name(), &|scope| self.instructions(work, scope));
        }
        row("wavefronts of a block", &|scope| self.wavefronts(scope).taken);
        row("least possible", &|scope| self.wavefronts(scope).ideal);
        row("accesses at addresses that depend on data", &|scope| self.wavefronts(scope).unknown);
        row("accesses counted for all lanes, by guards that depend on data", &|scope| self.wavefronts(scope).guarded);
        table.to_string()
    }

    fn instructions(&self, work: Work, scope: Option<u32>) -> u32 {
        let all = self.emitted.iter().filter(|one| one.work == work && one.place.turn_of == scope);
        all.map(|one| one.instructions).sum()
    }

    fn wavefronts(&self, scope: Option<u32>) -> Wavefronts {
        let mut all = Wavefronts::default();
        for one in self.emitted.iter().filter(|one| one.place.turn_of == scope) {
            all.add(one.shared);
        }
        all
    }
}
