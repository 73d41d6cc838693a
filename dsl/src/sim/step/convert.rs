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
    match ty {
        // Rust rounds to nearest even, once, straight from the integer.
        Type::F32 if rounding.is_none_or(|r| r == Rounding::Rn) => u64::from((value as f32).to_bits()),
        _ => float_bits(ty, value as f64, rounding),
    }
}

/// The bits of a number in a float type.
pub(super) fn float_bits(ty: Type, value: f64, rounding: Option<Rounding>) -> u64 {
    match ty {
        Type::F64 => value.to_bits(),
        Type::F32 => {
            let nearest = value as f32;
            u64::from(directed(value, nearest.into(), rounding, nearest.to_bits(), 0x7f7f_ffff))
        }
        Type::F16 => {
            let nearest = f16::from_f64(value);
            u64::from(directed(value, nearest.to_f64(), rounding, nearest.to_bits().into(), 0x7bff))
        }
        _ => {
            let nearest = bf16::from_f64(value);
            u64::from(directed(value, nearest.to_f64(), rounding, nearest.to_bits().into(), 0x7f7f))
        }
    }
}

/// Corrects a number rounded to nearest where another direction is asked for: one step back if it went too far.
fn directed(exact: f64, nearest: f64, rounding: Option<Rounding>, bits: u32, largest: u32) -> u32 {
    let too_far = match rounding {
        Some(Rounding::Rz) => nearest.abs() > exact.abs(),
        Some(Rounding::Rm) => nearest > exact,
        Some(Rounding::Rp) => nearest < exact,
        _ => false,
    };
    if !too_far || nearest.is_nan() {
        return bits;
    }
    let toward_zero = nearest.abs() > exact.abs();
    match toward_zero {
        _ if nearest.is_infinite() && toward_zero => bits - 1,
        true => bits - 1,
        false => (bits + 1).min(bits & !largest | largest),
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
