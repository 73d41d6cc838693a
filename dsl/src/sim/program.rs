//! A kernel decoded for running: labels are places, operands are slots.
//!
//! Every register has a slot, 32 or 64 bits wide; predicates have their own. Immediates and special registers get slots
//! too, which each warp fills when it starts, so that running an instruction never asks what kind of operand it has.

use std::collections::HashMap;

use super::counters::Group;
use super::report::SimError;
use crate::ptx::{
    Alu, Atomic, Class, Combine, Compare, Entry, Guard, Label, Module, Op, Operand, Param, Reg, Rounding, SharedArray,
    Shuffle, Space, Special, Statement, Type, Vote,
};

/// Where a warp keeps a value of 32 or 64 bits for each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Slot(u32);

const WIDE: u32 = 1 << 31;

impl Slot {
    #[inline]
    pub(super) fn wide(self) -> bool {
        self.0 & WIDE != 0
    }

    #[inline]
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
        parts: Vec<Slot>,
        bits: u32,
    },
    Unpack {
        parts: Vec<Option<Slot>>,
        src: Slot,
        bits: u32,
    },
    Alu {
        op: Alu,
        ty: Type,
        rounding: Option<Rounding>,
        ftz: bool,
        sat: bool,
        dst: Slot,
        args: [Slot; 4],
        count: usize,
    },
    Logic {
        op: Alu,
        dst: u32,
        args: [u32; 2],
    },
    Setp {
        compare: Compare,
        ty: Type,
        dst: u32,
        a: Slot,
        b: Slot,
        combine: Option<(Combine, Condition)>,
    },
    Selp {
        dst: Slot,
        a: Slot,
        b: Slot,
        predicate: u32,
    },
    Cvt {
        to: Type,
        from: Type,
        rounding: Option<Rounding>,
        sat: bool,
        dst: Slot,
        src: Slot,
    },
    LoadParam {
        dst: Slot,
        index: usize,
        offset: i64,
    },
    Load {
        space: Space,
        ty: Type,
        dst: Vec<Slot>,
        place: Place,
    },
    Store {
        space: Space,
        ty: Type,
        src: Vec<Slot>,
        place: Place,
    },
    Atom {
        op: Atomic,
        space: Space,
        ty: Type,
        dst: Option<Slot>,
        place: Place,
        args: Vec<Slot>,
    },
    Branch {
        target: u32,
    },
    Exit,
    Trap,
    Barrier {
        id: u32,
    },
    WarpSync {
        mask: Slot,
    },
    Nothing,
    Shuffle {
        mode: Shuffle,
        dst: Slot,
        in_range: Option<u32>,
        src: Slot,
        lane: Slot,
        clamp: Slot,
        mask: Slot,
    },
    Vote {
        mode: Vote,
        dst: VoteResult,
        src: Condition,
        mask: Slot,
    },
    ActiveMask {
        dst: Slot,
    },
    Mma {
        a_row: bool,
        b_row: bool,
        half: bool,
        d: Vec<Slot>,
        a: [Slot; 2],
        b: [Slot; 2],
        c: Vec<Slot>,
    },
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
    /// The guard's predicate, which must have been written in every lane that comes here.
    pub(super) guard_register: Option<u32>,
    /// Registers that must have been written where the guard holds.
    pub(super) reads: Vec<u32>,
    /// Registers that it writes.
    pub(super) writes: Vec<u32>,
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
    pub(super) class_counts: [u32; 6],
    /// Registers in all, for the record of what was written.
    pub(super) registers: usize,
    pub(super) constants: Vec<(Slot, u64)>,
    pub(super) constant_predicates: Vec<(u32, bool)>,
    pub(super) specials: Vec<(Slot, Special)>,
    /// Shared memory of fixed size, in bytes; dynamic memory follows it.
    pub(super) static_shared: u32,
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
        Decoder::new(module, kernel).decode()
    }
}

impl Program {
    /// What the PTX calls a register, by its number among all.
    pub(super) fn register_name(&self, number: u32) -> String {
        let mut index = number;
        for (class, count) in Class::ALL.into_iter().zip(self.class_counts) {
            if index < count {
                return crate::ptx::register_name(Reg { class, index });
            }
            index -= count;
        }
        format!("register {number}")
    }
}

/// The number of a register among all.
fn number(entry: &Entry, reg: Reg) -> u32 {
    entry.registers[..reg.class as usize].iter().sum::<u32>() + reg.index
}

struct Decoder<'m> {
    entry: &'m Entry,
    labels: HashMap<Label, u32>,
    symbols: HashMap<&'m str, u64>,
    program: Program,
    known: HashMap<(bool, u64), Slot>,
    special_slots: HashMap<Special, Slot>,
}

impl<'m> Decoder<'m> {
    fn new(module: &'m Module, entry: &'m Entry) -> Self {
        let counts = entry.registers.map(|count| count as usize);
        let [predicates, halves, words, longs, floats, doubles] = counts;
        let (symbols, static_shared) = shared_symbols(module, entry);
        let program = Program {
            kernel: entry.name.clone(),
            params: entry.params.clone(),
            code: Vec::new(),
            files: module.files.clone(),
            body: entry.body.clone(),
            predicates,
            words: halves + words + floats,
            longs: longs + doubles,
            class_counts: entry.registers,
            registers: counts.iter().sum(),
            constants: Vec::new(),
            constant_predicates: Vec::new(),
            specials: Vec::new(),
            static_shared,
        };
        let labels = HashMap::new();
        Decoder { entry, labels, symbols, program, known: HashMap::new(), special_slots: HashMap::new() }
    }

    fn decode(mut self) -> Result<Program, SimError> {
        let mut place = 0;
        for statement in &self.entry.body {
            match statement {
                Statement::Label(label) => drop(self.labels.insert(*label, place)),
                Statement::Instruction { .. } => place += 1,
                _ => {}
            }
        }
        let mut position = None;
        for (index, statement) in self.entry.body.iter().enumerate() {
            match statement {
                Statement::Loc { file, line, column } => position = Some((*file, *line, *column)),
                Statement::Instruction { guard, op } => {
                    let instruction = self.instruction(guard.as_ref(), op, index, position)?;
                    self.program.code.push(instruction);
                }
                _ => {}
            }
        }
        // Running off the end is an exit.
        let statement = self.entry.body.len().saturating_sub(1);
        let (guard, group, kind) = (None, Group::Branch, Kind::Exit);
        let (reads, writes) = (Vec::new(), Vec::new());
        self.program.code.push(Instruction {
            guard,
            guard_register: None,
            group,
            kind,
            reads,
            writes,
            statement,
            position,
        });
        Ok(self.program)
    }

    fn instruction(
        &mut self,
        guard: Option<&Guard>,
        op: &Op,
        statement: usize,
        position: Option<(u32, u32, u32)>,
    ) -> Result<Instruction, SimError> {
        let kind = self.kind(op)?;
        let (reads, writes) = registers(op);
        let numbers = |regs: Vec<Reg>| regs.into_iter().map(|reg| number(self.entry, reg)).collect();
        Ok(Instruction {
            guard: guard.map(condition),
            guard_register: guard.map(|guard| number(self.entry, guard.reg)),
            group: group_of(op),
            kind,
            reads: numbers(reads),
            writes: numbers(writes),
            statement,
            position,
        })
    }

    fn kind(&mut self, op: &Op) -> Result<Kind, SimError> {
        Ok(match op {
            Op::Mov { dst, src, .. } if dst.class == Class::Pred => {
                Kind::MovPredicate { dst: dst.index, src: self.predicate(src)? }
            }
            Op::Mov { dst, src, .. } => {
                Kind::Mov { dst: self.slot(*dst), src: self.operand(src, wide_class(dst.class))? }
            }
            Op::Pack { ty, dst, parts } => {
                let bits = 8 * super::report::type_bytes(*ty) / parts.len() as u32;
                Kind::Pack { dst: self.slot(*dst), parts: self.operands(parts, bits > 32)?, bits }
            }
            Op::Unpack { ty, parts, src } => {
                let whole = 8 * super::report::type_bytes(*ty);
                let (src, bits) = (self.operand(src, whole > 32)?, whole / parts.len() as u32);
                Kind::Unpack { parts: parts.iter().map(|part| part.map(|reg| self.slot(reg))).collect(), src, bits }
            }
            Op::Alu { op, ty: Type::Pred, dst, args, .. } => {
                let first = self.predicate(&args[0])?;
                let second = args.get(1).map_or(Ok(first), |arg| self.predicate(arg))?;
                Kind::Logic { op: *op, dst: dst.index, args: [first, second] }
            }
            Op::Alu { op, rounding, ftz, sat, ty, dst, args, .. } => {
                let slots = self.alu_args(*op, *ty, args)?;
                let (dst, rounding, count) = (self.slot(*dst), *rounding, args.len());
                Kind::Alu { op: *op, ty: *ty, rounding, ftz: *ftz, sat: *sat, dst, args: slots, count }
            }
            Op::Setp { compare, ty, dst, a, b, combine, .. } => {
                let wide = wide_type(*ty);
                let combine = combine.as_ref().map(|(how, guard)| (*how, condition(guard)));
                let (a, b) = (self.operand(a, wide)?, self.operand(b, wide)?);
                Kind::Setp { compare: *compare, ty: *ty, dst: dst.index, a, b, combine }
            }
            Op::Selp { dst, a, b, predicate, .. } => {
                let wide = wide_class(dst.class);
                let (a, b) = (self.operand(a, wide)?, self.operand(b, wide)?);
                Kind::Selp { dst: self.slot(*dst), a, b, predicate: predicate.index }
            }
            Op::Cvt { rounding, sat, to, from, dst, src, .. } => {
                let src = self.operand(src, wide_type(*from))?;
                Kind::Cvt { to: *to, from: *from, rounding: *rounding, sat: *sat, dst: self.slot(*dst), src }
            }
            Op::Cvta { space: Space::Shared, .. } => {
                return Err(
                    self.malformed("generic addresses of shared memory can't be simulated (a limit of the simulator)")
                );
            }
            Op::Cvta { dst, src, .. } => Kind::Mov { dst: self.slot(*dst), src: self.operand(src, true)? },
            _ => return self.effect(op),
        })
    }

    fn effect(&mut self, op: &Op) -> Result<Kind, SimError> {
        Ok(match op {
            Op::Ld { space: Space::Param, dst, address, .. } => {
                let [dst] = dst[..] else { return Err(self.malformed("a vector load of parameters")) };
                let Operand::Symbol(name) = &address.base else { return Err(self.malformed("a parameter by address")) };
                let index = self.entry.params.iter().position(|param| param.name == *name);
                let index = index.ok_or_else(|| self.malformed(&format!("no parameter {name}")))?;
                Kind::LoadParam { dst: self.slot(dst), index, offset: address.offset }
            }
            Op::Ld { space, ty, dst, address, .. } => {
                let place = self.place(&address.base, address.offset, *space)?;
                Kind::Load { space: *space, ty: *ty, dst: dst.iter().map(|&reg| self.slot(reg)).collect(), place }
            }
            Op::St { space, ty, src, address, .. } => {
                let place = self.place(&address.base, address.offset, *space)?;
                Kind::Store { space: *space, ty: *ty, src: self.operands(src, wide_type(*ty))?, place }
            }
            Op::Atom { op, space, ty, dst, address, args } => {
                let place = self.place(&address.base, address.offset, *space)?;
                let (dst, args) = (dst.map(|reg| self.slot(reg)), self.operands(args, wide_type(*ty))?);
                Kind::Atom { op: *op, space: *space, ty: *ty, dst, place, args }
            }
            Op::Bra { target, .. } => {
                let place = self.labels.get(target).copied();
                Kind::Branch { target: place.ok_or_else(|| self.malformed("a branch to a label that isn't there"))? }
            }
            Op::Ret => Kind::Exit,
            Op::Trap => Kind::Trap,
            Op::Bar { threads: Some(_), .. } => return Err(self.malformed("a barrier of a part of the block")),
            Op::Bar { id, .. } => Kind::Barrier { id: *id },
            Op::WarpSync { mask } => Kind::WarpSync { mask: self.operand(mask, false)? },
            Op::Fence { .. } => Kind::Nothing,
            Op::ActiveMask { dst } => Kind::ActiveMask { dst: self.slot(*dst) },
            Op::Shfl { mode, dst, in_range, src, lane, clamp, mask } => Kind::Shuffle {
                mode: *mode,
                dst: self.slot(*dst),
                in_range: in_range.map(|reg| reg.index),
                src: self.operand(src, false)?,
                lane: self.operand(lane, false)?,
                clamp: self.operand(clamp, false)?,
                mask: self.operand(mask, false)?,
            },
            Op::Vote { mode, dst, src, mask } => {
                let mask = self.operand(mask, false)?;
                let result = if dst.class == Class::Pred {
                    VoteResult::Predicate(dst.index)
                } else {
                    VoteResult::Word(self.slot(*dst))
                };
                Kind::Vote { mode: *mode, dst: result, src: condition(src), mask }
            }
            Op::Mma { shape, a_row, b_row, types, d, a, b, c } => {
                if shape != "m8n8k4" || types[1] != Type::F16 || types[0] != types[3] {
                    return Err(
                        self.malformed(&format!("mma.{shape} of these types, which the simulator doesn't have"))
                    );
                }
                let pair = |own: &Self, regs: &[Reg]| match regs {
                    [x, y] => Ok([own.slot(*x), own.slot(*y)]),
                    _ => Err(own.malformed("an mma operand of another size than two registers")),
                };
                let (a, b) = (pair(self, a)?, pair(self, b)?);
                let half = types[0] == Type::F16;
                let d: Vec<Slot> = d.iter().map(|&reg| self.slot(reg)).collect();
                let c = self.operands(c, false)?;
                let registers = if half { 4 } else { 8 };
                if d.len() != registers || c.len() != registers {
                    return Err(self.malformed("an mma accumulator of another size"));
                }
                Kind::Mma { a_row: *a_row, b_row: *b_row, half, d, a, b, c }
            }
            _ => return Err(self.malformed("an instruction that isn't decoded")),
        })
    }

    fn alu_args(&mut self, op: Alu, ty: Type, args: &[Operand]) -> Result<[Slot; 4], SimError> {
        let mut slots = [Slot(0); 4];
        if args.is_empty() || args.len() > 4 {
            return Err(self.malformed("arithmetic on another number of operands"));
        }
        for (i, arg) in args.iter().enumerate() {
            let shift = matches!(op, Alu::Shl | Alu::Shr) && i == 1;
            let wide = match op {
                Alu::MadWide if i == 2 => true,
                Alu::Bfe | Alu::Bfi if i + 2 >= args.len() => false,
                _ => wide_type(ty) && !shift,
            };
            slots[i] = self.operand(arg, wide)?;
        }
        Ok(slots)
    }

    fn place(&mut self, base: &Operand, offset: i64, space: Space) -> Result<Place, SimError> {
        let wide = match base {
            Operand::Reg(reg) => wide_class(reg.class),
            _ => space != Space::Shared,
        };
        Ok(Place { base: self.operand(base, wide)?, offset })
    }

    fn operands(&mut self, operands: &[Operand], wide: bool) -> Result<Vec<Slot>, SimError> {
        operands.iter().map(|operand| self.operand(operand, wide)).collect()
    }

    /// The slot of an operand; an immediate gets one of this width.
    fn operand(&mut self, operand: &Operand, wide: bool) -> Result<Slot, SimError> {
        let value = match operand {
            Operand::Reg(reg) => return Ok(self.slot(*reg)),
            Operand::Special(special) => return Ok(self.special(*special)),
            Operand::Int(value) => *value as u64,
            Operand::F32(bits) => u64::from(*bits),
            Operand::F64(bits) => *bits,
            Operand::Symbol(name) => {
                let address = self.symbols.get(name.as_str()).copied();
                address.ok_or_else(|| self.malformed(&format!("the symbol {name}, which is declared nowhere")))?
            }
        };
        let value = if wide { value } else { value & u64::from(u32::MAX) };
        if let Some(slot) = self.known.get(&(wide, value)) {
            return Ok(*slot);
        }
        let slot = self.fresh(wide);
        self.known.insert((wide, value), slot);
        self.program.constants.push((slot, value));
        Ok(slot)
    }

    fn special(&mut self, special: Special) -> Slot {
        if let Some(slot) = self.special_slots.get(&special) {
            return *slot;
        }
        let slot = self.fresh(false);
        self.special_slots.insert(special, slot);
        self.program.specials.push((slot, special));
        slot
    }

    fn fresh(&mut self, wide: bool) -> Slot {
        let count = if wide { &mut self.program.longs } else { &mut self.program.words };
        *count += 1;
        Slot((*count as u32 - 1) | if wide { WIDE } else { 0 })
    }

    fn slot(&self, reg: Reg) -> Slot {
        let [_, halves, words, longs, ..] = self.entry.registers;
        match reg.class {
            Class::Pred | Class::B16 => Slot(reg.index),
            Class::B32 => Slot(halves + reg.index),
            Class::F32 => Slot(halves + words + reg.index),
            Class::B64 => Slot(reg.index | WIDE),
            Class::F64 => Slot((longs + reg.index) | WIDE),
        }
    }

    fn predicate(&mut self, operand: &Operand) -> Result<u32, SimError> {
        match operand {
            Operand::Reg(reg) if reg.class == Class::Pred => Ok(reg.index),
            Operand::Int(value) => {
                self.program.predicates += 1;
                let slot = self.program.predicates as u32 - 1;
                self.program.constant_predicates.push((slot, *value != 0));
                Ok(slot)
            }
            _ => Err(self.malformed("a predicate that is none")),
        }
    }

    fn malformed(&self, what: &str) -> SimError {
        SimError::Malformed { kernel: self.program.kernel.clone(), what: what.to_owned() }
    }
}

fn condition(guard: &Guard) -> Condition {
    Condition { slot: guard.reg.index, negated: guard.negated }
}

fn wide_class(class: Class) -> bool {
    matches!(class, Class::B64 | Class::F64)
}

/// Whether values of the type take 64 bits.
pub(super) fn wide_type(ty: Type) -> bool {
    matches!(ty, Type::B64 | Type::U64 | Type::S64 | Type::F64)
}

/// Addresses of the shared arrays, and the bytes of those of fixed size. The external one begins behind them.
fn shared_symbols<'m>(module: &'m Module, entry: &'m Entry) -> (HashMap<&'m str, u64>, u32) {
    let (mut symbols, mut end) = (HashMap::new(), 0_u32);
    let arrays: Vec<&SharedArray> = module.shared.iter().chain(&entry.shared).collect();
    for array in arrays.iter().filter(|array| !array.external) {
        end = end.next_multiple_of(array.align.max(1));
        symbols.insert(array.name.as_str(), u64::from(end));
        end += array.bytes;
    }
    for array in arrays.iter().filter(|array| array.external) {
        end = end.next_multiple_of(array.align.max(1));
        symbols.insert(array.name.as_str(), u64::from(end));
    }
    (symbols, end)
}

/// The registers that an instruction reads and writes.
fn registers(op: &Op) -> (Vec<Reg>, Vec<Reg>) {
    fn of(operands: &[&Operand]) -> Vec<Reg> {
        operands.iter().filter_map(|o| if let Operand::Reg(reg) = o { Some(*reg) } else { None }).collect()
    }
    match op {
        Op::Mov { dst, src, .. } | Op::Cvt { dst, src, .. } | Op::Cvta { dst, src, .. } => (of(&[src]), vec![*dst]),
        Op::Pack { dst, parts, .. } => (of(&parts.iter().collect::<Vec<_>>()), vec![*dst]),
        Op::Unpack { parts, src, .. } => (of(&[src]), parts.iter().flatten().copied().collect()),
        Op::Alu { dst, args, .. } => (of(&args.iter().collect::<Vec<_>>()), vec![*dst]),
        Op::Setp { dst, a, b, combine, .. } => {
            let mut reads = of(&[a, b]);
            reads.extend(combine.as_ref().map(|(_, guard)| guard.reg));
            (reads, vec![*dst])
        }
        Op::Selp { dst, a, b, predicate, .. } => {
            let mut reads = of(&[a, b]);
            reads.push(*predicate);
            (reads, vec![*dst])
        }
        Op::Ld { dst, address, .. } => (of(&[&address.base]), dst.clone()),
        Op::St { src, address, .. } => (of(&src.iter().chain([&address.base]).collect::<Vec<_>>()), Vec::new()),
        Op::Atom { dst, address, args, .. } => {
            (of(&args.iter().chain([&address.base]).collect::<Vec<_>>()), dst.iter().copied().collect())
        }
        Op::WarpSync { mask } => (of(&[mask]), Vec::new()),
        Op::Shfl { dst, in_range, src, lane, clamp, mask, .. } => {
            (of(&[src, lane, clamp, mask]), [Some(*dst), *in_range].into_iter().flatten().collect())
        }
        Op::Vote { dst, src, mask, .. } => {
            let mut reads = of(&[mask]);
            reads.push(src.reg);
            (reads, vec![*dst])
        }
        Op::ActiveMask { dst } => (Vec::new(), vec![*dst]),
        Op::Mma { d, a, b, c, .. } => {
            let mut reads = of(&c.iter().collect::<Vec<_>>());
            reads.extend(a.iter().chain(b));
            (reads, d.clone())
        }
        Op::Bra { .. } | Op::Ret | Op::Trap | Op::Bar { .. } | Op::Fence { .. } => (Vec::new(), Vec::new()),
    }
}

fn group_of(op: &Op) -> Group {
    let float = |ty: &Type| matches!(ty, Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2 | Type::F32 | Type::F64);
    match op {
        Op::Alu {
            op: Alu::Ex2 | Alu::Lg2 | Alu::Rcp | Alu::Sqrt | Alu::Rsqrt | Alu::Sin | Alu::Cos | Alu::Tanh,
            ..
        } => Group::Special,
        Op::Alu { ty, .. } | Op::Setp { ty, .. } | Op::Selp { ty, .. } => {
            if float(ty) {
                Group::Float
            } else {
                Group::Integer
            }
        }
        Op::Pack { .. } | Op::Unpack { .. } => Group::Integer,
        Op::Cvt { .. } => Group::Conversion,
        Op::Ld { space: Space::Shared, .. } => Group::SharedLoad,
        Op::Ld { space: Space::Global | Space::Generic, .. } => Group::GlobalLoad,
        Op::St { space: Space::Shared, .. } | Op::Atom { space: Space::Shared, .. } => Group::SharedStore,
        Op::St { .. } | Op::Atom { .. } => Group::GlobalStore,
        Op::Bra { .. } | Op::Ret | Op::Trap => Group::Branch,
        Op::Bar { .. } | Op::WarpSync { .. } => Group::Barrier,
        Op::Shfl { .. } | Op::Vote { .. } => Group::Shuffle,
        Op::Mma { .. } => Group::Mma,
        _ => Group::Other,
    }
}
