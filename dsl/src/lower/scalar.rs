//! Instructions on one element: arithmetic, comparisons, selection, conversions.

use super::Lowering;
use super::emit::{Pure, divisor_of_constant};
use super::num::{Num, float_immediate};
use crate::element::DType;
use crate::ir::{BinaryOp, CompareOp, UnaryOp};
use crate::ptx::{Alu, Class, Compare, Op, Operand, Reg, Rounding, Type};

/// The register class of an element type. Narrow integers are kept, extended, in 32 bits.
pub(super) fn class_of(dtype: DType) -> Class {
    match dtype {
        DType::Bool => Class::Pred,
        DType::F16 | DType::BF16 => Class::B16,
        DType::F32 => Class::F32,
        DType::F64 => Class::F64,
        DType::I64 | DType::U64 => Class::B64,
        _ => Class::B32,
    }
}

/// The type that arithmetic on an element type has.
pub(super) fn type_of(dtype: DType) -> Type {
    match dtype {
        DType::Bool => Type::Pred,
        DType::F16 => Type::F16,
        DType::BF16 => Type::BF16,
        DType::F32 => Type::F32,
        DType::F64 => Type::F64,
        DType::I64 => Type::S64,
        DType::U64 => Type::U64,
        DType::I8 | DType::I16 | DType::I32 => Type::S32,
        DType::U8 | DType::U16 | DType::U32 => Type::U32,
    }
}

/// The untyped type of a class.
pub(super) fn bits_of(class: Class) -> Type {
    match class {
        Class::Pred => Type::Pred,
        Class::B16 => Type::B16,
        Class::B32 => Type::B32,
        Class::B64 => Type::B64,
        Class::F32 => Type::F32,
        Class::F64 => Type::F64,
    }
}

impl Lowering<'_> {
    /// The element as an operand of an instruction.
    pub(super) fn operand(&mut self, num: Num, class: Class) -> Operand {
        match num {
            Num::Int { base: None, offset } => Operand::Int(offset),
            Num::Float(bits) if class != Class::B16 => float_immediate(bits, class),
            _ => Operand::Reg(self.reg(num, class)),
        }
    }

    /// The element in a register.
    pub(super) fn reg(&mut self, num: Num, class: Class) -> Reg {
        match num {
            Num::Reg(reg) => reg,
            Num::Int { base: Some(reg), offset: 0 } => reg,
            Num::Int { base: Some(base), offset } => self.plus(base, offset),
            Num::Half { pack, high } => self.half(pack, high),
            Num::Bool(value) => self.constant_predicate(value),
            Num::Int { base: None, offset } => {
                let reg = self.moved(num, class, Operand::Int(offset));
                self.emit.set_divisor(reg, divisor_of_constant(offset));
                reg
            }
            Num::Float(bits) => self.moved(num, class, float_immediate(bits, class)),
        }
    }

    fn plus(&mut self, base: Reg, offset: i64) -> Reg {
        let ty = if base.class == Class::B64 { Type::S64 } else { Type::S32 };
        let reg = self.alu(Alu::Add, ty, base.class, &[Num::base(base), Num::int(offset)]);
        let divisor = self.emit.divisor(base).min(divisor_of_constant(offset));
        self.emit.set_divisor(reg, divisor);
        reg
    }

    fn moved(&mut self, num: Num, class: Class, src: Operand) -> Reg {
        let ty = bits_of(class);
        self.emit.pure(Pure::Mov { ty }, class, &[num], |_, dst| Op::Mov { ty, dst, src })
    }

    fn constant_predicate(&mut self, value: bool) -> Reg {
        let (compare, zero) = (if value { Compare::Eq } else { Compare::Ne }, Num::int(0));
        self.setp(compare, Type::S32, zero, zero)
    }

    /// One half of a 32-bit register; both halves are taken apart at once.
    pub(super) fn half(&mut self, pack: Reg, high: bool) -> Reg {
        let which = if high { Pure::UnpackHigh } else { Pure::UnpackLow };
        let whole = Num::base(pack);
        let mut other = None;
        let reg = self.emit.pure(which, Class::B16, &[whole], |emit, own| {
            let twin = emit.fresh(Class::B16);
            other = Some(twin);
            let (low, upper) = if high { (twin, own) } else { (own, twin) };
            Op::Unpack { ty: Type::B32, parts: vec![Some(low), Some(upper)], src: Operand::Reg(pack) }
        });
        if let Some(twin) = other {
            let twins = if high { Pure::UnpackLow } else { Pure::UnpackHigh };
            self.emit.known(twins, Class::B16, whole, twin);
        }
        reg
    }

    /// Two half-precision elements in one 32-bit register, the first in the lower half.
    pub(super) fn pack(&mut self, dtype: DType, low: Num, high: Num) -> Reg {
        match (low, high) {
            (Num::Half { pack: a, high: false }, Num::Half { pack: b, high: true }) if a == b => a,
            (Num::Float(a), Num::Float(b)) => {
                let bits = i64::from(half_bits(dtype, a)) | i64::from(half_bits(dtype, b)) << 16;
                self.reg(Num::int(bits), Class::B32)
            }
            _ => {
                let parts = [self.half_reg(dtype, low), self.half_reg(dtype, high)];
                let args = parts.map(Num::Reg);
                self.emit.pure(Pure::Pack, Class::B32, &args, |_, dst| Op::Pack {
                    ty: Type::B32,
                    dst,
                    parts: parts.map(Operand::Reg).to_vec(),
                })
            }
        }
    }

    /// A half-precision element in a 16-bit register.
    pub(super) fn half_reg(&mut self, dtype: DType, num: Num) -> Reg {
        match num {
            Num::Float(bits) => {
                let own = half_bits(dtype, bits);
                self.moved(Num::int(own.into()), Class::B16, Operand::Int(own.into()))
            }
            _ => self.reg(num, Class::B16),
        }
    }

    /// A pure arithmetic instruction with the rounding that its type needs.
    pub(super) fn alu(&mut self, op: Alu, ty: Type, class: Class, args: &[Num]) -> Reg {
        let float = matches!(ty, Type::F32 | Type::F64 | Type::F16);
        let rounded = matches!(op, Alu::Add | Alu::Sub | Alu::Mul | Alu::Div | Alu::Fma | Alu::Sqrt | Alu::Rcp);
        let approx = matches!(op, Alu::Ex2 | Alu::Lg2 | Alu::Rsqrt);
        let rounding = (float && rounded).then_some(Rounding::Rn);
        let operand_class = if matches!(op, Alu::MulWide | Alu::MadWide) { Class::B32 } else { class };
        let operands: Vec<Operand> = args
            .iter()
            .enumerate()
            .map(|(i, &arg)| {
                let class = if op == Alu::MadWide && i == 2 { Class::B64 } else { operand_class };
                self.operand(arg, class)
            })
            .collect();
        self.emit.pure(Pure::Alu { op, rounding, approx, ty }, class, args, |_, dst| Op::Alu {
            op,
            rounding,
            approx,
            // Flushing tiny results saves the instructions around MUFU.EX2 that would keep them.
            ftz: op == Alu::Ex2,
            sat: false,
            ty,
            dst,
            args: operands,
        })
    }

    pub(super) fn setp(&mut self, compare: Compare, ty: Type, a: Num, b: Num) -> Reg {
        let class = match ty {
            Type::F32 => Class::F32,
            Type::F64 => Class::F64,
            Type::S64 | Type::U64 => Class::B64,
            _ => Class::B32,
        };
        // The first operand of setp is a register.
        let (left, right) = (Operand::Reg(self.reg(a, class)), self.operand(b, class));
        self.emit.pure(Pure::Setp { compare, ty }, Class::Pred, &[a, b], |_, dst| Op::Setp {
            compare,
            ftz: false,
            ty,
            dst,
            a: left,
            b: right,
            combine: None,
        })
    }

    pub(super) fn cvt(&mut self, to: Type, from: Type, rounding: Option<Rounding>, class: Class, src: Reg) -> Reg {
        self.emit.pure(Pure::Cvt { to, from, rounding }, class, &[Num::of(src)], |_, dst| Op::Cvt {
            rounding,
            ftz: false,
            sat: false,
            to,
            from,
            dst,
            src: Operand::Reg(src),
        })
    }

    /// `a op b` on one element.
    pub(super) fn binary(&mut self, op: BinaryOp, dtype: DType, a: Num, b: Num) -> Num {
        match dtype {
            DType::Bool => self.logic(op, a, b),
            DType::F16 | DType::BF16 => {
                let (a, b) = (self.widened(dtype, a), self.widened(dtype, b));
                let wide = self.binary(op, DType::F32, a, b);
                self.narrowed(dtype, wide)
            }
            DType::F32 | DType::F64 => Num::Reg(self.alu(alu_of(op, dtype), type_of(dtype), class_of(dtype), &[a, b])),
            _ => {
                let wide = self.integer(op, dtype, a, b);
                self.wrapped(dtype, wide)
            }
        }
    }

    fn logic(&mut self, op: BinaryOp, a: Num, b: Num) -> Num {
        match (op, a, b) {
            (BinaryOp::And, Num::Bool(true), x) | (BinaryOp::And, x, Num::Bool(true)) => x,
            (BinaryOp::And, Num::Bool(false), _) | (BinaryOp::And, _, Num::Bool(false)) => Num::Bool(false),
            (BinaryOp::Or, Num::Bool(false), x) | (BinaryOp::Or, x, Num::Bool(false)) => x,
            (BinaryOp::Or, Num::Bool(true), _) | (BinaryOp::Or, _, Num::Bool(true)) => Num::Bool(true),
            _ if a == b && op != BinaryOp::Xor => a,
            _ => Num::Reg(self.alu(alu_of(op, DType::Bool), Type::Pred, Class::Pred, &[a, b])),
        }
    }

    /// Integers: constants are folded and carried along as offsets.
    pub(super) fn integer(&mut self, op: BinaryOp, dtype: DType, a: Num, b: Num) -> Num {
        let (Num::Int { base: left, offset: c }, Num::Int { base: right, offset: d }) = (a, b) else {
            unreachable!("integers are kept as Num::Int")
        };
        match (op, left, right) {
            (_, None, None) => Num::int(fold(op, dtype, c, d)),
            (BinaryOp::Add, base, None) | (BinaryOp::Add, None, base) => Num::Int { base, offset: c.wrapping_add(d) },
            (BinaryOp::Sub, base, None) => Num::Int { base, offset: c.wrapping_sub(d) },
            (BinaryOp::Add, Some(x), Some(y)) => {
                let base = self.divided(Alu::Add, dtype, x, y, u32::min);
                Num::Int { base: Some(base), offset: c.wrapping_add(d) }
            }
            (BinaryOp::Sub, Some(x), Some(y)) => {
                let base = self.divided(Alu::Sub, dtype, x, y, u32::min);
                Num::Int { base: Some(base), offset: c.wrapping_sub(d) }
            }
            (BinaryOp::Mul, Some(x), None) => self.scaled(dtype, x, c, d),
            (BinaryOp::Mul, None, Some(y)) => self.scaled(dtype, y, d, c),
            (BinaryOp::Mul, Some(_), Some(_)) => {
                let (x, y) = (self.reg(a, class_of(dtype)), self.reg(b, class_of(dtype)));
                Num::base(self.divided(Alu::MulLo, dtype, x, y, |m, n| m.saturating_mul(n)))
            }
            (BinaryOp::Shl, Some(x), None) if (0..31).contains(&d) => self.scaled(dtype, x, c, 1 << d),
            _ => Num::base(self.alu(alu_of(op, dtype), integer_type(op, dtype), class_of(dtype), &[a, b])),
        }
    }

    fn divided(&mut self, op: Alu, dtype: DType, x: Reg, y: Reg, law: fn(u32, u32) -> u32) -> Reg {
        let reg = self.alu(op, type_of(dtype), class_of(dtype), &[Num::base(x), Num::base(y)]);
        let divisor = law(self.emit.divisor(x), self.emit.divisor(y));
        self.emit.set_divisor(reg, divisor);
        reg
    }

    /// (x + offset) * factor
    fn scaled(&mut self, dtype: DType, x: Reg, offset: i64, factor: i64) -> Num {
        let offset = offset.wrapping_mul(factor);
        match factor {
            0 => return Num::int(0),
            1 => return Num::Int { base: Some(x), offset },
            _ => {}
        }
        let (op, by) = match factor.count_ones() {
            1 if factor > 0 => (Alu::Shl, factor.trailing_zeros().into()),
            _ => (Alu::MulLo, factor),
        };
        let ty = if op == Alu::Shl { bits_of(class_of(dtype)) } else { type_of(dtype) };
        let base = self.alu(op, ty, class_of(dtype), &[Num::base(x), Num::int(by)]);
        let divisor = self.emit.divisor(x).saturating_mul(divisor_of_constant(factor));
        self.emit.set_divisor(base, divisor);
        Num::Int { base: Some(base), offset }
    }

    /// Narrow integers wrap around in their own width.
    fn wrapped(&mut self, dtype: DType, num: Num) -> Num {
        let own = match dtype {
            DType::I8 => Type::S8,
            DType::I16 => Type::S16,
            DType::U8 => Type::U8,
            DType::U16 => Type::U16,
            _ => return num,
        };
        if let Num::Int { base: None, offset } = num {
            return Num::int(wrap(dtype, offset));
        }
        let reg = self.reg(num, Class::B32);
        Num::base(self.cvt(type_of(dtype), own, None, Class::B32, reg))
    }

    pub(super) fn unary(&mut self, op: UnaryOp, dtype: DType, a: Num) -> Num {
        let class = class_of(dtype);
        match (op, dtype) {
            (UnaryOp::Not, DType::Bool) => match a {
                Num::Bool(value) => Num::Bool(!value),
                _ => Num::Reg(self.alu(Alu::Not, Type::Pred, class, &[a])),
            },
            (_, DType::F16 | DType::BF16) => {
                let wide = self.widened(dtype, a);
                let wide = self.unary(op, DType::F32, wide);
                self.narrowed(dtype, wide)
            }
            (UnaryOp::Neg, _) if dtype.is_integer() => {
                let negative = self.integer(BinaryOp::Sub, dtype, Num::int(0), a);
                self.wrapped(dtype, negative)
            }
            (UnaryOp::Abs, _) if dtype.is_integer() && !dtype.is_signed() => a,
            (UnaryOp::Not, _) => {
                let all = Num::int(-1);
                let flipped = self.integer(BinaryOp::Xor, dtype, a, all);
                self.wrapped(dtype, flipped)
            }
            _ => {
                let reg = self.alu(unary_alu(op), type_of(dtype), class, &[a]);
                Num::of(reg)
            }
        }
    }

    /// `a op b` as a truth value.
    pub(super) fn compare(&mut self, op: CompareOp, dtype: DType, a: Num, b: Num) -> Num {
        match dtype {
            DType::Bool => {
                let differ = self.logic(BinaryOp::Xor, a, b);
                if op == CompareOp::Ne { differ } else { self.unary(UnaryOp::Not, DType::Bool, differ) }
            }
            DType::F16 | DType::BF16 => {
                let (a, b) = (self.widened(dtype, a), self.widened(dtype, b));
                self.compare(op, DType::F32, a, b)
            }
            DType::F32 | DType::F64 => {
                // Numbers that have no order are unequal.
                let compare = if op == CompareOp::Ne { Compare::Neu } else { compare_of(op) };
                Num::Reg(self.setp(compare, type_of(dtype), a, b))
            }
            _ => self.compare_integers(op, dtype, a, b),
        }
    }

    /// Below a multiple of m are either all of m neighbours, the first a multiple of m as well, or none of them. So
    /// neighbours share one comparison, and an access to them one predicate.
    fn compare_integers(&mut self, op: CompareOp, dtype: DType, a: Num, b: Num) -> Num {
        let (Num::Int { base, offset }, Num::Int { base: bound, offset: limit }) = (a, b) else {
            unreachable!("integers are kept as Num::Int")
        };
        if base.is_none() && bound.is_none() {
            return Num::Bool(fold_compare(op, offset, limit));
        }
        let mut left = a;
        if matches!(op, CompareOp::Lt | CompareOp::Ge) {
            let divisor = base.map_or(1, |reg| self.emit.divisor(reg)).min(self.emit.divisor_of(b));
            left = Num::Int { base, offset: offset & -i64::from(divisor) };
        }
        Num::Reg(self.setp(compare_of(op), type_of(dtype), left, b))
    }

    /// `a` where the predicate holds, else `b`.
    pub(super) fn select(&mut self, dtype: DType, predicate: Num, a: Num, b: Num) -> Num {
        if let Num::Bool(value) = predicate {
            return if value { a } else { b };
        }
        if a == b {
            return a;
        }
        if dtype == DType::Bool {
            let negated = self.unary(UnaryOp::Not, DType::Bool, predicate);
            let (a, b) = (self.logic(BinaryOp::And, predicate, a), self.logic(BinaryOp::And, negated, b));
            return self.logic(BinaryOp::Or, a, b);
        }
        let class = class_of(dtype);
        let half = class == Class::B16;
        let [x, y] =
            [a, b].map(|num| if half { Operand::Reg(self.half_reg(dtype, num)) } else { self.operand(num, class) });
        let condition = self.reg(predicate, Class::Pred);
        let ty = bits_of(class);
        let reg = self.emit.pure(Pure::Selp { ty }, class, &[predicate, a, b], |_, dst| Op::Selp {
            ty,
            dst,
            a: x,
            b: y,
            predicate: condition,
        });
        Num::of(reg)
    }

    pub(super) fn fma(&mut self, dtype: DType, a: Num, b: Num, c: Num) -> Num {
        match dtype {
            DType::F16 => {
                let [a, b, c] = [a, b, c].map(|num| Num::Reg(self.half_reg(dtype, num)));
                Num::Reg(self.alu(Alu::Fma, Type::F16, Class::B16, &[a, b, c]))
            }
            DType::BF16 => {
                let [a, b, c] = [a, b, c].map(|num| self.widened(dtype, num));
                let wide = self.fma(DType::F32, a, b, c);
                self.narrowed(dtype, wide)
            }
            _ => Num::Reg(self.alu(Alu::Fma, type_of(dtype), class_of(dtype), &[a, b, c])),
        }
    }

    /// A half-precision element as `f32`.
    pub(super) fn widened(&mut self, dtype: DType, num: Num) -> Num {
        if let Num::Float(_) = num {
            return num;
        }
        if dtype == DType::F16 {
            let half = self.reg(num, Class::B16);
            return Num::Reg(self.cvt(Type::F32, Type::F16, None, Class::F32, half));
        }
        // The bits of a bf16 are the upper half of the same number's f32.
        let bits = match num {
            Num::Half { pack, high: true } => {
                self.alu(Alu::And, Type::B32, Class::B32, &[Num::base(pack), Num::int(0xffff_0000)])
            }
            Num::Half { pack, high: false } => {
                self.alu(Alu::Shl, Type::B32, Class::B32, &[Num::base(pack), Num::int(16)])
            }
            _ => {
                let half = self.reg(num, Class::B16);
                let low = self.cvt(Type::U32, Type::U16, None, Class::B32, half);
                self.alu(Alu::Shl, Type::B32, Class::B32, &[Num::base(low), Num::int(16)])
            }
        };
        Num::Reg(self.recast(bits, Class::F32))
    }

    /// An `f32` rounded to half precision.
    pub(super) fn narrowed(&mut self, dtype: DType, num: Num) -> Num {
        if let Num::Float(_) = num {
            return num;
        }
        let wide = self.reg(num, Class::F32);
        if dtype == DType::F16 {
            return Num::Reg(self.cvt(Type::F16, Type::F32, Some(Rounding::Rn), Class::B16, wide));
        }
        Num::Reg(self.rounded_to_bf16(wide))
    }

    /// Rounds to nearest even in integers, since chips before sm_80 have no instruction for it.
    fn rounded_to_bf16(&mut self, wide: Reg) -> Reg {
        let int = |reg| Num::base(reg);
        let bits = self.recast(wide, Class::B32);
        let upper = self.alu(Alu::Shr, Type::U32, Class::B32, &[int(bits), Num::int(16)]);
        let odd = self.alu(Alu::And, Type::B32, Class::B32, &[int(upper), Num::int(1)]);
        let up = self.alu(Alu::Add, Type::S32, Class::B32, &[int(odd), Num::int(0x7fff)]);
        let sum = self.alu(Alu::Add, Type::S32, Class::B32, &[int(bits), int(up)]);
        let rounded = self.alu(Alu::Shr, Type::U32, Class::B32, &[int(sum), Num::int(16)]);
        let nan = self.setp(Compare::Nan, Type::F32, Num::Reg(wide), Num::Reg(wide));
        let result = self.select(DType::I32, Num::Reg(nan), Num::int(0x7fff), int(rounded));
        let reg = self.reg(result, Class::B32);
        self.cvt(Type::U16, Type::U32, None, Class::B16, reg)
    }

    /// The same bits in a register of another class.
    pub(super) fn recast(&mut self, reg: Reg, class: Class) -> Reg {
        let ty = if matches!(class, Class::B64 | Class::F64) { Type::B64 } else { Type::B32 };
        self.emit.pure(Pure::Mov { ty }, class, &[Num::of(reg)], |_, dst| Op::Mov { ty, dst, src: Operand::Reg(reg) })
    }

    /// A conversion between element types.
    pub(super) fn cast(&mut self, from: DType, to: DType, num: Num) -> Num {
        if from == to {
            return num;
        }
        match (from, to) {
            (DType::Bool, _) => {
                let (one, zero) =
                    if to.is_float() { (Num::float(1.0), Num::float(0.0)) } else { (Num::int(1), Num::int(0)) };
                self.select(to, num, one, zero)
            }
            (_, DType::Bool) => {
                let zero = if from.is_float() { Num::float(0.0) } else { Num::int(0) };
                self.compare(CompareOp::Ne, from, num, zero)
            }
            (DType::F16 | DType::BF16, _) => {
                let wide = self.widened(from, num);
                self.cast(DType::F32, to, wide)
            }
            (DType::F32, DType::F16 | DType::BF16) => self.narrowed(to, num),
            (_, DType::BF16) => {
                let wide = self.cast(from, DType::F32, num);
                self.narrowed(to, wide)
            }
            _ if from.is_float() => self.cast_float(from, to, num),
            _ if to.is_float() => self.cast_to_float(from, to, num),
            _ => self.cast_integer(from, to, num),
        }
    }

    fn cast_float(&mut self, from: DType, to: DType, num: Num) -> Num {
        let wide = self.reg(num, class_of(from));
        let (narrower, integer) = (from == DType::F64 && to.is_float(), !to.is_float());
        let rounding = if integer { Some(Rounding::Rzi) } else { narrower.then_some(Rounding::Rn) };
        let reg = self.cvt(cvt_type(to), type_of(from), rounding, class_of(to), wide);
        Num::of(reg)
    }

    fn cast_to_float(&mut self, from: DType, to: DType, num: Num) -> Num {
        if let Num::Int { base: None, offset } = num {
            return Num::float(if from == DType::U64 { offset as u64 as f64 } else { offset as f64 });
        }
        let reg = self.reg(num, class_of(from));
        Num::Reg(self.cvt(type_of(to), type_of(from), Some(Rounding::Rn), class_of(to), reg))
    }

    fn cast_integer(&mut self, from: DType, to: DType, num: Num) -> Num {
        let Num::Int { base, offset } = num else { unreachable!("integers are kept as Num::Int") };
        let Some(reg) = base else { return Num::int(wrap(to, offset)) };
        let (narrow, wide) = (class_of(from), class_of(to));
        if narrow == wide {
            return self.wrapped(to, num);
        }
        let converted = if wide == Class::B64 {
            self.cvt(type_of(to), type_of(from), None, wide, reg)
        } else {
            self.cvt(Type::U32, Type::U64, None, wide, reg)
        };
        let divisor = self.emit.divisor(reg);
        self.emit.set_divisor(converted, divisor);
        self.wrapped(to, Num::Int { base: Some(converted), offset })
    }

    /// An address moved by a number of elements.
    pub(super) fn address(
        &mut self,
        op: BinaryOp,
        element: DType,
        pointer: Num,
        offset_type: DType,
        offset: Num,
    ) -> Num {
        let offset = if op == BinaryOp::Sub { self.unary(UnaryOp::Neg, offset_type, offset) } else { offset };
        let Num::Int { base, offset } = offset else { unreachable!("integers are kept as Num::Int") };
        let bytes = i64::from(element.bytes());
        let scaled = match base {
            None => Num::int(offset * bytes),
            Some(reg) if reg.class == Class::B64 => self.scaled(DType::I64, reg, offset, bytes),
            Some(reg) => return self.wide_address(pointer, offset_type, reg, offset, bytes),
        };
        self.integer(BinaryOp::Add, DType::I64, pointer, scaled)
    }

    fn wide_address(&mut self, pointer: Num, offset_type: DType, reg: Reg, offset: i64, bytes: i64) -> Num {
        let Num::Int { base, offset: own } = pointer else { unreachable!("addresses are kept as Num::Int") };
        let ty = if offset_type == DType::U32 { Type::U32 } else { Type::S32 };
        let (factor, start) = (Num::int(bytes), base.map_or(Num::int(0), Num::base));
        let moved = self.alu(Alu::MadWide, ty, Class::B64, &[Num::base(reg), factor, start]);
        let step = self.emit.divisor(reg).saturating_mul(bytes as u32);
        let divisor = base.map_or(step, |pointer| self.emit.divisor(pointer).min(step));
        self.emit.set_divisor(moved, divisor);
        Num::Int { base: Some(moved), offset: own + offset * bytes }
    }
}

fn half_bits(dtype: DType, bits: u64) -> u16 {
    let value = f64::from_bits(bits);
    if dtype == DType::F16 { half::f16::from_f64(value).to_bits() } else { half::bf16::from_f64(value).to_bits() }
}

fn alu_of(op: BinaryOp, dtype: DType) -> Alu {
    match op {
        BinaryOp::Add => Alu::Add,
        BinaryOp::Sub => Alu::Sub,
        BinaryOp::Mul if dtype.is_float() => Alu::Mul,
        BinaryOp::Mul => Alu::MulLo,
        BinaryOp::Div => Alu::Div,
        BinaryOp::Rem => Alu::Rem,
        BinaryOp::Min => Alu::Min,
        BinaryOp::Max => Alu::Max,
        BinaryOp::And => Alu::And,
        BinaryOp::Or => Alu::Or,
        BinaryOp::Xor => Alu::Xor,
        BinaryOp::Shl => Alu::Shl,
        BinaryOp::Shr => Alu::Shr,
    }
}

fn integer_type(op: BinaryOp, dtype: DType) -> Type {
    match op {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl => bits_of(class_of(dtype)),
        _ => type_of(dtype),
    }
}

fn unary_alu(op: UnaryOp) -> Alu {
    match op {
        UnaryOp::Neg => Alu::Neg,
        UnaryOp::Not => Alu::Not,
        UnaryOp::Abs => Alu::Abs,
        UnaryOp::Exp2 => Alu::Ex2,
        UnaryOp::Log2 => Alu::Lg2,
        UnaryOp::Sqrt => Alu::Sqrt,
        UnaryOp::Rsqrt => Alu::Rsqrt,
    }
}

fn compare_of(op: CompareOp) -> Compare {
    match op {
        CompareOp::Lt => Compare::Lt,
        CompareOp::Le => Compare::Le,
        CompareOp::Gt => Compare::Gt,
        CompareOp::Ge => Compare::Ge,
        CompareOp::Eq => Compare::Eq,
        CompareOp::Ne => Compare::Ne,
    }
}

/// The spelling of a type that `cvt` converts to: narrow integers saturate in their own width.
fn cvt_type(dtype: DType) -> Type {
    match dtype {
        DType::I8 => Type::S8,
        DType::I16 => Type::S16,
        DType::U8 => Type::U8,
        DType::U16 => Type::U16,
        _ => type_of(dtype),
    }
}

/// A constant in the range of its type.
pub(super) fn wrap(dtype: DType, value: i64) -> i64 {
    match dtype {
        DType::I8 => value as i8 as i64,
        DType::I16 => value as i16 as i64,
        DType::I32 => value as i32 as i64,
        DType::U8 => value as u8 as i64,
        DType::U16 => value as u16 as i64,
        DType::U32 => value as u32 as i64,
        _ => value,
    }
}

fn fold(op: BinaryOp, dtype: DType, a: i64, b: i64) -> i64 {
    let value = match op {
        BinaryOp::Add => a.wrapping_add(b),
        BinaryOp::Sub => a.wrapping_sub(b),
        BinaryOp::Mul => a.wrapping_mul(b),
        // What the hardware gives for a division by zero: all ones; and the dividend for its remainder.
        BinaryOp::Div => {
            if b == 0 {
                -1
            } else {
                a.wrapping_div(b)
            }
        }
        BinaryOp::Rem => {
            if b == 0 {
                a
            } else {
                a.wrapping_rem(b)
            }
        }
        BinaryOp::Min => a.min(b),
        BinaryOp::Max => a.max(b),
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::Shl => {
            if (0..64).contains(&b) {
                a << b
            } else {
                0
            }
        }
        BinaryOp::Shr => a >> b.clamp(0, 63),
    };
    wrap(dtype, value)
}

fn fold_compare(op: CompareOp, a: i64, b: i64) -> bool {
    match op {
        CompareOp::Lt => a < b,
        CompareOp::Le => a <= b,
        CompareOp::Gt => a > b,
        CompareOp::Ge => a >= b,
        CompareOp::Eq => a == b,
        CompareOp::Ne => a != b,
    }
}
