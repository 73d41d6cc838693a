//! What is left of a layout when a dimension is reduced away, and back.

use crate::layout::Layout;
use crate::shape::Shape;

impl Layout {
    /// Without dimension `dim`: each basis loses its part along it.
    ///
    /// Registers that held different elements along it become duplicates and stay: so the slice keeps the domain of its
    /// parent, and `x.expand_dims(dim)` broadcasts to it.
    ///
    /// ```
    /// use quadpair_layouts::blocked;
    /// let tile = blocked([8, 16], [1, 4], [8, 4], [1, 1], [1, 0]);
    /// let rows = tile.slice(1);
    /// assert_eq!((rows.registers(), rows.compact().registers()), (4, 1));
    /// assert!(rows.expand_dims(1).equals(&tile.collapse(1)));
    /// ```
    ///
    /// Invalid if there is no such dimension.
    pub const fn slice(&self, dim: usize) -> Layout {
        self.projected(dim, self.shape.without_dim(dim))
    }

    /// With extent 1 in dimension `axis`: each basis loses its part along it.
    ///
    /// Invalid if there is no such dimension.
    pub const fn collapse(&self, axis: usize) -> Layout {
        self.projected(axis, self.shape.with_extent(axis, 1))
    }

    const fn projected(&self, dim: usize, shape: Shape) -> Layout {
        if let Some(error) = shape.fault() {
            return self.failed(error);
        }
        let (low, width) = (self.shape.shift(dim), self.shape.dim_bits(dim));
        let mut layout = Layout { shape, ..*self };
        let mut i = 0;
        while i < self.bits() {
            let basis = self.bases[i];
            layout.bases[i] = basis & ((1 << low) - 1) | basis >> (low + width) << low;
            i += 1;
        }
        layout
    }

    /// Extents of 1 wherever another shape of the same rank has them.
    pub(crate) const fn collapse_to(&self, shape: &Shape) -> Layout {
        let (mut layout, mut dim) = (*self, 0);
        while dim < shape.rank() {
            if shape.extent(dim) == 1 && layout.shape.extent(dim) != 1 {
                layout = layout.collapse(dim);
            }
            dim += 1;
        }
        layout
    }

    /// Each basis moved to where its coordinates stand in a larger shape of the same rank.
    ///
    /// Not every element of it is held then: what is made of the result must be [`complete`](Layout::complete).
    pub(crate) const fn embedded(&self, shape: &Shape) -> Layout {
        let mut layout = Layout { shape: *shape, ..*self };
        let mut i = 0;
        while i < self.bits() {
            layout.bases[i] = self.shape.moved_to(self.bases[i], shape);
            i += 1;
        }
        layout
    }

    /// Two maps of one domain and shape as one: a basis moves wherever one of them does.
    pub(crate) const fn join(&self, other: &Layout) -> Layout {
        let (mut layout, mut i) = (*self, 0);
        while i < self.bits() {
            layout.bases[i] |= other.bases[i];
            i += 1;
        }
        layout
    }
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::named::{blocked, linear};

    #[test]
    fn a_slice_has_the_other_coordinates_of_every_element() {
        let layout = blocked([4, 8, 2], [1, 2, 2], [4, 4, 2], [2, 1, 1], [1, 2, 0]);
        for dim in 0..3 {
            let (slice, collapsed) = (layout.slice(dim), layout.collapse(dim));
            for place in 0..layout.registers() * layout.threads() {
                let (r, thread) = (place % layout.registers(), place / layout.registers());
                let element = layout.apply(r, thread % 32, thread / 32);
                let others = [0, 1, 2].map(|d| if d == dim { 0 } else { layout.shape().coordinate(element, d) });
                assert_eq!(collapsed.apply(r, thread % 32, thread / 32), collapsed.shape().flat(&others));
                assert_eq!(slice.apply(r, thread % 32, thread / 32), collapsed.apply(r, thread % 32, thread / 32));
            }
            assert!(slice.check().is_ok() && slice.expand_dims(dim).equals(&collapsed));
        }
    }

    #[test]
    fn a_basis_along_both_dimensions_keeps_the_other_part() {
        let lanes = [[1, 1], [2, 2], [4, 4], [0, 1], [0, 2]];
        let layout = linear([8, 8], &[[0, 4]], &lanes, &[]).check().unwrap();
        assert_eq!(layout.slice(1).lane_basis(1), 2);
        assert_eq!(layout.slice(2).fault(), Some(Error::Axis { axis: 2, rank: 2 }));
    }
}
