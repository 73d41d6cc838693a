//! What the simulator counts while a program runs.
//!
//! An instruction counts once for each warp that issues it, whatever its guard lets through. Memory is counted in the
//! units that cost: wavefronts of shared memory, and sectors of 32 bytes of global memory. For example a warp that loads
//! 32 consecutive floats makes one `global_load`, 4 `global_sectors` and 128 `global_bytes`.

/// The class that an instruction is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Group {
    Mma,
    Float,
    Integer,
    Conversion,
    Special,
    Shuffle,
    GlobalLoad,
    GlobalStore,
    SharedLoad,
    SharedStore,
    Barrier,
    WarpSync,
    Branch,
    Other,
    /// Not counted: no instruction.
    None,
}

/// Counts of one launch, over all warps of all blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Matrix multiplications.
    pub mma: u64,
    /// Floating-point arithmetic, comparisons and selections.
    pub float: u64,
    /// Integer and bit arithmetic, comparisons and selections.
    pub integer: u64,
    /// Conversions between types.
    pub conversion: u64,
    /// Special functions: `ex2`, `lg2`, `rcp`, `sqrt`, `rsqrt`, `sin`, `cos`, `tanh`.
    pub special: u64,
    /// Shuffles and votes.
    pub shuffle: u64,
    /// Loads from global memory, asynchronous copies too.
    pub global_load: u64,
    /// Stores to global memory, and atomics on it.
    pub global_store: u64,
    /// Loads from shared memory.
    pub shared_load: u64,
    /// Stores to shared memory, and atomics on it.
    pub shared_store: u64,
    /// Barriers of a block.
    pub barrier: u64,
    /// Synchronizations of a warp.
    pub warp_sync: u64,
    /// Branches and exits.
    pub branch: u64,
    /// Everything else: moves, parameters, fences.
    pub other: u64,
    /// Wavefronts that the shared accesses took.
    pub shared_wavefronts: u64,
    /// Wavefronts that they would have taken with no bank conflict.
    pub shared_ideal: u64,
    /// Sectors of 32 bytes that the global accesses touched, counted an instruction at a time.
    pub global_sectors: u64,
    /// Bytes that lanes loaded from global memory or stored to it.
    pub global_bytes: u64,
}

impl Counters {
    /// Adds another launch's counts.
    pub fn merge(&mut self, other: &Counters) {
        for (own, (_, more)) in self.slots().into_iter().zip(other.fields()) {
            *own += more;
        }
    }

    /// Every count with its name, in the order of the fields.
    pub fn fields(&self) -> impl Iterator<Item = (&'static str, u64)> {
        [
            ("mma", self.mma),
            ("float", self.float),
            ("integer", self.integer),
            ("conversion", self.conversion),
            ("special", self.special),
            ("shuffle", self.shuffle),
            ("global_load", self.global_load),
            ("global_store", self.global_store),
            ("shared_load", self.shared_load),
            ("shared_store", self.shared_store),
            ("barrier", self.barrier),
            ("warp_sync", self.warp_sync),
            ("branch", self.branch),
            ("other", self.other),
            ("shared_wavefronts", self.shared_wavefronts),
            ("shared_ideal", self.shared_ideal),
            ("global_sectors", self.global_sectors),
            ("global_bytes", self.global_bytes),
        ]
        .into_iter()
    }

    /// Warp instructions of all classes.
    pub fn instructions(&self) -> u64 {
        self.fields().take(Group::Other as usize + 1).map(|(_, count)| count).sum()
    }

    /// Counts one warp instruction.
    pub(super) fn count(&mut self, group: Group) {
        if group != Group::None {
            *self.slot(group) += 1;
        }
    }

    fn slot(&mut self, group: Group) -> &mut u64 {
        match group {
            Group::Mma => &mut self.mma,
            Group::Float => &mut self.float,
            Group::Integer => &mut self.integer,
            Group::Conversion => &mut self.conversion,
            Group::Special => &mut self.special,
            Group::Shuffle => &mut self.shuffle,
            Group::GlobalLoad => &mut self.global_load,
            Group::GlobalStore => &mut self.global_store,
            Group::SharedLoad => &mut self.shared_load,
            Group::SharedStore => &mut self.shared_store,
            Group::Barrier => &mut self.barrier,
            Group::WarpSync => &mut self.warp_sync,
            Group::Branch => &mut self.branch,
            Group::Other | Group::None => &mut self.other,
        }
    }

    /// The counts, in the order of [`Counters::fields`].
    fn slots(&mut self) -> [&mut u64; 18] {
        [
            &mut self.mma,
            &mut self.float,
            &mut self.integer,
            &mut self.conversion,
            &mut self.special,
            &mut self.shuffle,
            &mut self.global_load,
            &mut self.global_store,
            &mut self.shared_load,
            &mut self.shared_store,
            &mut self.barrier,
            &mut self.warp_sync,
            &mut self.branch,
            &mut self.other,
            &mut self.shared_wavefronts,
            &mut self.shared_ideal,
            &mut self.global_sectors,
            &mut self.global_bytes,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_adds_every_field() {
        let mut a = Counters::default();
        for (value, slot) in (1..).zip(a.slots()) {
            *slot = value;
        }
        let mut sum = a.clone();
        sum.merge(&a);
        let doubled: Vec<_> = a.fields().map(|(name, value)| (name, 2 * value)).collect();
        assert_eq!(sum.fields().collect::<Vec<_>>(), doubled);
        assert_eq!(a.instructions(), (1..=14).sum());
    }
}
