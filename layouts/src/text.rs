//! Text that is put together while Rust compiles.
//!
//! A message of a failed check must be a `&str` before there is any allocation. [`Text`] is a fixed buffer that grows by
//! value: `Text::new("axis ").number(3).push(" of ").number(2)`. What doesn't fit is cut and ends in `...`.

use crate::layout::{Bit, Layout};
use crate::shape::Shape;

/// Bytes that a text can have.
const CAPACITY: usize = 1024;

const ELLIPSIS: &str = "...";

/// A text of bounded length.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; CAPACITY],
    length: usize,
    cut: bool,
}

impl Text {
    /// A text that begins like this.
    pub const fn new(start: &str) -> Text {
        Text { bytes: [0; CAPACITY], length: 0, cut: false }.push(start)
    }

    /// Appends a string.
    pub const fn push(mut self, text: &str) -> Text {
        if self.cut {
            return self;
        }
        let bytes = text.as_bytes();
        let room = CAPACITY - ELLIPSIS.len() - self.length;
        if bytes.len() <= room {
            self.append(bytes);
            return self;
        }
        let mut end = room;
        // Not in the middle of a character.
        while bytes[end] & 0b1100_0000 == 0b1000_0000 {
            end -= 1;
        }
        self.append(bytes.split_at(end).0);
        self.append(ELLIPSIS.as_bytes());
        self.cut = true;
        self
    }

    const fn append(&mut self, bytes: &[u8]) {
        let (_, rest) = self.bytes.split_at_mut(self.length);
        rest.split_at_mut(bytes.len()).0.copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Appends a number.
    pub const fn number(self, number: usize) -> Text {
        let (mut digits, mut first, mut rest) = ([b'0'; 20], 20, number);
        loop {
            first -= 1;
            digits[first] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        match core::str::from_utf8(digits.split_at(first).1) {
            Ok(digits) => self.push(digits),
            Err(_) => self,
        }
    }

    /// Appends a number with its sign.
    pub const fn number_signed(self, number: i64) -> Text {
        let text = if number < 0 { self.push("-") } else { self };
        text.number(number.unsigned_abs() as usize)
    }

    /// Appends extents: `[64, 32]`.
    pub const fn shape(self, shape: &Shape) -> Text {
        let (extents, rank) = shape.extents();
        self.push("[").list(extents.split_at(rank).0).push("]")
    }

    /// Appends the coordinates of an element of a shape: `(0, 8)`.
    pub const fn element(self, element: u32, shape: &Shape) -> Text {
        let (mut coordinates, rank) = shape.extents();
        let mut dim = 0;
        while dim < rank {
            coordinates[dim] = shape.coordinate(element, dim);
            dim += 1;
        }
        self.push("(").list(coordinates.split_at(rank).0).push(")")
    }

    const fn list(mut self, numbers: &[usize]) -> Text {
        let mut i = 0;
        while i < numbers.len() {
            self = if i > 0 { self.push(", ") } else { self };
            self = self.number(numbers[i]);
            i += 1;
        }
        self
    }

    /// Appends a layout: `[2, 32]: registers (1, 0); lanes (0, 1) (0, 2) (0, 4) (0, 8) (0, 16)`; of an invalid one, what
    /// is wrong.
    pub const fn layout(mut self, layout: &Layout) -> Text {
        if let Some(error) = layout.fault() {
            return self.push("invalid: ").push(error.text().as_str());
        }
        let shape = layout.shape();
        self = self.shape(&shape).push(":");
        let (columns, mut i) = (layout.columns(), 0);
        while i < columns.len() {
            self = match layout.bit(i) {
                Bit::Register(0) => self.push(" registers"),
                Bit::Lane(0) if i == 0 => self.push(" lanes"),
                Bit::Lane(0) => self.push("; lanes"),
                Bit::Warp(0) => self.push("; warps"),
                _ => self,
            };
            self = self.push(" ").element(columns[i], &shape);
            i += 1;
        }
        self
    }

    /// Appends what first differs between two layouts: `lane bit 3 moves by (0, 8) here and by (8, 0) there`.
    pub const fn difference(self, here: &Layout, there: &Layout) -> Text {
        if !here.shape().equals(&there.shape()) {
            return self
                .push("the shape is ")
                .shape(&here.shape())
                .push(" here and ")
                .shape(&there.shape())
                .push(" there");
        }
        match here.difference(there) {
            None => self.push("nothing"),
            Some(difference) => difference.write(self),
        }
    }

    /// The text.
    pub const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.length).0) {
            Ok(text) => text,
            Err(_) => "",
        }
    }
}

impl core::fmt::Display for Text {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.as_str())
    }
}

impl core::fmt::Debug for Text {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        core::fmt::Debug::fmt(self.as_str(), f)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::named::blocked;
    use std::string::ToString;

    #[test]
    fn numbers_have_their_digits() {
        for number in [0, 7, 10, 1234567890, usize::MAX] {
            assert_eq!(Text::new("").number(number).as_str(), number.to_string());
        }
        for number in [0, -1, i64::MIN, i64::MAX] {
            assert_eq!(Text::new("").number_signed(number).as_str(), number.to_string());
        }
    }

    #[test]
    fn what_does_not_fit_is_cut_between_characters() {
        let long = "ä".repeat(CAPACITY);
        let text = Text::new("x").push(&long).push("more").number(3);
        assert!(text.as_str().starts_with("xää") && text.as_str().ends_with("ä..."));
        assert!(text.as_str().len() > CAPACITY - 3);
        let full = Text::new(&"y".repeat(CAPACITY - 3));
        assert_eq!(full.as_str().len(), CAPACITY - 3);
        assert!(full.push("").as_str().ends_with("yy") && full.push("z").as_str().ends_with("yy..."));
    }

    #[test]
    fn a_layout_is_written_by_its_bases() {
        let layout = blocked([4, 32], [1, 1], [1, 32], [2, 1], [1, 0]);
        let bases = "registers (2, 0); lanes (0, 1) (0, 2) (0, 4) (0, 8) (0, 16); warps (1, 0)";
        assert_eq!(Text::new("").layout(&layout).as_str(), ["[4, 32]: ", bases].concat());
        let invalid = blocked([3], [1], [32], [1], [0]);
        assert!(Text::new("").layout(&invalid).as_str().starts_with("invalid: extent 3"));
    }

    #[test]
    fn the_first_difference_is_named() {
        let row = blocked([32, 32], [1, 1], [8, 4], [1, 1], [1, 0]);
        let column = blocked([32, 32], [1, 1], [8, 4], [1, 1], [0, 1]);
        let text = |a: &Layout, b: &Layout| Text::new("").difference(a, b).to_string();
        assert_eq!(text(&row, &column), "lane bit 0 moves by (0, 1) here and by (1, 0) there");
        assert_eq!(text(&row, &row), "nothing");
        assert_eq!(text(&row, &row.slice(0)), "the shape is [32, 32] here and [32] there");
        let more = blocked([32, 32], [1, 1], [8, 4], [2, 1], [1, 0]);
        assert_eq!(text(&row, &more), "warp bit 0 does not exist here and moves by (8, 0) there");
    }
}
