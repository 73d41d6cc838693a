//! What is known, without running a program, of a register in the 32 lanes of a warp.
//!
//! Addresses in shared memory are mostly linear in the thread's number, which is known; what isn't known (arguments, a
//! loop's index) is mostly the same in every lane. So a register's value is kept as a [`Known`]: a number for each lane
//! and whether something unknown but common to all is added. `%tid.x * 4 + offset` is 0, 4, 8, … plus something, and that
//! is enough to count bank conflicts: moving all lanes by the same words changes none.
//!
//! A register has one `Known` for the whole program. One that is written at several places, as a loop's are, has what is
//! true of all of them; so the program is gone through until nothing changes.

use std::collections::HashMap;

use crate::ptx::{Address, Alu, Class, Compare, Guard, Op, Operand, Reg, Space, Special, Statement, Type};

/// A number for each lane.
type Numbers = [i64; 32];

/// What is known of a register in each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant)]
pub(super) enum Known {
    /// These numbers, to which the same unknown number is added where `shifted`.
    Lanes { numbers: Numbers, shifted: bool },
    /// Nothing.
    Nothing,
}

impl Known {
    /// Unknown, but the same in every lane.
    const UNIFORM: Known = Known::Lanes { numbers: [0; 32], shifted: true };

    fn constant(number: i64) -> Known {
        Known::Lanes { numbers: [number; 32], shifted: false }
    }

    fn of_lanes(number: impl Fn(i64) -> i64) -> Known {
        Known::Lanes { numbers: std::array::from_fn(|lane| number(lane as i64)), shifted: false }
    }

    /// Whether every lane has the same number.
    fn is_uniform(&self) -> bool {
        matches!(self, Known::Lanes { numbers, .. } if numbers.iter().all(|number| *number == numbers[0]))
    }

    /// The numbers, where nothing unknown is added.
    fn exact(&self) -> Option<&Numbers> {
        match self {
            Known::Lanes { numbers, shifted: false } => Some(numbers),
            _ => None,
        }
    }

    /// What is true of a register that has one value or the other.
    fn join(self, other: Known) -> Known {
        match (self, other) {
            _ if self == other => self,
            (Known::Lanes { numbers: a, .. }, Known::Lanes { numbers: b, .. }) if distances(&a) == distances(&b) => {
                Known::Lanes { numbers: distances(&a), shifted: true }
            }
            _ => Known::Nothing,
        }
    }
}

/// How far each lane is from lane 0.
fn distances(numbers: &Numbers) -> Numbers {
    numbers.map(|number| number.wrapping_sub(numbers[0]))
}

/// What is known of each register in one warp.
pub(super) struct Warp {
    number: i64,
    registers: HashMap<Reg, Known>,
}

impl Warp {
    /// Goes through a kernel's body until nothing more is learnt.
    pub fn of(body: &[Statement], number: u32) -> Warp {
        let mut warp = Warp { number: number.into(), registers: HashMap::new() };
        while body.iter().fold(false, |changed, statement| warp.learn(statement) | changed) {}
        warp
    }

    /// Whether a statement taught something new. Each register can change a few times only: from numbers to distances,
    /// from those to nothing.
    fn learn(&mut self, statement: &Statement) -> bool {
        let Statement::Instruction { op, .. } = statement else { return false };
        let written = written(op);
        let Some(result) = self.result(op).filter(|_| !written.is_empty()) else { return false };
        written.into_iter().fold(false, |changed, reg| self.write(reg, result) | changed)
    }

    fn write(&mut self, reg: Reg, value: Known) -> bool {
        let old = self.registers.get(&reg).copied();
        let new = old.map_or(value, |old| old.join(value));
        self.registers.insert(reg, new);
        old != Some(new)
    }

    /// What an instruction writes; `None` while an operand hasn't been written.
    fn result(&self, op: &Op) -> Option<Known> {
        match op {
            Op::Mov { src, .. } => self.operand(src),
            Op::Alu { op, ty, dst, args, .. } => {
                let args = args.iter().map(|arg| self.operand(arg)).collect::<Option<Vec<_>>>()?;
                Some(alu(*op, *ty, &args).wrapped(*dst))
            }
            Op::Setp { compare, ty, a, b, combine: None, .. } => {
                let (a, b) = (self.operand(a)?, self.operand(b)?);
                Some(compared(*compare, *ty, a, b))
            }
            Op::Selp { a, b, predicate, .. } => {
                let (a, b) = (self.operand(a)?, self.operand(b)?);
                Some(selected(self.registers.get(predicate).copied()?, a, b))
            }
            Op::Ld { space: Space::Param, .. } => Some(Known::UNIFORM),
            _ => Some(Known::Nothing),
        }
    }

    /// What is known of an operand; `None` of a register that hasn't been written.
    fn operand(&self, operand: &Operand) -> Option<Known> {
        Some(match operand {
            Operand::Reg(reg) => return self.registers.get(reg).copied(),
            Operand::Int(number) => Known::constant(*number),
            Operand::Special(Special::TidX) => Known::of_lanes(|lane| self.number * 32 + lane),
            Operand::Special(Special::LaneId) => Known::of_lanes(|lane| lane),
            Operand::Special(Special::WarpId) => Known::constant(self.number),
            // Blocks have one row of threads.
            Operand::Special(Special::TidY | Special::TidZ) => Known::constant(0),
            Operand::Special(
                Special::NtidX
                | Special::NtidY
                | Special::NtidZ
                | Special::CtaidX
                | Special::CtaidY
                | Special::CtaidZ
                | Special::NctaidX
                | Special::NctaidY
                | Special::NctaidZ,
            ) => Known::UNIFORM,
            // Where an array lies shifts all lanes alike.
            Operand::Symbol(_) => Known::constant(0),
            _ => Known::Nothing,
        })
    }

    /// The address of each active lane up to whole words that are common to all, and whether that is sure.
    pub fn addresses(&self, address: &Address, guard: Option<Guard>) -> (Option<[Option<u32>; 32]>, bool) {
        let (active, sure) = self.active(guard);
        let Some(Known::Lanes { numbers, .. }) = self.operand(&address.base) else { return (None, false) };
        let numbers = numbers.map(|number| number.wrapping_add(address.offset));
        let least = numbers.iter().min().copied().unwrap_or(0) & !3;
        let relative = numbers.map(|number| number.wrapping_sub(least) as u32);
        (Some(std::array::from_fn(|lane| active[lane].then_some(relative[lane]))), sure)
    }

    /// The lanes that a guard lets through, all of them where it isn't known.
    fn active(&self, guard: Option<Guard>) -> ([bool; 32], bool) {
        let Some(Guard { reg, negated }) = guard else { return ([true; 32], true) };
        match self.registers.get(&reg).and_then(Known::exact) {
            Some(numbers) => (numbers.map(|number| (number != 0) != negated), true),
            None => ([true; 32], false),
        }
    }
}

impl Known {
    /// In 32 bits, where the register has no more.
    fn wrapped(self, dst: Reg) -> Known {
        match self {
            Known::Lanes { numbers, shifted } if dst.class == Class::B32 => {
                Known::Lanes { numbers: numbers.map(|number| i64::from(number as u32)), shifted }
            }
            other => other,
        }
    }
}

/// The registers that an instruction writes, of the instructions that addresses can come from.
fn written(op: &Op) -> Vec<Reg> {
    match op {
        Op::Mov { dst, .. }
        | Op::Pack { dst, .. }
        | Op::Alu { dst, .. }
        | Op::Setp { dst, .. }
        | Op::Selp { dst, .. }
        | Op::Cvt { dst, .. }
        | Op::CvtPair { dst, .. }
        | Op::Shfl { dst, .. } => vec![*dst],
        Op::Ld { dst, .. } | Op::LdMatrix { dst, .. } => dst.clone(),
        _ => Vec::new(),
    }
}

fn alu(op: Alu, ty: Type, args: &[Known]) -> Known {
    let combined = match (op, args) {
        (Alu::Add, &[a, b]) => sum(a, b, 1),
        (Alu::Sub, &[a, b]) => sum(a, b, -1),
        (Alu::MulLo, &[a, b]) => product(a, b),
        (Alu::Shl, &[a, b]) => product(a, each(&[b], |n| 1_i64.checked_shl(n[0] as u32).unwrap_or(0))),
        (Alu::MadLo, &[a, b, c]) => sum(product(a, b), c, 1),
        (Alu::And, [_, _]) => each(args, |n| n[0] & n[1]),
        (Alu::Or, [_, _]) => each(args, |n| n[0] | n[1]),
        (Alu::Xor, [_, _]) => each(args, |n| n[0] ^ n[1]),
        (Alu::Shr, [_, _]) if !matches!(ty, Type::S32 | Type::S64) => {
            each(args, |n| (n[0] as u64).checked_shr(n[1] as u32).unwrap_or(0) as i64)
        }
        _ => Known::Nothing,
    };
    match combined {
        Known::Nothing if args.iter().all(Known::is_uniform) => Known::UNIFORM,
        known => known,
    }
}

fn sum(a: Known, b: Known, sign: i64) -> Known {
    let (Known::Lanes { numbers: x, shifted: p }, Known::Lanes { numbers: y, shifted: q }) = (a, b) else {
        return Known::Nothing;
    };
    let numbers = std::array::from_fn(|lane| x[lane].wrapping_add(y[lane].wrapping_mul(sign)));
    Known::Lanes { numbers, shifted: p | q }
}

/// A product: of numbers, or of numbers and distances with a constant.
fn product(a: Known, b: Known) -> Known {
    let times = |of: Known, by: &Numbers| match of {
        Known::Lanes { numbers, shifted } => {
            Known::Lanes { numbers: std::array::from_fn(|lane| numbers[lane].wrapping_mul(by[lane])), shifted }
        }
        Known::Nothing => Known::Nothing,
    };
    match (a.exact(), b.exact()) {
        (Some(_), Some(by)) => times(a, by),
        (None, Some(by)) if b.is_uniform() => times(a, by),
        (Some(by), None) if a.is_uniform() => times(b, by),
        _ => Known::Nothing,
    }
}

/// A function of numbers that are known in every lane.
fn each(args: &[Known], function: impl Fn(&[i64]) -> i64) -> Known {
    let Some(args) = args.iter().map(Known::exact).collect::<Option<Vec<_>>>() else { return Known::Nothing };
    Known::of_lanes(|lane| function(&args.iter().map(|numbers| numbers[lane as usize]).collect::<Vec<_>>()))
}

fn compared(compare: Compare, ty: Type, a: Known, b: Known) -> Known {
    // A register's number means what the comparison takes it for.
    let meant = |number: i64| match ty {
        Type::S32 => i128::from(number as i32),
        Type::U32 | Type::B32 => i128::from(number as u32),
        Type::U64 | Type::B64 => i128::from(number as u64),
        _ => i128::from(number),
    };
    let holds = |n: &[i64]| {
        let (a, b) = (meant(n[0]), meant(n[1]));
        match compare {
            Compare::Eq => a == b,
            Compare::Ne => a != b,
            Compare::Lt => a < b,
            Compare::Le => a <= b,
            Compare::Gt => a > b,
            _ => a >= b,
        }
    };
    let ordered = matches!(compare, Compare::Eq | Compare::Ne | Compare::Lt | Compare::Le | Compare::Gt | Compare::Ge);
    match each(&[a, b], |n| i64::from(holds(n))) {
        known @ Known::Lanes { .. } if ordered => known,
        _ if a.is_uniform() && b.is_uniform() => Known::UNIFORM,
        _ => Known::Nothing,
    }
}

fn selected(predicate: Known, a: Known, b: Known) -> Known {
    match predicate.exact() {
        Some(_) if a.exact().is_some() && b.exact().is_some() => {
            each(&[predicate, a, b], |n| if n[0] != 0 { n[1] } else { n[2] })
        }
        None if predicate.is_uniform() => a.join(b),
        _ => Known::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is known of the address of a body's only shared access, in warp 1: the distance of each lane from the least,
    /// and whether the lanes are sure.
    fn addresses(body: &str) -> (Option<Vec<Option<u32>>>, bool) {
        let text = format!(
            ".version 6.4\n.target sm_70\n.address_size 64\n.visible .entry f(.param .u32 n)\n{{\n.reg .pred %p<9>;\n\
             .reg .b32 %r<9>;\n{body}\nret;\n}}\n"
        );
        let module = crate::ptx::parse(&text).unwrap();
        let body = &module.entries[0].body;
        let warp = Warp::of(body, 1);
        let access = body.iter().find_map(|statement| match statement {
            Statement::Instruction { guard, op: Op::St { address, .. } } => Some(warp.addresses(address, *guard)),
            _ => None,
        });
        let (addresses, sure) = access.unwrap();
        (addresses.map(|all| all.to_vec()), sure)
    }

    fn every(address: impl Fn(u32) -> u32) -> Option<Vec<Option<u32>>> {
        Some((0..32).map(|lane| Some(address(lane))).collect())
    }

    #[test]
    fn linear_addresses_are_known() {
        let swizzled = "mov.u32 %r0, %tid.x;\nand.b32 %r1, %r0, 7;\nshl.b32 %r2, %r1, 4;\nxor.b32 %r3, %r2, 32;\n\
                        st.shared.b32 [%r3], %r0;";
        assert_eq!(addresses(swizzled), (every(|lane| (lane % 8 * 16) ^ 32), true));
    }

    #[test]
    fn what_all_lanes_share_is_a_shift() {
        let shifted = "mov.u32 %r0, %tid.x;\nld.param.u32 %r2, [n];\nmad.lo.u32 %r1, %r0, 8, %r2;\n\
                       st.shared.b32 [%r1], %r0;";
        assert_eq!(addresses(shifted), (every(|lane| lane * 8), true));
        let crossed = shifted.replace("mad.lo.u32 %r1, %r0, 8, %r2", "xor.b32 %r1, %r0, %r2");
        assert_eq!(addresses(&crossed), (None, false));
    }

    #[test]
    fn loops_are_gone_through_until_nothing_changes() {
        let body = |step: &str| {
            format!(
                "mov.u32 %r0, %tid.x;\nshl.b32 %r1, %r0, 2;\nmov.u32 %r2, 0;\n$L1:\nst.shared.b32 [%r1], %r0;\n\
                 add.u32 %r1, %r1, {step};\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p0, %r2, 4;\n@%p0 bra $L1;"
            )
        };
        assert_eq!(addresses(&body("128")), (every(|lane| lane * 4), true));
        assert_eq!(addresses(&body("%r0")), (None, false));
    }

    #[test]
    fn guards_that_are_known_leave_lanes_out() {
        let body = |compared: &str| {
            format!(
                "mov.u32 %r0, %tid.x;\nld.param.u32 %r2, [n];\nsetp.lt.u32 %p0, {compared};\n\
                 @%p0 st.shared.b32 [%r0], %r0;"
            )
        };
        let (some, sure) = addresses(&body("%r0, 40"));
        assert_eq!((some.unwrap().iter().flatten().count(), sure), (8, true));
        assert_eq!(addresses(&body("%r2, 40")), (every(|lane| lane), false));
    }
}
