//! Numbers that lie at equal distances: a start plus a multiple of a stride that is known at run time only.
//!
//! The rows that a thread loads are its own first row plus constants, `(row + 16 i) * stride` from the matrix' start. If
//! each product were an instruction, each row would have a register of its own across the whole loop. Written as
//! `row * stride + 16 i * stride`, and with whatever is added later added to the first part, each address is the one
//! before plus `16 * stride`: one addition, and one register for all rows.

use crate::element::DType;
use crate::lower::Lowering;
use crate::lower::emit::{Pure, Pures};
use crate::lower::num::Num;
use crate::ptx::{Alu, Reg};

use super::class_of;
use super::integer::wrap_offset;

/// `base + times * stride`.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) struct Multiple {
    pub base: Reg,
    pub times: i64,
    pub stride: Reg,
}

impl Lowering<'_> {
    /// `(x + offset) * stride` as the product of x and a multiple of the stride.
    pub(super) fn product_of_sum(&mut self, dtype: DType, x: Reg, offset: i64, stride: Reg) -> Num {
        let base = self.divided(Alu::MulLo, dtype, x, stride, |m, n| m.saturating_mul(n));
        Num::base(self.multiple(dtype, Multiple { base, times: offset, stride }))
    }

    /// The sum of two registers, the multiple of a stride in either of them added last.
    pub(super) fn sum(&mut self, dtype: DType, x: Reg, y: Reg) -> Reg {
        for (multiple, scaled) in [(x, y), (y, x)] {
            let Some(&(stride, factor)) = self.scales.get(&scaled) else { continue };
            match self.multiples.get(&multiple) {
                Some(multiple) if multiple.stride == stride => {
                    return self.multiple(dtype, Multiple { times: multiple.times.wrapping_add(factor), ..*multiple });
                }
                None if self.strides.contains(&stride) => {
                    return self.multiple(dtype, Multiple { base: multiple, times: factor, stride });
                }
                _ => {}
            }
        }
        let (multiple, [x, y]) = match (self.multiples.get(&x), self.multiples.get(&y)) {
            (Some(&multiple), _) => (multiple, [multiple.base, y]),
            (_, Some(&multiple)) => (multiple, [x, multiple.base]),
            _ => return self.divided(Alu::Add, dtype, x, y, u32::min),
        };
        let base = self.sum(dtype, x, y);
        self.multiple(dtype, Multiple { base, ..multiple })
    }

    /// The same with a stride that is itself no multiple of another.
    fn normal(&self, multiple: Multiple) -> Multiple {
        match self.scales.get(&multiple.stride) {
            Some(&(stride, factor)) => Multiple { times: multiple.times.wrapping_mul(factor), stride, ..multiple },
            None => multiple,
        }
    }

    /// Notes that a register holds another one times a constant.
    pub(super) fn note_scale(&mut self, reg: Reg, x: Reg, factor: i64) {
        let (x, own) = self.scales.get(&x).copied().unwrap_or((x, 1));
        self.scales.insert(reg, (x, own.wrapping_mul(factor)));
    }

    /// A multiple of a stride and something, moved by a constant factor; none if the register isn't known to be one.
    pub(super) fn scaled_multiple(&mut self, dtype: DType, x: Reg, factor: i64) -> Option<Reg> {
        let Multiple { base, times, stride } = *self.multiples.get(&x)?;
        let [base, stride] = [base, stride].map(|reg| self.scaled(dtype, reg, 0, factor).register());
        Some(self.multiple(dtype, Multiple { base: base?, times, stride: stride? }))
    }

    /// The register that holds a start plus a multiple, made of the nearest smaller one that there is.
    pub(in crate::lower) fn multiple(&mut self, dtype: DType, wanted: Multiple) -> Reg {
        let mut wanted = self.normal(wanted);
        if let Some(inner) = self.multiples.get(&wanted.base)
            && inner.stride == wanted.stride
        {
            wanted = Multiple { times: inner.times.wrapping_add(wanted.times), ..*inner };
        }
        wanted.times = wrap_offset(dtype, wanted.times);
        if wanted.times == 0 {
            return wanted.base;
        }
        self.strides.insert(wanted.stride);
        let args = [Num::base(wanted.base), Num::base(wanted.stride)];
        let class = class_of(dtype);
        let made = self.made_multiples.get(&(wanted.base, wanted.stride)).into_iter();
        let mut smaller = made.flat_map(|made| made.range(0..=wanted.times.max(0)).rev());
        let visible = |times: &i64| Some((*times, self.emit.find(Pure::Multiple(*times), class, &args)?));
        let (near, from) = smaller.find_map(visible).unwrap_or((0, wanted.base));
        if near == wanted.times {
            return from;
        }
        // A shift of the stride is part of the addition; before the loop it would take a register.
        let before = self.emit.place(if self.emit.stays(&args) { Pures::Near } else { Pures::Out });
        let gap = self.scaled(dtype, wanted.stride, 0, wanted.times - near);
        self.emit.place(before);
        let Num::Int { base: Some(gap), .. } = gap else { unreachable!("a multiple of a register is in a register") };
        let reg = self.divided(Alu::Add, dtype, from, gap, u32::min);
        self.emit.known(Pure::Multiple(wanted.times), class, &args, reg);
        self.multiples.insert(reg, wanted);
        self.made_multiples.entry((wanted.base, wanted.stride)).or_default().insert(wanted.times);
        reg
    }
}
