//! Promises of the author: what follows from them for addresses, and a note of each for the simulator.
//!
//! Multiples become divisors of registers, from which wide accesses follow. Runs (values that rise by one, or stay the
//! same, over some neighbours) are put in terms of their first element: then the others are a constant away from it, as if
//! they had been computed so, and go in one access. With the run's elements in registers `%r0` to `%r3`, the tile after
//! the promise is `%r0`, `%r0 + 1`, `%r0 + 2`, `%r0 + 3`.

use std::collections::HashMap;

use quadpair_layouts::Layout;

use super::Lowering;
use super::num::Num;
use crate::element::DType;
use crate::ir::{BinaryOp, CompareOp, Op, OpKind, TileType, Value};
use crate::ptx::{Class, Promise, Reg};

impl Lowering<'_> {
    /// Of elements that are known to be constants apart, the one with the lowest constant is meant.
    pub(super) fn multiple_of(&mut self, value: Value, n: u32, ty: &TileType) {
        let held = self.held(value);
        let unit = if ty.is_pointer() { ty.dtype.bytes() } else { 1 };
        for (reg, offset) in lowest_offsets(&held) {
            self.promise_multiple(reg, offset, n.saturating_mul(unit));
        }
        self.values.push(held);
    }

    fn promise_multiple(&mut self, reg: Reg, offset: i64, of: u32) {
        self.emit.promise(Promise::Multiple { reg, offset, of });
        if offset % i64::from(of) == 0 {
            self.emit.set_divisor(reg, of);
        }
    }

    /// A condition that holds: where it says that a number is a multiple, so much follows; the rest is only checked.
    pub(super) fn assume(&mut self, condition: Value) {
        if let OpKind::Binary(BinaryOp::And, a, b) = self.definition(condition).kind {
            self.assume(a);
            return self.assume(b);
        }
        if let Some((number, of)) = self.multiple_in(condition) {
            for (reg, offset) in lowest_offsets(&self.held(number)) {
                self.promise_multiple(reg, offset, of);
            }
            return;
        }
        let held = self.held(condition);
        for &num in held.iter().filter(|num| !matches!(num, Num::Bool(_))) {
            let reg = self.reg(num, Class::Pred);
            self.emit.promise(Promise::Holds { reg });
        }
    }

    /// The number and power of two of a condition `number % power == 0` on a scalar.
    fn multiple_in(&self, condition: Value) -> Option<(Value, u32)> {
        let OpKind::Compare(CompareOp::Eq, rest, zero) = self.definition(condition).kind else { return None };
        let OpKind::Binary(BinaryOp::Rem, number, power) = self.definition(rest).kind else { return None };
        match (self.definition(power).kind, self.definition(zero).kind) {
            (OpKind::Integer(power), OpKind::Integer(0)) => {
                let power = u32::try_from(power).ok().filter(|power| power.is_power_of_two())?;
                self.function.type_of(number).layout.is_none().then_some((number, power))
            }
            _ => None,
        }
    }

    /// The operation that gave a value.
    fn definition(&self, value: Value) -> &Op {
        let mut results = self.function.ops.iter().filter(|op| op.result.is_some());
        results.nth(value.index()).expect("the verifier has seen every value's definition")
    }

    pub(super) fn runs(&mut self, value: Value, axis: usize, length: usize, rising: bool, ty: &TileType) {
        let layout = ty.layout.expect("typing lets only tiles have runs");
        let mut held = self.held(value).to_vec();
        let step = if ty.is_pointer() { i64::from(ty.dtype.bytes()) } else { 1 };
        let by_element: HashMap<u32, usize> = (0..held.len()).rev().map(|r| (layout.apply(r, 0, 0), r)).collect();
        let shift = layout.shape().shift(axis);
        let mask = (length_in_registers(&layout, axis, length) as u32 - 1) << shift;
        for r in 0..held.len() {
            let element = layout.apply(r, 0, 0);
            let place = i64::from((element & mask) >> shift);
            let Some(&first) = by_element.get(&(element & !mask)) else { continue };
            if place > 0 {
                held[r] = self.in_terms_of(held[first], held[r], if rising { place * step } else { 0 }, ty.dtype);
            }
        }
        self.define(held);
    }

    /// An element that is promised to be another plus a distance.
    fn in_terms_of(&mut self, first: Num, own: Num, distance: i64, dtype: DType) -> Num {
        let near = match first {
            Num::Int { base, offset } => Num::Int { base, offset: offset + distance },
            same => same,
        };
        if near == own {
            return own;
        }
        let class = super::scalar::class_of(dtype);
        let (reg, other, offset) = match (own, near) {
            (Num::Int { base: Some(reg), offset: o }, Num::Int { base: Some(other), offset }) => {
                (reg, other, offset - o)
            }
            _ => (self.reg(own, class), self.reg(near, class), 0),
        };
        self.emit.promise(Promise::Same { reg, other, offset });
        near
    }
}

/// Of a run's length so much as each thread holds from its first element on: no lane or warp moves inside it.
fn length_in_registers(layout: &Layout, axis: usize, length: usize) -> usize {
    let shift = layout.shape().shift(axis);
    let moved = layout.columns().iter().skip(layout.register_bits()).fold(0, |moved, column| moved | column >> shift);
    length.min(layout.shape().extent(axis)).min(1 << moved.trailing_zeros().min(31))
}

/// For each register the lowest constant that is added to it.
fn lowest_offsets(held: &[Num]) -> Vec<(Reg, i64)> {
    let mut lowest: Vec<(Reg, i64)> = Vec::new();
    for num in held {
        let Num::Int { base: Some(reg), offset } = *num else { continue };
        match lowest.iter_mut().find(|(known, _)| *known == reg) {
            Some((_, own)) => *own = offset.min(*own),
            None => lowest.push((reg, offset)),
        }
    }
    lowest
}
