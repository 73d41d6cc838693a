//! Launching a program: its arguments, the checks, and the one call that runs it.
//!
//! Everything that can be known before the launch is checked first: the device against the program's target, the
//! block and the grid against the device, and the arguments against the parameters that the PTX declares. A grid of
//! `[4, 70_000, 1]`, say, is an error here, since only the x axis goes beyond 65535 blocks.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::{
    CudaContext, CudaFunction, CudaStream, CudaView, CudaViewMut, DevicePtr, DevicePtrMut, DeviceSlice, SyncOnDrop,
    result,
};

use super::Cuda;
use super::driver::Limits;
use super::error::{CudaError, During};
use crate::element::{Element, Scalar};
use crate::runtime::{Backend, LaunchError, Program, Report, Target};

/// The most blocks along x, y and z.
const GRID_LIMITS: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];

/// An argument ready to launch. It holds the borrow of its memory until the launch is queued.
pub struct Arg<'a>(Value<'a>);

enum Value<'a> {
    Memory(Box<dyn Memory + 'a>),
    Bits32(u32),
    Bits64(u64),
}

/// Device memory whose element type is forgotten.
trait Memory {
    fn context(&self) -> &Arc<CudaContext>;
    /// Its address for a use on a stream, which waits for the memory's other users if the context has several streams.
    /// The second part tells them of the use when it is dropped.
    fn address<'b>(&'b mut self, stream: &'b CudaStream) -> (u64, SyncOnDrop<'b>);
}

impl<T: Element> Memory for CudaView<'_, T> {
    fn context(&self) -> &Arc<CudaContext> {
        self.stream().context()
    }

    fn address<'b>(&'b mut self, stream: &'b CudaStream) -> (u64, SyncOnDrop<'b>) {
        self.device_ptr(stream)
    }
}

impl<T: Element> Memory for CudaViewMut<'_, T> {
    fn context(&self) -> &Arc<CudaContext> {
        self.stream().context()
    }

    fn address<'b>(&'b mut self, stream: &'b CudaStream) -> (u64, SyncOnDrop<'b>) {
        self.device_ptr_mut(stream)
    }
}

impl Arg<'_> {
    fn bytes(&self) -> u32 {
        match self.0 {
            Value::Memory(_) | Value::Bits64(_) => 8,
            Value::Bits32(_) => 4,
        }
    }

    fn is_foreign(&self, context: &Arc<CudaContext>) -> bool {
        matches!(&self.0, Value::Memory(memory) if memory.context() != context)
    }

    /// What the kernel reads, in its first bytes, and what to drop once it is queued.
    fn bits<'b>(&'b mut self, stream: &'b CudaStream) -> (u64, Option<SyncOnDrop<'b>>) {
        match &mut self.0 {
            Value::Memory(memory) => {
                let (address, used) = memory.address(stream);
                (address, Some(used))
            }
            // Devices and the hosts of their drivers are little-endian.
            Value::Bits32(bits) => (u64::from(*bits), None),
            Value::Bits64(bits) => (*bits, None),
        }
    }
}

impl Backend for Cuda {
    type Ref<'a, T: Element> = CudaView<'a, T>;
    type Mut<'a, T: Element> = CudaViewMut<'a, T>;
    type Arg<'a> = Arg<'a>;

    fn pointer<'a, T: Element + 'a>(memory: CudaView<'a, T>) -> Arg<'a> {
        Arg(Value::Memory(Box::new(memory)))
    }

    fn pointer_option<'a, T: Element + 'a>(memory: Option<CudaView<'a, T>>) -> Arg<'a> {
        memory.map_or(Arg(Value::Bits64(0)), Self::pointer)
    }

    fn pointer_mut<'a, T: Element + 'a>(memory: CudaViewMut<'a, T>) -> Arg<'a> {
        Arg(Value::Memory(Box::new(memory)))
    }

    fn scalar<'a>(scalar: Scalar) -> Arg<'a> {
        Arg(match scalar {
            Scalar::Bool(value) => Value::Bits32(value.into()),
            Scalar::I32(value) => Value::Bits32(value.cast_unsigned()),
            Scalar::U32(value) => Value::Bits32(value),
            Scalar::F32(value) => Value::Bits32(value.to_bits()),
            Scalar::I64(value) => Value::Bits64(value.cast_unsigned()),
            Scalar::U64(value) => Value::Bits64(value),
            Scalar::F64(value) => Value::Bits64(value.to_bits()),
        })
    }

    fn target(&self) -> Target {
        self.target
    }

    /// Queues the program on the stream and returns at once. Allocates no device memory; the first launch of a
    /// program also assembles and loads it, which [`Cuda::load`] can do ahead.
    fn launch(&self, program: &Arc<Program>, grid: [u32; 3], args: Vec<Arg<'_>>) -> Result<Report, LaunchError> {
        self.enqueue(program, grid, args)?;
        Ok(Report::default())
    }
}

impl Cuda {
    fn enqueue(&self, program: &Arc<Program>, grid: [u32; 3], mut args: Vec<Arg<'_>>) -> Result<(), CudaError> {
        check_program(&self.limits, program)?;
        check_grid(program, grid)?;
        check_contexts(program, self.stream.context(), &args)?;
        if grid.contains(&0) {
            return Ok(());
        }
        let module = self.load(program)?;
        check_arguments(program, module.parameters(), &args)?;
        let capturing = self.stream.context().is_managing_stream_synchronization() && self.is_capturing()?;
        let user = if capturing { self.idle.stream() } else { &*self.stream };
        let (mut bits, used): (Vec<u64>, Vec<_>) = args.iter_mut().map(|arg| arg.bits(user)).unzip();
        let queued = self.queue(program, module.function(), grid, &mut bits);
        if capturing {
            // The launch takes place when the graph is replayed: there is nothing to tell other streams now.
            used.into_iter().for_each(std::mem::forget);
        }
        queued
    }

    fn queue(
        &self,
        program: &Program,
        function: &CudaFunction,
        grid: [u32; 3],
        bits: &mut [u64],
    ) -> Result<(), CudaError> {
        self.stream.context().bind_to_thread().during("launch a kernel")?;
        let mut parameters: Vec<*mut c_void> = bits.iter_mut().map(|bits| (&raw mut *bits).cast()).collect();
        let (grid, block, stream) = (grid.into(), (program.threads, 1, 1), self.stream.cu_stream());
        // SAFETY: the arguments have the number and the widths that the kernel reads. Memory arguments are of this
        // context and stay borrowed until the launch is queued; from then on the stream's order and their events keep
        // them alive and in turn, or, in a graph, whoever replays it. A program comes from a checked kernel, which
        // writes only what it takes mutably.
        unsafe {
            result::launch_kernel(function.cu_function(), grid, block, program.shared_bytes, stream, &mut parameters)
        }
        .during("launch a kernel")
    }
}

/// Whether the device runs the code of a target.
pub(super) fn check_capability(limits: &Limits, target: Target) -> Result<(), CudaError> {
    let (device, sm) = (limits.capability, target.sm);
    let has = u32::try_from(device.0 * 10 + device.1).unwrap_or(0);
    match has {
        _ if has < sm => Err(CudaError::Capability { sm, device }),
        _ if target.specific && has != sm => Err(CudaError::OtherCapability { sm, device }),
        _ => Ok(()),
    }
}

/// Whether the device can run the program's blocks.
pub(super) fn check_program(limits: &Limits, program: &Program) -> Result<(), CudaError> {
    check_capability(limits, program.target)?;
    let name = || program.name.clone();
    let (threads, bytes) = (program.threads, program.shared_bytes);
    if threads == 0 || threads > limits.threads {
        return Err(CudaError::Threads { program: name(), threads, limit: limits.threads });
    }
    if bytes > limits.shared_bytes {
        return Err(CudaError::SharedMemory { program: name(), bytes, limit: limits.shared_bytes });
    }
    Ok(())
}

fn check_grid(program: &Program, grid: [u32; 3]) -> Result<(), CudaError> {
    for (axis, (blocks, limit)) in ['x', 'y', 'z'].into_iter().zip(grid.into_iter().zip(GRID_LIMITS)) {
        if blocks > limit {
            return Err(CudaError::Grid { program: program.name.clone(), axis, blocks, limit });
        }
    }
    Ok(())
}

fn check_contexts(program: &Program, context: &Arc<CudaContext>, args: &[Arg<'_>]) -> Result<(), CudaError> {
    match args.iter().position(|arg| arg.is_foreign(context)) {
        Some(index) => Err(CudaError::ForeignMemory { program: program.name.clone(), index }),
        None => Ok(()),
    }
}

fn check_arguments(program: &Program, parameters: &[u32], args: &[Arg<'_>]) -> Result<(), CudaError> {
    let (expected, given) = (parameters.len(), args.len());
    if expected != given {
        return Err(CudaError::ArgumentCount { program: program.name.clone(), expected, given });
    }
    for (index, (&expected, given)) in parameters.iter().zip(args.iter().map(Arg::bytes)).enumerate() {
        if expected != given {
            return Err(CudaError::ArgumentWidth { program: program.name.clone(), index, expected, given });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{SCALE, VOLTA, program};
    use super::*;

    fn text(result: Result<(), CudaError>) -> String {
        result.expect_err("a check must refuse").to_string()
    }

    fn scalars(values: &[Scalar]) -> Vec<Arg<'static>> {
        values.iter().map(|&value| Cuda::scalar(value)).collect()
    }

    #[test]
    fn scalars_are_passed_by_their_bits() {
        let bits = |scalar| match Cuda::scalar(scalar).0 {
            Value::Bits32(bits) => (4, u64::from(bits)),
            Value::Bits64(bits) => (8, bits),
            Value::Memory(_) => panic!("a scalar is no memory"),
        };
        assert_eq!(bits(Scalar::Bool(true)), (4, 1));
        assert_eq!(bits(Scalar::I32(-1)), (4, 0xffff_ffff));
        assert_eq!(bits(Scalar::F32(1.0)), (4, 0x3f80_0000));
        assert_eq!(bits(Scalar::I64(-2)), (8, u64::MAX - 1));
        assert_eq!(bits(Scalar::F64(1.0)), (8, 0x3ff0_0000_0000_0000));
        assert!(matches!(Cuda::pointer_option::<f32>(None).0, Value::Bits64(0)));
    }

    #[test]
    fn a_program_must_fit_the_device() {
        let fits = program(SCALE);
        assert!(check_program(&VOLTA, &fits).is_ok());
        let mut newer = program(SCALE);
        newer.target.sm = 80;
        assert_eq!(
            text(check_program(&VOLTA, &newer)),
            "code for sm_80 needs compute capability 8.0 or higher; this device has 7.0"
        );
        for threads in [0, 1025] {
            let wide = Program { threads, ..program(SCALE) };
            assert!(text(check_program(&VOLTA, &wide)).contains("this device runs 1 to 1024"));
        }
        let large = Program { shared_bytes: 98_305, ..program(SCALE) };
        assert_eq!(
            text(check_program(&VOLTA, &large)),
            "`scale` needs 98305 bytes of shared memory a block; this device gives at most 98304"
        );
    }

    #[test]
    fn a_grid_has_a_limit_on_each_axis() {
        let program = program(SCALE);
        assert!(check_grid(&program, [i32::MAX as u32, 65_535, 65_535]).is_ok());
        assert!(check_grid(&program, [0, 1, 1]).is_ok());
        assert_eq!(
            text(check_grid(&program, [4, 70_000, 1])),
            "`scale` is launched on 70000 blocks along y; the most is 65535"
        );
        assert!(text(check_grid(&program, [1 << 31, 1, 1])).contains("along x"));
        assert!(text(check_grid(&program, [1, 1, 65_536])).contains("along z"));
    }

    #[test]
    fn arguments_must_match_the_parameters() {
        let program = program(SCALE);
        let check = |parameters: &[u32], values: &[Scalar]| check_arguments(&program, parameters, &scalars(values));
        assert!(check(&[4, 8], &[Scalar::U32(1), Scalar::I64(1)]).is_ok());
        assert_eq!(text(check(&[8, 4], &[Scalar::U64(0)])), "`scale` takes 2 arguments, not 1");
        assert_eq!(
            text(check(&[4, 4], &[Scalar::U32(0), Scalar::F64(0.0)])),
            "argument 1 of `scale` has 4 bytes, not 8"
        );
    }
}
