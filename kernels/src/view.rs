//! A tensor of four dimensions that somebody else owns: where it lies, its extents, its strides.
//!
//! Strides count elements, as in every array library: element `(b, h, t, d)` of a view is element
//! `b * strides[0] + h * strides[1] + t * strides[2] + d * strides[3]` of its buffer. A stride of 0 repeats what the
//! buffer holds once: a `[3, 1, 1, 197]` bias that every head and every query shares is `[3, 12, 197, 197]` with strides
//! `[197, 0, 0, 1]`. A dimension of extent 1 is never stepped along, so its stride says nothing.
//!
//! The buffer is whatever the backend computes on: `&[T]` or `&mut [T]` on the host, a view of a cudarc slice on a GPU.
//! A view checks nothing; the call that takes it does, and names the tensor in what it reports.

/// A tensor `[d0, d1, d2, d3]` in a buffer of type `D`; strides count elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View<D> {
    /// The buffer; the view starts at its first element.
    pub data: D,
    /// Extents.
    pub shape: [usize; 4],
    /// Elements between neighbours along each dimension.
    pub strides: [usize; 4],
}

impl<D> View<D> {
    /// A tensor whose elements lie one after the other, the last dimension fastest.
    pub fn contiguous(data: D, shape: [usize; 4]) -> Self {
        Self::strided(data, shape, row_major(shape))
    }

    /// A tensor with any strides.
    pub fn strided(data: D, shape: [usize; 4], strides: [usize; 4]) -> Self {
        Self { data, shape, strides }
    }

    /// The same extents and strides over another buffer.
    pub fn with<E>(&self, data: E) -> View<E> {
        View { data, shape: self.shape, strides: self.strides }
    }
}

/// Strides of a tensor whose elements lie one after the other.
///
/// Extents may be huge: strides that overflow are cut to `usize::MAX`, and the check of the buffer then refuses them.
pub(crate) fn row_major(shape: [usize; 4]) -> [usize; 4] {
    let mut strides = [1; 4];
    for dim in (0..3).rev() {
        strides[dim] = shape[dim + 1].saturating_mul(strides[dim + 1]);
    }
    strides
}

/// How many elements a buffer needs for every element of the view to lie inside; `None` if no `usize` can say.
pub(crate) fn span(shape: [usize; 4], strides: [usize; 4]) -> Option<usize> {
    if shape.contains(&0) {
        return Some(0);
    }
    let reach = |sum: usize, (extent, stride): (&usize, &usize)| sum.checked_add((extent - 1).checked_mul(*stride)?);
    shape.iter().zip(&strides).try_fold(0, reach)?.checked_add(1)
}

/// Whether no element of the buffer is two elements of the view, as far as strides can tell.
///
/// Sorted by stride, each dimension has to step over all that the smaller ones reach: enough for every tensor that was
/// cut from a larger one by slicing or by permuting its dimensions.
pub(crate) fn is_injective(shape: [usize; 4], strides: [usize; 4]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut dims: Vec<(usize, usize)> = strides.into_iter().zip(shape).filter(|&(_, extent)| extent > 1).collect();
    dims.sort_unstable();
    let mut reach = 0;
    dims.into_iter().all(|(stride, extent)| {
        let fits = stride > reach;
        reach = (extent - 1).saturating_mul(stride).saturating_add(reach);
        fits
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn offsets(shape: [usize; 4], strides: [usize; 4]) -> Vec<usize> {
        let mut all = Vec::new();
        for flat in 0..shape.iter().product::<usize>() {
            let (mut rest, mut offset) = (flat, 0);
            for dim in (0..4).rev() {
                offset += rest % shape[dim] * strides[dim];
                rest /= shape[dim];
            }
            all.push(offset);
        }
        all
    }

    const CASES: [([usize; 4], [usize; 4]); 8] = [
        ([2, 3, 5, 8], [120, 40, 8, 1]),
        ([2, 3, 5, 8], [120, 8, 24, 1]),
        ([2, 3, 5, 8], [0, 40, 8, 1]),
        ([1, 3, 5, 8], [7, 0, 8, 1]),
        ([2, 3, 5, 1], [15, 5, 1, 0]),
        ([2, 1, 5, 8], [48, 0, 9, 1]),
        ([2, 1, 5, 8], [44, 0, 9, 1]),
        ([2, 0, 5, 8], [40, 40, 8, 1]),
    ];

    #[test]
    fn span_is_one_more_than_the_last_offset() {
        for (shape, strides) in CASES {
            let expected = offsets(shape, strides).into_iter().max().map_or(0, |last| last + 1);
            assert_eq!(span(shape, strides), Some(expected), "{shape:?} {strides:?}");
        }
        assert_eq!(span([usize::MAX, 2, 2, 2], [usize::MAX, 1, 1, 1]), None);
    }

    #[test]
    fn injective_views_repeat_no_offset() {
        for (shape, strides) in CASES {
            let all = offsets(shape, strides);
            let distinct: HashSet<_> = all.iter().collect();
            assert_eq!(is_injective(shape, strides), distinct.len() == all.len(), "{shape:?} {strides:?}");
        }
    }

    #[test]
    fn contiguous_strides_multiply_from_the_right() {
        assert_eq!(View::contiguous((), [2, 3, 5, 8]).strides, [120, 40, 8, 1]);
    }
}
