//! Conversions.

use half::{bf16, f16};

use crate::harness::{check, check_by, operands};
use crate::rounding::{Exact, MODES, Mode, to_bf16, to_f16, to_f32};

const EDGES: [u64; 8] = [0, 1, 0x7f, 0x80, 0xffff_ffff, 0x8000_0000, 0x7fff_ffff_ffff_ffff, 0x8000_0000_0000_0000];

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// Singles near the halves' ties and limits, and all kinds of others.
fn singles() -> Vec<[u64; 4]> {
    let edges = [0.0_f32, -0.0, 1.0, 2049.0, 2051.0, 65519.9, 65520.0, 1e9, -1e9, 6e-8, 3e-8, 2.9e-8, -1e-40, f32::MAX];
    let mut all = operands(32, &edges.map(|x| x.to_bits().into()));
    let ties = (0..4096_u64).map(|i| 0x3f80_1000 + ((i / 3) << 13) + i % 3);
    all.extend(ties.map(|bits| [bits - 1, 0, 0, 0]));
    all.extend([f32::INFINITY, f32::NEG_INFINITY].map(|x| [x.to_bits().into(), 0, 0, 0]));
    all.retain(|own| !single(own[0]).is_nan());
    all
}

#[test]
fn singles_to_halves() {
    for (name, mode) in MODES {
        check(&format!("cvt.{name}.f16.f32 $0, $1;"), "hf", &singles(), |[a, ..]| {
            to_f16(Exact::from(single(a).into()), mode).into()
        });
        check(&format!("cvt.{name}.bf16.f32 $0, $1;"), "hf", &singles(), |[a, ..]| {
            to_bf16(Exact::from(single(a).into()), mode).into()
        });
    }
    let nan = [[f32::NAN.to_bits().into(), 0, 0, 0]];
    check_by("cvt.rn.f16.f32 $0, $1;", "hf", &nan, |_| 0, |a, _| f16::from_bits(a as u16).is_nan());
}

#[test]
fn doubles_to_narrower_floats() {
    let edges = [0.0, 1.0, -2049.0, 1.0 + 2_f64.powi(-11), 1.0 + 2_f64.powi(-11) + 2_f64.powi(-50), 65520.0, 1e300];
    let mut all = operands(64, &edges.map(f64::to_bits));
    // Just off the ties of singles and of halves.
    for shift in [29, 42] {
        let ties = (0..3000_u64).map(move |i| 0x3ff0_0000_0000_0000 | (i / 3) << shift | 1 << (shift - 1));
        all.extend(ties.zip((0_u64..3).cycle()).map(|(bits, i)| [bits + i - 1, 0, 0, 0]));
    }
    all.retain(|own| !f64::from_bits(own[0]).is_nan());
    for (name, mode) in MODES {
        let exact = |[a, ..]: [u64; 4]| Exact::from(f64::from_bits(a));
        check(&format!("cvt.{name}.f16.f64 $0, $1;"), "hg", &all, |own| to_f16(exact(own), mode).into());
        let same = |a: u64, b: u64| a == b || (single(a) == 0.0 && single(b) == 0.0);
        check_by(
            &format!("cvt.{name}.f32.f64 $0, $1;"),
            "fg",
            &all,
            |own| to_f32(exact(own), mode).to_bits().into(),
            same,
        );
    }
}

#[test]
fn wider_floats_are_exact() {
    let all: Vec<[u64; 4]> = (0..=0xffff).step_by(7).map(|bits| [bits, 0, 0, 0]).collect();
    let same = |a: u64, b: u64| a == b || (single(a).is_nan() && single(b).is_nan());
    check_by("cvt.f32.f16 $0, $1;", "fh", &all, |[a, ..]| f16::from_bits(a as u16).to_f32().to_bits().into(), same);
    check_by("cvt.f32.bf16 $0, $1;", "fh", &all, |[a, ..]| bf16::from_bits(a as u16).to_f32().to_bits().into(), same);
    let finite: Vec<_> = singles();
    check("cvt.f64.f32 $0, $1;", "gf", &finite, |[a, ..]| f64::from(single(a)).to_bits());
}

#[test]
fn floats_to_integers_saturate() {
    let edges = [
        0.0_f32,
        -0.5,
        0.5,
        1.5,
        2.5,
        -2.5,
        127.5,
        128.0,
        -128.5,
        2147483647.0,
        -2147483648.0,
        4294967296.0,
        1e30,
        f32::NAN,
    ];
    let all = operands(32, &edges.map(|x| x.to_bits().into()));
    type Round = fn(f32) -> f32;
    let roundings: [(&str, Round); 4] =
        [("rni", f32::round_ties_even), ("rzi", f32::trunc), ("rmi", f32::floor), ("rpi", f32::ceil)];
    for (name, round) in roundings {
        // Rust's casts saturate, and take NaN to 0, as the hardware does for these.
        let one = |ty: &str, classes: &str, function: fn(f32) -> u64| {
            check(&format!("cvt.{name}.{ty}.f32 $0, $1;"), classes, &all, |[a, ..]| function(round(single(a))));
        };
        one("s32", "rf", |x| (x as i32) as u32 as u64);
        one("u32", "rf", |x| u64::from(x as u32));
        one("u16", "hf", |x| u64::from(x as u16));
        one("s16", "hf", |x| (x as i16) as u16 as u64);
        let same = |a: u64, b: u64| a == b || (single(a).is_nan() && single(b).is_nan());
        check_by(&format!("cvt.{name}.f32.f32 $0, $1;"), "ff", &all, |[a, ..]| round(single(a)).to_bits().into(), same);
    }
}

#[test]
fn integers_to_floats() {
    let (narrow, wide) = (operands(32, &EDGES), operands(64, &EDGES));
    check("cvt.rn.f32.s32 $0, $1;", "fr", &narrow, |[a, ..]| (a as i32 as f32).to_bits().into());
    check("cvt.rn.f32.u32 $0, $1;", "fr", &narrow, |[a, ..]| (a as u32 as f32).to_bits().into());
    check("cvt.rn.f32.u64 $0, $1;", "fd", &wide, |[a, ..]| (a as f32).to_bits().into());
    check("cvt.rn.f32.s64 $0, $1;", "fd", &wide, |[a, ..]| (a as i64 as f32).to_bits().into());
    check("cvt.rn.f64.s64 $0, $1;", "gd", &wide, |[a, ..]| (a as i64 as f64).to_bits());
    check("cvt.rn.f64.s32 $0, $1;", "gr", &narrow, |[a, ..]| f64::from(a as i32).to_bits());
    check("cvt.rz.f32.u32 $0, $1;", "fr", &narrow, |[a, ..]| {
        to_f32(Exact::from(a as f64), Mode::Zero).to_bits().into()
    });
    check("cvt.rn.f16.u32 $0, $1;", "hr", &narrow, |[a, ..]| to_f16(Exact::from(a as f64), Mode::Nearest).into());
    check("cvt.rn.f16.s16 $0, $1;", "hh", &narrow, |[a, ..]| {
        to_f16(Exact::from((a as i16).into()), Mode::Nearest).into()
    });
}

#[test]
fn integers_to_integers() {
    let (narrow, wide) = (operands(32, &EDGES), operands(64, &EDGES));
    check("cvt.u64.u32 $0, $1;", "dr", &narrow, |[a, ..]| a);
    check("cvt.s64.s32 $0, $1;", "dr", &narrow, |[a, ..]| i64::from(a as i32) as u64);
    check("cvt.u32.u64 $0, $1;", "rd", &wide, |[a, ..]| a & 0xffff_ffff);
    check("cvt.u32.u16 $0, $1;", "rh", &narrow, |[a, ..]| a & 0xffff);
    check("cvt.s32.s16 $0, $1;", "rh", &narrow, |[a, ..]| (i32::from(a as i16) as u32).into());
    check("cvt.s32.s8 $0, $1;", "rr", &narrow, |[a, ..]| (i32::from(a as i8) as u32).into());
    check("cvt.u32.u8 $0, $1;", "rr", &narrow, |[a, ..]| a & 0xff);
    check("cvt.u16.u32 $0, $1;", "hr", &narrow, |[a, ..]| a & 0xffff);
    check("cvt.sat.s8.s32 $0, $1;", "rr", &narrow, |[a, ..]| ((a as i32).clamp(-128, 127) as u32).into());
    check("cvt.sat.u8.s32 $0, $1;", "rr", &narrow, |[a, ..]| (a as i32).clamp(0, 255) as u64);
    check("cvt.sat.s32.s64 $0, $1;", "rd", &wide, |[a, ..]| {
        ((a as i64).clamp(i32::MIN.into(), i32::MAX.into()) as i32 as u32).into()
    });
}

#[test]
fn saturated_floats() {
    let clamped = |x: f32| if x.is_nan() { 0.0 } else { x.clamp(0.0, 1.0) };
    let zero_apart = |a: u64, b: u64| a & 0x7fff == b & 0x7fff;
    check_by(
        "cvt.rn.sat.f16.f32 $0, $1;",
        "hf",
        &singles(),
        |[a, ..]| to_f16(Exact::from(clamped(single(a)).into()), Mode::Nearest).into(),
        zero_apart,
    );
}

/// What PTX says of NaN: 0 unless either side has 64 bits, else the highest bit alone.
#[test]
fn nan_as_an_integer_depends_on_the_widths() {
    let (single, double) = ([[f32::NAN.to_bits().into(), 0, 0, 0]], [[f64::NAN.to_bits(), 0, 0, 0]]);
    check_by("cvt.rzi.s32.f32 $0, $1;", "rf", &single, |_| 0, |a, b| a == b);
    check_by("cvt.rzi.s64.f32 $0, $1;", "df", &single, |_| 1 << 63, |a, b| a == b);
    check_by("cvt.rzi.u32.f64 $0, $1;", "rd", &double, |_| 1 << 31, |a, b| a == b);
    check_by("cvt.rzi.u64.f64 $0, $1;", "dd", &double, |_| 1 << 63, |a, b| a == b);
}
