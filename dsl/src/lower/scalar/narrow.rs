//! Narrow floats as `f32`, which is exact, and back, which rounds to nearest even.
//!
//! Only `f16` has instructions for it on every chip, `bf16` from sm_80 on; the other types are done in integers. A narrow float's bits are the
//! upper bits of the same number's `f32` but for the exponent, whose bias differs, and for its subnormals.

use crate::element::DType;
use crate::ir::BinaryOp;
use crate::lower::Lowering;
use crate::lower::num::Num;
use crate::ptx::{Alu, Class, Compare, Reg, Rounding, Type};

use super::constant;
use super::constant::value_of_byte;
use super::pairs;

/// A float of 8 bits, as rounding sees it.
struct Format {
    /// Bits of the fraction.
    digits: i64,
    /// Exponent of the least number with a full significand.
    least: i64,
    /// The largest finite number.
    largest: i64,
}

const E4M3: Format = Format { digits: 3, least: -6, largest: 0x7e };
const E5M2: Format = Format { digits: 2, least: -14, largest: 0x7b };

/// Bits of the fraction of an `f32`, and its exponent's bias.
const DIGITS: i64 = 23;
const BIAS: i64 = 127;

/// The bits of an `f32`'s infinity.
const INFINITY: i64 = 0x7f80_0000;

impl Format {
    /// The bits of the `f32` that is the least number with a full significand.
    fn least_normal(&self) -> i64 {
        (BIAS + self.least) << DIGITS
    }

    /// The bits of an `f32` whose last digit weighs as much as that of a subnormal number.
    fn magic(&self) -> i64 {
        (BIAS + self.least - self.digits + DIGITS) << DIGITS
    }
}

impl Lowering<'_> {
    /// A narrow element as `f32`.
    pub(in crate::lower) fn widened(&mut self, dtype: DType, num: Num) -> Num {
        match (dtype, num) {
            (_, Num::Float(_)) => num,
            (_, Num::Int { base: None, offset }) => Num::float(value_of_byte(dtype, offset)),
            (DType::F8E4M3, _) => self.single_of_e4m3(num),
            (DType::F8E5M2, _) => {
                let shifted = self.integer(BinaryOp::Shl, DType::U32, num, Num::int(8));
                Num::Reg(self.single_of_half_bits(shifted))
            }
            (DType::F16, _) => {
                let half = self.reg(num, Class::B16);
                Num::Reg(self.cvt(Type::F32, Type::F16, None, Class::F32, half))
            }
            _ => self.single_of_bf16(num),
        }
    }

    /// The bits of a bf16 are the upper half of the same number's f32.
    fn single_of_bf16(&mut self, num: Num) -> Num {
        let bits = match num {
            Num::Half { pack, high: true } => {
                self.alu(Alu::And, Type::B32, Class::B32, &[Num::base(pack), Num::int(0xffff_0000)])
            }
            Num::Half { pack, high: false } => {
                self.alu(Alu::Shl, Type::B32, Class::B32, &[Num::base(pack), Num::int(16)])
            }
            _ => {
                let half = self.reg(num, Class::B16);
                let low = self.cvt(Type::U32, Type::U16, None, Class::B32, half);
                self.alu(Alu::Shl, Type::B32, Class::B32, &[Num::base(low), Num::int(16)])
            }
        };
        Num::Reg(self.recast(bits, Class::F32))
    }

    /// As the bits of an f16, moved to its fraction's place, an E4M3 is 2^8 too small; its NaN would be 480.
    fn single_of_e4m3(&mut self, num: Num) -> Num {
        let word = |own: &mut Self, op, a, b| own.integer(op, DType::U32, a, b);
        let size = word(self, BinaryOp::And, num, Num::int(0x7f));
        let moved = word(self, BinaryOp::Shl, size, Num::int(7));
        let sign = word(self, BinaryOp::And, num, Num::int(0x80));
        let sign = word(self, BinaryOp::Shl, sign, Num::int(8));
        let bits = word(self, BinaryOp::Or, moved, sign);
        let small = self.single_of_half_bits(bits);
        let value = self.alu(Alu::Mul, Type::F32, Class::F32, &[Num::Reg(small), Num::float(256.0)]);
        let nan = self.setp(Compare::Eq, Type::U32, size, Num::int(0x7f));
        self.select(DType::F32, Num::Reg(nan), Num::float(f64::NAN), Num::Reg(value))
    }

    fn single_of_half_bits(&mut self, bits: Num) -> Reg {
        let bits = self.reg(bits, Class::B32);
        let half = self.cvt(Type::U16, Type::U32, None, Class::B16, bits);
        self.cvt(Type::F32, Type::F16, None, Class::F32, half)
    }

    /// An `f32` rounded to a narrow type.
    pub(in crate::lower) fn narrowed(&mut self, dtype: DType, num: Num) -> Num {
        if let Num::Float(bits) = num {
            return constant(dtype, f64::from_bits(bits));
        }
        let wide = self.reg(num, Class::F32);
        match dtype {
            DType::F16 => Num::Reg(self.cvt(Type::F16, Type::F32, Some(Rounding::Rn), Class::B16, wide)),
            DType::BF16 if self.target.sm >= pairs::FIRST_SM => {
                Num::Reg(self.cvt(Type::BF16, Type::F32, Some(Rounding::Rn), Class::B16, wide))
            }
            DType::BF16 => Num::Reg(self.rounded_to_bf16(wide)),
            DType::F8E4M3 => self.rounded_to_byte(&E4M3, wide),
            _ => self.rounded_to_byte(&E5M2, wide),
        }
    }

    fn rounded_to_bf16(&mut self, wide: Reg) -> Reg {
        let bits = self.recast(wide, Class::B32);
        let rounded = self.rounded_shift(Num::base(bits), 16);
        let nan = self.setp(Compare::Nan, Type::F32, Num::Reg(wide), Num::Reg(wide));
        let result = self.select(DType::I32, Num::Reg(nan), Num::int(0x7fff), rounded);
        let reg = self.reg(result, Class::B32);
        self.cvt(Type::U16, Type::U32, None, Class::B16, reg)
    }

    /// Bits without the lowest ones, rounded to nearest even.
    fn rounded_shift(&mut self, bits: Num, by: i64) -> Num {
        let word = |own: &mut Self, op, a, b| own.integer(op, DType::U32, a, b);
        let upper = word(self, BinaryOp::Shr, bits, Num::int(by));
        let odd = word(self, BinaryOp::And, upper, Num::int(1));
        let up = word(self, BinaryOp::Add, odd, Num::int((1 << (by - 1)) - 1));
        let sum = word(self, BinaryOp::Add, bits, up);
        word(self, BinaryOp::Shr, sum, Num::int(by))
    }

    /// The byte of a number, saturated.
    fn rounded_to_byte(&mut self, format: &Format, wide: Reg) -> Num {
        let word = |own: &mut Self, op, a, b| own.integer(op, DType::I32, a, b);
        let bits = Num::base(self.recast(wide, Class::B32));
        let size = word(self, BinaryOp::And, bits, Num::int(0x7fff_ffff));
        let shifted = self.rounded_shift(size, DIGITS - format.digits);
        let bias = (BIAS + format.least - 1) << format.digits;
        let normal = word(self, BinaryOp::Sub, shifted, Num::int(bias));
        let subnormal = self.subnormal_byte(format, size);
        let small = Num::Reg(self.setp(Compare::Lt, Type::S32, size, Num::int(format.least_normal())));
        let code = self.select(DType::I32, small, subnormal, normal);
        let code = word(self, BinaryOp::Min, code, Num::int(format.largest));
        let sign = self.integer(BinaryOp::Shr, DType::U32, bits, Num::int(24));
        let sign = word(self, BinaryOp::And, sign, Num::int(0x80));
        let signed = word(self, BinaryOp::Or, code, sign);
        let nan = Num::Reg(self.setp(Compare::Gt, Type::S32, size, Num::int(INFINITY)));
        self.select(DType::I32, nan, Num::int(0x7f), signed)
    }

    /// Adding a number whose last digit weighs as much as a subnormal's rounds to one, in the lowest bits.
    fn subnormal_byte(&mut self, format: &Format, size: Num) -> Num {
        let size = self.reg(size, Class::B32);
        let size = Num::Reg(self.recast(size, Class::F32));
        let magic = f32::from_bits(format.magic() as u32);
        let sum = self.alu(Alu::Add, Type::F32, Class::F32, &[size, Num::float(magic.into())]);
        let bits = Num::base(self.recast(sum, Class::B32));
        self.integer(BinaryOp::Sub, DType::I32, bits, Num::int(format.magic()))
    }
}
