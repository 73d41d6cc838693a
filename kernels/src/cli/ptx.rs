//! `quadpair ptx`: the PTX text that would run.

use super::error::CliError;
use super::kernel::KernelChoice;
use super::output::{PendingFile, print};
use std::path::PathBuf;

/// Print the PTX of a kernel as it would run on a profile's chip.
///
/// Flash attention is the kernel for f16 operands without a bias, matmul the one for f16 operands, both for rows that
/// start at multiples of 16 bytes.
#[derive(Debug, clap::Args)]
pub struct Ptx {
    #[command(flatten)]
    kernel: KernelChoice,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Ptx {
    /// Makes the kernel and prints its text.
    pub fn run(&self) -> Result<(), CliError> {
        let made = self.kernel.make()?;
        let text = made.program.ptx();
        match &self.output {
            Some(path) => PendingFile::create(path)?.write(text.as_bytes()),
            None => print(text),
        }
    }
}
