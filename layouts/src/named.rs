//! Named layouts: blocks, and layouts by their bases.

use crate::error::Error;
use crate::layout::{Bit, Builder, LANE_BITS, Layout, MAX_WARP_BITS};
use crate::shape::{MAX_RANK, MAX_SHAPE_BITS, Shape};

/// Blocks of elements: each thread has `per_thread` neighbours, the lanes of a warp tile `lanes` such blocks, the warps
/// tile `warps` of those; a larger tile repeats them in further registers, a smaller one is held several times. `order`
/// lists the dimensions from the fastest.
///
/// ```
/// use quadpair_layouts::blocked;
/// // Each thread has 8 neighbours of a row; 4 lanes make a row of 32, a warp has 8 rows, 4 warps 32.
/// let layout = blocked([32, 32], [1, 8], [8, 4], [4, 1], [1, 0]);
/// assert_eq!(layout.registers(), 8);
/// assert_eq!(layout.apply(3, 1, 2), layout.shape().flat(&[16, 11]));
/// ```
///
/// Invalid if an extent is no power of two, the lanes don't multiply to 32, there are more than 32 warps, or `order` isn't
/// an order of the dimensions.
pub const fn blocked<const N: usize>(
    shape: [usize; N],
    per_thread: [usize; N],
    lanes: [usize; N],
    warps: [usize; N],
    order: [usize; N],
) -> Layout {
    let shape = Shape::new(shape);
    if let Some(error) = blocked_error(&shape, &per_thread, &lanes, &warps, &order) {
        return Layout::invalid(error);
    }
    let (mut builder, mut used) = (Builder::new(shape), [0; MAX_RANK]);
    let (per_thread, count) = level(&shape, &mut used, &per_thread, &order);
    registers(&mut builder, &per_thread, count);
    let (lanes, _) = level(&shape, &mut used, &lanes, &order);
    let (warps, warp_bits) = level(&shape, &mut used, &warps, &order);
    let (repeats, count) = level(&shape, &mut used, &shape.extents().0, &order);
    registers(&mut builder, &repeats, count);
    builder.lanes([lanes[0], lanes[1], lanes[2], lanes[3], lanes[4]]);
    let mut i = 0;
    while i < warp_bits {
        builder.warp(warps[i]);
        i += 1;
    }
    builder.finish()
}

/// The layout that reads and writes a row-major matrix in global memory best: each thread has as many neighbours along the
/// last dimension as the widest access of 16 bytes moves, lanes go on along it and then along the other dimensions, then
/// warps do. `contiguous` is how many neighbours are known to follow one another in memory, from a multiple of that on.
///
/// ```
/// use quadpair_layouts::{blocked, coalesced};
/// // 8 halves a lane; 8 lanes make a row of 64, a warp has 4 rows.
/// assert_eq!(coalesced([64, 64], 16, 4, 64), blocked([64, 64], [1, 8], [4, 8], [4, 1], [1, 0]));
/// // Rows of which only pairs are contiguous.
/// assert_eq!(coalesced([64, 64], 16, 4, 2), blocked([64, 64], [1, 2], [1, 32], [4, 1], [1, 0]));
/// // A small tile is shared out to all threads before any has several elements.
/// assert_eq!(coalesced([32, 8], 16, 4, 8).registers(), 2);
/// ```
///
/// Invalid if a number is no power of two, there are more than 32 warps, or the tile has no dimension.
pub const fn coalesced<const N: usize>(
    shape: [usize; N],
    element_bits: usize,
    warps: usize,
    contiguous: usize,
) -> Layout {
    let whole = Shape::new(shape);
    if let Some(error) = coalesced_error(&whole, element_bits, warps, contiguous) {
        return Layout::invalid(error);
    }
    let inner = N - 1;
    let widest = if element_bits < WIDEST_BITS { WIDEST_BITS / element_bits } else { 1 };
    let share = whole.len() >> (LANE_BITS + warps.trailing_zeros() as usize);
    let vector = least(least(widest, contiguous), least(whole.extent(inner), if share > 0 { share } else { 1 }));
    let (mut order, mut per_thread, mut place) = ([0; N], [1; N], 0);
    per_thread[inner] = vector;
    while place < N {
        order[place] = inner - place;
        place += 1;
    }
    let lanes = shared_out(&shape, &per_thread, &[1; N], 1 << LANE_BITS);
    let warps = shared_out(&shape, &per_thread, &lanes, warps);
    blocked(shape, per_thread, lanes, warps, order)
}

/// Bits of the widest access.
const WIDEST_BITS: usize = 8 * crate::banks::WIDEST as usize;

const fn least(a: usize, b: usize) -> usize {
    if a < b { a } else { b }
}

/// How many of `count` lanes or warps each dimension gets, the last one first, as long as there are elements for them;
/// dimension 0 gets the rest. An element's part of the tile is `each * inside`.
const fn shared_out<const N: usize>(
    shape: &[usize; N],
    each: &[usize; N],
    inside: &[usize; N],
    count: usize,
) -> [usize; N] {
    let (mut shares, mut left, mut dim) = ([1; N], count, N);
    while dim > 1 {
        dim -= 1;
        let room = shape[dim] / (each[dim] * inside[dim]);
        shares[dim] = if room == 0 { 1 } else { least(left, room) };
        left /= shares[dim];
    }
    shares[0] = left;
    shares
}

const fn coalesced_error(shape: &Shape, element_bits: usize, warps: usize, contiguous: usize) -> Option<Error> {
    if shape.fault().is_some() {
        return shape.fault();
    }
    if shape.rank() == 0 {
        return Some(Error::Axis { axis: 0, rank: 0 });
    }
    let (given, mut i) = ([("element_bits", element_bits), ("warps", warps), ("contiguous", contiguous)], 0);
    while i < given.len() {
        let (name, value) = given[i];
        if !value.is_power_of_two() {
            return Some(Error::Parameter { name, value });
        }
        i += 1;
    }
    if warps > 1 << MAX_WARP_BITS {
        return Some(Error::TooManyWarps { bits: warps.ilog2() as usize });
    }
    None
}

/// Bits of all dimensions that one level of blocks can take.
const MOST: usize = MAX_RANK * (MAX_SHAPE_BITS + 1);

/// Takes the next bits of each dimension, so many that `counts` elements are numbered: 0 for those beyond the extent.
const fn level(shape: &Shape, used: &mut [usize; MAX_RANK], counts: &[usize], order: &[usize]) -> ([u32; MOST], usize) {
    let (mut bases, mut taken, mut place) = ([0; MOST], 0, 0);
    while place < order.len() {
        let dim = order[place];
        let mut i = 0;
        while i < counts[dim].trailing_zeros() && taken < MOST {
            if used[dim] < shape.dim_bits(dim) {
                bases[taken] = 1 << (shape.shift(dim) + used[dim]);
            }
            used[dim] += 1;
            taken += 1;
            i += 1;
        }
        place += 1;
    }
    (bases, taken)
}

/// Bits beyond the extent number no registers: a thread would only hold an element twice.
const fn registers(builder: &mut Builder, bases: &[u32], count: usize) {
    let mut i = 0;
    while i < count {
        if bases[i] != 0 {
            builder.register(bases[i]);
        }
        i += 1;
    }
}

const fn blocked_error(
    shape: &Shape,
    per_thread: &[usize],
    lanes: &[usize],
    warps: &[usize],
    order: &[usize],
) -> Option<Error> {
    if let Some(error) = shape.fault() {
        return Some(error);
    }
    let (mut dim, mut lane_count, mut warp_count) = (0, 1_usize, 1_usize);
    while dim < lanes.len() {
        let given = [("per_thread", per_thread[dim]), ("lanes", lanes[dim]), ("warps", warps[dim])];
        let mut i = 0;
        while i < given.len() {
            let (name, value) = given[i];
            if !value.is_power_of_two() {
                return Some(Error::Parameter { name, value });
            }
            if value > 1 << 24 {
                return Some(Error::TooLarge { name, value });
            }
            i += 1;
        }
        lane_count = lane_count.saturating_mul(lanes[dim]);
        warp_count = warp_count.saturating_mul(warps[dim]);
        dim += 1;
    }
    if lane_count != 1 << LANE_BITS {
        return Some(Error::Lanes { lanes: lane_count });
    }
    if warp_count > 1 << MAX_WARP_BITS {
        return Some(Error::TooManyWarps { bits: warp_count.ilog2() as usize });
    }
    shape.permuted(order).fault()
}

/// A layout by its bases, as coordinates: what each bit of a register's, lane's (five) and warp's number moves by.
///
/// ```
/// use quadpair_layouts::linear;
/// let lanes = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]];
/// let layout = linear([8, 8], &[[4, 0]], &lanes, &[]);
/// assert_eq!(layout.apply(1, 9, 0), layout.shape().flat(&[5, 1]));
/// ```
///
/// Invalid if a basis lies outside the shape or some element is held by no thread.
pub const fn linear<const N: usize>(
    shape: [usize; N],
    registers: &[[usize; N]],
    lanes: &[[usize; N]],
    warps: &[[usize; N]],
) -> Layout {
    let shape = Shape::new(shape);
    if let Some(error) = shape.fault() {
        return Layout::invalid(error);
    }
    if lanes.len() != LANE_BITS {
        return Layout::invalid(Error::LaneBases { bases: lanes.len() });
    }
    let mut builder = Builder::new(shape);
    let mut i = 0;
    while i < registers.len() {
        let basis = given(&mut builder, Bit::Register(i as u8), &registers[i]);
        builder.register(basis);
        i += 1;
    }
    let mut lane_bases = [0; LANE_BITS];
    i = 0;
    while i < LANE_BITS {
        lane_bases[i] = given(&mut builder, Bit::Lane(i as u8), &lanes[i]);
        i += 1;
    }
    builder.lanes(lane_bases);
    i = 0;
    while i < warps.len() {
        let basis = given(&mut builder, Bit::Warp(i as u8), &warps[i]);
        builder.warp(basis);
        i += 1;
    }
    builder.finish()
}

/// A basis as a flat index.
const fn given(builder: &mut Builder, bit: Bit, coordinates: &[usize]) -> u32 {
    let shape = builder.layout.shape();
    if let Some(error) = outside(&shape, bit, coordinates) {
        builder.layout = builder.layout.failed(error);
    }
    shape.flat(coordinates)
}

/// What is wrong with a basis that doesn't lie inside a shape.
pub(crate) const fn outside(shape: &Shape, bit: Bit, coordinates: &[usize]) -> Option<Error> {
    let mut dim = 0;
    while dim < coordinates.len() {
        let (coordinate, extent) = (coordinates[dim], shape.extent(dim));
        if coordinate >= extent {
            return Some(Error::BasisOutside { bit, dim: dim as u8, coordinate, extent });
        }
        dim += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where a block layout puts an element, by division and remainder instead of bits.
    fn expected(
        layout: &Layout,
        thread: usize,
        per_thread: [usize; 2],
        lanes: [usize; 2],
        warps: [usize; 2],
    ) -> [usize; 2] {
        let (lane, warp) = (thread % 32, thread / 32);
        [0, 1].map(|dim| {
            let fast = dim == 1;
            let lane = if fast { lane % lanes[1] } else { lane / lanes[1] };
            let warp = if fast { warp % warps[1] } else { warp / warps[1] };
            (lane + lanes[dim] * warp) * per_thread[dim] % layout.shape().extent(dim)
        })
    }

    #[test]
    fn blocks_lie_as_division_and_remainder_say() {
        let cases = [
            ([32, 32], [1, 8], [8, 4], [4, 1]),
            ([64, 128], [4, 4], [4, 8], [2, 2]),
            ([4, 4], [1, 4], [8, 4], [2, 2]),
            ([8, 2], [2, 8], [32, 1], [1, 4]),
        ];
        for (shape, per_thread, lanes, warps) in cases {
            let layout = blocked(shape, per_thread, lanes, warps, [1, 0]).check().unwrap();
            for thread in 0..layout.threads() {
                let first = layout.apply(0, thread % 32, thread / 32);
                let expected = expected(&layout, thread, per_thread, lanes, warps);
                assert_eq!(first, layout.shape().flat(&expected), "{layout} thread {thread}");
            }
            let own = [0, 1].map(|dim| per_thread[dim].min(shape[dim]));
            for r in 0..own[0] * own[1] {
                assert_eq!(layout.apply(r, 0, 0), layout.shape().flat(&[r / own[1], r % own[1]]), "{layout}");
            }
        }
    }

    #[test]
    fn a_tile_larger_than_the_blocks_repeats_them_in_registers() {
        let layout = blocked([64, 64], [1, 2], [8, 4], [4, 1], [1, 0]).check().unwrap();
        assert_eq!(layout.registers(), 64 * 64 / 128);
        let shape = layout.shape();
        let columns = [[0, 1], [0, 8], [0, 16], [0, 32], [32, 0]].map(|basis| shape.flat(&basis));
        assert_eq!(&layout.columns()[..5], &columns);
    }

    #[test]
    fn coalesced_lanes_cover_whole_lines() {
        let expected = |shape, per_thread, lanes, warps| blocked(shape, per_thread, lanes, warps, [1, 0]);
        assert_eq!(coalesced([128, 16], 32, 2, 16), expected([128, 16], [1, 4], [8, 4], [2, 1]));
        assert_eq!(coalesced([8, 1024], 8, 4, 1024), expected([8, 1024], [1, 16], [1, 32], [2, 2]));
        assert_eq!(coalesced([2, 2], 16, 4, 2), expected([2, 2], [1, 1], [16, 2], [4, 1]));
        assert_eq!(coalesced([1024], 128, 1, 1024), blocked([1024], [1], [32], [1], [0]));
        assert_eq!(coalesced([32, 32], 16, 3, 1).fault(), Some(Error::Parameter { name: "warps", value: 3 }));
        assert_eq!(coalesced([32, 32], 16, 64, 1).fault(), Some(Error::TooManyWarps { bits: 6 }));
        assert_eq!(coalesced([], 16, 1, 1).fault(), Some(Error::Axis { axis: 0, rank: 0 }));
    }

    #[test]
    fn faults_of_blocks_are_named() {
        let fault = |per_thread, lanes, warps, order| blocked([32, 32], per_thread, lanes, warps, order).fault();
        assert_eq!(fault([3, 1], [8, 4], [1, 1], [1, 0]), Some(Error::Parameter { name: "per_thread", value: 3 }));
        assert_eq!(fault([1, 1], [8, 8], [1, 1], [1, 0]), Some(Error::Lanes { lanes: 64 }));
        assert_eq!(fault([1, 1], [8, 4], [8, 8], [1, 0]), Some(Error::TooManyWarps { bits: 6 }));
        assert_eq!(fault([1, 1], [8, 4], [1, 1], [1, 1]), Some(Error::RepeatedAxis { axis: 1 }));
        let large = Error::TooLarge { name: "per_thread", value: 1 << 60 };
        assert_eq!(fault([1, 1 << 60], [8, 4], [1, 1], [1, 0]), Some(large));
        assert!(fault([64, 64], [8, 4], [1, 1], [1, 0]).is_none());
    }

    #[test]
    fn faults_of_bases_are_named() {
        let lanes = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]];
        assert_eq!(linear([4, 8], &[], &lanes[1..], &[]).fault(), Some(Error::LaneBases { bases: 4 }));
        let outside = Error::BasisOutside { bit: Bit::Warp(1), dim: 0, coordinate: 4, extent: 4 };
        assert_eq!(linear([4, 8], &[], &lanes, &[[0, 0], [4, 0]]).fault(), Some(outside));
        assert!(matches!(linear([4, 16], &[], &lanes, &[]).fault(), Some(Error::Unheld { .. })));
    }
}
