//! The same bytes seen as other elements.
//!
//! A view can be reinterpreted where its elements fill one block of the memory: 2^n elements from a multiple of 2^n on.
//! The block of 64 elements of 4 bytes from element 192 on, say, holds 128 elements of 2 bytes from element 384 on, in
//! whatever layout. A block starts at a multiple of its own bytes; a layout that wants more than the memory's alignment is
//! refused.

use super::SharedLayout;
use crate::error::Error;

impl SharedLayout {
    /// The first offset of the block that the view's elements fill, and how many the block has, if they fill one.
    /// Memory with gaps is one block as a whole.
    const fn block(&self) -> Option<(u32, u32)> {
        let (mut reached, mut i) = (0, 0);
        while i < self.shape.bits() {
            reached |= self.columns[i];
            i += 1;
        }
        let length = self.shape.len() as u32;
        if reached >= length {
            None
        } else if !self.is_padded() {
            Some((self.constant & !(length - 1), length))
        } else if length == self.linear_size {
            Some((0, self.size()))
        } else {
            None
        }
    }

    /// The view, of elements of `bytes` bytes, seen as elements of `to_bytes` bytes in the layout `to`.
    ///
    /// ```
    /// use quadpair_layouts::row_major;
    /// let words = row_major([4, 64]).slice(0, 3, 1);
    /// let halves = words.reinterpret(4, &row_major([128]), 2);
    /// assert_eq!((halves.offset(0), halves.size()), (384, 512));
    /// ```
    ///
    /// Invalid if the view's elements don't fill one block, `to` takes more bytes than they do or wants a larger alignment
    /// than the memory has, or elements have no power of two of bytes.
    pub const fn reinterpret(&self, bytes: u32, to: &SharedLayout, to_bytes: u32) -> SharedLayout {
        if self.fault.is_some() || to.fault.is_some() {
            return if self.fault.is_some() { *self } else { *to };
        }
        let (sizes, mut i) = ([bytes, to_bytes], 0);
        while i < sizes.len() {
            if !sizes[i].is_power_of_two() || sizes[i] > 16 {
                return self.failed(Error::Parameter { name: "the bytes of an element", value: sizes[i] as usize });
            }
            i += 1;
        }
        if to.alignment > self.alignment {
            return self.failed(Error::LessAligned { wanted: 1 << to.alignment, bytes: 1 << self.alignment });
        }
        let (start, length) = match self.block() {
            // Gaps are counted from the start of the memory.
            Some((start, length)) if start == 0 || !to.is_padded() => (start, length),
            _ => return self.failed(Error::NoBlock),
        };
        let (wanted, own) = (to.size() * to_bytes, length * bytes);
        if wanted > own {
            return self.failed(Error::Footprint { wanted: wanted as usize, bytes: own as usize });
        }
        let whole = self.linear_size * bytes / to_bytes;
        let linear_size = if to.is_padded() || whole < to.linear_size { to.linear_size } else { whole };
        SharedLayout {
            constant: to.constant ^ (start * bytes / to_bytes),
            linear_size,
            alignment: self.alignment,
            ..*to
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::{padded, row_major, swizzled};

    #[test]
    fn elements_lie_in_the_views_bytes() {
        let view = swizzled([4, 8, 32], 8, 1, 4, [2, 1, 0]).slice(0, 2, 1);
        let to = swizzled([16, 8], 2, 1, 4, [1, 0]);
        let (wide, narrow) = (view.reinterpret(2, &to, 4), view.reinterpret(2, &to, 1));
        for element in 0..128 {
            assert_eq!(wide.offset(element) * 4, 2 * 256 * 2 + to.offset(element) * 4);
            assert_eq!(narrow.offset(element), 2 * 256 * 2 + to.offset(element));
        }
        assert_eq!((wide.size(), narrow.size(), wide.shape()), (512, 2048, to.shape()));
    }

    #[test]
    fn gaps_lie_between_whole_memories() {
        let gaps = padded([32, 32], &[(32, 4)], [1, 0]);
        let whole = gaps.reinterpret(2, &row_major([32, 16]), 4);
        assert_eq!((whole.offset(17), whole.fault()), (17, None));
        assert_eq!(gaps.slice(0, 0, 16).reinterpret(2, &row_major([64]), 2).fault(), Some(Error::NoBlock));
        let memory = row_major([4, 512]);
        assert_eq!(memory.reinterpret(2, &gaps, 2).offset(64), gaps.offset(64));
        assert_eq!(memory.slice(0, 1, 1).reinterpret(4, &gaps.slice(0, 0, 8), 2).fault(), Some(Error::NoBlock));
    }

    #[test]
    fn what_cannot_be_reinterpreted_is_named() {
        let memory = row_major([8, 32]);
        let fault = |layout: SharedLayout| layout.fault();
        let to = row_major([128]);
        assert_eq!(fault(memory.slice(1, 0, 16).reinterpret(2, &to, 2)), Some(Error::NoBlock));
        assert_eq!(
            fault(memory.slice(0, 4, 4).reinterpret(2, &to, 4)),
            Some(Error::Footprint { wanted: 512, bytes: 256 })
        );
        assert_eq!(fault(memory.slice(0, 4, 4).reinterpret(2, &to, 2)), None);
        assert_eq!(fault(memory.reinterpret(2, &to.slice(1, 0, 1), 2)), Some(Error::Axis { axis: 1, rank: 1 }));
    }
}
