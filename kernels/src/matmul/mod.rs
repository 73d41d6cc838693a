//! Matrix product: `C = A B` with `A [M, K]` and `B [K, N]` in f16, bf16 or f32, and `C [M, N]` in f32.
//!
//! All three lie row by row; rows may be further apart than they are long, so that a block of a larger matrix is a matrix
//! too. Products are summed in f32. With no inner dimension (`K = 0`), C is 0.

mod api;
mod config;
mod error;
mod kernel;
mod reference;

pub use api::{Matmul, Matrix};
pub use config::{MatmulConfig, tiles};
pub use error::MatmulError;
pub use kernel::{Matmul as MatmulKernel, MatmulArgs, MatmulTile, matmul};
pub use reference::reference;
