//! The main loop, and the branches in it.
//!
//! A loop is what lies between a branch and an earlier instruction that it goes to. Where several branches go to one place,
//! the last ends the loop. The main loop is the one with the most matrix steps, and of loops around each other, which have
//! equally many, the shortest. A kernel without matrix steps is judged by its single precision arithmetic.

use super::Instruction;
use super::class::Work;
use std::collections::BTreeMap;
use std::ops::Range;

/// A branch forward within a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The instruction's number.
    pub at: usize,
    /// The instruction that it goes to.
    pub to: usize,
}

impl Branch {
    /// Whether it jumps over an instruction.
    pub const fn skips(&self, number: usize) -> bool {
        self.at < number && number < self.to
    }
}

/// The loops by their first instruction.
pub fn loops(code: &[Instruction]) -> Vec<Range<usize>> {
    let mut ends: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, one) in code.iter().enumerate() {
        if let Some(first) = one.target.filter(|first| *first < at) {
            ends.insert(first, at + 1);
        }
    }
    ends.into_iter().map(|(first, end)| first..end).collect()
}

/// The loop that the kernel is judged by; all of the code where there is none.
pub fn main_loop(code: &[Instruction]) -> Range<usize> {
    let work = Work::of(code.iter().map(|one| one.class));
    let done = |body: &Range<usize>| code[body.clone()].iter().filter(|one| work.is_done_by(one.class)).count();
    let best = loops(code).into_iter().max_by_key(|body| (done(body), std::cmp::Reverse(body.len())));
    best.unwrap_or(0..code.len())
}

/// Loops within a loop; their instructions count once.
pub fn inner(code: &[Instruction], body: &Range<usize>) -> usize {
    loops(code).iter().filter(|other| *other != body && body.start <= other.start && other.end <= body.end).count()
}

/// The branches of a loop that go forward and stay in it.
pub fn branches(code: &[Instruction], body: &Range<usize>) -> Vec<Branch> {
    let forward = |at: usize| Some(Branch { at, to: code[at].target.filter(|to| (at + 2..body.end).contains(to))? });
    body.clone().filter_map(forward).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::decode::decode;

    /// Code of names alone; a label is `name:`, a branch `BRA name`.
    fn code(text: &str) -> Vec<Instruction> {
        let mut lines = String::new();
        for line in text.lines().map(str::trim) {
            match line.split_once(' ') {
                _ if line.ends_with(':') => lines += &format!("{line}\n"),
                Some(("BRA", to)) => lines += &format!("/*0*/ BRA `({to}) ; /* 0x0 */\n/* 0x0 */\n"),
                _ => lines += &format!("/*0*/ {line} ; /* 0x0 */\n/* 0x0 */\n"),
            }
        }
        decode(&lines)
    }

    #[test]
    fn the_shortest_loop_with_the_most_work_is_the_main_one() {
        let code = code("a:\nNOP\nb:\nHMMA\nBRA d\nIADD3\nd:\nBRA b\nc:\nFADD\nFADD\nBRA c\nBRA a\nEXIT");
        assert_eq!(loops(&code), [0..9, 1..5, 5..8]);
        assert_eq!(main_loop(&code), 1..5);
        assert_eq!((inner(&code, &(1..5)), inner(&code, &(0..9))), (0, 2));
        assert_eq!(branches(&code, &(1..5)), [Branch { at: 2, to: 4 }]);
        let skipped = (0..9).filter(|number| Branch { at: 2, to: 5 }.skips(*number));
        assert_eq!(skipped.collect::<Vec<_>>(), [3, 4]);
    }

    #[test]
    fn without_matrix_steps_arithmetic_decides() {
        let plain = code("a:\nNOP\nBRA a\nb:\nFFMA\nFFMA\nBRA b\nEXIT");
        assert_eq!(main_loop(&plain), 2..5);
    }

    #[test]
    fn several_branches_to_one_place_make_one_loop() {
        assert_eq!(main_loop(&code("a:\nNOP\nBRA a\nNOP\nBRA a")), 0..4);
        let straight = code("NOP\nEXIT");
        assert_eq!(main_loop(&straight), 0..2);
    }

    #[test]
    fn a_loop_of_one_instruction_is_the_end_of_the_code() {
        assert!(loops(&code("NOP\na:\nBRA a")).is_empty());
    }
}
