//! Floating-point arithmetic.
//!
//! Singles are computed for all lanes at once in loops that the compiler turns into vector code; halves and doubles go
//! lane by lane. Results are exact where the instruction is; the approximate ones (`ex2`, `rcp.approx`, ..) are computed
//! in doubles and rounded, so they are closer than a GPU's. NaNs come out as the one that a GPU gives.

use super::round::{BF16, F16, F32, Format, one_nan, sum};
use crate::ptx::{Alu, Rounding, Type};
use crate::sim::program::{AluStep, Slot};
use crate::sim::warp::{LANES, Lanes32, Lanes64, Warp, lanes};

/// A single in every lane.
type Singles = [f32; LANES];

/// Runs an instruction on floats; `None` where the simulator doesn't have it.
pub(super) fn arithmetic(warp: &mut Warp, step: &AluStep, mask: u32) -> Option<()> {
    match step.ty {
        Type::F32 => {
            let value = singles(warp, step)?.map(f32::to_bits);
            warp.set_word(step.dst, mask, &value);
        }
        Type::F16 | Type::F16x2 => halves(warp, step, F16, mask)?,
        Type::BF16 | Type::BF16x2 => halves(warp, step, BF16, mask)?,
        _ => doubles(warp, step, mask)?,
    }
    Some(())
}

/// The rounding, where it isn't to nearest.
fn directed(step: &AluStep) -> Option<Rounding> {
    step.rounding.filter(|rounding| *rounding != Rounding::Rn)
}

fn singles(warp: &Warp, step: &AluStep) -> Option<Singles> {
    let mut operands = [[0.0; LANES]; 3];
    for (operand, &slot) in operands.iter_mut().zip(step.operands()) {
        let word = warp.word(slot);
        *operand = if step.ftz { flushed(word) } else { word.map(f32::from_bits) };
    }
    let mut result = match directed(step) {
        Some(rounding) => directed_single(step.op, rounding, &operands)?,
        None => single(step.op, &operands)?,
    };
    if step.ftz {
        result = flushed(&result.map(f32::to_bits));
    }
    if step.sat {
        result = result.map(saturated);
    }
    Some(one(&result, |lane| f32::from_bits(one_nan(lane.to_bits()))))
}

fn single(op: Alu, [a, b, c]: &[Singles; 3]) -> Option<Singles> {
    Some(match op {
        Alu::Add => two(a, b, |a, b| a + b),
        Alu::Sub => two(a, b, |a, b| a - b),
        Alu::Mul => two(a, b, |a, b| a * b),
        Alu::Fma | Alu::MadLo => three(a, b, c, |a, b, c| sum(f64::from(a) * f64::from(b), c.into()) as f32),
        Alu::Div => two(a, b, |a, b| a / b),
        Alu::Min => two(a, b, |a, b| -greatest(-a, -b)),
        Alu::Max => two(a, b, greatest),
        Alu::Neg => one(a, |a| -a),
        Alu::Abs => one(a, f32::abs),
        Alu::Ex2 => one(a, exp2),
        Alu::Rcp => one(a, |a| 1.0 / a),
        Alu::Sqrt => one(a, f32::sqrt),
        Alu::Rsqrt => one(a, |a| (1.0 / f64::from(a).sqrt()) as f32),
        Alu::Lg2 => one(a, |a| f64::from(a).log2() as f32),
        Alu::Sin => one(a, |a| f64::from(a).sin() as f32),
        Alu::Cos => one(a, |a| f64::from(a).cos() as f32),
        Alu::Tanh => one(a, |a| f64::from(a).tanh() as f32),
        _ => return None,
    })
}

fn directed_single(op: Alu, rounding: Rounding, [a, b, c]: &[Singles; 3]) -> Option<Singles> {
    let round = |value: f64| f32::from_bits(F32.round(value, rounding));
    Some(match op {
        Alu::Add => two(a, b, |a, b| round(sum(a.into(), b.into()))),
        Alu::Sub => two(a, b, |a, b| round(sum(a.into(), -f64::from(b)))),
        Alu::Mul => two(a, b, |a, b| round(f64::from(a) * f64::from(b))),
        Alu::Fma => three(a, b, c, |a, b, c| round(sum(f64::from(a) * f64::from(b), c.into()))),
        _ => return None,
    })
}

#[inline(always)]
fn one(a: &Singles, function: impl Fn(f32) -> f32) -> Singles {
    let mut result = [0.0; LANES];
    for (result, a) in result.iter_mut().zip(a) {
        *result = function(*a);
    }
    result
}

#[inline(always)]
fn two(a: &Singles, b: &Singles, function: impl Fn(f32, f32) -> f32) -> Singles {
    let mut result = [0.0; LANES];
    for ((result, a), b) in result.iter_mut().zip(a).zip(b) {
        *result = function(*a, *b);
    }
    result
}

#[inline(always)]
fn three(a: &Singles, b: &Singles, c: &Singles, function: impl Fn(f32, f32, f32) -> f32) -> Singles {
    let mut result = [0.0; LANES];
    for (((result, a), b), c) in result.iter_mut().zip(a).zip(b).zip(c) {
        *result = function(*a, *b, *c);
    }
    result
}

/// Singles with zeros, of the same sign, for what is subnormal.
pub(super) fn flushed(word: &Lanes32) -> Singles {
    word.map(|bits| f32::from_bits(if bits & 0x7f80_0000 == 0 { bits & 0x8000_0000 } else { bits }))
}

fn saturated(value: f32) -> f32 {
    // Not `clamp`, which lets NaN through.
    if value > 0.0 { value.min(1.0) } else { 0.0 }
}

/// The greater of two numbers: a number rather than NaN, +0 rather than -0.
#[inline(always)]
fn greatest(a: f32, b: f32) -> f32 {
    let first = (a > b) | b.is_nan() | ((a == b) & (a.to_bits() >> 31 == 0));
    if first { a } else { b }
}

/// A power of two, right to the last bit of a single: 2^x = 2^n e^(t), where n is the integer nearest to x and t is
/// (x - n) ln 2, at most 0.35. Its series to the 13th power is good to 1e-17.
#[inline(always)]
fn exp2(x: f32) -> f32 {
    /// A double this large has steps of 1, so adding it rounds to an integer, which is then in the lowest bits.
    const LARGE: f64 = 6_755_399_441_055_744.0;
    const TERMS: [f64; 14] = factorials();
    let x = f64::from(x).clamp(-200.0, 200.0);
    let shifted = x + LARGE;
    let t = (x - (shifted - LARGE)) * std::f64::consts::LN_2;
    let mut series = TERMS[13];
    for term in TERMS[..13].iter().rev() {
        series = series * t + term;
    }
    let n = shifted.to_bits().wrapping_sub(LARGE.to_bits());
    let scale = f64::from_bits(n.wrapping_add(1023) << 52);
    (series * scale) as f32
}

/// 1 / k! for k from 0.
const fn factorials() -> [f64; 14] {
    let mut terms = [1.0; 14];
    let mut k = 1;
    while k < 14 {
        terms[k] = terms[k - 1] / k as f64;
        k += 1;
    }
    terms
}

/// Halves, or pairs of them.
fn halves(warp: &mut Warp, step: &AluStep, format: Format, mask: u32) -> Option<()> {
    let pair = matches!(step.ty, Type::F16x2 | Type::BF16x2);
    let mut operands = [[0; LANES]; 3];
    for (operand, &slot) in operands.iter_mut().zip(step.operands()) {
        *operand = *warp.word(slot);
    }
    let mut result: Lanes32 = [0; LANES];
    for lane in lanes(mask) {
        for part in 0..=u32::from(pair) {
            let own = operands.map(|operand| operand[lane] >> (16 * part) & 0xffff);
            result[lane] |= half(step, format, own)? << (16 * part);
        }
    }
    warp.set_word(step.dst, mask, &result);
    Some(())
}

fn half(step: &AluStep, format: Format, operands: [u32; 3]) -> Option<u32> {
    let flushed = |x: f64| if step.ftz && format.is_subnormal(x) { 0.0_f64.copysign(x) } else { x };
    let [a, b, c] = operands.map(|bits| flushed(format.value(bits)));
    let value = match step.op {
        Alu::Add => sum(a, b),
        Alu::Sub => sum(a, -b),
        Alu::Mul => a * b,
        Alu::Fma => sum(a * b, c),
        // Halves are singles too, and these give one of them.
        Alu::Min => (-greatest(-a as f32, -b as f32)).into(),
        Alu::Max => greatest(a as f32, b as f32).into(),
        Alu::Neg => -a,
        Alu::Abs => a.abs(),
        Alu::Ex2 => a.exp2(),
        Alu::Tanh => a.tanh(),
        _ => return None,
    };
    let bits = format.round(value, step.rounding.unwrap_or(Rounding::Rn));
    let value = flushed(format.value(bits));
    let value = if step.sat { saturated(value as f32).into() } else { value };
    Some(format.round(value, Rounding::Rn))
}

fn doubles(warp: &mut Warp, step: &AluStep, mask: u32) -> Option<()> {
    if directed(step).is_some() {
        return None;
    }
    let load =
        |slots: &[Slot], i: usize| slots.get(i).map_or([0.0; LANES], |&slot| warp.long(slot).map(f64::from_bits));
    let slots = step.operands();
    let (a, b, c) = (load(slots, 0), load(slots, 1), load(slots, 2));
    let mut result: Lanes64 = [0; LANES];
    for lane in lanes(mask) {
        result[lane] = double(step.op, a[lane], b[lane], c[lane])?.to_bits();
    }
    warp.set_long(step.dst, mask, &result);
    Some(())
}

fn double(op: Alu, a: f64, b: f64, c: f64) -> Option<f64> {
    Some(match op {
        Alu::Add => a + b,
        Alu::Sub => a - b,
        Alu::Mul => a * b,
        Alu::Fma => a.mul_add(b, c),
        Alu::Div => a / b,
        Alu::Min => a.min(b),
        Alu::Max => a.max(b),
        Alu::Neg => -a,
        Alu::Abs => a.abs(),
        Alu::Rcp => 1.0 / a,
        Alu::Sqrt => a.sqrt(),
        Alu::Rsqrt => 1.0 / a.sqrt(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_rounded_well() {
        let mut differ = 0;
        for bits in (0..u32::MAX).step_by(4099) {
            let x = f32::from_bits(bits);
            let (own, expected) = (exp2(x), f64::from(x).exp2() as f32);
            assert!(own.to_bits().abs_diff(expected.to_bits()) <= 1 || x.is_nan(), "{x}: {own} {expected}");
            differ += u32::from(own.to_bits() != expected.to_bits() && !x.is_nan());
        }
        assert!(differ <= 1, "{differ}");
        assert_eq!((exp2(-3.0), exp2(10.0), exp2(200.0), exp2(-1e30)), (0.125, 1024.0, f32::INFINITY, 0.0));
    }

    #[test]
    fn the_greatest_is_a_number() {
        assert_eq!(greatest(f32::NAN, 1.0), 1.0);
        assert_eq!(greatest(1.0, f32::NAN), 1.0);
        assert_eq!(greatest(-0.0, 0.0).to_bits(), 0);
        assert_eq!(greatest(0.0, -0.0).to_bits(), 0);
        assert_eq!(-greatest(-0.0_f32, 0.0).to_bits().cast_signed(), 0);
    }
}
