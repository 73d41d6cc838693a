//! What can keep a kernel from being judged.

use thiserror::Error;

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ModelError {
    /// The profile doesn't say what its units cost.
    #[error("profile {profile} has no section `throughput`, which says what its units cost; {having} has one")]
    NoThroughput {
        /// The profile.
        profile: String,
        /// The profiles with such a section.
        having: String,
    },
    /// A tool isn't found.
    #[error("no {tool} {wanted} is found in {looked}. {HOW}")]
    NoTool {
        /// `ptxas` or `nvdisasm`.
        tool: &'static str,
        /// Of which toolkit, and why.
        wanted: String,
        /// Where it was looked for, and what was there instead.
        looked: String,
    },
    /// A tool can't be started, or its files can't be written.
    #[error("{what}: {error}")]
    System {
        /// What was tried.
        what: String,
        /// What the system says.
        error: String,
    },
    /// A tool refuses the text.
    #[error("{tool} refuses the kernel: {says}")]
    Refused {
        /// Which.
        tool: &'static str,
        /// What it says.
        says: String,
    },
    /// A tool's output isn't as expected.
    #[error("the output of {tool} {lacks}")]
    Output {
        /// Which.
        tool: &'static str,
        /// What is missing.
        lacks: &'static str,
    },
    /// The text has no kernel, or several.
    #[error("the PTX has {count} kernels (.entry); inspect takes one")]
    Entries {
        /// How many.
        count: usize,
    },
    /// The launch isn't known.
    #[error("the PTX has no line `// launch: threads=N shared=BYTES`")]
    NoLaunch,
    /// A parameter that the kernel doesn't have is given a value.
    #[error("the kernel has no parameter {name}; it has {has}")]
    Parameter {
        /// What was named.
        name: String,
        /// What there is.
        has: String,
    },
    /// No block of the kernel fits into a multiprocessor.
    #[error(
        "no block fits into a multiprocessor: {threads} threads of {registers} registers and {shared} bytes of shared memory"
    )]
    TooLarge {
        /// Threads of a block.
        threads: u32,
        /// Registers of a thread.
        registers: u32,
        /// Bytes of shared memory of a block.
        shared: u32,
    },
    /// A branch to be taken isn't there.
    #[error("no branch forward at {address:#x} in the main loop; it has {has}")]
    NoBranch {
        /// The address that was given.
        address: u32,
        /// Those that there are.
        has: String,
    },
}

/// How to get the tools.
const HOW: &str = "A CUDA toolkit brings both. Without one: `pip download --no-deps nvidia-cuda-nvcc-cu12==12.9.86` has \
    ptxas, `pip download --no-deps triton==3.2.0` has nvdisasm; unpack them, and name the folder with --tools";
