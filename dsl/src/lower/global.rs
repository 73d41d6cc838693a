//! Global memory: loads and stores through tiles of addresses.

use std::collections::HashMap;
use std::panic::Location;

use super::access::{Place, Run, registers, runs};
use super::bytes::PER_WORD;
use super::num::Num;
use super::scalar::class_of;
use super::{LowerError, Lowering};
use crate::element::DType;
use crate::ir::{Hint, TileType, Value};
use crate::ptx::{Address, Class, Guard, Op, Operand, Reg, Space, Type};

impl Lowering<'_> {
    /// How PTX spells what an access tells the caches.
    pub(super) fn qualifiers(&self, hint: Hint, at: &'static Location<'static>) -> Result<Vec<String>, LowerError> {
        let (sm, isa) = (self.target.sm, self.target.isa);
        if hint.evicts() && isa < (7, 4) {
            return Err(LowerError::Eviction { at: at.to_string(), sm, isa });
        }
        Ok(hint.qualifiers())
    }

    pub(super) fn load(
        &mut self,
        pointer: Value,
        mask: Option<Value>,
        other: Option<Value>,
        ty: &TileType,
        qualifiers: Vec<String>,
    ) {
        let pointers = self.held(pointer);
        let masks = mask.map(|mask| self.spread(mask, ty));
        let others = other.map(|other| self.spread(other, ty));
        let same = first_of_each(&pointers, masks.as_deref(), others.as_deref());
        let places = self.places(&pointers, masks.as_deref(), &same);
        let mut held: Vec<Num> = pointers.to_vec();
        for run in runs(places, ty.dtype.bytes()) {
            let others: Option<Vec<Num>> = others.as_ref().map(|all| run.indices.iter().map(|&i| all[i]).collect());
            let loaded = self.load_run(&run, ty.dtype, (Space::Global, &qualifiers), others.as_deref());
            for (&index, num) in run.indices.iter().zip(loaded) {
                held[index] = num;
            }
        }
        self.define(same.into_iter().map(|first| held[first]).collect());
    }

    pub(super) fn store(&mut self, pointer: Value, value: Value, mask: Option<Value>, qualifiers: Vec<String>) {
        let ty = *self.function.type_of(pointer);
        let pointers = self.held(pointer);
        let values = self.spread(value, &ty);
        let masks = self.held_masks(&self.spread_over(&ty), mask.map(|mask| self.spread(mask, &ty)));
        let same = first_of_each(&pointers, Some(&masks), Some(&values));
        let places = self.places(&pointers, Some(&masks), &same);
        for run in runs(places, ty.dtype.bytes()) {
            let run_values: Vec<Num> = run.indices.iter().map(|&i| values[i]).collect();
            self.store_run(&run, ty.dtype, (Space::Global, &qualifiers), &run_values);
        }
    }

    /// Where the elements lie that are not the same access as an earlier one.
    fn places(&mut self, pointers: &[Num], masks: Option<&[Num]>, same: &[usize]) -> Vec<Place> {
        (0..pointers.len())
            .filter(|&index| same[index] == index)
            .map(|index| {
                let mask = masks.map_or(Num::Bool(true), |masks| masks[index]);
                self.place(index, pointers[index], Class::B64, mask)
            })
            .collect()
    }

    pub(super) fn place(&mut self, index: usize, address: Num, class: Class, mask: Num) -> Place {
        let (base, offset) = match address {
            Num::Int { base: Some(base), offset } => (base, offset),
            constant => (self.reg(constant, class), 0),
        };
        Place { index, base, offset, divisor: self.emit.divisor(base), mask, bound: None }
    }

    /// What an instruction that is done where a mask holds is guarded by.
    pub(super) fn guard_of(&mut self, mask: Num) -> Option<Guard> {
        match mask {
            Num::Bool(true) => None,
            mask => Some(Guard { reg: self.reg(mask, Class::Pred), negated: false }),
        }
    }

    /// Emits one load and gives its elements.
    pub(super) fn load_run(
        &mut self,
        run: &Run,
        dtype: DType,
        (space, qualifiers): (Space, &[String]),
        others: Option<&[Num]>,
    ) -> Vec<Num> {
        let (ty, class, count) = registers(dtype, run.indices.len());
        let dst: Vec<Reg> = (0..count).map(|_| self.emit.fresh(class)).collect();
        let guard = self.guard_of(run.first.mask);
        if let (Some(others), Some(_)) = (others, guard) {
            let others = self.packed(dtype, others);
            for (&reg, src) in dst.iter().zip(others) {
                self.emit.push(Op::Mov { ty: super::scalar::bits_of(class), dst: reg, src });
            }
        }
        let address = Address { base: Operand::Reg(run.first.base), offset: run.first.offset };
        self.promise_bound(run.first.bound, guard);
        self.emit.push_guarded(guard, Op::Ld { space, qualifiers: qualifiers.to_vec(), ty, dst: dst.clone(), address });
        self.unpacked(dtype, run.indices.len(), &dst)
    }

    /// Emits one store.
    pub(super) fn store_run(
        &mut self,
        run: &Run,
        dtype: DType,
        (space, qualifiers): (Space, &[String]),
        values: &[Num],
    ) {
        let (ty, ..) = registers(dtype, run.indices.len());
        let src = self.packed(dtype, values);
        let guard = self.guard_of(run.first.mask);
        let address = Address { base: Operand::Reg(run.first.base), offset: run.first.offset };
        // A store takes registers only.
        let src = src
            .into_iter()
            .map(|operand| match operand {
                Operand::Int(value) => Operand::Reg(self.reg(Num::int(value), registers(dtype, values.len()).1)),
                Operand::F32(bits) => Operand::Reg(self.reg(Num::float(f32::from_bits(bits).into()), Class::F32)),
                Operand::F64(bits) => Operand::Reg(self.reg(Num::Float(bits), Class::F64)),
                other => other,
            })
            .collect();
        self.promise_bound(run.first.bound, guard);
        self.emit.push_guarded(guard, Op::St { space, qualifiers: qualifiers.to_vec(), ty, src, address });
    }

    /// Elements as the operands of one access: halves two to a register, bytes four, truth values as 0 or 1.
    fn packed(&mut self, dtype: DType, values: &[Num]) -> Vec<Operand> {
        let half = dtype.bytes() == 2;
        match values {
            _ if dtype == DType::Bool => {
                let bytes: Vec<Num> = values.iter().map(|&v| self.cast(DType::Bool, DType::U8, v)).collect();
                self.packed(DType::U8, &bytes)
            }
            _ if dtype.bytes() == 1 && values.len() >= PER_WORD => {
                self.words_of_bytes(values).into_iter().map(Operand::Reg).collect()
            }
            [one] if half && dtype.is_float() => vec![Operand::Reg(self.half_reg(dtype, *one))],
            _ if half && values.len() > 1 => values
                .chunks(2)
                .map(|pair| {
                    let [low, high] = [pair[0], pair[1]].map(|num| self.as_half(dtype, num));
                    Operand::Reg(self.pack(dtype, low, high))
                })
                .collect(),
            _ => values.iter().map(|&num| self.operand(num, class_of(dtype))).collect(),
        }
    }

    /// A 16-bit integer, kept in 32 bits, as a half that can be packed.
    fn as_half(&mut self, dtype: DType, num: Num) -> Num {
        if dtype.is_float() {
            return num;
        }
        let reg = self.reg(num, Class::B32);
        Num::Reg(self.cvt(Type::U16, Type::U32, None, Class::B16, reg))
    }

    pub(super) fn unpacked(&mut self, dtype: DType, elements: usize, regs: &[Reg]) -> Vec<Num> {
        if dtype == DType::Bool {
            let bytes = self.unpacked(DType::U8, elements, regs);
            return bytes.into_iter().map(|byte| self.cast(DType::U8, DType::Bool, byte)).collect();
        }
        if dtype.bytes() == 1 && elements >= PER_WORD {
            return self.bytes_of_words(dtype, regs);
        }
        if dtype.bytes() == 2 && elements > 1 {
            let halves = regs.iter().flat_map(|&pack| [false, true].map(|high| Num::Half { pack, high }));
            if dtype.is_float() {
                return halves.collect();
            }
            let (wide, own) = if dtype.is_signed() { (Type::S32, Type::S16) } else { (Type::U32, Type::U16) };
            let halves: Vec<Num> = halves.collect();
            return halves
                .into_iter()
                .map(|half| {
                    let reg = self.reg(half, Class::B16);
                    Num::base(self.cvt(wide, own, None, Class::B32, reg))
                })
                .collect();
        }
        regs.iter().copied().map(Num::of).collect()
    }
}

/// For each register, the first that makes the same access.
fn first_of_each(pointers: &[Num], masks: Option<&[Num]>, values: Option<&[Num]>) -> Vec<usize> {
    let mut first = HashMap::new();
    let access = |r: usize| (pointers[r], masks.map(|m| m[r]), values.map(|v| v[r]));
    (0..pointers.len()).map(|r| *first.entry(access(r)).or_insert(r)).collect()
}
