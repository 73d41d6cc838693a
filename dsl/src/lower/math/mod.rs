//! Functions of one number.
//!
//! | function | how | error, in units in the last place of an `f32` |
//! |---|---|---|
//! | `exp2`, `log2`, `rsqrt`, `sqrt` | the chip's instruction | as the chip: 2, 2 (near 1: 2^-22 absolute), 2, 1 |
//! | `sqrt_rn`, `floor`, `ceil`, `trunc`, `round` | an instruction | rounded correctly |
//! | `exp`, `log`, `sin`, `cos`, `tanh`, `erf` | sums of powers, in the files here | at most 2 |
//!
//! The last row is made of additions, products and fused multiply-adds, which are rounded correctly everywhere: so the
//! simulator and every chip give the same bits. Each such function has three parts: the argument is *reduced* to a small
//! interval around 0 by a law of the function (e^(j ln 2 + f) = 2^j e^f, say), a *polynomial* approximates it there, and
//! the law is undone. The coefficients are those whose largest relative error on the interval is least, found with
//! Lawson's weights, and then rounded to `f32`.

mod exponential;
mod sigmoid;
mod trigonometric;

use super::Lowering;
use super::num::Num;
use super::scalar::{class_of, type_of};
use crate::element::DType;
use crate::ir::{BinaryOp, UnaryOp};
use crate::ptx::{Alu, Class, Compare, Rounding, Type};

/// Adding 1.5 * 2^23 to a number below 2^22 rounds it to an integer, which is then in the lowest bits.
const ROUNDER: f64 = 12_582_912.0;

/// The bit that is an `f32`'s sign.
const SIGN: i64 = 0x8000_0000;

impl Lowering<'_> {
    /// A function of an `f32` or `f64`.
    pub(super) fn function(&mut self, op: UnaryOp, dtype: DType, x: Num) -> Num {
        match op {
            UnaryOp::Floor => self.whole_number(dtype, Rounding::Rmi, x),
            UnaryOp::Ceil => self.whole_number(dtype, Rounding::Rpi, x),
            UnaryOp::Trunc => self.whole_number(dtype, Rounding::Rzi, x),
            UnaryOp::Round => self.whole_number(dtype, Rounding::Rni, x),
            UnaryOp::SqrtRn => self.root(dtype, x),
            UnaryOp::Sqrt | UnaryOp::Rsqrt if dtype == DType::F64 => {
                let root = self.root(dtype, x);
                let inverse = op == UnaryOp::Rsqrt;
                if inverse { self.binary(BinaryOp::Div, dtype, Num::float(1.0), root) } else { root }
            }
            UnaryOp::Sqrt => Num::Reg(self.fast(Alu::Sqrt, &[x])),
            UnaryOp::Rsqrt => Num::Reg(self.fast(Alu::Rsqrt, &[x])),
            UnaryOp::Exp2 => Num::Reg(self.fast(Alu::Ex2, &[x])),
            UnaryOp::Log2 => Num::Reg(self.fast(Alu::Lg2, &[x])),
            UnaryOp::Exp => self.exp(x),
            UnaryOp::Log => self.log(x),
            UnaryOp::Sin => self.sin(x),
            UnaryOp::Cos => self.cos(x),
            UnaryOp::Tanh => self.tanh(x),
            UnaryOp::Erf => self.erf(x),
            UnaryOp::Neg | UnaryOp::Not | UnaryOp::Abs => unreachable!("operators are no functions"),
        }
    }

    fn whole_number(&mut self, dtype: DType, rounding: Rounding, x: Num) -> Num {
        let (ty, class) = (type_of(dtype), class_of(dtype));
        let reg = self.reg(x, class);
        Num::Reg(self.cvt(ty, ty, Some(rounding), class, reg))
    }

    fn root(&mut self, dtype: DType, x: Num) -> Num {
        Num::Reg(self.alu(Alu::Sqrt, type_of(dtype), class_of(dtype), &[x]))
    }

    fn add(&mut self, a: Num, b: Num) -> Num {
        self.binary(BinaryOp::Add, DType::F32, a, b)
    }

    fn times(&mut self, a: Num, b: Num) -> Num {
        self.binary(BinaryOp::Mul, DType::F32, a, b)
    }

    /// a b + c
    fn fused(&mut self, a: Num, b: Num, c: Num) -> Num {
        self.fma(DType::F32, a, b, c)
    }

    /// c0 + c1 x + c2 x^2 + …
    fn polynomial(&mut self, x: Num, coefficients: &[f32]) -> Num {
        let mut from_highest = coefficients.iter().rev().map(|&c| Num::float(c.into()));
        let highest = from_highest.next().expect("a polynomial has a coefficient");
        from_highest.fold(highest, |sum, c| self.fused(sum, x, c))
    }

    fn size(&mut self, x: Num) -> Num {
        self.unary(UnaryOp::Abs, DType::F32, x)
    }

    /// Whether one is below the other; NaN never is.
    fn below(&mut self, x: Num, limit: Num) -> Num {
        Num::Reg(self.setp(Compare::Lt, Type::F32, x, limit))
    }

    /// `a` where the condition holds, else `b`.
    fn choose(&mut self, condition: Num, a: Num, b: Num) -> Num {
        self.select(DType::F32, condition, a, b)
    }

    fn word(&mut self, op: BinaryOp, a: Num, b: Num) -> Num {
        self.integer(op, DType::I32, a, b)
    }

    fn bits_of_single(&mut self, x: Num) -> Num {
        self.bitcast(DType::F32, DType::I32, x)
    }

    fn single_of_bits(&mut self, bits: Num) -> Num {
        self.bitcast(DType::I32, DType::F32, bits)
    }

    /// A number that isn't negative, with the sign of another.
    fn with_sign_of(&mut self, size: Num, x: Num) -> Num {
        let bits = self.bits_of_single(x);
        let sign = self.word(BinaryOp::And, bits, Num::int(SIGN));
        self.with_sign(size, sign)
    }

    /// A number whose sign is turned where the bit of `sign` is set.
    fn with_sign(&mut self, x: Num, sign: Num) -> Num {
        let bits = self.bits_of_single(x);
        let turned = self.word(BinaryOp::Xor, bits, sign);
        self.single_of_bits(turned)
    }

    fn inverse(&mut self, x: Num) -> Num {
        Num::Reg(self.alu(Alu::Rcp, Type::F32, Class::F32, &[x]))
    }
}
