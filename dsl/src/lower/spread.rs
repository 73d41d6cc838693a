//! Pointers that move together.
//!
//! A tile of pointers that a loop carries has a pointer for each register, but most lie at fixed distances: neighbours in
//! a row at constant ones, rows at multiples of a stride. Where every iteration moves all of them by the same distance,
//! one register carries them all:
//!
//! ```text
//! register    0      1      2               3
//! pointer     p      p + 2  p + 16 stride   p + 16 stride + 2       next: all of them + 64 stride
//! ```
//!
//! Whether it stays so shows at the loop's end: where it doesn't, lowering begins again and carries each by itself.

use super::Lowering;
use super::num::Num;
use super::scalar::Multiple;
use crate::element::DType;
use crate::ptx::{Class, Reg};

/// Where the registers of a tile lie from the first.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Spread {
    stride: Option<Reg>,
    /// Of each register, how many strides and how many bytes.
    places: Vec<(i64, i64)>,
}

impl Lowering<'_> {
    /// The distances between a tile's registers and the register that they are counted from, if there is one for all.
    pub(super) fn spread_of(&self, held: &[Num]) -> Option<(Reg, Spread)> {
        let (mut start, mut stride, mut places) = (None, None, Vec::new());
        for &num in held {
            let Num::Int { base: Some(reg), offset } = num else { return None };
            let (base, times) = match self.multiples.get(&reg) {
                Some(multiple) if *stride.get_or_insert(multiple.stride) != multiple.stride => return None,
                Some(multiple) => (multiple.base, multiple.times),
                None => (reg, 0),
            };
            if base.class != Class::B64 || *start.get_or_insert(base) != base {
                return None;
            }
            places.push((times, offset));
        }
        Some((start?, Spread { stride, places }))
    }

    /// A tile that lies so around another start.
    pub(super) fn spread_from(&mut self, start: Reg, spread: &Spread) -> Vec<Num> {
        let mut moved = Vec::new();
        for &(times, offset) in &spread.places {
            let base = match spread.stride {
                Some(stride) => self.multiple(DType::I64, Multiple { base: start, times, stride }),
                None => start,
            };
            moved.push(Num::Int { base: Some(base), offset });
        }
        moved
    }

    /// The start of a tile that must lie as `spread` says, however far all of it has moved.
    pub(super) fn moved_start(&mut self, spread: &Spread, held: &[Num]) -> Option<Num> {
        let (start, new) = self.spread_of(held)?;
        let (first, own) = (new.places.first()?, spread.places.first()?);
        let by = (first.0 - own.0, first.1 - own.1);
        let together = new.places.iter().zip(&spread.places).all(|(a, b)| (a.0 - b.0, a.1 - b.1) == by);
        if !together || (spread.stride.is_some() && new.stride != spread.stride) {
            return None;
        }
        let base = match new.stride {
            Some(stride) => self.multiple(DType::I64, Multiple { base: start, times: by.0, stride }),
            None => start,
        };
        Some(Num::Int { base: Some(base), offset: by.1 })
    }
}
