//! Aggregates: values made of tiles that loops carry, branches merge and functions of elements take as a whole.
//!
//! A running maximum and a running sum belong together, so an author makes them one struct:
//!
//! ```
//! use quadpair::prelude::*;
//!
//! /// What an online softmax knows of each row so far.
//! #[derive(Clone, Copy, Aggregate)]
//! struct Softmax {
//!     max: Tile,
//!     sum: Tile,
//! }
//!
//! #[device]
//! fn update(state: Softmax, x: Tile) -> Softmax {
//!     let max = maximum(state.max, x);
//!     Softmax { max, sum: state.sum * exp2(state.max - max) + exp2(x - max) }
//! }
//!
//! #[device]
//! fn of_rows(p: Tile, start: Softmax, n: Tile) -> Softmax {
//!     let mut state = start;
//!     for i in 0..n {
//!         state = update(state, load(p + i));      // the loop carries both tiles
//!     }
//!     state
//! }
//! # fn main() {}
//! ```
//!
//! A [`Tile`], a [`Shared`] view, arrays and tuples of tiles are aggregates; `#[derive(Aggregate)]` makes one of a struct of
//! aggregates. Comptime parts (numbers, truth values, layouts) are allowed and stay what they are: a loop that is traced
//! once cannot change them. `#[comptime] let width = state.width;` says that a part is comptime. Some fields get other values
//! by Rust's own syntax: `State { max, ..state }`.
//!
//! Whatever is done with an aggregate is one walk over its tiles: a [`Walker`] says what happens to each. Rust has no
//! `const` methods of traits, so a type says by [`Aggregate::Parts`] which type has the walk as a method of its own:
//! `parts(&state).walk(state, other, walker)` finds it, without anyone naming the type.

use core::marker::PhantomData;

use quadpair_layouts::{Layout, SharedLayout, Text};

use crate::element::DType;
use crate::ir::{Memory, OpKind, TileType};
use crate::lang::control::{Branch, Loop};
use crate::lang::ops::{by_warp, describe, text};
use crate::lang::region::Function;
use crate::lang::{Shared, Tile, Trace};

/// A value made of tiles: derive it for a struct of them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not made of tiles",
    label = "a run-time loop, branch or function of elements would have to take this value apart",
    note = "tiles, shared-memory views, arrays and tuples of tiles, and structs with #[derive(Aggregate)] can be"
)]
pub trait Aggregate: Copy {
    /// The type that has the walk over the parts.
    type Parts: Copy;
    /// Its value.
    const PARTS: Self::Parts;
}

/// What has the walk over a value's parts.
pub const fn parts<T: Aggregate>(_: &T) -> T::Parts {
    T::PARTS
}

/// The deepest that structs can be nested.
const MAX_DEPTH: usize = 8;

/// What happens to each tile of an aggregate.
pub struct Walker<'w, 't> {
    trace: &'w mut Trace<'t>,
    purpose: Purpose<'w>,
    /// The variable and the fields down to where the walk is.
    names: [&'w str; MAX_DEPTH],
    depth: usize,
}

/// What a walk is for.
enum Purpose<'w> {
    /// A value enters a loop.
    Enter,
    /// A value leaves a loop; it came in as the first.
    Leave,
    /// The value of a branch, which may be one of each warp: the first on the true side, else the second.
    Merge { each_warp: bool },
    /// Elements for a function, one of each tile.
    Elements(&'w mut Function),
    /// What a function gives, the second, of the operands, the first.
    Give(&'w Function),
}

impl<'w, 't> Walker<'w, 't> {
    /// The names of a variable's tiles inside a loop.
    pub const fn enter(trace: &'w mut Trace<'t>, _loop: &Loop, name: &'w str) -> Self {
        Walker::new(trace, Purpose::Enter, name)
    }

    /// What a loop hands on to its next iteration and, at last, to what follows it.
    pub const fn leave(trace: &'w mut Trace<'t>, _loop: &Loop, name: &'w str) -> Self {
        Walker::new(trace, Purpose::Leave, name)
    }

    /// What a branch gives.
    pub const fn merge(trace: &'w mut Trace<'t>, branch: &Branch, name: &'w str) -> Self {
        Walker::new(trace, Purpose::Merge { each_warp: branch.by_warp }, name)
    }

    /// The parameters of a function of elements.
    pub const fn elements(trace: &'w mut Trace<'t>, function: &'w mut Function) -> Self {
        Walker::new(trace, Purpose::Elements(function), "")
    }

    /// The results of a function of elements.
    pub const fn give(trace: &'w mut Trace<'t>, function: &'w Function) -> Self {
        Walker::new(trace, Purpose::Give(function), "")
    }

    const fn new(trace: &'w mut Trace<'t>, purpose: Purpose<'w>, name: &'w str) -> Self {
        let mut names = [""; MAX_DEPTH];
        names[0] = name;
        Walker { trace, purpose, names, depth: 1 }
    }

    /// Goes down to a field.
    pub const fn down(&mut self, field: &'static str) {
        if self.depth < MAX_DEPTH {
            self.names[self.depth] = field;
        }
        self.depth += 1;
    }

    /// Comes back from a field.
    pub const fn up(&mut self) {
        self.depth -= 1;
    }

    /// Does it to one tile.
    #[track_caller]
    const fn tile(&mut self, tile: Tile, other: Tile) -> Tile {
        match &mut self.purpose {
            Purpose::Enter => self.trace.emit(OpKind::Carry(tile.value), tile.ty),
            Purpose::Leave => {
                self.same_type("for", ["before the loop", "at the end of its body"], &tile, &other);
                self.trace.emit(OpKind::Yield { carried: tile.value, next: other.value }, tile.ty)
            }
            Purpose::Merge { each_warp } => {
                let each_warp = *each_warp;
                self.same_type("if", ["where the condition holds", "where it does not"], &tile, &other);
                if each_warp && !by_warp(&tile.ty) {
                    let text = self.named("if").push(" would differ between warps behind `if warp_any(..)`");
                    self.trace.fail(text.push("; make it a tile whose elements are each in one warp"));
                }
                self.trace.emit(OpKind::Merge(tile.value, other.value), tile.ty)
            }
            Purpose::Elements(function) => function.element(self.trace, tile),
            Purpose::Give(function) => function.give(self.trace, tile, other),
        }
    }

    #[track_caller]
    const fn same_type(&mut self, op: &str, places: [&str; 2], a: &Tile, b: &Tile) {
        if !a.ty.dtype.is(b.ty.dtype) || a.ty.is_pointer() != b.ty.is_pointer() || a.is_scalar() != b.is_scalar() {
            let text = describe(self.named(op).push(" is "), a).push(" ").push(places[0]).push(" and ");
            self.trace.fail(describe(text, b).push(" ").push(places[1]).push("; convert it with `as`"));
        } else if !a.is_scalar() && !a.layout().same_tile(&b.layout()) {
            let text = self.named(op).push(" has one layout ").push(places[0]).push(" and another ").push(places[1]);
            let text = text.push(": ").difference(&a.layout(), &b.layout());
            self.trace.fail(text.push("; convert it with convert_layout"));
        }
    }

    /// A comptime part, which must be the same in both.
    #[track_caller]
    const fn comptime(&mut self, same: bool) {
        let (op, what) = match self.purpose {
            Purpose::Leave if !same => ("for", " is comptime and changes in the body, which is traced once"),
            Purpose::Merge { .. } if !same => ("if", " is comptime and differs between the sides"),
            _ => return,
        };
        let text = self.named(op).push(what).push("; make it a run-time value with `scalar(..)`");
        self.trace.fail(text);
    }

    /// Where the walk is, in a message: "for: `state.max`".
    const fn named(&self, op: &str) -> Text {
        // The value of a branch has no name of its own.
        let value = self.names[0].is_empty();
        let named = if value { "the value" } else { self.names[0] };
        let (mut text, mut i) = (text(op).push(if value { "" } else { "`" }).push(named), 1);
        while i < self.depth && i < MAX_DEPTH {
            text = text.push(".").push(self.names[i]);
            i += 1;
        }
        text.push(if value { "" } else { "`" })
    }
}

/// The parts of a [`Tile`], and of arrays and tuples of tiles.
#[derive(Clone, Copy, Debug)]
pub struct Tiles<T>(PhantomData<T>);

/// The parts of a [`Shared`] view.
#[derive(Clone, Copy, Debug)]
pub struct SharedParts;

/// A part that is known while tracing.
#[derive(Clone, Copy, Debug)]
pub struct Comptime<T>(PhantomData<T>);

#[diagnostic::do_not_recommend]
impl Aggregate for Tile {
    type Parts = Tiles<Tile>;
    const PARTS: Tiles<Tile> = Tiles(PhantomData);
}

impl Tiles<Tile> {
    /// Walks over the tile.
    #[track_caller]
    pub const fn walk(self, tile: Tile, other: Tile, walker: &mut Walker<'_, '_>) -> Tile {
        walker.tile(tile, other)
    }
}

#[diagnostic::do_not_recommend]
impl<const N: usize> Aggregate for [Tile; N] {
    type Parts = Tiles<[Tile; N]>;
    const PARTS: Self::Parts = Tiles(PhantomData);
}

impl<const N: usize> Tiles<[Tile; N]> {
    /// Walks over the tiles.
    #[track_caller]
    pub const fn walk(self, mut tiles: [Tile; N], others: [Tile; N], walker: &mut Walker<'_, '_>) -> [Tile; N] {
        let mut i = 0;
        while i < N {
            tiles[i] = walker.tile(tiles[i], others[i]);
            i += 1;
        }
        tiles
    }
}

#[diagnostic::do_not_recommend]
impl Aggregate for Option<Tile> {
    type Parts = Tiles<Option<Tile>>;
    const PARTS: Self::Parts = Tiles(PhantomData);
}

impl Tiles<Option<Tile>> {
    /// Walks over the tile, if there is one; whether there is one is comptime.
    #[track_caller]
    pub const fn walk(self, tile: Option<Tile>, other: Option<Tile>, walker: &mut Walker<'_, '_>) -> Option<Tile> {
        walker.comptime(tile.is_some() == other.is_some());
        match (tile, other) {
            (Some(tile), Some(other)) => Some(walker.tile(tile, other)),
            _ => None,
        }
    }
}

macro_rules! tuples {
    ($($tile:ty => [$($i:tt)+])*) => {$(
        #[diagnostic::do_not_recommend]
        impl Aggregate for $tile {
            type Parts = Tiles<$tile>;
            const PARTS: Self::Parts = Tiles(PhantomData);
        }

        impl Tiles<$tile> {
            /// Walks over the tiles.
            #[track_caller]
            pub const fn walk(self, tiles: $tile, others: $tile, walker: &mut Walker<'_, '_>) -> $tile {
                ($({
                    walker.down(stringify!($i));
                    let tile = walker.tile(tiles.$i, others.$i);
                    walker.up();
                    tile
                },)+)
            }
        }
    )*};
}

tuples! {
    (Tile,) => [0]
    (Tile, Tile) => [0 1]
    (Tile, Tile, Tile) => [0 1 2]
    (Tile, Tile, Tile, Tile) => [0 1 2 3]
    (Tile, Tile, Tile, Tile, Tile) => [0 1 2 3 4]
    (Tile, Tile, Tile, Tile, Tile, Tile) => [0 1 2 3 4 5]
}

#[diagnostic::do_not_recommend]
impl Aggregate for Shared {
    type Parts = SharedParts;
    const PARTS: SharedParts = SharedParts;
}

impl SharedParts {
    /// Walks over a view of shared memory: its run-time offset is a scalar, all else is comptime.
    #[track_caller]
    pub const fn walk(self, view: Shared, other: Shared, walker: &mut Walker<'_, '_>) -> Shared {
        let (memory, next) = (view.memory, other.memory);
        let same = memory.allocation == next.allocation && memory.dtype.is(next.dtype);
        walker.comptime(same && memory.layout.equals(&next.layout) && memory.offset.is_some() == next.offset.is_some());
        let (Some(before), Some(after)) = (memory.offset, next.offset) else { return view };
        let ty = TileType::scalar(DType::I32);
        let offset = walker.tile(Tile { value: before, ty }, Tile { value: after, ty });
        Shared { memory: Memory { offset: Some(offset.value), ..memory } }
    }
}

macro_rules! comptime {
    ($($ty:ty: |$a:ident, $b:ident| $same:expr;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Aggregate for $ty {
            type Parts = Comptime<$ty>;
            const PARTS: Self::Parts = Comptime(PhantomData);
        }

        impl Comptime<$ty> {
            /// Walks over a part that must not change.
            #[track_caller]
            pub const fn walk(self, value: $ty, other: $ty, walker: &mut Walker<'_, '_>) -> $ty {
                let ($a, $b) = (&value, &other);
                walker.comptime($same);
                value
            }
        }
    )*};
}

comptime! {
    usize: |a, b| *a == *b;
    u32: |a, b| *a == *b;
    u64: |a, b| *a == *b;
    i32: |a, b| *a == *b;
    i64: |a, b| *a == *b;
    f32: |a, b| a.to_bits() == b.to_bits();
    f64: |a, b| a.to_bits() == b.to_bits();
    bool: |a, b| *a == *b;
    DType: |a, b| a.is(*b);
    Layout: |a, b| a.equals(b);
    SharedLayout: |a, b| a.equals(b);
    (): |_a, _b| true;
}

#[diagnostic::do_not_recommend]
impl<T> Aggregate for PhantomData<T> {
    type Parts = Comptime<PhantomData<T>>;
    const PARTS: Self::Parts = Comptime(PhantomData);
}

impl<T> Comptime<PhantomData<T>> {
    /// Walks over nothing.
    pub const fn walk(self, value: PhantomData<T>, _: PhantomData<T>, _: &mut Walker<'_, '_>) -> PhantomData<T> {
        value
    }
}
