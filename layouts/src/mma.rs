//! Matrix units as data, and the law of matrix products.
//!
//! A unit's instruction, its *atom*, multiplies a small `[m, k]` by `[k, n]` into `[m, n]`. Its operands are spread over
//! the lanes in fragments: for each register and lane bit, the bit of m, n or k that it stands for. The m8n8k4 of Volta is
//! four products at once, one for each *quadpair* of eight lanes, so two of its lane bits stand for nothing: they choose
//! the quadpair.
//!
//! A product of tiles `a [M, K]`, `b [K, N]`, `c [M, N]` fits an atom if its m, n and k bits can be placed somewhere in M,
//! N and K so that every operand's lanes move as the fragment says. What the atom leaves free, quadpairs and warps, may
//! move anywhere, as long as `a` and `c` agree on the row, `b` and `c` on the column, `a` and `b` on k. Everything else is
//! repetition: registers of `c` are more rows and columns, registers of `a` and `b` are more rows, columns and k.
//!
//! A product by fused multiply-adds is the same with an atom of one element, whose lanes are all free.

use crate::error::{ElementOf, Error, Operand, PackedShape};
use crate::f2::Span;
use crate::layout::{Bit, Builder, LANE_BITS, Layout};
use crate::shape::Shape;

/// What a bit of a fragment stands for: a bit of the row, column or depth of the atom, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    M(usize),
    N(usize),
    K(usize),
    Free,
}

/// Where an atom's operand lies in a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fragment {
    registers: &'static [Place],
    lanes: [Place; LANE_BITS],
}

/// One instruction of a matrix unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atom {
    /// Its name, as PTX spells the shape.
    pub name: &'static str,
    /// Operand A with k, or with m, in registers.
    a: [Fragment; 2],
    /// Operand B with k, or with n, in registers.
    b: [Fragment; 2],
    c: Fragment,
    /// The accumulator in f16.
    c_half: Fragment,
    variants: usize,
}

/// An operand of an atom in one of its forms: A and B by what memory order they are for, the accumulator by its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Role {
    ARow,
    ACol,
    BRow,
    BCol,
    C,
    CHalf,
}

impl Atom {
    /// The (row, column) of an operand that element `i` of a lane's fragment is. Lane bits that stand for nothing choose
    /// between products that don't know of one another.
    pub const fn element(&self, role: Role, i: usize, lane: usize) -> (usize, usize) {
        let fragment = match role {
            Role::ARow => &self.a[0],
            Role::ACol => &self.a[1],
            Role::BCol => &self.b[0],
            Role::BRow => &self.b[1],
            Role::C => &self.c,
            Role::CHalf => &self.c_half,
        };
        let (mut m, mut n, mut k, mut bit) = (0, 0, 0, 0);
        while bit < fragment.registers.len() + LANE_BITS {
            let own = fragment.registers.len();
            let (place, set) = if bit < own {
                (fragment.registers[bit], i >> bit & 1)
            } else {
                (fragment.lanes[bit - own], lane >> (bit - own) & 1)
            };
            match place {
                Place::M(to) => m |= set << to,
                Place::N(to) => n |= set << to,
                Place::K(to) => k |= set << to,
                Place::Free => {}
            }
            bit += 1;
        }
        match role {
            Role::ARow | Role::ACol => (m, k),
            Role::BRow | Role::BCol => (k, n),
            Role::C | Role::CHalf => (m, n),
        }
    }
}

const FREE: Place = Place::Free;

/// Volta's unit: f16 operands, f32 accumulator; lane bits 2 and 3 choose the quadpair.
pub static M8N8K4: Atom = Atom {
    name: "m8n8k4",
    a: [
        Fragment { registers: &[Place::K(0), Place::K(1)], lanes: [Place::M(0), Place::M(1), FREE, FREE, Place::M(2)] },
        Fragment { registers: &[Place::M(0), Place::M(1)], lanes: [Place::K(0), Place::K(1), FREE, FREE, Place::M(2)] },
    ],
    b: [
        Fragment { registers: &[Place::K(0), Place::K(1)], lanes: [Place::N(0), Place::N(1), FREE, FREE, Place::N(2)] },
        Fragment { registers: &[Place::N(0), Place::N(1)], lanes: [Place::K(0), Place::K(1), FREE, FREE, Place::N(2)] },
    ],
    c: Fragment {
        registers: &[Place::N(0), Place::M(1), Place::N(2)],
        lanes: [Place::M(0), Place::N(1), FREE, FREE, Place::M(2)],
    },
    c_half: Fragment {
        registers: &[Place::N(0), Place::N(1), Place::N(2)],
        lanes: [Place::M(0), Place::M(1), FREE, FREE, Place::M(2)],
    },
    variants: 2,
};

const NOTHING: Fragment = Fragment { registers: &[], lanes: [FREE; LANE_BITS] };

/// One fused multiply-add in each thread.
pub static FMA: Atom = Atom { name: "fma", a: [NOTHING; 2], b: [NOTHING; 2], c: NOTHING, c_half: NOTHING, variants: 1 };

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

/// A matrix unit's arrangement over the quadpairs and warps of a block: the layouts of tiles that it multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mma {
    quadpairs: Quadpairs,
    warps: [usize; 2],
}

/// Bits of m and of n that the atom has.
const ATOM_BITS: usize = 3;

impl Mma {
    /// Volta's unit with its quadpairs and `[along m, along n]` warps arranged so.
    pub const fn m8n8k4(quadpairs: Quadpairs, warps: [usize; 2]) -> Mma {
        Mma { quadpairs, warps }
    }

    /// Quadpair bits along m.
    const fn quadpair_rows(&self) -> usize {
        match self.quadpairs {
            Quadpairs::FourByOne => 2,
            Quadpairs::TwoByTwo => 1,
            Quadpairs::OneByFour => 0,
        }
    }

    /// The accumulator of a tile `[m, n]`. Registers: the atom's, then repetitions along n, then along m.
    pub const fn accumulator(&self, shape: [usize; 2]) -> Layout {
        let spread = Spread::new(self, shape, [true, true]);
        spread.layout(&M8N8K4.c, &[1, 0])
    }

    /// The left operand `[m, k]` with each thread's k in neighbouring registers: for memory with k contiguous.
    pub const fn a(&self, shape: [usize; 2]) -> Layout {
        Spread::new(self, shape, [true, false]).layout(&M8N8K4.a[0], &[1, 0])
    }

    /// The left operand `[m, k]` with each thread's m in neighbouring registers: for memory with m contiguous.
    pub const fn a_col(&self, shape: [usize; 2]) -> Layout {
        Spread::new(self, shape, [true, false]).layout(&M8N8K4.a[1], &[1, 0])
    }

    /// The right operand `[k, n]` with each thread's k in neighbouring registers: for memory with k contiguous.
    pub const fn b(&self, shape: [usize; 2]) -> Layout {
        Spread::new(self, shape, [false, true]).layout(&M8N8K4.b[0], &[0, 1])
    }

    /// The right operand `[k, n]` with each thread's n in neighbouring registers: for memory with n contiguous.
    pub const fn b_row(&self, shape: [usize; 2]) -> Layout {
        Spread::new(self, shape, [false, true]).layout(&M8N8K4.b[1], &[0, 1])
    }
}

/// How the bits of a tile's two dimensions are divided between atom, quadpairs, registers and warps.
struct Spread {
    shape: Shape,
    fault: Option<Error>,
    /// Whether dimension 0 is m, and dimension 1 is n; the other one is k, which only registers repeat.
    outer: [bool; 2],
    quadpairs: [usize; 2],
    warps: [usize; 2],
}

impl Spread {
    const fn new(mma: &Mma, shape: [usize; 2], outer: [bool; 2]) -> Spread {
        let rows = mma.quadpair_rows();
        let mut fault = None;
        let mut dim = 0;
        while dim < 2 {
            if !mma.warps[dim].is_power_of_two() {
                fault = Some(Error::Parameter { name: "warps", value: mma.warps[dim] });
            }
            dim += 1;
        }
        let warps = [mma.warps[0].trailing_zeros() as usize, mma.warps[1].trailing_zeros() as usize];
        Spread { shape: Shape::new(shape), fault, outer, quadpairs: [rows, 2 - rows], warps }
    }

    /// The basis of a bit of a dimension: nothing beyond the extent.
    const fn bit(&self, dim: usize, bit: usize) -> u32 {
        if bit < self.shape.dim_bits(dim) { 1 << (self.shape.shift(dim) + bit) } else { 0 }
    }

    const fn place(&self, place: Place) -> u32 {
        match place {
            Place::M(bit) => self.bit(0, bit),
            Place::N(bit) => self.bit(1, bit),
            Place::K(bit) => self.bit(if self.outer[0] { 1 } else { 0 }, bit),
            Place::Free => 0,
        }
    }

    /// The bits of a dimension below its repetitions: the atom's, and the quadpairs'.
    const fn inner(&self, dim: usize, fragment: &Fragment) -> usize {
        if self.outer[dim] { ATOM_BITS + self.quadpairs[dim] } else { depth_bits(fragment) }
    }

    /// The layout whose lanes and first registers are the fragment's; repetitions go to registers, in this order.
    const fn layout(&self, fragment: &Fragment, order: &[usize; 2]) -> Layout {
        if let Some(error) = self.fault {
            return Layout::invalid(error);
        }
        let mut builder = Builder::new(self.shape);
        if builder.layout.fault().is_some() {
            return builder.layout;
        }
        let mut i = 0;
        while i < fragment.registers.len() {
            builder.push(Bit::Register(i), self.place(fragment.registers[i]));
            i += 1;
        }
        i = 0;
        while i < 2 {
            self.repetitions(&mut builder, order[i], fragment);
            i += 1;
        }
        self.lanes(&mut builder, fragment);
        self.warps(&mut builder, 0, fragment);
        self.warps(&mut builder, 1, fragment);
        builder.finish()
    }

    /// Where the warps' bits of a dimension begin: warps own contiguous stretches.
    const fn first_warp_bit(&self, dim: usize, fragment: &Fragment) -> usize {
        let (inner, all) = (self.inner(dim, fragment), self.shape.dim_bits(dim));
        let warps = if self.outer[dim] { self.warps[dim] } else { 0 };
        if all >= inner + warps { all - warps } else { inner }
    }

    const fn repetitions(&self, builder: &mut Builder, dim: usize, fragment: &Fragment) {
        let mut bit = self.inner(dim, fragment);
        while bit < self.first_warp_bit(dim, fragment) {
            builder.push(Bit::Register(0), self.bit(dim, bit));
            bit += 1;
        }
    }

    /// The fragment's lanes; a free one is a quadpair bit, the lower ones of which go along m.
    const fn lanes(&self, builder: &mut Builder, fragment: &Fragment) {
        let (mut lane, mut quadpair) = (0, 0);
        while lane < LANE_BITS {
            let basis = match fragment.lanes[lane] {
                Place::Free => {
                    quadpair += 1;
                    let along_m = quadpair <= self.quadpairs[0];
                    let dim = if along_m { 0 } else { 1 };
                    let bit = ATOM_BITS + if along_m { quadpair - 1 } else { quadpair - 1 - self.quadpairs[0] };
                    if self.outer[dim] { self.bit(dim, bit) } else { 0 }
                }
                place => self.place(place),
            };
            builder.push(Bit::Lane(lane), basis);
            lane += 1;
        }
    }

    const fn warps(&self, builder: &mut Builder, dim: usize, fragment: &Fragment) {
        let mut i = 0;
        while i < self.warps[dim] {
            let bit = self.first_warp_bit(dim, fragment) + i;
            builder.push(Bit::Warp(0), if self.outer[dim] { self.bit(dim, bit) } else { 0 });
            i += 1;
        }
    }
}

/// Bits of k that a fragment has.
const fn depth_bits(fragment: &Fragment) -> usize {
    let (mut bits, mut i) = (0, 0);
    while i < fragment.registers.len() {
        if matches!(fragment.registers[i], Place::K(_)) {
            bits += 1;
        }
        i += 1;
    }
    i = 0;
    while i < LANE_BITS {
        if matches!(fragment.lanes[i], Place::K(_)) {
            bits += 1;
        }
        i += 1;
    }
    bits
}

/// The most bits of an atom's dimension, of an operand's atom registers, and of repetitions or steps.
const MOST: usize = 12;

/// Which registers each instruction of a product uses.
///
/// A register's number is a sum (XOR): of what the atom's register, the repetition (which rows and columns) and the step
/// (which k) contribute.
#[derive(Clone, Copy, Debug)]
pub struct MmaPlan {
    /// The instruction.
    pub atom: &'static Atom,
    /// Whether `a` has m in registers.
    pub a_col: bool,
    /// Whether `b` has n in registers.
    pub b_row: bool,
    /// How many instructions differ in rows or columns.
    pub repetitions: usize,
    /// How many follow one another along k.
    pub steps: usize,
    a: Numbers,
    b: Numbers,
    c: Numbers,
}

/// What each bit contributes to a register's number.
#[derive(Clone, Copy, Debug)]
struct Numbers {
    atom: [u32; MOST],
    repetition: [u32; MOST],
    step: [u32; MOST],
}

impl Numbers {
    const NONE: Numbers = Numbers { atom: [0; MOST], repetition: [0; MOST], step: [0; MOST] };

    const fn register(&self, repetition: usize, step: usize, atom: usize) -> usize {
        let (mut number, mut i) = (0, 0);
        while i < MOST {
            if atom >> i & 1 == 1 {
                number ^= self.atom[i];
            }
            if repetition >> i & 1 == 1 {
                number ^= self.repetition[i];
            }
            if step >> i & 1 == 1 {
                number ^= self.step[i];
            }
            i += 1;
        }
        number as usize
    }
}

impl MmaPlan {
    /// The register of `a` that is element `i` of the atom's fragment.
    pub const fn a_register(&self, repetition: usize, step: usize, i: usize) -> usize {
        self.a.register(repetition, step, i)
    }

    /// The register of `b` that is element `i` of the atom's fragment.
    pub const fn b_register(&self, repetition: usize, step: usize, i: usize) -> usize {
        self.b.register(repetition, step, i)
    }

    /// The register of `c` that is element `i` of the atom's fragment.
    pub const fn c_register(&self, repetition: usize, i: usize) -> usize {
        self.c.register(repetition, 0, i)
    }
}

/// The plan of a product on the matrix unit: `a [M, K]` times `b [K, N]` into `c [M, N]`.
///
/// # Errors
/// The basis of an operand that isn't the fragment's.
pub const fn mma(a: &Layout, b: &Layout, c: &Layout) -> Result<MmaPlan, Error> {
    product(&M8N8K4, a, b, c)
}

/// The plan of a product by fused multiply-adds.
///
/// # Errors
/// The basis of an operand that doesn't go with the accumulator's.
pub const fn dot(a: &Layout, b: &Layout, c: &Layout) -> Result<MmaPlan, Error> {
    product(&FMA, a, b, c)
}

/// Tries each variant of the atom; the error is that of the first.
const fn product(atom: &'static Atom, a: &Layout, b: &Layout, c: &Layout) -> Result<MmaPlan, Error> {
    let (mut variant, mut first) = (0, None);
    while variant < atom.variants * atom.variants {
        let (a_variant, b_variant) = (variant % atom.variants, variant / atom.variants);
        match Product::new(atom, a, b, c).plan(a_variant, b_variant) {
            Ok(plan) => return Ok(plan),
            Err(error) if first.is_none() => first = Some(error),
            Err(_) => {}
        }
        variant += 1;
    }
    match first {
        Some(error) => Err(error),
        None => panic!("every atom has a variant"),
    }
}

/// A product whose atom is being placed.
struct Product<'l> {
    atom: &'static Atom,
    a: &'l Layout,
    b: &'l Layout,
    c: &'l Layout,
    /// Where each bit of the atom's m, n and k lies, as coordinates along M, N and K.
    placed: [[Option<u32>; ATOM_BITS]; 3],
}

const M: usize = 0;
const N: usize = 1;
const K: usize = 2;

impl<'l> Product<'l> {
    const fn new(atom: &'static Atom, a: &'l Layout, b: &'l Layout, c: &'l Layout) -> Product<'l> {
        Product { atom, a, b, c, placed: [[None; ATOM_BITS]; 3] }
    }

    const fn layout(&self, operand: Operand) -> &'l Layout {
        match operand {
            Operand::A => self.a,
            Operand::B => self.b,
            Operand::C => self.c,
        }
    }

    const fn plan(mut self, a_variant: usize, b_variant: usize) -> Result<MmaPlan, Error> {
        if let Err(error) = self.shapes() {
            return Err(error);
        }
        let (a, b, c) = (&self.atom.a[a_variant], &self.atom.b[b_variant], &self.atom.c);
        let fragments = [(Operand::A, a), (Operand::B, b), (Operand::C, c)];
        let mut i = 0;
        while i < 3 {
            if let Err(error) = self.lanes(fragments[i].0, fragments[i].1) {
                return Err(error);
            }
            i += 1;
        }
        if let Err(error) = self.free_bits(c) {
            return Err(error);
        }
        self.place_registers(a, Operand::A);
        self.place_registers(b, Operand::B);
        self.registers(a, b, c, a_variant == 1, b_variant == 1)
    }

    const fn shapes(&self) -> Result<(), Error> {
        let (a, b, c) = (self.a.shape(), self.b.shape(), self.c.shape());
        let two = a.rank() == 2 && b.rank() == 2 && c.rank() == 2;
        if !two || a.extent(0) != c.extent(0) || a.extent(1) != b.extent(0) || b.extent(1) != c.extent(1) {
            let (a, b, c) = (PackedShape::of(&a), PackedShape::of(&b), PackedShape::of(&c));
            return Err(Error::ProductShapes { a, b, c });
        }
        if self.a.warps() != self.c.warps() {
            return Err(Error::Warps { from: self.a.warps(), to: self.c.warps() });
        }
        if self.b.warps() != self.c.warps() {
            return Err(Error::Warps { from: self.b.warps(), to: self.c.warps() });
        }
        Ok(())
    }

    /// The flat index, in an operand, of a coordinate along M, N or K.
    const fn along(&self, operand: Operand, axis: usize, coordinate: u32) -> u32 {
        let dim = match (operand, axis) {
            (Operand::A, M) | (Operand::B, K) | (Operand::C, M) => 0,
            _ => 1,
        };
        coordinate << self.layout(operand).shape().shift(dim)
    }

    /// The coordinate along M, N or K of an operand's basis.
    const fn coordinate(&self, operand: Operand, axis: usize, basis: u32) -> u32 {
        let dim = match (operand, axis) {
            (Operand::A, M) | (Operand::B, K) | (Operand::C, M) => 0,
            _ => 1,
        };
        self.layout(operand).shape().coordinate(basis, dim) as u32
    }

    /// Places the atom's bits where an operand's lanes are, and checks those that are placed.
    const fn lanes(&mut self, operand: Operand, fragment: &Fragment) -> Result<(), Error> {
        let mut lane = 0;
        while lane < LANE_BITS {
            let basis = self.layout(operand).lane_basis(lane);
            let wants = match axis_of(fragment.lanes[lane]) {
                None => basis,
                Some((axis, bit)) => {
                    let here = self.coordinate(operand, axis, basis);
                    let placed = match self.placed[axis][bit] {
                        Some(placed) => placed,
                        None => here,
                    };
                    self.placed[axis][bit] = Some(placed);
                    self.along(operand, axis, placed)
                }
            };
            if basis != wants {
                return Err(self.wrong(operand, Bit::Lane(lane), basis, wants));
            }
            lane += 1;
        }
        Ok(())
    }

    const fn wrong(&self, operand: Operand, bit: Bit, basis: u32, wants: u32) -> Error {
        let shape = PackedShape::of(&self.layout(operand).shape());
        Error::Fragment { operand, bit, is: ElementOf { element: basis, shape }, wants }
    }

    /// Quadpairs and warps: `a` and `c` agree on the row, `b` and `c` on the column, `a` and `b` on k.
    const fn free_bits(&self, fragment: &Fragment) -> Result<(), Error> {
        let mut i = 0;
        while i < LANE_BITS + self.c.warp_bits() {
            let lane = i < LANE_BITS;
            let (bit, a, b, c) = if lane {
                (Bit::Lane(i), self.a.lane_basis(i), self.b.lane_basis(i), self.c.lane_basis(i))
            } else {
                let i = i - LANE_BITS;
                (Bit::Warp(i), self.a.warp_basis(i), self.b.warp_basis(i), self.c.warp_basis(i))
            };
            if !lane || matches!(fragment.lanes[i], Place::Free) {
                let row = self.coordinate(Operand::C, M, c);
                let column = self.coordinate(Operand::C, N, c);
                let depth = self.coordinate(Operand::A, K, a);
                let wants_a = self.along(Operand::A, M, row) | self.along(Operand::A, K, depth);
                let wants_b = self.along(Operand::B, N, column) | self.along(Operand::B, K, depth);
                if a != wants_a {
                    return Err(self.wrong(Operand::A, bit, a, wants_a));
                }
                if b != wants_b {
                    return Err(self.wrong(Operand::B, bit, b, wants_b));
                }
            }
            i += 1;
        }
        Ok(())
    }

    /// Places the atom's bits that no lane has placed: in the lowest registers that move along the axis only.
    const fn place_registers(&mut self, fragment: &Fragment, operand: Operand) {
        let mut i = 0;
        while i < fragment.registers.len() {
            if let Some((axis, bit)) = axis_of(fragment.registers[i])
                && self.placed[axis][bit].is_none()
            {
                self.placed[axis][bit] = Some(self.lowest(operand, axis));
            }
            i += 1;
        }
    }

    /// What the lowest register moves by that moves along an axis and that the atom doesn't have yet; 0 if none does.
    const fn lowest(&self, operand: Operand, axis: usize) -> u32 {
        let (mut span, mut bit) = (Span::new(), 0);
        while bit < ATOM_BITS {
            if let Some(placed) = self.placed[axis][bit] {
                span.insert(placed, 0);
            }
            bit += 1;
        }
        let layout = self.layout(operand);
        let mut i = 0;
        while i < layout.register_bits() {
            let basis = layout.register_basis(i);
            let coordinate = self.coordinate(operand, axis, basis);
            if self.along(operand, axis, coordinate) == basis && span.insert(coordinate, 0) {
                return coordinate;
            }
            i += 1;
        }
        0
    }

    /// Finds the registers of every instruction.
    const fn registers(
        &self,
        a: &Fragment,
        b: &Fragment,
        c: &Fragment,
        a_col: bool,
        b_row: bool,
    ) -> Result<MmaPlan, Error> {
        let spans = [self.a.register_span(), self.b.register_span(), self.c.register_span()];
        let mut numbers = [Numbers::NONE; 3];
        let fragments = [(Operand::A, a), (Operand::B, b), (Operand::C, c)];
        let mut operand = 0;
        while operand < 3 {
            let (which, fragment) = fragments[operand];
            let mut i = 0;
            while i < fragment.registers.len() {
                let element = self.element(which, fragment.registers[i]);
                numbers[operand].atom[i] = match self.solved(&spans[operand], which, element) {
                    Ok(number) => number,
                    Err(error) => return Err(error),
                };
                i += 1;
            }
            operand += 1;
        }
        let repetitions = match self.repetitions(&spans, &mut numbers, c) {
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

    /// What a place of the atom moves by in an operand.
    const fn element(&self, operand: Operand, place: Place) -> u32 {
        match axis_of(place) {
            Some((axis, bit)) => match self.placed[axis][bit] {
                Some(coordinate) => self.along(operand, axis, coordinate),
                None => 0,
            },
            None => 0,
        }
    }

    const fn solved(&self, span: &Span, operand: Operand, element: u32) -> Result<u32, Error> {
        match span.solve(element) {
            Some(number) => Ok(number),
            None => {
                let shape = PackedShape::of(&self.layout(operand).shape());
                Err(Error::Registers { operand, element: ElementOf { element, shape } })
            }
        }
    }

    /// The registers of `c` beyond the atom's, each with the registers of `a` and `b` for its rows and columns.
    const fn repetitions(&self, spans: &[Span; 3], numbers: &mut [Numbers; 3], c: &Fragment) -> Result<usize, Error> {
        let (mut known, mut count, mut i) = (Span::new(), 0, 0);
        while i < c.registers.len() {
            known.insert(self.element(Operand::C, c.registers[i]), 0);
            i += 1;
        }
        i = 0;
        while i < self.c.register_bits() {
            let basis = self.c.register_basis(i);
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

    /// The registers of `a` and `b` for each k beyond the atom's.
    const fn steps(&self, spans: &[Span; 3], numbers: &mut [Numbers; 3]) -> Result<usize, Error> {
        let (mut known, mut bit) = (Span::new(), 0);
        while bit < ATOM_BITS {
            if let Some(placed) = self.placed[K][bit] {
                known.insert(placed, 0);
            }
            bit += 1;
        }
        let (mut count, mut i) = (0, 0);
        while i < self.a.register_bits() {
            let basis = self.a.register_basis(i);
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
        let k = self.a.shape().extent(1);
        if 1 << known.rank() != k {
            return Err(Error::AllOfK { held: 1 << known.rank(), k });
        }
        Ok(count)
    }
}

const fn axis_of(place: Place) -> Option<(usize, usize)> {
    match place {
        Place::M(bit) => Some((M, bit)),
        Place::N(bit) => Some((N, bit)),
        Place::K(bit) => Some((K, bit)),
        Place::Free => None,
    }
}
