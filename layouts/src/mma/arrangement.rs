//! Arrangements: the layouts of whole tiles that a matrix unit multiplies.
//!
//! A tile of `[m, n]` is divided, from the lowest bits of each dimension: the atom's rows and columns, then the quadpairs,
//! then registers, then the warps, then registers again. m8n8k4 has all its repetitions below the warps, so that each warp
//! owns a contiguous stretch: with 2x2 quadpairs and four warps along m, row 45 = `10 1 101` of 64 is row 5 of the atom, in
//! the lower quadpairs, of warp 2. The units of 16 rows have them above, because four warps of 16 rows are one instruction
//! of wgmma: there, row 77 = `1 00 1101` of 128 is row 13 of warp 0's second repetition.
//!
//! A dimension that is too small for all of that leaves the upper bits without an element of their own: they duplicate.

use super::atom::Atom;
use super::units::{M8N8K4, M16N8K8, M16N8K8_TF32, M16N8K16, M16N8K32, packed_a, packed_b};
use crate::error::{Error, Operand};
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
    /// All of them.
    pub const ALL: [Quadpairs; 3] = [Quadpairs::TwoByTwo, Quadpairs::OneByFour, Quadpairs::FourByOne];

    /// Its name: products along the rows x products along the columns.
    pub const fn name(self) -> &'static str {
        match self {
            Quadpairs::FourByOne => "4x1",
            Quadpairs::TwoByTwo => "2x2",
            Quadpairs::OneByFour => "1x4",
        }
    }

    /// The one of this name.
    ///
    /// ```
    /// use quadpair_layouts::Quadpairs;
    /// assert_eq!(Quadpairs::named("1x4"), Some(Quadpairs::OneByFour));
    /// assert_eq!(Quadpairs::named("2x4"), None);
    /// ```
    pub const fn named(name: &str) -> Option<Quadpairs> {
        match name.as_bytes() {
            b"4x1" => Some(Quadpairs::FourByOne),
            b"2x2" => Some(Quadpairs::TwoByTwo),
            b"1x4" => Some(Quadpairs::OneByFour),
            _ => None,
        }
    }

    /// How many quadpair bits move along m and along n.
    const fn bits(self) -> [usize; 2] {
        match self {
            Quadpairs::FourByOne => [2, 0],
            Quadpairs::TwoByTwo => [1, 1],
            Quadpairs::OneByFour => [0, 2],
        }
    }
}

/// A unit, and how a warp's tile is made of its atoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Unit {
    M8N8K4(Quadpairs),
    M16N8K8,
    M16N8K16,
    M16N8K8Tf32,
    M16N8K32,
    /// Four warps' instruction of so many columns; a warp's part is m16n8's, side by side.
    Wgmma {
        n: usize,
    },
}

impl Unit {
    const fn atom(self) -> &'static Atom {
        match self {
            Unit::M8N8K4(_) => &M8N8K4,
            Unit::M16N8K8 => &M16N8K8,
            Unit::M16N8K16 | Unit::Wgmma { .. } => &M16N8K16,
            Unit::M16N8K8Tf32 => &M16N8K8_TF32,
            Unit::M16N8K32 => &M16N8K32,
        }
    }

    const fn quadpairs(self) -> [usize; 2] {
        match self {
            Unit::M8N8K4(quadpairs) => quadpairs.bits(),
            _ => [0, 0],
        }
    }

    /// Bits of a dimension, from the atom's and the quadpairs' on, that are registers below the warps: of `rest` that
    /// are neither inside nor the warps'.
    const fn below_warps(self, dim: usize, rest: usize) -> usize {
        match self {
            Unit::M8N8K4(_) => rest,
            Unit::Wgmma { n } if dim == 1 => (n / M16N8K16.n).trailing_zeros() as usize,
            _ => 0,
        }
    }

    /// The dimension that the lowest bits of the warp's number move along.
    const fn first_warps(self) -> usize {
        match self {
            Unit::M8N8K4(_) | Unit::Wgmma { .. } => 0,
            _ => 1,
        }
    }
}

/// A matrix unit's arrangement over the warps of a block: the layouts of tiles that it multiplies.
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
    unit: Unit,
    warps: [usize; 2],
    /// Whether a thread's columns of two neighbouring atoms lie side by side.
    wide: bool,
    /// Whether quadpairs that share rows go through k in different orders.
    staggered: bool,
    /// Whether quadpairs take turns of four rows or columns instead of eight.
    interleaved: bool,
    /// Whether a warp's atoms lie side by side instead of taking turns with other warps'.
    together: bool,
}

impl Mma {
    const fn of(unit: Unit, warps: [usize; 2]) -> Mma {
        Mma { unit, warps, wide: false, staggered: false, interleaved: false, together: false }
    }

    /// The same with other columns in a thread: where two atoms lie side by side, the thread's part of the second goes on
    /// where its part of the first ends. So m8n8k4's [`b_row`](Self::b_row) loads eight neighbours at once instead of four.
    ///
    /// ```
    /// use quadpair_layouts::{Mma, Quadpairs};
    /// const UNIT: Mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]);
    /// assert_eq!((UNIT.b_row([4, 64]).vector(), UNIT.wide().b_row([4, 64]).vector()), (4, 8));
    /// ```
    pub const fn wide(self) -> Mma {
        Mma { wide: true, ..self }
    }

    /// The same with quadpairs that take turns of four rows, and of four columns: with 2x2, columns 0 to 3 and 8 to 11 are
    /// those of the first, 4 to 7 and 12 to 15 those of the second.
    ///
    /// ```
    /// use quadpair_layouts::{Mma, Quadpairs};
    /// const UNIT: Mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [1, 1]).interleaved();
    /// // Lane 8 is in the second quadpair along the columns.
    /// assert_eq!(UNIT.accumulator([16, 16]).apply(0, 8, 0), 4);
    /// ```
    pub const fn interleaved(self) -> Mma {
        Mma { interleaved: true, ..self }
    }

    /// The same with another order of k: of the quadpairs that share rows, each begins with the part of k that it has
    /// where the left operand was an accumulator `[m, k]` before. It needs no select to choose what it sends.
    ///
    /// ```
    /// use quadpair_layouts::{Mma, Quadpairs, convert};
    /// const UNIT: Mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [1, 1]);
    /// let c = UNIT.accumulator([16, 16]);
    /// let cost = |a| convert::plan(&c, &a, 16).unwrap().cost;
    /// let (plain, staggered) = (cost(UNIT.a([16, 16])), cost(UNIT.staggered().a([16, 16])));
    /// assert_eq!((plain.shuffles, staggered.shuffles), (6, 6));
    /// assert!(staggered.selects < plain.selects);
    /// ```
    pub const fn staggered(self) -> Mma {
        Mma { staggered: true, ..self }
    }

    /// The same with each warp's atoms in one piece of the tile: warps don't take turns along rows and columns. m8n8k4's
    /// never do.
    ///
    /// ```
    /// use quadpair_layouts::Mma;
    /// const UNIT: Mma = Mma::m16n8k16([2, 2]);
    /// // Where the second warp's first element is.
    /// assert_eq!(UNIT.accumulator([64, 64]).apply(0, 0, 1), 8);
    /// assert_eq!(UNIT.together().accumulator([64, 64]).apply(0, 0, 1), 32);
    /// ```
    pub const fn together(self) -> Mma {
        Mma { together: true, ..self }
    }

    /// Volta's unit with its quadpairs and `[along m, along n]` warps arranged so.
    pub const fn m8n8k4(quadpairs: Quadpairs, warps: [usize; 2]) -> Mma {
        Mma::of(Unit::M8N8K4(quadpairs), warps)
    }

    /// Turing's unit, for operands of 16 bits, with `[along m, along n]` warps.
    pub const fn m16n8k8(warps: [usize; 2]) -> Mma {
        Mma::of(Unit::M16N8K8, warps)
    }

    /// Ampere's unit for operands of 16 bits.
    ///
    /// Its accumulator is its left operand: what two products in a row need.
    ///
    /// ```
    /// use quadpair_layouts::{Layout, Mma};
    /// const UNIT: Mma = Mma::m16n8k16([4, 1]);
    /// const _: () = assert!(UNIT.accumulator([64, 32]).same_tile(&UNIT.a([64, 32])));
    /// ```
    pub const fn m16n8k16(warps: [usize; 2]) -> Mma {
        Mma::of(Unit::M16N8K16, warps)
    }

    /// Ampere's unit for tf32 operands.
    pub const fn m16n8k8_tf32(warps: [usize; 2]) -> Mma {
        Mma::of(Unit::M16N8K8Tf32, warps)
    }

    /// Ampere's unit for operands of 8 bits.
    pub const fn m16n8k32(warps: [usize; 2]) -> Mma {
        Mma::of(Unit::M16N8K32, warps)
    }

    /// Hopper's wgmma with instructions of 64 rows and `n` columns. `warps` along m are a multiple of 4: four share an
    /// instruction, 16 rows each. Only the accumulator and a left operand of 16 bits are in registers; for memory see
    /// [`Descriptor`](super::Descriptor).
    ///
    /// ```
    /// use quadpair_layouts::Mma;
    /// let c = Mma::wgmma(64, [4, 1]).accumulator([64, 64]);
    /// assert_eq!(c.registers(), 32);
    /// assert!(c.same_tile(&Mma::m16n8k16([4, 1]).accumulator([64, 64])));
    /// ```
    pub const fn wgmma(n: usize, warps: [usize; 2]) -> Mma {
        Mma::of(Unit::Wgmma { n }, warps)
    }

    /// The accumulator of a tile `[m, n]` in f32. Registers: the atom's, then repetitions along n, then along m.
    pub const fn accumulator(&self, shape: [usize; 2]) -> Layout {
        self.spread(&self.unit.atom().c, shape, [true, true], [1, 0])
    }

    /// The accumulator of a tile `[m, n]` in f16, which m8n8k4 holds in other lanes.
    pub const fn accumulator_half(&self, shape: [usize; 2]) -> Layout {
        self.spread(&self.unit.atom().c_half, shape, [true, true], [1, 0])
    }

    /// The left operand `[m, k]` with each thread's k in neighbouring registers: for memory with k contiguous.
    pub const fn a(&self, shape: [usize; 2]) -> Layout {
        self.spread(&self.unit.atom().a[0], shape, [true, false], [1, 0])
    }

    /// The left operand `[m, k]` with each thread's m in neighbouring registers: for memory with m contiguous.
    ///
    /// Invalid for other units than m8n8k4.
    pub const fn a_col(&self, shape: [usize; 2]) -> Layout {
        match self.unit.atom().a {
            [_, fragment] => self.spread(fragment, shape, [true, false], [1, 0]),
            _ => Layout::invalid(Error::Packs { unit: self.unit.atom().name, operand: Operand::A }),
        }
    }

    /// The right operand `[k, n]` with each thread's k in neighbouring registers: for memory with k contiguous.
    pub const fn b(&self, shape: [usize; 2]) -> Layout {
        self.spread(&self.unit.atom().b[0], shape, [false, true], [0, 1])
    }

    /// The right operand `[k, n]` with each thread's n in neighbouring registers: for memory with n contiguous.
    ///
    /// Invalid for other units than m8n8k4.
    pub const fn b_row(&self, shape: [usize; 2]) -> Layout {
        match self.unit.atom().b {
            [_, fragment] => self.spread(fragment, shape, [false, true], [0, 1]),
            _ => Layout::invalid(Error::Packs { unit: self.unit.atom().name, operand: Operand::B }),
        }
    }

    /// Operand 0 `[m, k]` or 1 `[k, n]` with `k_width` neighbours along k in a thread: also other numbers than fill 32
    /// bits, for operands that are converted before the product.
    ///
    /// ```
    /// use quadpair_layouts::Mma;
    /// const UNIT: Mma = Mma::m16n8k16([4, 1]);
    /// assert!(UNIT.dot_operand([64, 32], 0, 2).equals(&UNIT.a([64, 32])));
    /// // Bytes loaded four at a time, which become halves in the same threads.
    /// assert_eq!(UNIT.dot_operand([64, 32], 0, 4).vector(), 4);
    /// ```
    ///
    /// Invalid if there is no such operand, `k_width` is no power of two up to 16, or another than 4 for m8n8k4.
    pub const fn dot_operand(&self, shape: [usize; 2], index: usize, k_width: usize) -> Layout {
        if index > 1 {
            return Layout::invalid(Error::OperandIndex { index });
        }
        if !k_width.is_power_of_two() {
            return Layout::invalid(Error::Parameter { name: "k_width", value: k_width });
        }
        let fits = match self.unit {
            Unit::M8N8K4(_) => k_width == M8N8K4.k,
            _ => k_width <= 16,
        };
        match (self.unit, index) {
            _ if !fits => Layout::invalid(Error::PackWidth { unit: self.unit.atom().name, k_width }),
            (Unit::M8N8K4(_), 0) => self.a(shape),
            (Unit::M8N8K4(_), _) => self.b(shape),
            (_, 0) => self.spread(&packed_a(k_width), shape, [true, false], [1, 0]),
            (_, _) => self.spread(&packed_b(k_width), shape, [false, true], [0, 1]),
        }
    }

    /// The layout of a tile whose lanes and first registers are the fragment's. `outer` says which dimensions are m or n,
    /// the other one is k; repetitions go to registers dimension by dimension in `order`.
    const fn spread(&self, fragment: &Layout, shape: [usize; 2], outer: [bool; 2], order: [usize; 2]) -> Layout {
        if let Some(error) = self.fault() {
            return Layout::invalid(error);
        }
        let shape = Shape::new(shape);
        if let Some(error) = shape.fault() {
            return Layout::invalid(error);
        }
        let mut spread = Spread::new(self, fragment, shape, outer);
        let mut i = 0;
        while i < fragment.register_bits() {
            let basis = spread.embedded(fragment.register_basis(i));
            spread.builder.register(basis);
            i += 1;
        }
        spread.repetitions(order[0]);
        spread.repetitions(order[1]);
        let lanes = spread.lanes(self.unit.quadpairs());
        spread.builder.lanes(lanes);
        let first = self.unit.first_warps();
        spread.warps(first);
        spread.warps(1 - first);
        spread.builder.finish()
    }

    /// What is wrong with the arrangement, whatever the tile.
    const fn fault(&self) -> Option<Error> {
        let mut dim = 0;
        while dim < 2 {
            if !self.warps[dim].is_power_of_two() {
                return Some(Error::Parameter { name: "warps", value: self.warps[dim] });
            }
            dim += 1;
        }
        match self.unit {
            Unit::Wgmma { n } if !n.is_power_of_two() => Some(Error::Parameter { name: "n", value: n }),
            Unit::Wgmma { n } if n < 8 || n > 256 => Some(Error::WgmmaColumns { n }),
            Unit::Wgmma { .. } if self.warps[0] < 4 => Some(Error::WgmmaWarps { warps: self.warps[0] }),
            _ => None,
        }
    }
}

/// A layout of a tile that is being spread over quadpairs, registers and warps.
struct Spread<'f> {
    fragment: &'f Layout,
    shape: Shape,
    outer: [bool; 2],
    builder: Builder,
    /// For each dimension, where the registers below the warps begin, the warps, and the registers above them.
    below: [usize; 2],
    between: [usize; 2],
    above: [usize; 2],
    /// Along n, the bit that the first repetition takes if the columns are wide: that of a thread's next column.
    next_column: Option<usize>,
    staggered: bool,
    interleaved: bool,
}

impl<'f> Spread<'f> {
    const fn new(mma: &Mma, fragment: &'f Layout, shape: Shape, outer: [bool; 2]) -> Spread<'f> {
        let (quadpairs, mut below, mut between, mut above) = (mma.unit.quadpairs(), [0; 2], [0; 2], [0; 2]);
        let mut dim = 0;
        while dim < 2 {
            below[dim] = fragment.shape().dim_bits(dim);
            between[dim] = below[dim];
            let warps = mma.warps[dim].trailing_zeros() as usize;
            if outer[dim] {
                below[dim] += quadpairs[dim];
                let rest = shape.dim_bits(dim).saturating_sub(below[dim] + warps);
                between[dim] = below[dim] + if mma.together { rest } else { mma.unit.below_warps(dim, rest) };
            }
            above[dim] = between[dim] + warps;
            dim += 1;
        }
        let repeats = outer[1] && between[1] > below[1];
        let next_column = if mma.wide && repeats { Some(2) } else { None };
        let Mma { staggered, interleaved, .. } = *mma;
        let builder = Builder::new(shape);
        Spread { fragment, shape, outer, builder, below, between, above, next_column, staggered, interleaved }
    }

    /// What a bit of a dimension moves by: nothing beyond the extent.
    const fn bit(&self, dim: usize, bit: usize) -> u32 {
        if bit >= self.shape.dim_bits(dim) {
            return 0;
        }
        let turned = self.turned(dim, bit);
        let place = match self.next_column {
            Some(next) if dim == 1 && bit == self.below[1] => next,
            Some(next) if dim == 1 && turned >= next && turned < self.below[1] => turned + 1,
            _ => turned,
        };
        1 << (self.shape.shift(dim) + place)
    }

    /// Where a bit stands if those of quadpairs come before the atom's last one.
    const fn turned(&self, dim: usize, bit: usize) -> usize {
        let last = self.fragment.shape().dim_bits(dim) - 1;
        if !self.interleaved || !self.outer[dim] || bit < last || bit >= self.below[dim] {
            bit
        } else if bit == last {
            self.below[dim] - 1
        } else {
            bit - 1
        }
    }

    /// The same, but nothing along k.
    const fn outer_bit(&self, dim: usize, bit: usize) -> u32 {
        if self.outer[dim] { self.bit(dim, bit) } else { 0 }
    }

    /// What a basis of the fragment moves by in the tile.
    const fn embedded(&self, basis: u32) -> u32 {
        let (mut element, mut dim) = (0, 0);
        while dim < 2 {
            let coordinate = self.fragment.shape().coordinate(basis, dim);
            if coordinate != 0 {
                element |= self.bit(dim, coordinate.trailing_zeros() as usize);
            }
            dim += 1;
        }
        element
    }

    const fn repetitions(&mut self, dim: usize) {
        let mut bit = self.below[dim];
        while bit < self.shape.dim_bits(dim) {
            if !self.outer[dim] || bit < self.between[dim] || bit >= self.above[dim] {
                let basis = self.bit(dim, bit);
                self.builder.register(basis);
            }
            bit += 1;
        }
    }

    /// The fragment's lanes; those that choose a quadpair go along m first, then along n.
    const fn lanes(&self, quadpairs: [usize; 2]) -> [u32; LANE_BITS] {
        let first = [self.fragment.shape().dim_bits(0), self.fragment.shape().dim_bits(1)];
        let (mut lanes, mut lane, mut quadpair) = ([0; LANE_BITS], 0, 0);
        while lane < LANE_BITS {
            let basis = self.fragment.lane_basis(lane);
            lanes[lane] = if basis != 0 {
                self.embedded(basis)
            } else {
                quadpair += 1;
                match quadpair <= quadpairs[0] {
                    true => self.outer_bit(0, first[0] + quadpair - 1),
                    false => {
                        self.outer_bit(1, first[1] + quadpair - 1 - quadpairs[0])
                            | self.first_depth(quadpair - 1 - quadpairs[0])
                    }
                }
            };
            lane += 1;
        }
        lanes
    }

    /// How far along k a quadpair begins, by a bit of its number along n: where the accumulator has its columns.
    const fn first_depth(&self, bit: usize) -> u32 {
        match (self.staggered, self.outer) {
            (true, [true, false]) => self.bit(1, self.first_column_bit() + bit),
            (true, [false, true]) => self.bit(0, self.first_column_bit() + bit),
            _ => 0,
        }
    }

    /// The bit of a column's number that tells quadpairs apart.
    const fn first_column_bit(&self) -> usize {
        M8N8K4.n.trailing_zeros() as usize - if self.interleaved { 1 } else { 0 }
    }

    const fn warps(&mut self, dim: usize) {
        let mut bit = self.between[dim];
        while bit < self.above[dim] {
            let basis = self.outer_bit(dim, bit);
            self.builder.warp(basis);
            bit += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrangements_are_found_by_their_names() {
        for quadpairs in Quadpairs::ALL {
            assert_eq!(Quadpairs::named(quadpairs.name()), Some(quadpairs));
        }
    }

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
    fn packed_units_have_their_repetitions_above_the_warps() {
        let mma = Mma::m16n8k16([2, 2]);
        let c = mma.accumulator([128, 32]).check().unwrap();
        let flat = |bases: [[usize; 2]; 2]| bases.map(|basis| c.shape().flat(&basis));
        assert_eq!([0, 1].map(|i| c.warp_basis(i)), flat([[0, 8], [16, 0]]));
        assert_eq!([2, 3].map(|i| c.register_basis(i)), flat([[0, 16], [32, 0]]));
        let b = mma.b([32, 32]).check().unwrap();
        assert_eq!((b.warp_basis(0), b.warp_basis(1), b.free_lanes()), (8, 0, 0));
        // wgmma: four warps along m first, each with all columns of the instruction.
        let c = Mma::wgmma(32, [4, 2]).accumulator([128, 128]).check().unwrap();
        let flat = |bases: [[usize; 2]; 3]| bases.map(|basis| c.shape().flat(&basis));
        assert_eq!([0, 1, 2].map(|i| c.warp_basis(i)), flat([[16, 0], [32, 0], [0, 32]]));
        assert_eq!([3, 4, 5].map(|i| c.register_basis(i)), flat([[0, 16], [0, 64], [64, 0]]));
    }

    /// What an m16n8 accumulator holds of two tiles side by side is what a left operand of 16 columns wants.
    const _: () = assert!(Mma::m16n8k16([4, 1]).accumulator([64, 16]).same_tile(&Mma::m16n8k16([4, 1]).a([64, 16])));
    const _: () =
        assert!(Mma::wgmma(64, [8, 1]).accumulator([128, 64]).same_tile(&Mma::wgmma(64, [8, 1]).a([128, 64])));

    #[test]
    fn faults_are_named() {
        let packs = Error::Packs { unit: "m16n8k8", operand: Operand::A };
        assert_eq!(Mma::m16n8k8([1, 1]).a_col([64, 16]).fault(), Some(packs));
        let mma = Mma::m16n8k16([1, 1]);
        assert_eq!(mma.dot_operand([64, 16], 2, 2).fault(), Some(Error::OperandIndex { index: 2 }));
        assert_eq!(mma.dot_operand([64, 16], 0, 32).fault(), Some(Error::PackWidth { unit: "m16n8k16", k_width: 32 }));
        assert_eq!(mma.dot_operand([64, 16], 0, 3).fault(), Some(Error::Parameter { name: "k_width", value: 3 }));
        let volta = Mma::m8n8k4(Quadpairs::TwoByTwo, [1, 1]);
        assert_eq!(volta.dot_operand([16, 64], 1, 2).fault(), Some(Error::PackWidth { unit: "m8n8k4", k_width: 2 }));
        assert!(volta.dot_operand([16, 64], 1, 4).equals(&volta.b([16, 64])));
        assert_eq!(Mma::wgmma(64, [2, 2]).a([64, 16]).fault(), Some(Error::WgmmaWarps { warps: 2 }));
        assert_eq!(Mma::wgmma(512, [4, 1]).a([64, 16]).fault(), Some(Error::WgmmaColumns { n: 512 }));
        let mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [3, 1]);
        assert_eq!(mma.a([64, 16]).fault(), Some(Error::Parameter { name: "warps", value: 3 }));
        let mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [8, 8]);
        assert_eq!(mma.b([64, 16]).fault(), Some(Error::TooManyWarps { bits: 6 }));
        assert_eq!(mma.b([64, 48]).fault(), Some(Error::NotPowerOfTwo { dim: 1, extent: 48 }));
    }
}
