//! Shared-memory layouts: where each element of a tile lies in an allocation.
//!
//! The map goes from the element's flat index to its offset, in elements: one column a bit of the flat index, XORed. That
//! is the other way round than a [`Layout`](crate::Layout), whose threads can hold an element several times; memory
//! holds each once. A swizzle is linear, so it is such a map: with the columns `001`, `010`, `101` of a `[2, 4]`, element
//! (1, 1) = flat `101` lies at offset `101` + `001` = `100`.
//!
//! A slice fixes some bits of the flat index: their columns are XORed into a constant and dropped. That is why a slice
//! works through any swizzle. At last there may be gaps between the elements, which come on top of all of that.
//!
//! | file | what it is |
//! |---|---|
//! | `named` | [`row_major`], [`swizzled`], [`shared_linear`], [`nvmma_shared`], [`mbarrier`] |
//! | `padded` | [`padded`](padded()): gaps between elements |
//! | `tensor` | [`TensorMemory`]: tensor memory, which is no shared memory but is addressed in bits, too |
//! | `reinterpret` | [`SharedLayout::reinterpret`]: the same bytes as other elements |
//! | `ldmatrix` | [`MatrixLoad`]: when a load is one of whole matrices |
//! | `staging` | [`SharedLayout::between`]: a layout for one way in and one way out |

mod ldmatrix;
mod named;
mod padded;
mod reinterpret;
mod staging;
mod tensor;

use crate::error::Error;
use crate::f2::Map;
use crate::ops::permuted;
use crate::shape::{MAX_SHAPE_BITS, Shape};

pub use ldmatrix::MatrixLoad;
pub use named::{mbarrier, nvmma_default, nvmma_shared, row_major, shared_linear, swizzled};
pub use padded::{MAX_PADDINGS, padded};
pub use tensor::{TensorMemory, tensor_memory};

pub(crate) use named::chunk_phase;
use padded::Padding;
pub(crate) use staging::Wide;

/// Where each element of a tile lies in shared memory: a view of an allocation.
///
/// A value may be invalid and then says why, as a [`Layout`](crate::Layout) does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedLayout {
    shape: Shape,
    columns: [u32; MAX_SHAPE_BITS],
    constant: u32,
    /// Elements of the allocation without gaps.
    linear_size: u32,
    padding: Padding,
    /// The binary logarithm of the allocation's alignment in bytes.
    alignment: u8,
    fault: Option<Error>,
}

/// Bytes that every allocation is aligned to: the widest access.
const ALIGNMENT: usize = 16;

/// The largest alignment that can be asked for, in bytes.
const MAX_ALIGNMENT: usize = 1024;

impl SharedLayout {
    /// Row-major, without gaps.
    pub const fn flat(shape: &Shape) -> SharedLayout {
        let (mut columns, mut i) = ([0; MAX_SHAPE_BITS], 0);
        while i < shape.bits() {
            columns[i] = 1 << i;
            i += 1;
        }
        SharedLayout {
            shape: *shape,
            columns,
            constant: 0,
            linear_size: shape.len() as u32,
            padding: Padding::NONE,
            alignment: ALIGNMENT.trailing_zeros() as u8,
            fault: shape.fault(),
        }
    }

    /// The layout in which the element `bases[i]` lies at offset `1 << i`.
    const fn of_bases(shape: &Shape, bases: &[u32]) -> SharedLayout {
        let mut layout = SharedLayout::flat(shape);
        let bits = shape.bits();
        match Map::new(bases, bits).inverse() {
            Some(inverse) => {
                layout.columns.split_at_mut(bits).0.copy_from_slice(inverse.columns());
                layout
            }
            None => layout.failed(Error::NotInvertible { bases: bases.len(), bits }),
        }
    }

    /// The layout, or what is wrong with it.
    pub const fn check(self) -> Result<SharedLayout, Error> {
        match self.fault {
            None => Ok(self),
            Some(error) => Err(error),
        }
    }

    /// What is wrong with it, if anything.
    pub const fn fault(&self) -> Option<Error> {
        self.fault
    }

    const fn failed(mut self, error: Error) -> SharedLayout {
        if self.fault.is_none() {
            self.fault = Some(error);
        }
        self
    }

    /// Whether both send every element to the same place.
    pub const fn equals(&self, other: &SharedLayout) -> bool {
        let mut same = self.shape.equals(&other.shape) && self.constant == other.constant;
        same = same && self.linear_size == other.linear_size && self.padding.equals(&other.padding);
        same = same && self.alignment == other.alignment;
        let mut i = 0;
        while same && i < self.shape.bits() {
            same = self.columns[i] == other.columns[i];
            i += 1;
        }
        same && self.fault.is_none() && other.fault.is_none()
    }

    /// The view's extents.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// With the allocation aligned to so many bytes: a power of two from 16 to 1024.
    ///
    /// Invalid if it is none.
    pub const fn aligned(mut self, bytes: usize) -> SharedLayout {
        if !bytes.is_power_of_two() {
            return self.failed(Error::Parameter { name: "the alignment", value: bytes });
        }
        if bytes < ALIGNMENT || bytes > MAX_ALIGNMENT {
            return self.failed(Error::Alignment { bytes });
        }
        self.alignment = bytes.trailing_zeros() as u8;
        self
    }

    /// Bytes that the allocation is aligned to.
    pub const fn alignment(&self) -> u32 {
        1 << self.alignment
    }

    /// What each bit of the flat index adds to the offset without gaps, by XOR.
    pub const fn columns(&self) -> &[u32] {
        self.columns.split_at(self.shape.bits()).0
    }

    /// What a bit of the flat index adds to the offset without gaps.
    pub const fn column(&self, bit: usize) -> u32 {
        self.columns[bit]
    }

    /// The offset without gaps of the view's first element, XORed into every offset.
    pub const fn constant(&self) -> u32 {
        self.constant
    }

    /// The map from flat index to offset, without the constant and gaps.
    pub const fn map(&self) -> Map {
        Map::new(self.columns(), self.linear_size.trailing_zeros() as usize)
    }

    /// The offset of an element, in elements from the start of the allocation.
    pub const fn offset(&self, element: u32) -> u32 {
        self.with_gaps(self.linear_offset(element))
    }

    /// The offset of an element if there were no gaps.
    pub const fn linear_offset(&self, element: u32) -> u32 {
        let (mut offset, mut rest) = (self.constant, element & (self.shape.len() as u32 - 1));
        while rest != 0 {
            offset ^= self.columns[rest.trailing_zeros() as usize];
            rest &= rest - 1;
        }
        offset
    }

    /// The view of `length` indices of dimension `dim` from `start` on; it may cross any swizzle.
    ///
    /// ```
    /// use quadpair_layouts::swizzled;
    /// let memory = swizzled([64, 32], 8, 1, 4, [1, 0]);
    /// let view = memory.slice(0, 48, 16);
    /// assert_eq!(view.offset(view.shape().flat(&[5, 9])), memory.offset(memory.shape().flat(&[53, 9])));
    /// ```
    ///
    /// Invalid if it isn't inside the extent, or the length is no power of two that divides the start.
    pub const fn slice(&self, dim: usize, start: usize, length: usize) -> SharedLayout {
        if let Some(error) = self.shape.slice_fault(dim, start, length) {
            return self.failed(error);
        }
        let (kept, shift) = (length.trailing_zeros() as usize, self.shape.shift(dim));
        let mut view = self.without_bits(shift + kept, self.shape.dim_bits(dim) - kept);
        view.shape = self.shape.with_extent(dim, length);
        view.constant = self.linear_offset((start << shift) as u32);
        view
    }

    /// Without some bits of the flat index.
    const fn without_bits(&self, low: usize, width: usize) -> SharedLayout {
        let (mut view, mut i) = (*self, low);
        while i < MAX_SHAPE_BITS {
            view.columns[i] = if i + width < MAX_SHAPE_BITS { self.columns[i + width] } else { 0 };
            i += 1;
        }
        view
    }

    /// How far apart the indices of dimension 0 lie, in elements: what a run-time index is multiplied by and added.
    ///
    /// # Errors
    /// They don't lie at one distance, or share offset bits with other dimensions, so that no sum could reach them.
    pub const fn index_stride(&self) -> Result<u32, Error> {
        if self.shape.rank() == 0 {
            return Err(Error::Axis { axis: 0, rank: 0 });
        }
        let (low, bits) = (self.shape.shift(0), self.shape.dim_bits(0));
        let (mut others, mut i) = (self.constant, 0);
        while i < low {
            others |= self.columns[i];
            i += 1;
        }
        let stride = if bits == 0 { 0 } else { self.columns[low] };
        i = 0;
        while i < bits {
            let column = self.columns[low + i];
            let apart = column.is_power_of_two() && column & others == 0;
            if !apart || column != stride << i || self.with_gaps(column) != self.with_gaps(stride) << i {
                return Err(Error::IndexStride { extent: self.shape.extent(0) });
            }
            i += 1;
        }
        Ok(self.with_gaps(stride))
    }

    /// The view of index 0 of dimension 0, without that dimension.
    pub const fn without_dim0(&self) -> SharedLayout {
        if self.shape.rank() == 0 {
            return self.failed(Error::Axis { axis: 0, rank: 0 });
        }
        let mut view = self.without_bits(self.shape.shift(0), self.shape.dim_bits(0));
        view.shape = self.shape.without_dim(0);
        view
    }

    /// Dimension `i` of the result is dimension `order[i]`.
    ///
    /// Invalid if `order` doesn't name each dimension once.
    pub const fn permute<const N: usize>(&self, order: [usize; N]) -> SharedLayout {
        let shape = self.shape.permuted(&order);
        if let Some(error) = shape.fault() {
            return self.failed(error);
        }
        let mut view = SharedLayout { shape, ..*self };
        let mut i = 0;
        while i < shape.bits() {
            let moved = permuted(1 << i, &self.shape, &shape, &order);
            view.columns[moved.trailing_zeros() as usize] = self.columns[i];
            i += 1;
        }
        view
    }

    /// The same elements in row-major order under another shape.
    ///
    /// Invalid if the number of elements is another.
    pub const fn reshape<const N: usize>(&self, shape: [usize; N]) -> SharedLayout {
        let shape = Shape::new(shape);
        if let Some(error) = shape.fault() {
            return self.failed(error);
        }
        if shape.bits() != self.shape.bits() {
            return self.failed(Error::shapes(" cannot be reshaped to ", &self.shape, &shape));
        }
        SharedLayout { shape, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> SharedLayout {
        swizzled([4, 16, 8], 2, 1, 4, [2, 1, 0])
    }

    #[test]
    fn views_have_the_offsets_of_the_whole() {
        let whole = memory().check().unwrap();
        let at = |i, j, k| whole.offset(whole.shape().flat(&[i, j, k]));
        let slice = whole.slice(1, 8, 4).slice(2, 4, 2).slice(0, 2, 1).check().unwrap();
        let permuted = slice.permute([2, 0, 1]);
        let flat = slice.reshape([8]);
        for (j, k) in (0..8).map(|i| (i / 2, i % 2)) {
            let expected = at(2, 8 + j, 4 + k);
            assert_eq!(slice.offset(slice.shape().flat(&[0, j, k])), expected);
            assert_eq!(permuted.offset(permuted.shape().flat(&[k, 0, j])), expected);
            assert_eq!(flat.offset((j * 2 + k) as u32), expected);
        }
        assert_eq!(slice.size(), 512);
    }

    #[test]
    fn an_index_is_a_multiple_of_the_stride() {
        let whole = memory().slice(1, 8, 8);
        let (stride, one) = (whole.index_stride().unwrap(), whole.without_dim0());
        for (i, rest) in (0..4 * 64).map(|i| (i / 64, i % 64)) {
            assert_eq!(whole.offset(i * 64 + rest), i * stride + one.offset(rest));
        }
        assert_eq!(one.index_stride(), Err(Error::IndexStride { extent: 8 }));
        assert_eq!(memory().slice(0, 2, 2).index_stride(), Ok(128));
        let single = row_major([1, 8]);
        assert_eq!((single.index_stride(), single.without_dim0()), (Ok(0), row_major([8])));
    }

    #[test]
    fn faults_are_named() {
        let fault = |layout: SharedLayout| layout.fault().unwrap();
        assert_eq!(fault(memory().slice(3, 0, 1)), Error::Axis { axis: 3, rank: 3 });
        assert_eq!(fault(memory().slice(1, 8, 16)), Error::SliceRange { start: 8, length: 16, extent: 16 });
        assert_eq!(fault(memory().slice(1, 2, 4)), Error::SliceStart { start: 2, length: 4 });
        assert_eq!(fault(memory().slice(1, 0, 3)), Error::Parameter { name: "the length of a slice", value: 3 });
        assert_eq!(fault(memory().slice(1, 2, 4).permute([0, 0])), Error::SliceStart { start: 2, length: 4 });
        assert!(matches!(fault(memory().reshape([64])), Error::Shapes { .. }));
        assert!(matches!(row_major([8]).reshape([]).without_dim0().fault(), Some(Error::Shapes { .. })));
    }
}
