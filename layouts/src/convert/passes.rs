//! Selections by bits of the thread's number.
//!
//! Let a thread take register `r ^ choice` in place of `r`, where the choice is a linear function of its number: lanes 1
//! and 3 of four swap their two registers, say. Such a function is a sum of *passes*, each a register number that is added
//! where some bits of the thread's number have an odd sum; as many as the function has rank. A pass is one selection a
//! register: `x[r] = odd ? x[r ^ mask] : x[r]`.

use super::words::THREAD_BITS;
use crate::f2::Span;

/// One selection by the thread's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pass {
    /// What is added to the register's number.
    pub mask: u32,
    /// Where: in threads for which these bits of their number have an odd sum.
    pub threads: u32,
}

/// A linear function of the thread's number as a list of passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passes {
    items: [Pass; THREAD_BITS],
    count: usize,
}

impl Passes {
    /// The function that has these values at single bits of the thread's number.
    pub(super) const fn of(values: &[u32; THREAD_BITS]) -> Passes {
        let nothing = Pass { mask: 0, threads: 0 };
        let (mut passes, mut span) = (Passes { items: [nothing; THREAD_BITS], count: 0 }, Span::new());
        let mut bit = 0;
        while bit < THREAD_BITS {
            if span.insert(values[bit], 1 << passes.count) {
                passes.items[passes.count].mask = values[bit];
                passes.count += 1;
            }
            bit += 1;
        }
        bit = 0;
        while bit < THREAD_BITS {
            let mut sum = match span.solve(values[bit]) {
                Some(sum) => sum,
                None => 0,
            };
            while sum != 0 {
                passes.items[sum.trailing_zeros() as usize].threads |= 1 << bit;
                sum &= sum - 1;
            }
            bit += 1;
        }
        passes
    }

    /// The passes in order.
    pub const fn list(&self) -> &[Pass] {
        self.items.split_at(self.count).0
    }

    pub(super) const fn swap(&mut self, i: usize, j: usize) {
        let item = self.items[i];
        self.items[i] = self.items[j];
        self.items[j] = item;
    }

    /// Which pass selects by these bits of the thread's number.
    pub(super) const fn by(&self, threads: u32) -> Option<usize> {
        let mut i = 0;
        while i < self.count {
            if self.items[i].threads == threads {
                return Some(i);
            }
            i += 1;
        }
        None
    }

    /// How many registers each pass but the last `without` must give, so that those of a span can be had in the end.
    pub(super) const fn selections(&self, mut wanted: Span, without: usize) -> u32 {
        let (mut sum, mut i) = (0, self.count);
        while i > 0 {
            i -= 1;
            sum += if i + without < self.count { 1 << wanted.rank() } else { 0 };
            wanted.insert(self.items[i].mask, 0);
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_sum_to_the_function() {
        let values = [0b011, 0b000, 0b101, 0b110, 0, 0b1000, 0, 0b1011, 0, 0];
        let passes = Passes::of(&values);
        assert_eq!(passes.list().len(), 3);
        for thread in 0..1_u32 << THREAD_BITS {
            let wanted = (0..THREAD_BITS).filter(|i| thread >> i & 1 == 1).fold(0, |sum, i| sum ^ values[i]);
            let odd = |pass: &&Pass| (thread & pass.threads).count_ones() % 2 == 1;
            assert_eq!(passes.list().iter().filter(odd).fold(0, |sum, pass| sum ^ pass.mask), wanted);
        }
    }

    #[test]
    fn a_pass_gives_what_later_ones_take() {
        let passes = Passes::of(&[0b01, 0b10, 0, 0, 0, 0, 0, 0, 0, 0]);
        // One register of four by two bits: two of the first pass, one of the second.
        assert_eq!((passes.selections(Span::new(), 0), passes.selections(Span::new(), 1)), (3, 2));
    }
}
