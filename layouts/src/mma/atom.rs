//! Atoms: one instruction of a matrix unit, and where its operands lie in a warp.
//!
//! An atom multiplies a small `[m, k]` by `[k, n]` into `[m, n]`. A thread holds a *fragment* of each operand; the
//! fragments are layouts of these small tiles, so nothing about a unit is a formula. For m8n8k4's accumulator:
//!
//! ```text
//! [8, 8]: registers (0, 1) (2, 0) (0, 4); lanes (1, 0) (0, 2) (0, 0) (0, 0) (4, 0)
//! ```
//!
//! says that register 3 = `011` of lane 17 = `10001` holds (0, 1) + (2, 0) + (1, 0) + (4, 0) = row 7, column 1. Lanes 2
//! and 3 move nothing: the instruction computes four products at once, one for each *quadpair* of eight lanes, and these
//! bits choose it.

use crate::layout::{LANE_BITS, Layout};
use crate::shape::Shape;

/// One instruction of a matrix unit.
#[derive(Debug, PartialEq, Eq)]
pub struct Atom {
    /// Its name, as PTX spells the shape.
    pub name: &'static str,
    /// The first architecture that has it: 70 is sm_70.
    pub first_sm: u32,
    /// The first architecture on which the elements of 16 bits may be bf16; none if they can't.
    pub first_sm_bf16: Option<u32>,
    /// Bits of an operand's element; 0 if any number will do.
    pub operand_bits: u32,
    /// Rows of the product.
    pub m: usize,
    /// Columns of the product.
    pub n: usize,
    /// Depth of the product.
    pub k: usize,
    /// The left operand `[m, k]`: with k in registers and, where the unit can, with m.
    pub a: &'static [Layout],
    /// The right operand `[k, n]`: with k in registers and, where the unit can, with n.
    pub b: &'static [Layout],
    /// The accumulator `[m, n]` in f32.
    pub c: Layout,
    /// The accumulator `[m, n]` in f16.
    pub c_half: Layout,
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
    /// The first architecture that has it for operands of f16 or of bf16; none if there is no such form.
    pub const fn first_sm_of(&self, bf16: bool) -> Option<u32> {
        if bf16 { self.first_sm_bf16 } else { Some(self.first_sm) }
    }

    /// How many products one instruction computes: 4 where each quadpair has its own.
    pub const fn products(&self) -> usize {
        let (mut products, mut lane) = (1, 0);
        while lane < LANE_BITS {
            products *= if self.c.lane_basis(lane) == 0 { 2 } else { 1 };
            lane += 1;
        }
        products
    }

    /// The (row, column) of an operand that element `i` of a lane's fragment is. Lane bits that choose a product move
    /// nothing.
    pub const fn element(&self, role: Role, i: usize, lane: usize) -> (usize, usize) {
        let fragment = match role {
            Role::ARow => &self.a[0],
            Role::ACol => &self.a[self.a.len() - 1],
            Role::BRow => &self.b[self.b.len() - 1],
            Role::BCol => &self.b[0],
            Role::C => &self.c,
            Role::CHalf => &self.c_half,
        };
        let (element, shape) = (fragment.apply(i, lane, 0), fragment.shape());
        (shape.coordinate(element, 0), shape.coordinate(element, 1))
    }

    /// Whether the fragments are fragments of one product.
    ///
    /// Every register or lane bit stands for one bit of m, n or k; the accumulator's stand for each bit once; a lane bit
    /// chooses a product in all operands or in none.
    pub(super) const fn is_sound(&self) -> bool {
        let mut sound = fits(&self.c, [self.m, self.n]) && self.c.free_registers() == 0;
        sound = sound && fits(&self.c_half, [self.m, self.n]) && same_choice(&self.c_half, &self.c);
        let mut i = 0;
        while i < self.a.len() {
            sound = sound && fits(&self.a[i], [self.m, self.k]) && same_choice(&self.a[i], &self.c);
            i += 1;
        }
        i = 0;
        while i < self.b.len() {
            sound = sound && fits(&self.b[i], [self.k, self.n]) && same_choice(&self.b[i], &self.c);
            i += 1;
        }
        sound
    }
}

const fn fits(fragment: &Layout, shape: [usize; 2]) -> bool {
    let (columns, mut i) = (fragment.columns(), 0);
    let mut fits = fragment.fault().is_none() && fragment.shape().equals(&Shape::new(shape));
    while i < columns.len() {
        fits = fits && columns[i].count_ones() <= 1;
        i += 1;
    }
    fits
}

const fn same_choice(a: &Layout, b: &Layout) -> bool {
    let (mut same, mut lane) = (true, 0);
    while lane < LANE_BITS {
        same = same && (a.lane_basis(lane) == 0) == (b.lane_basis(lane) == 0);
        lane += 1;
    }
    same
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mma::{FMA, M8N8K4, M16N8K16};
    use crate::named::linear;

    #[test]
    fn an_unsound_unit_is_seen() {
        let c = M8N8K4.c.permute([1, 0]);
        const OTHER: Layout = linear([4, 8], &[[1, 0], [2, 0]], &[[0, 1], [0, 2], [0, 4], [0, 0], [0, 0]], &[]);
        assert!(Atom { c, ..copy() }.is_sound());
        assert!(!Atom { c: M8N8K4.a[0], ..copy() }.is_sound());
        assert!(!Atom { b: &[OTHER], ..copy() }.is_sound());
    }

    #[test]
    fn quadpairs_multiply_on_their_own() {
        assert_eq!([&M8N8K4, &M16N8K16, &FMA].map(Atom::products), [4, 1, 32]);
    }

    fn copy() -> Atom {
        let Atom { name, first_sm, first_sm_bf16, operand_bits, m, n, k, a, b, c, c_half } = M8N8K4;
        Atom { name, first_sm, first_sm_bf16, operand_bits, m, n, k, a, b, c, c_half }
    }
}
