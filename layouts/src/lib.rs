//! Linear layouts of tiles: where each element of a tile lives in a group of threads.
//!
//! # The lesson
//!
//! A kernel works on *tiles*, blocks of a matrix, and a tile is spread over the registers of many threads. A *layout* says
//! how: it is a function from (register, lane, warp) to the coordinates of an element. Take a tile of 4 by 4 that eight
//! threads hold, two elements each. Some of the layout is known, some is missing:
//!
//! ```text
//!             lane 0  lane 1  lane 2  lane 3  lane 4  lane 5  lane 6  lane 7
//! register 0  (0, 0)  (0, 2)  (1, 0)    ?     (2, 0)    ?       ?       ?
//! register 1  (0, 1)    ?       ?       ?       ?       ?       ?       ?
//! ```
//!
//! That is enough to know all of it, because layouts are *linear*: write the numbers of registers, lanes and coordinates
//! in bits; then
//!
//! ```text
//! element(x ^ y) = element(x) ^ element(y)
//! ```
//!
//! where `^` is XOR, bit by bit. Lane 3 = 1 ^ 2, so it holds (0, 2) ^ (1, 0) = (1, 2). Lane 7 = 3 ^ 4 holds (1, 2) ^ (2, 0) =
//! (3, 2), and its register 1 holds that ^ (0, 1) = (3, 3). A layout is given by its values at single bits, the *bases*:
//!
//! ```text
//! [4, 4]: registers (0, 1); lanes (0, 2) (1, 0) (2, 0)
//! ```
//!
//! Real warps have 32 lanes, hence always five lane bases, and a block may have several warps, one basis for each bit of
//! their number. A basis of zero is a *duplicate*: lanes that differ in that bit hold the same element.
//!
//! # A matrix unit's accumulator by hand
//!
//! Volta's m8n8k4 gives element (row, column) of an 8 by 8 product to registers of eight threads, the *quadpair*. Four
//! quadpairs make a tile of 16 by 16 ([`Mma`], arranged 2 by 2):
//!
//! ```text
//! [16, 16]: registers (0, 1) (2, 0) (0, 4); lanes (1, 0) (0, 2) (8, 0) (0, 8) (4, 0)
//! ```
//!
//! Where is register 5 of lane 22? 5 = `101`, so (0, 1) ^ (0, 4) = (0, 5). 22 = `10110`, so (0, 2) ^ (8, 0) ^ (4, 0) = (12, 2).
//! Together (12, 7). And who has row 12? The bases with a row part are (2, 0) of the registers and (1, 0), (8, 0), (4, 0) of
//! the lanes; 12 = 8 + 4 needs lane bits 2 and 4 set, lane bit 0 and register bit 1 clear, and leaves the other bits free:
//! they are the columns. Row statistics are sums over those.
//!
//! ```
//! use quadpair_layouts::{Layout, Mma, Quadpairs};
//!
//! const ACCUMULATOR: Layout = Mma::m8n8k4(Quadpairs::TwoByTwo, [1, 1]).accumulator([16, 16]);
//! assert_eq!(
//!     ACCUMULATOR.to_string(),
//!     "[16, 16]: registers (0, 1) (2, 0) (0, 4); lanes (1, 0) (0, 2) (8, 0) (0, 8) (4, 0)"
//! );
//! assert_eq!(ACCUMULATOR.apply(5, 22, 0), ACCUMULATOR.shape().flat(&[12, 7]));
//! ```
//!
//! # Why from hardware to tensor
//!
//! An element can be held by several threads, but a thread's register holds one element. So (register, lane, warp) to
//! element is a function, and the other way round isn't. Shared memory is different: it holds every element once, and
//! views drop dimensions; there the map goes from element to offset ([`SharedLayout`]). A slice fixes some bits of the
//! element: what they move by is XORed into a constant and forgotten, so a slice works through any swizzle. The two kinds
//! of map compose, which gives the addresses of an access, and these its bank conflicts:
//!
//! ```
//! use quadpair_layouts::{banks, blocked, row_major, swizzled};
//!
//! // 32 rows of 64 halves; in row 3, vector 2 of 8 halves lies in the place of vector 2 ^ 3.
//! let memory = swizzled([32, 64], 8, 1, 8, [1, 0]);
//! let view = memory.slice(1, 16, 8);
//! assert_eq!(view.offset(view.shape().flat(&[3, 0])), 3 * 64 + (2 ^ 3) * 8);
//! // Each lane loads its row of the slice: 16 bytes a lane are 4 wavefronts at least.
//! let lanes = blocked([32, 8], [1, 8], [32, 1], [1, 1], [1, 0]);
//! assert_eq!(banks::load(&lanes, &view, 16).wavefronts, 4);
//! assert_eq!(banks::load(&lanes, &row_major([32, 64]).slice(1, 16, 8), 16).wavefronts, 32);
//! ```
//!
//! # An invalid layout is a value that says why
//!
//! A kernel's layouts come from chains of calls in `const` functions. So every operation is total: where a precondition is
//! broken it returns an invalid layout, which carries the first error through whatever follows, as a NaN does. Who uses
//! the layout asks once.
//!
//! ```
//! use quadpair_layouts::{Layout, blocked};
//!
//! const ROWS: Layout = blocked([64, 96], [1, 8], [4, 8], [4, 1], [1, 0]).permute([1, 0]).slice(0);
//! let error = ROWS.check().unwrap_err();
//! assert_eq!(error.to_string(), "extent 96 of dimension 1 is no power of two; the next are 64 and 128");
//! ```
//!
//! # What linearity buys
//!
//! Everything that a compiler asks about a layout becomes linear algebra over the field of two elements, F2, where addition
//! is XOR. (You need none of it to use the crate.)
//!
//! - A coordinate pair is one number: the row-major flat index, whose bits are the coordinates' bits. So `reshape` changes
//!   no basis, `permute` permutes bits, and equal maps are equal words, whoever made them.
//! - Every element is held if the bases span the tile; a bit is a duplicate if its basis is a sum of others'.
//! - A conversion stays within threads if the differences of bases lie in the span of the registers.
//! - An address is linear in the thread's number; two accesses conflict if a sum of lanes moves by whole lines.
//!
//! # Rules of the house
//!
//! - Every function is `const`: a kernel's layouts are checked by the Rust compiler. A wrong layout is a value that says
//!   why ([`Layout::fault`]), nothing panics, and the first error of a chain of calls is kept.
//! - Extents are powers of two; there is no division by three here. Gaps between rows in memory ([`padded`]) come on top
//!   of a linear map.
//! - A layout spans the warps of one block: there are no bases for the blocks of a cluster.
//!
//! # Modules
//!
//! | module | what it is |
//! |---|---|
//! | `shape` | [`Shape`]: extents, and which bits of the flat index each dimension has |
//! | `layout` | [`Layout`]: bases, equality, duplicates; operations on them in `ops` |
//! | `named` | [`blocked`], [`coalesced`], [`linear`] |
//! | `shared` | [`SharedLayout`], its views, [`MatrixLoad`]; [`row_major`], [`swizzled`], [`padded`], [`nvmma_shared`], [`shared_linear`] |
//! | [`mma`] | matrix units as data, [`Mma`], the law of matrix products |
//! | [`typing`] | the rule of each operation: from layouts of operands to the layout of the result |
//! | [`convert`](mod@convert) | what a conversion takes, and costs |
//! | [`banks`] | wavefronts and bank conflicts of shared memory |
//! | `linear` | [`LinearMap`]: the whole algebra, for maps between any labelled bits |
//! | [`f2`] | [`Map`] and spans: linear algebra that knows of no tile |
//! | `error`, `text`, `difference` | what is wrong, in an author's words, without allocation |
#![no_std]
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod banks;
pub mod convert;
mod difference;
mod error;
pub mod f2;
mod layout;
mod linear;
pub mod mma;
mod named;
mod ops;
mod shape;
mod shared;
mod text;
pub mod typing;

pub use banks::{Access, wavefronts};
pub use convert::{Bound, Conversion, ConversionKind, Cost};
pub use difference::{Difference, difference};
pub use error::{ElementOf, Error, Operand, PackedShape, Product, Shapes, Wanted};
pub use f2::Map;
pub use layout::{Bit, LANE_BITS, Layout, MAX_BASES, MAX_REGISTER_BITS, MAX_WARP_BITS};
pub use linear::{
    AdditiveStrides, BitOf, ColumnAction, Dim, LinearMap, MAX_SPACE_BITS, MAX_SPACE_DIMS, MapError, Space,
};
pub use mma::{Atom, Mma, MmaPlan, Quadpairs};
pub use named::{blocked, coalesced, linear};
pub use shape::{MAX_RANK, MAX_SHAPE_BITS, Shape};
pub use shared::{
    MAX_PADDINGS, MatrixLoad, SharedLayout, TensorMemory, mbarrier, nvmma_default, nvmma_shared, padded, row_major,
    shared_linear, swizzled, tensor_memory,
};
pub use text::Text;
