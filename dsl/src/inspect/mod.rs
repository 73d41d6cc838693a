//! Looking at layouts and kernels: facts for people and tools, as data.
//!
//! Nothing here decides anything. Each part asks the layout algebra, the tile IR or the PTX that would run, and gives the
//! answer in a form that can be printed or drawn; the `quadpair` command does that.
//!
//! | module | what it is |
//! |---|---|
//! | [`expression`] | layouts as text: `blocked([1,8],[8,4],[4,1],[1,0]) on [64,32]` |
//! | [`values`] | the layout of a kernel's value, by number, line or name |
//! | [`holders`](mod@holders) | who holds each element of a tile |
//! | [`bank_picture`] | which lane wants which bank in which wavefront |
//! | [`tiles`] | what the tile IR of a kernel holds, and what each conversion and shared access takes |
//! | [`emitted`](mod@emitted) | what the PTX does, line by line, with wavefronts; `lanes` is what is known without a run |

pub mod bank_picture;
pub mod emitted;
pub mod expression;
pub mod holders;
mod lanes;
pub mod tiles;
pub mod values;
