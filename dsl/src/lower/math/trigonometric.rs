//! Sine and cosine.
//!
//! x = j pi/2 + r with |r| at most pi/4, and then the sine or cosine of r, by the two lowest bits of j: sin x is sin r,
//! cos r, -sin r, -cos r for j = 0, 1, 2, 3. For example sin 2 = cos(2 - pi/2) = cos 0.429.
//!
//! pi/2 is subtracted in three parts of 24 bits. What the first leaves is exact: x and the part times j are multiples of
//! 2^-24 at least, and their difference is less than 1. The two others round relative to r, so r is good to its last
//! digits for all |x| up to 2^22. Beyond that j no longer fits, and the result is NaN rather than a wrong number.

use std::f64::consts::FRAC_2_PI;

use crate::element::DType;
use crate::ir::{BinaryOp, CompareOp};
use crate::lower::Lowering;
use crate::lower::num::Num;
use crate::ptx::{Compare, Type};

use super::ROUNDER;

/// pi/2 in three parts.
const HALF_PI: [f32; 3] = [1.570_796_4, -4.371_139e-8, -1.715_121_3e-15];

/// q in sin r = r + r^3 q(r^2), for |r| up to 0.8; the error is 2^-37.
const SIN: [f32; 4] = [-0.166_666_67, 0.008_333_329, -0.000_198_391_76, 2.716_81e-6];

/// q in cos r = 1 - r^2/2 + r^4 q(r^2), for |r| up to 0.8; the error is 2^-42.
const COS: [f32; 4] = [0.041_666_668, -0.001_388_888_3, 2.479_935e-5, -2.719_630_5e-7];

/// The largest argument.
const LIMIT: f64 = (1 << 22) as f64;

impl Lowering<'_> {
    pub(super) fn sin(&mut self, x: Num) -> Num {
        let size = self.size(x);
        let value = self.wave(size, 0);
        let bits = self.bits_of_single(x);
        let sign = self.word(BinaryOp::And, bits, Num::int(super::SIGN));
        self.with_sign(value, sign)
    }

    pub(super) fn cos(&mut self, x: Num) -> Num {
        let size = self.size(x);
        self.wave(size, 1)
    }

    /// The sine of a number that isn't negative, plus a number of right angles.
    fn wave(&mut self, x: Num, right_angles: i64) -> Num {
        let rounded = self.fused(x, Num::float(FRAC_2_PI), Num::float(ROUNDER));
        let j = self.add(rounded, Num::float(-ROUNDER));
        let r = HALF_PI.iter().fold(x, |r, &part| self.fused(j, Num::float((-part).into()), r));
        let square = self.times(r, r);
        let (sine, cosine) = (self.sine_near_zero(r, square), self.cosine_near_zero(square));
        let bits = self.bits_of_single(rounded);
        let quadrant = self.word(BinaryOp::Add, bits, Num::int(right_angles));
        let odd = self.word(BinaryOp::And, quadrant, Num::int(1));
        let odd = self.compare(CompareOp::Ne, DType::I32, odd, Num::int(0));
        let value = self.choose(odd, cosine, sine);
        let half_turn = self.word(BinaryOp::And, quadrant, Num::int(2));
        let sign = self.word(BinaryOp::Shl, half_turn, Num::int(30));
        let value = self.with_sign(value, sign);
        let known = Num::Reg(self.setp(Compare::Le, Type::F32, x, Num::float(LIMIT)));
        self.choose(known, value, Num::float(f64::NAN))
    }

    fn sine_near_zero(&mut self, r: Num, square: Num) -> Num {
        let q = self.polynomial(square, &SIN);
        let curve = self.times(q, square);
        self.fused(curve, r, r)
    }

    fn cosine_near_zero(&mut self, square: Num) -> Num {
        let q = self.polynomial(square, &COS);
        let curve = self.fused(q, square, Num::float(-0.5));
        self.fused(curve, square, Num::float(1.0))
    }
}
