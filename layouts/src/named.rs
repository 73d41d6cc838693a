//! Named layouts: Gluon's blocked and linear layouts.

use crate::error::Error;
use crate::layout::{Bit, Builder, LANE_BITS, Layout};
use crate::shape::{MAX_RANK, Shape};

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
/// Invalid if an extent is no power of two, the lanes don't multiply to 32, or `order` isn't an order of the dimensions.
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
    let mut builder = Builder::new(shape);
    let mut used = [0; MAX_RANK];
    level(&mut builder, &mut used, Bit::Register(0), &per_thread, &order);
    let mut threads = [0; MAX_RANK];
    let mut dim = 0;
    while dim < N {
        threads[dim] = (lanes[dim] * warps[dim]).trailing_zeros() as usize;
        dim += 1;
    }
    repeats(&mut builder, &used, &threads, &order);
    level(&mut builder, &mut used, Bit::Lane(0), &lanes, &order);
    level(&mut builder, &mut used, Bit::Warp(0), &warps, &order);
    builder.finish()
}

/// Gives the next bits of each dimension to registers, lanes or warps. A register bit beyond the extent is left out, a
/// lane or warp bit there moves nothing.
const fn level(builder: &mut Builder, used: &mut [usize; MAX_RANK], kind: Bit, counts: &[usize], order: &[usize]) {
    let shape = builder.layout.shape();
    let (mut place, mut next) = (0, 0);
    while place < order.len() {
        let dim = order[place];
        let mut i = 0;
        while i < counts[dim].trailing_zeros() {
            let inside = used[dim] < shape.dim_bits(dim);
            let basis = if inside { 1 << (shape.shift(dim) + used[dim]) } else { 0 };
            match kind {
                Bit::Register(_) if inside => builder.push(kind, basis),
                Bit::Register(_) => {}
                Bit::Lane(_) => builder.push(Bit::Lane(next), basis),
                Bit::Warp(_) => builder.push(kind, basis),
            }
            used[dim] += 1;
            next += 1;
            i += 1;
        }
        place += 1;
    }
}

/// Registers for what a tile has beyond one set of blocks.
const fn repeats(builder: &mut Builder, used: &[usize; MAX_RANK], threads: &[usize; MAX_RANK], order: &[usize]) {
    let shape = builder.layout.shape();
    let mut place = 0;
    while place < order.len() {
        let dim = order[place];
        let mut bit = used[dim] + threads[dim];
        while bit < shape.dim_bits(dim) {
            builder.push(Bit::Register(0), 1 << (shape.shift(dim) + bit));
            bit += 1;
        }
        place += 1;
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
    let (mut dim, mut count) = (0, 1_usize);
    while dim < lanes.len() {
        if !per_thread[dim].is_power_of_two() {
            return Some(Error::Parameter { name: "per_thread", value: per_thread[dim] });
        }
        if !lanes[dim].is_power_of_two() {
            return Some(Error::Parameter { name: "lanes", value: lanes[dim] });
        }
        if !warps[dim].is_power_of_two() {
            return Some(Error::Parameter { name: "warps", value: warps[dim] });
        }
        count = count.saturating_mul(lanes[dim]);
        dim += 1;
    }
    if count != 1 << LANE_BITS {
        return Some(Error::Lanes { lanes: count });
    }
    shape.permuted(order).fault()
}

/// A layout by its bases, as coordinates: what each bit of a register's, lane's (five) and warp's number moves by.
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
        given(&mut builder, Bit::Register(i), &registers[i]);
        i += 1;
    }
    i = 0;
    while i < lanes.len() {
        given(&mut builder, Bit::Lane(i), &lanes[i]);
        i += 1;
    }
    i = 0;
    while i < warps.len() {
        given(&mut builder, Bit::Warp(i), &warps[i]);
        i += 1;
    }
    builder.finish()
}

const fn given(builder: &mut Builder, bit: Bit, coordinates: &[usize]) {
    let shape = builder.layout.shape();
    let mut dim = 0;
    while dim < coordinates.len() {
        let (coordinate, extent) = (coordinates[dim], shape.extent(dim));
        if coordinate >= extent {
            builder.layout = builder.layout.failed(Error::BasisOutside { bit, dim, coordinate, extent });
        }
        dim += 1;
    }
    builder.push(bit, shape.flat(coordinates));
}
