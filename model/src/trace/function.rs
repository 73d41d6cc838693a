//! What instructions make of words: pure functions of one lane.
//!
//! Each takes up to three words and a bit, and gives 33 bits: the word, and above it the carry of a sum, or whether a bit of a
//! logic operation's result is set. `IADD3.X` of `0xffff_ffff`, 1 and 0 with the bit 1 gives 1 and a carry.

/// A function of three words and a bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// `a b + c + bit`.
    Multiply,
    /// `a + b + c + bit`.
    Add,
    /// Each bit by a table of eight.
    Logic(u8),
    /// The pair `c a` shifted by `b`.
    Shift(Shift),
    /// The pair `c a`, or `a` with its sign, to the left by so many, and of that one word `+ b + bit`.
    ShiftAdd {
        /// How far.
        by: u32,
        /// Whether the sign of `a` stands above it.
        signed: bool,
        /// Whether the upper word is added.
        upper: bool,
    },
    /// `a` where the bit is set, else `b`.
    Select,
    /// The lesser of `a` and `b` where the bit is set, else the greater.
    Extreme {
        /// Whether words have signs.
        signed: bool,
    },
    /// Four bytes of the pair `b a`, by the digits of `c`.
    Bytes,
    /// The lowest bits of `a`, the highest of them as a sign.
    Extend {
        /// How many.
        bits: u32,
        /// Whether there is a sign.
        signed: bool,
    },
    /// `a` without its sign.
    Absolute,
    /// The integer `a` as floating point.
    ToFloat {
        /// Whether it has a sign.
        signed: bool,
    },
    /// The floating point number `a` as an integer.
    ToInteger {
        /// Whether that has a sign.
        signed: bool,
    },
    /// One divided by the floating point number `a`.
    Reciprocal,
}

/// How a pair of words is shifted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shift {
    /// To the left.
    pub left: bool,
    /// The upper word is the result.
    pub upper: bool,
    /// With sign.
    pub signed: bool,
    /// The amount wraps at 32, else it stops there.
    pub wraps: bool,
}

impl Function {
    /// Its value: the word, and a bit above it.
    pub fn of(self, a: u32, b: u32, c: u32, bit: u32) -> u64 {
        match self {
            Function::Multiply => a.wrapping_mul(b).wrapping_add(c).wrapping_add(bit).into(),
            Function::Add => sum([a, b, c, bit]),
            Function::Logic(table) => with_any(by_table(table, a, b, c)),
            Function::Shift(shift) => shift.of(pair(c, a), b).into(),
            Function::ShiftAdd { by, signed, upper } => {
                let above = if signed { ((a as i32) >> 31) as u32 } else { c };
                let shifted = pair(above, a) << by.min(63);
                sum([if upper { (shifted >> 32) as u32 } else { shifted as u32 }, b, bit, 0])
            }
            Function::Select => (if bit == 1 { a } else { b }).into(),
            Function::Extreme { signed } => (if is_less(a, b, signed) == (bit == 1) { a } else { b }).into(),
            Function::Bytes => bytes(pair(b, a), c).into(),
            Function::Extend { bits, signed } => extended(a, bits, signed).into(),
            Function::Absolute => (a as i32).unsigned_abs().into(),
            Function::ToFloat { signed } => if signed { a as i32 as f32 } else { a as f32 }.to_bits().into(),
            Function::ToInteger { signed } => to_integer(f32::from_bits(a), signed).into(),
            Function::Reciprocal => (1.0 / f32::from_bits(a)).to_bits().into(),
        }
    }
}

/// Whether one word is less than another.
pub fn is_less(a: u32, b: u32, signed: bool) -> bool {
    if signed { (a as i32) < b as i32 } else { a < b }
}

/// Each bit by a table: bit `4a + 2b + c` of it.
pub fn by_table(table: u8, a: u32, b: u32, c: u32) -> u32 {
    let pick = |word: u32, set: bool| if set { word } else { !word };
    let rows = (0..8).filter(|row| table >> row & 1 == 1);
    rows.fold(0, |all, row| all | pick(a, row & 4 != 0) & pick(b, row & 2 != 0) & pick(c, row & 1 != 0))
}

/// Two words as one.
pub fn pair(upper: u32, lower: u32) -> u64 {
    u64::from(upper) << 32 | u64::from(lower)
}

/// The word of a sum, and whether it carries.
fn sum(words: [u32; 4]) -> u64 {
    let sum: u64 = words.into_iter().map(u64::from).sum();
    sum & u64::from(u32::MAX) | u64::from(sum > u64::from(u32::MAX)) << 32
}

fn with_any(word: u32) -> u64 {
    pair(u32::from(word != 0), word)
}

impl Shift {
    fn of(self, pair: u64, by: u32) -> u32 {
        let by = if self.wraps { by % 32 } else { by.min(32) };
        let upper = (pair >> 32) as u32;
        match (self.left, self.upper) {
            (true, true) => ((pair << by) >> 32) as u32,
            (true, false) => (u64::from(pair as u32) << by) as u32,
            (false, true) if self.signed => (i64::from(upper as i32) >> by) as u32,
            (false, true) => (u64::from(upper) >> by) as u32,
            (false, false) => (pair >> by) as u32,
        }
    }
}

fn extended(word: u32, bits: u32, signed: bool) -> u32 {
    let gap = 32 - bits.min(32);
    match (gap, signed) {
        (32, _) => 0,
        (_, true) => ((word << gap) as i32 >> gap) as u32,
        (_, false) => word << gap >> gap,
    }
}

fn bytes(pair: u64, selector: u32) -> u32 {
    let byte = |i: u32| (pair >> ((selector >> (4 * i) & 7) * 8)) as u32 & 0xff;
    (0..4).fold(0, |word, i| word | byte(i) << (8 * i))
}

fn to_integer(value: f32, signed: bool) -> u32 {
    if signed { value as i32 as u32 } else { value as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_carry_and_logic_says_whether_a_bit_is_set() {
        assert_eq!(Function::Add.of(u32::MAX, 1, 0, 1), 1 << 32 | 1);
        assert_eq!(Function::Add.of(u32::MAX, 0, 0, 0), u64::from(u32::MAX));
        assert_eq!(Function::Logic(0xc0).of(6, 3, 9, 0), 1 << 32 | 2);
        assert_eq!(Function::Logic(0xc0).of(4, 3, 9, 0), 0);
        let table = |table, row: u32| by_table(table, row >> 2, row >> 1, row) & 1;
        for (of, row) in (0..=255).flat_map(|of| (0..8).map(move |row| (of, row))) {
            assert_eq!(table(of, row), u32::from(of) >> row & 1);
        }
    }

    #[test]
    fn shifts_stop_or_wrap_at_the_width_of_a_word() {
        let shift = |left, upper, signed, wraps| Function::Shift(Shift { left, upper, signed, wraps });
        assert_eq!(shift(true, false, false, false).of(1, 32, 0, 0), 0);
        assert_eq!(shift(true, false, false, true).of(1, 33, 0, 0), 2);
        assert_eq!(shift(true, true, false, false).of(1 << 31, 1, 5, 0), 11);
        assert_eq!(shift(false, false, false, false).of(0, 1, 1, 0), 1 << 31);
        assert_eq!(shift(false, true, true, false).of(0, 32, 1 << 31, 0), u64::from(u32::MAX));
        let add = |by, signed, upper| Function::ShiftAdd { by, signed, upper };
        assert_eq!(add(4, false, false).of(3, 1, 0, 0), 49);
        assert_eq!(add(2, true, true).of(u32::MAX, 1, 0, 0), 1 << 32);
    }
}
