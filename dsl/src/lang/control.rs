//! Run-time loops and branches: what the macros make of `for` and `if`.

use crate::element::DType;
use crate::ir::{OpKind, TileType};
use crate::lang::ops::{describe, text};
use crate::lang::{Operand, Tile, Trace};

/// An open loop.
#[derive(Clone, Copy, Debug)]
pub struct Loop {
    index: Tile,
}

impl Loop {
    /// The loop's index.
    pub const fn index(&self) -> Tile {
        self.index
    }
}

/// An open branch.
#[derive(Clone, Copy, Debug)]
pub struct Branch(());

/// Opens a loop over `lo`, `lo + step`, … below `hi`. The index has the bounds' type, `i32` where they are numbers.
#[track_caller]
pub const fn for_begin(trace: &mut Trace<'_>, lo: Operand, hi: Operand, step: Operand) -> Loop {
    let dtype = match (lo.own_type(), hi.own_type(), step.own_type()) {
        (Some(ty), _, _) | (None, Some(ty), _) | (None, None, Some(ty)) => ty.dtype,
        (None, None, None) => DType::I32,
    };
    let (lo, hi, step) = (lo.tile(trace, "for", dtype), hi.tile(trace, "for", dtype), step.tile(trace, "for", dtype));
    check_bound(trace, &lo, dtype);
    check_bound(trace, &hi, dtype);
    check_bound(trace, &step, dtype);
    let kind = OpKind::For { lo: lo.value, hi: hi.value, step: step.value };
    Loop { index: trace.emit(kind, TileType::scalar(dtype)) }
}

#[track_caller]
const fn check_bound(trace: &mut Trace<'_>, bound: &Tile, dtype: DType) {
    if !bound.is_scalar() || !matches!(bound.ty.dtype, DType::I32 | DType::I64) || bound.ty.is_pointer() {
        trace.fail(describe(text("for").push("bounds and step are i32 or i64 scalars, this is "), bound));
    } else if !bound.ty.dtype.is(dtype) {
        let text = describe(
            text("for").push("bounds and step have one type; these are ").push(dtype.name()).push(" and "),
            bound,
        );
        trace.fail(text);
    }
}

/// Closes a loop.
#[track_caller]
pub const fn for_end(trace: &mut Trace<'_>, _loop: Loop) {
    trace.effect(OpKind::EndFor);
}

/// Opens a branch on a `bool` scalar that all threads of the block agree on.
#[track_caller]
pub const fn if_begin(trace: &mut Trace<'_>, condition: Tile) -> Branch {
    if !condition.is_scalar() || !condition.ty.dtype.is(DType::Bool) || condition.ty.is_pointer() {
        let text = describe(text("if").push("the condition must be a bool scalar, this is "), &condition);
        trace.fail(text.push("; use select for a condition of each element"));
    }
    trace.effect(OpKind::If(condition.value));
    Branch(())
}

/// Opens the other side.
#[track_caller]
pub const fn if_else(trace: &mut Trace<'_>, _branch: &Branch) {
    trace.effect(OpKind::Else);
}

/// Closes a branch.
#[track_caller]
pub const fn if_end(trace: &mut Trace<'_>, _branch: Branch) {
    trace.effect(OpKind::EndIf);
}

/// A local variable that a loop or branch assigns: a tile, or an array of tiles.
#[derive(Clone, Copy, Debug)]
pub struct Carried<T>(pub T);

impl Carried<Tile> {
    /// The variable inside the loop.
    #[track_caller]
    pub const fn enter(self, trace: &mut Trace<'_>, _loop: &Loop, _name: &str) -> Tile {
        trace.emit(OpKind::Carry(self.0.value), self.0.ty)
    }

    /// The variable after the loop; at the end of each iteration it must have the type it came in with.
    #[track_caller]
    pub const fn leave(self, trace: &mut Trace<'_>, _loop: &Loop, entry: Tile, name: &str) -> Tile {
        same_type(trace, "for", name, ["before the loop", "at the end of its body"], &entry, &self.0);
        trace.emit(OpKind::Yield { carried: entry.value, next: self.0.value }, entry.ty)
    }

    /// The variable after a branch, given its value from the other side.
    #[track_caller]
    pub const fn merge(self, trace: &mut Trace<'_>, _branch: &Branch, other: Tile, name: &str) -> Tile {
        same_type(trace, "if", name, ["where the condition holds", "where it does not"], &self.0, &other);
        trace.emit(OpKind::Merge(self.0.value, other.value), self.0.ty)
    }
}

impl<const N: usize> Carried<[Tile; N]> {
    /// The variables inside the loop.
    #[track_caller]
    pub const fn enter(self, trace: &mut Trace<'_>, of: &Loop, name: &str) -> [Tile; N] {
        let mut tiles = self.0;
        let mut i = 0;
        while i < N {
            tiles[i] = Carried(tiles[i]).enter(trace, of, name);
            i += 1;
        }
        tiles
    }

    /// The variables after the loop.
    #[track_caller]
    pub const fn leave(self, trace: &mut Trace<'_>, of: &Loop, entry: [Tile; N], name: &str) -> [Tile; N] {
        let mut tiles = self.0;
        let mut i = 0;
        while i < N {
            tiles[i] = Carried(tiles[i]).leave(trace, of, entry[i], name);
            i += 1;
        }
        tiles
    }

    /// The variables after a branch.
    #[track_caller]
    pub const fn merge(self, trace: &mut Trace<'_>, of: &Branch, other: [Tile; N], name: &str) -> [Tile; N] {
        let mut tiles = self.0;
        let mut i = 0;
        while i < N {
            tiles[i] = Carried(tiles[i]).merge(trace, of, other[i], name);
            i += 1;
        }
        tiles
    }
}

#[track_caller]
const fn same_type(trace: &mut Trace<'_>, op: &str, name: &str, places: [&str; 2], a: &Tile, b: &Tile) {
    // The macro calls the value of the whole branch `if`.
    let text = match name.as_bytes() {
        b"if" => text(op).push("the value"),
        _ => text(op).push("`").push(name).push("`"),
    };
    if !a.ty.dtype.is(b.ty.dtype) || a.ty.is_pointer() != b.ty.is_pointer() || a.is_scalar() != b.is_scalar() {
        let text = describe(text.push(" is "), a).push(" ").push(places[0]).push(" and ");
        trace.fail(describe(text, b).push(" ").push(places[1]).push("; convert it with `as`"));
    } else if !a.is_scalar() && !a.layout().same_tile(&b.layout()) {
        let text = text.push(" has one layout ").push(places[0]).push(" and another ").push(places[1]).push(": ");
        trace.fail(text.difference(&a.layout(), &b.layout()).push("; convert it with convert_layout"));
    }
}
