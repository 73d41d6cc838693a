//! What share of a chip's peak a kernel would reach, without the chip.
//!
//! The assembler turns PTX into the chip's own instructions and writes into each what it waits for. From there on a kernel's
//! main loop can be counted and simulated:
//!
//! 1. `tools` assembles and takes apart, `sass` reads instructions with their control and finds the main loop;
//! 2. `trace` follows the addresses of shared accesses, which gives their `wavefronts`;
//! 3. `cost` says what each instruction costs by the profile, `bounds` how busy each pipe is;
//! 4. `occupancy` says how many warps are resident, `simulate` runs the loop with that many;
//! 5. `model` is what one calls, [`report`] what one gets.
//!
//! ```no_run
//! use quadpair_model::{Launch, Model, Options};
//! use quadpair_profiles::Profile;
//!
//! let ptx = std::fs::read_to_string("kernel.ptx")?;
//! let model = Model::of(&Profile::by_name("volta")?)?;
//! let report = model.inspect(&model.tools(None)?, &Launch::of(&ptx)?, &Options::default())?;
//! println!("{:?} % of peak, bound by {}", report.likely.share, report.bottleneck);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The figures are a model's, not measurements. Not modelled: what comes before and after the loop, the last wave of blocks,
//! conflicts of register banks, the instruction cache, DRAM, divergence.

mod bounds;
mod cost;
mod error;
mod judge;
mod launch;
mod model;
mod occupancy;
pub mod report;
mod sass;
mod simulate;
mod tools;
mod trace;
mod wavefronts;

pub use error::ModelError;
pub use launch::Launch;
pub use model::{Model, Options};
pub use report::Report;
pub use tools::{Assembled, Tools};
