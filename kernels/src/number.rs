//! The element types that the kernels read and write, seen as real numbers.
//!
//! References compute in float64 and test data starts there, so both need the way up (exact) and the way down (rounded
//! to the nearest, ties to even).

use half::{bf16, f16};
use quadpair::Element;

/// A floating-point element type: f16, bf16 or f32.
pub trait Real: Element + Default {
    /// The same number in float64.
    fn to_f64(self) -> f64;
    /// The nearest number of this type.
    fn from_f64(value: f64) -> Self;
}

impl Real for f16 {
    fn to_f64(self) -> f64 {
        self.to_f64()
    }
    fn from_f64(value: f64) -> Self {
        f16::from_f64(value)
    }
}

impl Real for bf16 {
    fn to_f64(self) -> f64 {
        self.to_f64()
    }
    fn from_f64(value: f64) -> Self {
        bf16::from_f64(value)
    }
}

impl Real for f32 {
    fn to_f64(self) -> f64 {
        self.into()
    }
    fn from_f64(value: f64) -> Self {
        value as f32
    }
}
