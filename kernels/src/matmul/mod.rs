//! Matrix product: `C = alpha A B + beta C + bias` with `A [M, K]` and `B [K, N]` in f16, bf16 or f32, and `C [M, N]` in any
//! of these.
//!
//! A and B lie row by row or column by column each, C row by row; rows may be further apart than they are long, so that a
//! block of a larger matrix is a matrix too. There may be a batch of each. Products are summed in f32. With no inner
//! dimension (`K = 0`), the product is 0. What becomes of the elements before they are stored is a function of the caller's
//! ([`matmul_with`](crate::matmul_with)).
//!
//! ```
//! use half::f16;
//! use quadpair::sim::Simulator;
//! use quadpair_kernels::matmul::{Matmul, MatmulConfig, Matrix, Terms};
//!
//! let volta = quadpair_profiles::Profile::by_name("volta")?;
//! let matmul = Matmul::<f16, f32>::new(&volta, MatmulConfig::default())?;
//! let (a, b, mut c) = ([f16::ONE; 6], [f16::ONE; 12], [1.0; 8]);
//! // A is 2 x 3; B is 3 x 4 and lies column by column.
//! let (a, b) = (Matrix::contiguous(&a[..], 2, 3), Matrix::contiguous(&b[..], 4, 3).transposed());
//! let terms = Terms { alpha: 2.0, beta: 1.0, bias: None };
//! matmul.multiply_add(&Simulator::new(&volta), a, b, Matrix::contiguous(&mut c[..], 2, 4), terms)?;
//! assert_eq!(c, [7.0; 8]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod api;
mod config;
mod error;
mod fused;
mod kernel;
mod matrix;
mod place;
mod reference;
mod source;
mod tile;
mod warpgroup;

use quadpair::prelude::*;

pub use api::{Matmul, Terms, Variant};
pub use config::{MatmulConfig, tiles};
pub use error::MatmulError;
pub use fused::{Arguments, Epilogue};
pub use matrix::Matrix;
pub use reference::reference;
pub use tile::{MatmulTile, Order};

/// What kernels with an epilogue are made of.
pub mod device {
    pub use super::kernel::{accumulate, first, starts};
    pub use super::place::{Place, column_bias, place, scaled, write};
}

/// The sum with the bias, if there is one.
#[device]
fn plus_bias(x: Tile, bias: Option<Tile>) -> Tile {
    match bias {
        Some(bias) => x + bias,
        None => x,
    }
}

crate::matmul_with! {
    /// The product as it is.
    pub mod plain = plus_bias;
}
