//! The law of wgmma's products: which accumulators, left operands and memory four warps multiply, and how.
//!
//! An instruction has 64 rows, up to 256 columns and k of 16. The accumulator `[M, N]` must be that of a
//! [`Mma::wgmma`]: how many warps go along m and n, and how many columns an instruction has, is read off its warps. A left
//! operand in registers must be the same arrangement's; operands in memory are read as [`Descriptor`]s say. With
//! 8 warps along m, a tile `[128, 128]` times k of 32 is one row of instructions of 128 columns, in two steps:
//!
//! ```text
//! step 0: columns 0 to 127, k  0 to 15         warps 0 to 3 have rows  0 to  63,
//! step 1: columns 0 to 127, k 16 to 31         warps 4 to 7 have rows 64 to 127
//! ```
//!
//! One descriptor's pattern and distances serve all instructions: they differ in the start address alone.

use super::arrangement::Mma;
use super::descriptor::{Descriptor, Swizzle};
use crate::error::{Error, Operand, PackedShape};
use crate::layout::Layout;
use crate::shape::Shape;
use crate::shared::SharedLayout;

/// Rows of an instruction.
const ROWS: usize = 64;

/// Rows of a warp's part of it.
const WARP_ROWS: usize = 16;

/// The most columns of an instruction.
const COLUMNS: usize = 256;

/// The fewest.
const LEAST_COLUMNS: usize = 8;

/// The depth of an instruction, for operands of 16 bits.
const DEPTH: usize = 16;

/// Bits of an operand's element.
const BITS: u32 = 16;

/// Where the left operand is.
#[derive(Clone, Copy, Debug)]
pub enum WarpgroupLeft<'l> {
    /// In registers, `[M, K]`.
    Registers(&'l Layout),
    /// In shared memory, `[M, K]`.
    Memory(&'l SharedLayout),
}

/// What the unit is called.
pub const WGMMA: &str = "wgmma";

/// The instructions of a product on wgmma. They are numbered along m, n and k; what is said of one is said of warp 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpgroupPlan {
    /// Columns of an instruction.
    pub n: usize,
    /// Warps along m and n.
    pub warps: [usize; 2],
    /// Instructions along m and n that a warp takes part in.
    pub repetitions: [usize; 2],
    /// Instructions that follow one another along k.
    pub steps: usize,
    /// How the left operand lies in memory, if it is there.
    pub a: Option<Descriptor>,
    /// How the right operand lies in memory.
    pub b: Descriptor,
}

impl WarpgroupPlan {
    /// The first row of the instructions with this number along m.
    pub const fn row(&self, number: usize) -> usize {
        number * WARP_ROWS * self.warps[0]
    }

    /// The first column of the instructions with this number along n.
    pub const fn column(&self, number: usize) -> usize {
        number * self.n * self.warps[1]
    }

    /// The first k of a step.
    pub const fn depth(&self, step: usize) -> usize {
        step * DEPTH
    }

    /// Registers that a thread has of an instruction's accumulator.
    pub const fn sums(&self) -> usize {
        self.n / 2
    }
}

/// The plan of a product on wgmma of 16-bit operands: `a [M, K]` times the memory `b [K, N]` into `c [M, N]` in f32.
///
/// ```
/// use quadpair_layouts::{Mma, mma::WarpgroupLeft, nvmma_shared, typing};
/// const UNIT: Mma = Mma::wgmma(128, [8, 1]);
/// // The transpose of [N, K] has k contiguous.
/// let b = nvmma_shared([128, 64], 128, 16, false).permute([1, 0]);
/// let a = UNIT.a([128, 64]);
/// let plan = typing::warpgroup_mma(WarpgroupLeft::Registers(&a), &b, &UNIT.accumulator([128, 128])).unwrap();
/// assert_eq!((plan.n, plan.repetitions, plan.steps, plan.b.k_major), (128, [1, 1], 4, true));
/// ```
///
/// # Errors
/// Shapes that aren't a product's, or less than an instruction; tiles that are none of wgmma's; memory that it would
/// misread, or that is aligned to less than its pattern.
pub const fn warpgroup_mma(a: WarpgroupLeft<'_>, b: &SharedLayout, c: &Layout) -> Result<WarpgroupPlan, Error> {
    let [m, n, k] = match extents(&a, b, c) {
        Ok(extents) => extents,
        Err(error) => return Err(error),
    };
    let (columns, warps) = match arrangement(c) {
        Ok(found) => found,
        Err(error) => return Err(error),
    };
    let unit = Mma::wgmma(columns, warps);
    if let Err(error) = is_arranged(Operand::C, c, &unit.accumulator([m, n])) {
        return Err(error);
    }
    let left = match a {
        WarpgroupLeft::Registers(tile) => match is_arranged(Operand::A, tile, &unit.a([m, k])) {
            Ok(()) => None,
            Err(error) => return Err(error),
        },
        WarpgroupLeft::Memory(memory) => match warpgroup_left(memory) {
            Ok(descriptor) => Some(descriptor),
            Err(error) => return Err(error),
        },
    };
    let right = match descriptor(&b.permute([1, 0]), columns) {
        Ok(descriptor) => descriptor,
        Err(error) => return Err(error),
    };
    let repetitions = [times(m, WARP_ROWS * warps[0]), times(n, columns * warps[1])];
    Ok(WarpgroupPlan { n: columns, warps, repetitions, steps: k / DEPTH, a: left, b: right })
}

/// Whether a left operand `[M, K]` in memory can be read, whatever it is multiplied by.
///
/// # Errors
/// Memory that wgmma would misread, or that is aligned to less than its pattern.
pub const fn warpgroup_left(memory: &SharedLayout) -> Result<Descriptor, Error> {
    descriptor(memory, ROWS)
}

/// How often a part goes into an extent: once where it is larger.
const fn times(extent: usize, part: usize) -> usize {
    if extent < part { 1 } else { extent / part }
}

/// M, N and K of a product that has room for an instruction.
const fn extents(a: &WarpgroupLeft<'_>, b: &SharedLayout, c: &Layout) -> Result<[usize; 3], Error> {
    let (left, fault) = match a {
        WarpgroupLeft::Registers(tile) => (tile.shape(), tile.fault()),
        WarpgroupLeft::Memory(memory) => (memory.shape(), memory.fault()),
    };
    let faults = [fault, b.fault(), c.fault()];
    let mut i = 0;
    while i < faults.len() {
        if let Some(error) = faults[i] {
            return Err(error);
        }
        i += 1;
    }
    let (right, sum) = (b.shape(), c.shape());
    if !is_product(&left, &right, &sum) {
        let [a, b, c] = [PackedShape::of(&left), PackedShape::of(&right), PackedShape::of(&sum)];
        return Err(Error::ProductShapes { a, b, c });
    }
    let [m, n, k] = [sum.extent(0), sum.extent(1), left.extent(1)];
    if let WarpgroupLeft::Registers(tile) = a
        && tile.warps() != c.warps()
    {
        return Err(Error::Warps { from: tile.warps(), to: c.warps() });
    }
    match () {
        _ if m < ROWS => Err(Error::WgmmaRows { m }),
        _ if n < LEAST_COLUMNS => Err(Error::WgmmaColumns { n }),
        _ if k < DEPTH => Err(Error::Depth { k, least: DEPTH }),
        _ => Ok([m, n, k]),
    }
}

const fn is_product(a: &Shape, b: &Shape, c: &Shape) -> bool {
    let matrices = a.rank() == 2 && b.rank() == 2 && c.rank() == 2;
    matrices && a.extent(0) == c.extent(0) && b.extent(1) == c.extent(1) && a.extent(1) == b.extent(0)
}

/// The columns of an instruction and the warps along m and n of an accumulator, if it is one.
const fn arrangement(c: &Layout) -> Result<(usize, [usize; 2]), Error> {
    let (shape, mut warps, mut bit) = (c.shape(), [1, 1], 0);
    let mut columns = if shape.extent(1) < COLUMNS { shape.extent(1) } else { COLUMNS };
    while bit < c.warp_bits() {
        match shape.coordinate(c.warp_basis(bit), 1) {
            0 => warps[0] *= 2,
            column => {
                warps[1] *= 2;
                // Columns below the first that a warp moves by are its own.
                let own = 1 << column.trailing_zeros();
                columns = if own < columns { own } else { columns };
            }
        }
        bit += 1;
    }
    match () {
        _ if warps[0] < ROWS / WARP_ROWS => Err(Error::WgmmaWarps { warps: warps[0] }),
        _ if columns < LEAST_COLUMNS => Err(Error::WgmmaColumns { n: columns }),
        _ => Ok((columns, warps)),
    }
}

const fn is_arranged(operand: Operand, tile: &Layout, wanted: &Layout) -> Result<(), Error> {
    match tile.difference(wanted) {
        None => Ok(()),
        Some(difference) => Err(Error::WgmmaOperand { operand, difference }),
    }
}

/// The descriptor of every instruction's part of an operand `[m or n, k]` of which it takes so many rows.
///
/// Where a part begins is a sum (XOR) of what the bits of its number contribute, so that it is enough to look at those.
const fn descriptor(memory: &SharedLayout, rows: usize) -> Result<Descriptor, Error> {
    let found = match Descriptor::of(&part(memory, [0, 0], rows), BITS) {
        Ok(found) => found,
        Err(error) => return Err(error),
    };
    let (shape, mut dim) = (memory.shape(), 0);
    while dim < 2 {
        let mut start = if dim == 0 { rows } else { DEPTH };
        while start < shape.extent(dim) {
            let first = if dim == 0 { [start, 0] } else { [0, start] };
            if let Err(error) = Descriptor::of(&part(memory, first, rows), BITS) {
                return Err(error);
            }
            start *= 2;
        }
        dim += 1;
    }
    let pattern = match found.swizzle {
        Swizzle::None => 16,
        swizzle => 8 * swizzle.row_bytes() as u32,
    };
    if memory.alignment() < pattern {
        return Err(Error::LessAligned { wanted: pattern, bytes: memory.alignment() });
    }
    Ok(found)
}

const fn part(memory: &SharedLayout, first: [usize; 2], rows: usize) -> SharedLayout {
    memory.slice(0, first[0], rows).slice(1, first[1], DEPTH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::blocked;
    use crate::shared::{nvmma_shared, row_major, swizzled};

    const UNIT: Mma = Mma::wgmma(64, [8, 1]);

    fn plan(b: SharedLayout, c: Layout) -> Result<WarpgroupPlan, Error> {
        let (m, k) = (c.shape().extent(0), b.shape().extent(0));
        let left = nvmma_shared([m, k], 32, 16, false);
        warpgroup_mma(WarpgroupLeft::Memory(&left), &b, &c)
    }

    #[test]
    fn instructions_are_as_wide_as_the_warps_leave_room() {
        let b = nvmma_shared([64, 512], 128, 16, false);
        let own = plan(b, Mma::wgmma(64, [4, 2]).accumulator([256, 512])).unwrap();
        assert_eq!((own.n, own.warps, own.repetitions, own.steps), (64, [4, 2], [4, 4], 4));
        assert_eq!((own.row(3), own.column(1), own.depth(2), own.sums()), (192, 128, 32, 32));
        // Without warps along n the instruction's columns aren't the layout's to say.
        let own = plan(b, UNIT.accumulator([128, 512])).unwrap();
        assert_eq!((own.n, own.warps, own.repetitions), (256, [8, 1], [1, 2]));
        // Eight warps on 64 rows: two instructions compute the same.
        let own = plan(nvmma_shared([8, 16], 32, 16, false).permute([1, 0]), UNIT.accumulator([64, 8])).unwrap();
        assert_eq!((own.n, own.repetitions, own.steps), (8, [1, 1], 1));
    }

    #[test]
    fn either_dimension_of_the_memory_may_be_contiguous() {
        let c = UNIT.accumulator([128, 128]);
        for swizzle in [32, 64, 128] {
            let keys = plan(nvmma_shared([128, 64], swizzle, 16, false).permute([1, 0]), c).unwrap();
            let values = plan(nvmma_shared([64, 128], swizzle, 16, false), c).unwrap();
            assert!(keys.b.k_major && !values.b.k_major);
            assert_eq!(keys.b.swizzle.row_bytes(), swizzle);
        }
        let left = UNIT.a([128, 64]);
        let b = nvmma_shared([64, 128], 128, 16, false);
        assert_eq!(warpgroup_mma(WarpgroupLeft::Registers(&left), &b, &c).unwrap().a, None);
    }

    #[test]
    fn what_wgmma_does_not_have_is_named() {
        let b = nvmma_shared([64, 128], 128, 16, false);
        let c = UNIT.accumulator([128, 128]);
        let other = blocked([128, 128], [1, 8], [4, 8], [8, 1], [1, 0]);
        assert!(matches!(plan(b, other), Err(Error::WgmmaOperand { operand: Operand::C, .. })));
        let left = blocked([128, 64], [1, 8], [4, 8], [8, 1], [1, 0]);
        let error = warpgroup_mma(WarpgroupLeft::Registers(&left), &b, &c);
        assert!(matches!(error, Err(Error::WgmmaOperand { operand: Operand::A, .. })));
        let narrow = Mma::m16n8k16([2, 1]).accumulator([128, 128]);
        assert_eq!(plan(b, narrow), Err(Error::WgmmaWarps { warps: 2 }));
        assert_eq!(plan(b, Mma::m16n8k16([4, 1]).accumulator([32, 128])), Err(Error::WgmmaRows { m: 32 }));
        assert!(matches!(plan(row_major([64, 128]), c), Err(Error::Descriptor { .. })));
        // The same places as the swizzle of 128 bytes, but an allocation that may begin anywhere.
        let loose = swizzled([128, 64], 8, 1, 8, [1, 0]);
        assert_eq!(plan(loose.permute([1, 0]), c), Err(Error::LessAligned { wanted: 1024, bytes: 16 }));
        assert!(plan(loose.aligned(1024).permute([1, 0]), c).is_ok());
    }
}
