//! The operators `+ - * / % & | ^ << >> < <= > >= == != - !` and `as` on run-time values.
//!
//! Both sides have one element type; a comptime number takes the other side's. Scalars and extents of 1 broadcast. An
//! address plus an integer is the address that many elements further.

use quadpair_layouts::typing;

use crate::element::DType;
use crate::ir::{BinaryOp, CompareOp, OpKind, Pointer, TileType, UnaryOp};
use crate::lang::ops::{describe, text};
use crate::lang::{Operand, Tile, Trace};

macro_rules! binary {
    ($($(#[$doc:meta])* $function:ident => $op:ident $name:literal),* $(,)?) => {$(
        $(#[$doc])*
        #[track_caller]
        pub const fn $function(trace: &mut Trace<'_>, a: Operand, b: Operand) -> Tile {
            arithmetic(trace, $name, BinaryOp::$op, a, b)
        }
    )*};
}

binary! {
    /// `a + b`
    add => Add "+",
    /// `a - b`
    sub => Sub "-",
    /// `a * b`
    mul => Mul "*",
    /// `a / b`; integers round towards zero.
    div => Div "/",
    /// `a % b`, integers only.
    rem => Rem "%",
    /// `a & b`, integers and truth values.
    bit_and => And "&",
    /// `a | b`, integers and truth values.
    bit_or => Or "|",
    /// `a ^ b`, integers and truth values.
    bit_xor => Xor "^",
    /// `a << b`, integers only.
    shl => Shl "<<",
    /// `a >> b`, integers only.
    shr => Shr ">>",
}

macro_rules! compare {
    ($($(#[$doc:meta])* $function:ident => $op:ident $name:literal),* $(,)?) => {$(
        $(#[$doc])*
        #[track_caller]
        pub const fn $function(trace: &mut Trace<'_>, a: Operand, b: Operand) -> Tile {
            let (a, b, ty) = both(trace, $name, a, b);
            trace.emit(OpKind::Compare(CompareOp::$op, a.value, b.value), ty.with_dtype(DType::Bool))
        }
    )*};
}

compare! {
    /// `a < b`
    lt => Lt "<",
    /// `a <= b`
    le => Le "<=",
    /// `a > b`
    gt => Gt ">",
    /// `a >= b`
    ge => Ge ">=",
    /// `a == b`
    eq => Eq "==",
    /// `a != b`
    ne => Ne "!=",
}

/// `-a`
#[track_caller]
pub const fn neg(trace: &mut Trace<'_>, a: Operand) -> Tile {
    let a = a.tile(trace, "-", DType::F32);
    if a.ty.is_pointer() || matches!(a.ty.dtype, DType::Bool) {
        trace.fail(describe(text("-"), &a).push(" has no negative"));
    }
    trace.emit(OpKind::Unary(UnaryOp::Neg, a.value), a.ty)
}

/// `!a`, integers and truth values.
#[track_caller]
pub const fn not(trace: &mut Trace<'_>, a: Operand) -> Tile {
    let a = a.tile(trace, "!", DType::Bool);
    if a.ty.is_pointer() || a.ty.dtype.is_float() {
        trace.fail(describe(text("!"), &a).push(" is neither bool nor an integer"));
    }
    trace.emit(OpKind::Unary(UnaryOp::Not, a.value), a.ty)
}

/// What can be done with addresses.
const MOVES: &str = "; an address only moves, by `+` or `-` an integer on its right";

#[track_caller]
pub(crate) const fn arithmetic(trace: &mut Trace<'_>, name: &str, op: BinaryOp, a: Operand, b: Operand) -> Tile {
    if let (Operand::Tile(pointer), BinaryOp::Add | BinaryOp::Sub) = (a, op)
        && pointer.ty.is_pointer()
    {
        return address(trace, name, op, pointer, b);
    }
    let (a, b, ty) = both(trace, name, a, b);
    let (allowed, wanted) = match op {
        BinaryOp::MulHi | BinaryOp::Rem | BinaryOp::Shl | BinaryOp::Shr => (ty.dtype.is_integer(), "integers are"),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => (!ty.dtype.is_float(), "integers or bools are"),
        BinaryOp::FastDiv => (ty.dtype.is_float(), "floating-point numbers are"),
        _ => (!matches!(ty.dtype, DType::Bool), "numbers are"),
    };
    if a.ty.is_pointer() || b.ty.is_pointer() {
        trace.fail(describe(text(name), &a).push(" with another").push(MOVES));
    } else if !allowed {
        trace.fail(describe(text(name).push(wanted).push(" wanted, this is "), &a));
    }
    trace.emit(OpKind::Binary(op, a.value, b.value), ty)
}

/// An address moved by a number of elements.
#[track_caller]
const fn address(trace: &mut Trace<'_>, name: &str, op: BinaryOp, pointer: Tile, offset: Operand) -> Tile {
    let offset = offset.tile(trace, name, DType::I64);
    if offset.ty.is_pointer() || !matches!(offset.ty.dtype, DType::I32 | DType::I64 | DType::U32) {
        let text = describe(text(name).push("an address moves by i32, i64 or u32 elements, not by "), &offset);
        trace.fail(text.push("; convert it with `as`"));
    }
    let layout = common_layout(trace, name, &pointer, &offset);
    let ty = TileType { layout, ..pointer.ty };
    trace.emit(OpKind::Binary(op, pointer.value, offset.value), ty)
}

/// Both sides as run-time values of one element type, and the type of the result.
#[track_caller]
pub(crate) const fn both(trace: &mut Trace<'_>, name: &str, a: Operand, b: Operand) -> (Tile, Tile, TileType) {
    let dtype = match (a.own_type(), b.own_type()) {
        (Some(ty), _) | (None, Some(ty)) => ty.dtype,
        (None, None) => DType::F32,
    };
    let (a, b) = (a.tile(trace, name, dtype), b.tile(trace, name, dtype));
    if !a.ty.dtype.is(b.ty.dtype) || a.ty.is_pointer() != b.ty.is_pointer() {
        let text = describe(describe(text(name), &a).push(" with "), &b);
        trace.fail(text.push(if a.ty.is_pointer() || b.ty.is_pointer() {
            MOVES
        } else {
            "; convert one side with `as`"
        }));
    }
    let layout = common_layout(trace, name, &a, &b);
    (a, b, TileType { dtype: a.ty.dtype, pointer: Pointer::No, layout })
}

/// Where the elements of an elementwise result live.
#[track_caller]
pub(crate) const fn common_layout(
    trace: &mut Trace<'_>,
    name: &str,
    a: &Tile,
    b: &Tile,
) -> Option<quadpair_layouts::Layout> {
    match (&a.ty.layout, &b.ty.layout) {
        (None, None) => None,
        (Some(layout), None) | (None, Some(layout)) => Some(*layout),
        (Some(left), Some(right)) => {
            let answer = typing::elementwise(left, right);
            Some(trace.rule(name, answer, *left))
        }
    }
}
