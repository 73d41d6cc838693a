//! Descriptors: how wgmma is told where an operand lies in shared memory.
//!
//! wgmma reads its operands from memory by itself. It knows four patterns of 8 rows: of 16 bytes a row without a swizzle,
//! of 32, 64 or 128 bytes with the 16-byte chunks of row r XORed as in [`nvmma_shared`](crate::nvmma_shared). A descriptor
//! has the pattern and two distances, between patterns along the contiguous dimension and across it. Here it is read off
//! a layout, bit by bit, so that memory that wgmma would misread has no descriptor. For 64 rows of 64 halves in the
//! 128-byte swizzle, row 8 lies at 8 * 128 = 1024 bytes: the distance across is 1024, and there is nothing further along.
//!
//! ```text
//! bits  0..14  start address / 16, added by the kernel       32..46  stride / 16
//!      16..30  leading distance / 16                         62..64  swizzle: 0 none, 1 128, 2 64, 3 32 bytes
//! ```

use crate::banks::element_bytes;
use crate::error::{ElementOf, Error, PackedShape};
use crate::shared::{SharedLayout, chunk_phase};

/// The swizzle of a pattern of wgmma.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Swizzle {
    /// Rows of 16 bytes.
    None,
    /// Rows of 128 bytes.
    Bytes128,
    /// Rows of 64 bytes.
    Bytes64,
    /// Rows of 32 bytes.
    Bytes32,
}

impl Swizzle {
    const fn of_row_bytes(bytes: usize) -> Option<Swizzle> {
        match bytes {
            16 => Some(Swizzle::None),
            32 => Some(Swizzle::Bytes32),
            64 => Some(Swizzle::Bytes64),
            128 => Some(Swizzle::Bytes128),
            _ => None,
        }
    }

    /// Bytes of a pattern's row.
    pub const fn row_bytes(self) -> usize {
        match self {
            Swizzle::None => 16,
            Swizzle::Bytes32 => 32,
            Swizzle::Bytes64 => 64,
            Swizzle::Bytes128 => 128,
        }
    }
}

/// Rows of a pattern.
const ROWS: usize = 8;

/// How wgmma finds an operand in shared memory, start address aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Descriptor {
    /// The pattern.
    pub swizzle: Swizzle,
    /// Whether k is the contiguous dimension; the instruction is told separately.
    pub k_major: bool,
    /// The leading distance in bytes; 16 where wgmma doesn't use it.
    pub leading_bytes: u32,
    /// The stride in bytes; 16 where there is one pattern only.
    pub stride_bytes: u32,
}

impl Descriptor {
    /// The descriptor of an operand `[m or n, k]` with elements of 8, 16 or 32 bits.
    ///
    /// The kernel adds the address of the view's first element. A slice along k starts inside a pattern, which is fine.
    ///
    /// ```
    /// use quadpair_layouts::{mma::{Descriptor, Swizzle}, nvmma_shared};
    /// let memory = nvmma_shared([64, 64], 128, 16, false);
    /// let descriptor = Descriptor::of(&memory.slice(1, 16, 16), 16).unwrap();
    /// assert_eq!((descriptor.swizzle, descriptor.k_major), (Swizzle::Bytes128, true));
    /// assert_eq!(descriptor.encode(), 1 << 62 | 64 << 32 | 1 << 16);
    /// ```
    ///
    /// # Errors
    /// Memory that is padded, or in which some element lies where none of the patterns has it; k contiguous and longer
    /// than a pattern's row; m or n contiguous for other elements than of 16 bits.
    pub const fn of(memory: &SharedLayout, element_bits: u32) -> Result<Descriptor, Error> {
        if let Some(error) = memory.fault() {
            return Err(error);
        }
        if memory.shape().rank() != 2 {
            return Err(Error::Matrix { rank: memory.shape().rank() });
        }
        if !matches!(element_bits, 8 | 16 | 32) {
            return Err(Error::NoUnit { operand_bits: element_bits });
        }
        let view = View::new(memory, element_bytes(element_bits));
        match view.pattern() {
            Ok(swizzle) => view.descriptor(swizzle),
            Err(error) => Err(error),
        }
    }

    /// The 64 bits, with a start address of 0.
    pub const fn encode(&self) -> u64 {
        let mode: u64 = match self.swizzle {
            Swizzle::None => 0,
            Swizzle::Bytes128 => 1,
            Swizzle::Bytes64 => 2,
            Swizzle::Bytes32 => 3,
        };
        let (leading, stride) = (self.leading_bytes as u64 / 16, self.stride_bytes as u64 / 16);
        (leading & 0x3fff) << 16 | (stride & 0x3fff) << 32 | mode << 62
    }
}

/// An operand's memory by its contiguous dimension and the other one.
struct View<'m> {
    memory: &'m SharedLayout,
    bytes: u32,
    fast: usize,
    slow: usize,
}

impl<'m> View<'m> {
    const fn new(memory: &'m SharedLayout, bytes: u32) -> View<'m> {
        let shape = memory.shape();
        let rows_first = shape.dim_bits(0) > 0 && memory.column(shape.shift(0)) == 1;
        let (fast, slow) = if rows_first { (0, 1) } else { (1, 0) };
        View { memory, bytes, fast, slow }
    }

    /// The bits of the offset that a bit of a dimension moves by.
    const fn column(&self, dim: usize, bit: usize) -> u32 {
        self.memory.column(self.memory.shape().shift(dim) + bit)
    }

    const fn bits(&self, dim: usize) -> usize {
        self.memory.shape().dim_bits(dim)
    }

    const fn misplaced(&self, dim: usize, bit: usize) -> Error {
        let shape = self.memory.shape();
        let element = 1 << (shape.shift(dim) + bit);
        let offset = self.memory.offset(element);
        Error::Descriptor { element: ElementOf { element, shape: PackedShape::of(&shape) }, offset }
    }

    /// The pattern that the first rows are laid out in; the extents must have room for it.
    const fn pattern(&self) -> Result<Swizzle, Error> {
        if self.memory.is_padded() {
            return Err(Error::Padding { op: "wgmma" });
        }
        let rows = self.bits(self.slow);
        if rows < ROWS.trailing_zeros() as usize {
            let extent = 1 << rows;
            return Err(Error::DescriptorExtent { dim: self.slow, extent, wants: ROWS });
        }
        let next = self.column(self.slow, 0);
        let row = if next == 0 { 0 } else { 1 << next.ilog2() };
        match Swizzle::of_row_bytes(row as usize * self.bytes as usize) {
            Some(swizzle) => self.follows(swizzle),
            None => Err(self.misplaced(self.slow, 0)),
        }
    }

    /// Elements of a pattern's row.
    const fn row(&self, swizzle: Swizzle) -> u32 {
        swizzle.row_bytes() as u32 / self.bytes
    }

    /// The pattern, if every element of it is where it says.
    const fn follows(&self, swizzle: Swizzle) -> Result<Swizzle, Error> {
        let (row, chunk) = (self.row(swizzle), 16 / self.bytes);
        let mut bit = 0;
        while bit < self.bits(self.fast) && 1 << bit < row {
            if self.column(self.fast, bit) != 1 << bit {
                return Err(self.misplaced(self.fast, bit));
            }
            bit += 1;
        }
        bit = 0;
        while 1 << bit < ROWS {
            let phase = chunk_phase(1 << bit, swizzle.row_bytes()) as u32 * chunk;
            if self.column(self.slow, bit) != (row << bit) + phase {
                return Err(self.misplaced(self.slow, bit));
            }
            bit += 1;
        }
        // Chunks of a row may be left out at its start, rows of a pattern may not.
        let (offset, rows) = (self.memory.constant(), ROWS as u32 * row);
        if !offset.is_multiple_of(chunk) || offset % rows >= row {
            return Err(Error::DescriptorStart { offset, multiple: rows });
        }
        Ok(swizzle)
    }

    /// The distance in bytes of patterns along a dimension, from a bit on; none if there is one pattern.
    const fn distance(&self, dim: usize, first: usize) -> Result<Option<u32>, Error> {
        if first >= self.bits(dim) {
            return Ok(None);
        }
        let (distance, mut bit) = (self.column(dim, first), first);
        while bit < self.bits(dim) {
            if !distance.is_power_of_two() || self.column(dim, bit) != distance << (bit - first) {
                return Err(self.misplaced(dim, bit));
            }
            bit += 1;
        }
        Ok(Some(distance * self.bytes))
    }

    const fn descriptor(&self, swizzle: Swizzle) -> Result<Descriptor, Error> {
        let (row, k_major) = (self.row(swizzle) as usize, self.fast == 1);
        let (extent, swizzled) = (1 << self.bits(self.fast), !matches!(swizzle, Swizzle::None));
        // Along k one instruction stays inside a row of 32 bytes or more; along m or n it may read the first part of one.
        let wrong = if k_major { swizzled && extent > row } else { !swizzled && extent < row };
        if wrong {
            return Err(Error::DescriptorExtent { dim: self.fast, extent, wants: row });
        }
        if !k_major && self.bytes != 2 {
            return Err(Error::NoUnit { operand_bits: 8 * self.bytes });
        }
        let along = match self.distance(self.fast, row.trailing_zeros() as usize) {
            Ok(distance) => used(distance),
            Err(error) => return Err(error),
        };
        let across = match self.distance(self.slow, ROWS.trailing_zeros() as usize) {
            Ok(distance) => used(distance),
            Err(error) => return Err(error),
        };
        // Without a swizzle and with m or n contiguous, the two fields mean each other.
        let (leading_bytes, stride_bytes) = if swizzled || k_major { (along, across) } else { (across, along) };
        Ok(Descriptor { swizzle, k_major, leading_bytes, stride_bytes })
    }
}

const fn used(distance: Option<u32>) -> u32 {
    match distance {
        Some(bytes) => bytes,
        None => 16,
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::shared::{nvmma_shared, row_major, swizzled};

    /// Where wgmma looks for an element: linear in two patterns' distances, then the chunk's bits XORed with the line's.
    fn address(descriptor: &Descriptor, start: u32, row: u32, k: u32, bytes: u32) -> u32 {
        let (fast, slow) = if descriptor.k_major { (k, row) } else { (row, k) };
        let pattern = descriptor.swizzle.row_bytes() as u32;
        let exchanged = descriptor.swizzle == Swizzle::None && !descriptor.k_major;
        let (along, across) = match exchanged {
            false => (descriptor.leading_bytes, descriptor.stride_bytes),
            true => (descriptor.stride_bytes, descriptor.leading_bytes),
        };
        let linear =
            start + fast * bytes % pattern + fast * bytes / pattern * along + slow % 8 * pattern + slow / 8 * across;
        linear ^ ((linear / 128 % (pattern / 16)) * 16)
    }

    fn check(memory: &SharedLayout, bits: u32) {
        let (descriptor, shape) = (Descriptor::of(memory, bits).unwrap(), memory.shape());
        let bytes = bits / 8;
        for element in 0..shape.len() as u32 {
            let (row, k) = (shape.coordinate(element, 0) as u32, shape.coordinate(element, 1) as u32);
            let there = address(&descriptor, memory.constant() * bytes, row, k, bytes);
            assert_eq!(memory.offset(element) * bytes, there, "{descriptor:?} ({row}, {k})");
        }
    }

    #[test]
    fn a_descriptor_finds_every_element() {
        for (swizzle, bits) in [32, 64, 128].into_iter().flat_map(|s| [8, 16, 32].map(|bits| (s, bits))) {
            let row = swizzle * 8 / bits;
            let memory = nvmma_shared([64, row], swizzle, bits, false);
            check(&memory, bits as u32);
            check(&memory.slice(0, 16, 8).slice(1, row / 2, row / 2), bits as u32);
            // Longer rows go on in further patterns, one descriptor each.
            let memory = nvmma_shared([64, 4 * row], swizzle, bits, false);
            check(&memory.slice(1, 2 * row, row), bits as u32);
        }
        for swizzle in [32, 64, 128] {
            check(&nvmma_shared([128, 16], swizzle, 16, true), 16);
            check(&nvmma_shared([16, 128], swizzle, 16, false).permute([1, 0]).slice(1, 8, 8), 16);
            // The first and the last columns of a pattern's row.
            let part = swizzle / 4;
            let rows = nvmma_shared([16, 2 * part], swizzle, 16, false).permute([1, 0]);
            check(&rows.slice(0, 0, part), 16);
            check(&rows.slice(0, part, part), 16);
        }
    }

    #[test]
    fn patterns_without_a_swizzle_are_eight_rows_of_16_bytes() {
        let memory = row_major([8, 4, 8, 8]).permute([0, 2, 1, 3]).reshape([64, 32]);
        check(&memory, 16);
        check(&memory.permute([1, 0]), 16);
        let descriptor = Descriptor::of(&memory, 16).unwrap();
        assert_eq!((descriptor.leading_bytes, descriptor.stride_bytes), (128, 512));
        assert_eq!(descriptor.encode(), 8 << 16 | 32 << 32);
    }

    #[test]
    fn what_wgmma_would_misread_has_no_descriptor() {
        let fault = |memory: SharedLayout, bits| Descriptor::of(&memory, bits).unwrap_err();
        assert!(matches!(fault(row_major([64, 64]), 16), Error::Descriptor { offset: 64, .. }));
        assert!(matches!(fault(swizzled([64, 64], 8, 2, 8, [1, 0]), 16), Error::Descriptor { offset: 64, .. }));
        let long = nvmma_shared([64, 128], 128, 16, false);
        assert_eq!(fault(long, 16), Error::DescriptorExtent { dim: 1, extent: 128, wants: 64 });
        let few = long.slice(0, 8, 4);
        assert_eq!(fault(few, 16), Error::DescriptorExtent { dim: 0, extent: 4, wants: 8 });
        assert_eq!(fault(long.slice(1, 4, 4), 16), Error::DescriptorStart { offset: 4, multiple: 512 });
        assert_eq!(fault(nvmma_shared([64, 64], 64, 8, true), 8), Error::NoUnit { operand_bits: 8 });
        assert_eq!(fault(long, 64), Error::NoUnit { operand_bits: 64 });
        assert_eq!(fault(row_major([64]), 16), Error::Matrix { rank: 1 });
    }
}
