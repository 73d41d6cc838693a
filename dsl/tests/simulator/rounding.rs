//! Rounding by its definition: of the two neighbours in a list of all representable numbers, one is taken.

use std::cmp::Ordering;
use std::sync::LazyLock;

use half::{bf16, f16};

/// A direction of rounding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    Nearest,
    Zero,
    Down,
    Up,
}

pub const MODES: [(&str, Mode); 4] = [("rn", Mode::Nearest), ("rz", Mode::Zero), ("rm", Mode::Down), ("rp", Mode::Up)];

/// The finite numbers of a format from 0 up, and the first that is too large; position `i` has the bits `i`.
struct Format(Vec<f64>);

static F16: LazyLock<Format> = LazyLock::new(|| {
    let finite = (0..0x7c00).map(|bits| f16::from_bits(bits).to_f64());
    Format(finite.chain([65536.0]).collect())
});

static BF16: LazyLock<Format> = LazyLock::new(|| {
    let finite = (0..0x7f80).map(|bits| bf16::from_bits(bits).to_f64());
    Format(finite.chain([2_f64.powi(128)]).collect())
});

/// A number that may lie between two doubles: `value`, and on which side of it the number is.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    value: f64,
    side: Ordering,
}

impl Exact {
    pub fn from(value: f64) -> Self {
        Exact { value, side: Ordering::Equal }
    }

    /// The exact sum of two doubles, whose error is a double too.
    pub fn sum(a: f64, b: f64) -> Self {
        let value = a + b;
        let part = value - a;
        let error = (a - (value - part)) + (b - part);
        Exact { value, side: error.partial_cmp(&0.0).unwrap_or(Ordering::Equal) }
    }

    fn negated(self) -> Self {
        Exact { value: -self.value, side: self.side.reverse() }
    }

    /// How the number compares with a double.
    fn compare(self, other: f64) -> Ordering {
        self.value.partial_cmp(&other).unwrap_or(Ordering::Equal).then(self.side)
    }
}

/// Rounds to the bits of a format whose sign is `sign_bit`.
fn round(format: &Format, exact: Exact, mode: Mode, sign_bit: u16) -> u16 {
    let negative = exact.compare(0.0) == Ordering::Less || (exact.value == 0.0 && exact.value.is_sign_negative());
    let (size, mode) = match (negative, mode) {
        (false, mode) => (exact, mode),
        (true, Mode::Down) => (exact.negated(), Mode::Up),
        (true, Mode::Up) => (exact.negated(), Mode::Down),
        (true, mode) => (exact.negated(), mode),
    };
    let sign = if negative { sign_bit } else { 0 };
    let infinity = format.0.len() - 1;
    if size.value.is_infinite() {
        return sign | infinity as u16;
    }
    let above = format.0.partition_point(|&own| size.compare(own) != Ordering::Less);
    let below = above - 1;
    if size.compare(format.0[below]) == Ordering::Equal && below < infinity {
        return sign | below as u16;
    }
    let taken = match mode {
        Mode::Zero | Mode::Down => below.min(infinity - 1),
        Mode::Up => above.min(infinity),
        Mode::Nearest if below >= infinity => infinity,
        Mode::Nearest => match size.compare((format.0[below] + format.0[above]) / 2.0) {
            Ordering::Less => below,
            Ordering::Greater => above,
            Ordering::Equal => below + below % 2,
        },
    };
    sign | taken as u16
}

pub fn to_f16(exact: Exact, mode: Mode) -> u16 {
    round(&F16, exact, mode, 0x8000)
}

pub fn to_bf16(exact: Exact, mode: Mode) -> u16 {
    round(&BF16, exact, mode, 0x8000)
}

/// Rounds to `f32`: Rust rounds a double to nearest, and from there it is one step at most.
pub fn to_f32(exact: Exact, mode: Mode) -> f32 {
    let near = exact.value as f32;
    let order = exact.compare(near.into());
    let (down, up) = match order {
        Ordering::Equal => (near, near),
        Ordering::Less => (near.next_down(), near),
        Ordering::Greater => (near, near.next_up()),
    };
    let middle = (f64::from(down) + f64::from(up)) / 2.0;
    match mode {
        Mode::Down => down,
        Mode::Up => up,
        Mode::Zero if exact.value > 0.0 => down,
        Mode::Zero => up,
        Mode::Nearest if down.is_infinite() || up.is_infinite() => near,
        Mode::Nearest => match exact.compare(middle) {
            Ordering::Less => down,
            Ordering::Greater => up,
            Ordering::Equal if down.to_bits() % 2 == 0 => down,
            Ordering::Equal => up,
        },
    }
}

#[test]
fn the_definition_knows_ties_and_overflow() {
    let half = |value: f64, mode| to_f16(Exact::from(value), mode);
    assert_eq!(half(2049.0, Mode::Nearest), f16::from_f32(2048.0).to_bits());
    assert_eq!(half(2051.0, Mode::Nearest), f16::from_f32(2052.0).to_bits());
    assert_eq!(half(65519.0, Mode::Nearest), 0x7bff);
    assert_eq!(half(65520.0, Mode::Nearest), 0x7c00);
    assert_eq!(half(1e9, Mode::Zero), 0x7bff);
    assert_eq!(half(-1e9, Mode::Down), 0xfc00);
    assert_eq!(half(-1e-30, Mode::Nearest), 0x8000);
    assert_eq!(half(1e-30, Mode::Up), 1);
    let above_a_tie = Exact::sum(2049.0, 1e-20);
    assert_eq!(to_f16(above_a_tie, Mode::Nearest), f16::from_f32(2050.0).to_bits());
    assert_eq!(to_f32(Exact::sum(1.0, -1e-30), Mode::Zero), 1.0_f32.next_down());
}
