//! Functions of one number against `f64`, over wide ranges.

use std::f64::consts::PI;

use half::{bf16, f16};
use quadpair::F8E4M3;
use quadpair::lang::{self as language, Tile, Trace};

use crate::harness::{broken, map, random, singles};

type Function = fn(&mut Trace<'_>, Tile) -> Tile;

/// The same function of an `f64`.
type Exact = fn(f64) -> f64;

/// The distance from a number to the exact one, in units in the last place of the `f32` nearest to that.
fn ulps(found: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if found.is_nan() && exact.is_nan() || found == nearest && (found != 0.0 || same_sign(found, nearest)) {
        return 0.0;
    }
    if !found.is_finite() || !nearest.is_finite() || !same_sign(found, nearest) {
        return f64::INFINITY;
    }
    let exponent = exact.abs().log2().floor().max(-126.0);
    (f64::from(found) - exact).abs() / (exponent - 23.0).exp2()
}

fn same_sign(a: f32, b: f32) -> bool {
    a.is_sign_negative() == b.is_sign_negative()
}

/// Numbers of both signs whose sizes are spread evenly over the exponents of a range.
fn between(low: f64, high: f64) -> Vec<f32> {
    let place = |bits: u64| low * (high / low).powf((bits >> 11) as f64 / (1_u64 << 53) as f64);
    let signed = |bits: u64| if bits & 1 == 0 { place(bits) } else { -place(bits) };
    random(1, 60_000).into_iter().map(|bits| signed(bits) as f32).collect()
}

/// The worst error over some numbers.
fn worst(function: Function, exact: impl Fn(f64) -> f64, x: &[f32]) -> (f64, f32) {
    let found: Vec<f32> = map([x], |trace, [x]| function(trace, x));
    let errors = x.iter().zip(&found).map(|(&x, &found)| (ulps(found, exact(x.into())), x));
    errors.fold((0.0, 0.0), |worst, own| if own.0 > worst.0 { own } else { worst })
}

/// Checks a function where it is neither infinite nor constant, and on numbers of every size.
fn check(name: &str, function: Function, exact: impl Fn(f64) -> f64, range: [f64; 2], bound: f64) {
    for x in [between(range[0], range[1]), singles(2, 20_000)] {
        let (error, at) = worst(function, &exact, &x);
        println!("{name}: {error:.2} ulp at {at}");
        assert!(error <= bound, "{name}: {error:.2} ulp at {at}");
    }
}

/// 2 / sqrt(pi) e^(-x^2) times the sum of 2^n x^(2n + 1) / (2n + 1)!!, whose terms have one sign.
fn erf(x: f64) -> f64 {
    if x.abs() > 6.0 || x.is_nan() {
        return if x.is_nan() { x } else { x.signum() };
    }
    let (mut term, mut sum, mut n) = (x, x, 0.0);
    while term.abs() > 1e-18 * sum.abs() {
        n += 1.0;
        term *= 2.0 * x * x / (2.0 * n + 1.0);
        sum += term;
    }
    2.0 / PI.sqrt() * (-x * x).exp() * sum
}

#[test]
fn exponentials_are_near() {
    check("exp", language::exp, f64::exp, [1e-9, 104.0], 1.1);
    check("log", language::log, f64::ln, [1e-45, 3e38], 1.1);
    // Around 1, where the logarithm is small.
    let near: Vec<f32> = (0..40_000).map(|i| f32::from_bits(1.0_f32.to_bits() - 20_000 + i * 7)).collect();
    assert!(worst(language::log, f64::ln, &near).0 <= 1.1);
}

#[test]
fn sines_are_near_up_to_2_to_the_22() {
    let limited = |function: fn(f64) -> f64| move |x: f64| if x.abs() <= 4_194_304.0 { function(x) } else { f64::NAN };
    for range in [[1e-6, 10.0], [1.0, 1e5], [1e5, 4_194_304.0]] {
        check("sin", language::sin, limited(f64::sin), range, 1.7);
        check("cos", language::cos, limited(f64::cos), range, 1.7);
    }
    // Where they are nearly 0: beside multiples of pi / 2.
    let near = (1..1 << 21).step_by(37).map(|j| (f64::from(j) * PI / 2.0) as f32).collect::<Vec<_>>();
    let (sine, cosine) = (worst(language::sin, f64::sin, &near), worst(language::cos, f64::cos, &near));
    println!("near zeros: {sine:?} {cosine:?}");
    assert!(sine.0 <= 2.0 && cosine.0 <= 2.0, "{sine:?} {cosine:?}");
}

#[test]
fn sigmoids_are_near() {
    check("tanh", language::tanh, f64::tanh, [1e-9, 12.0], 1.7);
    check("erf", language::erf, erf, [1e-9, 5.0], 1.7);
}

#[test]
fn instructions_are_right() {
    check("sqrt", language::sqrt, f64::sqrt, [1e-40, 1e38], 1.0);
    check("sqrt_rn", language::sqrt_rn, f64::sqrt, [1e-40, 1e38], 0.5);
    check("rsqrt", language::rsqrt, |x| 1.0 / x.sqrt(), [1e-40, 1e38], 2.0);
    check("floor", language::floor, f64::floor, [1e-3, 1e9], 0.0);
    check("ceil", language::ceil, f64::ceil, [1e-3, 1e9], 0.0);
    check("trunc", language::trunc, f64::trunc, [1e-3, 1e9], 0.0);
    check("round", language::round, f64::round_ties_even, [1e-3, 1e9], 0.0);
    assert!(worst(language::exp2, f64::exp2, &between(1e-3, 126.0)).0 <= 2.0);
    assert!(worst(language::log2, f64::log2, &between(2.0, 1e38)).0 <= 2.0);
}

#[test]
fn narrow_floats_are_computed_in_f32() {
    let functions: [(Function, Exact); 5] = [
        (language::exp, f64::exp),
        (language::log, f64::ln),
        (language::sin, f64::sin),
        (language::tanh, f64::tanh),
        (language::floor, f64::floor),
    ];
    for (function, exact) in functions {
        let x: Vec<f16> = (0..=u16::MAX).step_by(3).map(f16::from_bits).collect();
        let found: Vec<f16> = map([&x], |trace, [x]| function(trace, x));
        for (x, found) in x.iter().zip(found) {
            let wanted = f16::from_f64(exact(x.to_f64()));
            let distance = found.to_bits().abs_diff(wanted.to_bits());
            assert!(distance <= 1 || found.is_nan() && wanted.is_nan(), "{x}: {found}, not {wanted}");
        }
        let x: Vec<bf16> = (0..0x49ff_u16).step_by(5).map(bf16::from_bits).collect();
        let found: Vec<bf16> = map([&x], |trace, [x]| function(trace, x));
        for (x, found) in x.iter().zip(found) {
            let distance = found.to_bits().abs_diff(bf16::from_f64(exact(x.to_f64())).to_bits());
            assert!(distance <= 1 || found.is_nan(), "{x}: {found}");
        }
    }
    let x: Vec<F8E4M3> = (0..=u8::MAX).map(F8E4M3::from_bits).collect();
    let found: Vec<F8E4M3> = map([&x], |trace, [x]| language::exp(trace, x));
    for (x, found) in x.iter().zip(found) {
        assert_eq!(found, F8E4M3::from_f64(x.to_f64().exp()), "{x:?}");
    }
}

#[test]
fn doubles_have_what_chips_have() {
    let x: Vec<f64> = random(4, 4000).into_iter().map(f64::from_bits).chain([0.5, -0.5, 2.5, -0.0]).collect();
    let functions: [(Function, Exact); 7] = [
        (language::sqrt, f64::sqrt),
        (language::sqrt_rn, f64::sqrt),
        (language::rsqrt, |x| 1.0 / x.sqrt()),
        (language::floor, f64::floor),
        (language::ceil, f64::ceil),
        (language::trunc, f64::trunc),
        (language::round, f64::round_ties_even),
    ];
    for (function, exact) in functions {
        let found: Vec<f64> = map([&x], |trace, [x]| function(trace, x));
        for (&x, found) in x.iter().zip(found) {
            assert!(found.to_bits() == exact(x).to_bits() || found.is_nan() && exact(x).is_nan(), "{x}: {found}");
        }
    }
    let text = broken::<f64, 1>(|trace, [x]| language::exp(trace, x));
    assert_eq!(text, "exp: f64 [512] is not computed; convert it with `as f32`");
    let text = broken::<i32, 1>(|trace, [x]| language::floor(trace, x));
    assert_eq!(text, "floor: a floating-point tile is wanted, this is i32 [512]; convert it with `as f32`");
}
