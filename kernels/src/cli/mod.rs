//! The command line: options, subcommands, and how results and errors are shown.
//!
//! One file or folder a subcommand: [`attend`], [`matmul`], [`bench`], [`ptx`], [`layout`], [`explain`], [`inspect`],
//! [`tune`], [`list`]. Each turns its options into a call of the library
//! and the outcome into a record, which is printed as a table or, with `--json`, as one object.

mod attend;
mod bench;
mod engine;
mod error;
mod explain;
mod inspect;
mod kernel;
mod layout;
mod list;
mod matmul;
mod options;
mod output;
mod plan;
mod progress;
mod ptx;
mod table;
mod tensors;
mod tune;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Flash attention and matmul as tiled GPU kernels, run on a GPU or, where there is none, in a simulator.
///
/// Without a subcommand: attention on the bundled sample, checked against float64.
#[derive(Debug, Parser)]
#[command(name = "quadpair", version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    Attend(attend::Attend),
    Matmul(matmul::Matmul),
    Bench(bench::Bench),
    Ptx(ptx::Ptx),
    Layout(layout::Layout),
    Explain(explain::Explain),
    Inspect(inspect::Inspect),
    Tune(tune::Tune),
    List(list::List),
}

/// Reads the arguments, does what they say, and reports an error as one line.
pub fn main() -> ExitCode {
    let result = match Cli::parse().command {
        None => attend::Attend::default().run(),
        Some(Command::Attend(attend)) => attend.run(),
        Some(Command::Matmul(matmul)) => matmul.run(),
        Some(Command::Bench(bench)) => bench.run(),
        Some(Command::Ptx(ptx)) => ptx.run(),
        Some(Command::Layout(layout)) => layout.run(),
        Some(Command::Explain(explain)) => explain.run(),
        Some(Command::Inspect(inspect)) => inspect.run(),
        Some(Command::Tune(tune)) => tune.run(),
        Some(Command::List(list)) => list.run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&format!("error: {}", error.line()));
            ExitCode::FAILURE
        }
    }
}
