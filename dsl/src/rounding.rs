//! The number of a narrow binary format nearest to an `f64`, rounded once.
//!
//! A format's numbers without their sign are in the order of their bits, so rounding gives those bits as an integer; what
//! is larger than all of them just goes on counting. For example with 3 digits and least exponent -6, 1.125 = 2^0 (1 + 1/8)
//! is (0 + 7) 8 + 1 = `0x39`. (`half` rounds without the last 32 digits of an `f64`, and so misses ties.)

/// A binary format.
pub(crate) struct Format {
    /// Bits of the fraction.
    pub digits: u32,
    /// Exponent of the least number with a full significand.
    pub least: i32,
}

/// Bits of the fraction of an `f64`.
const DIGITS: u32 = f64::MANTISSA_DIGITS - 1;

impl Format {
    /// The bits, without the sign, of the number nearest to one that isn't NaN; of two as near, the even one.
    pub const fn nearest(&self, value: f64) -> u64 {
        let bits = value.to_bits();
        let exponent = (bits >> DIGITS & 0x7ff) as i32 - 1023;
        let lowest = if exponent > self.least { exponent } else { self.least };
        let dropped = DIGITS - self.digits + (lowest - exponent) as u32;
        // Less than half of the least number. Subnormal numbers are among these.
        if dropped > DIGITS + 1 {
            return 0;
        }
        let significand = bits & ((1 << DIGITS) - 1) | 1 << DIGITS;
        let (kept, rest, half) = (significand >> dropped, significand & ((1 << dropped) - 1), 1 << (dropped - 1));
        let up = rest > half || rest == half && kept & 1 == 1;
        (((lowest - self.least) as u64) << self.digits) + kept + up as u64
    }
}
