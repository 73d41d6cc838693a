//! Operators and functions of two numbers on every type, bit by bit.

use half::{bf16, f16};
use quadpair::lang::operators::{add, div, lt, mul, rem, shl, shr, sub};
use quadpair::lang::{Operand, Tile, Trace, cdiv, clamp, div_rn, fdiv, fma, maximum, maximum_nan, minimum_nan, mulhi};
use quadpair::{Element, F8E4M3, F8E5M2};

use crate::harness::{map, random, singles};

/// What a function of singles gives, by Rust.
type Reference<'a> = &'a dyn Fn(f32, f32) -> f32;

type Binary = fn(&mut Trace<'_>, Operand, Operand) -> Tile;

fn apply<A: Element, R: Element>(function: Binary, a: &[A], b: &[A]) -> Vec<R> {
    map([a, b], |trace, [a, b]| function(trace, Operand::Tile(a), Operand::Tile(b)))
}

macro_rules! integers {
    ($($name:ident: $ty:ident, $wide:ident);* $(;)?) => {$(
        #[test]
        fn $name() {
            let cut = |bits: u64| (bits >> (bits & 31)) as $ty;
            let special = [0, 1, 2, 3, $ty::MAX, $ty::MIN, $ty::MAX - 1, $ty::MAX / 2, 7, 8, 31, 63];
            let pairs = special.iter().flat_map(|&a| special.map(|b| (a, b)));
            let random = random(5, 3000).into_iter().zip(random(6, 3000)).map(|(a, b)| (cut(a), cut(b)));
            let (a, b): (Vec<$ty>, Vec<$ty>) = pairs.chain(random).unzip();
            let bits = $ty::BITS;
            let distance = |b: $ty| u32::try_from(b).ok().filter(|&b| b < bits);
            let quotient = |a: $ty, b: $ty| if b == 0 { !0 } else { a.wrapping_div(b) };
            let remainder = |a: $ty, b: $ty| if b == 0 { !0 } else { a.wrapping_rem(b) };
            let right = |a: $ty, b: $ty| (i128::from(a) >> distance(b).unwrap_or(127)) as $ty;
            let functions: [(&str, Binary, &dyn Fn($ty, $ty) -> $ty); 9] = [
                ("add", add, &$ty::wrapping_add),
                ("sub", sub, &$ty::wrapping_sub),
                ("mul", mul, &$ty::wrapping_mul),
                ("mulhi", mulhi, &|a, b| (($wide::from(a) * $wide::from(b)) >> bits) as $ty),
                ("div", div, &quotient),
                ("rem", rem, &remainder),
                ("shl", shl, &|a, b| distance(b).map_or(0, |b| a << b)),
                ("shr", shr, &right),
                ("maximum", maximum, &|a, b| a.max(b)),
            ];
            for (name, function, reference) in functions {
                let found: Vec<$ty> = apply(function, &a, &b);
                for ((&a, &b), found) in a.iter().zip(&b).zip(found) {
                    assert_eq!(found, reference(a, b), "{name}({a}, {b})");
                }
            }
            let found: Vec<bool> = apply(lt, &a, &b);
            assert!(a.iter().zip(&b).zip(found).all(|((a, b), found)| found == (a < b)));
            let found: Vec<$ty> = map([&a], |trace, [a]| cdiv(trace, Operand::Tile(a), Operand::Int(7)));
            for (&a, found) in a.iter().zip(found).filter(|(a, _)| i128::from(**a) >= 0 && **a <= $ty::MAX - 6) {
                assert!(7 * i128::from(found) >= a.into() && 7 * (i128::from(found) - 1) < a.into(), "cdiv({a}, 7)");
            }
        }
    )*};
}

integers! {
    on_i8: i8, i32; on_i16: i16, i32; on_i32: i32, i64; on_i64: i64, i128;
    on_u8: u8, u32; on_u16: u16, u32; on_u32: u32, u64; on_u64: u64, u128;
}

/// What is folded at compile time is what the chip computes.
#[test]
fn constants_fold_to_the_same() {
    let pairs = [(u64::MAX, 3), (5, 0), (1 << 63, 1), (7, 64), (u64::MAX, 1 << 40)];
    for (a, b) in pairs {
        for function in [div as Binary, rem, shl, shr, maximum] {
            let folded: Vec<u64> = map([&[0_u64]], |trace, [x]| {
                let [a, b] = [a, b].map(|value| scalar_of(trace, value));
                let folded = function(trace, Operand::Tile(a), Operand::Tile(b));
                add(trace, Operand::Tile(x), Operand::Tile(folded))
            });
            assert_eq!(folded, apply::<u64, u64>(function, &[a], &[b]), "{a} {b}");
        }
    }
}

/// A constant of the full range, made from halves that fit an operand.
fn scalar_of(trace: &mut Trace<'_>, value: u64) -> Tile {
    let [high, low] = [value >> 32, value & 0xffff_ffff].map(|half| half as i64);
    let high = quadpair::lang::scalar::<u64>(trace, Operand::Int(high));
    let high = shl(trace, Operand::Tile(high), Operand::Int(32));
    add(trace, Operand::Tile(high), Operand::Int(low))
}

fn close(found: f32, wanted: f32) -> bool {
    found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan()
}

#[test]
fn on_f32() {
    let (a, b) = (singles(1, 4000), singles(2, 4000));
    let nan_wins = |a: f32, b: f32, choice: f32| if a.is_nan() || b.is_nan() { f32::NAN } else { choice };
    let functions: [(Binary, Reference<'_>); 6] = [
        (add, &|a, b| a + b),
        (mul, &|a, b| a * b),
        (div, &|a, b| a / b),
        (div_rn, &|a, b| a / b),
        (maximum_nan, &|a, b| nan_wins(a, b, if a > b { a } else { b })),
        (minimum_nan, &|a, b| nan_wins(a, b, if a < b { a } else { b })),
    ];
    for (function, reference) in functions {
        let found: Vec<f32> = apply(function, &a, &b);
        for ((&a, &b), found) in a.iter().zip(&b).zip(found) {
            assert!(close(found, reference(a, b)) || a == b && a == 0.0, "{a} {b}: {found}");
        }
    }
    let found: Vec<f32> = apply(fdiv, &a, &b);
    for ((&a, &b), found) in a.iter().zip(&b).zip(found) {
        let wanted = a / b;
        assert!(close(found, wanted) || (found - wanted).abs() <= wanted.abs() * f32::EPSILON * 2.0, "{a} / {b}");
    }
}

#[test]
fn clamping_is_between() {
    let a = singles(3, 2000);
    let found: Vec<f32> = map([&a], |trace, [a]| clamp(trace, Operand::Tile(a), Operand::Float(-1.5), Operand::Int(2)));
    for (a, found) in a.into_iter().zip(found) {
        assert_eq!(found, if a.is_nan() { -1.5 } else { a.clamp(-1.5, 2.0) });
    }
}

/// Narrow floats go through `f32`: each result is the one rounded from there.
macro_rules! narrow {
    ($($name:ident: $ty:ident, $bits:ty, $from:expr, $fma:expr);* $(;)?) => {$(
        #[test]
        fn $name() {
            let of = |bits: u64| $ty::from_bits(bits as $bits);
            let (a, b): (Vec<$ty>, Vec<$ty>) = (random(1, 20_000).into_iter().map(of).collect(), random(2, 20_000).into_iter().map(of).collect());
            let functions: [(Binary, fn(f32, f32) -> f32); 4] =
                [(add, |a, b| a + b), (sub, |a, b| a - b), (mul, |a, b| a * b), (div, |a, b| a / b)];
            for (function, reference) in functions {
                let found: Vec<$ty> = apply(function, &a, &b);
                for ((a, b), found) in a.iter().zip(&b).zip(found) {
                    let wanted: $ty = $from(reference(a.to_f32(), b.to_f32()));
                    let nan = found.to_f32().is_nan() && wanted.to_f32().is_nan();
                    assert!(found.to_bits() == wanted.to_bits() || nan, "{a:?} {b:?}: {found:?}, not {wanted:?}");
                }
            }
            let found: Vec<bool> = apply(lt, &a, &b);
            assert!(a.iter().zip(&b).zip(found).all(|((a, b), found)| found == (a.to_f32() < b.to_f32())));
            let found: Vec<$ty> = map([&a, &b], |trace, [a, b]| {
                fma(trace, Operand::Tile(a), Operand::Tile(b), Operand::Float(0.5))
            });
            for ((a, b), found) in a.iter().zip(&b).zip(found) {
                let Some(wanted) = $fma(a.to_f32(), b.to_f32()) else { continue };
                let wanted: $ty = wanted;
                let nan = found.to_f32().is_nan() && wanted.to_f32().is_nan();
                assert!(found.to_bits() == wanted.to_bits() || nan, "{a:?} {b:?}: {found:?}, not {wanted:?}");
            }
        }
    )*};
}

narrow! {
    on_f16: f16, u16, f16::from_f32, once;
    on_bf16: bf16, u16, bf16::from_f32, |a: f32, b: f32| Some(bf16::from_f32(a.mul_add(b, 0.5)));
    on_f8e4m3: F8E4M3, u8, F8E4M3::from_f32, |a: f32, b: f32| Some(F8E4M3::from_f32(a.mul_add(b, 0.5)));
    on_f8e5m2: F8E5M2, u8, F8E5M2::from_f32, |a: f32, b: f32| Some(F8E5M2::from_f32(a.mul_add(b, 0.5)));
}

/// a b + 0.5 rounded once, where an `f64` holds it.
fn once(a: f32, b: f32) -> Option<f16> {
    let product = f64::from(a) * f64::from(b);
    let sum = product + 0.5;
    (sum - 0.5 == product || !sum.is_finite()).then(|| f16::from_f64(sum))
}
