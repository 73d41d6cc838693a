//! Conversions between types, with the rounding that the instruction names.
//!
//! Those that programs are full of (single to half and back, and between integers and singles) have loops of their own;
//! the others go lane by lane, through an exact number.

use half::f16;
use half::slice::HalfFloatSliceExt;

use super::round::{BF16, F16, F32, Format, integer, one_nan, single};
use crate::ptx::{Rounding, Type};
use crate::sim::program::{CvtStep, Slot, wide_type};
use crate::sim::report::type_bytes;
use crate::sim::warp::{LANES, Lanes32, Warp, lanes};

/// A number on its way from one type to another.
#[derive(Clone, Copy)]
enum Number {
    Float(f64),
    Int(i128),
}

pub(super) fn convert(warp: &mut Warp, step: &CvtStep, mask: u32) {
    if let Some(value) = quick(warp, step) {
        return warp.set_word(step.dst, mask, &value);
    }
    let source = warp.bits(step.src);
    let mut result = [0; LANES];
    for lane in lanes(mask) {
        result[lane] = write(step, read(step, source[lane]));
    }
    warp.set_bits(step.dst, mask, &result);
}

/// Two singles as halves in one register, to nearest.
pub(super) fn pair(warp: &mut Warp, bf16: bool, dst: Slot, args: [Slot; 2], mask: u32) {
    let rounded = |slot| match bf16 {
        false => to_halves(warp.word(slot)),
        true => each(warp.word(slot), |bits| BF16.round(F32.value(bits), Rounding::Rn)),
    };
    let [low, high] = args.map(rounded);
    let value = std::array::from_fn(|lane| low[lane] | high[lane] << 16);
    warp.set_word(dst, mask, &value);
}

/// Frequent conversions, for all lanes at once.
fn quick(warp: &Warp, step: &CvtStep) -> Option<Lanes32> {
    if step.ftz || step.sat || step.src.wide() || step.dst.wide() {
        return None;
    }
    let source = warp.word(step.src);
    let to_nearest = matches!(step.rounding, None | Some(Rounding::Rn));
    match (step.to, step.from) {
        (Type::F16, Type::F32) if to_nearest => Some(to_halves(source)),
        (Type::F32, Type::F16) => Some(to_singles(source)),
        (Type::F32, Type::S32) if to_nearest => Some(each(source, |x| (x.cast_signed() as f32).to_bits())),
        (Type::F32, Type::U32) if to_nearest => Some(each(source, |x| (x as f32).to_bits())),
        (Type::U32 | Type::S32, Type::U16) => Some(each(source, |x| x & 0xffff)),
        (Type::U16, Type::U32) => Some(each(source, |x| x & 0xffff)),
        _ => None,
    }
}

#[inline(always)]
fn each(source: &Lanes32, function: impl Fn(u32) -> u32) -> Lanes32 {
    let mut result = [0; LANES];
    for lane in 0..LANES {
        result[lane] = function(source[lane]);
    }
    result
}

fn to_halves(source: &Lanes32) -> Lanes32 {
    let mut halves = [f16::ZERO; LANES];
    halves.convert_from_f32_slice(&source.map(f32::from_bits));
    halves.map(|half| if half.is_nan() { F16.nan() } else { half.to_bits().into() })
}

fn to_singles(source: &Lanes32) -> Lanes32 {
    each(source, |bits| one_nan(single(bits & 0xffff).to_bits()))
}

/// The narrow float format of a type.
fn format(ty: Type) -> Option<Format> {
    match ty {
        Type::F16 => Some(F16),
        Type::BF16 => Some(BF16),
        Type::F32 => Some(F32),
        _ => None,
    }
}

fn read(step: &CvtStep, bits: u64) -> Number {
    match step.from {
        Type::F64 => Number::Float(f64::from_bits(bits)),
        Type::F32 | Type::F16 | Type::BF16 => {
            let format = format(step.from).unwrap_or(F32);
            let value = format.value(bits as u32);
            let flushed = step.ftz && step.from == Type::F32 && format.is_subnormal(value);
            Number::Float(if flushed { 0.0_f64.copysign(value) } else { value })
        }
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

fn write(step: &CvtStep, number: Number) -> u64 {
    let ty = step.to;
    match number {
        Number::Float(value) if ty == Type::F64 => narrowed(step, value).to_bits(),
        Number::Int(value) if ty == Type::F64 => (value as f64).to_bits(),
        Number::Float(value) if let Some(format) = format(ty) => rounded(step, format, narrowed(step, value)),
        Number::Int(value) if let Some(format) = format(ty) => rounded(step, format, integer(value)),
        Number::Float(value) => {
            let whole = whole(value, step.rounding.unwrap_or(Rounding::Rzi));
            let (low, high) = range(ty);
            // Conversions to integers saturate.
            cut(ty, if whole.is_nan() { not_a_number(step) } else { (whole as i128).clamp(low, high) })
        }
        Number::Int(value) => {
            let (low, high) = range(ty);
            cut(ty, if step.sat { value.clamp(low, high) } else { value })
        }
    }
}

/// What NaN becomes as an integer: 0, but the highest bit alone where either side has 64.
fn not_a_number(step: &CvtStep) -> i128 {
    if step.from != Type::F64 && !wide_type(step.to) { 0 } else { 1 << (8 * type_bytes(step.to) - 1) }
}

/// What becomes of a float before it is rounded to another: whole, where the rounding says so, and between 0 and 1.
fn narrowed(step: &CvtStep, value: f64) -> f64 {
    let value = step.rounding.map_or(value, |rounding| whole(value, rounding));
    match step.sat {
        true if value.is_nan() => 0.0,
        true => value.clamp(0.0, 1.0),
        false => value,
    }
}

fn rounded(step: &CvtStep, format: Format, value: f64) -> u64 {
    let bits = format.round(value, step.rounding.unwrap_or(Rounding::Rn));
    let flushed = step.ftz && step.to == Type::F32 && format.is_subnormal(format.value(bits));
    (if flushed { bits & 0x8000_0000 } else { bits }).into()
}

/// A float rounded to an integer, where the rounding says so.
fn whole(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Rni => value.round_ties_even(),
        Rounding::Rzi => value.trunc(),
        Rounding::Rmi => value.floor(),
        Rounding::Rpi => value.ceil(),
        _ => value,
    }
}

/// The bits of an integer in a type, extended to the register by its sign.
fn cut(ty: Type, value: i128) -> u64 {
    match ty {
        Type::S8 => i64::from(value as i8).cast_unsigned(),
        Type::S16 => i64::from(value as i16).cast_unsigned(),
        Type::S32 => i64::from(value as i32).cast_unsigned(),
        Type::U8 | Type::B8 => (value as u8).into(),
        Type::U16 | Type::B16 => (value as u16).into(),
        ty if wide_type(ty) => value as u64,
        _ => (value as u32).into(),
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
