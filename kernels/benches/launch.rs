//! The host's side of a launch: how long a call takes until the kernel is queued, and how long its first use takes.
//!
//! ```text
//! CUDA_CACHE_DISABLE=1 cargo bench -p quadpair-kernels --bench launch
//! ```
//!
//! The variable turns the driver's own cache of machine code off, so that "assembled" is what a process pays that finds
//! nothing anywhere; "kept" is what it pays where a [`CubinCache`] has the code. Calls are timed in bursts that the
//! stream's queue holds, since a call that finds it full waits for the GPU.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use half::f16;
use quadpair::cuda::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use quadpair::cuda::cudarc::driver::{CudaSlice, CudaStream};
use quadpair::cuda::{CubinCache, Cuda, DeviceInfo, devices};
use quadpair::{Program, Target, compile};
use quadpair_kernels::attention::{self, Attention, AttentionConfig, Inputs, Outputs};
use quadpair_kernels::matmul::{Matmul, MatmulConfig, Matrix, Variant};
use quadpair_kernels::vector_add::{VECTOR_ADD, VectorAddArgs};
use quadpair_kernels::view::View;
use quadpair_profiles::Profile;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Calls of a burst, and bursts.
const CALLS: u32 = 100;
const BURSTS: usize = 100;

fn main() -> Result<()> {
    match devices() {
        Ok(devices) if !devices.is_empty() => measure(&devices[0]),
        devices => {
            println!("skipped: {}", devices.err().map_or("this machine has no GPU".into(), |error| error.to_string()));
            Ok(())
        }
    }
}

fn measure(device: &DeviceInfo) -> Result<()> {
    let (major, minor) = device.compute_capability;
    let profile = Profile::for_capability(major.unsigned_abs(), minor.unsigned_abs())?;
    let cuda = Cuda::open(0, &profile)?.with_cubins(CubinCache::off());
    println!("{}, profile {}\n", device.name, profile.name);
    first_uses(&cuda, &profile)?;
    println!("\na call, in microseconds: median and worst burst of {BURSTS} bursts of {CALLS} calls");
    calls("the default stream", &cuda, &profile)?;
    // From here on memory keeps events.
    let stream = cuda.stream().context().new_stream()?;
    calls("one of two streams", &on(&stream, &profile)?, &profile)?;
    replays(&on(&stream, &profile)?, &profile)
}

fn on(stream: &Arc<CudaStream>, profile: &Profile) -> Result<Cuda> {
    Ok(Cuda::new(stream.clone(), profile)?.with_cubins(CubinCache::off()))
}

/// Prints what making and loading programs takes, with and without machine code kept from before.
fn first_uses(cuda: &Cuda, profile: &Profile) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("quadpair-bench-{}", std::process::id()));
    let keeping = on(cuda.stream(), profile)?.with_cubins(CubinCache::at(&folder));
    println!(
        "first use, in milliseconds: made (traced, lowered, printed), then loaded where the code is assembled or kept"
    );
    let volta = Profile::by_name("volta")?;
    for profile in [&volta, profile] {
        let target = Target::from(profile);
        first_use(&keeping, "vector_add", || Ok(Arc::new(compile("vector_add", VECTOR_ADD.kernel(), target)?)))?;
        first_use(&keeping, "matmul", || {
            Ok(Matmul::<f16>::new(profile, MatmulConfig::default())?.program(&Variant::default())?)
        })?;
        for head_dim in [64, 96, 128, 256] {
            let config = AttentionConfig::new(head_dim);
            let make = || Ok(Attention::<f16, f32>::new(profile, config)?.program(&attention::Variant::default())?);
            first_use(&keeping, &format!("attention {head_dim}"), make)?;
        }
    }
    Ok(std::fs::remove_dir_all(folder)?)
}

fn first_use(keeping: &Cuda, name: &str, make: impl Fn() -> Result<Arc<Program>>) -> Result<()> {
    let start = Instant::now();
    let program = make()?;
    let made = start.elapsed();
    let load = |program: &Arc<Program>| -> Result<_> {
        let start = Instant::now();
        let module = keeping.load(program)?;
        Ok((start.elapsed(), module))
    };
    let (assembled, module) = load(&program)?;
    // Another program of the same text: the first stays loaded in this process.
    let (kept, again) = load(&make()?)?;
    let [made, assembled, kept] = [made, assembled, kept].map(|time| time.as_secs_f64() * 1e3);
    let (sm, bytes, registers) = (program.target().sm, program.ptx().len(), module.registers());
    println!(
        "  sm_{sm} {name:<14} made {made:7.1}  assembled {assembled:7.1}  kept {kept:6.1} ({})  PTX {bytes} bytes, {registers} registers",
        if again.was_kept() { "from the cache" } else { "assembled again" },
    );
    Ok(())
}

/// Small operands of every kernel.
struct Operands {
    halves: CudaSlice<f16>,
    half_out: CudaSlice<f16>,
    floats: CudaSlice<f32>,
    out: CudaSlice<f32>,
}

/// The kernels.
struct Kernels {
    attention: Attention<f16, f32>,
    matmul: Matmul<f16>,
}

impl Operands {
    fn new(stream: &Arc<CudaStream>) -> Result<Self> {
        let (halves, floats) = (stream.alloc_zeros(128 * 64)?, stream.alloc_zeros(128 * 64)?);
        Ok(Operands { halves, half_out: stream.alloc_zeros(128 * 64)?, floats, out: stream.alloc_zeros(128 * 64)? })
    }

    fn add(&mut self, cuda: &Cuda) -> Result<()> {
        let (x, out) = (&self.floats, self.out.as_view_mut());
        VECTOR_ADD.launch(cuda, VectorAddArgs { x: x.as_view(), y: x.as_view(), out, n: 8192 })?;
        Ok(())
    }

    fn attend(&mut self, cuda: &Cuda, kernels: &Kernels) -> Result<()> {
        let shape = [1, 1, 64, 64];
        let read = || View::contiguous(self.halves.as_view(), shape);
        let inputs = Inputs::new(read(), read(), read());
        let out = View::contiguous(self.half_out.as_view_mut(), shape);
        kernels.attention.forward(cuda, inputs, Outputs { out, lse: self.out.as_view_mut() })?;
        Ok(())
    }

    fn multiply(&mut self, cuda: &Cuda, kernels: &Kernels) -> Result<()> {
        let read = || Matrix::contiguous(self.halves.as_view(), 64, 64);
        kernels.matmul.multiply(cuda, read(), read(), Matrix::contiguous(self.out.as_view_mut(), 64, 64))?;
        Ok(())
    }
}

impl Kernels {
    fn new(profile: &Profile) -> Result<Self> {
        let attention = Attention::new(profile, AttentionConfig::new(64))?;
        Ok(Kernels { attention, matmul: Matmul::new(profile, MatmulConfig::default())? })
    }
}

fn calls(on: &str, cuda: &Cuda, profile: &Profile) -> Result<()> {
    let (mut operands, kernels) = (Operands::new(cuda.stream())?, Kernels::new(profile)?);
    bursts(on, "vector_add", cuda, || operands.add(cuda))?;
    bursts(on, "attention", cuda, || operands.attend(cuda, &kernels))?;
    bursts(on, "matmul", cuda, || operands.multiply(cuda, &kernels))
}

/// Prints the time of a call.
fn bursts(on: &str, what: &str, cuda: &Cuda, mut call: impl FnMut() -> Result<()>) -> Result<()> {
    call()?;
    let mut times = Vec::with_capacity(BURSTS);
    for _ in 0..BURSTS {
        cuda.synchronize()?;
        let start = Instant::now();
        for _ in 0..CALLS {
            call()?;
        }
        times.push(start.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS));
    }
    cuda.synchronize()?;
    times.sort_by(f64::total_cmp);
    println!("  {on:<20} {what:<12} {:6.2} {:6.2}", times[BURSTS / 2], times[BURSTS - 1]);
    Ok(())
}

/// Prints the time of a launch that is replayed, with 100 of attention in the graph.
fn replays(cuda: &Cuda, profile: &Profile) -> Result<()> {
    let (mut operands, kernels) = (Operands::new(cuda.stream())?, Kernels::new(profile)?);
    operands.attend(cuda, &kernels)?;
    cuda.synchronize()?;
    cuda.stream().begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    for _ in 0..CALLS {
        operands.attend(cuda, &kernels)?;
    }
    let graph = cuda.stream().end_capture(CUgraphInstantiate_flags(0))?.ok_or("nothing was captured")?;
    graph.launch()?;
    let start = cuda.event()?;
    graph.launch()?;
    let seconds = cuda.event()?.seconds_since(&start)?;
    println!("  a graph of {CALLS}        attention    {:6.2} on the GPU, replayed", seconds * 1e6 / f64::from(CALLS));
    Ok(())
}
