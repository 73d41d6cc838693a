//! Reductions along an axis: in the thread, then between lanes, then between warps.
//!
//! A thread first combines the registers that differ along the axis only. Lanes that hold other parts of the axis
//! exchange their partial results by butterfly shuffles, after which all of them have the result; warps exchange theirs
//! through shared memory. Bits that bring nothing new along the axis (duplicates) are skipped, so that nothing is counted
//! twice.

use std::collections::BTreeMap;

use quadpair_layouts::f2::Span;
use quadpair_layouts::{Layout, SharedLayout};

use super::Lowering;
use super::linear::ThreadMap;
use super::num::Num;
use super::scalar::class_of;
use crate::element::DType;
use crate::ir::{BinaryOp, ReduceOp, TileType, Value};
use crate::ptx::{Class, Op, Operand, Reg, Shuffle};

impl Lowering<'_> {
    pub(super) fn reduce(&mut self, op: ReduceOp, value: Value, axis: usize, ty: &TileType) {
        let from = self.function.type_of(value).layout.expect("typing lets only tiles be reduced");
        let to = from.slice(axis);
        let (op, dtype) = (binary_of(op), ty.dtype);
        let exchange = Exchange::along(&from, axis);
        let mut sums = self.within_thread(op, dtype, &from, axis, value);
        for &lane in &exchange.lanes {
            for sum in sums.values_mut() {
                let other = self.partner_of(dtype, *sum, 1 << lane);
                *sum = self.binary(op, dtype, *sum, other);
            }
        }
        let partial: Vec<Num> = (0..to.registers()).map(|r| sums[&to.apply(r, 0, 0)]).collect();
        let whole = exchange.warps.is_empty();
        let held = if whole { partial } else { self.between_warps(op, dtype, &to, &exchange.warps, &partial) };
        self.define(if ty.layout.is_none() { vec![held[0]] } else { held });
    }

    /// One partial result for each element of the result that the thread has a part of.
    fn within_thread(
        &mut self,
        op: BinaryOp,
        dtype: DType,
        from: &Layout,
        axis: usize,
        value: Value,
    ) -> BTreeMap<u32, Num> {
        let collapsed = from.collapse(axis);
        let mut groups: BTreeMap<u32, BTreeMap<u32, Num>> = BTreeMap::new();
        for (r, &num) in self.held(value).iter().enumerate() {
            groups.entry(collapsed.apply(r, 0, 0)).or_default().insert(from.apply(r, 0, 0), num);
        }
        let groups = groups.into_iter().map(|(element, parts)| (element, parts.into_values().collect()));
        groups.map(|(element, nums)| (element, self.tree(op, dtype, nums))).collect()
    }

    /// Combines neighbours, level by level: short chains, and an order that doesn't depend on the layout's history.
    fn tree(&mut self, op: BinaryOp, dtype: DType, mut nums: Vec<Num>) -> Num {
        while nums.len() > 1 {
            nums = nums
                .chunks(2)
                .map(|pair| match pair {
                    [a, b] => self.binary(op, dtype, *a, *b),
                    _ => pair[0],
                })
                .collect();
        }
        nums[0]
    }

    /// The same element's partial result in the lane whose number differs by a mask.
    fn partner_of(&mut self, dtype: DType, num: Num, mask: i64) -> Num {
        let class = class_of(dtype);
        if matches!(class, Class::B64 | Class::F64) {
            return self.wide_partner_of(class, num, mask);
        }
        let bits = match class {
            Class::B16 => self.pack(dtype, num, Num::float(0.0)),
            Class::F32 => {
                let reg = self.reg(num, class);
                self.recast(reg, Class::B32)
            }
            _ => self.reg(num, Class::B32),
        };
        let moved = self.shuffle(bits, mask);
        match class {
            Class::B16 => Num::Half { pack: moved, high: false },
            Class::F32 => Num::Reg(self.recast(moved, Class::F32)),
            _ => Num::base(moved),
        }
    }

    fn wide_partner_of(&mut self, class: Class, num: Num, mask: i64) -> Num {
        let reg = self.reg(num, class);
        let parts = [(); 2].map(|()| self.emit.fresh(Class::B32));
        let ty = crate::ptx::Type::B64;
        self.emit.push(Op::Unpack { ty, parts: parts.map(Some).to_vec(), src: Operand::Reg(reg) });
        let moved = parts.map(|part| Operand::Reg(self.shuffle(part, mask)));
        let dst = self.emit.fresh(class);
        self.emit.push(Op::Pack { ty, dst, parts: moved.to_vec() });
        Num::of(dst)
    }

    fn shuffle(&mut self, src: Reg, mask: i64) -> Reg {
        let dst = self.emit.fresh(Class::B32);
        self.emit.push(Op::Shfl {
            mode: Shuffle::Butterfly,
            dst,
            in_range: None,
            src: Operand::Reg(src),
            lane: Operand::Int(mask),
            clamp: Operand::Int(31),
            mask: Operand::Int(-1),
        });
        dst
    }

    /// Each warp writes its partial results, then every thread combines those of all warps along the axis.
    fn between_warps(&mut self, op: BinaryOp, dtype: DType, to: &Layout, warps: &[usize], partial: &[Num]) -> Vec<Num> {
        let layout = SharedLayout::flat(&to.shape());
        let copy_bytes = (layout.size() * dtype.bytes()).next_multiple_of(super::SHARED_ALIGN);
        let copies = 1 << warps.len();
        let mut window = self.scratch(dtype, layout, copy_bytes * copies);
        let first = window.start;
        let own = self.own_copy(to, warps, copy_bytes);
        window.start = self.integer(BinaryOp::Add, DType::U32, first, own);
        let along: u32 = warps.iter().map(|warp| 1 << warp).sum();
        let mask = self.threads_without(to.free_lanes() | (to.free_warps() & !along) << 5);
        self.store_to(&window, to, partial, mask);
        self.barrier();
        window.start = first;
        let mut sums = self.load_from(&window, to);
        for copy in 1..copies {
            window.start = self.integer(BinaryOp::Add, DType::U32, first, Num::int((copy * copy_bytes).into()));
            let others = self.load_from(&window, to);
            for (sum, other) in sums.iter_mut().zip(others) {
                *sum = self.binary(op, dtype, *sum, other);
            }
        }
        sums
    }

    /// How far into the scratch memory the warp's own partial results go.
    fn own_copy(&mut self, layout: &Layout, warps: &[usize], copy_bytes: u32) -> Num {
        let column = |bit: usize| warps.iter().position(|&warp| bit == warp + 5).map_or(0, |i| 1 << i);
        let columns = (0..5 + layout.warp_bits()).map(column).collect();
        let copy = self.linear(&ThreadMap::from_columns(columns), 0);
        self.integer(BinaryOp::Mul, DType::U32, copy, Num::int(copy_bytes.into()))
    }
}

/// The lane and warp bits that hold parts of the axis which no other bit before them holds.
struct Exchange {
    lanes: Vec<usize>,
    warps: Vec<usize>,
}

impl Exchange {
    fn along(layout: &Layout, axis: usize) -> Exchange {
        let off_axis = |basis: u32| {
            let shape = layout.shape();
            let along = (shape.extent(axis) as u32 - 1) << shape.shift(axis);
            basis & !along
        };
        let mut span = Span::new();
        for element in (0..layout.registers()).map(|r| layout.apply(r, 0, 0)).filter(|&e| off_axis(e) == 0) {
            span.insert(element, 0);
        }
        let mut new = |basis: u32| off_axis(basis) == 0 && span.insert(basis, 0);
        let lanes = (0..5).filter(|&i| new(layout.lane_basis(i))).collect();
        let warps = (0..layout.warp_bits()).filter(|&i| new(layout.warp_basis(i))).collect();
        Exchange { lanes, warps }
    }
}

fn binary_of(op: ReduceOp) -> BinaryOp {
    match op {
        ReduceOp::Sum => BinaryOp::Add,
        ReduceOp::Max => BinaryOp::Max,
        ReduceOp::Min => BinaryOp::Min,
    }
}
