//! Operands as they are written: registers, predicates, constants, addresses.
//!
//! `-R5.reuse` is register 5 negated (`reuse` is a hint), `c[0x0][0x168]` a word of the parameters' bank, `[R2.X4+-0x10]` the
//! address 4 * R2 - 16. What isn't an integer, such as `8.5` or `|R3|`, is read as 0 or as its bits: nothing follows it.

use std::collections::HashMap;

/// A predicate register, and whether it's negated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Predicate {
    /// Its number; [`TRUE`] for the one that is always true.
    pub number: usize,
    /// Whether its opposite counts.
    pub negated: bool,
}

/// The number of the predicate that is always true.
pub const TRUE: usize = 7;

impl Predicate {
    /// What is always true.
    pub const ALWAYS: Predicate = Predicate { number: TRUE, negated: false };

    /// A predicate as it's written: `P0`, `!P3`, `PT`.
    pub fn read(text: &str) -> Option<Self> {
        let (negated, name) = text.strip_prefix('!').map_or((false, text), |name| (true, name));
        let number = match name.strip_prefix('P')? {
            "T" => TRUE,
            digit => digit.parse().ok().filter(|number| *number < TRUE)?,
        };
        Some(Self { number, negated })
    }
}

/// An integer source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// A register, or a value.
    pub from: Origin,
    /// Whether it's negated.
    pub negated: bool,
    /// Whether its bits are inverted.
    pub inverted: bool,
}

/// Where a source comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A register; of 64 bits, the next has the upper word.
    Register(u8),
    /// The lower and the upper word of a value.
    Value(u32, u32),
}

/// The register that is written, unless the result is thrown away.
pub type Target = Option<u8>;

/// A register as it's written; `None` for `RZ`, which is 0 and can't be written, and for anything else.
pub fn register(text: &str) -> Target {
    let name = text.trim_matches(['-', '~', '|']).split('.').next()?;
    name.strip_prefix('R')?.parse().ok().filter(|number| *number < u8::MAX)
}

/// The words of the parameters' bank by address.
pub type Constants = HashMap<u32, u32>;

impl Source {
    /// Zero.
    pub const ZERO: Source = Source { from: Origin::Value(0, 0), negated: false, inverted: false };

    /// A source as it's written.
    pub fn read(text: &str, constants: &Constants) -> Self {
        let bare = text.trim_matches(['-', '~', '|']);
        let from = match (register(text), constant(bare)) {
            (Some(number), _) => Origin::Register(number),
            (_, Some(at)) => Origin::Value(word(constants, at), word(constants, at + 4)),
            _ => Origin::Value(hexadecimal(bare).unwrap_or(0), 0),
        };
        Self { from, negated: text.starts_with('-'), inverted: text.starts_with('~') }
    }
}

fn word(constants: &Constants, at: u32) -> u32 {
    constants.get(&at).copied().unwrap_or(0)
}

/// The address of a word in the parameters' bank, which is bank 0.
fn constant(text: &str) -> Option<u32> {
    hexadecimal(text.strip_prefix("c[0x0][")?.split(']').next()?)
}

/// A hexadecimal number, without what may follow after a point.
pub fn hexadecimal(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x")?.split('.').next()?, 16).ok()
}

/// The address of a shared access.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Address {
    /// Registers and the factors that they count.
    pub registers: Vec<(u8, u32)>,
    /// What is added.
    pub offset: u32,
}

impl Address {
    /// An address as it's written, in brackets.
    pub fn read(text: &str) -> Option<Self> {
        let mut address = Self::default();
        for part in text.strip_prefix('[')?.strip_suffix(']')?.split('+') {
            let (negative, bare) = part.strip_prefix('-').map_or((false, part), |bare| (true, bare));
            let (_, factor) = bare.split_once(".X").unwrap_or((bare, "1"));
            match (register(bare), hexadecimal(bare)) {
                (Some(number), _) => address.registers.push((number, factor.parse().ok()?)),
                (_, Some(value)) if negative => address.offset = address.offset.wrapping_sub(value),
                (_, value) => address.offset = address.offset.wrapping_add(value.unwrap_or(0)),
            }
        }
        Some(address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_as_they_are_written() {
        let constants = Constants::from([(0x160, 7), (0x164, 9)]);
        let read = |text| Source::read(text, &constants);
        let plain = |from| Source { from, negated: false, inverted: false };
        assert_eq!(read("R5.reuse"), plain(Origin::Register(5)));
        assert_eq!(read("-R70"), Source { negated: true, ..plain(Origin::Register(70)) });
        assert_eq!(read("~R3"), Source { inverted: true, ..plain(Origin::Register(3)) });
        assert_eq!(read("c[0x0][0x160]"), plain(Origin::Value(7, 9)));
        assert_eq!(read("-c[0x0][0x164]"), Source { negated: true, ..plain(Origin::Value(9, 0)) });
        assert_eq!(read("-0x20"), Source { negated: true, ..plain(Origin::Value(32, 0)) });
        for zero in ["RZ", "c[0x2][0x0]", "8.5", "-INF", ""] {
            assert_eq!(read(zero).from, Origin::Value(0, 0), "{zero}");
        }
    }

    #[test]
    fn predicates_and_addresses_too() {
        assert_eq!(Predicate::read("!P3"), Some(Predicate { number: 3, negated: true }));
        assert_eq!(Predicate::read("PT"), Some(Predicate::ALWAYS));
        assert_eq!((Predicate::read("P7"), Predicate::read("R1"), Predicate::read("PR")), (None, None, None));
        let address = |registers: &[(u8, u32)], offset| Some(Address { registers: registers.to_vec(), offset });
        assert_eq!(Address::read("[R2.X4+0x10]"), address(&[(2, 4)], 16));
        assert_eq!(Address::read("[R2+-0x10]"), address(&[(2, 1)], 0xffff_fff0));
        assert_eq!(Address::read("[0x40]"), address(&[], 64));
        assert_eq!(Address::read("[RZ]"), address(&[], 0));
        assert_eq!(Address::read("R2"), None);
    }
}
