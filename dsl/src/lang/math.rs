//! Functions of numbers, element by element: `exp(x)`, `maximum(x, 0.0)`.
//!
//! Functions of one `f32` also take the narrower floats: they are computed in `f32` and rounded once more. Of `f64` there
//! is what the chips have instructions for. Errors below are those of `f32`, in units in the last place (ulp); where none
//! is given the result is the nearest number.

use crate::element::DType;
use crate::ir::{BinaryOp, OpKind, UnaryOp};
use crate::lang::operators::{arithmetic, both};
use crate::lang::ops::{describe, text};
use crate::lang::{Operand, Tile, Trace};

macro_rules! singles {
    ($($(#[$doc:meta])* $function:ident => $op:ident),* $(,)?) => {$(
        $(#[$doc])*
        ///
        /// Floats but `f64`.
        #[track_caller]
        pub const fn $function(trace: &mut Trace<'_>, x: Tile) -> Tile {
            let name = stringify!($function);
            check_float(trace, name, &x);
            if x.ty.dtype.is(DType::F64) {
                trace.fail(describe(text(name), &x).push(" is not computed; convert it with `as f32`"));
            }
            trace.emit(OpKind::Unary(UnaryOp::$op, x.value), x.ty)
        }
    )*};
}

singles! {
    /// e to the power; 2 ulp.
    exp => Exp,
    /// 2 to the power, by the chip's instruction; 2 ulp, and what is below 2^-126 becomes 0.
    exp2 => Exp2,
    /// The natural logarithm; 2 ulp.
    log => Log,
    /// The logarithm to base 2, by the chip's instruction; 2 ulp, near 1 an absolute error of 2^-22.
    log2 => Log2,
    /// The sine of an angle in radians, at most 2^22 either way: 2 ulp. Beyond that it is NaN.
    sin => Sin,
    /// The cosine of an angle in radians, at most 2^22 either way: 2 ulp. Beyond that it is NaN.
    cos => Cos,
    /// The hyperbolic tangent; 2 ulp.
    tanh => Tanh,
    /// The error function; 2 ulp.
    erf => Erf,
}

macro_rules! floats {
    ($($(#[$doc:meta])* $function:ident => $op:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[track_caller]
        pub const fn $function(trace: &mut Trace<'_>, x: Tile) -> Tile {
            check_float(trace, stringify!($function), &x);
            trace.emit(OpKind::Unary(UnaryOp::$op, x.value), x.ty)
        }
    )*};
}

floats! {
    /// The square root, by the chip's fast instruction; 1 ulp. Of `f64` it is the nearest number.
    sqrt => Sqrt,
    /// The square root, the nearest number.
    sqrt_rn => SqrtRn,
    /// One over the square root, by the chip's fast instruction; 2 ulp. Of `f64` it is rounded twice.
    rsqrt => Rsqrt,
    /// The largest integer that isn't above.
    floor => Floor,
    /// The smallest integer that isn't below.
    ceil => Ceil,
    /// The integer next to it towards zero.
    trunc => Trunc,
    /// The nearest integer, of two as near the even one.
    round => Round,
}

#[track_caller]
const fn check_float(trace: &mut Trace<'_>, name: &str, x: &Tile) {
    if !x.ty.dtype.is_float() || x.ty.is_pointer() {
        let text = describe(text(name).push("a floating-point tile is wanted, this is "), x);
        trace.fail(text.push("; convert it with `as f32`"));
    }
}

/// The absolute value.
#[track_caller]
pub const fn abs(trace: &mut Trace<'_>, x: Tile) -> Tile {
    if x.ty.is_pointer() || matches!(x.ty.dtype, DType::Bool) {
        trace.fail(describe(text("abs"), &x).push(" has no absolute value"));
    }
    trace.emit(OpKind::Unary(UnaryOp::Abs, x.value), x.ty)
}

macro_rules! extrema {
    ($($(#[$doc:meta])* $function:ident => $op:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[track_caller]
        pub const fn $function(trace: &mut Trace<'_>, a: Operand, b: Operand) -> Tile {
            extremum(trace, stringify!($function), BinaryOp::$op, a, b)
        }
    )*};
}

extrema! {
    /// The larger of the two; a number wins over NaN.
    maximum => Max,
    /// The smaller of the two; a number wins over NaN.
    minimum => Min,
    /// The larger of the two; NaN wins over a number.
    maximum_nan => MaxNan,
    /// The smaller of the two; NaN wins over a number.
    minimum_nan => MinNan,
}

#[track_caller]
const fn extremum(trace: &mut Trace<'_>, name: &str, op: BinaryOp, a: Operand, b: Operand) -> Tile {
    let (a, b, ty) = both(trace, name, a, b);
    if matches!(ty.dtype, DType::Bool) {
        trace.fail(text(name).push("bool has no order; use & or |"));
    }
    let op = match op {
        BinaryOp::MinNan if !ty.dtype.is_float() => BinaryOp::Min,
        BinaryOp::MaxNan if !ty.dtype.is_float() => BinaryOp::Max,
        own => own,
    };
    trace.emit(OpKind::Binary(op, a.value, b.value), ty)
}

/// `x`, but no less than `lo` and no more than `hi`; NaN becomes `lo`.
#[track_caller]
pub const fn clamp(trace: &mut Trace<'_>, x: Operand, lo: Operand, hi: Operand) -> Tile {
    let raised = extremum(trace, "clamp", BinaryOp::Max, x, lo);
    extremum(trace, "clamp", BinaryOp::Min, Operand::Tile(raised), hi)
}

/// `a * b + c` of floats, rounded once; of `bf16` and the 8-bit types once to `f32` and once more.
#[track_caller]
pub const fn fma(trace: &mut Trace<'_>, a: Operand, b: Operand, c: Operand) -> Tile {
    let (a, b, ty) = both(trace, "fma", a, b);
    let (_, c, sum) = both(trace, "fma", Operand::Tile(Tile { value: a.value, ty }), c);
    if !ty.dtype.is_float() {
        trace.fail(text("fma").push("floating-point tiles are wanted, these are ").push(ty.dtype.name()));
    }
    trace.emit(OpKind::Fma(a.value, b.value, c.value), sum)
}

/// The upper half of the product of two integers, which has twice their bits.
#[track_caller]
pub const fn mulhi(trace: &mut Trace<'_>, a: Operand, b: Operand) -> Tile {
    arithmetic(trace, "mulhi", BinaryOp::MulHi, a, b)
}

/// `a / b` of floats, fast: 2 ulp. Of `f64`, as `a / b`.
#[track_caller]
pub const fn fdiv(trace: &mut Trace<'_>, a: Operand, b: Operand) -> Tile {
    arithmetic(trace, "fdiv", BinaryOp::FastDiv, a, b)
}

/// `a / b` of floats, the nearest number; the operator `/` is the same.
#[track_caller]
pub const fn div_rn(trace: &mut Trace<'_>, a: Operand, b: Operand) -> Tile {
    let quotient = arithmetic(trace, "div_rn", BinaryOp::Div, a, b);
    check_float(trace, "div_rn", &quotient);
    quotient
}

/// `a / b` of integers, rounded up: `(a + (b - 1)) / b`, which must not overflow; `a` isn't negative and `b` positive.
#[track_caller]
pub const fn cdiv(trace: &mut Trace<'_>, a: Operand, b: Operand) -> Tile {
    let (a, b, ty) = both(trace, "cdiv", a, b);
    if !ty.dtype.is_integer() {
        trace.fail(describe(text("cdiv").push("integers are wanted, this is "), &a));
    }
    let one = trace.integer(b.ty.dtype, 1);
    let less = trace.emit(OpKind::Binary(BinaryOp::Sub, b.value, one.value), b.ty);
    let sum = trace.emit(OpKind::Binary(BinaryOp::Add, a.value, less.value), ty);
    trace.emit(OpKind::Binary(BinaryOp::Div, sum.value, b.value), ty)
}
