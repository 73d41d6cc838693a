//! From PTX to a [`Program`]: names resolved, operands checked.
//!
//! What is no PTX (a register of the wrong width, a label that isn't there) is an error here. What is PTX, but nothing that
//! the simulator can do, becomes [`Kind::Unsupported`], an error only where it is reached.

use std::collections::HashMap;

use super::counters::Group;
use super::known::prune;
use super::memory::{GlobalMemory, LOCAL_WINDOW, SHARED_WINDOW};
use super::program::{
    Access, AluStep, AtomStep, Claim, Condition, CopyStep, CvtStep, Instruction, Kind, MmaStep, Place, Program,
    RowsStep, SetpStep, ShuffleStep, Slot, VoteResult, WgmmaLeftStep, WgmmaStep, wide_type,
};
use super::report::{SimError, type_bytes};
use crate::ptx::{
    Address, Alu, Atomic, Class, Entry, Guard, Label, Module, Op, Operand, Promise, Reg, SharedArray, Space, Special,
    Statement, Type, Wgmma, WgmmaLeft,
};

type Result<T> = std::result::Result<T, SimError>;

pub(super) fn decode(module: &Module, entry: &Entry) -> Result<Program> {
    let mut decoder = Decoder::new(module, entry);
    let mut place = 0;
    for statement in &entry.body {
        match statement {
            Statement::Label(label) => drop(decoder.labels.insert(*label, place)),
            Statement::Instruction { .. } | Statement::Promise(_) => place += 1,
            Statement::Loc { .. } | Statement::Comment(_) => {}
        }
    }
    let mut position = None;
    for (index, statement) in entry.body.iter().enumerate() {
        match statement {
            Statement::Loc { file, line, column } => position = Some((*file, *line, *column)),
            Statement::Instruction { guard, op } => {
                let instruction = decoder.instruction(guard.as_ref(), op, index)?;
                decoder.program.code.push(Instruction { position, ..instruction });
            }
            Statement::Promise(promise) => {
                let instruction = decoder.promise(promise, index)?;
                decoder.program.code.push(Instruction { position, ..instruction });
            }
            Statement::Label(_) | Statement::Comment(_) => {}
        }
    }
    let mut program = decoder.program;
    program.code.push(end(entry.body.len(), position));
    prune(&mut program.code);
    Ok(program)
}

/// Running off the end is an exit.
fn end(statement: usize, position: Option<(u32, u32, u32)>) -> Instruction {
    let (reads, writes) = (Box::new([]), Box::new([]));
    let (group, kind) = (Group::Branch, Kind::Exit);
    Instruction { guard: None, group, kind, guard_read: None, reads, writes, statement, position }
}

struct Decoder<'m> {
    entry: &'m Entry,
    /// The instruction that each label stands before.
    labels: HashMap<Label, u32>,
    /// The addresses of shared arrays.
    symbols: HashMap<&'m str, u64>,
    program: Program,
    /// Slots of constants, by width and value.
    constants: HashMap<(bool, u64), Slot>,
    specials: HashMap<Special, Slot>,
}

impl<'m> Decoder<'m> {
    fn new(module: &'m Module, entry: &'m Entry) -> Self {
        let [predicates, halves, words, longs, floats, doubles] = entry.registers.map(|count| count as usize);
        let (mut symbols, static_shared) = shared_symbols(module, entry);
        let local = local_symbols(entry, &mut symbols);
        let texts = module.constants.iter().enumerate();
        symbols.extend(texts.map(|(i, text)| (text.name.as_str(), GlobalMemory::base(i))));
        let program = Program {
            kernel: entry.name.clone(),
            params: entry.params.clone(),
            code: Vec::new(),
            files: module.files.clone(),
            body: entry.body.clone(),
            predicates,
            words: halves + words + floats,
            longs: longs + doubles,
            registers: entry.registers,
            constants: Vec::new(),
            constant_predicates: Vec::new(),
            specials: Vec::new(),
            static_shared,
            local,
            texts: module.constants.clone(),
        };
        let (labels, constants, specials) = (HashMap::new(), HashMap::new(), HashMap::new());
        Decoder { entry, labels, symbols, program, constants, specials }
    }

    fn instruction(&mut self, guard: Option<&Guard>, op: &Op, statement: usize) -> Result<Instruction> {
        let (reads, writes) = registers(op);
        let numbers = |regs: Vec<Reg>| regs.into_iter().map(|reg| self.number(reg)).collect::<Result<Box<[u32]>>>();
        let (reads, writes) = (numbers(reads)?, numbers(writes)?);
        let guard_read = guard.map(|guard| self.number(guard.reg)).transpose()?;
        let guard = guard.map(|guard| self.condition(guard)).transpose()?;
        let (group, kind) = (group_of(op), self.kind(op)?);
        Ok(Instruction { guard, group, kind, guard_read, reads, writes, statement, position: None })
    }

    /// What checks a promise: something to run, but no instruction.
    fn promise(&mut self, promise: &Promise, statement: usize) -> Result<Instruction> {
        let reads = promise.registers().into_iter().map(|reg| self.number(reg)).collect::<Result<Box<[u32]>>>()?;
        let claim = match *promise {
            Promise::Holds { reg } => Claim::Holds { slot: self.predicate_register(reg)? },
            Promise::Same { reg, other, .. } if reg.class == Class::Pred => {
                Claim::Agree { slots: [self.predicate_register(reg)?, self.predicate_register(other)?] }
            }
            Promise::Same { reg, other, offset } => {
                Claim::Same { slot: self.any(reg)?, other: self.register(other, wide_class(reg.class))?, offset }
            }
            Promise::Below { reg, limit, guard } => {
                let guard = guard.map(|guard| self.condition(&guard)).transpose()?;
                Claim::Below { slot: self.register(reg, false)?, limit, guard }
            }
            Promise::Multiple { reg, offset, of } => Claim::Multiple { slot: self.any(reg)?, offset, of },
        };
        let (group, kind, writes) = (Group::None, Kind::Promise(claim), Box::new([]));
        Ok(Instruction { guard: None, group, kind, guard_read: None, reads, writes, statement, position: None })
    }

    /// The number of a register among all.
    fn number(&self, reg: Reg) -> Result<u32> {
        let class = reg.class as usize;
        if reg.index >= self.entry.registers[class] {
            return Err(self.malformed("a register that isn't declared"));
        }
        Ok(self.entry.registers[..class].iter().sum::<u32>() + reg.index)
    }

    fn kind(&mut self, op: &Op) -> Result<Kind> {
        Ok(match op {
            Op::Mov { dst, src, .. } if dst.class == Class::Pred => {
                Kind::MovPredicate { dst: dst.index, src: self.predicate(src)? }
            }
            Op::Mov { dst, src, .. } => {
                Kind::Mov { dst: self.any(*dst)?, src: self.loose(src, wide_class(dst.class))? }
            }
            Op::Pack { .. } | Op::Unpack { .. } => self.parts(op)?,
            Op::Alu { ty: Type::Pred, op, dst, args, .. } => {
                let [Some(first), second] = [args.first(), args.get(1)] else { return Err(self.operand_count()) };
                let first = self.predicate(first)?;
                let second = second.map_or(Ok(first), |arg| self.predicate(arg))?;
                Kind::Logic { op: *op, dst: self.predicate_register(*dst)?, args: [first, second] }
            }
            Op::Alu { .. } => self.alu(op)?,
            Op::Setp { compare, ftz, ty, dst, a, b, combine } => {
                let combine = match combine {
                    Some((how, guard)) => Some((*how, self.condition(guard)?)),
                    None => None,
                };
                let args = [self.operand(a, wide_type(*ty))?, self.operand(b, wide_type(*ty))?];
                let dst = self.predicate_register(*dst)?;
                Kind::Setp(SetpStep { compare: *compare, ty: *ty, ftz: *ftz, dst, args, combine })
            }
            Op::Selp { ty, dst, a, b, predicate } => {
                let args = [self.operand(a, wide_type(*ty))?, self.operand(b, wide_type(*ty))?];
                let predicate = self.predicate_register(*predicate)?;
                Kind::Selp { dst: self.register(*dst, wide_type(*ty))?, args, predicate }
            }
            Op::Cvt { rounding, ftz, sat, to, from, dst, src } => {
                let (dst, src) = (self.any(*dst)?, self.loose(src, wide_type(*from))?);
                let (to, from, rounding) = (*to, *from, *rounding);
                Kind::Cvt(CvtStep { to, from, rounding, ftz: *ftz, sat: *sat, dst, src })
            }
            Op::CvtPair { to, dst, high, low } => Kind::CvtPair {
                bf16: *to == Type::BF16x2,
                dst: self.register(*dst, false)?,
                args: [self.operand(low, false)?, self.operand(high, false)?],
            },
            Op::Cvta { to, space, dst, src } => self.address_conversion(*to, *space, *dst, src)?,
            _ => return self.effect(op),
        })
    }

    fn parts(&mut self, op: &Op) -> Result<Kind> {
        match op {
            Op::Pack { ty, dst, parts } if !parts.is_empty() => {
                let bits = 8 * type_bytes(*ty) / parts.len() as u32;
                let parts = parts.iter().map(|part| self.loose(part, bits > 32)).collect::<Result<_>>()?;
                Ok(Kind::Pack { dst: self.any(*dst)?, parts, bits })
            }
            Op::Unpack { ty, parts, src } if !parts.is_empty() => {
                let whole = 8 * type_bytes(*ty);
                let src = self.loose(src, whole > 32)?;
                let bits = whole / parts.len() as u32;
                let parts = parts.iter().map(|part| part.map(|reg| self.any(reg)).transpose());
                Ok(Kind::Unpack { parts: parts.collect::<Result<_>>()?, src, bits })
            }
            _ => Err(self.operand_count()),
        }
    }

    fn alu(&mut self, instruction: &Op) -> Result<Kind> {
        let Op::Alu { op, rounding, ftz, sat, ty, dst, args, .. } = instruction else {
            return Err(self.operand_count());
        };
        if args.is_empty() || args.len() > 4 {
            return Err(self.operand_count());
        }
        let wide = wide_type(*ty);
        let doubled = matches!(op, Alu::MulWide | Alu::MadWide);
        let sum_wide = if doubled { type_bytes(*ty) == 4 } else { wide && !matches!(op, Alu::Popc | Alu::Clz) };
        let mut slots = [Slot::new(0, false); 4];
        for (i, arg) in args.iter().enumerate() {
            let own = match op {
                Alu::MadWide if i == 2 => sum_wide,
                // Positions, lengths and distances have 32 bits.
                Alu::Shl | Alu::Shr | Alu::Bfe if i > 0 => false,
                Alu::Bfi if i > 1 => false,
                _ => wide,
            };
            slots[i] = self.operand(arg, own)?;
        }
        let (dst, count) = (self.register(*dst, sum_wide)?, args.len());
        let (op, ty, rounding) = (*op, *ty, *rounding);
        Ok(Kind::Alu(AluStep { op, ty, rounding, ftz: *ftz, sat: *sat, dst, args: slots, count }))
    }

    /// Generic addresses are those of global memory; shared and local memory have windows among them.
    fn address_conversion(&mut self, to: bool, space: Space, dst: Reg, src: &Operand) -> Result<Kind> {
        let (dst, src) = (self.register(dst, true)?, self.operand(src, true)?);
        match space {
            Space::Global | Space::Generic => Ok(Kind::Mov { dst, src }),
            Space::Shared | Space::Local => {
                let start = if space == Space::Shared { SHARED_WINDOW } else { LOCAL_WINDOW };
                let window = self.constant(true, start);
                let op = if to { Alu::Sub } else { Alu::Add };
                let args = [src, window, src, src];
                let (rounding, ftz, sat) = (None, false, false);
                Ok(Kind::Alu(AluStep { op, ty: Type::U64, rounding, ftz, sat, dst, args, count: 2 }))
            }
            _ => Ok(unsupported("an address in this state space")),
        }
    }

    fn effect(&mut self, op: &Op) -> Result<Kind> {
        Ok(match op {
            Op::Ld { space: Space::Param, dst, address, .. } => {
                let [dst] = dst[..] else { return Ok(unsupported("a vector load of parameters")) };
                let Operand::Symbol(name) = &address.base else { return Ok(unsupported("a parameter by address")) };
                let index = self.entry.params.iter().position(|param| param.name == *name);
                let index = index.ok_or_else(|| self.malformed(&format!("no parameter {name}")))?;
                Kind::LoadParam { dst: self.any(dst)?, index, offset: address.offset }
            }
            Op::Ld { space, ty, dst, address, .. } => {
                let slots = dst.iter().map(|&reg| self.any(reg)).collect::<Result<_>>()?;
                let kind = if *space == Space::Local { Kind::LoadLocal } else { Kind::Load };
                self.access(*space, *ty, slots, address)?.map_or_else(|kind| kind, kind)
            }
            Op::St { space, ty, src, address, .. } => {
                let slots = src.iter().map(|operand| self.loose(operand, wide_type(*ty))).collect::<Result<_>>()?;
                let kind = if *space == Space::Local { Kind::StoreLocal } else { Kind::Store };
                self.access(*space, *ty, slots, address)?.map_or_else(|kind| kind, kind)
            }
            Op::Call { function, result, args } => self.call(function, result, args)?,
            Op::Atom { .. } => self.atomic(op)?,
            Op::Bra { target, .. } => {
                let place = self.labels.get(target).copied();
                Kind::Branch { target: place.ok_or_else(|| self.malformed("a branch to a label that isn't there"))? }
            }
            Op::Ret => Kind::Exit,
            Op::Trap => Kind::Trap,
            Op::Bar { threads: Some(_), .. } => unsupported("a barrier of a part of the block"),
            Op::Bar { id, .. } => Kind::Barrier { id: *id },
            Op::Fence { text } if text.starts_with("fence.proxy.async") => Kind::ProxyFence,
            Op::Fence { .. } | Op::WgmmaFence | Op::PmEvent { .. } => Kind::Nothing,
            _ => self.warp_wide(op)?,
        })
    }

    /// What the lanes of a warp do together.
    fn warp_wide(&mut self, op: &Op) -> Result<Kind> {
        Ok(match op {
            Op::WarpSync { mask } => Kind::WarpSync { members: self.operand(mask, false)? },
            Op::ActiveMask { dst } => Kind::ActiveMask { dst: self.register(*dst, false)? },
            Op::Shfl { mode, dst, in_range, src, lane, clamp, mask } => Kind::Shuffle(ShuffleStep {
                mode: *mode,
                dst: self.register(*dst, false)?,
                in_range: in_range.map(|reg| self.predicate_register(reg)).transpose()?,
                src: self.operand(src, false)?,
                lane: self.operand(lane, false)?,
                clamp: self.operand(clamp, false)?,
                members: self.operand(mask, false)?,
            }),
            Op::Vote { mode, dst, src, mask } => {
                let result = match dst.class {
                    Class::Pred => VoteResult::Predicate(dst.index),
                    _ => VoteResult::Word(self.register(*dst, false)?),
                };
                let (src, members) = (self.condition(src)?, self.operand(mask, false)?);
                Kind::Vote { mode: *mode, dst: result, src, members }
            }
            Op::Mma { .. } => self.mma(op)?,
            Op::LdMatrix { transposed, dst, address } => {
                let slots: Vec<Slot> = dst.iter().map(|&reg| self.register(reg, false)).collect::<Result<_>>()?;
                let access = self.words_of(Space::Shared, 4, slots.into(), address)?;
                Kind::LoadMatrix { access, transposed: *transposed }
            }
            Op::CpAsync { bytes, to, from, read, .. } => {
                let vector = bytes / 4;
                let to = self.words_of(Space::Shared, vector, Box::default(), to)?;
                let from = self.words_of(Space::Global, vector, Box::default(), from)?;
                let read = read.as_ref().map(|read| self.operand(read, false)).transpose()?;
                Kind::Copy(Box::new(CopyStep { to, from, read }))
            }
            Op::CpAsyncCommit => Kind::CopyCommit,
            Op::CpAsyncWait { groups } => Kind::CopyWait { groups: *groups },
            Op::Wgmma(own) => self.wgmma(own)?,
            Op::WgmmaCommit => Kind::WgmmaCommit,
            Op::WgmmaWait { groups } => Kind::WgmmaWait { groups: *groups },
            _ => unsupported("this instruction"),
        })
    }

    /// A load, a store or an atomic; in its place what stands for one that the simulator doesn't have.
    fn access(
        &mut self,
        space: Space,
        ty: Type,
        slots: Box<[Slot]>,
        address: &Address,
    ) -> Result<std::result::Result<Access, Kind>> {
        if !matches!(space, Space::Global | Space::Shared | Space::Generic | Space::Local) {
            return Ok(Err(unsupported("memory of this state space")));
        }
        let vector = slots.len() as u32;
        if !matches!(vector, 1 | 2 | 4) {
            return Err(self.operand_count());
        }
        let place = self.place(space, address)?;
        Ok(Ok(Access { space, ty, vector, slots, place }))
    }

    fn place(&mut self, space: Space, address: &Address) -> Result<Place> {
        let wide = match &address.base {
            Operand::Reg(reg) => wide_class(reg.class),
            _ => space != Space::Shared,
        };
        Ok(Place { base: self.operand(&address.base, wide)?, offset: address.offset })
    }

    /// An access of so many whole words.
    fn words_of(&mut self, space: Space, vector: u32, slots: Box<[Slot]>, address: &Address) -> Result<Access> {
        let place = self.place(space, address)?;
        Ok(Access { space, ty: Type::B32, vector, slots, place })
    }

    /// What the driver brings.
    fn call(&mut self, function: &str, result: &Option<(Type, Option<Reg>)>, args: &[(Type, Operand)]) -> Result<Kind> {
        let slots = args.iter().map(|(ty, arg)| self.operand(arg, wide_type(*ty))).collect::<Result<Vec<Slot>>>()?;
        Ok(match (function, &slots[..]) {
            ("vprintf", &[format, arguments]) if format.wide() && arguments.wide() => {
                let count = result.and_then(|(_, dst)| dst).map(|dst| self.any(dst)).transpose()?;
                Kind::Print { format, arguments, count }
            }
            ("__assertfail", &[message, ..]) if message.wide() => Kind::Assertion { message },
            _ => unsupported(&format!("a call of `{function}`")),
        })
    }

    fn atomic(&mut self, instruction: &Op) -> Result<Kind> {
        let Op::Atom { op, space, ty, dst, address, args, .. } = instruction else { return Err(self.operand_count()) };
        if args.len() != if *op == Atomic::Cas { 2 } else { 1 } {
            return Err(self.operand_count());
        }
        let float = matches!(ty, Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2 | Type::F32 | Type::F64);
        let known = match type_bytes(*ty) {
            1 => false,
            2 => matches!((op, ty), (Atomic::Add, Type::F16 | Type::BF16) | (Atomic::Cas, Type::B16)),
            _ => !float || *op == Atomic::Add,
        };
        if !known {
            return Ok(unsupported("an atomic of this type"));
        }
        let slots: Vec<Slot> = args.iter().map(|arg| self.operand(arg, wide_type(*ty))).collect::<Result<_>>()?;
        let dst = dst.map(|reg| self.register(reg, wide_type(*ty))).transpose()?;
        if *space == Space::Local {
            return Ok(unsupported("an atomic on memory of a thread"));
        }
        Ok(match self.access(*space, *ty, slots.into(), address)? {
            Ok(access) => Kind::Atom(AtomStep { op: *op, access: Access { vector: 1, ..access }, dst }),
            Err(kind) => kind,
        })
    }

    fn mma(&mut self, op: &Op) -> Result<Kind> {
        let Op::Mma { shape, a_row, b_row, types, d, a, b, c } = op else { return Err(self.operand_count()) };
        if let Some(depth) =
            [("m16n8k8", 8), ("m16n8k16", 16)].iter().find_map(|(name, k)| (shape == name).then_some(*k))
        {
            return self.mma_rows(op, depth);
        }
        let half = types[0] == Type::F16;
        let known = matches!(types, [Type::F16 | Type::F32, Type::F16, Type::F16, own] if *own == types[0]);
        if shape != "m8n8k4" || !known {
            return Ok(unsupported("a matrix product of this shape and these types"));
        }
        let (&[a0, a1], &[b0, b1]) = (a.as_slice(), b.as_slice()) else { return Err(self.operand_count()) };
        let registers = if half { 4 } else { 8 };
        if d.len() != registers || c.len() != registers {
            return Err(self.operand_count());
        }
        let c = c.iter().map(|operand| self.operand(operand, false)).collect::<Result<_>>()?;
        let slot = |reg| self.register(reg, false);
        let d = d.iter().map(|&reg| slot(reg)).collect::<Result<_>>()?;
        let (a, b) = ([slot(a0)?, slot(a1)?], [slot(b0)?, slot(b1)?]);
        Ok(Kind::Mma(Box::new(MmaStep { a_row: *a_row, b_row: *b_row, half, d, a, b, c })))
    }

    fn mma_rows(&mut self, op: &Op, depth: usize) -> Result<Kind> {
        let Op::Mma { a_row, b_row, types, d, a, b, c, .. } = op else { return Err(self.operand_count()) };
        let bf16 = types[1] == Type::BF16;
        let known = matches!(types, [Type::F32, Type::F16, Type::F16, Type::F32])
            || matches!(types, [Type::F32, Type::BF16, Type::BF16, Type::F32]);
        if !known || !a_row || *b_row {
            return Ok(unsupported("a matrix product of this shape and these types"));
        }
        if a.len() != depth / 4 || b.len() != depth / 8 {
            return Err(self.operand_count());
        }
        let slots =
            |own: &Self, regs: &[Reg]| regs.iter().map(|&reg| own.register(reg, false)).collect::<Result<Box<_>>>();
        let (a, b) = (slots(self, a)?, slots(self, b)?);
        let c = c.iter().map(|operand| self.operand(operand, false)).collect::<Result<Vec<_>>>()?;
        let (Ok(d), Ok(c)) = (<[Slot; 4]>::try_from(slots(self, d)?.to_vec()), <[Slot; 4]>::try_from(c)) else {
            return Err(self.operand_count());
        };
        Ok(Kind::MmaRows(Box::new(RowsStep { depth, bf16, d, a, b, c })))
    }

    fn wgmma(&mut self, own: &Wgmma) -> Result<Kind> {
        let slots = |own: &Self, regs: &[Reg]| regs.iter().map(|&reg| own.register(reg, false)).collect::<Result<_>>();
        let a = match &own.a {
            WgmmaLeft::Registers(registers) if registers.len() == 4 => {
                WgmmaLeftStep::Registers(slots(self, registers)?)
            }
            WgmmaLeft::Registers(_) => return Err(self.operand_count()),
            WgmmaLeft::Memory { descriptor, transposed } => {
                WgmmaLeftStep::Memory { descriptor: self.register(*descriptor, true)?, transposed: *transposed }
            }
        };
        if own.d.len() != own.n as usize / 2 {
            return Err(self.operand_count());
        }
        let (d, b, adds) = (slots(self, &own.d)?, self.register(own.b, true)?, self.predicate_register(own.adds)?);
        let sums = own.d.iter().map(|&reg| self.number(reg)).collect::<Result<_>>()?;
        let (bf16, b_transposed) = (own.ty == Type::BF16, own.b_transposed);
        Ok(Kind::Wgmma(Box::new(WgmmaStep { bf16, d, sums, a, b, b_transposed, adds })))
    }

    /// The slot of an operand of this width; an immediate gets one.
    fn operand(&mut self, operand: &Operand, wide: bool) -> Result<Slot> {
        match operand {
            Operand::Reg(reg) => self.register(*reg, wide),
            Operand::Special(_) if wide => Err(self.width()),
            _ => self.loose(operand, wide),
        }
    }

    /// The slot of an operand whose register may have another width, as for moves, conversions and stores.
    fn loose(&mut self, operand: &Operand, wide: bool) -> Result<Slot> {
        Ok(match operand {
            Operand::Reg(reg) => self.any(*reg)?,
            Operand::Special(special) => self.special(*special),
            Operand::Int(value) => self.constant(wide, value.cast_unsigned()),
            Operand::F32(bits) => self.constant(wide, u64::from(*bits)),
            Operand::F64(bits) => self.constant(wide, *bits),
            Operand::Symbol(name) => {
                let address = self.symbols.get(name.as_str()).copied();
                let address = address.ok_or_else(|| self.malformed(&format!("no array `{name}`")))?;
                self.constant(wide, address)
            }
        })
    }

    fn constant(&mut self, wide: bool, value: u64) -> Slot {
        let value = if wide { value } else { value & u64::from(u32::MAX) };
        if let Some(slot) = self.constants.get(&(wide, value)) {
            return *slot;
        }
        let slot = self.fresh(wide);
        self.constants.insert((wide, value), slot);
        self.program.constants.push((slot, value));
        slot
    }

    fn special(&mut self, special: Special) -> Slot {
        if let Some(slot) = self.specials.get(&special) {
            return *slot;
        }
        let slot = self.fresh(false);
        self.specials.insert(special, slot);
        self.program.specials.push((slot, special));
        slot
    }

    fn fresh(&mut self, wide: bool) -> Slot {
        let count = if wide { &mut self.program.longs } else { &mut self.program.words };
        *count += 1;
        Slot::new(*count as u32 - 1, wide)
    }

    /// A register's slot, whatever its width; it is no predicate.
    fn any(&self, reg: Reg) -> Result<Slot> {
        let [_, halves, words, longs, ..] = self.entry.registers;
        Ok(match reg.class {
            Class::Pred => return Err(self.malformed("a predicate where a number should be")),
            Class::B16 => Slot::new(reg.index, false),
            Class::B32 => Slot::new(halves + reg.index, false),
            Class::F32 => Slot::new(halves + words + reg.index, false),
            Class::B64 => Slot::new(reg.index, true),
            Class::F64 => Slot::new(longs + reg.index, true),
        })
    }

    /// A register's slot of this width.
    fn register(&self, reg: Reg, wide: bool) -> Result<Slot> {
        let slot = self.any(reg)?;
        if slot.wide() == wide { Ok(slot) } else { Err(self.width()) }
    }

    fn predicate_register(&self, reg: Reg) -> Result<u32> {
        if reg.class == Class::Pred {
            Ok(reg.index)
        } else {
            Err(self.malformed("a number where a predicate should be"))
        }
    }

    fn predicate(&mut self, operand: &Operand) -> Result<u32> {
        match operand {
            Operand::Reg(reg) => self.predicate_register(*reg),
            Operand::Int(value) => {
                self.program.predicates += 1;
                let slot = self.program.predicates as u32 - 1;
                self.program.constant_predicates.push((slot, *value != 0));
                Ok(slot)
            }
            _ => Err(self.malformed("a number where a predicate should be")),
        }
    }

    fn condition(&self, guard: &Guard) -> Result<Condition> {
        Ok(Condition { slot: self.predicate_register(guard.reg)?, negated: guard.negated })
    }

    fn width(&self) -> SimError {
        self.malformed("a register of another width than its instruction's type")
    }

    fn operand_count(&self) -> SimError {
        self.malformed("an instruction with another number of operands")
    }

    fn malformed(&self, what: &str) -> SimError {
        let place = self.program.code.len() + 1;
        SimError::Malformed { kernel: self.program.kernel.clone(), what: format!("instruction {place} has {what}") }
    }
}

fn unsupported(what: &str) -> Kind {
    Kind::Unsupported { what: what.into() }
}

fn wide_class(class: Class) -> bool {
    matches!(class, Class::B64 | Class::F64)
}

/// Addresses of the shared arrays, and the bytes of those of fixed size. The external one begins behind them.
fn shared_symbols<'m>(module: &'m Module, entry: &'m Entry) -> (HashMap<&'m str, u64>, u32) {
    let (mut symbols, mut end) = (HashMap::new(), 0_u32);
    let arrays: Vec<&SharedArray> = module.shared.iter().chain(&entry.shared).collect();
    for array in arrays.iter().filter(|array| !array.external) {
        end = aligned(end, array);
        symbols.insert(array.name.as_str(), u64::from(end));
        end = end.saturating_add(array.bytes);
    }
    for array in arrays.iter().filter(|array| array.external) {
        end = aligned(end, array);
        symbols.insert(array.name.as_str(), u64::from(end));
    }
    (symbols, end)
}

/// Adds where a thread's arrays lie in its own memory, and gives the bytes of all.
fn local_symbols<'m>(entry: &'m Entry, symbols: &mut HashMap<&'m str, u64>) -> u32 {
    entry.local.iter().fold(0, |end, array| {
        let start = multiple_of(end, array.align);
        symbols.insert(array.name.as_str(), u64::from(start));
        start.saturating_add(array.bytes)
    })
}

fn aligned(end: u32, array: &SharedArray) -> u32 {
    multiple_of(end, array.align)
}

fn multiple_of(end: u32, align: u32) -> u32 {
    end.checked_next_multiple_of(align.max(1)).unwrap_or(u32::MAX)
}

/// The registers that an instruction reads and writes.
fn registers(op: &Op) -> (Vec<Reg>, Vec<Reg>) {
    fn of(operands: &[&Operand]) -> Vec<Reg> {
        operands.iter().filter_map(|o| if let Operand::Reg(reg) = o { Some(*reg) } else { None }).collect()
    }
    match op {
        Op::Mov { dst, src, .. } | Op::Cvt { dst, src, .. } | Op::Cvta { dst, src, .. } => (of(&[src]), vec![*dst]),
        Op::CvtPair { dst, high, low, .. } => (of(&[high, low]), vec![*dst]),
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
        Op::Call { result, args, .. } => {
            let args: Vec<&Operand> = args.iter().map(|(_, arg)| arg).collect();
            (of(&args), result.iter().filter_map(|(_, dst)| *dst).collect())
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
        Op::LdMatrix { dst, address, .. } => (of(&[&address.base]), dst.clone()),
        Op::CpAsync { to, from, read, .. } => {
            (of(&[&to.base, &from.base].into_iter().chain(read).collect::<Vec<_>>()), Vec::new())
        }
        Op::Mma { d, a, b, c, .. } => {
            let mut reads = of(&c.iter().collect::<Vec<_>>());
            reads.extend(a.iter().chain(b));
            (reads, d.clone())
        }
        // What it sums in is looked at when it runs: it may be another product's.
        Op::Wgmma(own) => {
            let left = match &own.a {
                WgmmaLeft::Registers(registers) => registers.clone(),
                WgmmaLeft::Memory { descriptor, .. } => vec![*descriptor],
            };
            (left.into_iter().chain([own.b, own.adds]).collect(), Vec::new())
        }
        Op::WgmmaFence | Op::WgmmaCommit | Op::WgmmaWait { .. } | Op::PmEvent { .. } => (Vec::new(), Vec::new()),
        Op::Bra { .. } | Op::Ret | Op::Trap | Op::Bar { .. } | Op::Fence { .. } => (Vec::new(), Vec::new()),
        Op::CpAsyncCommit | Op::CpAsyncWait { .. } => (Vec::new(), Vec::new()),
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
        Op::Cvt { .. } | Op::CvtPair { .. } => Group::Conversion,
        Op::Ld { space: Space::Shared, .. } | Op::LdMatrix { .. } => Group::SharedLoad,
        Op::Ld { space: Space::Global | Space::Generic, .. } | Op::CpAsync { .. } => Group::GlobalLoad,
        Op::St { space: Space::Shared, .. } | Op::Atom { space: Space::Shared, .. } => Group::SharedStore,
        Op::St { .. } | Op::Atom { .. } => Group::GlobalStore,
        Op::Bra { .. } | Op::Ret | Op::Trap => Group::Branch,
        Op::Bar { .. } => Group::Barrier,
        Op::WarpSync { .. } => Group::WarpSync,
        Op::Shfl { .. } | Op::Vote { .. } => Group::Shuffle,
        Op::Mma { .. } | Op::Wgmma(_) => Group::Mma,
        _ => Group::Other,
    }
}
