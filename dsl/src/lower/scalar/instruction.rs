//! The instructions that elements are computed with, each pure: numbered by what it computes, with the modifiers that its
//! type needs.

use crate::lower::Lowering;
use crate::lower::emit::Pure;
use crate::lower::num::Num;
use crate::ptx::{Alu, Class, Compare, Op, Operand, Reg, Rounding, Type};

impl Lowering<'_> {
    /// A pure arithmetic instruction with the rounding that its type needs.
    pub(in crate::lower) fn alu(&mut self, op: Alu, ty: Type, class: Class, args: &[Num]) -> Reg {
        let float = matches!(ty, Type::F32 | Type::F64 | Type::F16);
        let rounded = matches!(op, Alu::Add | Alu::Sub | Alu::Mul | Alu::Div | Alu::Fma | Alu::Sqrt | Alu::Rcp);
        let rounding = (float && rounded).then_some(Rounding::Rn);
        self.modified(op, rounding, false, ty, class, args)
    }

    /// An instruction on `f32` that is fast and not rounded correctly.
    pub(in crate::lower) fn fast(&mut self, op: Alu, args: &[Num]) -> Reg {
        self.modified(op, None, true, Type::F32, Class::F32, args)
    }

    fn modified(
        &mut self,
        op: Alu,
        rounding: Option<Rounding>,
        approx: bool,
        ty: Type,
        class: Class,
        args: &[Num],
    ) -> Reg {
        let operand_class = if matches!(op, Alu::MulWide | Alu::MadWide) { Class::B32 } else { class };
        let operands: Vec<Operand> = args
            .iter()
            .enumerate()
            .map(|(i, &arg)| {
                let class = match op {
                    Alu::MadWide if i == 2 => Class::B64,
                    // Distances have 32 bits.
                    Alu::Shl | Alu::Shr if i == 1 => Class::B32,
                    _ => operand_class,
                };
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

    pub(in crate::lower) fn setp(&mut self, compare: Compare, ty: Type, a: Num, b: Num) -> Reg {
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

    pub(in crate::lower) fn cvt(
        &mut self,
        to: Type,
        from: Type,
        rounding: Option<Rounding>,
        class: Class,
        src: Reg,
    ) -> Reg {
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

    /// The same bits in a register of another class.
    pub(in crate::lower) fn recast(&mut self, reg: Reg, class: Class) -> Reg {
        let ty = if matches!(class, Class::B64 | Class::F64) { Type::B64 } else { Type::B32 };
        self.emit.pure(Pure::Mov { ty }, class, &[Num::of(reg)], |_, dst| Op::Mov { ty, dst, src: Operand::Reg(reg) })
    }
}
