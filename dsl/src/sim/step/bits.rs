//! Integers of other widths, and operations on bits: one lane at a time.

use crate::ptx::{Alu, Type};
use crate::sim::program::wide_type;

/// Bits of an integer type.
fn width(ty: Type) -> u32 {
    match ty {
        Type::S16 | Type::U16 | Type::B16 => 16,
        ty if wide_type(ty) => 64,
        _ => 32,
    }
}

fn is_signed(ty: Type) -> bool {
    matches!(ty, Type::S16 | Type::S32 | Type::S64)
}

/// The number that some bits are.
fn number(ty: Type, bits: u64) -> i128 {
    match ty {
        Type::S16 => (bits as i16).into(),
        Type::S32 => (bits as i32).into(),
        Type::S64 => (bits as i64).into(),
        ty => (bits & (u64::MAX >> (64 - width(ty)))).into(),
    }
}

/// One lane of an integer instruction, from its operands' bits; `None` where the simulator doesn't have it. The result is
/// as wide as the type, twice as wide for `mul.wide` and `mad.wide`.
pub(super) fn one(op: Alu, ty: Type, sat: bool, args: [u64; 4]) -> Option<u64> {
    let bits = width(ty);
    let (a, b) = (number(ty, args[0]), number(ty, args[1]));
    let shift = args[1] as u32;
    let value = match op {
        Alu::Add | Alu::Sub if sat => saturated(op, ty, a, b)?,
        _ if sat => return None,
        Alu::Add => a + b,
        Alu::Sub => a - b,
        Alu::MulLo | Alu::MulWide => a.wrapping_mul(b),
        Alu::MulHi => a.wrapping_mul(b) >> bits,
        Alu::MadLo => a.wrapping_mul(b).wrapping_add(number(ty, args[2])),
        Alu::MadHi => (a.wrapping_mul(b) >> bits) + number(ty, args[2]),
        Alu::MadWide => a.wrapping_mul(b).wrapping_add(args[2].into()),
        // A division by zero gives all ones, and so does its remainder.
        Alu::Div => a.checked_div(b).unwrap_or(-1),
        Alu::Rem => a.checked_rem(b).unwrap_or(-1),
        Alu::Min => a.min(b),
        Alu::Max => a.max(b),
        Alu::Neg => -a,
        Alu::Abs => a.abs(),
        Alu::Not => !a,
        Alu::And => a & b,
        Alu::Or => a | b,
        Alu::Xor => a ^ b,
        Alu::Shl => {
            if shift >= bits {
                0
            } else {
                a << shift
            }
        }
        Alu::Shr => a >> shift.min(bits),
        _ => return on_bits(op, ty, args),
    };
    let wide = matches!(op, Alu::MulWide | Alu::MadWide);
    Some(value as u64 & (u64::MAX >> (64 - if wide { 2 * bits } else { bits })))
}

/// The sum or difference, or the number nearest to it that there is; only 32-bit numbers with a sign have it.
fn saturated(op: Alu, ty: Type, a: i128, b: i128) -> Option<i128> {
    let value = if op == Alu::Add { a + b } else { a - b };
    (ty == Type::S32).then(|| value.clamp(i32::MIN.into(), i32::MAX.into()))
}

fn on_bits(op: Alu, ty: Type, args: [u64; 4]) -> Option<u64> {
    let wide = width(ty) == 64;
    let [a, b, c] = [args[0] as u32, args[1] as u32, args[2] as u32];
    let pair = u64::from(b) << 32 | u64::from(a);
    Some(match op {
        Alu::Popc => args[0].count_ones().into(),
        Alu::Clz if wide => args[0].leading_zeros().into(),
        Alu::Clz => a.leading_zeros().into(),
        Alu::Brev if wide => args[0].reverse_bits(),
        Alu::Brev => a.reverse_bits().into(),
        Alu::ShfL => pair << (c & 31) >> 32,
        Alu::ShfR => u64::from((pair >> (c & 31)) as u32),
        Alu::Lop3 => lop3(a, b, c, args[3]).into(),
        Alu::Prmt => prmt(pair, c).into(),
        Alu::Bfe => extract(ty, args[0], b & 0xff, c & 0xff),
        Alu::Bfi => insert(ty, args[0], args[1], c & 0xff, args[3] as u32 & 0xff),
        _ => return None,
    })
}

/// Bit i of the result is bit `4 a + 2 b + c` of the table, for the bits i of a, b and c.
#[inline(always)]
pub(super) fn lop3(a: u32, b: u32, c: u32, table: u64) -> u32 {
    let mut result = 0;
    for i in 0..8 {
        let pick = |word: u32, on: bool| if on { word } else { !word };
        let minterm = pick(a, i & 4 != 0) & pick(b, i & 2 != 0) & pick(c, i & 1 != 0);
        result |= if table >> i & 1 == 1 { minterm } else { 0 };
    }
    result
}

/// Four bytes out of eight; bit 3 of a selector takes the byte's sign instead, eight times.
#[inline(always)]
pub(super) fn prmt(bytes: u64, selectors: u32) -> u32 {
    let mut result = 0;
    for i in 0..4 {
        let selector = selectors >> (4 * i) & 15;
        let byte = (bytes >> (8 * (selector & 7))) as u8;
        let byte = if selector & 8 != 0 { ((byte as i8) >> 7) as u8 } else { byte };
        result |= u32::from(byte) << (8 * i);
    }
    result
}

/// The lowest bits, as many as `length`.
fn ones(length: u32) -> u64 {
    1_u64.checked_shl(length).map_or(u64::MAX, |bit| bit - 1)
}

/// `bfe`: the field of some length from a position on, extended by its highest bit where the type has a sign. What lies
/// beyond the value is the value's own sign.
fn extract(ty: Type, value: u64, position: u32, length: u32) -> u64 {
    let bits = width(ty);
    let field = value.checked_shr(position).unwrap_or(0) & ones(length);
    let top = (position + length).saturating_sub(1).min(bits - 1);
    let negative = is_signed(ty) && length > 0 && value >> top & 1 == 1;
    let present = length.min(bits.saturating_sub(position));
    let extended = if negative { field | !ones(present) } else { field };
    extended & ones(bits)
}

/// `bfi`: the low bits of `from` in place of a field of `into`.
fn insert(ty: Type, from: u64, into: u64, position: u32, length: u32) -> u64 {
    let field = ones(length).checked_shl(position).unwrap_or(0);
    let moved = from.checked_shl(position).unwrap_or(0);
    ((into & !field) | (moved & field)) & ones(width(ty))
}
