//! A kernel ready to run: what its instructions do, with every name resolved.
//!
//! Registers become slots of two files, of 32 and of 64 bits a lane; predicates have their own. Immediates and special
//! registers get slots too, which each warp fills when it starts, so that running an instruction never asks what kind of
//! operand it has. For example `add.s32 %r2, %r1, 4` adds the slots of `%r1` and of the constant 4 into that of `%r2`.
//! [`decode`](super::decode) makes these from PTX.

use super::counters::Group;
use super::decode::decode;
use super::report::{Position, SimError, statement_text};
use crate::ptx::{
    Alu, Atomic, Class, Combine, Compare, Constant, Module, Param, Reg, Rounding, Shuffle, Space, Special, Statement,
    Type, Vote, register_name,
};

/// Where a warp keeps a value of 32 or 64 bits for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Slot(u32);

/// The bit that says which file a slot is in.
const WIDE: u32 = 1 << 31;

impl Slot {
    pub(super) fn new(index: u32, wide: bool) -> Self {
        Slot(index | if wide { WIDE } else { 0 })
    }

    /// Whether it has 64 bits.
    #[inline(always)]
    pub(super) fn wide(self) -> bool {
        self.0 & WIDE != 0
    }

    /// Its place in its file.
    #[inline(always)]
    pub(super) fn index(self) -> usize {
        (self.0 & !WIDE) as usize
    }
}

/// An address: a slot and a constant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) base: Slot,
    pub(super) offset: i64,
}

/// A predicate with its sign.
#[derive(Clone, Copy, Debug)]
pub(super) struct Condition {
    pub(super) slot: u32,
    pub(super) negated: bool,
}

/// What an instruction does, on slots.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Mov {
        dst: Slot,
        src: Slot,
    },
    MovPredicate {
        dst: u32,
        src: u32,
    },
    Pack {
        dst: Slot,
        parts: Box<[Slot]>,
        bits: u32,
    },
    Unpack {
        parts: Box<[Option<Slot>]>,
        src: Slot,
        bits: u32,
    },
    Alu(AluStep),
    Logic {
        op: Alu,
        dst: u32,
        args: [u32; 2],
    },
    Setp(SetpStep),
    Selp {
        dst: Slot,
        args: [Slot; 2],
        predicate: u32,
    },
    Cvt(CvtStep),
    /// Two singles rounded to halves in one register, the first to the lower.
    CvtPair {
        bf16: bool,
        dst: Slot,
        args: [Slot; 2],
    },
    LoadParam {
        dst: Slot,
        index: usize,
        offset: i64,
    },
    Load(Access),
    Store(Access),
    LoadLocal(Access),
    StoreLocal(Access),
    Print {
        format: Slot,
        arguments: Slot,
        count: Option<Slot>,
    },
    Assertion {
        message: Slot,
    },
    Atom(AtomStep),
    Branch {
        target: u32,
    },
    Exit,
    Trap,
    Barrier {
        id: u32,
    },
    WarpSync {
        members: Slot,
    },
    Nothing,
    Shuffle(ShuffleStep),
    Vote {
        mode: Vote,
        dst: VoteResult,
        src: Condition,
        members: Slot,
    },
    ActiveMask {
        dst: Slot,
    },
    Mma(Box<MmaStep>),
    MmaRows(Box<RowsStep>),
    /// A load of matrices: the access is of a row of 16 bytes, a slot for each matrix.
    LoadMatrix {
        access: Access,
        transposed: bool,
    },
    Copy(Box<CopyStep>),
    CopyCommit,
    CopyWait {
        groups: u32,
    },
    Wgmma(Box<WgmmaStep>),
    WgmmaCommit,
    WgmmaWait {
        groups: u32,
    },
    /// Makes the warp's writes to shared memory visible to wgmma.
    ProxyFence,
    /// Nothing, but for a check.
    Promise(Claim),
    /// An error, but only when it is reached.
    Unsupported {
        what: String,
    },
}

/// Arithmetic.
#[derive(Clone, Debug)]
pub(super) struct AluStep {
    pub(super) op: Alu,
    pub(super) ty: Type,
    pub(super) rounding: Option<Rounding>,
    pub(super) ftz: bool,
    pub(super) sat: bool,
    pub(super) dst: Slot,
    pub(super) args: [Slot; 4],
    /// How many of them there are.
    pub(super) count: usize,
}

impl AluStep {
    #[inline(always)]
    pub(super) fn operands(&self) -> &[Slot] {
        &self.args[..self.count]
    }
}

/// A comparison.
#[derive(Clone, Debug)]
pub(super) struct SetpStep {
    pub(super) compare: Compare,
    pub(super) ty: Type,
    pub(super) ftz: bool,
    pub(super) dst: u32,
    pub(super) args: [Slot; 2],
    /// A predicate to combine the result with.
    pub(super) combine: Option<(Combine, Condition)>,
}

/// A conversion.
#[derive(Clone, Debug)]
pub(super) struct CvtStep {
    pub(super) to: Type,
    pub(super) from: Type,
    pub(super) rounding: Option<Rounding>,
    pub(super) ftz: bool,
    pub(super) sat: bool,
    pub(super) dst: Slot,
    pub(super) src: Slot,
}

/// A load or a store: the slots are its destinations or sources, one for each element that a lane moves.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) space: Space,
    pub(super) ty: Type,
    /// Elements that a lane moves.
    pub(super) vector: u32,
    pub(super) slots: Box<[Slot]>,
    pub(super) place: Place,
}

/// An asynchronous copy, of words.
#[derive(Clone, Debug)]
pub(super) struct CopyStep {
    pub(super) to: Access,
    pub(super) from: Access,
    /// How many bytes are read; all where absent.
    pub(super) read: Option<Slot>,
}

/// An atomic; the slots of its access are its operands, at least one.
#[derive(Clone, Debug)]
pub(super) struct AtomStep {
    pub(super) op: Atomic,
    pub(super) access: Access,
    pub(super) dst: Option<Slot>,
}

/// A shuffle.
#[derive(Clone, Debug)]
pub(super) struct ShuffleStep {
    pub(super) mode: Shuffle,
    pub(super) dst: Slot,
    pub(super) in_range: Option<u32>,
    pub(super) src: Slot,
    pub(super) lane: Slot,
    pub(super) clamp: Slot,
    pub(super) members: Slot,
}

/// What must hold in every lane that comes by.
#[derive(Clone, Copy, Debug)]
pub(super) enum Claim {
    Multiple { slot: Slot, offset: i64, of: u32 },
    Same { slot: Slot, other: Slot, offset: i64 },
    Agree { slots: [u32; 2] },
    Holds { slot: u32 },
    Below { slot: Slot, limit: u32, guard: Option<Condition> },
}

/// A product of m8n8k4.
#[derive(Clone, Debug)]
pub(super) struct MmaStep {
    pub(super) a_row: bool,
    pub(super) b_row: bool,
    /// Whether the accumulator is of halves, two a register.
    pub(super) half: bool,
    pub(super) d: Box<[Slot]>,
    pub(super) a: [Slot; 2],
    pub(super) b: [Slot; 2],
    pub(super) c: Box<[Slot]>,
}

/// A product of a unit of 16 rows and 8 columns, into singles.
#[derive(Clone, Debug)]
pub(super) struct RowsStep {
    /// Products that an element of the accumulator sums: 8 or 16.
    pub(super) depth: usize,
    /// Whether the operands are bf16.
    pub(super) bf16: bool,
    pub(super) d: [Slot; 4],
    pub(super) a: Box<[Slot]>,
    pub(super) b: Box<[Slot]>,
    pub(super) c: [Slot; 4],
}

/// A product of wgmma into singles.
#[derive(Clone, Debug)]
pub(super) struct WgmmaStep {
    /// Whether the operands are bf16.
    pub(super) bf16: bool,
    pub(super) d: Box<[Slot]>,
    /// The numbers of those registers among all.
    pub(super) sums: Box<[u32]>,
    pub(super) a: WgmmaLeftStep,
    pub(super) b: Slot,
    pub(super) b_transposed: bool,
    /// The predicate that says whether to add to the sums.
    pub(super) adds: u32,
}

/// The left operand of a product of wgmma.
#[derive(Clone, Debug)]
pub(super) enum WgmmaLeftStep {
    Registers(Box<[Slot]>),
    Memory { descriptor: Slot, transposed: bool },
}

/// Where a vote's result goes.
#[derive(Clone, Copy, Debug)]
pub(super) enum VoteResult {
    Predicate(u32),
    Word(Slot),
}

/// An instruction: its guard, its class, what it reads and does, and the statement that it came from.
#[derive(Clone, Debug)]
pub(super) struct Instruction {
    pub(super) guard: Option<Condition>,
    pub(super) group: Group,
    pub(super) kind: Kind,
    /// The guard's register, if it isn't known to have been written.
    pub(super) guard_read: Option<u32>,
    /// Registers that must have been written, without those that are known to be.
    pub(super) reads: Box<[u32]>,
    /// Registers that it writes, without those that are known to be written.
    pub(super) writes: Box<[u32]>,
    pub(super) statement: usize,
    /// Position in the source: file number, line, column.
    pub(super) position: Option<(u32, u32, u32)>,
}

/// A decoded kernel.
#[derive(Debug)]
pub struct Program {
    pub(super) kernel: String,
    pub(super) params: Vec<Param>,
    pub(super) code: Vec<Instruction>,
    pub(super) files: Vec<String>,
    pub(super) body: Vec<Statement>,
    /// Slots of each kind.
    pub(super) predicates: usize,
    pub(super) words: usize,
    pub(super) longs: usize,
    /// Registers of each class.
    pub(super) registers: [u32; 6],
    pub(super) constants: Vec<(Slot, u64)>,
    pub(super) constant_predicates: Vec<(u32, bool)>,
    pub(super) specials: Vec<(Slot, Special)>,
    /// Shared memory of fixed size, in bytes; dynamic memory follows it.
    pub(super) static_shared: u32,
    /// Memory of each thread, in bytes.
    pub(super) local: u32,
    /// What the module has in global memory itself: the buffers before those of the arguments.
    pub(super) texts: Vec<Constant>,
}

impl Program {
    /// Decodes a kernel of a module.
    ///
    /// # Errors
    /// There is no such kernel, or it has something that can't be decoded.
    pub fn load(module: &Module, entry: &str) -> Result<Program, SimError> {
        let found = module.entries.iter().find(|own| own.name == entry);
        let Some(kernel) = found else {
            let found = module.entries.iter().map(|own| own.name.clone()).collect();
            return Err(SimError::NoEntry { entry: entry.to_owned(), found });
        };
        decode(module, kernel)
    }

    /// What the PTX calls a register, by its number among all.
    pub(super) fn register_name(&self, number: u32) -> String {
        let mut index = number;
        for (class, count) in Class::ALL.into_iter().zip(self.registers) {
            if index < count {
                return register_name(Reg { class, index });
            }
            index -= count;
        }
        format!("register {number}")
    }

    /// The source position of an instruction, and its text.
    pub(super) fn source(&self, pc: u32) -> (Option<Position>, String) {
        let Some(instruction) = self.code.get(pc as usize) else { return (None, String::new()) };
        let position = instruction.position.map(|(file, line, column)| {
            let name = (file as usize).checked_sub(1).and_then(|file| self.files.get(file));
            Position { file: name.cloned().unwrap_or_default(), line, column }
        });
        // What runs off the end has no statement.
        let text = self.body.get(instruction.statement).map_or("ret;".into(), statement_text);
        (position, text)
    }
}

/// Whether values of the type take 64 bits.
pub(super) fn wide_type(ty: Type) -> bool {
    matches!(ty, Type::B64 | Type::U64 | Type::S64 | Type::F64)
}
