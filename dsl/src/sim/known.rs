//! Which registers are known to have been written, so that running needn't ask.
//!
//! Lanes only join others at the target of a branch or behind one. In between the lanes that run are those that ran
//! before, or fewer, so what an instruction without a guard reads or writes has been written in all of them when the next
//! one runs. For example in `add.s32 %r1, %r0, 1; mul.lo.s32 %r2, %r1, %r0;` only the addition has to ask, for `%r0`.

use std::collections::HashSet;

use super::program::{Instruction, Kind};

/// Takes registers that are known to have been written from what the instructions read and write.
pub(super) fn prune(code: &mut [Instruction]) {
    let starts = starts(code);
    let mut known = HashSet::new();
    for (place, instruction) in code.iter_mut().enumerate() {
        if let Kind::Wgmma(step) = &instruction.kind {
            // Its sums are there after a wait only.
            known.retain(|register| !step.sums.contains(register));
        }
        if starts.contains(&place) {
            known.clear();
        }
        if let Some(register) = instruction.guard_read
            && !known.insert(register)
        {
            instruction.guard_read = None;
        }
        let everywhere = instruction.guard.is_none();
        for registers in [&mut instruction.reads, &mut instruction.writes] {
            *registers = registers.iter().copied().filter(|register| !known.contains(register)).collect();
            if everywhere {
                known.extend(registers.iter());
            }
        }
    }
}

/// Places where lanes may join.
fn starts(code: &[Instruction]) -> HashSet<usize> {
    let branch = |(place, instruction): (usize, &Instruction)| match instruction.kind {
        Kind::Branch { target } => Some([target as usize, place + 1]),
        _ => None,
    };
    code.iter().enumerate().filter_map(branch).flatten().collect()
}

#[cfg(test)]
mod tests {
    use crate::ptx::parse;
    use crate::sim::Program;

    /// What the instructions of a body still read and write.
    fn left(body: &str) -> Vec<(usize, usize)> {
        let text = format!(
            ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k()\n{{\n.reg .pred %p<2>;\n.reg .b32 %r<4>;\n{body}\n}}\n"
        );
        let program = Program::load(&parse(&text).unwrap(), "k").unwrap();
        program
            .code
            .iter()
            .map(|own| (own.reads.len() + usize::from(own.guard_read.is_some()), own.writes.len()))
            .collect()
    }

    #[test]
    fn straight_code_asks_once() {
        let body = "mov.u32 %r0, 1;\nadd.u32 %r1, %r0, %r2;\nadd.u32 %r2, %r1, %r2;";
        assert_eq!(left(body), [(0, 1), (1, 1), (0, 0), (0, 0)]);
    }

    #[test]
    fn guarded_writes_are_not_known() {
        let body = "setp.eq.u32 %p0, 1, 1;\n@%p0 mov.u32 %r0, 1;\nadd.u32 %r1, %r0, 1;";
        assert_eq!(left(body), [(0, 1), (0, 1), (1, 1), (0, 0)]);
    }

    #[test]
    fn nothing_is_known_where_lanes_join() {
        let body = "mov.u32 %r0, 1;\n$L1:\nadd.u32 %r0, %r0, 1;\nbra $L1;\nadd.u32 %r1, %r0, 1;";
        assert_eq!(left(body), [(0, 1), (1, 0), (0, 0), (1, 1), (0, 0)]);
    }
}
