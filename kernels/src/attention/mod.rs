//! Flash attention, forward: `softmax(scale * Q K^T + bias) V` without ever holding the scores.
//!
//! ```text
//! q    [batch, heads,    queries, head dim]      out [batch, heads, queries, head dim]
//! k, v [batch, kv heads, keys,    head dim]      lse [batch, heads, queries], natural logarithm, f32
//! bias [batch|1, heads|1, queries|1, keys|1]
//! ```
//!
//! All with any strides but 1 along the head dim, which is a multiple of 8 up to 256. Query heads share key heads in
//! groups of `heads / kv heads` neighbours. A row without any key, be it masked by a bias of -inf or because there are
//! no keys, gets output 0 and LSE -inf.
//!
//! [`Attention::new`] chooses the kernel for a chip once; [`Attention::forward`] runs it as often as you like.
//! [`attend_host`] does both on host slices, in the simulator.

mod api;
mod config;
mod error;
mod kernel;
mod problem;
mod reference;

pub use api::{Attended, Attention, Inputs, Outputs, attend_host};
pub use config::{AttentionConfig, Scaling, most_head_dim, tiles};
pub use error::AttentionError;
pub use kernel::{FLASH_64, FLASH_64_FMA, FLASH_96, FLASH_128, FLASH_256};
pub use kernel::{FlashAttention, FlashAttentionArgs, FlashTile, flash_attention};
pub use problem::Problem;
pub use reference::{Reference, reference};

pub(crate) use problem::Operand;
