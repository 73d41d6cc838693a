//! What can go wrong between a program and a GPU.

use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;
use thiserror::Error;

/// Why the driver, or a check made before calling it, refused.
#[derive(Debug, Error)]
pub enum CudaError {
    /// The machine has no usable driver library.
    #[error("no CUDA driver: {library} is missing or unusable ({reason}); install the NVIDIA driver")]
    NoDriver {
        /// The library looked for.
        library: &'static str,
        /// What the loader said.
        reason: String,
    },
    /// A device that does not exist was asked for.
    #[error("no CUDA device {ordinal}: this machine has {count}")]
    NoDevice {
        /// The device asked for, from 0.
        ordinal: usize,
        /// How many there are.
        count: usize,
    },
    /// A call of the driver failed.
    #[error("cannot {action}: the driver answered {result:?}")]
    Driver {
        /// What was being done.
        action: &'static str,
        /// The driver's result, such as `CUDA_ERROR_OUT_OF_MEMORY`.
        result: CUresult,
    },
    /// The driver's assembler refused the program.
    #[error("cannot assemble `{program}`: the driver answered {result:?}: {log}")]
    Assemble {
        /// The program's name.
        program: String,
        /// The driver's result, such as `CUDA_ERROR_INVALID_PTX`.
        result: CUresult,
        /// What the assembler wrote.
        log: String,
    },
    /// The program's text is no PTX that declares its entry.
    #[error("`{program}` cannot be launched: {problem}")]
    Text {
        /// The program's name.
        program: String,
        /// What is wrong with the text.
        problem: String,
    },
    /// The device is older than the code's architecture.
    #[error("code for sm_{sm} needs compute capability {}.{} or higher; this device has {}.{}",
        .sm / 10, .sm % 10, .device.0, .device.1)]
    Capability {
        /// The architecture of the code, 70 for `sm_70`.
        sm: u32,
        /// The device's compute capability.
        device: (i32, i32),
    },
    /// The device is another than the only one that the code's architecture runs on.
    #[error("code for sm_{sm}a runs on compute capability {}.{} only; this device has {}.{}",
        .sm / 10, .sm % 10, .device.0, .device.1)]
    OtherCapability {
        /// The architecture of the code, 90 for `sm_90a`.
        sm: u32,
        /// The device's compute capability.
        device: (i32, i32),
    },
    /// A program that isn't loaded yet was launched into the capture of a graph.
    #[error("`{program}` cannot be loaded while its stream is being captured; load it before, with `Cuda::load`")]
    Capturing {
        /// The program's name.
        program: String,
    },
    /// A block has no threads, or more than the device runs.
    #[error("`{program}` has {threads} threads a block; this device runs 1 to {limit}")]
    Threads {
        /// The program's name.
        program: String,
        /// Threads of its blocks.
        threads: u32,
        /// The most that a block can have.
        limit: u32,
    },
    /// A block needs more shared memory than it can have.
    #[error("`{program}` needs {bytes} bytes of shared memory a block; this device gives at most {limit}")]
    SharedMemory {
        /// The program's name.
        program: String,
        /// Bytes that a block needs.
        bytes: u32,
        /// The most that a block can have.
        limit: u32,
    },
    /// The grid is too long in one dimension.
    #[error("`{program}` is launched on {blocks} blocks along {axis}; the most is {limit}")]
    Grid {
        /// The program's name.
        program: String,
        /// `x`, `y` or `z`.
        axis: char,
        /// Blocks along it.
        blocks: u32,
        /// The most that there can be.
        limit: u32,
    },
    /// The number of arguments is wrong.
    #[error("`{program}` takes {expected} arguments, not {given}")]
    ArgumentCount {
        /// The program's name.
        program: String,
        /// How many it takes.
        expected: usize,
        /// How many there were.
        given: usize,
    },
    /// An argument has the wrong width.
    #[error("argument {index} of `{program}` has {expected} bytes, not {given}")]
    ArgumentWidth {
        /// The program's name.
        program: String,
        /// Which argument, from 0.
        index: usize,
        /// Bytes that the program reads.
        expected: u32,
        /// Bytes of the argument.
        given: u32,
    },
    /// An argument's memory belongs to another context.
    #[error("argument {index} of `{program}` is memory of another CUDA context than the stream's")]
    ForeignMemory {
        /// The program's name.
        program: String,
        /// Which argument, from 0.
        index: usize,
    },
}

/// Turns the driver's refusals into errors that say what was being done.
pub(super) trait During<T> {
    /// Names the action, as in "cannot open the device".
    fn during(self, action: &'static str) -> Result<T, CudaError>;
}

impl<T> During<T> for Result<T, DriverError> {
    fn during(self, action: &'static str) -> Result<T, CudaError> {
        self.map_err(|error| CudaError::Driver { action, result: error.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_action_and_the_result() {
        let refused: Result<(), _> = Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY));
        let text = refused.during("open the device").expect_err("an error stays one").to_string();
        assert_eq!(text, "cannot open the device: the driver answered CUDA_ERROR_OUT_OF_MEMORY");
    }

    #[test]
    fn errors_travel_between_threads_and_stay_small() {
        fn travels<T: std::error::Error + Send + Sync + 'static>() {}
        travels::<CudaError>();
        assert!(size_of::<CudaError>() <= 64);
    }
}
