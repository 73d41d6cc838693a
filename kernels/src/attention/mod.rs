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
//! With a causal mask a query sees the keys up to its own place, counted from the end: query `i` sees key `j` if
//! `j <= i + keys - queries`.
//!
//! [`Attention::new`] chooses the kernel for a chip once; [`Attention::forward`] runs it as often as you like. With memory
//! to work in, [`Attention::forward_in_parts`] divides the keys among blocks where there are few queries.
//! [`attend_host`] does both on host slices, in the simulator.

mod api;
mod call;
mod combine;
mod config;
mod error;
mod fragments;
mod kernel;
mod place;
mod problem;
mod reference;
mod score;
mod split;
mod tile;
mod warpgroup;

pub use api::{Attended, Attention, Inputs, Outputs, Variant, attend_host};
pub use combine::{COMBINE_96, CombineParts, CombinePartsArgs, CombineTile, combine_parts};
pub use config::{AttentionConfig, Scaling, tiles};
pub use error::AttentionError;
pub use kernel::{FlashAttention, FlashAttentionArgs, flash_attention};
pub use problem::Problem;
pub use reference::{Reference, reference};
pub use tile::{
    FLASH_64, FLASH_64_FMA, FLASH_64_M16N8K8, FLASH_96, FLASH_96_WGMMA, FLASH_128, FLASH_128_M16N8K16, FLASH_128_WGMMA,
    FLASH_256, FlashTile,
};

pub(crate) use problem::Operand;
