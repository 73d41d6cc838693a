//! Arithmetic, comparisons and selections.
//!
//! Common instructions (32-bit integers, `f32`) have loops of their own over whole lane arrays, which the compiler turns
//! into vector code; everything else goes lane by lane through 64 bits.

use half::{bf16, f16};

use super::convert::{float_bits, odd};
use crate::ptx::{Alu, Combine, Compare, Rounding, Type};
use crate::sim::machine::{Stop, stop};
use crate::sim::program::{Condition, Slot, wide_type};
use crate::sim::report::FaultKind;
use crate::sim::warp::{LANES, Lanes32, Warp, lanes};

impl Warp {
    /// Copies a register; a wider one loses its upper half, a narrower one is extended with zeros.
    pub(super) fn copy(&mut self, dst: Slot, src: Slot, mask: u32) {
        if dst.wide() || src.wide() {
            let value = self.bits(src);
            self.set_bits(dst, mask, &value);
        } else {
            let value = *self.word(src);
            self.set_word(dst, mask, &value);
        }
    }
}

pub(super) fn pack(warp: &mut Warp, dst: Slot, parts: &[Slot], bits: u32, mask: u32) {
    let mut whole = [0_u64; LANES];
    for (i, &part) in parts.iter().enumerate() {
        let value = warp.bits(part);
        for lane in 0..LANES {
            whole[lane] |= (value[lane] & ((1 << bits) - 1)) << (i as u32 * bits);
        }
    }
    warp.set_bits(dst, mask, &whole);
}

pub(super) fn unpack(warp: &mut Warp, parts: &[Option<Slot>], src: Slot, bits: u32, mask: u32) {
    let whole = warp.bits(src);
    for (i, part) in parts.iter().enumerate() {
        if let Some(slot) = part {
            warp.set_bits(*slot, mask, &whole.map(|value| value >> (i as u32 * bits) & ((1 << bits) - 1)));
        }
    }
}

pub(super) fn logic(warp: &mut Warp, op: Alu, dst: u32, [a, b]: [u32; 2], mask: u32) {
    let (a, b) = (warp.predicates[a as usize], warp.predicates[b as usize]);
    let value = match op {
        Alu::And => a & b,
        Alu::Or => a | b,
        Alu::Xor => a ^ b,
        _ => !a,
    };
    warp.set_predicate(dst, mask, value);
}

pub(super) fn select(warp: &mut Warp, dst: Slot, [a, b]: [Slot; 2], predicate: u32, mask: u32) {
    let chosen = warp.predicates[predicate as usize];
    let (a, b) = (warp.bits(a), warp.bits(b));
    let value = std::array::from_fn(|lane| if chosen >> lane & 1 == 1 { a[lane] } else { b[lane] });
    warp.set_bits(dst, mask, &value);
}

pub(super) fn set_predicate(
    warp: &mut Warp,
    compare: Compare,
    ty: Type,
    dst: u32,
    [a, b]: [Slot; 2],
    combine: Option<(Combine, Condition)>,
    mask: u32,
) {
    let (a, b) = (warp.bits(a), warp.bits(b));
    let mut value = 0;
    for lane in lanes(mask) {
        value |= u32::from(holds(compare, ty, a[lane], b[lane])) << lane;
    }
    if let Some((how, condition)) = combine {
        let other = warp.condition(condition);
        value = match how {
            Combine::And => value & other,
            Combine::Or => value | other,
            Combine::Xor => value ^ other,
        };
    }
    warp.set_predicate(dst, mask, value);
}

fn holds(compare: Compare, ty: Type, a: u64, b: u64) -> bool {
    if let (Some(x), Some(y)) = (float(ty, a), float(ty, b)) {
        let unordered = x.is_nan() || y.is_nan();
        return match compare {
            Compare::Eq => x == y,
            Compare::Ne => !unordered && x != y,
            Compare::Lt => x < y,
            Compare::Le => x <= y,
            Compare::Gt => x > y,
            Compare::Ge => x >= y,
            Compare::Equ => unordered || x == y,
            Compare::Neu => unordered || x != y,
            Compare::Ltu => unordered || x < y,
            Compare::Leu => unordered || x <= y,
            Compare::Gtu => unordered || x > y,
            Compare::Geu => unordered || x >= y,
            Compare::Num => !unordered,
            Compare::Nan => unordered,
        };
    }
    let order = integer(ty, a).cmp(&integer(ty, b));
    match compare {
        Compare::Eq | Compare::Equ => order.is_eq(),
        Compare::Ne | Compare::Neu => order.is_ne(),
        Compare::Lt | Compare::Ltu => order.is_lt(),
        Compare::Le | Compare::Leu => order.is_le(),
        Compare::Gt | Compare::Gtu => order.is_gt(),
        Compare::Ge | Compare::Geu => order.is_ge(),
        Compare::Num => true,
        Compare::Nan => false,
    }
}

/// The number of a float type, exactly.
fn float(ty: Type, bits: u64) -> Option<f64> {
    match ty {
        Type::F16 => Some(f16::from_bits(bits as u16).to_f64()),
        Type::BF16 => Some(bf16::from_bits(bits as u16).to_f64()),
        Type::F32 => Some(f32::from_bits(bits as u32).into()),
        Type::F64 => Some(f64::from_bits(bits)),
        _ => None,
    }
}

fn integer(ty: Type, bits: u64) -> i128 {
    match ty {
        Type::S16 => (bits as i16).into(),
        Type::S32 => (bits as i32).into(),
        Type::S64 => (bits as i64).into(),
        Type::U16 | Type::B16 => (bits as u16).into(),
        Type::U32 | Type::B32 => (bits as u32).into(),
        _ => bits.into(),
    }
}

/// How an instruction rounds its result.
#[derive(Clone, Copy)]
pub(super) struct How {
    pub rounding: Option<Rounding>,
    pub ftz: bool,
    pub sat: bool,
}

pub(super) fn arithmetic(
    warp: &mut Warp,
    (op, ty): (Alu, Type),
    how: How,
    dst: Slot,
    args: &[Slot],
    mask: u32,
) -> Result<(), Stop> {
    let plain = !how.ftz && !how.sat && matches!(how.rounding, None | Some(Rounding::Rn));
    if plain && let Some(value) = fast(warp, op, ty, args) {
        warp.set_word(dst, mask, &value);
        return Ok(());
    }
    let mut result = [0; LANES];
    for lane in lanes(mask) {
        let args = std::array::from_fn(|i| args.get(i).map_or(0, |&slot| warp.lane(slot, lane)));
        let value = one(op, ty, args, how);
        let unsupported = || stop(lane as u32, FaultKind::Unsupported { what: format!("{op:?} of {ty:?}") });
        result[lane] = value.ok_or_else(unsupported)?;
        if how.sat
            && let Some(number) = float(ty, result[lane])
        {
            let clamped = if number.is_nan() { 0.0 } else { number.clamp(0.0, 1.0) };
            result[lane] = float_bits(ty, clamped, None);
        }
    }
    warp.set_bits(dst, mask, &result);
    Ok(())
}

/// Instructions that most programs are made of, on whole lane arrays.
fn fast(warp: &Warp, op: Alu, ty: Type, args: &[Slot]) -> Option<Lanes32> {
    if wide_type(ty) || matches!(op, Alu::MulWide | Alu::MadWide) || args.len() > 3 {
        return None;
    }
    let (a, b) = (warp.word(args[0]), warp.word(*args.get(1).unwrap_or(&args[0])));
    let each = |function: fn(u32, u32) -> u32| Some(std::array::from_fn(|lane| function(a[lane], b[lane])));
    let float = |function: fn(f32, f32) -> f32| {
        Some(std::array::from_fn(|lane| function(f32::from_bits(a[lane]), f32::from_bits(b[lane])).to_bits()))
    };
    match (op, ty) {
        (Alu::Add, Type::F32) => float(|a, b| a + b),
        (Alu::Sub, Type::F32) => float(|a, b| a - b),
        (Alu::Mul, Type::F32) => float(|a, b| a * b),
        (Alu::Fma, Type::F32) => {
            let c = warp.word(args[2]);
            let [a, b, c] = [a, b, c].map(|lanes| lanes.map(f32::from_bits));
            Some(std::array::from_fn(|lane| a[lane].mul_add(b[lane], c[lane]).to_bits()))
        }
        (Alu::Add, Type::S32 | Type::U32) => each(u32::wrapping_add),
        (Alu::Sub, Type::S32 | Type::U32) => each(u32::wrapping_sub),
        (Alu::MulLo, Type::S32 | Type::U32) => each(u32::wrapping_mul),
        (Alu::MadLo, Type::S32 | Type::U32) => {
            let c = warp.word(args[2]);
            Some(std::array::from_fn(|lane| a[lane].wrapping_mul(b[lane]).wrapping_add(c[lane])))
        }
        (Alu::And, Type::B32) => each(|a, b| a & b),
        (Alu::Or, Type::B32) => each(|a, b| a | b),
        (Alu::Xor, Type::B32) => each(|a, b| a ^ b),
        (Alu::Shl, Type::B32) => each(|a, b| a.checked_shl(b).unwrap_or(0)),
        (Alu::Shr, Type::U32 | Type::B32) => each(|a, b| a.checked_shr(b).unwrap_or(0)),
        _ => None,
    }
}

/// One lane of an instruction; `None` where it isn't known.
fn one(op: Alu, ty: Type, args: [u64; 4], how: How) -> Option<u64> {
    match ty {
        Type::F16x2 | Type::BF16x2 => {
            let half = if ty == Type::F16x2 { Type::F16 } else { Type::BF16 };
            let low = one(op, half, args.map(|arg| arg & 0xffff), how)?;
            Some(low | one(op, half, args.map(|arg| arg >> 16 & 0xffff), how)? << 16)
        }
        Type::F16 | Type::BF16 | Type::F32 | Type::F64 => float_one(op, ty, args, how),
        _ => integer_one(op, ty, args, how.sat),
    }
}

fn float_one(op: Alu, ty: Type, args: [u64; 4], how: How) -> Option<u64> {
    if ty == Type::F64 && matches!(how.rounding, Some(Rounding::Rz | Rounding::Rm | Rounding::Rp)) {
        return None;
    }
    let flushed = |x: f64| if how.ftz && x.abs() < f64::from(f32::MIN_POSITIVE) { 0.0_f64.copysign(x) } else { x };
    let [a, b, c] = [args[0], args[1], args[2]].map(|bits| float(ty, bits).map_or(0.0, flushed));
    let value = match op {
        Alu::Add => a + b,
        Alu::Sub => a - b,
        Alu::Mul => a * b,
        Alu::Div => a / b,
        Alu::Fma => a.mul_add(b, c),
        Alu::Min => least(a, b),
        Alu::Max => -least(-a, -b),
        Alu::Neg => -a,
        Alu::Abs => a.abs(),
        Alu::Ex2 => a.exp2(),
        Alu::Lg2 => a.log2(),
        Alu::Rcp => 1.0 / a,
        Alu::Sqrt => a.sqrt(),
        Alu::Rsqrt => 1.0 / a.sqrt(),
        Alu::Sin => a.sin(),
        Alu::Cos => a.cos(),
        Alu::Tanh => a.tanh(),
        _ => return None,
    };
    let value = if ty == Type::F64 { value } else { odd(value, error(op, [a, b, c], value)) };
    Some(float_bits(ty, flushed(value), how.rounding))
}

/// How far a result in doubles is from the exact one, or at least to which side. Products of narrower floats are exact.
fn error(op: Alu, [a, b, c]: [f64; 3], value: f64) -> f64 {
    match op {
        Alu::Add => sum_error(a, b),
        Alu::Sub => sum_error(a, -b),
        Alu::Fma => sum_error(a * b, c),
        Alu::Div => (-value).mul_add(b, a) / b,
        Alu::Rcp => (-value).mul_add(a, 1.0) / a,
        Alu::Sqrt => (-value).mul_add(value, a),
        _ => 0.0,
    }
}

/// The exact sum of two doubles less the rounded one, which is a double too (Knuth).
fn sum_error(a: f64, b: f64) -> f64 {
    let sum = a + b;
    let part = sum - a;
    (a - (sum - part)) + (b - part)
}

/// The smaller number: NaN gives way, and -0 is less than +0.
fn least(a: f64, b: f64) -> f64 {
    if a.is_nan() || (!b.is_nan() && b.total_cmp(&a).is_lt()) { b } else { a }
}

fn integer_one(op: Alu, ty: Type, args: [u64; 4], saturate: bool) -> Option<u64> {
    let bits = if wide_type(ty) {
        64
    } else if matches!(ty, Type::S16 | Type::U16 | Type::B16) {
        16
    } else {
        32
    };
    let (a, b) = (integer(ty, args[0]), integer(ty, args[1]));
    let shift = (args[1] & 0xffff_ffff) as u32;
    let value = match op {
        Alu::Add => a + b,
        Alu::Sub => a - b,
        Alu::MulLo | Alu::Mul | Alu::MulWide => a.wrapping_mul(b),
        Alu::MulHi => a.wrapping_mul(b) >> bits,
        Alu::MadLo => a.wrapping_mul(b).wrapping_add(integer(ty, args[2])),
        Alu::MadHi => (a.wrapping_mul(b) >> bits) + integer(ty, args[2]),
        Alu::MadWide => a.wrapping_mul(b).wrapping_add(args[2] as i128),
        // A division by zero gives all ones, its remainder the dividend.
        Alu::Div => a.checked_div(b).unwrap_or(-1),
        Alu::Rem => a.checked_rem(b).unwrap_or(a),
        Alu::Min => a.min(b),
        Alu::Max => a.max(b),
        Alu::Neg => -a,
        Alu::Abs => a.abs(),
        Alu::Not => !a,
        Alu::And => a & b,
        Alu::Or => a | b,
        Alu::Xor => a ^ b,
        Alu::Shl => {
            if shift >= bits {
                0
            } else {
                a << shift
            }
        }
        Alu::Shr => a >> shift.min(bits),
        Alu::Bfe => extract(a, shift & 0xff, (args[2] as u32 & 0xff).min(bits), matches!(ty, Type::S32 | Type::S64)),
        Alu::Bfi => insert(args, bits),
        _ => return bit_field(op, ty, args),
    };
    let value = if saturate && ty == Type::S32 { value.clamp(i32::MIN.into(), i32::MAX.into()) } else { value };
    let width = if matches!(op, Alu::MulWide | Alu::MadWide) { 2 * bits } else { bits };
    Some(value as u64 & u64::MAX >> (64 - width.min(64)))
}

/// The bits of a number from a position on; past its end there is its sign.
fn extract(number: i128, position: u32, length: u32, signed: bool) -> i128 {
    if length == 0 {
        return 0;
    }
    let (field, spare) = (number >> position.min(127), 128 - length);
    if signed { field << spare >> spare } else { ((field << spare) as u128 >> spare) as i128 }
}

/// The low bits of `from` put into `into` at a position.
fn insert([from, into, position, length]: [u64; 4], bits: u32) -> i128 {
    let (position, length) = ((position as u32 & 0xff).min(bits), (length as u32 & 0xff).min(bits));
    let mask = ((1_u128 << length) - 1) << position;
    ((u128::from(into) & !mask) | (u128::from(from) << position & mask)) as i128
}

/// Operations on bits rather than numbers.
fn bit_field(op: Alu, ty: Type, args: [u64; 4]) -> Option<u64> {
    let [a, b, c] = [args[0] as u32, args[1] as u32, args[2] as u32];
    let wide = wide_type(ty);
    let value = match op {
        Alu::Popc if wide => args[0].count_ones(),
        Alu::Popc => a.count_ones(),
        Alu::Clz if wide => args[0].leading_zeros(),
        Alu::Clz => a.leading_zeros(),
        Alu::Brev if wide => return Some(args[0].reverse_bits()),
        Alu::Brev => a.reverse_bits(),
        Alu::ShfL => ((u64::from(b) << 32 | u64::from(a)) << (c & 31) >> 32) as u32,
        Alu::ShfR => ((u64::from(b) << 32 | u64::from(a)) >> (c & 31)) as u32,
        Alu::Lop3 => (0..8).filter(|i| args[3] >> i & 1 == 1).fold(0, |value, i| {
            let pick = |word: u32, on: bool| if on { word } else { !word };
            value | pick(a, i & 4 != 0) & pick(b, i & 2 != 0) & pick(c, i & 1 != 0)
        }),
        Alu::Prmt => {
            let bytes = u64::from(b) << 32 | u64::from(a);
            (0..4).fold(0, |value, i| {
                let selector = c >> (4 * i) & 15;
                let byte = (bytes >> (8 * (selector & 7))) as u8;
                let byte = if selector & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
                value | u32::from(byte) << (8 * i)
            })
        }
        _ => return None,
    };
    Some(value.into())
}
