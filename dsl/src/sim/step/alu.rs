//! Moves, integer arithmetic, comparisons and selections.
//!
//! What most programs are made of has loops of its own over whole lane arrays, which the compiler turns into vector code.
//! Lanes that a mask leaves out are computed too and dropped. Everything else goes lane by lane.

use half::{bf16, f16};

use super::{bits, float};
use crate::ptx::{Alu, Combine, Compare, Type};
use crate::sim::machine::Stop;
use crate::sim::program::{AluStep, SetpStep, Slot, wide_type};
use crate::sim::report::FaultKind;
use crate::sim::warp::{LANE_BITS, LANES, Lanes32, Lanes64, Warp, lanes};

impl Warp {
    /// Copies a register; a wider one loses its upper half, a narrower one is extended with zeros.
    pub(super) fn copy(&mut self, dst: Slot, src: Slot, mask: u32) {
        if dst.wide() || src.wide() {
            let value = self.bits(src);
            self.set_bits(dst, mask, &value);
        } else {
            let value = *self.word(src);
            self.set_word(dst, mask, &value);
        }
    }
}

pub(super) fn pack(warp: &mut Warp, dst: Slot, parts: &[Slot], bits: u32, mask: u32) {
    if let (&[low, high], 16, false) = (parts, bits, dst.wide()) {
        let value = two(warp.word(low), warp.word(high), |low, high| low & 0xffff | high << 16);
        return warp.set_word(dst, mask, &value);
    }
    let mut whole = [0_u64; LANES];
    for (i, &part) in parts.iter().enumerate() {
        let value = warp.bits(part);
        for lane in 0..LANES {
            whole[lane] |= (value[lane] & ((1 << bits) - 1)) << (i as u32 * bits);
        }
    }
    warp.set_bits(dst, mask, &whole);
}

pub(super) fn unpack(warp: &mut Warp, parts: &[Option<Slot>], src: Slot, bits: u32, mask: u32) {
    let whole = warp.bits(src);
    for (i, part) in parts.iter().enumerate() {
        if let Some(slot) = part {
            warp.set_bits(*slot, mask, &whole.map(|value| value >> (i as u32 * bits) & ((1 << bits) - 1)));
        }
    }
}

pub(super) fn logic(warp: &mut Warp, op: Alu, dst: u32, [a, b]: [u32; 2], mask: u32) {
    let (a, b) = (warp.predicates[a as usize], warp.predicates[b as usize]);
    let value = match op {
        Alu::And => a & b,
        Alu::Or => a | b,
        Alu::Xor => a ^ b,
        _ => !a,
    };
    warp.set_predicate(dst, mask, value);
}

pub(super) fn select(warp: &mut Warp, dst: Slot, [a, b]: [Slot; 2], predicate: u32, mask: u32) {
    let chosen = warp.predicates[predicate as usize];
    if dst.wide() || a.wide() || b.wide() {
        let (a, b) = (warp.bits(a), warp.bits(b));
        let value = std::array::from_fn(|lane| if chosen & LANE_BITS[lane] != 0 { a[lane] } else { b[lane] });
        return warp.set_bits(dst, mask, &value);
    }
    let (a, b) = (warp.word(a), warp.word(b));
    let mut value = [0; LANES];
    for lane in 0..LANES {
        value[lane] = if chosen & LANE_BITS[lane] != 0 { a[lane] } else { b[lane] };
    }
    warp.set_word(dst, mask, &value);
}

/// How the lanes of two operands compare, a bit for each lane.
struct Order {
    less: u32,
    equal: u32,
    greater: u32,
}

impl Order {
    #[inline(always)]
    fn of<T: PartialOrd + Copy>(a: &[T; LANES], b: &[T; LANES]) -> Self {
        let (mut less, mut equal, mut greater) = (0, 0, 0);
        for lane in 0..LANES {
            less |= if a[lane] < b[lane] { LANE_BITS[lane] } else { 0 };
            equal |= if a[lane] == b[lane] { LANE_BITS[lane] } else { 0 };
            greater |= if a[lane] > b[lane] { LANE_BITS[lane] } else { 0 };
        }
        Order { less, equal, greater }
    }

    fn between(warp: &Warp, step: &SetpStep) -> Self {
        let (ty, [a, b]) = (step.ty, step.args);
        if wide_type(ty) {
            let (a, b) = (warp.bits(a), warp.bits(b));
            return match ty {
                Type::F64 => Order::of(&a.map(f64::from_bits), &b.map(f64::from_bits)),
                Type::S64 => Order::of(&a.map(u64::cast_signed), &b.map(u64::cast_signed)),
                _ => Order::of(&a, &b),
            };
        }
        let (a, b) = (warp.word(a), warp.word(b));
        match ty {
            Type::F32 if step.ftz => Order::of(&float::flushed(a), &float::flushed(b)),
            Type::F32 => Order::of(&a.map(f32::from_bits), &b.map(f32::from_bits)),
            Type::S32 => Order::of(&a.map(u32::cast_signed), &b.map(u32::cast_signed)),
            Type::F16 => Order::of(&a.map(|x| f16::from_bits(x as u16)), &b.map(|x| f16::from_bits(x as u16))),
            Type::BF16 => Order::of(&a.map(|x| bf16::from_bits(x as u16)), &b.map(|x| bf16::from_bits(x as u16))),
            Type::S16 => Order::of(&a.map(|x| x as i16), &b.map(|x| x as i16)),
            Type::U16 | Type::B16 => Order::of(&a.map(|x| x as u16), &b.map(|x| x as u16)),
            _ => Order::of(a, b),
        }
    }

    /// The lanes in which a comparison holds.
    fn holds(&self, compare: Compare) -> u32 {
        let Order { less, equal, greater } = *self;
        let unordered = !(less | equal | greater);
        match compare {
            Compare::Eq => equal,
            Compare::Ne => less | greater,
            Compare::Lt => less,
            Compare::Le => less | equal,
            Compare::Gt => greater,
            Compare::Ge => greater | equal,
            Compare::Equ => equal | unordered,
            Compare::Neu => !equal,
            Compare::Ltu => less | unordered,
            Compare::Leu => !greater,
            Compare::Gtu => greater | unordered,
            Compare::Geu => !less,
            Compare::Num => !unordered,
            Compare::Nan => unordered,
        }
    }
}

pub(super) fn set_predicate(warp: &mut Warp, step: &SetpStep, mask: u32) {
    let value = Order::between(warp, step).holds(step.compare);
    let value = match step.combine {
        None => value,
        Some((Combine::And, condition)) => value & warp.condition(condition),
        Some((Combine::Or, condition)) => value | warp.condition(condition),
        Some((Combine::Xor, condition)) => value ^ warp.condition(condition),
    };
    warp.set_predicate(step.dst, mask, value);
}

pub(super) fn arithmetic(warp: &mut Warp, step: &AluStep, mask: u32) -> Result<(), Stop> {
    let done = match step.ty {
        Type::F32 | Type::F64 | Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2 => {
            float::arithmetic(warp, step, mask)
        }
        Type::S32 | Type::U32 | Type::B32 => words(warp, step, mask),
        ty if wide_type(ty) => longs(warp, step, mask),
        _ => each(warp, step, mask),
    };
    done.ok_or_else(|| {
        let what = "this operation with these modifiers on this type".into();
        Stop::new(mask.trailing_zeros(), FaultKind::Unsupported { what })
    })
}

/// Instructions on 32 bits.
fn words(warp: &mut Warp, step: &AluStep, mask: u32) -> Option<()> {
    let operands = step.operands();
    let Some(&first) = operands.first().filter(|_| !step.sat) else { return each(warp, step, mask) };
    let signed = step.ty == Type::S32;
    let (a, b) = (warp.word(first), warp.word(*operands.get(1).unwrap_or(&first)));
    let third = || operands.get(2).map(|&slot| warp.word(slot));
    let value = match step.op {
        Alu::Add => two(a, b, u32::wrapping_add),
        Alu::Sub => two(a, b, u32::wrapping_sub),
        Alu::MulLo => two(a, b, u32::wrapping_mul),
        Alu::MadLo => three(a, b, third()?, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        Alu::And => two(a, b, |a, b| a & b),
        Alu::Or => two(a, b, |a, b| a | b),
        Alu::Xor => two(a, b, |a, b| a ^ b),
        Alu::Not => two(a, b, |a, _| !a),
        Alu::Shl => two(a, b, |a, b| if b < 32 { a << (b & 31) } else { 0 }),
        Alu::Shr if signed => two(a, b, |a, b| (a.cast_signed() >> b.min(31)).cast_unsigned()),
        Alu::Shr => two(a, b, |a, b| if b < 32 { a >> (b & 31) } else { 0 }),
        Alu::Min if signed => two(a, b, |a, b| a.cast_signed().min(b.cast_signed()).cast_unsigned()),
        Alu::Max if signed => two(a, b, |a, b| a.cast_signed().max(b.cast_signed()).cast_unsigned()),
        Alu::Min => two(a, b, u32::min),
        Alu::Max => two(a, b, u32::max),
        Alu::Prmt => three(a, b, third()?, |a, b, c| bits::prmt(u64::from(b) << 32 | u64::from(a), c)),
        Alu::Lop3 => {
            // The table is a number in the text: the same for all lanes.
            let table = u64::from(warp.word(*operands.get(3)?)[0]);
            three(a, b, third()?, |a, b, c| bits::lop3(a, b, c, table))
        }
        Alu::MulWide | Alu::MadWide => {
            let addend = operands.get(2).map_or([0; LANES], |&slot| warp.bits(slot));
            let value = wide_products(a, b, &addend, signed);
            warp.set_bits(step.dst, mask, &value);
            return Some(());
        }
        _ => return each(warp, step, mask),
    };
    warp.set_word(step.dst, mask, &value);
    Some(())
}

fn wide_products(a: &Lanes32, b: &Lanes32, addend: &Lanes64, signed: bool) -> Lanes64 {
    let mut value = [0; LANES];
    for lane in 0..LANES {
        let product = if signed {
            (i64::from(a[lane].cast_signed()) * i64::from(b[lane].cast_signed())).cast_unsigned()
        } else {
            u64::from(a[lane]) * u64::from(b[lane])
        };
        value[lane] = product.wrapping_add(addend[lane]);
    }
    value
}

/// Instructions on 64 bits.
fn longs(warp: &mut Warp, step: &AluStep, mask: u32) -> Option<()> {
    let &[a, b] = step.operands() else { return each(warp, step, mask) };
    let (a, b) = (warp.bits(a), warp.bits(b));
    let value = match step.op {
        Alu::Add => long(&a, &b, u64::wrapping_add),
        Alu::Sub => long(&a, &b, u64::wrapping_sub),
        Alu::MulLo => long(&a, &b, u64::wrapping_mul),
        Alu::And => long(&a, &b, |a, b| a & b),
        Alu::Or => long(&a, &b, |a, b| a | b),
        Alu::Xor => long(&a, &b, |a, b| a ^ b),
        _ => return each(warp, step, mask),
    };
    warp.set_bits(step.dst, mask, &value);
    Some(())
}

/// Any integer instruction, lane by lane.
fn each(warp: &mut Warp, step: &AluStep, mask: u32) -> Option<()> {
    let mut operands = [[0; LANES]; 4];
    for (operand, &slot) in operands.iter_mut().zip(step.operands()) {
        *operand = warp.bits(slot);
    }
    let mut result = [0; LANES];
    for lane in lanes(mask) {
        result[lane] = bits::one(step.op, step.ty, step.sat, operands.map(|operand| operand[lane]))?;
    }
    warp.set_bits(step.dst, mask, &result);
    Some(())
}

#[inline(always)]
fn two(a: &Lanes32, b: &Lanes32, function: impl Fn(u32, u32) -> u32) -> Lanes32 {
    let mut result = [0; LANES];
    for lane in 0..LANES {
        result[lane] = function(a[lane], b[lane]);
    }
    result
}

#[inline(always)]
fn three(a: &Lanes32, b: &Lanes32, c: &Lanes32, function: impl Fn(u32, u32, u32) -> u32) -> Lanes32 {
    let mut result = [0; LANES];
    for lane in 0..LANES {
        result[lane] = function(a[lane], b[lane], c[lane]);
    }
    result
}

#[inline(always)]
fn long(a: &Lanes64, b: &Lanes64, function: impl Fn(u64, u64) -> u64) -> Lanes64 {
    let mut result = [0; LANES];
    for lane in 0..LANES {
        result[lane] = function(a[lane], b[lane]);
    }
    result
}
