//! Floating-point arithmetic.

use half::f16;

use crate::harness::{check, check_by, evaluate, operands};
use crate::rounding::{Exact, MODES, Mode, to_f16, to_f32};

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

fn bits(value: f32) -> u64 {
    value.to_bits().into()
}

/// The same number, any NaN for any other, +0 and -0 apart.
fn same32(a: u64, b: u64) -> bool {
    a == b || (single(a).is_nan() && single(b).is_nan())
}

fn same64(a: u64, b: u64) -> bool {
    a == b || (f64::from_bits(a).is_nan() && f64::from_bits(b).is_nan())
}

fn same16(a: u64, b: u64) -> bool {
    let nan = |bits: u64| f16::from_bits(bits as u16).is_nan();
    a == b || (nan(a) && nan(b))
}

/// Singles of every kind; the sequence beside them has mostly ordinary ones.
fn singles() -> Vec<[u64; 4]> {
    let edges = [
        0.0_f32,
        -0.0,
        1.0,
        -1.5,
        3.0,
        f32::MAX,
        f32::MIN_POSITIVE,
        1e-40,
        -1e-44,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        1.0 + f32::EPSILON,
    ];
    let mut all = operands(32, &edges.map(bits));
    // Numbers near one another, where rounding is close.
    all.extend(operands(23, &[0, 1, 2, 3, 0x40_0000, 0x7f_ffff]).into_iter().map(|own| own.map(|x| x | 0x3f00_0000)));
    all
}

fn halves() -> Vec<[u64; 4]> {
    operands(16, &[0, 0x8000, 0x3c00, 0xbc01, 0x0001, 0x83ff, 0x0400, 0x7bff, 0x7c00, 0xfc00, 0x7e00])
}

#[test]
fn singles_are_exact() {
    let all = singles();
    let two = |text: &str, function: fn(f32, f32) -> f32| {
        check_by(text, "fff", &all, |[a, b, ..]| bits(function(single(a), single(b))), same32);
    };
    two("add.f32 $0, $1, $2;", |a, b| a + b);
    two("add.rn.f32 $0, $1, $2;", |a, b| a + b);
    two("sub.f32 $0, $1, $2;", |a, b| a - b);
    two("mul.f32 $0, $1, $2;", |a, b| a * b);
    two("div.rn.f32 $0, $1, $2;", |a, b| a / b);
    check_by(
        "fma.rn.f32 $0, $1, $2, $3;",
        "ffff",
        &all,
        |[a, b, c, _]| bits(single(a).mul_add(single(b), single(c))),
        same32,
    );
    check_by("sqrt.rn.f32 $0, $1;", "ff", &all, |[a, ..]| bits(single(a).sqrt()), same32);
    check_by("rcp.rn.f32 $0, $1;", "ff", &all, |[a, ..]| bits(1.0 / single(a)), same32);
    check_by("neg.f32 $0, $1;", "ff", &all, |[a, ..]| bits(-single(a)), same32);
    check_by("abs.f32 $0, $1;", "ff", &all, |[a, ..]| bits(single(a).abs()), same32);
}

#[test]
fn singles_round_in_every_direction() {
    let finite: Vec<_> = singles().into_iter().filter(|own| own.iter().all(|x| single(*x).is_finite())).collect();
    for (name, mode) in MODES {
        let sum = |[a, b, ..]: [u64; 4]| Exact::sum(single(a).into(), single(b).into());
        let zero_apart = |a: u64, b: u64| a == b || (single(a) == 0.0 && single(b) == 0.0);
        check_by(
            &format!("add.{name}.f32 $0, $1, $2;"),
            "fff",
            &finite,
            |own| bits(to_f32(sum(own), mode)),
            zero_apart,
        );
        // Where the product of doubles is no double any more the exact one isn't known here.
        let product = |a: u64, b: u64| f64::from(single(a)) * f64::from(single(b));
        check_by(
            &format!("mul.{name}.f32 $0, $1, $2;"),
            "fff",
            &finite,
            |[a, b, ..]| bits(to_f32(Exact::from(product(a, b)), mode)),
            zero_apart,
        );
        check_by(
            &format!("fma.{name}.f32 $0, $1, $2, $3;"),
            "ffff",
            &finite,
            |[a, b, c, _]| bits(to_f32(Exact::sum(product(a, b), single(c).into()), mode)),
            zero_apart,
        );
    }
}

#[test]
fn flushing_and_clamping() {
    let all = singles();
    let flushed = |x: f32| if x.is_subnormal() { 0.0_f32.copysign(x) } else { x };
    check_by(
        "add.ftz.f32 $0, $1, $2;",
        "fff",
        &all,
        |[a, b, ..]| bits(flushed(flushed(single(a)) + flushed(single(b)))),
        same32,
    );
    check_by(
        "mul.ftz.f32 $0, $1, $2;",
        "fff",
        &all,
        |[a, b, ..]| bits(flushed(flushed(single(a)) * flushed(single(b)))),
        same32,
    );
    let clamped = |x: f32| if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) };
    check_by(
        "add.sat.f32 $0, $1, $2;",
        "fff",
        &all,
        |[a, b, ..]| bits(clamped(single(a) + single(b)).abs()),
        |a, b| a & 0x7fff_ffff == b,
    );
}

#[test]
fn minima_ignore_nan_and_order_zeros() {
    fn least(a: f32, b: f32) -> f32 {
        match (a.is_nan(), b.is_nan()) {
            (true, _) => b,
            (_, true) => a,
            _ if a.total_cmp(&b).is_le() => a,
            _ => b,
        }
    }
    let all = singles();
    check_by("min.f32 $0, $1, $2;", "fff", &all, |[a, b, ..]| bits(least(single(a), single(b))), same32);
    check_by("max.f32 $0, $1, $2;", "fff", &all, |[a, b, ..]| bits(-least(-single(a), -single(b))), same32);
}

#[test]
fn comparisons_of_singles() {
    let all = singles();
    type Holds = fn(f32, f32) -> bool;
    let ordered: [(&str, Holds); 6] = [
        ("eq", |a, b| a == b),
        ("ne", |a, b| a != b && !a.is_nan() && !b.is_nan()),
        ("lt", |a, b| a < b),
        ("le", |a, b| a <= b),
        ("gt", |a, b| a > b),
        ("ge", |a, b| a >= b),
    ];
    for (name, function) in ordered {
        check(&format!("setp.{name}.f32 $0, $1, $2;"), "pff", &all, |[a, b, ..]| function(single(a), single(b)).into());
        check(&format!("setp.{name}u.f32 $0, $1, $2;"), "pff", &all, |[a, b, ..]| {
            let unordered = single(a).is_nan() || single(b).is_nan();
            u64::from(unordered || function(single(a), single(b)))
        });
    }
    check("setp.nan.f32 $0, $1, $2;", "pff", &all, |[a, b, ..]| u64::from(single(a).is_nan() || single(b).is_nan()));
    check("setp.num.f32 $0, $1, $2;", "pff", &all, |[a, b, ..]| u64::from(!single(a).is_nan() && !single(b).is_nan()));
}

/// Two units in the last place, of numbers just below a power of two.
const TWO_ULPS: f64 = f32::EPSILON as f64;

#[test]
fn special_functions_are_close() {
    let close = |a: u64, b: u64| {
        let (a, b) = (single(a), single(b));
        a == b || (a.is_nan() && b.is_nan()) || (f64::from(a) - f64::from(b)).abs() <= TWO_ULPS * f64::from(b.abs())
    };
    let all: Vec<_> = singles().into_iter().filter(|own| !single(own[0]).is_subnormal()).collect();
    let one = |text: &str, function: fn(f64) -> f64| {
        check_by(text, "ff", &all, |[a, ..]| bits(function(single(a).into()) as f32), close);
    };
    one("ex2.approx.f32 $0, $1;", f64::exp2);
    one("lg2.approx.f32 $0, $1;", f64::log2);
    one("rcp.approx.f32 $0, $1;", |x| 1.0 / x);
    one("sqrt.approx.f32 $0, $1;", f64::sqrt);
    one("rsqrt.approx.f32 $0, $1;", |x| 1.0 / x.sqrt());
    one("tanh.approx.f32 $0, $1;", f64::tanh);
    one("sin.approx.f32 $0, $1;", f64::sin);
    one("cos.approx.f32 $0, $1;", f64::cos);
    check_by("div.full.f32 $0, $1, $2;", "fff", &all, |[a, b, ..]| bits(single(a) / single(b)), close);
    // Flushed to zero before and after.
    assert_eq!(evaluate("ex2.approx.ftz.f32 $0, $1;", "ff", &[[bits(-127.5), 0, 0, 0]]), [0]);
    assert_eq!(evaluate("lg2.approx.ftz.f32 $0, $1;", "ff", &[[bits(1e-40), 0, 0, 0]]), [bits(f32::NEG_INFINITY)]);
}

/// Halves as multiples of 2^-24, or `None` where they are none.
fn whole(half: u64) -> Option<i128> {
    let value = f16::from_bits(half as u16);
    value.is_finite().then(|| (value.to_f64() * f64::from(1 << 24)) as i128)
}

/// The half nearest to a multiple of 2^-48, by a reduction to a double and the sign of what is left.
fn nearest_half(value: i128, otherwise: f64) -> u64 {
    let scale = 2_f64.powi(-48);
    if value == 0 {
        return to_f16(Exact::from(otherwise), Mode::Nearest).into();
    }
    let near = value as f64;
    let rest = value - near as i128;
    to_f16(Exact::sum(near * scale, rest as f64 * scale), Mode::Nearest).into()
}

#[test]
fn halves_round_once() {
    let all = halves();
    let number = |half: u64| f16::from_bits(half as u16).to_f64();
    let two = |text: &str, exact: fn(i128, i128) -> i128, loose: fn(f64, f64) -> f64| {
        check_by(
            text,
            "hhh",
            &all,
            |[a, b, ..]| match (whole(a), whole(b)) {
                (Some(x), Some(y)) => nearest_half(exact(x, y), loose(number(a), number(b))),
                _ => f16::from_f64(loose(number(a), number(b))).to_bits().into(),
            },
            same16,
        );
    };
    two("add.f16 $0, $1, $2;", |a, b| (a + b) << 24, |a, b| a + b);
    two("sub.f16 $0, $1, $2;", |a, b| (a - b) << 24, |a, b| a - b);
    two("mul.f16 $0, $1, $2;", |a, b| a * b, |a, b| a * b);
    check_by(
        "fma.rn.f16 $0, $1, $2, $3;",
        "hhhh",
        &all,
        |[a, b, c, _]| {
            let loose = number(a).mul_add(number(b), number(c));
            match (whole(a), whole(b), whole(c)) {
                (Some(x), Some(y), Some(z)) => nearest_half(x * y + (z << 24), loose),
                _ => f16::from_f64(loose).to_bits().into(),
            }
        },
        same16,
    );
    check_by("neg.f16 $0, $1;", "hh", &all, |[a, ..]| a ^ 0x8000, same16);
    check_by("abs.f16 $0, $1;", "hh", &all, |[a, ..]| a & 0x7fff, same16);
}

#[test]
fn pairs_are_two_halves() {
    let all: Vec<[u64; 4]> = halves().windows(2).map(|w| std::array::from_fn(|i| w[0][i] | w[1][i] << 16)).collect();
    for (name, count) in [("add.f16", 2), ("mul.f16", 2), ("fma.rn.f16", 3)] {
        let list = if count == 2 { "$0, $1, $2;" } else { "$0, $1, $2, $3;" };
        let (narrow, wide) = (&"hhhh"[..=count], &"rrrr"[..=count]);
        let part = |shift: u32| -> Vec<u64> {
            let own: Vec<[u64; 4]> = all.iter().map(|own| own.map(|x| x >> shift & 0xffff)).collect();
            evaluate(&format!("{name} {list}"), narrow, &own)
        };
        let (low, high) = (part(0), part(16));
        let pairs = evaluate(&format!("{name}x2 {list}"), wide, &all);
        for (i, pair) in pairs.into_iter().enumerate() {
            assert_eq!(pair, low[i] | high[i] << 16, "{name}x2 of {:x?}", all[i]);
        }
    }
}

#[test]
fn doubles_are_exact() {
    let edges = [0.0, -0.0, 1.0, -1.5, f64::MAX, 5e-324, f64::INFINITY, f64::NAN].map(f64::to_bits);
    let all = operands(64, &edges);
    let two = |text: &str, function: fn(f64, f64) -> f64| {
        let reference = |[a, b, ..]: [u64; 4]| function(f64::from_bits(a), f64::from_bits(b)).to_bits();
        check_by(text, "ggg", &all, reference, same64);
    };
    two("add.f64 $0, $1, $2;", |a, b| a + b);
    two("sub.f64 $0, $1, $2;", |a, b| a - b);
    two("mul.f64 $0, $1, $2;", |a, b| a * b);
    two("div.rn.f64 $0, $1, $2;", |a, b| a / b);
    check_by(
        "fma.rn.f64 $0, $1, $2, $3;",
        "gggg",
        &all,
        |[a, b, c, _]| f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c)).to_bits(),
        same64,
    );
    check("setp.lt.f64 $0, $1, $2;", "pgg", &all, |[a, b, ..]| u64::from(f64::from_bits(a) < f64::from_bits(b)));
}
