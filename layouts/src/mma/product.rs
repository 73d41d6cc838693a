//! The law of matrix products: which layouts of `a [M, K]`, `b [K, N]` and `c [M, N]` can be multiplied, and how.
//!
//! They fit an atom if its m, n and k bits can be *placed* somewhere in M, N and K so that every operand's lanes move as
//! the atom's fragment says. Lane bits that choose a product, and warps, may move anywhere as long as `a` and `c` agree
//! on the row, `b` and `c` on the column, `a` and `b` on k. Everything else is repetition: registers of `c` are more rows
//! and columns, registers of `a` and `b` are more rows, columns and k.
//!
//! For m8n8k4 an accumulator's lane bit 0 places the atom's lowest row bit, its lane bit 1 the second column bit; the
//! second row bit is a register there, so `a`'s lane bit 1 places it. What no lane places goes to the lowest registers.
//!
//! The units of a table are tried one after the other. What an operand is made for shows in its lanes, so that of the units
//! that don't fit the one is told of that most operands are made for.
//!
//! A product by fused multiply-adds follows the same law with an atom of one element, whose lane bits all choose.

use super::atom::Atom;
use super::plan::{MmaPlan, Numbers};
use super::units::{FMA, UNITS};
use crate::error::{self, ElementOf, Error, Operand, PackedShape, Wanted};
use crate::f2::Span;
use crate::layout::{Bit, LANE_BITS, Layout};

/// The plan of a product of 16-bit operands into f32 on a matrix unit: `a [M, K]` times `b [K, N]` into `c [M, N]`.
///
/// The layouts tell m8n8k4 from the units of 16 rows. Of these the deepest that k has room for is planned.
///
/// # Errors
/// The basis of an operand that isn't the fragment's, and the layout that would be right.
pub const fn mma(a: &Layout, b: &Layout, c: &Layout) -> Result<MmaPlan, Error> {
    mma_of(16, 32, a, b, c)
}

/// The plan of a product on a matrix unit for operands and accumulators of so many bits.
///
/// The bits are needed, because layouts don't tell: halves in pairs are singles one by one, in another order along k.
///
/// # Errors
/// No unit multiplies such elements; the basis of an operand that isn't the fragment's.
pub const fn mma_of(
    operand_bits: u32,
    accumulator_bits: u32,
    a: &Layout,
    b: &Layout,
    c: &Layout,
) -> Result<MmaPlan, Error> {
    mma_on(u32::MAX, operand_bits, accumulator_bits, a, b, c)
}

/// The plan of a product on an architecture: of the units that it has and the layouts fit, on the deepest.
///
/// Where it has none of them the plan is that of the first unit that came: its `first_sm` tells what is missing.
///
/// ```
/// use quadpair_layouts::{Mma, typing};
/// const UNIT: Mma = Mma::m16n8k16([1, 1]);
/// let (a, b, c) = (UNIT.a([16, 16]), UNIT.b([16, 8]), UNIT.accumulator([16, 8]));
/// let unit = |sm| typing::mma_on(sm, 16, 32, &a, &b, &c).unwrap().atom.name;
/// assert_eq!((unit(80), unit(75)), ("m16n8k16", "m16n8k8"));
/// ```
///
/// # Errors
/// As [`mma_of`].
pub const fn mma_on(
    sm: u32,
    operand_bits: u32,
    accumulator_bits: u32,
    a: &Layout,
    b: &Layout,
    c: &Layout,
) -> Result<MmaPlan, Error> {
    let (half, mut planned, mut i) = (accumulator_bits == 16, None, 0);
    while i < UNITS.len() {
        let possible = UNITS[i].operand_bits == operand_bits && (UNITS[i].first_sm <= sm || planned.is_none());
        if possible && let Ok(plan) = product(UNITS[i], error::Product::Mma, half, [a, b, c]) {
            planned = Some(plan);
        }
        i += 1;
    }
    match planned {
        Some(plan) => Ok(plan),
        None => Err(error_of_nearest(operand_bits, half, [a, b, c])),
    }
}

/// The error of the unit that most operands are made for; of several the one that came furthest, then the first.
const fn error_of_nearest(operand_bits: u32, half: bool, operands: [&Layout; 3]) -> Error {
    let (mut nearest, mut most, mut i) = (Error::NoUnit { operand_bits }, 0, 0);
    while i < UNITS.len() {
        if UNITS[i].operand_bits == operand_bits
            && let Err(error) = product(UNITS[i], error::Product::Mma, half, operands)
        {
            let score = 1 + 4 * fitting(UNITS[i], half, operands) + progress(&error);
            if score > most {
                nearest = error;
                most = score;
            }
        }
        i += 1;
    }
    nearest
}

/// How many operands have their lanes as the atom's fragments have them, each alone.
const fn fitting(atom: &'static Atom, half: bool, operands: [&Layout; 3]) -> usize {
    let product = Product::new(atom, error::Product::Mma, half, operands);
    if product.operands_fit().is_err() {
        return 0;
    }
    product.any_fits(Operand::A, atom.a) as usize
        + product.any_fits(Operand::B, atom.b) as usize
        + product.any_fits(Operand::C, core::slice::from_ref(product.sum)) as usize
}

/// The plan of a product by fused multiply-adds.
///
/// # Errors
/// The basis of an operand that doesn't go with the accumulator's, and the layout that would be right.
pub const fn dot(a: &Layout, b: &Layout, c: &Layout) -> Result<MmaPlan, Error> {
    product(&FMA, error::Product::Dot, false, [a, b, c])
}

/// Tries each variant of the atom; the error is that of the variant that came furthest.
const fn product(
    atom: &'static Atom,
    kind: error::Product,
    half: bool,
    operands: [&Layout; 3],
) -> Result<MmaPlan, Error> {
    let product = Product::new(atom, kind, half, operands);
    if let Err(error) = product.operands_fit() {
        return Err(error);
    }
    let (mut best, mut variant) = (Error::Matrix { rank: 0 }, 0);
    while variant < atom.a.len() * atom.b.len() {
        let (a, b) = (variant % atom.a.len(), variant / atom.a.len());
        match product.plan(a, b) {
            Ok(plan) => return Ok(plan),
            Err(error) if variant == 0 || progress(&error) > progress(&best) => best = error,
            Err(_) => {}
        }
        variant += 1;
    }
    Err(best)
}

/// How far a variant came: the accumulator is looked at first, then `a`, then `b`.
const fn progress(error: &Error) -> usize {
    match error {
        Error::Fragment { operand: Operand::C, .. } => 0,
        Error::Fragment { operand: Operand::A, .. } => 1,
        Error::Fragment { operand: Operand::B, .. } => 2,
        _ => 3,
    }
}

/// A product whose atom is being placed.
#[derive(Clone, Copy)]
struct Product<'l> {
    atom: &'static Atom,
    kind: error::Product,
    /// The accumulator's fragment.
    sum: &'static Layout,
    operands: [&'l Layout; 3],
    /// Where each bit of the atom's m, n and k lies, as coordinates along M, N and K.
    placed: [[Option<u32>; AXIS_BITS]; 3],
}

/// The most bits that an atom's dimension has.
const AXIS_BITS: usize = 5;

const M: usize = 0;
const N: usize = 1;
const K: usize = 2;

/// The axes of an operand's two dimensions.
const fn axes(operand: Operand) -> [usize; 2] {
    match operand {
        Operand::A => [M, K],
        Operand::B => [K, N],
        Operand::C => [M, N],
    }
}

impl<'l> Product<'l> {
    const fn new(atom: &'static Atom, kind: error::Product, half: bool, operands: [&'l Layout; 3]) -> Product<'l> {
        let sum = if half { &atom.c_half } else { &atom.c };
        Product { atom, kind, sum, operands, placed: [[None; AXIS_BITS]; 3] }
    }

    /// Whether an operand's lanes move as in one of these fragments, each along its dimension.
    const fn any_fits(&self, operand: Operand, fragments: &[Layout]) -> bool {
        let (mut fits, mut i) = (false, 0);
        while i < fragments.len() {
            let mut alone = *self;
            fits = fits || alone.lanes(operand, &fragments[i]).is_ok() && self.all_move(operand, &fragments[i]);
            i += 1;
        }
        fits
    }

    const fn all_move(&self, operand: Operand, fragment: &Layout) -> bool {
        let (mut all, mut lane) = (true, 0);
        while lane < LANE_BITS {
            all = all && (fragment.lane_basis(lane) == 0 || self.layout(operand).lane_basis(lane) != 0);
            lane += 1;
        }
        all
    }

    const fn layout(&self, operand: Operand) -> &'l Layout {
        match operand {
            Operand::A => self.operands[0],
            Operand::B => self.operands[1],
            Operand::C => self.operands[2],
        }
    }

    const fn operands_fit(&self) -> Result<(), Error> {
        let [a, b, c] = self.operands;
        let mut i = 0;
        while i < 3 {
            if let Some(error) = self.operands[i].fault() {
                return Err(error);
            }
            i += 1;
        }
        let (a_shape, b_shape, c_shape) = (a.shape(), b.shape(), c.shape());
        let matrices = a_shape.rank() == 2 && b_shape.rank() == 2 && c_shape.rank() == 2;
        let rows = a_shape.extent(0) == c_shape.extent(0);
        let columns = b_shape.extent(1) == c_shape.extent(1);
        if !matrices || !rows || !columns || a_shape.extent(1) != b_shape.extent(0) {
            let (a, b, c) = (PackedShape::of(&a_shape), PackedShape::of(&b_shape), PackedShape::of(&c_shape));
            return Err(Error::ProductShapes { a, b, c });
        }
        if a_shape.extent(1) < self.atom.k {
            return Err(Error::Depth { k: a_shape.extent(1), least: self.atom.k });
        }
        if a.warps() != c.warps() || b.warps() != c.warps() {
            let other = if a.warps() != c.warps() { a } else { b };
            return Err(Error::Warps { from: other.warps(), to: c.warps() });
        }
        Ok(())
    }

    /// The accumulator first, then `a`, then `b`: an error tells how far a variant came.
    const fn plan(mut self, a_variant: usize, b_variant: usize) -> Result<MmaPlan, Error> {
        let (a, b, c) = (&self.atom.a[a_variant], &self.atom.b[b_variant], self.sum);
        let fragments = [(Operand::C, c), (Operand::A, a), (Operand::B, b)];
        let mut i = 0;
        while i < 3 {
            let (operand, fragment) = fragments[i];
            if let Err(error) = self.lanes(operand, fragment) {
                return Err(error);
            }
            if let Err(error) = self.choices(operand, fragment) {
                return Err(error);
            }
            i += 1;
        }
        self.place_registers(Operand::A, a);
        self.place_registers(Operand::B, b);
        self.registers([a, b, c], a_variant == 1, b_variant == 1)
    }

    /// The flat index, in an operand, of a coordinate along M, N or K.
    const fn along(&self, operand: Operand, axis: usize, coordinate: u32) -> u32 {
        let dim = if axes(operand)[0] == axis { 0 } else { 1 };
        coordinate << self.layout(operand).shape().shift(dim)
    }

    /// The coordinate along M, N or K of an operand's basis.
    const fn coordinate(&self, operand: Operand, axis: usize, basis: u32) -> u32 {
        let dim = if axes(operand)[0] == axis { 0 } else { 1 };
        self.layout(operand).shape().coordinate(basis, dim) as u32
    }

    /// Places the atom's bits where an operand's lanes are, and checks those that are placed.
    const fn lanes(&mut self, operand: Operand, fragment: &Layout) -> Result<(), Error> {
        let mut lane = 0;
        while lane < LANE_BITS {
            if let Some((axis, bit)) = atom_bit(operand, fragment, fragment.lane_basis(lane)) {
                let basis = self.layout(operand).lane_basis(lane);
                let here = self.coordinate(operand, axis, basis);
                let placed = self.placed[axis][bit];
                let wants = match placed {
                    Some(placed) => self.along(operand, axis, placed),
                    None => self.along(operand, axis, here),
                };
                if basis != wants {
                    let dim = if axes(operand)[0] == axis { 0 } else { 1 };
                    let wants = if placed.is_some() { Wanted::Element(wants) } else { Wanted::Along { dim } };
                    return Err(self.wrong(operand, Bit::Lane(lane as u8), basis, wants));
                }
                self.placed[axis][bit] = Some(here);
            }
            lane += 1;
        }
        Ok(())
    }

    const fn wrong(&self, operand: Operand, bit: Bit, basis: u32, wants: Wanted) -> Error {
        let shape = PackedShape::of(&self.layout(operand).shape());
        Error::Fragment { product: self.kind, operand, bit, is: ElementOf { element: basis, shape }, wants }
    }

    /// Lane bits that choose a product, and warps: `a` has the accumulator's row, `b` its column and the depth of `a`.
    const fn choices(&self, operand: Operand, fragment: &Layout) -> Result<(), Error> {
        let [a, _, c] = self.operands;
        let (layout, mut i) = (self.layout(operand), 0);
        while i < LANE_BITS + layout.warp_bits() {
            let (bit, basis, a, c) = if i < LANE_BITS {
                (Bit::Lane(i as u8), layout.lane_basis(i), a.lane_basis(i), c.lane_basis(i))
            } else {
                let i = i - LANE_BITS;
                (Bit::Warp(i as u8), layout.warp_basis(i), a.warp_basis(i), c.warp_basis(i))
            };
            let row = self.coordinate(Operand::C, M, c);
            let column = self.coordinate(Operand::C, N, c);
            let depth = self.coordinate(Operand::A, K, a);
            let wants = match operand {
                Operand::A => self.along(Operand::A, M, row) | self.along(Operand::A, K, depth),
                Operand::B => self.along(Operand::B, N, column) | self.along(Operand::B, K, depth),
                Operand::C => c,
            };
            let chooses = i >= LANE_BITS || fragment.lane_basis(i) == 0;
            if chooses && basis != wants {
                return Err(self.wrong(operand, bit, basis, Wanted::Element(wants)));
            }
            i += 1;
        }
        Ok(())
    }

    /// Places the atom's bits that no lane has placed: in the lowest registers that move along the axis only.
    const fn place_registers(&mut self, operand: Operand, fragment: &Layout) {
        let mut i = 0;
        while i < fragment.register_bits() {
            if let Some((axis, bit)) = atom_bit(operand, fragment, fragment.register_basis(i))
                && self.placed[axis][bit].is_none()
            {
                self.placed[axis][bit] = Some(self.lowest(operand, axis));
            }
            i += 1;
        }
    }

    /// What the lowest register moves by that moves along an axis and that the atom doesn't have yet; 0 if none does.
    const fn lowest(&self, operand: Operand, axis: usize) -> u32 {
        let (span, layout) = (self.placed_span(axis), self.layout(operand));
        let mut i = 0;
        while i < layout.register_bits() {
            let basis = layout.register_basis(i);
            let coordinate = self.coordinate(operand, axis, basis);
            if self.along(operand, axis, coordinate) == basis && !span.contains(coordinate) {
                return coordinate;
            }
            i += 1;
        }
        0
    }

    const fn placed_span(&self, axis: usize) -> Span {
        let (mut span, mut bit) = (Span::new(), 0);
        while bit < AXIS_BITS {
            if let Some(placed) = self.placed[axis][bit] {
                span.insert(placed, 0);
            }
            bit += 1;
        }
        span
    }

    /// Finds the registers of every instruction.
    const fn registers(&self, fragments: [&Layout; 3], a_col: bool, b_row: bool) -> Result<MmaPlan, Error> {
        let [a, b, c] = self.operands;
        let spans = [a.register_span(), b.register_span(), c.register_span()];
        let mut numbers = [Numbers::NONE; 3];
        if let Err(error) = self.atom_registers(&spans, &mut numbers, &fragments) {
            return Err(error);
        }
        let repetitions = match self.repetitions(&spans, &mut numbers, fragments[2]) {
            Ok(bits) => bits,
            Err(error) => return Err(error),
        };
        let steps = match self.steps(&spans, &mut numbers) {
            Ok(bits) => bits,
            Err(error) => return Err(error),
        };
        let [a, b, c] = numbers;
        Ok(MmaPlan { atom: self.atom, a_col, b_row, repetitions: 1 << repetitions, steps: 1 << steps, a, b, c })
    }

    /// The registers that are the atom's own fragment.
    const fn atom_registers(
        &self,
        spans: &[Span; 3],
        numbers: &mut [Numbers; 3],
        fragments: &[&Layout; 3],
    ) -> Result<(), Error> {
        let (names, mut operand) = ([Operand::A, Operand::B, Operand::C], 0);
        while operand < 3 {
            let mut i = 0;
            while i < fragments[operand].register_bits() {
                let element = self.element(names[operand], fragments[operand], i);
                numbers[operand].atom[i] = match self.solved(&spans[operand], names[operand], element) {
                    Ok(number) => number,
                    Err(error) => return Err(error),
                };
                i += 1;
            }
            operand += 1;
        }
        Ok(())
    }

    /// What a register of the atom's fragment moves by in an operand.
    const fn element(&self, operand: Operand, fragment: &Layout, register: usize) -> u32 {
        match atom_bit(operand, fragment, fragment.register_basis(register)) {
            Some((axis, bit)) => match self.placed[axis][bit] {
                Some(coordinate) => self.along(operand, axis, coordinate),
                None => 0,
            },
            None => 0,
        }
    }

    const fn solved(&self, span: &Span, operand: Operand, element: u32) -> Result<u16, Error> {
        match span.solve(element) {
            Some(number) => Ok(number as u16),
            None => {
                let shape = PackedShape::of(&self.layout(operand).shape());
                Err(Error::Registers { product: self.kind, operand, element: ElementOf { element, shape } })
            }
        }
    }

    /// The registers of `c` beyond the atom's, each with the registers of `a` and `b` for its rows and columns.
    const fn repetitions(
        &self,
        spans: &[Span; 3],
        numbers: &mut [Numbers; 3],
        fragment: &Layout,
    ) -> Result<usize, Error> {
        let (mut known, mut count, mut i) = (Span::new(), 0, 0);
        while i < fragment.register_bits() {
            known.insert(self.element(Operand::C, fragment, i), 0);
            i += 1;
        }
        let c = self.layout(Operand::C);
        i = 0;
        while i < c.register_bits() {
            let basis = c.register_basis(i);
            if known.insert(basis, 0) {
                let row = self.along(Operand::A, M, self.coordinate(Operand::C, M, basis));
                let column = self.along(Operand::B, N, self.coordinate(Operand::C, N, basis));
                numbers[2].repetition[count] = 1 << i;
                numbers[0].repetition[count] = match self.solved(&spans[0], Operand::A, row) {
                    Ok(number) => number,
                    Err(error) => return Err(error),
                };
                numbers[1].repetition[count] = match self.solved(&spans[1], Operand::B, column) {
                    Ok(number) => number,
                    Err(error) => return Err(error),
                };
                count += 1;
            }
            i += 1;
        }
        Ok(count)
    }

    /// The registers of `a` and `b` for each k beyond the atom's. A thread must have all k, each once.
    const fn steps(&self, spans: &[Span; 3], numbers: &mut [Numbers; 3]) -> Result<usize, Error> {
        let (mut known, a) = (self.placed_span(K), self.layout(Operand::A));
        let atom_is_whole = known.rank() == self.atom.k.trailing_zeros() as usize;
        let (mut count, mut i) = (0, 0);
        while i < a.register_bits() {
            let basis = a.register_basis(i);
            let depth = self.coordinate(Operand::A, K, basis);
            if self.along(Operand::A, K, depth) == basis && known.insert(depth, 0) {
                numbers[0].step[count] = 1 << i;
                let there = self.along(Operand::B, K, depth);
                numbers[1].step[count] = match self.solved(&spans[1], Operand::B, there) {
                    Ok(number) => number,
                    Err(error) => return Err(error),
                };
                count += 1;
            }
            i += 1;
        }
        let (held, k) = (1 << known.rank(), a.shape().extent(1) as u32);
        if held == k && atom_is_whole { Ok(count) } else { Err(Error::AllOfK { product: self.kind, held, k }) }
    }
}

/// Which bit of the atom's m, n or k a basis of a fragment is; none if it moves nothing.
const fn atom_bit(operand: Operand, fragment: &Layout, basis: u32) -> Option<(usize, usize)> {
    if basis == 0 {
        return None;
    }
    let (bit, fast) = (basis.trailing_zeros() as usize, fragment.shape().dim_bits(1));
    if bit < fast { Some((axes(operand)[1], bit)) } else { Some((axes(operand)[0], bit - fast)) }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::mma::{Mma, Quadpairs};
    use crate::named::blocked;
    use std::string::ToString;

    const UNIT: Mma = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]);

    fn message(a: &Layout, b: &Layout, c: &Layout) -> std::string::String {
        mma(a, b, c).err().unwrap().to_string()
    }

    #[test]
    fn the_wrong_operand_is_named_whatever_the_variant() {
        let (a, b, c) = (UNIT.a([64, 8]), UNIT.b_row([8, 32]), UNIT.accumulator([64, 32]));
        let other = blocked([64, 8], [1, 4], [16, 2], [4, 1], [1, 0]);
        assert!(message(&other, &b, &c).starts_with("in a [64, 8] lane bit 0 moves by (0, 4)"));
        let other = blocked([8, 32], [1, 8], [8, 4], [4, 1], [1, 0]);
        for a in [a, UNIT.a_col([64, 8])] {
            let text = message(&a, &other, &c);
            assert!(text.starts_with("in b [8, 32] lane bit 1 moves by (0, 16); the product needs (0, 2)"), "{text}");
        }
        let other = blocked([64, 32], [1, 8], [8, 4], [4, 1], [1, 0]);
        assert!(message(&a, &b, &other).contains("take the accumulator in the layout `accumulator` of an Mma"));
    }

    #[test]
    fn arrangements_must_agree() {
        let (a, b, c) = (UNIT.a([64, 8]), UNIT.b([8, 32]), UNIT.accumulator([64, 32]));
        let other = Mma::m8n8k4(Quadpairs::OneByFour, [4, 1]);
        assert!(message(&other.a([64, 8]), &b, &c).starts_with("in a [64, 8] lane bit 2 moves by (0, 0)"));
        let across = Mma::m8n8k4(Quadpairs::TwoByTwo, [1, 4]);
        assert!(message(&across.a([64, 8]), &b, &c).starts_with("in a [64, 8] warp bit 0 moves by (0, 0)"));
        let fewer = Mma::m8n8k4(Quadpairs::TwoByTwo, [2, 1]);
        assert_eq!(mma(&fewer.a([64, 8]), &b, &c).err(), Some(Error::Warps { from: 2, to: 4 }));
        assert!(mma(&a, &b, &c).is_ok());
    }

    #[test]
    fn shapes_and_depth_must_fit() {
        let (a, b, c) = (UNIT.a([64, 8]), UNIT.b([8, 32]), UNIT.accumulator([64, 32]));
        assert!(matches!(mma(&b, &a, &c).err(), Some(Error::ProductShapes { .. })));
        assert!(matches!(mma(&a.slice(0), &b, &c).err(), Some(Error::ProductShapes { .. })));
        let shallow = mma(&UNIT.a([64, 2]), &UNIT.b([2, 32]), &c).err();
        assert_eq!(shallow, Some(Error::Depth { k: 2, least: 4 }));
        let fault = UNIT.a([64, 3]);
        assert_eq!(mma(&fault, &b, &c).err(), fault.fault());
    }

    /// Quadpairs that hold different k would each have part of the sum.
    #[test]
    fn every_thread_must_hold_all_of_k() {
        let c = UNIT.accumulator([64, 16]);
        let spread = |layout: Layout, basis: u32| {
            let lanes = [0, 1, 2, 3, 4].map(|i| if i == 3 { basis } else { layout.lane_basis(i) });
            let registers = [0, 1].map(|i| layout.register_basis(i));
            let warps = [0, 1].map(|i| layout.warp_basis(i));
            Layout::from_bases(layout.shape(), &registers, lanes, &warps)
        };
        let (a, b) = (spread(UNIT.a([64, 8]), 4), UNIT.b([8, 16]));
        let lanes = [0, 1, 2, 3, 4].map(|i| b.lane_basis(i) | if i == 3 { 4 << 4 } else { 0 });
        let b = Layout::from_bases(b.shape(), &[16, 32, 64], lanes, &[0, 0]);
        assert!(a.check().is_ok() && b.check().is_ok());
        assert!(matches!(mma(&a, &b, &c).err(), Some(Error::AllOfK { held: 4, k: 8, .. })));
    }

    #[test]
    fn dot_takes_the_operands_of_any_accumulator() {
        let c = blocked([32, 64], [4, 2], [4, 8], [2, 2], [0, 1]);
        let plan = dot(&c.operand_a(4), &c.operand_b(4), &c).unwrap();
        assert_eq!((plan.repetitions, plan.steps, plan.atom.name), (c.registers(), 4, "fma"));
        let c = UNIT.accumulator([64, 32]);
        assert!(dot(&c.operand_a(4), &c.operand_b(4), &c).is_ok());
        assert!(matches!(dot(&c.operand_a(4), &UNIT.b([4, 32]), &c).err(), Some(Error::Fragment { .. })));
    }
}
