//! Arrangements: the layouts of whole tiles that a matrix unit multiplies.
//!
//! A tile of `[m, n]` is divided, from the lowest bits of each dimension: the atom's 8 rows and columns, then the
//! quadpairs, then repetitions in registers, then the warps, so that each warp owns a contiguous stretch. With 2x2
//! quadpairs and four warps along m, row 45 = `10 1 101` of 64 is row 5 of the atom, in the lower quadpairs, of warp 2.
//! A dimension that is too small for all of that leaves the upper bits without an element of their own: they duplicate.

use super::atom::M8N8K4;
use crate::error::Error;
use crate::layout::{Builder, LANE_BITS, Layout};
use crate::shape::Shape;

/// How the four 8x8 products of m8n8k4 lie in a warp's tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quadpairs {
    /// 32 rows, 8 columns.
    FourByOne,
    /// 16 rows, 16 columns.
    TwoByTwo,
    /// 8 rows, 32 columns.
    OneByFour,
}

impl Quadpairs {
    /// How many quadpair bits move along m and along n.
    const fn bits(self) -> [usize; 2] {
        match self {
            Quadpairs::FourByOne => [2, 0],
            Quadpairs::TwoByTwo => [1, 1],
            Quadpairs::OneByFour => [0, 2],
        }
    }
}

/// A matrix unit's arrangement over the quadpairs and warps of a block: the layouts of tiles that it multiplies.
///
/// ```
/// use quadpair_layouts::{Mma, Quadpairs, typing};
/// const UNIT: Mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]);
/// let c = UNIT.accumulator([64, 32]);
/// assert_eq!(c.registers(), 64 * 32 / 128);
/// let plan = typing::mma(&UNIT.a([64, 16]), &UNIT.b([16, 32]), &c).unwrap();
/// assert_eq!((plan.repetitions, plan.steps), (2, 4));
/// ```
///
/// Layouts for warps that aren't powers of two are invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mma {
    quadpairs: Quadpairs,
    warps: [usize; 2],
}

impl Mma {
    /// Volta's unit with its quadpairs and `[along m, along n]` warps arranged so.
    pub const fn m8n8k4(quadpairs: Quadpairs, warps: [usize; 2]) -> Mma {
        Mma { quadpairs, warps }
    }

    /// The accumulator of a tile `[m, n]`. Registers: the atom's, then repetitions along n, then along m.
    pub const fn accumulator(&self, shape: [usize; 2]) -> Layout {
        self.spread(&M8N8K4.c, shape, [true, true], [1, 0])
    }

    /// The left operand `[m, k]` with each thread's k in neighbouring registers: for memory with k contiguous.
    pub const fn a(&self, shape: [usize; 2]) -> Layout {
        self.spread(&M8N8K4.a[0], shape, [true, false], [1, 0])
    }

    /// The left operand `[m, k]` with each thread's m in neighbouring registers: for memory with m contiguous.
    pub const fn a_col(&self, shape: [usize; 2]) -> Layout {
        self.spread(&M8N8K4.a[1], shape, [true, false], [1, 0])
    }

    /// The right operand `[k, n]` with each thread's k in neighbouring registers: for memory with k contiguous.
    pub const fn b(&self, shape: [usize; 2]) -> Layout {
        self.spread(&M8N8K4.b[0], shape, [false, true], [0, 1])
    }

    /// The right operand `[k, n]` with each thread's n in neighbouring registers: for memory with n contiguous.
    pub const fn b_row(&self, shape: [usize; 2]) -> Layout {
        self.spread(&M8N8K4.b[1], shape, [false, true], [0, 1])
    }

    /// The layout of a tile whose lanes and first registers are the fragment's. `outer` says which dimensions are m or n,
    /// the other one is k; repetitions go to registers dimension by dimension in `order`.
    const fn spread(&self, fragment: &Layout, shape: [usize; 2], outer: [bool; 2], order: [usize; 2]) -> Layout {
        let mut spread = match Spread::new(self, fragment, Shape::new(shape), outer) {
            Ok(spread) => spread,
            Err(error) => return Layout::invalid(error),
        };
        let mut i = 0;
        while i < fragment.register_bits() {
            let basis = spread.embedded(fragment.register_basis(i));
            spread.builder.register(basis);
            i += 1;
        }
        spread.repetitions(order[0]);
        spread.repetitions(order[1]);
        let lanes = spread.lanes(self.quadpairs.bits());
        spread.builder.lanes(lanes);
        spread.warps(0, self.warps[0]);
        spread.warps(1, self.warps[1]);
        spread.builder.finish()
    }
}

/// A layout of a tile that is being spread over quadpairs, registers and warps.
struct Spread<'f> {
    fragment: &'f Layout,
    shape: Shape,
    outer: [bool; 2],
    builder: Builder,
    /// For each dimension, the first bit of the repetitions and the first one of the warps.
    repeated: [usize; 2],
    between_warps: [usize; 2],
}

impl<'f> Spread<'f> {
    const fn new(mma: &Mma, fragment: &'f Layout, shape: Shape, outer: [bool; 2]) -> Result<Spread<'f>, Error> {
        if let Some(error) = shape.fault() {
            return Err(error);
        }
        let (quadpairs, mut repeated, mut between_warps) = (mma.quadpairs.bits(), [0; 2], [0; 2]);
        let mut dim = 0;
        while dim < 2 {
            if !mma.warps[dim].is_power_of_two() {
                return Err(Error::Parameter { name: "warps", value: mma.warps[dim] });
            }
            let (mut inner, mut warps) = (fragment.shape().dim_bits(dim), 0);
            if outer[dim] {
                inner += quadpairs[dim];
                warps = mma.warps[dim].trailing_zeros() as usize;
            }
            repeated[dim] = inner;
            let above = shape.dim_bits(dim).saturating_sub(warps);
            between_warps[dim] = if above > inner { above } else { inner };
            dim += 1;
        }
        Ok(Spread { fragment, shape, outer, builder: Builder::new(shape), repeated, between_warps })
    }

    /// What a bit of a dimension moves by: nothing beyond the extent, or if the dimension is k and doesn't take the bit.
    const fn bit(&self, dim: usize, bit: usize) -> u32 {
        if bit < self.shape.dim_bits(dim) { 1 << (self.shape.shift(dim) + bit) } else { 0 }
    }

    const fn outer_bit(&self, dim: usize, bit: usize) -> u32 {
        if self.outer[dim] { self.bit(dim, bit) } else { 0 }
    }

    /// What a basis of the fragment moves by in the tile.
    const fn embedded(&self, basis: u32) -> u32 {
        let fragment = self.fragment.shape();
        self.shape.flat(&[fragment.coordinate(basis, 0), fragment.coordinate(basis, 1)])
    }

    const fn repetitions(&mut self, dim: usize) {
        let mut bit = self.repeated[dim];
        while bit < self.between_warps[dim] {
            let basis = self.bit(dim, bit);
            if basis != 0 {
                self.builder.register(basis);
            }
            bit += 1;
        }
    }

    /// The fragment's lanes; those that choose a quadpair go along m first, then along n.
    const fn lanes(&self, quadpairs: [usize; 2]) -> [u32; LANE_BITS] {
        let atom = [M8N8K4.m.trailing_zeros() as usize, M8N8K4.n.trailing_zeros() as usize];
        let (mut lanes, mut lane, mut quadpair) = ([0; LANE_BITS], 0, 0);
        while lane < LANE_BITS {
            let basis = self.fragment.lane_basis(lane);
            lanes[lane] = if basis != 0 {
                self.embedded(basis)
            } else {
                quadpair += 1;
                match quadpair <= quadpairs[0] {
                    true => self.outer_bit(0, atom[0] + quadpair - 1),
                    false => self.outer_bit(1, atom[1] + quadpair - 1 - quadpairs[0]),
                }
            };
            lane += 1;
        }
        lanes
    }

    const fn warps(&mut self, dim: usize, warps: usize) {
        let mut i = 0;
        while i < warps.trailing_zeros() as usize {
            let basis = self.outer_bit(dim, self.between_warps[dim] + i);
            self.builder.warp(basis);
            i += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_accumulator_of_a_warp_is_four_atoms() {
        let c = Mma::m8n8k4(Quadpairs::TwoByTwo, [1, 1]).accumulator([16, 16]).check().unwrap();
        let shape = c.shape();
        let registers = [[0, 1], [2, 0], [0, 4]].map(|basis| shape.flat(&basis));
        let lanes = [[1, 0], [0, 2], [8, 0], [0, 8], [4, 0]].map(|basis| shape.flat(&basis));
        assert_eq!((&c.columns()[..3], &c.columns()[3..]), (&registers[..], &lanes[..]));
    }

    #[test]
    fn warps_own_contiguous_rows_and_registers_repeat_below() {
        let c = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]).accumulator([128, 32]);
        let shape = c.shape();
        assert_eq!([0, 1].map(|i| c.warp_basis(i)), [[32, 0], [64, 0]].map(|basis| shape.flat(&basis)));
        assert_eq!([3, 4].map(|i| c.register_basis(i)), [[0, 16], [16, 0]].map(|basis| shape.flat(&basis)));
    }

    #[test]
    fn operands_have_consecutive_k_or_rows_in_their_first_registers() {
        let mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]);
        assert_eq!(mma.a([64, 16]).vector(), 16);
        assert_eq!(mma.b([8, 32]).permute([1, 0]).vector(), 8);
        assert_eq!((mma.a_col([64, 16]).permute([1, 0]).vector(), mma.b_row([8, 32]).vector()), (4, 4));
        // Quadpairs and warps along the other dimension hold the same operand.
        assert_eq!((mma.a([64, 16]).free_lanes(), mma.b([8, 32]).free_lanes()), (0b1000, 0b0100));
        assert_eq!((mma.a([64, 16]).free_warps(), mma.b([8, 32]).free_warps()), (0, 0b11));
    }

    #[test]
    fn a_small_tile_is_held_several_times() {
        let mma = Mma::m8n8k4(Quadpairs::OneByFour, [2, 2]);
        let c = mma.accumulator([8, 16]).check().unwrap();
        assert_eq!((c.free_lanes(), c.free_warps(), c.registers()), (0b1000, 0b11, 8));
        assert_eq!(mma.accumulator([4, 4]).check().unwrap().free_registers(), 0b100);
    }

    #[test]
    fn faults_are_named() {
        let mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [3, 1]);
        assert_eq!(mma.a([64, 16]).fault(), Some(Error::Parameter { name: "warps", value: 3 }));
        let mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [8, 8]);
        assert_eq!(mma.b([64, 16]).fault(), Some(Error::TooManyWarps { bits: 6 }));
        assert_eq!(mma.b([64, 48]).fault(), Some(Error::NotPowerOfTwo { dim: 1, extent: 48 }));
    }
}
