//! A labelled map in words: what each input bit moves by.

use super::LinearMap;
use super::space::Space;
use crate::text::Text;

impl LinearMap {
    /// Its bases, as `register (0, 2); lane (0, 1) (1, 0) to axis 0: 2, axis 1: 4` with the extents of the outputs; of
    /// an invalid one, what is wrong.
    pub const fn text(&self) -> Text {
        if let Some(error) = self.fault {
            return Text::new("invalid: ").push(error.text().as_str());
        }
        let (mut text, mut place, mut column) = (Text::new(""), 0, 0);
        while place < self.ins.dims().len() {
            let dim = self.ins.dims()[place];
            text = dim.write(if place > 0 { text.push("; ") } else { text });
            let end = column + self.ins.bits_of(dim);
            while column < end {
                text = coordinates(text.push(" "), &self.outs, self.columns()[column]);
                column += 1;
            }
            place += 1;
        }
        extents(text.push(if place > 0 { " to " } else { "to " }), &self.outs)
    }
}

const fn coordinates(text: Text, space: &Space, index: u32) -> Text {
    let (mut text, mut place) = (text.push("("), 0);
    while place < space.dims().len() {
        text = if place > 0 { text.push(", ") } else { text };
        text = text.number(space.coordinate(index, space.dims()[place]) as usize);
        place += 1;
    }
    text.push(")")
}

const fn extents(mut text: Text, space: &Space) -> Text {
    let mut place = 0;
    while place < space.dims().len() {
        let dim = space.dims()[place];
        text = dim.write(if place > 0 { text.push(", ") } else { text });
        text = text.push(": ").number(1_usize.unbounded_shl(space.bits_of(dim) as u32));
        place += 1;
    }
    if place == 0 { text.push("nothing") } else { text }
}

impl core::fmt::Display for LinearMap {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.text().as_str())
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::linear::Dim::{Axis, Lane, Register, Warp};
    use std::string::ToString;

    #[test]
    fn a_map_is_written_by_its_bases() {
        let map = LinearMap::from_bases(
            &[(Register, &[[0, 2]]), (Lane, &[[0, 1], [1, 0]]), (Warp, &[])],
            [(Axis(0), 1), (Axis(1), 2)],
        );
        assert_eq!(map.to_string(), "register (0, 2); lane (0, 1) (1, 0); warp to axis 0: 2, axis 1: 4");
        assert_eq!(LinearMap::EMPTY.to_string(), "to nothing");
        let invalid = map.squeeze_ins(Lane);
        assert_eq!(invalid.to_string(), "invalid: lane has 2 bits; only a dimension without bits can be dropped");
    }
}
