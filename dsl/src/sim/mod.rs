//! A GPU in software: it runs the PTX text that a driver would get, and says what is wrong with it.
//!
//! Programs run warp by warp, 32 lanes at a time, the blocks of a grid in parallel. It is slow next to a GPU and needs none.
//! While it runs it checks what hardware does not: reads and writes outside of buffers, of memory that is only to be
//! read, of shared memory that nobody wrote, misaligned or through a null pointer; races on shared memory between barriers
//! (`race.rs` defines them); run-time indices that a dimension doesn't have; barriers that not all threads reach; sums and
//! memory of products of wgmma that nobody waited for (`products.rs`), or that no fence made visible to them; warp-wide
//! instructions without all their lanes; registers that were never written. Each is a [`Fault`] with the kernel, the
//! author's line, the block, the thread and the address.
//! It also counts: instructions by class, shared-memory wavefronts, sectors of global memory ([`Counters`]).
//!
//! It knows nothing of the language or of layouts: any compiler's PTX can be run. It does not find every fault: races on
//! global memory, and races that need another order of a warp's own instructions, go unseen.

mod backend;
mod copies;
mod counters;
mod decode;
mod known;
mod machine;
mod memory;
mod products;
mod program;
mod race;
mod report;
mod step;
mod warp;

pub use backend::{SimArg, Simulator};
pub use counters::Counters;
pub use program::Program;
pub use report::{Direction, Fault, FaultKind, Memory, Position, RaceAccess, SimError};
