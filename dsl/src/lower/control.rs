//! Loops and branches.
//!
//! A loop-carried value is a set of registers that the loop's end writes anew. A loop is tested before its first
//! iteration and after each, so that the body is one stretch without a jump back to a test:
//!
//! ```text
//!     mov i, lo;  mov x, x0          what the loop does not change is computed here too
//!     @!(i < hi) bra END
//! LOOP:
//!     ...
//!     mov x, next;  add i, i, step
//!     @(i < hi) bra LOOP
//! END:
//! ```

use std::collections::{HashMap, HashSet};

use super::num::Num;
use super::scalar::{bits_of, class_of, type_of};
use super::spread::Spread;
use super::{Held, Lowering};
use crate::element::DType;
use crate::ir::{BinaryOp, OpKind, TileType, Value};
use crate::ptx::{Alu, Class, Compare, Guard, Label, Op, Operand, Reg, Vote};

/// An open loop or branch.
pub(super) enum Bracket {
    Loop(Loop),
    Branch(Branch),
}

/// An open loop.
pub(super) struct Loop {
    /// The index or, where nothing asks for it, its distance to the end: that is compared with 0, not with a register.
    index: Reg,
    range: [Num; 2],
    until: Num,
    step: Num,
    dtype: DType,
    carried: HashMap<Value, Vec<Reg>>,
    /// How those tiles of pointers lie that one register carries.
    spreads: HashMap<Value, Spread>,
    /// What each carried register becomes at the end of an iteration.
    moves: Vec<(Reg, Num, DType)>,
}

/// An open branch.
pub(super) struct Branch {
    condition: Reg,
    then: Option<Vec<crate::ptx::Statement>>,
    /// The registers of the values that differ between the sides.
    merged: Vec<Vec<Reg>>,
    next: usize,
}

fn repeated(ty: &TileType) -> usize {
    ty.layout.map_or(0, |layout| layout.repeated_registers() as usize)
}

/// Of so many registers of a type, those that repeat no other's element.
fn held_apart(ty: &TileType, count: usize) -> Vec<usize> {
    (0..count).filter(|r| r & repeated(ty) == 0).collect()
}

/// Whether a value of so many registers that is written again has its halves two to a word, as memory and the matrix
/// unit take them.
fn shares_words(ty: &TileType, count: usize) -> bool {
    class_of(ty.stored()) == Class::B16 && held_apart(ty, count).len().is_multiple_of(2)
}

impl Lowering<'_> {
    pub(super) fn begin_for(&mut self, lo: Value, hi: Value, step: Value, ty: &TileType) {
        let [lo, hi, step] = [lo, hi, step].map(|value| self.scalar_of(value));
        let class = class_of(ty.dtype);
        // The bound is compared in every iteration: it has its register before the loop.
        let hi = if hi.register().is_some() { Num::base(self.reg(hi, class)) } else { hi };
        let index = self.emit.fresh(class);
        // Counted from a positive number on, a distance does not overflow.
        let positive = matches!(lo, Num::Int { base: None, offset: 0.. });
        let counts_to_zero = positive && !self.is_asked_for(Value(self.values.len() as u32));
        let first = if counts_to_zero { self.integer(BinaryOp::Sub, ty.dtype, lo, hi) } else { lo };
        self.move_to(index, first, ty.dtype);
        let divisor = self.emit.divisor_of(first).min(self.emit.divisor_of(step));
        self.emit.open(false);
        self.emit.survives(index);
        self.emit.set_divisor(index, divisor);
        self.define(vec![Num::base(index)]);
        let (carried, spreads, moves) = (HashMap::new(), HashMap::new(), Vec::new());
        let until = if counts_to_zero { Num::int(0) } else { hi };
        let (range, dtype) = ([lo, hi], ty.dtype);
        self.open.push(Bracket::Loop(Loop { index, range, until, step, dtype, carried, spreads, moves }));
    }

    pub(super) fn carry(&mut self, initial: Value) {
        let name = Value(self.values.len() as u32);
        let held = self.held(initial);
        if self.is_invariant(name) {
            self.values.push(held);
            return;
        }
        let ty = *self.function.type_of(initial);
        let spread = (held.len() > 1 && !self.carried_apart.contains(&name)).then(|| self.spread_of(&held)).flatten();
        let body = self.emit.suspend();
        let (regs, own) = match &spread {
            Some((start, _)) => {
                let reg = self.emit.fresh(start.class);
                self.move_to(reg, Num::base(*start), DType::I64);
                (vec![reg], Vec::new())
            }
            None => self.variables(&held, &ty),
        };
        self.emit.resume(body);
        let own_divisor = match &spread {
            Some((start, _)) => self.emit.divisor(*start),
            None => self.common_divisor(&held),
        };
        let divisor = own_divisor.min(self.divisors.get(&name).copied().unwrap_or(u32::MAX));
        self.divisors.insert(name, divisor);
        for &reg in &regs {
            self.emit.survives(reg);
            self.emit.set_divisor(reg, divisor);
        }
        let own = match &spread {
            Some((_, spread)) => self.spread_from(regs[0], spread),
            None => own,
        };
        self.define(own);
        self.innermost_loop().carried.insert(name, regs);
        if let Some((_, spread)) = spread {
            self.innermost_loop().spreads.insert(name, spread);
        }
    }

    /// A power of two that divides all of a value's elements, where they are integers.
    fn common_divisor(&self, held: &[Num]) -> u32 {
        held.iter().map(|&num| self.emit.divisor_of(num)).min().unwrap_or(1)
    }

    /// Whether the loop hands a carried value on as it is.
    fn is_invariant(&self, name: Value) -> bool {
        let ops = &self.function.ops[self.position..];
        ops.iter().any(|op| matches!(op.kind, OpKind::Yield { carried, next } if carried == name && next == name))
    }

    /// Whether any operation asks for a value.
    fn is_asked_for(&self, name: Value) -> bool {
        self.function.ops[self.position..].iter().any(|op| op.kind.operands().contains(&name))
    }

    /// New registers that hold a value and can be written again; elements that are the same share one, halves a word.
    fn variables(&mut self, held: &Held, ty: &TileType) -> (Vec<Reg>, Vec<Num>) {
        let class = if shares_words(ty, held.len()) { Class::B32 } else { class_of(ty.stored()) };
        let count = held_apart(ty, held.len()).len() >> usize::from(shares_words(ty, held.len()));
        let regs: Vec<Reg> = (0..count).map(|_| self.emit.fresh(class)).collect();
        let own = self.assign(&regs, held, ty);
        (regs, own)
    }

    /// Writes a value to registers made for its type and gives it as they hold it.
    fn assign(&mut self, regs: &[Reg], held: &Held, ty: &TileType) -> Vec<Num> {
        for (&reg, num) in regs.iter().zip(self.by_register(held, ty)) {
            self.move_to(reg, num, ty.stored());
        }
        let apart = held_apart(ty, held.len());
        let places = if shares_words(ty, held.len()) {
            regs.iter().flat_map(|&pack| [false, true].map(|high| Num::Half { pack, high })).collect()
        } else {
            regs.iter().copied().map(Num::of).collect::<Vec<Num>>()
        };
        let by_index: HashMap<usize, Num> = apart.into_iter().zip(places).collect();
        (0..held.len()).map(|r| by_index[&(r & !repeated(ty))]).collect()
    }

    /// What each register of a value that can be written again holds.
    fn by_register(&mut self, held: &Held, ty: &TileType) -> Vec<Num> {
        let apart: Vec<Num> = held_apart(ty, held.len()).into_iter().map(|r| held[r]).collect();
        if !shares_words(ty, held.len()) {
            return apart;
        }
        apart.chunks(2).map(|pair| Num::base(self.pack(ty.stored(), pair[0], pair[1]))).collect()
    }

    /// Writes an element to a register that is written more than once.
    fn move_to(&mut self, dst: Reg, num: Num, dtype: DType) {
        if num == Num::of(dst) {
            return;
        }
        let src = match (dst.class, num) {
            (Class::B16, _) => Operand::Reg(self.half_reg(dtype, num)),
            (Class::Pred, _) => Operand::Reg(self.reg(num, Class::Pred)),
            (class, _) => self.operand(num, class),
        };
        self.emit.push(Op::Mov { ty: bits_of(dst.class), dst, src });
    }

    pub(super) fn yield_value(&mut self, carried: Value, next: Value) {
        let held = self.held(next);
        if carried == next {
            self.values.push(held);
            return;
        }
        let ty = *self.function.type_of(carried);
        let own = self.held(carried);
        if let Some(spread) = self.innermost_loop().spreads.get(&carried).cloned() {
            match self.moved_start(&spread, &held) {
                Some(start) => {
                    self.keep_divisor(carried, self.emit.divisor_of(start));
                    let reg = self.innermost_loop().carried[&carried][0];
                    self.innermost_loop().moves.push((reg, start, DType::I64));
                }
                None => {
                    self.carried_apart.insert(carried);
                    self.divisors_hold = false;
                }
            }
            self.values.push(own);
            return;
        }
        self.keep_divisor(carried, self.common_divisor(&held));
        let next = self.by_register(&held, &ty);
        let open = self.innermost_loop();
        let regs = open.carried[&carried].clone();
        open.moves.extend(regs.into_iter().zip(next).map(|(reg, num)| (reg, num, ty.stored())));
        self.values.push(own);
    }

    /// Lowering begins again if an iteration leaves a smaller divisor than was taken for granted.
    fn keep_divisor(&mut self, carried: Value, kept: u32) {
        if kept < self.divisors[&carried] {
            self.divisors.insert(carried, kept);
            self.divisors_hold = false;
        }
    }

    fn innermost_loop(&mut self) -> &mut Loop {
        match self.open.last_mut() {
            Some(Bracket::Loop(open)) => open,
            _ => unreachable!("the verifier matches brackets"),
        }
    }

    pub(super) fn end_for(&mut self) {
        let Some(Bracket::Loop(open)) = self.open.pop() else { unreachable!("the verifier matches brackets") };
        self.parallel_moves(&open.moves);
        let ty = type_of(open.dtype);
        let next = self.operand(open.step, class_of(open.dtype));
        self.emit.push(Op::Alu {
            op: Alu::Add,
            rounding: None,
            approx: false,
            ftz: false,
            sat: false,
            ty,
            dst: open.index,
            args: vec![Operand::Reg(open.index), next],
        });
        let (start, end) = (self.emit.label(), self.emit.label());
        self.branch_if([Num::base(open.index), open.until], open.dtype, Compare::Lt, start);
        let body = self.emit.close();
        self.branch_if([open.range[1], open.range[0]], open.dtype, Compare::Le, end);
        self.emit.mark(start);
        self.emit.extend(body);
        self.emit.mark(end);
        self.emit.forget_integers();
        for (name, regs) in open.carried {
            for reg in regs {
                self.emit.survives(reg);
                self.emit.restore_divisor(reg, self.divisors[&name]);
            }
        }
    }

    fn branch_if(&mut self, [a, b]: [Num; 2], dtype: DType, compare: Compare, target: Label) {
        let (dst, ty, class) = (self.emit.fresh(Class::Pred), type_of(dtype), class_of(dtype));
        let (a, b) = (Operand::Reg(self.reg(a, class)), self.operand(b, class));
        self.emit.push(Op::Setp { compare, ftz: false, ty, dst, a, b, combine: None });
        let guard = Guard { reg: dst, negated: false };
        self.emit.push_guarded(Some(guard), Op::Bra { target, uniform: true });
    }

    /// Writes registers as if at once: a value that another move overwrites first is put aside.
    fn parallel_moves(&mut self, moves: &[(Reg, Num, DType)]) {
        let written: Vec<Reg> = moves.iter().map(|m| m.0).collect();
        let mut ready = Vec::new();
        for (i, &(dst, num, dtype)) in moves.iter().enumerate() {
            let overwritten = num.register().is_some_and(|reg| written[..i].contains(&reg));
            let num = if overwritten { self.set_aside(num, dst.class, dtype) } else { num };
            ready.push((dst, num, dtype));
        }
        for (dst, num, dtype) in ready {
            self.move_to(dst, num, dtype);
        }
    }

    fn set_aside(&mut self, num: Num, class: Class, dtype: DType) -> Num {
        let aside = self.emit.fresh(class);
        self.move_to(aside, num, dtype);
        Num::of(aside)
    }

    pub(super) fn begin_if(&mut self, condition: Value) {
        let condition = self.scalar_of(condition);
        let condition = self.reg(condition, Class::Pred);
        self.open_branch(condition);
    }

    /// Each warp votes: it takes the branch if any of its threads has an element that is true.
    pub(super) fn begin_if_any(&mut self, condition: Value) {
        let held = self.held(condition);
        let mut any = Num::Bool(false);
        // Registers of one row share its condition.
        let mut asked = HashSet::new();
        for &num in held.iter().filter(|num| asked.insert(**num)) {
            any = self.binary(BinaryOp::Or, DType::Bool, any, num);
        }
        let (own, dst) = (self.reg(any, Class::Pred), self.emit.fresh(Class::Pred));
        let src = Guard { reg: own, negated: false };
        self.emit.push(Op::Vote { mode: Vote::Any, dst, src, mask: Operand::Int(-1) });
        self.open_branch(dst);
    }

    fn open_branch(&mut self, condition: Reg) {
        self.emit.open(true);
        self.open.push(Bracket::Branch(Branch { condition, then: None, merged: Vec::new(), next: 0 }));
    }

    pub(super) fn begin_else(&mut self) {
        let merges = self.merges_ahead();
        let mut merged = Vec::new();
        for (then, ty) in merges {
            let held = self.held(then);
            let (regs, _) = self.variables(&held, &ty);
            merged.push(regs);
        }
        let then = self.emit.close();
        self.emit.open(true);
        let Some(Bracket::Branch(branch)) = self.open.last_mut() else { unreachable!("the verifier matches brackets") };
        branch.then = Some(then);
        branch.merged = merged;
    }

    /// The true side's values and types that the branch now at its `Else` merges.
    fn merges_ahead(&self) -> Vec<(Value, TileType)> {
        let mut depth = 0;
        let mut merges = Vec::new();
        for op in &self.function.ops[self.position + 1..] {
            match op.kind {
                OpKind::If(_) | OpKind::IfAny(_) => depth += 1,
                OpKind::EndIf if depth == 0 => break,
                OpKind::EndIf => depth -= 1,
                OpKind::Merge(then, _) if depth == 0 => merges.extend(op.result.map(|ty| (then, ty))),
                _ => {}
            }
        }
        merges
    }

    pub(super) fn merge(&mut self, other: Value, ty: &TileType) {
        let held = self.held(other);
        let Some(Bracket::Branch(branch)) = self.open.last_mut() else { unreachable!("the verifier matches brackets") };
        let regs = branch.merged[branch.next].clone();
        branch.next += 1;
        let own = self.assign(&regs, &held, ty);
        self.define(own);
    }

    pub(super) fn end_if(&mut self) {
        let Some(Bracket::Branch(branch)) = self.open.pop() else { unreachable!("the verifier matches brackets") };
        let other = self.emit.close();
        let (otherwise, end) = (self.emit.label(), self.emit.label());
        let guard = Guard { reg: branch.condition, negated: true };
        self.emit.push_guarded(Some(guard), Op::Bra { target: otherwise, uniform: true });
        self.emit.extend(branch.then.unwrap_or_default());
        if !other.is_empty() {
            self.emit.push(Op::Bra { target: end, uniform: true });
        }
        self.emit.mark(otherwise);
        self.emit.extend(other);
        self.emit.mark(end);
        for reg in branch.merged.into_iter().flatten() {
            self.emit.survives(reg);
        }
    }
}
