//! Running programs on NVIDIA GPUs through the driver alone.
//!
//! [`Cuda`] is a [`Backend`](crate::Backend) on a stream of the caller's: programs are queued on it and nothing here
//! ever waits. The driver assembles each program on its first launch, so neither building nor running needs a CUDA
//! toolkit, and [`probe`] tells whether there is a driver at all. Memory, streams and events are [`cudarc`]'s:
//!
//! ```no_run
//! use quadpair::cuda::{Cuda, cudarc::driver::CudaContext};
//! # fn target() -> quadpair::Target { unimplemented!() }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! quadpair::cuda::probe()?;
//! let stream = CudaContext::new(0)?.default_stream();
//! let cuda = Cuda::new(stream.clone(), target())?;
//! let input = stream.clone_htod(&[1.0_f32, 2.0])?;
//! // An instance of a kernel takes `&cuda` and arguments such as `input.as_view()`.
//! # Ok(())
//! # }
//! ```
//!
//! **The first launch** of a program loads it. The driver's assembler takes its time for that, so a [`CubinCache`] keeps
//! the machine code for later runs. [`Cuda::load`] loads a program ahead.
//!
//! **Graphs.** A launch of a loaded program makes no memory, waits for nothing and loads nothing, so it can be captured:
//!
//! ```no_run
//! use quadpair::cuda::{Cuda, cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode}};
//! # use std::sync::Arc;
//! # fn capture(cuda: &Cuda, program: &Arc<quadpair::Program>) -> Result<(), Box<dyn std::error::Error>> {
//! cuda.load(program)?;
//! cuda.synchronize()?; // what was queued before is no part of the graph
//! cuda.stream().begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
//! // Launches on `cuda`.
//! let graph = cuda.stream().end_capture(CUgraphInstantiate_flags(0))?.expect("something was captured");
//! graph.launch()?;
//! # Ok(())
//! # }
//! ```
//!
//! The stream can be any but the default one, which CUDA does not capture. While it is captured, a launch neither waits
//! for earlier users of its memory nor tells later ones, since a graph runs when it's replayed: whoever replays it keeps
//! the memory and this backend (which holds the programs) alive, and the memory's other users before or after.

#![allow(unsafe_code)]

mod cache;
mod cubins;
mod driver;
mod elements;
mod error;
mod event;
mod idle;
mod launch;
mod module;

use std::fmt;
use std::sync::Arc;

pub use cudarc;
use cudarc::driver::sys::CUstreamCaptureStatus;
use cudarc::driver::{CudaContext, CudaStream, DevicePtr};

pub use cubins::CubinCache;
pub use driver::{DeviceInfo, devices, probe};
pub use error::CudaError;
pub use event::Event;
pub use launch::Arg;
pub use module::Module;

use crate::runtime::{Program, Target};
use cache::Cache;
use cubins::Source;
use driver::Limits;
use error::During;
use idle::Idle;

/// A stream to run programs on, with the programs loaded so far; all streams of a context share those.
pub struct Cuda {
    stream: Arc<CudaStream>,
    target: Target,
    limits: Limits,
    cache: Arc<Cache>,
    idle: Arc<Idle>,
    cubins: CubinCache,
}

impl Cuda {
    /// Runs programs made for a target on a stream of the caller's, with the [`CubinCache`] of the environment.
    ///
    /// # Errors
    /// A device too old for the target, or whatever the driver answers when asked for the device's limits.
    pub fn new(stream: Arc<CudaStream>, target: impl Into<Target>) -> Result<Self, CudaError> {
        let (target, limits) = (target.into(), Limits::of(stream.context())?);
        launch::check_capability(&limits, target)?;
        let cache = Cache::of(stream.context());
        let idle = cache.idle(stream.context())?;
        Ok(Cuda { stream, target, limits, cache, idle, cubins: CubinCache::from_env() })
    }

    /// The same with machine code kept elsewhere, or not at all.
    #[must_use]
    pub fn with_cubins(self, cubins: CubinCache) -> Self {
        Cuda { cubins, ..self }
    }

    /// Runs programs on the default stream of a device, in its primary context.
    ///
    /// # Errors
    /// No driver, no such device, or as [`Cuda::new`].
    pub fn open(ordinal: usize, target: impl Into<Target>) -> Result<Self, CudaError> {
        let count = driver::count()?;
        if ordinal >= count {
            return Err(CudaError::NoDevice { ordinal, count });
        }
        let context = CudaContext::new(ordinal).during("open the device")?;
        Cuda::new(context.default_stream(), target)
    }

    /// The stream.
    pub fn stream(&self) -> &Arc<CudaStream> {
        &self.stream
    }

    /// The device's compute capability, such as `(7, 0)`.
    pub fn compute_capability(&self) -> (i32, i32) {
        self.limits.capability
    }

    /// Waits until everything queued on the stream has run.
    ///
    /// # Errors
    /// What a kernel that ran before did wrong, as the driver names it.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        self.stream.synchronize().during("finish the work on the stream")
    }

    /// The program loaded on the device: assembled on first use and kept. Launching does this too; doing it ahead
    /// keeps it out of a measurement or of the capture of a graph.
    ///
    /// # Errors
    /// A program that does not fit the device, or that the driver's assembler refuses; a program that isn't loaded yet
    /// while the stream is being captured.
    pub fn load(&self, program: &Arc<Program>) -> Result<Arc<Module>, CudaError> {
        self.cache.get(program, || {
            launch::check_program(&self.limits, program)?;
            if self.is_capturing()? {
                return Err(CudaError::Capturing { program: program.name.clone() });
            }
            let (driver, capability) = (driver::version()?, self.limits.capability);
            let source = Source { ptx: &program.ptx, driver, capability };
            Module::load(self.stream.context(), program, &self.cubins, &source)
        })
    }

    /// The address of device memory. Nothing waits for it.
    pub fn address<T>(&self, memory: &impl DevicePtr<T>) -> u64 {
        self.idle.address(memory)
    }

    /// Whether the stream is being captured into a graph.
    fn is_capturing(&self) -> Result<bool, CudaError> {
        let status = self.stream.capture_status().during("ask whether the stream is being captured")?;
        Ok(status != CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
    }
}

impl fmt::Debug for Cuda {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cuda").field("target", &self.target).field("limits", &self.limits).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
