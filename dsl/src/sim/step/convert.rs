//! Conversions between types, with the rounding that the instruction names.

use half::{bf16, f16};

use crate::ptx::{Rounding, Type};
use crate::sim::program::{Slot, wide_type};
use crate::sim::warp::{Warp, lanes};

/// A number on its way from one type to another.
#[derive(Clone, Copy)]
enum Number {
    Float(f64),
    Int(i128),
}

pub(super) fn convert(
    warp: &mut Warp,
    (to, from): (Type, Type),
    rounding: Option<Rounding>,
    saturate: bool,
    dst: Slot,
    src: Slot,
    mask: u32,
) {
    let source = warp.bits(src);
    let mut result = [0; 32];
    for lane in lanes(mask) {
        result[lane] = write(to, read(from, source[lane]), rounding, saturate);
    }
    if dst.wide() || !wide_type(to) {
        warp.set_bits(dst, mask, &result);
    }
}

fn read(ty: Type, bits: u64) -> Number {
    match ty {
        Type::F16 => Number::Float(f16::from_bits(bits as u16).to_f64()),
        Type::BF16 => Number::Float(bf16::from_bits(bits as u16).to_f64()),
        Type::F32 => Number::Float(f32::from_bits(bits as u32).into()),
        Type::F64 => Number::Float(f64::from_bits(bits)),
        Type::S8 => Number::Int((bits as i8).into()),
        Type::S16 => Number::Int((bits as i16).into()),
        Type::S32 => Number::Int((bits as i32).into()),
        Type::S64 => Number::Int((bits as i64).into()),
        Type::U8 | Type::B8 => Number::Int((bits as u8).into()),
        Type::U16 | Type::B16 => Number::Int((bits as u16).into()),
        Type::U32 | Type::B32 => Number::Int((bits as u32).into()),
        _ => Number::Int(bits.into()),
    }
}

fn write(ty: Type, number: Number, rounding: Option<Rounding>, saturate: bool) -> u64 {
    match (ty, number) {
        (Type::F16 | Type::BF16 | Type::F32 | Type::F64, _) => {
            let value = match number {
                Number::Float(value) => to_integral(value, rounding),
                Number::Int(value) => return from_integer(ty, value, rounding),
            };
            let value = if saturate { saturated(value) } else { value };
            float_bits(ty, value, rounding)
        }
        (_, Number::Float(value)) => {
            let (low, high) = range(ty);
            let whole = to_integral(value, rounding.or(Some(Rounding::Rzi)));
            // Conversions saturate, and NaN is 0.
            let clamped = if whole.is_nan() { 0 } else { (whole as i128).clamp(low, high) };
            clamped as u64
        }
        (_, Number::Int(value)) => {
            let (low, high) = range(ty);
            let value = if saturate { value.clamp(low, high) } else { value };
            match ty {
                Type::S8 => value as i8 as i64 as u64,
                Type::S16 => value as i16 as i64 as u64,
                Type::U8 | Type::B8 => (value as u8).into(),
                Type::U16 | Type::B16 => (value as u16).into(),
                Type::S32 | Type::U32 | Type::B32 => (value as u32).into(),
                _ => value as u64,
            }
        }
    }
}

fn saturated(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) }
}

/// A float rounded to an integer, where the rounding says so.
fn to_integral(value: f64, rounding: Option<Rounding>) -> f64 {
    match rounding {
        Some(Rounding::Rni) => value.round_ties_even(),
        Some(Rounding::Rzi) => value.trunc(),
        Some(Rounding::Rmi) => value.floor(),
        Some(Rounding::Rpi) => value.ceil(),
        _ => value,
    }
}

fn from_integer(ty: Type, value: i128, rounding: Option<Rounding>) -> u64 {
    let near = value as f64;
    if ty == Type::F64 {
        return near.to_bits();
    }
    float_bits(ty, odd(near, (value - near as i128) as f64), rounding)
}

/// The double to take for an exact number that is `error` off its nearest double, if it is to be rounded once more: of the
/// two doubles around the number the one with an odd last bit, which is no tie of any narrower float.
pub(super) fn odd(near: f64, error: f64) -> f64 {
    let exact = error == 0.0 || error.is_nan() || !near.is_finite();
    match near.to_bits() & 1 {
        0 if !exact && error > 0.0 => near.next_up(),
        0 if !exact => near.next_down(),
        _ => near,
    }
}

/// The bits of a number in a float type.
pub(super) fn float_bits(ty: Type, value: f64, rounding: Option<Rounding>) -> u64 {
    let narrow = |bits, least, largest| narrowed(value, rounding, (bits, least, largest));
    match ty {
        Type::F64 => value.to_bits(),
        // Rust rounds to nearest even.
        Type::F32 if rounding.is_none_or(|r| r == Rounding::Rn) => (value as f32).to_bits().into(),
        Type::F32 => (narrow(23, -126, f32::MAX.into()) as f32).to_bits().into(),
        Type::F16 => f16::from_f64(narrow(10, -14, f16::MAX.to_f64())).to_bits().into(),
        _ => bf16::from_f64(narrow(7, -126, bf16::MAX.to_f64())).to_bits().into(),
    }
}

/// Rounds to a float with so many bits behind the leading one, a least exponent, and a largest number.
fn narrowed(value: f64, rounding: Option<Rounding>, (bits, least, largest): (i32, i32, f64)) -> f64 {
    if !value.is_finite() {
        return value;
    }
    let exponent = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
    // A power of two: dividing by it and multiplying again is exact.
    let unit = f64::from_bits(((exponent - bits + 1023) as u64) << 52);
    let units = value / unit;
    let (units, toward_zero) = match rounding {
        Some(Rounding::Rz) => (units.trunc(), true),
        Some(Rounding::Rm) => (units.floor(), value > 0.0),
        Some(Rounding::Rp) => (units.ceil(), value < 0.0),
        _ => (units.round_ties_even(), false),
    };
    match units * unit {
        rounded if rounded.abs() <= largest => rounded,
        _ if toward_zero => largest.copysign(value),
        _ => f64::INFINITY.copysign(value),
    }
}

/// The least and the largest value of an integer type.
fn range(ty: Type) -> (i128, i128) {
    match ty {
        Type::S8 => (i8::MIN.into(), i8::MAX.into()),
        Type::S16 => (i16::MIN.into(), i16::MAX.into()),
        Type::S32 => (i32::MIN.into(), i32::MAX.into()),
        Type::S64 => (i64::MIN.into(), i64::MAX.into()),
        Type::U8 | Type::B8 => (0, u8::MAX.into()),
        Type::U16 | Type::B16 => (0, u16::MAX.into()),
        Type::U32 | Type::B32 => (0, u32::MAX.into()),
        _ => (0, u64::MAX.into()),
    }
}
