//! A small program for the tests of this module, and launches of it where there is a GPU.

use std::sync::Arc;

use cudarc::driver::CudaContext;

use super::driver::Limits;
use super::{Cuda, CudaError, devices, probe};
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
    let target = Target { sm: 70, isa: (6, 4), shared_bytes: 98_304, threads: 1024 };
    Program { name: "scale".into(), ptx: ptx.into(), entry: "scale".into(), threads: 4, shared_bytes: 0, target }
}

/// A GPU's default stream; `None` where there is no GPU.
fn cuda() -> Option<Cuda> {
    probe().ok()?;
    Some(Cuda::open(0, program(SCALE).target).expect("the first device opens"))
}

fn launch(cuda: &Cuda, program: &Arc<Program>, grid: [u32; 3]) -> Result<Vec<f32>, Box<dyn std::error::Error>> {
    let input = cuda.stream().clone_htod(&[1.0_f32, 2.0, 3.0, 4.0])?;
    let mut output = cuda.stream().alloc_zeros::<f32>(4)?;
    let args = vec![
        Cuda::pointer_mut(output.as_view_mut()),
        Cuda::pointer(input.as_view()),
        Cuda::pointer_option::<f32>(None),
        Cuda::scalar(Scalar::F32(2.0)),
        Cuda::scalar(Scalar::Bool(true)),
    ];
    cuda.launch(program, grid, args)?;
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
    let cuda = Cuda::new(stream, program(SCALE).target).expect("the stream's device is the same");
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
