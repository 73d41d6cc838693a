//! Element types of this crate's own, as the driver sees them.

use cudarc::driver::{DeviceRepr, ValidAsZeroBits};

use crate::float8::{F8E4M3, F8E5M2};

// SAFETY: transparent wrappers of a byte, which every device reads as it is.
unsafe impl DeviceRepr for F8E4M3 {}
// SAFETY: as above.
unsafe impl DeviceRepr for F8E5M2 {}
// SAFETY: the byte 0 is the number 0.
unsafe impl ValidAsZeroBits for F8E4M3 {}
// SAFETY: as above.
unsafe impl ValidAsZeroBits for F8E5M2 {}
