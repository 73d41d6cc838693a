//! Floating-point constants. Each is kept as the number that its type has nearest to it, so that it means the same
//! whether it is folded, written as an immediate or put in a register: 0.1 beside an `f16` is the `f16` nearest to 0.1.

use half::{bf16, f16};

use crate::element::DType;
use crate::float8::{F8E4M3, F8E5M2};
use crate::lower::num::Num;
use crate::rounding::Format;

const F16: Format = Format { digits: 10, least: -14 };
const BF16: Format = Format { digits: 7, least: -126 };

/// A constant of a floating-point type; one of 8 bits is kept as its byte, as all elements of its type are.
pub(in crate::lower) fn constant(dtype: DType, value: f64) -> Num {
    match dtype {
        DType::F8E4M3 => Num::int(F8E4M3::from_f64(value).to_bits().into()),
        DType::F8E5M2 => Num::int(F8E5M2::from_f64(value).to_bits().into()),
        DType::F16 => Num::float(f16::from_bits(half_bits(dtype, value.to_bits())).to_f64()),
        DType::BF16 => Num::float(bf16::from_bits(half_bits(dtype, value.to_bits())).to_f64()),
        DType::F32 => Num::float((value as f32).into()),
        _ => Num::float(value),
    }
}

/// The bits of a 16-bit constant.
pub(super) fn half_bits(dtype: DType, bits: u64) -> u16 {
    let value = f64::from_bits(bits);
    let (format, infinity) = if dtype == DType::F16 { (F16, 0x7c00) } else { (BF16, 0x7f80) };
    let size = if value.is_nan() { 0x7fff } else { format.nearest(value).min(infinity) as u16 };
    size | (u16::from(value.is_sign_negative()) << 15)
}

/// The number that a byte is.
pub(super) fn value_of_byte(dtype: DType, byte: i64) -> f64 {
    match dtype {
        DType::F8E4M3 => F8E4M3::from_bits(byte as u8).to_f64(),
        _ => F8E5M2::from_bits(byte as u8).to_f64(),
    }
}
