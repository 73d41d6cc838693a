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
    #[error(
        "no {tool} of CUDA {toolkit} or earlier is found, which knows {target}{}; looked in {looked}. {how}",
        if .newer.is_empty() { String::new() } else { format!(" ({newer})") }
    )]
    NoTool {
        /// `ptxas` or `nvdisasm`.
        tool: &'static str,
        /// The last toolkit that would do.
        toolkit: String,
        /// The target that it has to know.
        target: String,
        /// What was found that doesn't do.
        newer: String,
        /// Where it was looked for.
        looked: String,
        /// How to get it.
        how: String,
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
