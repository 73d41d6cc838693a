//! Asynchronous copies to shared memory that are under way.
//!
//! A copy may write at any time from its instruction to the wait for its group. So it is taken for a write twice: where it
//! begins, against what other warps did since the last barrier, and where it is waited for, against what they do until the
//! next. In between its bytes are nobody's to touch, its own thread's neither. What it reads is what was there when it
//! began. For example
//!
//! ```text
//! cp.async [0], ..; commit_group; ld.shared [0]                     a read of bytes that may not have come
//! cp.async [0], ..; commit_group; wait_group 0; ld.shared [0]       fine for the thread that copied
//! cp.async [0], ..; commit_group; wait_group 0; bar; ld.shared [0]  fine for every thread
//! ```
//!
//! Groups are counted for a warp, whose lanes commit and wait together.

use super::race::Accessor;

/// A copy of one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct AsyncCopy {
    pub(super) who: Accessor,
    /// Where to, in bytes.
    pub(super) address: u32,
    pub(super) words: [u32; 4],
    /// How many of the words it brings.
    pub(super) count: u32,
}

impl AsyncCopy {
    /// Whether it brings a byte.
    fn brings(&self, byte: u32) -> bool {
        byte.wrapping_sub(self.address) < 4 * self.count
    }
}

/// The copies of a block.
#[derive(Debug, Default)]
pub(super) struct AsyncCopies {
    /// In the order in which they began, with the number of their warp's group.
    under_way: Vec<(u32, AsyncCopy)>,
    /// Groups that each warp has committed.
    committed: Vec<u32>,
}

impl AsyncCopies {
    fn groups(&mut self, warp: u32) -> &mut u32 {
        let warp = warp as usize;
        if self.committed.len() <= warp {
            self.committed.resize(warp + 1, 0);
        }
        &mut self.committed[warp]
    }

    /// Begins a copy.
    pub(super) fn begin(&mut self, copy: AsyncCopy) {
        let group = *self.groups(copy.who.warp);
        self.under_way.push((group, copy));
    }

    /// Makes a group of what a warp began since the last.
    pub(super) fn commit(&mut self, warp: u32) {
        *self.groups(warp) += 1;
    }

    /// Takes out the copies of all but a warp's last groups.
    pub(super) fn wait(&mut self, warp: u32, last: u32) -> Vec<AsyncCopy> {
        let done = self.groups(warp).saturating_sub(last);
        let mut landed = Vec::new();
        self.under_way.retain(|(group, copy)| {
            let lands = copy.who.warp == warp && *group < done;
            if lands {
                landed.push(*copy);
            }
            !lands
        });
        landed
    }

    /// Who brings a byte.
    pub(super) fn bringing(&self, byte: u32) -> Option<Accessor> {
        self.under_way.iter().find(|(_, copy)| copy.brings(byte)).map(|(_, copy)| copy.who)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(warp: u32, address: u32) -> AsyncCopy {
        AsyncCopy { who: Accessor { warp, lane: 0, at: 1, stamp: 1 }, address, words: [7; 4], count: 2 }
    }

    #[test]
    fn all_but_the_last_groups_are_waited_for() {
        let mut copies = AsyncCopies::default();
        for group in 0..3 {
            copies.begin(copy(0, 16 * group));
            copies.begin(copy(1, 64 + 16 * group));
            copies.commit(0);
        }
        copies.begin(copy(0, 48));
        let addresses = |landed: Vec<AsyncCopy>| landed.iter().map(|copy| copy.address).collect::<Vec<_>>();
        assert_eq!(addresses(copies.wait(0, 2)), [0]);
        assert_eq!(addresses(copies.wait(0, 0)), [16, 32]);
        // What is in no group is never waited for.
        assert_eq!(addresses(copies.wait(0, 0)), [0_u32; 0]);
        assert_eq!(addresses(copies.wait(1, 0)), [0_u32; 0]);
        copies.commit(1);
        assert_eq!(addresses(copies.wait(1, 0)), [64, 80, 96]);
        assert_eq!(copies.bringing(55).map(|who| who.warp), Some(0));
        assert!(copies.bringing(56).is_none() && copies.bringing(64).is_none());
    }
}
