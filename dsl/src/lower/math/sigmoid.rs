//! Functions that go from -1 to 1: the hyperbolic tangent and the error function.
//!
//! Both are odd, so they are computed of |x| and get the sign of x. Near 0 they are polynomials; further on, where they
//! come near 1, what is missing to 1 is computed: tanh x = 1 - 2 / (e^(2x) + 1), erf x = 1 - e^(p(x)). Both ways are
//! taken and one is chosen, since elements of a warp need both.

use crate::element::DType;
use crate::ir::BinaryOp;
use crate::lower::Lowering;
use crate::lower::num::Num;

/// q in tanh x = x + x^3 q(x^2), for |x| below 0.6; the error is 2^-33.
const TANH: [f32; 6] = [-0.333_333_3, 0.133_332_48, -0.053_952_474, 0.021_734_439, -0.008_267_091, 0.002_231_063_8];
const TANH_SMALL: f64 = 0.6;

/// q in erf x = x + x q(x^2), for |x| below 1; the error is 2^-29.
const ERF: [f32; 7] =
    [0.128_379_17, -0.376_126_26, 0.112_836, -0.026_854_444, 0.005_189_535_7, -0.000_802_084_2, 7.889_123e-5];
const ERF_SMALL: f64 = 1.0;

/// p in erf x = 1 - e^(p(x)), for x from 1 to where it is 1 to the last digit; the error is 2^-35.
const ERF_TAIL: [f32; 8] = [
    0.000_188_036_41,
    -1.129_578_4,
    -0.633_219_9,
    -0.108_418_55,
    0.025_208_239,
    -0.004_204_555_4,
    0.000_441_335_14,
    -2.168_675e-5,
];
const ERF_END: f64 = 3.95;

impl Lowering<'_> {
    pub(super) fn tanh(&mut self, x: Num) -> Num {
        let size = self.size(x);
        let square = self.times(size, size);
        let q = self.polynomial(square, &TANH);
        let curve = self.times(q, square);
        let near = self.fused(curve, size, size);
        let twice = self.add(size, size);
        let power = self.exp(twice);
        let sum = self.add(power, Num::float(1.0));
        let part = self.inverse(sum);
        let far = self.fused(part, Num::float(-2.0), Num::float(1.0));
        let small = self.below(size, Num::float(TANH_SMALL));
        let value = self.choose(small, near, far);
        self.with_sign_of(value, x)
    }

    pub(super) fn erf(&mut self, x: Num) -> Num {
        let size = self.size(x);
        let square = self.times(size, size);
        let q = self.polynomial(square, &ERF);
        let near = self.fused(q, size, size);
        let bounded = self.binary(BinaryOp::MinNan, DType::F32, size, Num::float(ERF_END));
        let p = self.polynomial(bounded, &ERF_TAIL);
        let missing = self.exp(p);
        let far = self.fused(missing, Num::float(-1.0), Num::float(1.0));
        let small = self.below(size, Num::float(ERF_SMALL));
        let value = self.choose(small, near, far);
        self.with_sign_of(value, x)
    }
}
