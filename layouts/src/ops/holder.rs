//! Which of several holders of an element stands for it.
//!
//! [`Layout::free_lanes`] and its sisters say which bits only duplicate. The holder of an element is the place where all
//! of them are 0, and the way there is linear: with lanes `(0, 1) (0, 2) (0, 0) (1, 0) (2, 0)` lane bit 2 is free, so lane
//! 13 = `01101` has its element from lane 9 = `01001`; if lane bit 2 moved by `(0, 3)`, the sum of what bits 0 and 1 move
//! by, it would be lane 10 = `01010`.

use crate::f2::{Map, Span};
use crate::layout::{LANE_BITS, Layout, MAX_BASES};

impl Layout {
    /// From a place (register bits lowest, then the lane's, then the warp's) to that of the holder of its element.
    ///
    /// ```
    /// use quadpair_layouts::linear;
    /// let layout = linear([4, 4], &[], &[[0, 1], [0, 2], [0, 3], [1, 0], [2, 0]], &[]);
    /// assert_eq!(layout.holders().apply(0b01101), 0b01010);
    /// ```
    pub const fn holders(&self) -> Map {
        let bits = self.bits();
        let registers = self.register_bits();
        let free =
            self.free_registers() | self.free_lanes() << registers | self.free_warps() << (registers + LANE_BITS);
        let (mut span, mut i) = (Span::new(), 0);
        while i < bits {
            if free >> i & 1 == 0 {
                span.insert(self.columns()[i], 1 << i);
            }
            i += 1;
        }
        let mut columns = [0; MAX_BASES];
        i = 0;
        while i < bits {
            // The bits that are not free reach every element.
            if let Some(place) = span.solve(self.columns()[i]) {
                columns[i] = place;
            }
            i += 1;
        }
        Map::new(columns.split_at(bits).0, bits)
    }
}

#[cfg(test)]
mod tests {
    use crate::layout::Layout;
    use crate::named::{blocked, linear};

    fn each_place_has_the_element_of_its_holder(layout: &Layout) {
        let layout = layout.check().unwrap();
        let (map, holders, registers) = (layout.map(), layout.holders(), layout.register_bits());
        let free = layout.free_registers() | layout.free_lanes() << registers | layout.free_warps() << (registers + 5);
        for place in 0..1_u32 << map.inputs() {
            let holder = holders.apply(place);
            assert_eq!((map.apply(holder), holder & free), (map.apply(place), 0));
            assert_eq!(holders.apply(holder), holder);
        }
    }

    #[test]
    fn holders_have_the_elements() {
        let lanes = [[2, 0], [0, 0], [0, 2], [0, 4], [1, 0]];
        let dependent = linear([4, 8], &[[0, 1], [2, 0], [0, 0]], &lanes, &[[0, 0], [1, 4]]);
        let plain = blocked([32, 32], [1, 4], [8, 4], [2, 2], [1, 0]);
        for layout in [dependent, plain, plain.slice(0), plain.slice(1), plain.collapse(0)] {
            each_place_has_the_element_of_its_holder(&layout);
        }
    }

    #[test]
    fn without_duplicates_each_place_is_its_own_holder() {
        let layout = blocked([32, 32], [1, 4], [8, 4], [2, 2], [1, 0]);
        let holders = layout.holders();
        assert!((0..1 << holders.inputs()).all(|place| holders.apply(place) == place));
    }
}
