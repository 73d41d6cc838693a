//! Conversions between every two types, bit by bit.

use std::fmt::Debug;

use half::{bf16, f16};
use quadpair::{DType, Element, F8E4M3, F8E5M2};

use crate::harness::{map, random, singles};

/// An element as a reference computes with it.
trait Number: Element + Debug {
    fn bits(self) -> u64;
    fn of_bits(bits: u64) -> Self;
    /// Exactly; integers beyond 2^53 go through [`Number::integer`].
    fn value(self) -> f64;
    fn integer(self) -> Option<i128>;
    fn of_value(value: f64) -> Self;
    fn of_integer(value: i128) -> Self;
    fn is_nan(self) -> bool {
        self.value().is_nan()
    }
}

macro_rules! integers {
    ($($ty:ty),*) => {$(
        impl Number for $ty {
            fn bits(self) -> u64 { self as u64 & (u64::MAX >> (64 - <$ty>::BITS)) }
            fn of_bits(bits: u64) -> Self { bits as $ty }
            fn value(self) -> f64 { self as f64 }
            fn integer(self) -> Option<i128> { Some(self.into()) }
            fn of_value(value: f64) -> Self { value as $ty }
            fn of_integer(value: i128) -> Self { value as $ty }
        }
    )*};
}
integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! floats {
    ($($ty:ty, $of:expr, $integer:expr);*) => {$(
        impl Number for $ty {
            fn bits(self) -> u64 { self.to_bits().into() }
            fn of_bits(bits: u64) -> Self { <$ty>::from_bits(bits as _) }
            fn value(self) -> f64 { f64::from(self) }
            fn integer(self) -> Option<i128> { None }
            fn of_value(value: f64) -> Self { $of(value) }
            fn of_integer(value: i128) -> Self { $integer(value) }
        }
    )*};
}
floats! {
    f32, |x| x as f32, |x| x as f32;
    f64, |x| x, |x| x as f64;
    f16, |x| f16::from_bits(nearest(x, f16::from_f64(x).to_bits(), 0x7c00, |bits| f16::from_bits(bits).to_f64())), |x| f16::of_value(odd(x));
    bf16, |x| bf16::from_bits(nearest(x, bf16::from_f64(x).to_bits(), 0x7f80, |bits| bf16::from_bits(bits).to_f64())), |x| bf16::of_value(odd(x))
}

/// The nearest number, even where two are as near, among the neighbours of one that may miss it: `half` ignores the last
/// digits of an `f64`.
fn nearest(value: f64, guess: u16, infinity: u16, of: fn(u16) -> f64) -> u16 {
    if value.is_nan() || value.is_infinite() {
        return guess;
    }
    // Infinity stands where the next number would be.
    let size =
        |bits: u16| if bits < infinity { of(bits) } else { of(infinity - 1) + of(infinity - 1) - of(infinity - 2) };
    let (sign, own) = (guess & 0x8000, guess & 0x7fff);
    let all = [own.saturating_sub(1), own, (own + 1).min(infinity)];
    let key = |bits: &u16| ((size(*bits) - value.abs()).abs(), bits & 1);
    let best = all.into_iter().min_by(|a, b| key(a).partial_cmp(&key(b)).expect("no NaN"));
    sign | best.expect("three numbers")
}

/// An integer as an `f64` that rounds to narrow types as the integer does: cut off, with the last bit set.
fn odd(value: i128) -> f64 {
    let size = value.unsigned_abs();
    let cut = size.checked_ilog2().map_or(0, |top| top.saturating_sub(50));
    let kept = size >> cut << cut;
    let sticky = if kept == size { 0 } else { 1 << cut };
    (kept | sticky) as f64 * if value < 0 { -1.0 } else { 1.0 }
}

macro_rules! float8 {
    ($($ty:ty),*) => {$(
        impl Number for $ty {
            fn bits(self) -> u64 { self.to_bits().into() }
            fn of_bits(bits: u64) -> Self { <$ty>::from_bits(bits as u8) }
            fn value(self) -> f64 { self.to_f64() }
            fn integer(self) -> Option<i128> { None }
            fn of_value(value: f64) -> Self { <$ty>::from_f64(value) }
            fn of_integer(value: i128) -> Self { <$ty>::from_f64(odd(value)) }
        }
    )*};
}
float8!(F8E4M3, F8E5M2);

/// All patterns of a narrow type; of a wide one many, with those around powers of two and what rounds to halves.
fn patterns<T: Number>() -> Vec<T> {
    let bits = T::DTYPE.bits();
    if bits <= 16 {
        return (0..1_u64 << bits).map(T::of_bits).collect();
    }
    let powers = (0..bits).flat_map(|i| [-1, 0, 1].map(|d: i64| (1_u64 << i).wrapping_add_signed(d)));
    let turned = powers.clone().map(|x| x.wrapping_neg());
    let mut all: Vec<T> = powers.chain(turned).chain(random(7, 2000)).map(T::of_bits).collect();
    all.extend(singles(3, 1000).into_iter().map(|x| T::of_value(x.into())));
    all.extend(random(9, 3000).into_iter().map(|x| T::of_value(near_a_tie(x))));
    all
}

/// A number of moderate size with few digits, or a little beside one.
fn near_a_tie(random: u64) -> f64 {
    let digits = (random & 0x3ff) as f64 - 512.0;
    let beside = [0.0, 1e-12, -1e-12, 1e-7][(random >> 10 & 3) as usize];
    digits * (1.0 + beside) * 2.0_f64.powi((random >> 12) as i32 % 24)
}

fn check<A: Number, R: Number>() {
    let from: Vec<A> = patterns();
    let found: Vec<R> = map([&from], |trace, [x]| x.to::<R>(trace));
    for (x, found) in from.into_iter().zip(found) {
        let wanted = x.integer().map_or_else(|| R::of_value(x.value()), R::of_integer);
        // A type's own infinity stays.
        let wanted = if A::DTYPE == R::DTYPE { R::of_bits(x.bits()) } else { wanted };
        let same = found.bits() == wanted.bits() || found.is_nan() && wanted.is_nan();
        assert!(same, "{x:?} ({:#x}): {found:?}, not {wanted:?}", x.bits());
    }
}

macro_rules! every_pair {
    ($($name:ident: $from:ty);* $(;)?) => {$(
        #[test]
        fn $name() {
            check::<$from, i8>();
            check::<$from, i16>();
            check::<$from, i32>();
            check::<$from, i64>();
            check::<$from, u8>();
            check::<$from, u16>();
            check::<$from, u32>();
            check::<$from, u64>();
            check::<$from, F8E4M3>();
            check::<$from, F8E5M2>();
            check::<$from, f16>();
            check::<$from, bf16>();
            check::<$from, f32>();
            check::<$from, f64>();
            bool_of::<$from>();
            bits_of::<$from>();
        }
    )*};
}

every_pair! {
    from_i8: i8; from_i16: i16; from_i32: i32; from_i64: i64; from_u8: u8; from_u16: u16; from_u32: u32; from_u64: u64;
    from_f8e4m3: F8E4M3; from_f8e5m2: F8E5M2; from_f16: f16; from_bf16: bf16; from_f32: f32; from_f64: f64;
}

fn bool_of<A: Number>() {
    let from: Vec<A> = patterns();
    let found: Vec<bool> = map([&from], |trace, [x]| x.to::<bool>(trace));
    for (x, found) in from.into_iter().zip(found) {
        assert_eq!(found, x.is_nan() || x.value() != 0.0, "{x:?}");
    }
    let numbers: Vec<A> = map([&[false, true]], |trace, [x]| x.to::<A>(trace));
    assert_eq!([numbers[0].value(), numbers[1].value()], [0.0, 1.0]);
}

/// To all types of the same width and back.
fn bits_of<A: Number>() {
    fn check<A: Number, R: Number>() {
        let from: Vec<A> = patterns();
        let found: Vec<R> = map([&from], |trace, [x]| x.bitcast::<R>(trace));
        let back: Vec<A> = map([&found], |trace, [x]| x.bitcast::<A>(trace));
        for ((x, found), back) in from.into_iter().zip(found).zip(back) {
            assert_eq!((x.bits(), x.bits()), (found.bits(), back.bits()), "{}", R::DTYPE.name());
        }
    }
    match A::DTYPE.bits() {
        8 => [check::<A, i8>, check::<A, u8>, check::<A, F8E4M3>, check::<A, F8E5M2>].map(|check| check()).len(),
        16 => [check::<A, i16>, check::<A, u16>, check::<A, f16>, check::<A, bf16>].map(|check| check()).len(),
        32 => [check::<A, i32>, check::<A, u32>, check::<A, f32>].map(|check| check()).len(),
        _ => [check::<A, i64>, check::<A, u64>, check::<A, f64>].map(|check| check()).len(),
    };
}

#[test]
fn a_cast_of_other_width_is_no_bitcast() {
    let text = crate::harness::broken::<f32, 1>(|trace, [x]| x.bitcast::<u16>(trace));
    assert_eq!(text, "bitcast: f32 [512] has 32 bits an element, u16 has 16; convert the value with `as`");
    let text = crate::harness::broken::<bool, 1>(|trace, [x]| x.bitcast::<u8>(trace));
    assert!(text.contains("bool and addresses have no bits to share"), "{text}");
}

#[test]
fn constants_are_rounded_as_elements_are() {
    use quadpair::lang::{Operand, full};
    let zeros = [0.0_f32; 4];
    let found: Vec<f32> = map([&zeros], |trace, [x]| {
        let tenth = full::<f16>(trace, x.layout(), Operand::Float(0.1));
        tenth.to::<f32>(trace)
    });
    assert_eq!(found[0], f16::from_f32(0.1).to_f32());
    let found: Vec<u8> = map([&zeros], |trace, [x]| {
        let large = full::<f32>(trace, x.layout(), Operand::Float(1e9));
        large.to::<F8E4M3>(trace).bitcast::<u8>(trace)
    });
    assert_eq!((found[0], DType::F8E4M3.name()), (0x7e, "f8e4m3"));
}
