//! Products of wgmma that are under way.
//!
//! A product may read its memory, and write its sums, at any time from its instruction to the wait for its group. Here it is
//! done at once, and until the wait its sums are nobody's to read or write but other products', and its memory nobody's to
//! write. For example
//!
//! ```text
//! wgmma {%f0, ..}, ..; commit_group; add %f1, %f0, 1                     a read of a sum that may not be there
//! wgmma .., b; commit_group; st.shared [b], 0                            a write of what may still be read
//! wgmma {%f0, ..}, ..; commit_group; wait_group 0; add %f1, %f0, 1       fine
//! ```
//!
//! Not seen are a left operand's registers that are written before the wait, and a `wgmma.fence` that is missing.
//!
//! Groups are counted for a warp, as those of copies are. That a warp waits for its part says nothing of the other three's,
//! which have registers of their own.

/// One instruction's part of a warp.
#[derive(Debug)]
pub(super) struct Product {
    /// The numbers of the registers that it sums in.
    pub(super) sums: Box<[u32]>,
    /// The words of shared memory that it reads.
    pub(super) words: Vec<u32>,
}

/// The products of a warp.
#[derive(Debug, Default)]
pub(super) struct Products {
    /// In the order in which they began, with the number of their group.
    under_way: Vec<(u32, Product)>,
    committed: u32,
}

impl Products {
    /// Begins a product.
    pub(super) fn begin(&mut self, product: Product) {
        self.under_way.push((self.committed, product));
    }

    /// Makes a group of what began since the last.
    pub(super) fn commit(&mut self) {
        self.committed += 1;
    }

    /// Takes out the products of all but the last groups.
    pub(super) fn wait(&mut self, last: u32) -> Vec<Product> {
        let done = self.committed.saturating_sub(last);
        let (ended, rest) = std::mem::take(&mut self.under_way).into_iter().partition(|(group, _)| *group < done);
        self.under_way = rest;
        let ended: Vec<(u32, Product)> = ended;
        ended.into_iter().map(|(_, product)| product).collect()
    }

    /// Whether some product sums in a register.
    pub(super) fn sum_in(&self, register: u32) -> bool {
        self.under_way.iter().any(|(_, product)| product.sums.contains(&register))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_the_last_groups_are_waited_for() {
        let mut products = Products::default();
        for register in 0..3 {
            products.begin(Product { sums: [register].into(), words: vec![register] });
            products.commit();
        }
        products.begin(Product { sums: [9].into(), words: Vec::new() });
        let sums = |ended: Vec<Product>| ended.iter().map(|product| product.sums[0]).collect::<Vec<_>>();
        assert_eq!(sums(products.wait(2)), [0]);
        assert!(!products.sum_in(0) && products.sum_in(2));
        assert_eq!(sums(products.wait(0)), [1, 2]);
        // What is in no group is never waited for.
        assert_eq!(sums(products.wait(0)), [0_u32; 0]);
        assert!(products.sum_in(9));
    }
}
