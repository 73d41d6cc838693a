//! Which registers each instruction of a product uses.
//!
//! The numbers of the registers are linear, too: a register's number is the sum (XOR) of what the atom's own register,
//! the repetition (which rows and columns) and the step (which k) contribute, bit by bit. If repetition bit 0 contributes
//! 4 to `a` and step bit 0 contributes 8, register 1 of the atom's fragment in repetition 1, step 1 is `a`'s register 13.

use super::atom::Atom;
use crate::layout::MAX_REGISTER_BITS;

/// The most bits of an atom's registers, of repetitions and of steps.
const MOST: usize = MAX_REGISTER_BITS;

/// Which registers each instruction of a product uses. Register numbers are the operands' own, duplicates counted.
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
    pub(super) a: Numbers,
    pub(super) b: Numbers,
    pub(super) c: Numbers,
}

/// What each bit contributes to a register's number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub atom: [u16; MOST],
    pub repetition: [u16; MOST],
    pub step: [u16; MOST],
}

impl Numbers {
    pub const NONE: Numbers = Numbers { atom: [0; MOST], repetition: [0; MOST], step: [0; MOST] };

    const fn register(&self, repetition: usize, step: usize, atom: usize) -> usize {
        (sum(&self.atom, atom) ^ sum(&self.repetition, repetition) ^ sum(&self.step, step)) as usize
    }
}

const fn sum(contributions: &[u16; MOST], mut bits: usize) -> u16 {
    let mut sum = 0;
    while bits != 0 {
        let i = bits.trailing_zeros() as usize;
        sum ^= if i < MOST { contributions[i] } else { 0 };
        bits &= bits - 1;
    }
    sum
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
