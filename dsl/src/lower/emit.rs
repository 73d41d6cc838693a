//! The instruction stream under construction.
//!
//! Pure instructions are numbered: asking for one that an open block already has gives the register that it wrote. A
//! pure instruction goes to the outermost block where its operands exist, so what does not change in a loop is computed
//! before it; but it never leaves a branch, which may be there because its work is rarely needed.
//!
//! The emitter also knows, of registers that hold integers, a power of two that divides them. Wide memory accesses
//! follow from that.

use std::collections::{HashMap, HashSet};
use std::panic::Location;

use super::num::Num;
use crate::ptx::{Alu, Class, Compare, Guard, Label, Op, Operand, Promise, Reg, Rounding, Special, Statement, Type};

/// A pure instruction: what tells two results apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Pure {
    Alu {
        op: Alu,
        rounding: Option<Rounding>,
        approx: bool,
        ty: Type,
    },
    Setp {
        compare: Compare,
        ty: Type,
    },
    Selp {
        ty: Type,
    },
    Cvt {
        to: Type,
        from: Type,
        rounding: Option<Rounding>,
    },
    CvtPair {
        to: Type,
    },
    Mov {
        ty: Type,
    },
    Pack,
    UnpackLow,
    UnpackHigh,
    Special(Special),
    SharedBase,
    /// What the first lane has, of a number that all lanes of a warp share.
    Uniform,
    Parameter(u32),
    /// A start and so many times a stride.
    Multiple(i64),
}

type Key = (Pure, Class, [Option<Num>; 3]);

/// A stretch of statements that closes as one: the kernel, a loop's body, one side of a branch.
#[derive(Default)]
struct Block {
    statements: Vec<Statement>,
    numbers: HashMap<Key, Reg>,
    conditional: bool,
    /// Divisors that registers of outside had before more was known of them here.
    divisors_before: Vec<(Reg, u32)>,
    at: Option<(u32, u32, u32)>,
}

/// A block that is left for a while.
pub(super) struct Suspended(Block);

pub(super) struct Emitter {
    blocks: Vec<Block>,
    defined: HashMap<Reg, usize>,
    divisors: HashMap<Reg, u32>,
    pub counts: [u32; 6],
    pub files: Vec<String>,
    at: Option<(u32, u32, u32)>,
    labels: u32,
    /// Where pure instructions go.
    pures: Pures,
}

/// Where pure instructions go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pures {
    /// To the outermost block where their operands exist.
    Out,
    /// To the innermost block, where they are used: results that are so cheap that a register for a whole loop would cost
    /// more.
    Near,
    /// The same, even where a block around the innermost one has the result.
    Anew,
}

/// The largest power of two that is kept as a divisor.
const DIVISOR_LIMIT: u32 = 1 << 20;

impl Emitter {
    pub fn new() -> Self {
        Emitter {
            blocks: vec![Block::default()],
            defined: HashMap::new(),
            divisors: HashMap::new(),
            counts: [0; 6],
            files: Vec::new(),
            at: None,
            labels: 0,
            pures: Pures::Out,
        }
    }

    /// Says where the following instructions come from.
    pub fn locate(&mut self, at: &'static Location<'static>) {
        let known = self.files.iter().position(|f| f == at.file());
        let file = known.unwrap_or_else(|| {
            self.files.push(at.file().to_owned());
            self.files.len() - 1
        });
        self.at = Some((file as u32 + 1, at.line(), at.column()));
    }

    /// A register that nothing has written yet.
    pub fn fresh(&mut self, class: Class) -> Reg {
        let count = &mut self.counts[class as usize];
        *count += 1;
        let reg = Reg { class, index: *count - 1 };
        self.defined.insert(reg, self.blocks.len() - 1);
        reg
    }

    pub fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    /// Appends an instruction to the innermost block.
    pub fn push(&mut self, op: Op) {
        self.push_guarded(None, op);
    }

    pub fn push_guarded(&mut self, guard: Option<Guard>, op: Op) {
        let level = self.blocks.len() - 1;
        self.append(level, guard, op);
    }

    fn append(&mut self, level: usize, guard: Option<Guard>, op: Op) {
        self.append_statement(level, Statement::Instruction { guard, op });
    }

    fn append_statement(&mut self, level: usize, statement: Statement) {
        let at = self.at;
        let block = &mut self.blocks[level];
        if let Some((file, line, column)) = at
            && block.at != at
        {
            block.statements.push(Statement::Loc { file, line, column });
            block.at = at;
        }
        block.statements.push(statement);
    }

    /// Notes a promise where the innermost block stands.
    pub fn promise(&mut self, promise: Promise) {
        self.append_statement(self.blocks.len() - 1, Statement::Promise(promise));
    }

    fn innermost(&mut self) -> &mut Block {
        self.blocks.last_mut().expect("the kernel's block is never closed")
    }

    /// The register that a pure instruction writes, emitted where it is first wanted.
    pub fn pure(&mut self, pure: Pure, class: Class, args: &[Num], make: impl FnOnce(&mut Self, Reg) -> Op) -> Reg {
        if let Some(reg) = self.find(pure, class, args) {
            return reg;
        }
        let level = self.level_of(args);
        let reg = self.fresh(class);
        self.defined.insert(reg, level);
        let op = make(self, reg);
        self.append(level, None, op);
        self.blocks[level].numbers.insert(key(pure, class, args), reg);
        reg
    }

    /// Says where the pure instructions of a while go; gives what was so before.
    pub fn place(&mut self, pures: Pures) -> Pures {
        std::mem::replace(&mut self.pures, pures)
    }

    /// The register that an open block has for a pure instruction.
    pub fn find(&self, pure: Pure, class: Class, args: &[Num]) -> Option<Reg> {
        let key = key(pure, class, args);
        let first = if self.pures == Pures::Anew { self.blocks.len() - 1 } else { 0 };
        self.blocks[first..].iter().find_map(|block| block.numbers.get(&key)).copied()
    }

    /// Notes that a register already holds a pure instruction's result.
    pub fn known(&mut self, pure: Pure, class: Class, args: &[Num], reg: Reg) {
        let level = self.level_of(args);
        self.defined.insert(reg, level);
        self.blocks[level].numbers.insert(key(pure, class, args), reg);
    }

    /// Whether what is made of these operands stands in the innermost block anyway.
    pub fn stays(&self, args: &[Num]) -> bool {
        self.level_of(args) == self.blocks.len() - 1
    }

    /// The outermost block where these operands exist, without leaving a branch.
    fn level_of(&self, args: &[Num]) -> usize {
        if self.pures != Pures::Out {
            return self.blocks.len() - 1;
        }
        let branch = self.blocks.iter().rposition(|block| block.conditional).unwrap_or(0);
        let operands = args.iter().filter_map(|arg| arg.register()).map(|reg| self.defined[&reg]);
        operands.fold(branch, usize::max)
    }

    /// Opens a loop's body or, with `conditional`, one side of a branch.
    pub fn open(&mut self, conditional: bool) {
        self.blocks.push(Block { conditional, ..Block::default() });
    }

    /// Goes back to the block around the innermost one for a while.
    pub fn suspend(&mut self) -> Suspended {
        Suspended(self.blocks.pop().expect("a block is open"))
    }

    /// Returns to a block that was left with [`Self::suspend`].
    pub fn resume(&mut self, block: Suspended) {
        self.blocks.push(block.0);
    }

    /// Closes the innermost block and gives its statements.
    pub fn close(&mut self) -> Vec<Statement> {
        let block = self.blocks.pop().expect("a block is open");
        self.divisors.extend(block.divisors_before.into_iter().rev());
        block.statements
    }

    /// Appends statements that a closed block gave.
    pub fn extend(&mut self, statements: Vec<Statement>) {
        let block = self.innermost();
        block.statements.extend(statements);
        block.at = None;
    }

    /// Forgets which integers registers hold: what is wanted again is computed anew.
    pub fn forget_integers(&mut self) {
        for block in &mut self.blocks {
            block.numbers.retain(|(_, class, _), _| !matches!(class, Class::B32 | Class::B64));
        }
    }

    /// Forgets what was computed of registers, or kept in them, that are about to be written again.
    pub fn overwritten(&mut self, registers: &HashSet<Reg>) {
        let fresh = |num: &Option<Num>| !num.and_then(Num::register).is_some_and(|reg| registers.contains(&reg));
        for block in &mut self.blocks {
            block.numbers.retain(|(_, _, args), reg| !registers.contains(reg) && args.iter().all(fresh));
        }
    }

    /// Whether a register was written in the innermost block.
    pub fn is_innermost(&self, reg: Reg) -> bool {
        self.defined.get(&reg) == Some(&(self.blocks.len() - 1))
    }

    pub fn mark(&mut self, label: Label) {
        self.innermost().statements.push(Statement::Label(label));
    }

    /// Whether the innermost block is inside a loop or branch.
    pub fn nested(&self) -> bool {
        self.blocks.len() > 1
    }

    /// Says that a register, written in a block that has closed, lives on in the innermost one.
    pub fn survives(&mut self, reg: Reg) {
        self.defined.insert(reg, self.blocks.len() - 1);
    }

    /// A power of two that divides the register's value.
    pub fn divisor(&self, reg: Reg) -> u32 {
        self.divisors.get(&reg).copied().unwrap_or(1)
    }

    /// Notes a divisor. It may rest on a promise of this block: outside of it, a register from outside has only what it
    /// had before.
    pub fn set_divisor(&mut self, reg: Reg, divisor: u32) {
        let (known, level) = (self.divisor(reg), self.blocks.len() - 1);
        let own = divisor.clamp(known, DIVISOR_LIMIT.max(known));
        if own > known && self.defined.get(&reg).is_some_and(|&defined| defined < level) {
            self.innermost().divisors_before.push((reg, known));
        }
        self.divisors.insert(reg, own);
    }

    /// Takes back what was said of a register inside a loop.
    pub fn restore_divisor(&mut self, reg: Reg, divisor: u32) {
        self.divisors.insert(reg, divisor);
    }

    /// A power of two that divides a number.
    pub fn divisor_of(&self, num: Num) -> u32 {
        match num {
            Num::Int { base, offset } => {
                let own = divisor_of_constant(offset);
                base.map_or(own, |reg| self.divisor(reg).min(own))
            }
            _ => 1,
        }
    }

    pub fn special(&mut self, special: Special) -> Num {
        let reg = self.pure(Pure::Special(special), Class::B32, &[], |_, dst| Op::Mov {
            ty: Type::U32,
            dst,
            src: Operand::Special(special),
        });
        Num::base(reg)
    }
}

fn key(pure: Pure, class: Class, args: &[Num]) -> Key {
    let mut own = [None; 3];
    own.iter_mut().zip(args).for_each(|(place, arg)| *place = Some(*arg));
    (pure, class, own)
}

/// The largest power of two, up to a limit, that divides a constant.
pub(super) fn divisor_of_constant(value: i64) -> u32 {
    1 << value.trailing_zeros().min(DIVISOR_LIMIT.trailing_zeros())
}
