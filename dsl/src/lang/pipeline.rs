//! Software pipelining: loops that load ahead.
//!
//! Memory answers late. A loop that loads an item and then uses it waits each time; one that loads the *next* item before
//! it uses this one has something to do meanwhile. `pipelined` is that loop:
//!
//! ```
//! use quadpair::prelude::*;
//!
//! # const L: Layout = blocked([128, 1], [1, 1], [32, 1], [4, 1], [1, 0]);
//! #[device]
//! fn sum_of_columns(memory: Shared) -> Tile {
//!     let mut sum = zeros::<f32>(L);
//!     for (_, column) in pipelined(0..16, |i| memory.slice(1, i, 1).load(L)) {
//!         sum = sum + column;
//!     }
//!     sum
//! }
//! # fn main() {}
//! ```
//!
//! records `load 0, load 1, add 0, load 2, add 1, ..`. The function is called once for each item, in order, and may do
//! anything: store to shared memory, wait at a barrier, change variables of outside. Whatever it does happens before the
//! body of the item in front, so the place where a kernel goes from one stage of its memory to the next is the load of
//! that stage's first item.
//!
//! # Ranges
//!
//! Over a comptime range the loop unrolls: items are values like any other, and nothing is loaded behind the last.
//!
//! Over a run-time range the first item is loaded before the loop, which carries what is loaded. The function is also
//! called for the index behind the last, and once if there is none at all: its loads must be allowed there, by a mask.
//!
//! Over two ranges, a run-time one and a comptime one, items are numbered like the loops in one another would, and the
//! loads go on across the rounds: with the last item of a round the first of the next is loaded.
//!
//! ```
//! use quadpair::prelude::*;
//!
//! # const ROWS: Layout = blocked([128, 8], [1, 8], [32, 1], [4, 1], [1, 0]);
//! # const COLUMN: Layout = blocked([128, 1], [1, 1], [32, 1], [4, 1], [1, 0]);
//! /// The sums of rows of 8 `count` elements that lie one after the other. While columns of a piece of 128 x 8 are
//! /// added, the next piece is on its way from global memory.
//! #[device]
//! fn row_sums(rows: Tile, count: Tile) -> Tile {
//!     let piece = [shared::<f32>(row_major([128, 8])), shared::<f32>(row_major([128, 8]))];
//!     let mut fetched = load(rows);
//!     let mut sum = zeros::<f32>(COLUMN);
//!     for (_, column) in pipelined(((0..count).step_by(2), 0..16), |(at, column)| {
//!         let stage = column / 8;
//!         if column % 8 == 0 {
//!             piece[stage].store(fetched);
//!             barrier();
//!             let left = at + 1 + stage < count;
//!             fetched = load_masked(rows + (at + 1 + stage) * 8, left, 0.0);
//!         }
//!         piece[stage].slice(1, column % 8, 1).load(COLUMN)
//!     }) {
//!         sum = sum + column;
//!     }
//!     sum
//! }
//! # fn main() {}
//! ```
//!
//! # Depth
//!
//! `pipelined(range, depth, |i| ..)` is `depth` items ahead: `load 0, load 1, load 2, use 0, load 3, ..` for 2. Over a
//! run-time range a value costs registers and moves for each item ahead; asynchronous copies to shared memory don't: a
//! function that only starts them gives `()`.

use crate::lang::control::{Loop, bounds, for_begin_between};
use crate::lang::operators::add;
use crate::lang::ops::text;
use crate::lang::{Operand, Tile, Trace};

/// How many items there is room for: one that is used and those ahead of it.
pub const MOST: usize = 8;

/// How many items are loaded ahead, 1 to 7.
#[track_caller]
pub const fn depth(trace: &mut Trace<'_>, depth: usize) -> usize {
    if depth == 0 || depth >= MOST {
        let text = text("pipelined").push("1 to ").number(MOST - 1).push(" items can be loaded ahead, not ");
        trace.fail(text.number(depth));
        return 1;
    }
    depth
}

/// Checks that a round, of the comptime range inside a run-time one, has items.
#[track_caller]
pub const fn round(trace: &mut Trace<'_>, has_items: bool) {
    if !has_items {
        trace.fail(text("pipelined").push("the comptime range is empty, so that there is nothing to load ahead"));
    }
}

/// An item that has been loaded.
pub const fn item<T: Copy>(item: Option<T>) -> T {
    match item {
        Some(item) => item,
        None => panic!("an item is loaded before it is used"),
    }
}

/// The items ahead after the first was taken and one was loaded.
pub const fn pushed<T: Copy>(mut items: [Option<T>; MOST], depth: usize, last: T) -> [Option<T>; MOST] {
    let mut i = 1;
    while i < depth {
        items[i - 1] = items[i];
        i += 1;
    }
    items[depth - 1] = Some(last);
    items
}

/// A run-time range.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    low: Tile,
    high: Tile,
    step: Tile,
}

/// The range `lo`, `lo + step`, … below `hi`.
#[track_caller]
pub const fn range(trace: &mut Trace<'_>, lo: Operand, hi: Operand, step: Operand) -> Range {
    let [low, high, step] = bounds(trace, lo, hi, step);
    Range { low, high, step }
}

impl Range {
    /// The first index.
    pub const fn low(&self) -> Tile {
        self.low
    }

    /// The index so many steps behind this one.
    #[track_caller]
    pub const fn later(&self, trace: &mut Trace<'_>, index: Tile, steps: usize) -> Tile {
        let (mut index, mut i) = (index, 0);
        while i < steps {
            index = add(trace, Operand::Tile(index), Operand::Tile(self.step));
            i += 1;
        }
        index
    }

    /// Opens the loop.
    #[track_caller]
    pub const fn begin(&self, trace: &mut Trace<'_>) -> Loop {
        for_begin_between(trace, [self.low, self.high, self.step])
    }
}
