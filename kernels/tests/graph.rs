//! Attention and matmul captured into a CUDA graph: a replay computes what a launch does.

use half::f16;
use quadpair::cuda::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use quadpair::cuda::cudarc::driver::{CudaSlice, DriverError};
use quadpair::cuda::{CubinCache, Cuda, devices};
use quadpair_kernels::attention::{Attention, AttentionConfig, Inputs, Outputs};
use quadpair_kernels::matmul::{Matmul, MatmulConfig, Matrix};
use quadpair_kernels::view::View;
use quadpair_profiles::Profile;

/// A stream of a GPU that is not the default one, so that it can be captured, and memory keeps events; `None`, and a
/// message, where there is no GPU.
fn stream() -> Option<(Cuda, Profile)> {
    let device = match devices() {
        Ok(devices) if !devices.is_empty() => devices[0].clone(),
        devices => {
            println!("skipped: no GPU ({:?})", devices.err());
            return None;
        }
    };
    let (major, minor) = device.compute_capability;
    let profile = Profile::for_capability(major.unsigned_abs(), minor.unsigned_abs()).unwrap();
    let context = Cuda::open(0, &profile).unwrap().stream().context().clone();
    let cuda = Cuda::new(context.new_stream().unwrap(), &profile).unwrap();
    Some((cuda.with_cubins(CubinCache::off()), profile))
}

/// Runs `work` on cleared memory as it is and from a graph; what the memory then holds.
fn both_ways(cuda: &Cuda, length: usize, mut work: impl FnMut(&mut CudaSlice<f32>)) -> [Vec<f32>; 2] {
    both(cuda, length, &mut work).expect("no call of the driver fails")
}

fn both(cuda: &Cuda, length: usize, work: &mut impl FnMut(&mut CudaSlice<f32>)) -> Result<[Vec<f32>; 2], DriverError> {
    let stream = cuda.stream();
    let mut out = stream.alloc_zeros(length)?;
    work(&mut out);
    let direct = stream.clone_dtoh(&out)?;
    stream.memset_zeros(&mut out)?;
    stream.synchronize()?;
    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
    work(&mut out);
    let graph = stream.end_capture(CUgraphInstantiate_flags(0))?.expect("something was captured");
    graph.launch()?;
    Ok([direct, stream.clone_dtoh(&out)?])
}

fn numbers(cuda: &Cuda, count: usize) -> CudaSlice<f16> {
    let host: Vec<f16> = (0..count).map(|i| f16::from_f32((i * 37 % 101) as f32 / 50.0 - 1.0)).collect();
    cuda.stream().clone_htod(&host).unwrap()
}

#[track_caller]
fn same([direct, replayed]: [Vec<f32>; 2]) {
    assert!(direct.iter().all(|number| number.is_finite()) && direct.iter().any(|&number| number != 0.0));
    assert_eq!(direct, replayed);
}

#[test]
fn attention_is_replayed() {
    let Some((cuda, profile)) = stream() else { return };
    let attention = Attention::<f16, f32>::new(&profile, AttentionConfig::new(64)).unwrap();
    let (shape, data) = ([1, 2, 100, 64], numbers(&cuda, 2 * 100 * 64));
    let mut out = cuda.stream().alloc_zeros::<f16>(2 * 100 * 64).unwrap();
    let view = || View::contiguous(data.as_view(), shape);
    same(both_ways(&cuda, 2 * 100, |lse| {
        let outputs = Outputs { out: View::contiguous(out.as_view_mut(), shape), lse: lse.as_view_mut() };
        attention.forward(&cuda, Inputs::new(view(), view(), view()), outputs).unwrap();
    }));
}

#[test]
fn attention_in_parts_is_replayed() {
    let Some((cuda, profile)) = stream() else { return };
    let config = AttentionConfig { parts: Some(5), ..AttentionConfig::new(64) };
    let attention = Attention::<f16, f32>::new(&profile, config).unwrap();
    let (heads, keys) = ([1, 8, 1, 64], [1, 2, 1000, 64]);
    let [q, k] = [heads, keys].map(|shape| numbers(&cuda, shape.iter().product()));
    let mut out = cuda.stream().alloc_zeros::<f16>(8 * 64).unwrap();
    let mut workspace = cuda.stream().alloc_zeros::<f32>(5 * 8 * (64 + 1)).unwrap();
    same(both_ways(&cuda, 8, |lse| {
        let keys = || View::contiguous(k.as_view(), keys);
        let inputs = Inputs::new(View::contiguous(q.as_view(), heads), keys(), keys());
        let outputs = Outputs { out: View::contiguous(out.as_view_mut(), heads), lse: lse.as_view_mut() };
        attention.forward_in_parts(&cuda, inputs, outputs, workspace.as_view_mut()).unwrap();
    }));
}

#[test]
fn matmul_is_replayed() {
    let Some((cuda, profile)) = stream() else { return };
    let matmul = Matmul::<f16>::new(&profile, MatmulConfig::default()).unwrap();
    let data = numbers(&cuda, 96 * 96);
    let matrix = || Matrix::contiguous(data.as_view(), 96, 96);
    same(both_ways(&cuda, 96 * 96, |c| {
        matmul.multiply(&cuda, matrix(), matrix(), Matrix::contiguous(c.as_view_mut(), 96, 96)).unwrap();
    }));
}
