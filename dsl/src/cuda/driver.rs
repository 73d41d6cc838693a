//! Finding the driver and what it can run on.
//!
//! The bindings load the driver's library on their first call and panic if there is none. So every way in from here
//! looks for the library first, and a machine without a GPU gets an error that names what is missing.

use cudarc::driver::result::{self, device};
use cudarc::driver::sys::{self, CUdevice, CUdevice_attribute};
use cudarc::driver::{CudaContext, DriverError};
use libloading::Library;

use super::error::{CudaError, During};

/// The library that the NVIDIA driver installs.
const LIBRARY: &str = if cfg!(windows) { "nvcuda.dll" } else { "libcuda.so.1" };

/// One GPU of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its number, from 0.
    pub ordinal: usize,
    /// Its name, such as `Tesla V100-SXM2-16GB`.
    pub name: String,
    /// Its compute capability, such as `(7, 0)`.
    pub compute_capability: (i32, i32),
    /// Its multiprocessors (SMs).
    pub sm_count: u32,
    /// Bytes of its L2 cache.
    pub l2_bytes: u32,
}

/// Says whether CUDA can be used on this machine. Never panics and makes no context.
///
/// # Errors
/// [`CudaError::NoDriver`] if the driver's library is missing, [`CudaError::Driver`] if it will not start.
pub fn probe() -> Result<(), CudaError> {
    find(LIBRARY)?;
    result::init().during("start the CUDA driver")
}

/// Lists the GPUs of this machine. Makes no context.
///
/// # Errors
/// As [`probe`], or whatever the driver answers when asked about a device.
pub fn devices() -> Result<Vec<DeviceInfo>, CudaError> {
    (0..count()?).map(|ordinal| describe(ordinal).during("describe a device")).collect()
}

/// How many GPUs there are.
pub(super) fn count() -> Result<usize, CudaError> {
    probe()?;
    let count = device::get_count().during("count the devices")?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// What a device can run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Compute capability.
    pub(super) capability: (i32, i32),
    /// The most threads of a block.
    pub(super) threads: u32,
    /// The most shared memory of a block, in bytes, for kernels that ask for it.
    pub(super) shared_bytes: u32,
}

/// The CUDA version that the driver has: 13000 for 13.0.
pub(super) fn version() -> Result<i32, CudaError> {
    let mut version = 0;
    // SAFETY: the result has a place to go.
    unsafe { sys::cuDriverGetVersion(&raw mut version) }.result().during("ask for the driver's version")?;
    Ok(version)
}

impl Limits {
    /// Asks the device of a context.
    pub(super) fn of(context: &CudaContext) -> Result<Self, CudaError> {
        let ask = |attribute| context.attribute(attribute).during("ask for the limits of the device");
        Ok(Limits {
            capability: (ask(MAJOR)?, ask(MINOR)?),
            threads: ask(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?.unsigned_abs(),
            shared_bytes: ask(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?
                .unsigned_abs(),
        })
    }
}

const MAJOR: CUdevice_attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
const MINOR: CUdevice_attribute = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR;

fn find(library: &'static str) -> Result<(), CudaError> {
    let missing = |error: libloading::Error| CudaError::NoDriver { library, reason: error.to_string() };
    // SAFETY: the only library looked for is the NVIDIA driver's, whose initialisers may run on any thread.
    let found = unsafe { Library::new(library) }.map_err(missing)?;
    // SAFETY: the symbol is only looked for; it is never called through this type.
    unsafe { found.get::<unsafe extern "C" fn()>(b"cuInit\0") }.map_err(missing)?;
    Ok(())
}

fn describe(ordinal: usize) -> Result<DeviceInfo, DriverError> {
    let device = device::get(i32::try_from(ordinal).unwrap_or(i32::MAX))?;
    let compute_capability = (attribute(device, MAJOR)?, attribute(device, MINOR)?);
    let sm_count = attribute(device, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.unsigned_abs();
    let l2_bytes = attribute(device, CUdevice_attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?.unsigned_abs();
    Ok(DeviceInfo { ordinal, name: device::get_name(device)?, compute_capability, sm_count, l2_bytes })
}

fn attribute(device: CUdevice, which: CUdevice_attribute) -> Result<i32, DriverError> {
    // SAFETY: the driver itself gave the device's handle, and such handles stay valid.
    unsafe { device::get_attribute(device, which) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_library_is_an_error_that_names_it() {
        let error = find("libquadpair-none.so.1").expect_err("there is no such library");
        assert!(matches!(error, CudaError::NoDriver { library: "libquadpair-none.so.1", .. }));
        assert!(error.to_string().starts_with("no CUDA driver: libquadpair-none.so.1 is missing"));
    }

    #[test]
    fn probing_agrees_with_listing_and_never_panics() {
        match (probe(), devices()) {
            (Ok(()), Ok(devices)) => assert!(devices.iter().enumerate().all(|(i, d)| d.ordinal == i)),
            (Err(probed), Err(listed)) => assert_eq!(probed.to_string(), listed.to_string()),
            (probed, listed) => panic!("{probed:?} but {listed:?}"),
        }
    }
}
