//! Matrix products, on the matrix unit or by fused multiply-adds.
//!
//! Both follow the plan that the typing rule made: which registers of `a`, `b` and `c` belong to each repetition of the
//! atom and each step along k. Steps are the outer loop, so that neighbouring instructions write different accumulators
//! and none waits for the one before.

use std::collections::HashMap;

use quadpair_layouts::{Atom, Error, Layout, MmaPlan, typing};

use super::num::Num;
use super::scalar::{class_of, type_of};
use super::{LowerError, Lowering};
use crate::element::DType;
use crate::ir::{TileType, Value};
use crate::ptx::{Class, Op, Operand, Reg, Type};
use crate::runtime::Target;

/// The first version of PTX that has the units of 16 rows.
const FIRST_OF_16_ROWS: (u32, u32) = (6, 5);

impl Lowering<'_> {
    pub(super) fn mma(&mut self, a: Value, b: Value, c: Value, ty: &TileType) -> Result<(), LowerError> {
        let sm = self.target.sm;
        let plan = self.plan(a, b, c, |a, b, c| typing::mma_on(sm, 16, 32, a, b, c));
        let (dtype, halves) = (self.function.type_of(a).dtype, type_of(self.function.type_of(a).dtype));
        self.has_unit(plan.atom, dtype)?;
        let elements = [&plan.atom.a[0], &plan.atom.b[0], &plan.atom.c].map(Layout::registers);
        let (left, right) = (self.held(a), self.held(b));
        let mut sums = self.accumulators(c);
        for step in 0..plan.steps {
            for repetition in snake(plan.repetitions) {
                let a = self.fragment(dtype, elements[0], |i| left[plan.a_register(repetition, step, i)]);
                let b = self.fragment(dtype, elements[1], |i| right[plan.b_register(repetition, step, i)]);
                let registers: Vec<usize> = (0..elements[2]).map(|v| plan.c_register(repetition, v)).collect();
                let c = registers.iter().map(|&r| Operand::Reg(sums[r])).collect();
                let d: Vec<Reg> = registers.iter().map(|_| self.emit.fresh(Class::F32)).collect();
                for (&r, &reg) in registers.iter().zip(&d) {
                    sums[r] = reg;
                }
                self.emit.push(Op::Mma {
                    shape: plan.atom.name.to_owned(),
                    a_row: !plan.a_col,
                    b_row: plan.b_row,
                    types: [Type::F32, halves, halves, Type::F32],
                    d,
                    a,
                    b,
                    c,
                });
            }
        }
        let layout = ty.layout.expect("a product has a layout");
        let written = written_registers(&plan, elements[2], &layout);
        self.define(written.into_iter().map(|r| Num::Reg(sums[r])).collect());
        Ok(())
    }

    /// Whether the target has a unit for operands of a type.
    fn has_unit(&self, atom: &Atom, dtype: DType) -> Result<(), LowerError> {
        let (kernel, Target { sm, isa, .. }, unit) = (self.instance.to_owned(), self.target, atom.name);
        let first_sm = atom.first_sm_of(dtype == DType::BF16).expect("typing knows the unit's types");
        if sm < first_sm {
            return Err(LowerError::MatrixUnit { kernel, unit, first_sm, sm });
        }
        // PTX learnt the units of 16 rows later than it learnt the chips that have them.
        if atom.m == 16 && isa < FIRST_OF_16_ROWS {
            return Err(LowerError::UnitVersion { kernel, unit, first: FIRST_OF_16_ROWS, isa });
        }
        Ok(())
    }

    /// The elements of an operand, two in a register.
    fn fragment(&mut self, dtype: DType, elements: usize, element: impl Fn(usize) -> Num) -> Vec<Reg> {
        (0..elements).step_by(2).map(|i| self.pack(dtype, element(i), element(i + 1))).collect()
    }

    pub(super) fn dot(&mut self, a: Value, b: Value, c: Value, ty: &TileType) {
        let plan = self.plan(a, b, c, typing::dot);
        let from = self.function.type_of(a).dtype;
        let (left, right) = (self.held(a), self.held(b));
        let mut sums: Vec<Num> = self.held(c).to_vec();
        for step in 0..plan.steps {
            for repetition in 0..plan.repetitions {
                let x = self.cast(from, ty.dtype, left[plan.a_register(repetition, step, 0)]);
                let y = self.cast(from, ty.dtype, right[plan.b_register(repetition, step, 0)]);
                let r = plan.c_register(repetition, 0);
                sums[r] = self.fma(ty.dtype, x, y, sums[r]);
            }
        }
        let layout = ty.layout.expect("a product has a layout");
        let written = written_registers(&plan, 1, &layout);
        self.define(written.into_iter().map(|r| sums[r]).collect());
    }

    fn plan(
        &self,
        a: Value,
        b: Value,
        c: Value,
        rule: impl Fn(&Layout, &Layout, &Layout) -> Result<MmaPlan, Error>,
    ) -> MmaPlan {
        let [a, b, c] =
            [a, b, c].map(|v| self.function.type_of(v).layout.expect("typing lets only tiles be multiplied"));
        rule(&a, &b, &c).expect("typing has checked the product")
    }

    fn accumulators(&mut self, c: Value) -> Vec<Reg> {
        let held = self.held(c);
        held.iter().map(|&num| self.reg(num, class_of(DType::F32))).collect()
    }
}

/// Repetitions in an order in which neighbours differ in one bit: in rows or in columns, so that they share an operand.
fn snake(repetitions: usize) -> impl Iterator<Item = usize> {
    (0..repetitions).map(|i| i ^ i >> 1)
}

/// For each register of an accumulator, the one that the product writes its element to: a duplicate has no instruction
/// of its own.
fn written_registers(plan: &MmaPlan, elements: usize, layout: &Layout) -> Vec<usize> {
    let registers = (0..plan.repetitions).flat_map(|repetition| (0..elements).map(move |v| (repetition, v)));
    let written: HashMap<u32, usize> = registers
        .map(|(repetition, v)| plan.c_register(repetition, v))
        .map(|register| (layout.apply(register, 0, 0), register))
        .collect();
    (0..layout.registers()).map(|r| written[&layout.apply(r, 0, 0)]).collect()
}
