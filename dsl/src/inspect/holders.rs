//! Who holds each element of a tile.
//!
//! A layout goes from threads to elements; a picture of a tile needs the other way. In
//! `blocked([2], [32], [1], [0]) on [64]`, element 5 is held by register 1 of lane 2. An element that several threads or
//! registers have is listed under its *holder*, the one whose duplicating bits are all 0.

use quadpair_layouts::Layout;

/// A register of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holder {
    /// The warp.
    pub warp: usize,
    /// The lane of the warp.
    pub lane: usize,
    /// The thread's register.
    pub register: usize,
}

/// The holder of each element, by flat index. A valid layout has one for each.
pub fn holders(layout: &Layout) -> Vec<Holder> {
    let mut all = vec![Holder::default(); layout.shape().len()];
    for warp in without(layout.free_warps(), layout.warps()) {
        for lane in without(layout.free_lanes(), 32) {
            for register in without(layout.free_registers(), layout.registers()) {
                all[layout.apply(register, lane, warp) as usize] = Holder { warp, lane, register };
            }
        }
    }
    all
}

/// The numbers below `count` that have none of some bits.
fn without(free: u32, count: usize) -> impl Iterator<Item = usize> {
    (0..count).filter(move |number| number & free as usize == 0)
}

/// How many registers of how many threads hold each element.
pub fn copies(layout: &Layout) -> usize {
    layout.registers() * layout.threads() / layout.shape().len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadpair_layouts::{Mma, Quadpairs, blocked};

    #[test]
    fn each_element_is_under_its_holder() {
        let b = Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]).b([8, 32]);
        for layout in [blocked([32, 16], [1, 4], [8, 4], [2, 1], [1, 0]), b, b.slice(1), b.slice(0)] {
            let all = holders(&layout.check().unwrap());
            for (element, holder) in all.iter().enumerate() {
                assert_eq!(layout.apply(holder.register, holder.lane, holder.warp) as usize, element);
                let bits = [
                    (holder.register, layout.free_registers()),
                    (holder.lane, layout.free_lanes()),
                    (holder.warp, layout.free_warps()),
                ];
                assert!(bits.iter().all(|&(number, free)| number & free as usize == 0));
            }
        }
        assert_eq!((copies(&b), copies(&blocked([32, 16], [1, 4], [8, 4], [2, 1], [1, 0]))), (8, 1));
    }
}
