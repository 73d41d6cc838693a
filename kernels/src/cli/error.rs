//! Everything that can keep the command from its work.

use quadpair::cuda::CudaError;
use quadpair::inspect::expression::ExpressionError;
use quadpair::ptx::ParseError;
use quadpair::{KernelError, LaunchError};
use quadpair_kernels::attention::AttentionError;
use quadpair_kernels::matmul::MatmulError;
use quadpair_model::ModelError;
use quadpair_profiles::ProfileError;
use std::path::PathBuf;

/// Why the command failed.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// A file can't be read.
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    /// A file can't be written.
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    /// Standard output can't be written.
    #[error("cannot write the output: {0}")]
    Stdout(std::io::Error),
    /// A file isn't in the safetensors format.
    #[error("{file} is no readable safetensors file: {source}")]
    Format { file: String, source: safetensors::SafeTensorError },
    /// A tensor isn't there.
    #[error("{file} has no tensor {tensor}; it has {}", list(.has))]
    Missing { file: String, tensor: &'static str, has: Vec<String> },
    /// A tensor has too many or too few dimensions.
    #[error("{tensor} in {file} has shape {shape:?}; {dims} is needed")]
    Rank { file: String, tensor: &'static str, shape: Vec<usize>, dims: &'static str },
    /// A tensor's elements are of a type that nothing here computes with.
    #[error("{tensor} in {file} is {dtype}; {allowed} is needed")]
    DType { file: String, tensor: &'static str, dtype: String, allowed: String },
    /// The file's own results have another shape than ours.
    #[error("{tensor} in {file} has shape {shape:?}; {expected:?} is needed, by the shape of q")]
    ResultShape { file: String, tensor: &'static str, shape: Vec<usize>, expected: Vec<usize> },
    /// A tile has too many or too few extents.
    #[error("--tile {tile} has {given} extents; {kernel} takes {form}")]
    Tile { tile: String, given: usize, kernel: &'static str, form: &'static str },
    /// The result is too far from what it's compared with.
    #[error("{what} is {value:.2e} away from {against}, {allowed:.0e} is allowed")]
    Wrong { what: &'static str, value: f64, against: &'static str, allowed: f64 },
    /// The result has NaNs or infinities where there should be numbers.
    #[error("{count} elements of {what} are NaN, or infinite where {against} is not")]
    Unusable { what: &'static str, count: usize, against: &'static str },
    /// The matrices don't fit into memory.
    #[error("not enough memory for a {rows} x {columns} matrix")]
    Memory { rows: usize, columns: usize },
    /// A layout expression has no meaning.
    #[error(transparent)]
    Expression(#[from] ExpressionError),
    /// Two layouts that nothing is known to lie between.
    #[error("{0}")]
    Pair(String),
    /// A kernel's text can't be read back.
    #[error(transparent)]
    Ptx(#[from] ParseError),
    /// A kernel can't be judged by the model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// What is to be inspected is neither a kernel nor a file.
    #[error("there is no kernel and no .ptx file {name}; the kernels are {}", list(.kernels))]
    NoKernel { name: String, kernels: Vec<String> },
    /// The profile isn't there or is malformed.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// Attention can't be prepared or run.
    #[error(transparent)]
    Attention(#[from] AttentionError),
    /// Matmul can't be prepared or run.
    #[error(transparent)]
    Matmul(#[from] MatmulError),
    /// There's no GPU, or it refused.
    #[error(transparent)]
    Cuda(#[from] CudaError),
    /// There's no GPU to measure, or it refused.
    #[error("there is no GPU to measure: {0}")]
    NoGpu(CudaError),
    /// The GPU is another chip than tiles are to be found for.
    #[error(
        "{gpu} has compute capability {capability}, which profile {profile} is not for: its times say nothing of that"
    )]
    OtherChip { gpu: String, capability: String, profile: String },
    /// Neither a model nor a GPU can judge tiles.
    #[error("nothing can judge tiles: {model}; {gpu}")]
    NoJudge { model: String, gpu: String },
    /// No tile of a problem can be taken.
    #[error("{problem}: of {tried} tiles none does without spilled registers")]
    NoTile { problem: String, tried: usize },
    /// The simulator was to be measured.
    #[error("the simulator counts what a kernel does and has no times; bench needs --device cuda")]
    NoTime,
    /// A kernel can't be made for the chip.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A launch failed.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

impl CliError {
    /// The message on one line, whatever a driver's log or a parser put into it; of an expression, with the expression and
    /// its carets under it.
    pub fn line(&self) -> String {
        if let Self::Expression(error) = self {
            return error.to_string();
        }
        let text = self.to_string();
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; ")
    }
}

fn list(names: &[String]) -> String {
    if names.is_empty() { "none".into() } else { names.join(", ") }
}
