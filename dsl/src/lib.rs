//! An embedded language for tiled GPU kernels with explicit layouts, checked while Rust compiles.

pub mod cuda;
mod element;
mod float8;
pub mod inspect;
pub mod ir;
pub mod lang;
pub mod lower;
pub mod prelude;
pub mod ptx;
mod rounding;
mod runtime;
pub mod sim;

pub use element::{DType, Element, Scalar};
pub use float8::{F8E4M3, F8E5M2};
pub use quadpair_layouts as layouts;
pub use quadpair_macros::{Aggregate, device, instances, kernel};
pub use runtime::{Backend, Instance, Kernel, KernelError, LaunchError, Program, Report, Target, compile, record};
