//! Operations on layouts, one family a file.
//!
//! | file | operations |
//! |---|---|
//! | `relabel` | `reshape`, `permute`, `expand_dims`: other names for the same elements |
//! | `project` | `slice`, `collapse`: what is left when a dimension is reduced |
//! | `holder` | `holders`: who stands for an element that several have |
//! | `pair` | `paired`, `doubled`, `unpaired`: two elements where one was, and back |
//! | `part` | `part`: some indices of a dimension, in each thread's own registers |
//! | `operand` | `operand_a`, `operand_b`: what a thread's accumulators need of the factors |

mod holder;
mod operand;
mod pair;
mod part;
mod project;
mod relabel;

pub(crate) use relabel::permuted;
