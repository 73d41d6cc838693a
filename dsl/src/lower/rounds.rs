//! Words that threads exchange by shuffles, round by round as the plan of a conversion has it.
//!
//! What is emitted is what the plan counts: each selection and each shuffle is asked for by its place in the plan, and
//! remembered.

use std::collections::HashMap;

use quadpair_layouts::convert::{Exchange, Passes};

use super::Lowering;
use super::linear::ThreadMap;
use super::num::Num;
use crate::element::DType;
use crate::ptx::{Class, Op, Operand, Reg, Shuffle};

/// An exchange under way.
struct Rounds<'p> {
    plan: &'p Exchange,
    dtype: DType,
    words: Vec<Num>,
    sends: Vec<(u32, Num)>,
    places: Vec<(u32, Num)>,
    /// How many places come before the late rounds.
    early: usize,
    done: HashMap<Step, Num>,
}

/// A value that a thread has on the way.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    /// A register after some of the sends.
    Sent(u32, usize),
    /// What a round gives.
    Round(u32),
    /// What a late round gives.
    Late(u32),
    /// A round after some of the places.
    Placed(u32, usize),
}

impl Lowering<'_> {
    /// The words of the target, by number, from those of the source.
    pub(super) fn exchange(&mut self, plan: &Exchange, dtype: DType, words: Vec<Num>) -> Vec<Num> {
        let early = plan.places().list().iter().filter(|pass| pass.mask & plan.late() == 0).count();
        let [sends, places] = [plan.sends(), plan.places()].map(|passes| self.selectors(&passes));
        let last = places.len();
        let mut rounds = Rounds { plan, dtype, words, sends, places, early, done: HashMap::new() };
        (0..plan.words().targets()).map(|word| self.placed(&mut rounds, word as u32, last)).collect()
    }

    fn selectors(&mut self, passes: &Passes) -> Vec<(u32, Num)> {
        passes.list().iter().map(|pass| (pass.mask, self.thread_parity(pass.threads))).collect()
    }

    /// A register after the first `count` sends.
    fn sent(&mut self, rounds: &mut Rounds<'_>, register: u32, count: usize) -> Num {
        if count == 0 {
            return rounds.words[register as usize];
        }
        let (mask, selects) = rounds.sends[count - 1];
        self.once(rounds, Step::Sent(register, count), |own, rounds| {
            let (moved, same) = (own.sent(rounds, register ^ mask, count - 1), own.sent(rounds, register, count - 1));
            own.select(rounds.dtype, selects, moved, same)
        })
    }

    /// What a round gives. Where the last send is known to select or not, a round without a shuffle skips it.
    fn round(&mut self, rounds: &mut Rounds<'_>, round: u32, known: Option<bool>) -> Num {
        let (plan, count) = (rounds.plan, rounds.sends.len());
        let register = plan.round_register(round as usize) as u32;
        match (plan.is_shuffle(round as usize), known) {
            (false, Some(selects)) => {
                let moved = if selects { rounds.sends[count - 1].0 } else { 0 };
                self.sent(rounds, register ^ moved, count - 1)
            }
            (false, None) => self.sent(rounds, register, count),
            (true, _) => self.once(rounds, Step::Round(round), |own, rounds| {
                let sent = own.sent(rounds, register, count);
                own.sent_by(plan, sent, plan.round_lane(round as usize))
            }),
        }
    }

    /// A round after the first `count` places.
    fn placed(&mut self, rounds: &mut Rounds<'_>, round: u32, count: usize) -> Num {
        let (plan, late) = (rounds.plan, round & rounds.plan.late());
        if late != 0 && count == rounds.early {
            return self.once(rounds, Step::Late(round), |own, rounds| {
                let first = own.placed(rounds, round ^ late, count);
                own.sent_by(plan, first, plan.round_lane(late as usize))
            });
        }
        if count == 0 {
            return self.round(rounds, round, None);
        }
        let (mask, selects) = rounds.places[count - 1];
        self.once(rounds, Step::Placed(round, count), |own, rounds| {
            let [moved, same] = if count == 1 && plan.merges() {
                [(round ^ mask, true), (round, false)].map(|(round, selects)| own.round(rounds, round, Some(selects)))
            } else {
                [round ^ mask, round].map(|round| own.placed(rounds, round, count - 1))
            };
            own.select(rounds.dtype, selects, moved, same)
        })
    }

    fn once(
        &mut self,
        rounds: &mut Rounds<'_>,
        step: Step,
        make: impl FnOnce(&mut Self, &mut Rounds<'_>) -> Num,
    ) -> Num {
        if let Some(&num) = rounds.done.get(&step) {
            return num;
        }
        let num = make(self, rounds);
        rounds.done.insert(step, num);
        num
    }

    /// What another lane sends: the one whose number differs from the thread's own by a mask, or from the one that the
    /// thread's number decides.
    fn sent_by(&mut self, plan: &Exchange, sent: Num, lane: u32) -> Num {
        let src = self.reg(sent, Class::B32);
        if plan.stays() {
            return Num::base(self.shuffle(src, lane.into()));
        }
        let map = ThreadMap::from_columns(plan.lanes().iter().map(|&lane| lane.into()).collect());
        let lane = self.linear(&map, lane);
        let lane = self.operand(lane, Class::B32);
        Num::base(self.shuffle_from(src, lane))
    }

    /// What the lane of this number sends.
    pub(super) fn shuffle_from(&mut self, src: Reg, lane: Operand) -> Reg {
        let dst = self.emit.fresh(Class::B32);
        self.emit.push(Op::Shfl {
            mode: Shuffle::Index,
            dst,
            in_range: None,
            src: Operand::Reg(src),
            lane,
            clamp: Operand::Int(31),
            mask: Operand::Int(-1),
        });
        dst
    }
}
