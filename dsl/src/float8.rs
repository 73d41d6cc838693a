//! Floats of eight bits, which are storage: tiles of them are computed with in `f32`.
//!
//! [`F8E4M3`] is Triton's `float8e4nv`: a sign, 4 bits of exponent, 3 of fraction, no infinity and one NaN of each sign.
//! [`F8E5M2`] is its `float8e5`: the upper half of an `f16`. For example `0x39` as E4M3 is `0 0111 001`:
//! 2^(7 - 7) (1 + 1/8) = 1.125.
//!
//! Conversions to them round to nearest even and *saturate*, as the instructions of chips that have them do: what is too
//! large, infinity too, becomes the largest number of its sign, 448 or 57344. NaN becomes `0x7f`. Conversions from them
//! are exact.

use half::f16;

use crate::rounding::Format;

const E4M3: Format = Format { digits: 3, least: -6 };
const E5M2: Format = Format { digits: 2, least: -14 };

/// What NaN becomes.
const NAN: u8 = 0x7f;

const fn saturated(format: &Format, largest: u8, value: f64) -> u8 {
    if value.is_nan() {
        return NAN;
    }
    let (sign, size) = ((value.is_sign_negative() as u8) << 7, format.nearest(value));
    sign | if size < largest as u64 { size as u8 } else { largest }
}

macro_rules! float8 {
    ($(#[$doc:meta])* $name:ident, $format:ident, $largest:literal, |$bits:ident| $value:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            /// The number that a byte is.
            pub const fn from_bits(bits: u8) -> Self {
                $name(bits)
            }

            /// The byte that it is.
            pub const fn to_bits(self) -> u8 {
                self.0
            }

            /// The nearest number, saturated.
            pub const fn from_f32(value: f32) -> Self {
                Self::from_f64(value as f64)
            }

            /// The nearest number, saturated; rounded once.
            pub const fn from_f64(value: f64) -> Self {
                $name(saturated(&$format, $largest, value))
            }

            /// The same number.
            pub const fn to_f32(self) -> f32 {
                let $bits = self.0;
                $value
            }

            /// The same number.
            pub const fn to_f64(self) -> f64 {
                self.to_f32() as f64
            }

            pub(crate) const fn to_le_bytes(self) -> [u8; 1] {
                [self.0]
            }

            pub(crate) const fn from_le_bytes(bytes: [u8; 1]) -> Self {
                $name(bytes[0])
            }
        }
    };
}

float8! {
    /// An 8-bit float with 4 bits of exponent and 3 of fraction; the largest is 448.
    F8E4M3, E4M3, 0x7e, |bits| {
        // As the bits of an f16 the exponent is 8 too small.
        let half = f16::from_bits((bits as u16 & 0x80) << 8 | (bits as u16 & 0x7f) << 7);
        if bits & 0x7f == NAN { f32::NAN } else { half.to_f32_const() * 256.0 }
    }
}

float8! {
    /// An 8-bit float with 5 bits of exponent and 2 of fraction; the largest is 57344.
    F8E5M2, E5M2, 0x7b, |bits| f16::from_bits((bits as u16) << 8).to_f32_const()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The finite numbers with the sign bit clear, in order.
    fn finite(to: fn(u8) -> f64) -> Vec<(u8, f64)> {
        (0..0x80).map(|bits| (bits, to(bits))).filter(|(_, value)| value.is_finite()).collect()
    }

    fn check(to: fn(u8) -> f64, from: fn(f64) -> u8) {
        let all = finite(to);
        for (own, next) in all.iter().zip(&all[1..]) {
            assert!(own.1 < next.1);
            let middle = (own.1 + next.1) / 2.0;
            let even = if own.0 & 1 == 0 { own.0 } else { next.0 };
            let (below, above) = (middle * (1.0 - f64::EPSILON), middle * (1.0 + f64::EPSILON));
            assert_eq!([from(own.1), from(below), from(middle), from(above)], [own.0, own.0, even, next.0]);
            assert_eq!(from(-own.1), own.0 | 0x80);
        }
        let largest = all[all.len() - 1];
        for beyond in [largest.1, largest.1 * 1.5, 1e300, f64::INFINITY] {
            assert_eq!([from(beyond), from(-beyond)], [largest.0, largest.0 | 0x80]);
        }
        assert_eq!((from(f64::NAN), from(5e-324), from(-0.0)), (0x7f, 0, 0x80));
        assert!(to(0x7f).is_nan() && to(0xff).is_nan());
    }

    #[test]
    fn every_number_is_the_nearest_of_all_between_its_neighbours() {
        check(|bits| F8E4M3::from_bits(bits).to_f64(), |value| F8E4M3::from_f64(value).to_bits());
        check(|bits| F8E5M2::from_bits(bits).to_f64(), |value| F8E5M2::from_f64(value).to_bits());
    }

    #[test]
    fn the_formats_are_the_known_ones() {
        assert_eq!(F8E4M3::from_f32(1.125).to_bits(), 0x39);
        assert_eq!([F8E4M3::from_bits(0x7e), F8E4M3::from_bits(1)].map(F8E4M3::to_f32), [448.0, 2.0_f32.powi(-9)]);
        assert_eq!([F8E5M2::from_bits(0x7b), F8E5M2::from_bits(1)].map(F8E5M2::to_f32), [57344.0, 2.0_f32.powi(-16)]);
        assert_eq!(F8E5M2::from_bits(0xfc).to_f32(), f32::NEG_INFINITY);
    }
}
