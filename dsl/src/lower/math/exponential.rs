//! The exponential function and the natural logarithm.
//!
//! e^x = 2^j e^f with j the integer nearest to x / ln 2, so |f| is at most ln 2 / 2. The product j ln 2 is subtracted in
//! two parts, since `f32` has too few digits for ln 2. ln x = e ln 2 + ln m, where m in [2/3, 4/3) is x without its
//! exponent. For example e^1 = 2^1 e^(1 - ln 2) = 2 · 1.3591, and ln 3 = 2 ln 2 + ln 0.75.

use std::f64::consts::{LN_2, LOG2_E};

use crate::element::DType;
use crate::ir::BinaryOp;
use crate::lower::Lowering;
use crate::lower::num::Num;
use crate::ptx::{Compare, Type};

use super::ROUNDER;

/// ln 2 with few enough digits that any exponent times it is exact, and the rest.
const LN_2_HIGH: f64 = 0.693_359_375;
const LN_2_LOW: f64 = LN_2 - LN_2_HIGH;

/// q in e^f = 1 + f + f^2 q(f), for |f| up to 0.35; the error of e^f is 2^-28.
const EXP: [f32; 5] = [0.5, 0.166_665_13, 0.041_666_187, 0.008_369_6, 0.001_395_172];

/// q in ln(1 + f) = f + f^2 q(f), for |f| up to 1/3; the error is 2^-27.
const LOG: [f32; 9] = [
    -0.5,
    0.333_332_1,
    -0.249_995_07,
    0.200_107_86,
    -0.166_895_33,
    0.140_005_71,
    -0.120_777_68,
    0.140_075_85,
    -0.133_133_34,
];

/// Beyond these, e^x is infinity and 0.
const OVERFLOW: f64 = 89.0;
const UNDERFLOW: f64 = -105.0;

/// The bits of 2/3 and of the exponent.
const TWO_THIRDS: i64 = 0x3f2a_aaab;
const EXPONENT: i64 = 0x7f80_0000 | super::SIGN;

/// The least `f32` with a full significand, and what takes a smaller one there.
const LEAST_NORMAL: f64 = f32::MIN_POSITIVE as f64;
const SCALE_BITS: i32 = 23;

impl Lowering<'_> {
    pub(super) fn exp(&mut self, x: Num) -> Num {
        let rounded = self.fused(x, Num::float(LOG2_E), Num::float(ROUNDER));
        let j = self.add(rounded, Num::float(-ROUNDER));
        let f = self.fused(j, Num::float(-LN_2_HIGH), x);
        let f = self.fused(j, Num::float(-LN_2_LOW), f);
        let q = self.polynomial(f, &EXP);
        let sum = self.fused(q, f, Num::float(1.0));
        let power = self.fused(sum, f, Num::float(1.0));
        let scaled = self.times_power_of_two(power, rounded);
        let tiny = self.below(x, Num::float(UNDERFLOW));
        let scaled = self.choose(tiny, Num::float(0.0), scaled);
        let huge = self.below(Num::float(OVERFLOW), x);
        self.choose(huge, Num::float(f64::INFINITY), scaled)
    }

    /// x 2^j, where j is in the lowest bits of `rounded`: in two steps, since 2^j itself may be out of range.
    fn times_power_of_two(&mut self, x: Num, rounded: Num) -> Num {
        let bits = self.bits_of_single(rounded);
        let j = self.word(BinaryOp::Sub, bits, Num::int((ROUNDER as f32).to_bits().into()));
        let first = self.word(BinaryOp::Shr, j, Num::int(1));
        let second = self.word(BinaryOp::Sub, j, first);
        [first, second].into_iter().fold(x, |product, exponent| {
            let biased = self.word(BinaryOp::Add, exponent, Num::int(127));
            let bits = self.word(BinaryOp::Shl, biased, Num::int(23));
            let power = self.single_of_bits(bits);
            self.times(product, power)
        })
    }

    pub(super) fn log(&mut self, x: Num) -> Num {
        let tiny = self.below(x, Num::float(LEAST_NORMAL));
        let larger = self.times(x, Num::float(f64::from(1 << SCALE_BITS)));
        let normal = self.choose(tiny, larger, x);
        let scale = self.choose(tiny, Num::float((-SCALE_BITS).into()), Num::float(0.0));
        let bits = self.bits_of_single(normal);
        let above = self.word(BinaryOp::Sub, bits, Num::int(TWO_THIRDS));
        let exponent = self.word(BinaryOp::And, above, Num::int(EXPONENT));
        let significand = self.word(BinaryOp::Sub, bits, exponent);
        let m = self.single_of_bits(significand);
        let f = self.add(m, Num::float(-1.0));
        let e = self.cast(DType::I32, DType::F32, exponent);
        let e = self.fused(e, Num::float(2.0_f64.powi(-23)), scale);
        let q = self.polynomial(f, &LOG);
        let curve = self.times(q, f);
        let sum = self.fused(curve, f, f);
        let sum = self.fused(e, Num::float(LN_2_LOW), sum);
        let sum = self.fused(e, Num::float(LN_2_HIGH), sum);
        self.log_of_any(x, sum)
    }

    /// The logarithm of what isn't a positive number: of 0, of negative numbers, of infinity and NaN, which stay.
    fn log_of_any(&mut self, x: Num, positive: Num) -> Num {
        let finite = self.below(x, Num::float(f64::INFINITY));
        let value = self.choose(finite, positive, x);
        let negative = self.below(x, Num::float(0.0));
        let value = self.choose(negative, Num::float(f64::NAN), value);
        let zero = Num::Reg(self.setp(Compare::Eq, Type::F32, x, Num::float(0.0)));
        self.choose(zero, Num::float(f64::NEG_INFINITY), value)
    }
}
