//! From a kernel to a launch: instances, programs and the backends that run them.
//!
//! A [`Kernel`] is a `#[kernel]` with its comptime parameters fixed. An [`Instance`] holds one and keeps the
//! [`Program`]s (PTX text and what its launch needs) made from it, one for each [`Target`]. A [`Backend`] runs programs:
//! the [simulator](crate::sim) on host slices, [CUDA](crate::cuda) on device views, with the same typed arguments.

use std::sync::{Arc, Mutex};

use quadpair_profiles::Profile;
use thiserror::Error;

use crate::element::{Element, Scalar};
use crate::ir::Function;
use crate::lang::{Trace, TraceError};
use crate::lower::LowerError;
use crate::sim::Counters;

/// What code is made for: an architecture and the PTX version that text for it is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// 70 for `sm_70`.
    pub sm: u32,
    /// Whether it is `sm_90a` rather than `sm_90`: code for this architecture alone, with what only this one has.
    pub specific: bool,
    /// The lowest PTX version, such as `(6, 4)`, that the target's driver is sure to read.
    pub isa: (u32, u32),
    /// The most shared memory, in bytes, that a block can have.
    pub shared_bytes: u32,
    /// The most threads that a block can have.
    pub threads: u32,
}

impl Target {
    /// What PTX calls the architecture: `sm_70`.
    pub fn name(&self) -> String {
        format!("sm_{}{}", self.sm, if self.specific { "a" } else { "" })
    }
}

/// A kernel with its comptime parameters; `#[kernel]` implements it.
pub trait Kernel: Copy + std::fmt::Debug + Send + Sync + 'static {
    /// The function's name.
    const NAME: &'static str;
    /// The run-time arguments on a backend.
    type Args<'a, B: Backend>;
    /// Traces the body: the check and the recording are the same walk.
    fn trace(&self, trace: &mut Trace<'_>);
    /// Blocks to launch for these arguments.
    fn grid<B: Backend>(&self, args: &Self::Args<'_, B>) -> [u32; 3];
    /// The arguments in order, as the backend takes them.
    fn bind<'a, B: Backend>(args: Self::Args<'a, B>) -> Vec<B::Arg<'a>>;
}

/// Something that runs programs.
pub trait Backend {
    /// Memory that a kernel reads.
    type Ref<'a, T: Element>;
    /// Memory that a kernel writes.
    type Mut<'a, T: Element>;
    /// An argument ready to launch.
    type Arg<'a>;
    /// Passes memory to read.
    fn pointer<'a, T: Element + 'a>(memory: Self::Ref<'a, T>) -> Self::Arg<'a>;
    /// Passes memory to read, or a null pointer.
    fn pointer_option<'a, T: Element + 'a>(memory: Option<Self::Ref<'a, T>>) -> Self::Arg<'a>;
    /// Passes memory to write.
    fn pointer_mut<'a, T: Element + 'a>(memory: Self::Mut<'a, T>) -> Self::Arg<'a>;
    /// Passes a scalar.
    fn scalar<'a>(scalar: Scalar) -> Self::Arg<'a>;
    /// What programs for this backend are made for.
    fn target(&self) -> Target;
    /// Runs a program over a grid of blocks. A grid with a zero extent runs nothing.
    ///
    /// What a kernel reads and writes depends on its arguments and on memory, so nobody can say in advance how long the
    /// memory must be that it is given. The simulator stops a program that leaves it; a GPU does what such a program
    /// says. Whoever launches a kernel answers for its arguments.
    ///
    /// # Errors
    /// What the program did wrong, or why the backend could not run it.
    fn launch(&self, program: &Arc<Program>, grid: [u32; 3], args: Vec<Self::Arg<'_>>) -> Result<Report, LaunchError>;
}

/// An instance made for a target. Only a kernel makes one, so that what a GPU runs went through every check.
#[derive(Debug)]
pub struct Program {
    pub(crate) name: String,
    pub(crate) ptx: String,
    pub(crate) entry: String,
    pub(crate) threads: u32,
    pub(crate) shared_bytes: u32,
    pub(crate) target: Target,
}

impl Program {
    /// The instance's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The PTX text.
    pub fn ptx(&self) -> &str {
        &self.ptx
    }

    /// The kernel's symbol in it.
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// Threads of a block.
    pub fn threads(&self) -> u32 {
        self.threads
    }

    /// Dynamic shared memory of a block, in bytes.
    pub fn shared_bytes(&self) -> u32 {
        self.shared_bytes
    }

    /// What it was made for.
    pub fn target(&self) -> Target {
        self.target
    }
}

/// What a launch tells of itself.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What the simulator counted; `None` on a GPU.
    pub counters: Option<Counters>,
    /// What the simulated kernel printed, which went to standard output too. A GPU prints by itself.
    pub printed: String,
}

/// Why a kernel could not be made into a program.
#[derive(Debug, Error)]
pub enum KernelError {
    /// A rule of the language is broken with these comptime parameters.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The target cannot run it.
    #[error(transparent)]
    Lower(#[from] LowerError),
}

/// Why a launch failed.
#[derive(Debug, Error)]
pub enum LaunchError {
    /// There is no program to launch.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The simulator stopped the program, or can't run it.
    #[error(transparent)]
    Simulator(#[from] crate::sim::SimError),
    /// The driver refused.
    #[error(transparent)]
    Cuda(#[from] crate::cuda::CudaError),
}

/// A kernel with its comptime parameters and the programs made from it so far.
#[derive(Debug)]
pub struct Instance<K> {
    name: &'static str,
    kernel: K,
    programs: Mutex<Vec<Arc<Program>>>,
}

impl<K> Instance<K> {
    /// An instance; nothing is compiled yet.
    pub const fn new(name: &'static str, kernel: K) -> Self {
        Instance { name, kernel, programs: Mutex::new(Vec::new()) }
    }

    /// The instance's name.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The comptime parameters.
    pub const fn kernel(&self) -> &K {
        &self.kernel
    }
}

impl<K: Kernel> Instance<K> {
    /// The program for a target, made on first use and kept.
    ///
    /// # Errors
    /// A broken rule of the language, or a target that cannot run the kernel.
    pub fn program(&self, target: Target) -> Result<Arc<Program>, KernelError> {
        let mut programs = self.programs.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(program) = programs.iter().find(|p| p.target == target) {
            return Ok(Arc::clone(program));
        }
        let program = Arc::new(compile(self.name, &self.kernel, target)?);
        programs.push(Arc::clone(&program));
        Ok(program)
    }

    /// Runs the kernel on a backend.
    ///
    /// # Errors
    /// Whatever keeps the program from being made or from running to its end.
    pub fn launch<B: Backend>(&self, backend: &B, args: K::Args<'_, B>) -> Result<Report, LaunchError> {
        let program = self.program(backend.target())?;
        let grid = self.kernel.grid::<B>(&args);
        backend.launch(&program, grid, K::bind::<B>(args))
    }
}

/// Traces a kernel, lowers it and prints the result.
///
/// # Errors
/// A broken rule of the language, or a target that cannot run the kernel.
pub fn compile<K: Kernel>(name: &str, kernel: &K, target: Target) -> Result<Program, KernelError> {
    Ok(crate::lower::lower(name, &record(kernel)?, target)?)
}

/// Traces a kernel and gives its tile IR.
///
/// # Errors
/// A broken rule of the language.
pub fn record<K: Kernel>(kernel: &K) -> Result<Function, TraceError> {
    Function::record(K::NAME, |trace| kernel.trace(trace))
        .map_err(|error| TraceError { kernel: format!("{kernel:?}"), ..error })
}

impl From<&Profile> for Target {
    fn from(profile: &Profile) -> Self {
        let (ptx, limits) = (&profile.ptx, &profile.limits);
        let (sm, specific, isa) = (ptx.sm(), ptx.is_specific(), ptx.version());
        Target { sm, specific, isa, shared_bytes: limits.shared_per_block, threads: limits.threads_per_block }
    }
}
