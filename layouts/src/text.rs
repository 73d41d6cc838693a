//! Text that is put together while Rust compiles.
//!
//! A message of a failed check must be a `&str` before there is any allocation. [`Text`] is a fixed buffer that grows by
//! value: `Text::new("axis ").number(3).push(" of ").number(2)`. What doesn't fit is cut and ends in `...`.

use crate::layout::Layout;
use crate::shape::Shape;

/// Bytes that a text can have.
const CAPACITY: usize = 1024;

/// A text of bounded length.
#[derive(Clone, Copy)]
pub struct Text {
    bytes: [u8; CAPACITY],
    length: usize,
}

impl Text {
    /// A text that begins like this.
    pub const fn new(start: &str) -> Text {
        Text { bytes: [0; CAPACITY], length: 0 }.push(start)
    }

    /// Appends a string.
    pub const fn push(mut self, text: &str) -> Text {
        let text = text.as_bytes();
        let mut i = 0;
        while i < text.len() {
            self.byte(text[i]);
            i += 1;
        }
        self
    }

    const fn byte(&mut self, byte: u8) {
        if self.length < CAPACITY - 3 {
            self.bytes[self.length] = if byte < 128 { byte } else { b'?' };
            self.length += 1;
        } else {
            while self.length < CAPACITY {
                self.bytes[self.length] = b'.';
                self.length += 1;
            }
        }
    }

    /// Appends a number.
    pub const fn number(mut self, number: usize) -> Text {
        let mut unit = 1;
        while number / unit >= 10 {
            unit *= 10;
        }
        while unit > 0 {
            self.byte(b'0' + (number / unit % 10) as u8);
            unit /= 10;
        }
        self
    }

    /// Appends a number with its sign.
    pub const fn number_signed(self, number: i64) -> Text {
        let text = if number < 0 { self.push("-") } else { self };
        text.number(number.unsigned_abs() as usize)
    }

    /// Appends extents: `[64, 32]`.
    pub const fn shape(mut self, shape: &Shape) -> Text {
        self = self.push("[");
        let mut dim = 0;
        while dim < shape.rank() {
            if dim > 0 {
                self = self.push(", ");
            }
            self = self.number(shape.extent(dim));
            dim += 1;
        }
        self.push("]")
    }

    /// Appends the coordinates of an element of a shape: `(0, 8)`.
    pub const fn element(mut self, element: u32, shape: &Shape) -> Text {
        self = self.push("(");
        let mut dim = 0;
        while dim < shape.rank() {
            if dim > 0 {
                self = self.push(", ");
            }
            self = self.number(shape.coordinate(element, dim));
            dim += 1;
        }
        self.push(")")
    }

    /// Appends what first differs between two layouts of one shape: `lane bit 3 moves by (0, 8) here, by (8, 0) there`.
    pub const fn difference(self, here: &Layout, there: &Layout) -> Text {
        match here.difference(there) {
            None => self.push("nothing"),
            Some(difference) => difference.write(self),
        }
    }

    /// The text.
    pub const fn as_str(&self) -> &str {
        let (text, _) = self.bytes.split_at(self.length);
        match core::str::from_utf8(text) {
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
        write!(f, "{:?}", self.as_str())
    }
}
