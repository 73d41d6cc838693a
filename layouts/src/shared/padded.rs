//! Padding: gaps between the elements of a shared layout.
//!
//! After each interval of elements some places stay empty, so that columns of a matrix lie in different banks. With 32
//! floats a row and a gap of 1 after 32, element (r, c) lies at 33 r + c, and a column in 32 banks. A gap is no XOR, so it
//! comes last: a linear map gives an offset without gaps, and
//!
//! ```text
//! offset with gaps = offset + (offset / interval) * padding, summed over all pairs
//! ```
//!
//! Intervals and paddings are powers of two, so that this is made of shifts: with an interval of 32 and a padding of 1,
//! offset 70 = `10 00110` has `10` = 2 gaps before it and becomes 72. Where two offsets have no bit in common, the gaps of
//! their sum are the sum of their gaps; that is why the parts of an address that threads and registers decide can be
//! padded one by one, and why views of padded memory are views like all others.

use super::SharedLayout;
use crate::error::Error;
use crate::shape::MAX_SHAPE_BITS;

/// The most pairs of an interval and a padding.
pub const MAX_PADDINGS: usize = 4;

/// The most elements and gaps of an allocation.
const MOST_PLACES: u64 = 1 << 27;

/// Gaps between elements: up to [`MAX_PADDINGS`] pairs of an interval and a padding, by growing interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Padding {
    /// The binary logarithms of the pairs.
    pairs: [(u8, u8); MAX_PADDINGS],
    count: u8,
}

impl Padding {
    pub const NONE: Padding = Padding { pairs: [(0, 0); MAX_PADDINGS], count: 0 };

    /// Whether both have the same pairs in the same order; unused places are zero in both.
    pub const fn equals(&self, other: &Padding) -> bool {
        let (mut same, mut i) = (self.count == other.count, 0);
        while i < MAX_PADDINGS {
            same = same && self.pairs[i].0 == other.pairs[i].0 && self.pairs[i].1 == other.pairs[i].1;
            i += 1;
        }
        same
    }

    const fn new(pairs: &[(usize, usize)]) -> Result<Padding, Error> {
        let (mut padding, mut i) = (Padding::NONE, 0);
        if pairs.len() > MAX_PADDINGS {
            return Err(Error::Paddings { pairs: pairs.len() });
        }
        while i < pairs.len() {
            let (interval, gap) = pairs[i];
            if let Some(error) = power("the interval of a padding", interval) {
                return Err(error);
            }
            if let Some(error) = power("a padding", gap) {
                return Err(error);
            }
            if padding.has(interval.trailing_zeros() as u8) {
                return Err(Error::RepeatedInterval { interval });
            }
            padding.insert((interval.trailing_zeros() as u8, gap.trailing_zeros() as u8));
            i += 1;
        }
        Ok(padding)
    }

    const fn has(&self, interval: u8) -> bool {
        let (mut has, mut i) = (false, 0);
        while i < self.count as usize {
            has = has || self.pairs[i].0 == interval;
            i += 1;
        }
        has
    }

    const fn insert(&mut self, pair: (u8, u8)) {
        let mut i = self.count as usize;
        while i > 0 && self.pairs[i - 1].0 > pair.0 {
            self.pairs[i] = self.pairs[i - 1];
            i -= 1;
        }
        self.pairs[i] = pair;
        self.count += 1;
    }

    /// An offset with the gaps before it.
    const fn apply(&self, offset: u32) -> u32 {
        let (mut sum, mut i) = (offset, 0);
        while i < self.count as usize {
            let (interval, gap) = self.pairs[i];
            sum = sum.wrapping_add(offset >> interval << gap);
            i += 1;
        }
        sum
    }

    /// Whether elements that lie in aligned groups of `width` still do, all else moving by sums of `moved`'s bits.
    const fn keeps(&self, width: u32, moved: u32) -> bool {
        let (mut keeps, mut i) = (true, 0);
        while i < self.count as usize {
            let (interval, gap) = self.pairs[i];
            keeps = keeps && width <= 1 << interval && (moved >> interval << gap).is_multiple_of(width);
            i += 1;
        }
        keeps
    }
}

/// What is wrong with a power of two, if anything.
const fn power(name: &'static str, value: usize) -> Option<Error> {
    if !value.is_power_of_two() {
        Some(Error::Parameter { name, value })
    } else if value > 1 << MAX_SHAPE_BITS {
        Some(Error::TooLarge { name, value })
    } else {
        None
    }
}

/// The dimensions of `order` from the fastest, with `padding` empty places after each `interval` elements, for each pair
/// `(interval, padding)`.
///
/// ```
/// use quadpair_layouts::{banks, blocked, padded};
/// let memory = padded([32, 32], &[(32, 1)], [1, 0]);
/// assert_eq!((memory.offset(memory.shape().flat(&[3, 5])), memory.size()), (3 * 33 + 5, 32 * 33 - 1));
/// // A warp reads a column in one wavefront.
/// let column = blocked([32, 1], [1, 1], [32, 1], [1, 1], [1, 0]);
/// assert_eq!(banks::load(&column, &memory.slice(1, 7, 1), 32).wavefronts, 1);
/// ```
///
/// Invalid if there are more than [`MAX_PADDINGS`] pairs, two of one interval, a number that is no power of two, or
/// `order` isn't an order of the dimensions.
pub const fn padded<const N: usize>(shape: [usize; N], pairs: &[(usize, usize)], order: [usize; N]) -> SharedLayout {
    super::swizzled(shape, 1, 1, 1, order).with_padding(pairs)
}

impl SharedLayout {
    /// With `padding` empty places after each `interval` elements in the order of their offsets, for each pair
    /// `(interval, padding)`.
    ///
    /// ```
    /// use quadpair_layouts::shared_linear;
    /// let memory = shared_linear([8], &[[2], [4], [1]]).with_padding(&[(4, 2)]);
    /// assert_eq!([0, 2, 4, 6, 1, 3, 5, 7].map(|i| memory.offset(i)), [0, 1, 2, 3, 6, 7, 8, 9]);
    /// ```
    ///
    /// Invalid if this is padded already, there are more than [`MAX_PADDINGS`] pairs, two of one interval, or a number
    /// that is no power of two.
    pub const fn with_padding(mut self, pairs: &[(usize, usize)]) -> SharedLayout {
        if self.is_padded() {
            return self.failed(Error::Padding { op: "padding" });
        }
        self.padding = match Padding::new(pairs) {
            Ok(padding) => padding,
            Err(error) => return self.failed(error),
        };
        let end = self.linear_size as u64 * (1 + self.largest_growth());
        if end > MOST_PLACES {
            return self.failed(Error::TooLarge { name: "memory with its padding", value: end as usize });
        }
        self
    }

    /// How much longer gaps make memory, at most, as a multiple of the elements.
    const fn largest_growth(&self) -> u64 {
        let (mut growth, mut i) = (0, 0);
        while i < self.padding.count as usize {
            growth += 1_u64 << self.padding.pairs[i].1;
            i += 1;
        }
        growth
    }

    /// Whether there are gaps between elements.
    pub const fn is_padded(&self) -> bool {
        self.padding.count > 0
    }

    /// An offset with the gaps before it: of a [linear offset](SharedLayout::linear_offset), or a part of one that has no
    /// bit in common with the others.
    pub const fn with_gaps(&self, offset: u32) -> u32 {
        self.padding.apply(offset)
    }

    /// The pairs of an interval and a padding, both as shifts: what `offset >> interval << padding` is summed over.
    pub const fn gap_shifts(&self) -> &[(u8, u8)] {
        self.padding.pairs.split_at(self.padding.count as usize).0
    }

    /// Whether aligned groups of `width` elements stay side by side and aligned among gaps, where everything else moves by
    /// sums of `moved`'s bits.
    pub(crate) const fn gaps_keep(&self, width: u32, moved: u32) -> bool {
        self.padding.keeps(width, moved)
    }
}

impl SharedLayout {
    /// Elements of the whole allocation, up to the last one; gaps included.
    pub const fn size(&self) -> u32 {
        self.padding.apply(self.linear_size - 1) + 1
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::shared::{row_major, swizzled};
    use std::collections::HashSet;
    use std::vec::Vec;

    const PAIRS: [(usize, usize); 3] = [(64, 8), (4, 2), (16, 1)];

    /// Places one after the other, gaps counted one by one.
    fn places(count: u32) -> Vec<u32> {
        let (mut next, mut places) = (0, Vec::new());
        for i in 0..count {
            if i > 0 {
                next += PAIRS
                    .iter()
                    .filter(|(interval, _)| i % *interval as u32 == 0)
                    .map(|(_, gap)| *gap as u32)
                    .sum::<u32>();
            }
            places.push(next);
            next += 1;
        }
        places
    }

    #[test]
    fn gaps_come_after_their_intervals() {
        let memory = padded([8, 32], &PAIRS, [0, 1]).check().unwrap();
        let places = places(256);
        for (i, j) in (0..256).map(|n| (n / 32, n % 32)) {
            assert_eq!(memory.offset(memory.shape().flat(&[i, j])), places[j * 8 + i]);
        }
        assert_eq!(memory.size(), places[255] + 1);
        assert!(padded([8, 32], &[(4, 2), (16, 1), (64, 8)], [0, 1]) == memory);
    }

    #[test]
    fn views_of_padded_memory_have_the_offsets_of_the_whole() {
        let whole = swizzled([4, 16, 8], 2, 1, 4, [2, 1, 0]).with_padding(&PAIRS).check().unwrap();
        let at = |i, j, k| whole.offset(whole.shape().flat(&[i, j, k]));
        let slice = whole.slice(1, 8, 4).slice(2, 4, 2);
        let (permuted, flat) = (slice.permute([2, 0, 1]), slice.reshape([4, 8]));
        for (i, j, k) in (0..32).map(|n| (n / 8, n / 2 % 4, n % 2)) {
            let expected = at(i, 8 + j, 4 + k);
            assert_eq!(slice.offset(slice.shape().flat(&[i, j, k])), expected);
            assert_eq!(permuted.offset(permuted.shape().flat(&[k, i, j])), expected);
            assert_eq!(flat.offset(flat.shape().flat(&[i, j * 2 + k])), expected);
        }
        assert_eq!(slice.size(), whole.size());
    }

    #[test]
    fn an_index_has_a_stride_unless_an_interval_ends_among_its_bits() {
        for pairs in [&[(128, 8)][..], &[(32, 4)], &[(1024, 1)], &[(8, 2), (128, 4)]] {
            let whole = padded([4, 16, 8], pairs, [2, 1, 0]);
            let (stride, one) = (whole.index_stride().unwrap(), whole.without_dim0());
            for (i, rest) in (0..512).map(|n| (n / 128, n % 128)) {
                assert_eq!(whole.offset(i * 128 + rest), i * stride + one.offset(rest));
            }
        }
        let crossed = padded([4, 16, 8], &[(256, 8)], [2, 1, 0]);
        assert_eq!(crossed.index_stride(), Err(Error::IndexStride { extent: 4 }));
    }

    #[test]
    fn every_element_has_a_place_of_its_own() {
        let memory = padded([16, 16], &PAIRS, [1, 0]);
        let offsets: HashSet<u32> = (0..256).map(|element| memory.offset(element)).collect();
        assert_eq!((offsets.len(), *offsets.iter().max().unwrap()), (256, memory.size() - 1));
    }

    #[test]
    fn faults_are_named() {
        let fault = |pairs: &[(usize, usize)]| padded([8, 8], pairs, [1, 0]).fault();
        assert_eq!(fault(&[(3, 1)]), Some(Error::Parameter { name: "the interval of a padding", value: 3 }));
        assert_eq!(fault(&[(4, 0)]), Some(Error::Parameter { name: "a padding", value: 0 }));
        assert_eq!(fault(&[(4, 1), (4, 2)]), Some(Error::RepeatedInterval { interval: 4 }));
        assert_eq!(fault(&[(4, 1); 5]), Some(Error::Paddings { pairs: 5 }));
        assert_eq!(fault(&[(1, 1 << 30)]), Some(Error::TooLarge { name: "a padding", value: 1 << 30 }));
        assert!(matches!(padded([1 << 12, 1 << 11], &[(1, 1 << 24)], [1, 0]).fault(), Some(Error::TooLarge { .. })));
        assert_eq!(fault(&[]), None);
        let twice = row_major([8]).with_padding(&[(4, 1)]).with_padding(&[(4, 1)]);
        assert_eq!(twice.fault(), Some(Error::Padding { op: "padding" }));
    }
}
