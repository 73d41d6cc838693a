//! Rounding an exact number to a narrower float, once.
//!
//! A sum of products can have more bits than a double, and rounding it to a double first would round it twice. So what
//! [`sum`] gives is rounded *to odd*: where a double can't hold the sum, its last bit is set, which says "a bit more or a
//! bit less than this" and keeps it off every tie of a narrower format. For example 2049 + 2^-60 lies just above the tie
//! between the halves 2048 and 2050; as a double it would be 2049 and go down to 2048, rounded to odd it is
//! 2049 + 2^-41 and goes up to 2050.

use half::{bf16, f16};

use crate::ptx::Rounding;

/// A binary format: bits after the point, and the exponent of its least normal number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    digits: u32,
    least: i32,
}

pub(super) const F16: Format = Format { digits: 10, least: -14 };
pub(super) const BF16: Format = Format { digits: 7, least: -126 };
pub(super) const F32: Format = Format { digits: 23, least: -126 };

/// Bits after the point of a double.
const DIGITS: u32 = f64::MANTISSA_DIGITS - 1;

impl Format {
    const fn infinity(self) -> u32 {
        (2 * (1 - self.least) as u32 + 1) << self.digits
    }

    const fn sign(self) -> u32 {
        self.infinity() + (1 << self.digits)
    }

    /// The only NaN that instructions give.
    pub(super) const fn nan(self) -> u32 {
        self.sign() - 1
    }

    /// The number that some bits are.
    pub(super) fn value(self, bits: u32) -> f64 {
        match self.digits {
            10 => f16::from_bits(bits as u16).to_f64(),
            7 => bf16::from_bits(bits as u16).to_f64(),
            _ => f32::from_bits(bits).into(),
        }
    }

    /// Whether a number is too small for a full significand.
    pub(super) fn is_subnormal(self, value: f64) -> bool {
        value != 0.0 && value.abs() < 2.0_f64.powi(self.least)
    }

    /// The bits of a number in this format.
    pub(super) fn round(self, value: f64, rounding: Rounding) -> u32 {
        let negative = value.is_sign_negative();
        let sign = if negative { self.sign() } else { 0 };
        if value.is_nan() {
            return self.nan();
        }
        if value.is_infinite() {
            return sign | self.infinity();
        }
        let (significand, exponent) = parts(value);
        let lowest = exponent.max(self.least);
        let dropped = (DIGITS - self.digits + (lowest - exponent) as u32).min(63);
        let (kept, rest, half) = (significand >> dropped, significand & ((1 << dropped) - 1), 1 << (dropped - 1));
        let up = match rounding {
            Rounding::Rz | Rounding::Rzi => false,
            Rounding::Rm | Rounding::Rmi => negative && rest != 0,
            Rounding::Rp | Rounding::Rpi => !negative && rest != 0,
            Rounding::Rn | Rounding::Rni => rest > half || (rest == half && kept & 1 == 1),
        };
        let size = ((lowest - self.least) as u64) << self.digits;
        sign | self.limited(size + kept + u64::from(up), negative, rounding)
    }

    /// What is too large becomes infinity, or the largest number where that isn't the direction.
    fn limited(self, size: u64, negative: bool, rounding: Rounding) -> u32 {
        let infinity = self.infinity();
        if size < u64::from(infinity) {
            return size as u32;
        }
        match rounding {
            Rounding::Rz | Rounding::Rzi => infinity - 1,
            Rounding::Rm | Rounding::Rmi if !negative => infinity - 1,
            Rounding::Rp | Rounding::Rpi if negative => infinity - 1,
            _ => infinity,
        }
    }
}

/// A single's bits, with the only NaN that instructions give in place of any other. Integers, so that it compiles to
/// vector code.
#[inline(always)]
pub(super) fn one_nan(bits: u32) -> u32 {
    const INFINITY: u32 = F32.infinity();
    const NAN: u32 = F32.nan();
    if bits & NAN > INFINITY { NAN } else { bits }
}

/// The single that a half is, in a way that compiles to vector code: the exponent is moved to that of a single, further
/// for infinities and NaNs; a subnormal half gets an exponent that a subtraction of it takes away.
#[inline(always)]
pub(super) fn single(half: u32) -> f32 {
    const EXPONENT: u32 = 0x7c00 << 13;
    let size = (half & 0x7fff) << 13;
    let moved = size.wrapping_add((127 - 15) << 23);
    let finite = match size & EXPONENT {
        0 => f32::from_bits(moved.wrapping_add(1 << 23)) - f32::from_bits(113 << 23),
        EXPONENT => f32::from_bits(moved.wrapping_add((128 - 16) << 23)),
        _ => f32::from_bits(moved),
    };
    f32::from_bits(finite.to_bits() | (half & 0x8000) << 16)
}

/// A finite double's significand, as a whole number, and its exponent.
fn parts(value: f64) -> (u64, i32) {
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> DIGITS & 0x7ff) as i32, bits & ((1 << DIGITS) - 1));
    if exponent == 0 { (fraction, f64::MIN_EXP - 1) } else { (fraction | 1 << DIGITS, exponent - 1023) }
}

/// The sum of two doubles, rounded to odd.
#[inline(always)]
pub(super) fn sum(a: f64, b: f64) -> f64 {
    let near = a + b;
    // What the addition lost: a double too, and exact.
    let part = near - a;
    let lost = (a - (near - part)) + (b - part);
    let bits = near.to_bits();
    let inexact = lost != 0.0 && !lost.is_nan();
    let larger = (lost > 0.0) == (near > 0.0);
    let odd = if larger { bits.wrapping_add(1) } else { bits.wrapping_sub(1) };
    f64::from_bits(if inexact && bits & 1 == 0 { odd } else { bits })
}

/// An integer as a double, rounded to odd.
pub(super) fn integer(value: i128) -> f64 {
    let near = value as f64;
    sum(near, (value - near as i128) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_half_comes_back_from_every_rounding() {
        for bits in (0..=0xffff_u32).filter(|bits| !f16::from_bits(*bits as u16).is_nan()) {
            for rounding in [Rounding::Rn, Rounding::Rz, Rounding::Rm, Rounding::Rp] {
                assert_eq!(F16.round(F16.value(bits), rounding), bits);
            }
        }
    }

    #[test]
    fn halves_are_singles() {
        for bits in 0..=0xffff_u32 {
            let (own, expected) = (single(bits), f16::from_bits(bits as u16).to_f32());
            assert!(own.to_bits() == expected.to_bits() || own.is_nan() && expected.is_nan(), "{bits:#x}");
        }
    }

    #[test]
    fn what_lies_between_goes_as_asked() {
        let all = |value| [Rounding::Rn, Rounding::Rz, Rounding::Rm, Rounding::Rp].map(|r| F16.round(value, r));
        // 1 + 2^-11 is the tie between 1 and the next half.
        assert_eq!(all(1.0 + 2_f64.powi(-11)), [0x3c00, 0x3c00, 0x3c00, 0x3c01]);
        assert_eq!(all(-1.0 - 2_f64.powi(-11)), [0xbc00, 0xbc00, 0xbc01, 0xbc00]);
        assert_eq!(all(1e6), [0x7c00, 0x7bff, 0x7bff, 0x7c00]);
        assert_eq!(all(-1e-30), [0x8000, 0x8000, 0x8001, 0x8000]);
        assert_eq!(all(f64::NAN), [0x7fff; 4]);
    }

    #[test]
    fn sums_stay_off_ties() {
        let rounded = |value| F16.round(value, Rounding::Rn);
        assert_eq!(rounded(sum(2049.0, 2_f64.powi(-60))), rounded(2050.0));
        assert_eq!(rounded(sum(2049.0, -(2_f64.powi(-60)))), rounded(2048.0));
        assert_eq!(sum(1.5, 2.25), 3.75);
        assert!(sum(f64::INFINITY, f64::NEG_INFINITY).is_nan());
    }

    #[test]
    fn integers_round_once() {
        for value in [1_i128 << 24 | 1, (1 << 62) + (1 << 38) + 1, -((1 << 62) + (1 << 38) - 1), i128::from(u64::MAX)] {
            let expected = (value as f32).to_bits();
            assert_eq!(F32.round(integer(value), Rounding::Rn), expected, "{value}");
        }
    }
}
