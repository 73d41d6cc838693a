//! What a thread's accumulators need of the factors, for products by fused multiply-adds.

use crate::error::Error;
use crate::layout::{Builder, LANE_BITS, Layout};

impl Layout {
    /// The left operand `[M, k]` of a product by fused multiply-adds into this accumulator `[M, N]`: each thread holds,
    /// for the rows of its accumulators, all of k in its first registers.
    ///
    /// ```
    /// use quadpair_layouts::{blocked, typing};
    /// let c = blocked([32, 64], [4, 4], [4, 8], [2, 2], [1, 0]);
    /// let plan = typing::dot(&c.operand_a(8), &c.operand_b(8), &c).unwrap();
    /// assert_eq!((plan.repetitions, plan.steps), (c.registers(), 8));
    /// ```
    ///
    /// Invalid if this has another rank than 2 or `k` is no power of two.
    pub const fn operand_a(&self, k: usize) -> Layout {
        self.operand(1, k)
    }

    /// The right operand `[k, N]`: all of k for the columns of each thread's accumulators.
    ///
    /// Invalid if this has another rank than 2 or `k` is no power of two.
    pub const fn operand_b(&self, k: usize) -> Layout {
        self.operand(0, k)
    }

    /// Dimension `dim` is replaced by k, all of it in registers.
    const fn operand(&self, dim: usize, k: usize) -> Layout {
        if self.shape.rank() != 2 {
            return self.failed(Error::Matrix { rank: self.shape.rank() });
        }
        if !k.is_power_of_two() {
            return self.failed(Error::Parameter { name: "k", value: k });
        }
        let kept = self.collapse(dim).compact();
        let shape = self.shape.with_extent(dim, k);
        let (shift, k_shift) = (shape.shift(1 - dim), shape.shift(dim));
        let mut builder = Builder::new(shape);
        let mut i = 0;
        while i < shape.dim_bits(dim) {
            builder.register(1 << (k_shift + i));
            i += 1;
        }
        i = 0;
        while i < kept.register_bits() {
            builder.register(kept.register_basis(i) << shift);
            i += 1;
        }
        let (mut lanes, mut i) = ([0; LANE_BITS], 0);
        while i < LANE_BITS {
            lanes[i] = kept.lane_basis(i) << shift;
            i += 1;
        }
        builder.lanes(lanes);
        i = 0;
        while i < kept.warp_bits() {
            builder.warp(kept.warp_basis(i) << shift);
            i += 1;
        }
        match self.fault {
            Some(error) => builder.layout.failed(error),
            None => builder.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::error::Error;
    use crate::layout::Layout;
    use crate::named::blocked;
    extern crate std;
    use std::collections::HashSet;

    fn held(layout: &Layout, lane: usize, warp: usize) -> HashSet<(usize, usize)> {
        let at = |element, dim| layout.shape().coordinate(element, dim);
        (0..layout.registers()).map(|r| layout.apply(r, lane, warp)).map(|e| (at(e, 0), at(e, 1))).collect()
    }

    #[test]
    fn each_thread_holds_what_its_accumulators_need() {
        let c = blocked([16, 32], [2, 4], [4, 8], [2, 1], [1, 0]);
        let (a, b) = (c.operand_a(4), c.operand_b(4));
        assert!(a.check().is_ok() && b.check().is_ok());
        for thread in 0..c.threads() {
            let (lane, warp) = (thread % 32, thread / 32);
            let wants = |row: bool| -> HashSet<(usize, usize)> {
                let held = held(&c, lane, warp);
                let pairs = held.iter().flat_map(|&(m, n)| (0..4).map(move |k| if row { (m, k) } else { (k, n) }));
                pairs.collect()
            };
            assert_eq!(held(&a, lane, warp), wants(true));
            assert_eq!(held(&b, lane, warp), wants(false));
        }
    }

    #[test]
    fn faults_are_named() {
        let c = blocked([16, 32], [2, 4], [4, 8], [2, 1], [1, 0]);
        assert_eq!(c.operand_a(3).fault(), Some(Error::Parameter { name: "k", value: 3 }));
        assert_eq!(c.slice(0).operand_b(4).fault(), Some(Error::Matrix { rank: 1 }));
        assert!(matches!(c.operand_a(1 << 12).fault(), Some(Error::TooManyRegisters { .. })));
        assert!(matches!(c.operand_b(1 << 22).fault(), Some(Error::TooManyElements { .. })));
    }
}
