//! A small program for the tests of this module, and launches of it where there is a GPU.

use std::sync::Arc;

use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaContext, CudaSlice, CudaStream};

use super::cubins::{Assembled, Source};
use super::driver::{self, Limits};
use super::{Arg, CubinCache, Cuda, CudaError, devices, probe};
use crate::element::Scalar;
use crate::runtime::{Backend, LaunchError, Program, Target};

/// What a V100 can run.
pub(super) const VOLTA: Limits = Limits { capability: (7, 0), threads: 1024, shared_bytes: 98_304 };

/// `output[i] = input[i] * factor`, plus 1 if `more` holds and `absent` is null; one block.
pub(super) const SCALE: &str = "
.version 6.4
.target sm_70
.address_size 64

.visible .entry scale(
    .param .u64 output,
    .param .u64 input,
    .param .u64 absent,
    .param .f32 factor,
    .param .u32 more
)
{
    .reg .pred %p<2>;
    .reg .b32 %r<2>;
    .reg .f32 %f<3>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd0, [output];
    ld.param.u64 %rd1, [input];
    ld.param.u64 %rd2, [absent];
    ld.param.f32 %f1, [factor];
    ld.param.u32 %r1, [more];
    mov.u32 %r0, %tid.x;
    mul.wide.u32 %rd3, %r0, 4;
    add.u64 %rd0, %rd0, %rd3;
    add.u64 %rd1, %rd1, %rd3;
    ld.global.f32 %f0, [%rd1];
    mul.rn.f32 %f0, %f0, %f1;
    setp.ne.u32 %p0, %r1, 0;
    setp.eq.u64 %p1, %rd2, 0;
    add.rn.f32 %f2, %f0, 0f3F800000;
    and.pred %p0, %p0, %p1;
    @%p0 mov.f32 %f0, %f2;
    st.global.f32 [%rd0], %f0;
    ret;
}
";

/// A program of 4 threads.
pub(super) fn program(ptx: &str) -> Program {
    let target = Target { sm: 70, specific: false, isa: (6, 4), shared_bytes: 98_304, threads: 1024 };
    Program { name: "scale".into(), ptx: ptx.into(), entry: "scale".into(), threads: 4, shared_bytes: 0, target }
}

/// A GPU's default stream; `None`, and a message, where there is no GPU. Keeps no machine code.
fn cuda() -> Option<Cuda> {
    if let Err(error) = probe() {
        println!("skipped: {error}");
        return None;
    }
    let cuda = Cuda::open(0, program(SCALE).target).expect("the first device opens");
    Some(cuda.with_cubins(CubinCache::off()))
}

/// A backend on another stream of the same context.
fn on(stream: Arc<CudaStream>) -> Cuda {
    Cuda::new(stream, program(SCALE).target).expect("the stream's device is the same").with_cubins(CubinCache::off())
}

/// The arguments of `scale` by a factor.
fn scaled<'a>(output: &'a mut CudaSlice<f32>, input: &'a CudaSlice<f32>, factor: f32) -> Vec<Arg<'a>> {
    vec![
        Cuda::pointer_mut(output.as_view_mut()),
        Cuda::pointer(input.as_view()),
        Cuda::pointer_option::<f32>(None),
        Cuda::scalar(Scalar::F32(factor)),
        Cuda::scalar(Scalar::Bool(true)),
    ]
}

fn launch(cuda: &Cuda, program: &Arc<Program>, grid: [u32; 3]) -> Result<Vec<f32>, Box<dyn std::error::Error>> {
    let input = cuda.stream().clone_htod(&[1.0_f32, 2.0, 3.0, 4.0])?;
    let mut output = cuda.stream().alloc_zeros::<f32>(4)?;
    cuda.launch(program, grid, scaled(&mut output, &input, 2.0))?;
    Ok(cuda.stream().clone_dtoh(&output)?)
}

#[test]
fn a_backend_is_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Cuda>();
}

#[test]
fn opening_a_device_that_is_not_there_is_an_error() {
    let error = Cuda::open(usize::MAX, program(SCALE).target).expect_err("no machine has so many");
    assert!(matches!(error, CudaError::NoDriver { .. } | CudaError::Driver { .. } | CudaError::NoDevice { .. }));
}

#[test]
fn a_gpu_runs_a_program_that_is_loaded_once() {
    let Some(cuda) = cuda() else { return };
    let (program, large) = (Arc::new(program(SCALE)), Arc::new(Program { shared_bytes: 60_000, ..program(SCALE) }));
    assert_eq!(launch(&cuda, &program, [1, 1, 1]).expect("it runs"), [3.0, 5.0, 7.0, 9.0]);
    assert_eq!(launch(&cuda, &large, [1, 1, 1]).expect("it runs"), [3.0, 5.0, 7.0, 9.0]);
    assert_eq!(launch(&cuda, &program, [1, 0, 1]).expect("it does nothing"), [0.0; 4]);
    let (first, second) = (cuda.load(&program).expect("loaded"), cuda.load(&program).expect("loaded"));
    assert!(Arc::ptr_eq(&first, &second));
    assert!(first.registers() > 0 && first.local_bytes() == 0);
    assert!(first.cubin().starts_with(b"\x7fELF") && first.log().contains("scale"), "{}", first.log());
}

#[test]
fn a_gpu_orders_the_streams_that_use_the_same_memory_and_programs() {
    let Some(other) = cuda() else { return };
    let stream = other.stream().context().new_stream().expect("a second stream");
    let cuda = on(stream);
    assert_eq!(launch(&cuda, &Arc::new(program(SCALE)), [1, 1, 1]).expect("it runs"), [3.0, 5.0, 7.0, 9.0]);
    cuda.synchronize().expect("nothing went wrong");
    let program = Arc::new(program(SCALE));
    let (first, second) = (cuda.load(&program).expect("loaded"), other.load(&program).expect("loaded"));
    assert!(Arc::ptr_eq(&first, &second), "streams of a context share what is loaded");
}

#[test]
fn every_gpu_has_multiprocessors() {
    let Ok(devices) = devices() else { return };
    assert!(devices.iter().all(|device| device.sm_count > 0 && !device.name.is_empty()), "{devices:?}");
}

#[test]
fn a_refused_program_comes_with_the_log() {
    let Some(cuda) = cuda() else { return };
    let wrong = Arc::new(program(&SCALE.replace("add.rn.f32 %f2, %f0, 0f3F800000", "add.rn.f32 %f2, %f0, %rd1")));
    let error = cuda.load(&wrong).expect_err("a float and an integer don't add").to_string();
    assert!(error.contains("CUDA_ERROR_INVALID_PTX: ptxas"), "{error}");
}

#[test]
fn memory_of_another_context_is_refused() {
    let Some(cuda) = cuda() else { return };
    let context = CudaContext::new_non_primary(0, 0).expect("a second context");
    let memory = context.default_stream().alloc_zeros::<f32>(4).expect("4 elements");
    let args = vec![Cuda::pointer(memory.as_view())];
    let error = cuda.launch(&Arc::new(program(SCALE)), [1, 1, 1], args).expect_err("foreign memory");
    assert!(matches!(error, LaunchError::Cuda(CudaError::ForeignMemory { index: 0, .. })), "{error}");
}

/// Captures `output = 2 input + 1, other = 2 output + 1` and replays it on inputs written after the capture.
fn capture_and_replay(cuda: &Cuda) -> Result<Vec<f32>, Box<dyn std::error::Error>> {
    let (stream, program) = (cuda.stream(), Arc::new(program(SCALE)));
    let mut input = stream.clone_htod(&[0.0_f32; 4])?;
    let (mut output, mut other) = (stream.alloc_zeros::<f32>(4)?, stream.alloc_zeros::<f32>(4)?);
    cuda.load(&program)?;
    cuda.synchronize()?;
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    cuda.launch(&program, [1, 1, 1], scaled(&mut output, &input, 2.0))?;
    cuda.launch(&program, [1, 1, 1], scaled(&mut other, &output, 2.0))?;
    let graph = stream.end_capture(CUgraphInstantiate_flags(0))?.ok_or("nothing was captured")?;
    for round in [1.0, 5.0] {
        stream.memcpy_htod(&[round, round + 1.0, round + 2.0, round + 3.0], &mut input)?;
        graph.launch()?;
    }
    Ok(stream.clone_dtoh(&other)?)
}

#[test]
fn a_captured_launch_is_replayed_on_any_stream_but_the_default_one() {
    let Some(cuda) = cuda() else { return };
    // Each is `2 (2 x + 1) + 1` of the second round.
    let expected = [23.0, 27.0, 31.0, 35.0];
    // While a thread's own stream is captured, nobody may use the default stream of its context: this has its own.
    let alone = CudaContext::new_non_primary(0, 0).expect("a second context");
    assert_eq!(capture_and_replay(&on(alone.per_thread_stream())).expect("without events"), expected);
    let stream = cuda.stream().context().new_stream().expect("a second stream, from which memory keeps events");
    assert_eq!(capture_and_replay(&on(stream.clone())).expect("with events"), expected);
    assert_eq!(launch(&on(stream), &Arc::new(program(SCALE)), [1, 1, 1]).expect("and after"), [3.0, 5.0, 7.0, 9.0]);
}

#[test]
fn what_is_not_loaded_is_refused_in_a_capture_and_the_capture_goes_on() {
    let Some(cuda) = cuda() else { return };
    let cuda = on(cuda.stream().context().new_stream().expect("a second stream"));
    let (ready, late) = (Arc::new(program(SCALE)), Arc::new(program(SCALE)));
    let input = cuda.stream().clone_htod(&[1.0_f32; 4]).expect("4 elements");
    let mut output = cuda.stream().alloc_zeros::<f32>(4).expect("4 elements");
    cuda.load(&ready).and_then(|_| cuda.synchronize()).expect("it loads");
    cuda.stream().begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).expect("it begins");
    let refused = cuda.launch(&late, [1, 1, 1], scaled(&mut output, &input, 2.0)).expect_err("not loaded");
    assert!(matches!(refused, LaunchError::Cuda(CudaError::Capturing { .. })), "{refused}");
    cuda.launch(&ready, [1, 1, 1], scaled(&mut output, &input, 2.0)).expect("loaded");
    assert!(cuda.stream().end_capture(CUgraphInstantiate_flags(0)).expect("it is whole").is_some());
}

#[test]
fn events_measure_the_work_between_them() {
    let Some(cuda) = cuda() else { return };
    let [start, middle, end] = [(); 3].map(|()| {
        launch(&cuda, &Arc::new(program(SCALE)), [1, 1, 1]).expect("it runs");
        cuda.event().expect("it is queued")
    });
    let (first, both) = (middle.seconds_since(&start).expect("passed"), end.seconds_since(&start).expect("passed"));
    assert!(0.0 < first && first < both, "{first} {both}");
}

#[test]
fn machine_code_is_kept_for_the_next_process() {
    let Some(cuda) = cuda() else { return };
    let folder = std::env::temp_dir().join(format!("quadpair-gpu-cubins-{}", std::process::id()));
    let cuda = cuda.with_cubins(CubinCache::at(&folder));
    let loaded = || cuda.load(&Arc::new(program(SCALE))).expect("it loads");
    let (first, second) = (loaded(), loaded());
    assert!(!first.was_kept() && second.was_kept());
    assert_eq!((first.cubin(), first.log()), (second.cubin(), second.log()));
    // A file that is whole but holds no code that the driver takes.
    let source =
        Source { ptx: SCALE, driver: driver::version().expect("a driver"), capability: cuda.compute_capability() };
    let wrong = Assembled { cubin: vec![0; 64], log: String::new() };
    CubinCache::at(&folder).write(&source, &wrong);
    assert!(!loaded().was_kept() && loaded().was_kept());
    std::fs::remove_dir_all(&folder).expect("it was made");
}
