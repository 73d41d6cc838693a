//! Other names for the same elements: no element leaves its thread or register.

use crate::error::{Error, PackedShape, Shapes};
use crate::layout::Layout;
use crate::shape::Shape;

impl Layout {
    /// The same elements in row-major order under another shape. No basis changes, since bases are flat indices.
    ///
    /// ```
    /// use quadpair_layouts::blocked;
    /// let row = blocked([8, 16], [1, 4], [8, 4], [1, 1], [1, 0]);
    /// let split = row.reshape([8, 4, 4]);
    /// assert_eq!(split.apply(3, 5, 0), split.shape().flat(&[1, 1, 3]));
    /// assert!(split.reshape([8, 16]).equals(&row));
    /// ```
    ///
    /// Invalid if the number of elements is another.
    pub const fn reshape<const N: usize>(&self, shape: [usize; N]) -> Layout {
        let shape = Shape::new(shape);
        if shape.fault().is_none() && shape.bits() != self.shape.bits() {
            let from = Shapes { left: PackedShape::of(&self.shape), right: PackedShape::of(&shape) };
            return self.failed(Error::ElementCount { from });
        }
        self.with_shape(shape)
    }

    /// With an extent of 1 inserted before dimension `axis`; any layout can be expanded.
    ///
    /// Invalid if `axis` is more than the rank.
    pub const fn expand_dims(&self, axis: usize) -> Layout {
        self.with_shape(self.shape.with_dim(axis))
    }

    /// Dimension `axis` as three: the bits above `low + count`, the `count` bits from `low` on, and those below.
    ///
    /// Invalid if there is no such dimension, or it has fewer bits.
    pub const fn split_axis(&self, axis: usize, low: usize, count: usize) -> Layout {
        if axis >= self.shape.rank() {
            return self.failed(Error::Axis { axis, rank: self.shape.rank() });
        }
        let shape = self.shape.with_dim(axis + 1).with_dim(axis + 2);
        let high = shape.extent(axis) >> (low + count);
        self.with_shape(shape.with_extent(axis, high).with_extent(axis + 1, 1 << count).with_extent(axis + 2, 1 << low))
    }

    /// Dimensions `axis` and `axis + 1` as one.
    ///
    /// Invalid if there are no such dimensions.
    pub const fn merge_axis(&self, axis: usize) -> Layout {
        if axis + 1 >= self.shape.rank() {
            return self.failed(Error::Axis { axis: axis + 1, rank: self.shape.rank() });
        }
        let extent = self.shape.extent(axis) * self.shape.extent(axis + 1);
        self.with_shape(self.shape.without_dim(axis + 1).with_extent(axis, extent))
    }

    /// The highest bits of a dimension that each thread has all values of, whatever the lane and the warp: the lowest of
    /// them and how many; none if threads divide the dimension among them.
    pub const fn own_bits(&self, axis: usize) -> Option<(usize, usize)> {
        let (mut shared, mut i) = (0, self.register_bits());
        while i < self.bits() {
            shared |= self.shape.coordinate(self.bases[i], axis);
            i += 1;
        }
        let (mut bit, mut count) = (self.shape.dim_bits(axis), 0);
        while bit > 0 {
            bit -= 1;
            let own = shared >> bit & 1 == 0;
            match own {
                true => count += 1,
                false if count > 0 => return Some((bit + 1, count)),
                false => {}
            }
        }
        if count > 0 { Some((0, count)) } else { None }
    }

    const fn with_shape(&self, shape: Shape) -> Layout {
        match shape.fault() {
            Some(error) => self.failed(error),
            None => Layout { shape, ..*self },
        }
    }

    /// Dimension `i` of the result is dimension `order[i]`.
    ///
    /// ```
    /// use quadpair_layouts::blocked;
    /// let row = blocked([8, 16], [1, 4], [8, 4], [1, 1], [1, 0]);
    /// assert!(row.permute([1, 0]).equals(&blocked([16, 8], [4, 1], [4, 8], [1, 1], [0, 1])));
    /// ```
    ///
    /// Invalid if `order` doesn't name each dimension once.
    pub const fn permute<const N: usize>(&self, order: [usize; N]) -> Layout {
        let shape = self.shape.permuted(&order);
        if let Some(error) = shape.fault() {
            return self.failed(error);
        }
        let mut layout = Layout { shape, ..*self };
        let mut i = 0;
        while i < self.bits() {
            layout.bases[i] = permuted(self.bases[i], &self.shape, &shape, &order);
            i += 1;
        }
        layout
    }
}

/// A flat index with its dimensions in another order.
pub(crate) const fn permuted(element: u32, from: &Shape, to: &Shape, order: &[usize]) -> u32 {
    let (mut result, mut dim) = (0, 0);
    while dim < order.len() {
        result |= (from.coordinate(element, order[dim]) as u32) << to.shift(dim);
        dim += 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::named::blocked;

    #[test]
    fn permuting_permutes_the_coordinates_of_every_element() {
        let layout = blocked([4, 8, 2], [1, 2, 2], [4, 4, 2], [2, 1, 1], [1, 2, 0]);
        let order = [2, 0, 1];
        let permuted = layout.permute(order);
        for place in 0..layout.registers() * layout.threads() {
            let (r, l, w) =
                (place % layout.registers(), place / layout.registers() % 32, place / layout.registers() / 32);
            let (before, after) = (layout.apply(r, l, w), permuted.apply(r, l, w));
            for (dim, &from) in order.iter().enumerate() {
                assert_eq!(permuted.shape().coordinate(after, dim), layout.shape().coordinate(before, from));
            }
        }
        assert!(permuted.permute([1, 2, 0]).equals(&layout));
    }

    #[test]
    fn faults_are_named_and_the_first_one_stays() {
        let layout = blocked([4, 8], [1, 1], [4, 8], [1, 1], [1, 0]);
        assert_eq!(layout.permute([0, 0]).fault(), Some(Error::RepeatedAxis { axis: 0 }));
        assert_eq!(layout.expand_dims(3).fault(), Some(Error::Axis { axis: 3, rank: 3 }));
        assert!(matches!(layout.reshape([64]).fault(), Some(Error::ElementCount { .. })));
        let twice = layout.reshape([31]).permute([0, 0]);
        assert_eq!(twice.fault(), Some(Error::NotPowerOfTwo { dim: 0, extent: 31 }));
        assert!(!twice.equals(&twice));
    }
}
