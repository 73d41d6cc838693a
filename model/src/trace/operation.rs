//! What an instruction does to integers and predicates, read once from its text.
//!
//! `IADD3.X R5, R4, c[0x0][0x164], RZ, P0, !PT` becomes a sum of three sources and two carries. Constants of the parameters'
//! bank are replaced by their values here, so that [`super::warp`] sees registers and values alone.

use super::function::{Function, Shift};
use super::operand::{Address, Constants, Predicate, Source, Target, hexadecimal, register};
use crate::sass::Instruction;
use crate::sass::class::{Class, Memory, Width};

/// What happens, and under which predicate.
#[derive(Clone, Debug, PartialEq)]
pub struct Operation {
    /// The predicate under which it happens.
    pub guard: Predicate,
    /// What.
    pub action: Action,
}

/// What happens in each lane.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Nothing that an address comes from.
    Nothing,
    /// An access to shared memory; a load clears `into`.
    Shared { address: Address, bytes: u32, into: Option<(u8, u8)> },
    /// So many registers from the first on become 0: what comes from data.
    Clear(u8, u8),
    /// The same, of an instruction that isn't known.
    Unknown(u8),
    /// The thread's number.
    Thread(Target),
    /// The lane's number.
    Lane(Target),
    /// A function of words and of bits that predicates have; its own bit goes to a predicate.
    Words { target: Target, sources: [Source; 3], function: Function, bits: Vec<Predicate>, into: Option<usize> },
    /// A product and a sum of 64 bits, with signs or without; only the upper word where `upper`.
    Wide { target: Target, sources: [Source; 3], signed: bool, upper: bool },
    /// A comparison, combined with a predicate.
    Compare { targets: [Option<usize>; 2], sources: [Source; 2], comparison: Comparison, with: Predicate, by: Combine },
    /// Predicates by tables of eight.
    Predicates { targets: [Option<usize>; 2], sources: [Predicate; 3], tables: [u8; 2] },
    /// A predicate becomes false: what comes from data.
    Never(usize),
    /// Predicates as bits of a word.
    Pack(Target, u32),
    /// Bits of a word as predicates.
    Unpack(Source, u32),
    /// Whether all active lanes have a predicate, or any; the lanes that have it, as bits.
    Vote { target: Target, predicate: Option<usize>, of: Predicate, all: bool },
    /// On at another instruction, under a second predicate.
    Jump(usize, Predicate),
    /// The end.
    Exit,
}

/// What is compared how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// What it asks.
    pub order: Order,
    /// Whether words have signs.
    pub signed: bool,
    /// What the words below said, of words that are equal.
    pub lower: Option<Predicate>,
}

/// What a comparison asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Order {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
}

/// How a comparison meets a predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Combine {
    And,
    Or,
    Xor,
}

impl Operation {
    /// What an instruction does, where parameters have these values.
    pub fn of(one: &Instruction, constants: &Constants) -> Self {
        let guard = one.guard.as_deref().and_then(|guard| Predicate::read(guard.trim_start_matches('@')));
        Self { guard: guard.unwrap_or(Predicate::ALWAYS), action: Reader { one, constants }.action() }
    }
}

struct Reader<'i> {
    one: &'i Instruction,
    constants: &'i Constants,
}

impl Reader<'_> {
    fn action(&self) -> Action {
        match self.one.class {
            Class::Access(memory, width) => self.access(memory, width),
            Class::MatrixF32 | Class::MatrixF16 | Class::Half | Class::Float | Class::Double => Action::Nothing,
            Class::Multiply | Class::MultiplyWide => self.multiply(),
            Class::Branch => self.branch(),
            _ => self.integer(),
        }
    }

    fn operand(&self, index: usize) -> &str {
        self.one.operands.get(index).map_or("", String::as_str)
    }

    fn source(&self, index: usize) -> Source {
        Source::read(self.operand(index), self.constants)
    }

    fn sources<const N: usize>(&self, first: usize) -> [Source; N] {
        std::array::from_fn(|i| self.source(first + i))
    }

    fn target(&self) -> Target {
        register(self.operand(0))
    }

    fn predicate(&self, index: usize) -> Option<Predicate> {
        Predicate::read(self.operand(index))
    }

    /// A predicate that is written: none for the one that is always true.
    fn written(&self, index: usize) -> Option<usize> {
        self.predicate(index).map(|own| own.number).filter(|number| *number != super::operand::TRUE)
    }

    fn immediate(&self, index: usize) -> u32 {
        hexadecimal(self.operand(index)).unwrap_or(0)
    }

    fn has(&self, modifier: &str) -> bool {
        self.one.has(modifier)
    }

    fn access(&self, memory: Memory, width: Width) -> Action {
        let words = (width.bytes() / 4) as u8;
        let into = self.target().map(|first| (first, words));
        let address = self.one.operands.iter().find_map(|operand| Address::read(operand));
        match (memory, address) {
            (Memory::SharedLoad, Some(address)) => Action::Shared { address, bytes: width.bytes(), into },
            (Memory::SharedStore, Some(address)) => Action::Shared { address, bytes: width.bytes(), into: None },
            (Memory::GlobalLoad, _) => into.map_or(Action::Nothing, |(first, words)| Action::Clear(first, words)),
            _ => Action::Nothing,
        }
    }

    fn branch(&self) -> Action {
        match (self.one.base(), self.one.target) {
            ("EXIT", _) => Action::Exit,
            (_, Some(to)) => Action::Jump(to, self.predicate(0).unwrap_or(Predicate::ALWAYS)),
            _ => Action::Nothing,
        }
    }

    fn multiply(&self) -> Action {
        let (target, sources) = (self.target(), self.sources(1));
        let (signed, upper) = (!self.has("U32"), self.has("HI"));
        match upper || self.has("WIDE") {
            true => Action::Wide { target, sources, signed, upper },
            false => {
                let bits = self.predicate(4).into_iter().filter(|_| self.has("X")).collect();
                Action::Words { target, sources, function: Function::Multiply, bits, into: None }
            }
        }
    }

    fn integer(&self) -> Action {
        let signed = !self.has("U32");
        match self.one.base() {
            "S2R" => self.special(),
            "MOV" | "MOV32I" => self.unary(Function::Add),
            "IADD3" => self.add(),
            "LOP3" => self.logic(),
            "PLOP3" => self.predicates(),
            "SHF" => self.words(Function::Shift(self.shift())),
            "LEA" => self.shift_add(),
            "ISETP" => self.compare(),
            "FSETP" | "HSETP2" | "DSETP" | "FCHK" => self.written(0).map_or(Action::Nothing, Action::Never),
            "IABS" => self.unary(Function::Absolute),
            "SGXT" => self.unary(Function::Extend { bits: self.immediate(2), signed }),
            "P2R" => Action::Pack(self.target(), self.immediate(3)),
            "R2P" => Action::Unpack(self.source(1), self.immediate(2)),
            "VOTE" => self.vote(),
            "SEL" => self.chosen(Function::Select),
            "IMNMX" => self.chosen(Function::Extreme { signed }),
            "PRMT" => self.bytes(),
            "I2F" => self.unary(Function::ToFloat { signed }),
            "F2I" => self.unary(Function::ToInteger { signed }),
            "MUFU" if self.has("RCP") => self.unary(Function::Reciprocal),
            _ => self.of_data(),
        }
    }

    /// A function of one word.
    fn unary(&self, function: Function) -> Action {
        let sources = [self.source(1), Source::ZERO, Source::ZERO];
        Action::Words { target: self.target(), sources, function, bits: Vec::new(), into: None }
    }

    /// A function of three words as they stand.
    fn words(&self, function: Function) -> Action {
        Action::Words { target: self.target(), sources: self.sources(1), function, bits: Vec::new(), into: None }
    }

    /// A function of two words and a predicate.
    fn chosen(&self, function: Function) -> Action {
        let sources = [self.source(1), self.source(2), Source::ZERO];
        let bits = self.predicate(3).into_iter().collect();
        Action::Words { target: self.target(), sources, function, bits, into: None }
    }

    /// The selector stands between the two words.
    fn bytes(&self) -> Action {
        let sources = [self.source(1), self.source(3), self.source(2)];
        Action::Words { target: self.target(), sources, function: Function::Bytes, bits: Vec::new(), into: None }
    }

    fn of_data(&self) -> Action {
        let result = self.target().or_else(|| register(self.operand(1)));
        match (self.one.base(), result) {
            ("CS2R", Some(first)) => Action::Clear(first, if self.has("32") { 1 } else { 2 }),
            ("BAR" | "NOP" | "BMOV" | "DEPBAR" | "MEMBAR" | "ERRBAR" | "CCTL" | "NANOSLEEP", _) | (_, None) => {
                Action::Nothing
            }
            ("MUFU" | "F2F" | "FMNMX" | "FSEL" | "FRND" | "SHFL" | "LDC", Some(first)) => Action::Clear(first, 1),
            (_, Some(first)) => Action::Unknown(first),
        }
    }

    fn special(&self) -> Action {
        match (self.operand(1), self.target()) {
            ("SR_TID.X", target) => Action::Thread(target),
            ("SR_LANEID", target) => Action::Lane(target),
            (_, target) => target.map_or(Action::Nothing, |target| Action::Clear(target, 1)),
        }
    }

    /// Predicates before the sources get carries, those behind them give some.
    fn add(&self) -> Action {
        let is_carry = |index: &usize| self.predicate(*index).is_some();
        let first = (1..self.one.operands.len()).find(|index| !is_carry(index)).unwrap_or(1);
        let bits = (first + 3..self.one.operands.len()).filter_map(|index| self.predicate(index));
        let bits = bits.filter(|_| self.has("X")).collect();
        let into = (first > 1).then(|| self.written(1)).flatten();
        Action::Words { target: self.target(), sources: self.sources(first), function: Function::Add, bits, into }
    }

    fn logic(&self) -> Action {
        let first = if self.predicate(0).is_some() { 2 } else { 1 };
        let target = register(self.operand(first - 1));
        let function = Function::Logic(self.immediate(first + 3) as u8);
        Action::Words { target, sources: self.sources(first), function, bits: Vec::new(), into: self.written(0) }
    }

    fn predicates(&self) -> Action {
        let sources = std::array::from_fn(|i| self.predicate(i + 2).unwrap_or(Predicate::ALWAYS));
        let tables = [self.immediate(5) as u8, self.immediate(6) as u8];
        Action::Predicates { targets: [self.written(0), self.written(1)], sources, tables }
    }

    fn shift(&self) -> Shift {
        let signed = self.has("S32") || self.has("S64");
        Shift { left: self.has("L"), upper: self.has("HI"), signed, wraps: self.has("W") }
    }

    /// `LEA.HI` has a word above the shifted one, unless that has a sign.
    fn shift_add(&self) -> Action {
        let first = if self.predicate(1).is_some() { 2 } else { 1 };
        let (signed, upper) = (self.has("SX32"), self.has("HI"));
        let (above, by) = match upper && !signed {
            true => (self.source(first + 2), first + 3),
            false => (Source::ZERO, first + 2),
        };
        let bits = self.predicate(by + 1).into_iter().filter(|_| self.has("X")).collect();
        let function = Function::ShiftAdd { by: self.immediate(by), signed, upper };
        let sources = [self.source(first), self.source(first + 1), above];
        Action::Words { target: self.target(), sources, function, bits, into: self.written(1) }
    }

    fn compare(&self) -> Action {
        let order = match self.one.opcode.split('.').nth(1) {
            Some("LT") => Order::Less,
            Some("LE") => Order::LessOrEqual,
            Some("GT") => Order::Greater,
            Some("GE") => Order::GreaterOrEqual,
            Some("EQ") => Order::Equal,
            _ => Order::NotEqual,
        };
        let by = match (self.has("OR"), self.has("XOR")) {
            (true, _) => Combine::Or,
            (_, true) => Combine::Xor,
            _ => Combine::And,
        };
        let (targets, with) = ([self.written(0), self.written(1)], self.predicate(4).unwrap_or(Predicate::ALWAYS));
        let lower = self.predicate(5).filter(|_| self.has("EX"));
        let comparison = Comparison { order, signed: !self.has("U32"), lower };
        Action::Compare { targets, sources: self.sources(2), comparison, with, by }
    }

    fn vote(&self) -> Action {
        let of = self.predicate(2).unwrap_or(Predicate::ALWAYS);
        Action::Vote { target: self.target(), predicate: self.written(1), of, all: self.has("ALL") }
    }
}
