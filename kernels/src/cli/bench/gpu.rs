//! The GPU that is measured, and inputs that take turns on it.

use super::super::engine::{Gpu, download, upload};
use super::super::error::CliError;
use super::super::options::{Device, Machine};
use super::random::normal;
use half::f16;
use quadpair::cuda::cudarc::driver::CudaSlice;
use quadpair_kernels::number::Real;

/// Opens the GPU that was asked for.
pub fn open(machine: &Machine) -> Result<Gpu, CliError> {
    let ordinal = match machine.device {
        Device::Simulator => return Err(CliError::NoTime),
        Device::Auto => 0,
        Device::Cuda(ordinal) => ordinal,
    };
    Gpu::required(&machine.chip, ordinal)
}

/// How many sets of inputs have to take turns so that twice the L2 cache is read between two uses of one.
pub fn sets(gpu: &Gpu, bytes_of_a_set: usize) -> u64 {
    1 + (2 * gpu.l2_bytes as usize).div_ceil(bytes_of_a_set.max(1)).max(1) as u64
}

/// Tensor number `tensor` of a set: on the host and on the GPU.
pub fn random(gpu: &Gpu, set: u64, tensor: u64, length: usize) -> Result<(Vec<f16>, CudaSlice<f16>), CliError> {
    let host = normal(8 * set + tensor, length);
    let device = upload(&gpu.cuda, &host)?;
    Ok((host, device))
}

/// Memory for an output, full of NaNs: what isn't written shows.
pub fn unwritten<T: Real>(gpu: &Gpu, length: usize) -> Result<CudaSlice<T>, CliError> {
    upload(&gpu.cuda, &vec![T::from_f64(f64::NAN); length])
}

/// An output as it is now.
pub fn read<T: Real>(gpu: &Gpu, device: &CudaSlice<T>) -> Result<Vec<T>, CliError> {
    let mut host = vec![T::default(); device.len()];
    download(&gpu.cuda, device, &mut host)?;
    Ok(host)
}
