//! `quadpair bench`: how fast the kernels are on a GPU, and whether they were right while they were.
//!
//! A row of the table is a shape. Its inputs are random numbers that can be made again elsewhere ([`random`]); several
//! sets of them, more than the L2 cache holds, take turns, so that none is found there. The GPU's own clock times every
//! launch ([`timing`]). The first output is held against float64 at a sample of its rows before anything is timed.

mod attention;
mod attention_inputs;
mod gpu;
mod matmul;
mod random;
mod shape;
mod timing;

pub use attention_inputs::AttentionInputs;
pub use matmul::MatmulInputs;

use super::error::CliError;
use clap::Subcommand;

/// Measures kernels on a GPU.
#[derive(Debug, clap::Args)]
pub struct Bench {
    #[command(subcommand)]
    kernel: Kernel,
}

#[derive(Debug, Subcommand)]
enum Kernel {
    Attention(attention::Attention),
    Matmul(matmul::Matmul),
}

impl Bench {
    /// Measures, reports.
    pub fn run(&self) -> Result<(), CliError> {
        match &self.kernel {
            Kernel::Attention(attention) => attention.run(),
            Kernel::Matmul(matmul) => matmul.run(),
        }
    }
}
