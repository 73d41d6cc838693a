//! The matrix units that a profile can declare.
//!
//! What a unit is, which types it takes and on which chips, the layout algebra's [`Atom`] says: m16n8k8 takes halves from
//! sm_75 on, and bf16 from sm_80 on. What stands here besides is the PTX version that brought the instruction. A unit
//! that kernels learn to use gets a line in [`UNITS`].

use quadpair_layouts::mma::{Atom, M8N8K4, M16N8K8, M16N8K16, WGMMA};

use crate::profile::Dtype;

/// A matrix unit as PTX has it.
pub(crate) struct Unit {
    /// What profiles call it.
    pub name: &'static str,
    /// Its instruction.
    pub atom: &'static Atom,
    /// The lowest PTX version that has it.
    pub isa: (u32, u32),
    /// The only target that has it, if no later one does.
    pub only: Option<&'static str>,
}

/// Every unit that a profile can declare.
pub(crate) static UNITS: [Unit; 4] = [
    Unit { name: M8N8K4.name, atom: &M8N8K4, isa: (6, 4), only: None },
    Unit { name: M16N8K8.name, atom: &M16N8K8, isa: (6, 5), only: None },
    Unit { name: M16N8K16.name, atom: &M16N8K16, isa: (7, 0), only: None },
    // Its fragments are those of the unit before, four warps side by side.
    Unit { name: WGMMA, atom: &M16N8K16, isa: (8, 0), only: Some("sm_90a") },
];

/// The type that every unit sums in.
pub(crate) const ACCUMULATOR: Dtype = Dtype::Float32;

impl Unit {
    /// The one of this name.
    pub fn named(name: &str) -> Option<&'static Unit> {
        UNITS.iter().find(|unit| unit.name == name)
    }

    /// The types of operands that it takes on a chip.
    pub fn operands(&self, sm: u32) -> Vec<Dtype> {
        let halves = [(Dtype::Float16, false), (Dtype::BFloat16, true)];
        let takes = |bf16| self.atom.operand_bits == 16 && self.atom.first_sm_of(bf16).is_some_and(|first| first <= sm);
        halves.into_iter().filter(|&(_, bf16)| takes(bf16)).map(|(dtype, _)| dtype).collect()
    }

    /// Whether a warp's quadpairs multiply on their own.
    pub fn has_quadpairs(&self) -> bool {
        self.atom.products() == 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_of_the_chip() {
        let [volta, turing, ampere, _] = UNITS.each_ref();
        assert_eq!(volta.operands(70), [Dtype::Float16]);
        assert_eq!(turing.operands(75), [Dtype::Float16]);
        assert_eq!(turing.operands(80), [Dtype::Float16, Dtype::BFloat16]);
        assert_eq!(ampere.operands(80), [Dtype::Float16, Dtype::BFloat16]);
        assert_eq!(UNITS.each_ref().map(Unit::has_quadpairs), [true, false, false, false]);
    }
}
