//! A warp's registers and predicates, and what one operation makes of them.

use super::function::{Function, by_table, is_less, pair};
use super::operand::{Address, Origin, Predicate, Source, TRUE, Target};
use super::operation::{Action, Combine, Comparison, Operation, Order};
use crate::wavefronts::Addresses;
use quadpair_layouts::banks::LANES;

/// A word of each lane.
type Words = [u32; LANES];

/// A warp on its way through the code.
pub struct Warp {
    registers: Vec<Words>,
    /// A bit a lane.
    predicates: [u32; TRUE + 1],
    active: u32,
    first_thread: u32,
    at: Option<usize>,
}

impl Warp {
    /// The warp with this number, of a block of so many threads.
    pub fn new(number: u32, threads: u32) -> Self {
        let first_thread = number * LANES as u32;
        let mut predicates = [0; TRUE + 1];
        predicates[TRUE] = u32::MAX;
        let active =
            (0..LANES as u32).filter(|lane| first_thread + lane < threads).fold(0, |all, lane| all | 1 << lane);
        Self { registers: vec![[0; LANES]; 256], predicates, active, first_thread, at: Some(0) }
    }

    /// Where the warp is; `None` at its end.
    pub fn at(&self) -> Option<usize> {
        self.at
    }

    /// Does an operation and goes on. Gives the addresses of a shared access.
    pub fn step(&mut self, operation: &Operation) -> Option<(Addresses, u32)> {
        let mask = self.active & self.lanes_of(operation.guard);
        self.at = self.at.map(|at| at + 1);
        match &operation.action {
            Action::Jump(to, condition) => self.jump(*to, mask & self.lanes_of(*condition)),
            Action::Exit => self.exit(mask),
            _ if mask == 0 => {}
            Action::Shared { address, bytes, into } => {
                let addresses = self.addresses(address, mask);
                into.iter().for_each(|(first, words)| self.clear(*first, *words, mask));
                return Some((addresses, *bytes));
            }
            Action::Clear(first, words) => self.clear(*first, *words, mask),
            Action::Unknown(first) => self.clear(*first, 1, mask),
            action => self.compute(action, mask),
        }
        None
    }

    /// A branch that any lane takes is taken by all.
    fn jump(&mut self, to: usize, mask: u32) {
        if mask != 0 {
            self.at = Some(to);
        }
    }

    fn exit(&mut self, mask: u32) {
        self.active &= !mask;
        if self.active == 0 {
            self.at = None;
        }
    }

    fn addresses(&self, address: &Address, mask: u32) -> Addresses {
        std::array::from_fn(|lane| {
            let add = |sum: u32, part: &(u8, u32)| {
                sum.wrapping_add(self.registers[part.0 as usize][lane].wrapping_mul(part.1))
            };
            let sum = address.registers.iter().fold(address.offset, add);
            (mask >> lane & 1 == 1).then_some(sum)
        })
    }

    fn clear(&mut self, first: u8, words: u8, mask: u32) {
        (first..first.saturating_add(words)).for_each(|register| self.write(Some(register), mask, [0; LANES]));
    }

    fn lanes_of(&self, predicate: Predicate) -> u32 {
        let lanes = self.predicates[predicate.number];
        if predicate.negated { !lanes } else { lanes }
    }

    fn word(&self, source: Source) -> Words {
        self.part(source, 0)
    }

    /// The lower word of a source, or the upper.
    fn part(&self, source: Source, part: usize) -> Words {
        let words = match source.from {
            Origin::Register(number) => self.registers[(number as usize + part).min(255)],
            Origin::Value(lower, upper) => [[lower, upper][part]; LANES],
        };
        match (source.inverted, source.negated) {
            (true, _) => words.map(|word| !word),
            (_, true) => words.map(u32::wrapping_neg),
            _ => words,
        }
    }

    fn pair(&self, source: Source) -> [u64; LANES] {
        let (lower, upper) = (self.part(source, 0), self.part(source, 1));
        std::array::from_fn(|lane| pair(upper[lane], lower[lane]))
    }

    fn write(&mut self, target: Target, mask: u32, words: Words) {
        let Some(target) = target else { return };
        let own = &mut self.registers[target as usize];
        for lane in (0..LANES).filter(|lane| mask >> lane & 1 == 1) {
            own[lane] = words[lane];
        }
    }

    fn write_pair(&mut self, target: Target, mask: u32, pairs: [u64; LANES]) {
        self.write(target, mask, pairs.map(|pair| pair as u32));
        self.write(target.and_then(|target| target.checked_add(1)), mask, pairs.map(|pair| (pair >> 32) as u32));
    }

    fn set(&mut self, target: Option<usize>, mask: u32, lanes: u32) {
        if let Some(target) = target {
            self.predicates[target] = self.predicates[target] & !mask | lanes & mask;
        }
    }

    fn compute(&mut self, action: &Action, mask: u32) {
        match *action {
            Action::Thread(target) => {
                let first = self.first_thread;
                self.write(target, mask, std::array::from_fn(|lane| first + lane as u32));
            }
            Action::Lane(target) => self.write(target, mask, std::array::from_fn(|lane| lane as u32)),
            Action::Words { target, sources, function, ref bits, into } => {
                let values = self.values(sources, function, bits);
                self.set(into, mask, lanes(|lane| values[lane] >> 32 != 0));
                self.write(target, mask, values.map(|value| value as u32));
            }
            Action::Wide { target, sources, signed, upper } => self.wide(target, sources, signed, upper, mask),
            ref action => self.decide(action, mask),
        }
    }

    /// Operations of predicates.
    fn decide(&mut self, action: &Action, mask: u32) {
        match *action {
            Action::Compare { targets, sources, comparison, with, by } => {
                let (holds, with) = (self.compared(sources, comparison), self.lanes_of(with));
                self.set(targets[0], mask, combined(holds, with, by));
                self.set(targets[1], mask, combined(!holds, with, by));
            }
            Action::Predicates { targets, sources, tables } => {
                let [a, b, c] = sources.map(|source| self.lanes_of(source));
                for (target, table) in targets.into_iter().zip(tables) {
                    self.set(target, mask, by_table(table, a, b, c));
                }
            }
            Action::Never(target) => self.set(Some(target), mask, 0),
            Action::Pack(target, which) => self.write(target, mask, self.packed(which)),
            Action::Unpack(source, which) => {
                let words = self.word(source);
                for predicate in (0..TRUE).filter(|predicate| which >> predicate & 1 == 1) {
                    self.set(Some(predicate), mask, lanes(|lane| words[lane] >> predicate & 1 == 1));
                }
            }
            Action::Vote { target, predicate, of, all } => {
                let having = self.lanes_of(of) & mask;
                let says = if all { having == mask } else { having != 0 };
                self.write(target, mask, [having; LANES]);
                self.set(predicate, mask, if says { u32::MAX } else { 0 });
            }
            _ => {}
        }
    }

    /// A function's values: words with a bit above.
    fn values(&self, sources: [Source; 3], function: Function, bits: &[Predicate]) -> [u64; LANES] {
        let [a, b, c] = sources.map(|source| self.word(source));
        let bits: Vec<u32> = bits.iter().map(|bit| self.lanes_of(*bit)).collect();
        let count = |lane: usize| bits.iter().map(|bits| bits >> lane & 1).sum();
        std::array::from_fn(|lane| function.of(a[lane], b[lane], c[lane], count(lane)))
    }

    /// The predicates of each lane as bits of a word.
    fn packed(&self, which: u32) -> Words {
        let bit = |predicate: usize, lane: usize| (self.predicates[predicate] >> lane & 1) << predicate;
        std::array::from_fn(|lane| (0..TRUE).fold(0, |word, predicate| word | bit(predicate, lane)) & which)
    }

    fn wide(&mut self, target: Target, sources: [Source; 3], signed: bool, upper: bool, mask: u32) {
        let (a, b) = (self.word(sources[0]), self.word(sources[1]));
        let long = |word: u32| if signed { word as i32 as u64 } else { u64::from(word) };
        let c = self.pair(sources[2]);
        let sums = std::array::from_fn(|lane| long(a[lane]).wrapping_mul(long(b[lane])).wrapping_add(c[lane]));
        match upper {
            true => self.write(target, mask, sums.map(|sum| (sum >> 32) as u32)),
            false => self.write_pair(target, mask, sums),
        }
    }

    /// The lanes where a comparison holds; of equal words, where the words below say so.
    fn compared(&self, sources: [Source; 2], comparison: Comparison) -> u32 {
        let Comparison { order, signed, lower } = comparison;
        let [a, b] = sources.map(|source| self.word(source));
        let equal = lanes(|lane| a[lane] == b[lane]);
        let less = lanes(|lane| is_less(a[lane], b[lane], signed));
        let (strict, of_equals) = match order {
            Order::Less => (less, false),
            Order::LessOrEqual => (less, true),
            Order::Greater => (!less & !equal, false),
            Order::GreaterOrEqual => (!less & !equal, true),
            Order::Equal => (0, true),
            Order::NotEqual => (!equal, false),
        };
        let below = lower.map_or(if of_equals { u32::MAX } else { 0 }, |lower| self.lanes_of(lower));
        strict | equal & below
    }
}

/// A bit for each lane of which something holds.
fn lanes(holds: impl Fn(usize) -> bool) -> u32 {
    (0..LANES).fold(0, |all, lane| all | u32::from(holds(lane)) << lane)
}

fn combined(holds: u32, with: u32, by: Combine) -> u32 {
    match by {
        Combine::And => holds & with,
        Combine::Or => holds | with,
        Combine::Xor => holds ^ with,
    }
}

#[cfg(test)]
mod tests {
    use super::super::operand::Constants;
    use super::*;
    use crate::sass::decode::decode;

    /// The words of register 0 after some instructions, in the first warp of a block of 32 threads; register 1 is the lane.
    fn run(code: &str) -> Words {
        let line = |text: &str| format!("/*0*/ {text} ; /* 0x0 */\n/* 0x0 */\n");
        let text: String = ["S2R R1, SR_TID.X"].into_iter().chain(code.lines()).map(line).collect();
        let constants = Constants::from([(0x160, 100), (0x164, 7)]);
        let operations: Vec<Operation> = decode(&text).iter().map(|one| Operation::of(one, &constants)).collect();
        let mut warp = Warp::new(0, LANES as u32);
        for operation in &operations {
            warp.step(operation);
        }
        warp.registers[0]
    }

    #[track_caller]
    fn gives(code: &str, expected: impl Fn(u32) -> u32) {
        assert_eq!(run(code), std::array::from_fn::<u32, LANES, _>(|lane| expected(lane as u32)), "{code}");
    }

    #[test]
    fn arithmetic() {
        gives("IADD3 R0, R1, c[0x0][0x160], -0x4", |lane| lane + 96);
        gives("IADD3 R0, -R1, 0x20, RZ", |lane| 32 - lane);
        gives("IMAD.SHL.U32 R0, R1, 0x8, RZ", |lane| lane * 8);
        gives("IMAD R0, R1, R1, R1", |lane| lane * lane + lane);
        gives("IMAD.HI.U32 R0, R1, 0x80000000, RZ", |lane| lane / 2);
        gives("LOP3.LUT R0, R1, 0x7, RZ, 0x3c, !PT", |lane| lane ^ 7);
        gives("IMNMX R0, R1, 0x10, PT", |lane| lane.min(16));
        gives("IMNMX R0, R1, 0x10, !PT", |lane| lane.max(16));
        gives("IABS R0, -R1", |lane| lane);
        gives("SGXT R0, R1, 0x4", |lane| if lane & 8 == 0 { lane & 7 } else { lane & 7 | !7 });
        gives("PRMT R0, R1, 0x5410, R1", |lane| lane << 16 | lane);
    }

    #[test]
    fn shifts() {
        gives("SHF.L.U32 R0, R1, 0x5, RZ", |lane| lane << 5);
        gives("SHF.R.U32.HI R0, RZ, 0x1, R1", |lane| lane >> 1);
        gives("IADD3 R2, R1, -0x10, RZ\nSHF.R.S32.HI R0, RZ, 0x1f, R2", |lane| if lane < 16 { u32::MAX } else { 0 });
        gives("IMAD.SHL.U32 R2, R1, 0x8000000, RZ\nSHF.L.U64.HI R0, R2, 0x5, R1", |lane| lane << 5 | lane);
        gives("SHF.L.U32 R0, R1, 0x20, RZ", |_| 0);
        gives("LEA R0, R1, 0x3, 0x4", |lane| lane * 16 + 3);
        gives("LEA.HI R0, R1, 0x3, R1, 0x1e", |lane| (lane << 30) + 3 + (lane >> 2));
        gives(
            "IADD3 R2, R1, -0x10, RZ\nLEA.HI.X.SX32 R0, R2, RZ, 0x2, !PT",
            |lane| if lane < 16 { u32::MAX } else { 0 },
        );
    }

    #[test]
    fn words_carry_into_the_next() {
        let sum = "IADD3 R2, P0, R1, 0xfffffff0, RZ\nIADD3.X R0, RZ, RZ, RZ, P0, !PT";
        gives(sum, |lane| u32::from(lane >= 16));
        gives("LEA R2, P1, R1, 0xffffff00, 0x4\nIMAD.X R0, RZ, RZ, 0x5, P1", |lane| 5 + u32::from(lane >= 16));
        gives("IMAD.WIDE.U32 R2, R1, 0x40000000, c[0x0][0x160]\nMOV R0, R3", |lane| lane / 4 + 7);
        gives(
            "IADD3 R4, -R1, RZ, RZ\nIMAD.WIDE R2, R4, 0x2, RZ\nMOV R0, R3",
            |lane| if lane > 0 { u32::MAX } else { 0 },
        );
    }

    #[test]
    fn predicates_guard_and_select() {
        gives("ISETP.GE.AND P0, PT, R1, 0x10, PT\n@P0 MOV R0, 0x1", |lane| u32::from(lane >= 16));
        gives("ISETP.GT.AND P0, P1, R1, 0x10, PT\nSEL R0, R1, RZ, P1", |lane| if lane <= 16 { lane } else { 0 });
        gives("ISETP.LT.U32.AND P0, PT, R1, 0x8, PT\nP2R R0, PR, RZ, 0x7f", |lane| u32::from(lane < 8));
        let both = "ISETP.NE.AND P0, PT, R1, 0x3, PT\nISETP.LT.AND P1, PT, R1, 0x8, PT\nPLOP3.LUT P2, PT, P0, P1, PT, 0x80, 0x0";
        gives(&format!("{both}\n@P2 MOV R0, 0x1"), |lane| u32::from(lane != 3 && lane < 8));
        let long = "ISETP.GE.U32.AND P0, PT, R1, 0x4, PT\nISETP.GE.AND.EX P1, PT, RZ, RZ, PT, P0\n@P1 MOV R0, 0x1";
        gives(long, |lane| u32::from(lane >= 4));
        gives("ISETP.LT.AND P0, PT, R1, 0x4, PT\nVOTE.ANY R0, PT, P0", |_| 15);
    }

    #[test]
    fn a_division_by_the_reciprocal_is_right() {
        // The estimate from floating point, a step that makes it better, the quotient, and two corrections.
        let code =
            "IMAD R20, R1, 0x25, RZ\nMOV R21, 0x7\nI2F.U32.RP R2, R21\nMUFU.RCP R2, R2\nIADD3 R3, R2, 0xffffffe, RZ
            F2I.FTZ.U32.TRUNC.NTZ R5, R3\nMOV R4, RZ\nIMAD R6, -R5, R21, RZ\nIMAD.HI.U32 R5, R5, R6, R4
            IMAD.HI.U32 R0, R5, R20, RZ\nIMAD R7, -R0, R21, R20\nISETP.GE.U32.AND P0, PT, R7, R21, PT
            @P0 IADD3 R7, R7, -R21, RZ\n@P0 IADD3 R0, R0, 0x1, RZ\nISETP.GE.U32.AND P1, PT, R7, R21, PT
            @P1 IADD3 R0, R0, 0x1, RZ";
        gives(code, |lane| lane * 37 / 7);
    }

    #[test]
    fn what_comes_from_data_is_0() {
        gives("MOV R0, 0x5\nLDS R0, [R1]", |_| 0);
        gives("MOV R0, 0x5\nLDG.E.64.SYS R2, [R4]", |_| 5);
        gives("FSETP.GT.AND P0, PT, R1, RZ, PT\n@P0 MOV R0, 0x1", |_| 0);
    }
}
