//! What first differs between two layouts, for messages.
//!
//! Lanes are compared first, then warps, then registers: a lane that holds another element is what makes a conversion
//! cost something, so it is what an author wants to hear of.

use crate::error::PackedShape;
use crate::layout::{Bit, LANE_BITS, Layout};
use crate::text::Text;

/// The first bit at which two layouts of one shape differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Difference {
    bit: Bit,
    here: Option<u32>,
    there: Option<u32>,
    shape: PackedShape,
}

impl Difference {
    pub(crate) const fn between(here: &Layout, there: &Layout) -> Option<Difference> {
        let most = (if here.bits() > there.bits() { here.bits() } else { there.bits() }) as u8;
        let (mut kind, mut i) = (0, 0);
        while kind < 3 {
            let bit = match kind {
                0 => Bit::Lane(i),
                1 => Bit::Warp(i),
                _ => Bit::Register(i),
            };
            let (left, right) = (basis(here, bit), basis(there, bit));
            if !same(left, right) {
                let shape = PackedShape::of(&here.shape());
                return Some(Difference { bit, here: left, there: right, shape });
            }
            i += 1;
            if i == most {
                i = 0;
                kind += 1;
            }
        }
        None
    }

    /// Which bit it is.
    pub const fn bit(&self) -> Bit {
        self.bit
    }

    pub(crate) const fn write(&self, text: Text) -> Text {
        let text = self.bit.write(text);
        let text = self.move_of(text, self.here).push(" here and");
        let text = match (self.here, self.there) {
            (Some(1..), Some(there @ 1..)) => text.push(" by ").element(there, &self.shape.shape()),
            _ => self.move_of(text, self.there),
        };
        text.push(" there")
    }

    const fn move_of(&self, text: Text, basis: Option<u32>) -> Text {
        match basis {
            None => text.push(" does not exist"),
            Some(0) => text.push(" moves nothing"),
            Some(basis) => text.push(" moves by ").element(basis, &self.shape.shape()),
        }
    }
}

const fn basis(layout: &Layout, bit: Bit) -> Option<u32> {
    match bit {
        Bit::Register(i) if (i as usize) < layout.register_bits() => Some(layout.register_basis(i as usize)),
        Bit::Lane(i) if (i as usize) < LANE_BITS => Some(layout.lane_basis(i as usize)),
        Bit::Warp(i) if (i as usize) < layout.warp_bits() => Some(layout.warp_basis(i as usize)),
        _ => None,
    }
}

const fn same(a: Option<u32>, b: Option<u32>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a == b,
        _ => false,
    }
}

/// What first differs between two layouts, in words: `lane bit 3 moves by (0, 8) here and by (8, 0) there`.
pub const fn difference(here: &Layout, there: &Layout) -> Text {
    Text::new("").difference(here, there)
}
