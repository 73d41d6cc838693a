//! Products on Hopper's wgmma.
//!
//! The typing rule has planned the instructions; each wants a descriptor of memory, 64 bits with the address of its part
//! divided by 16. All of a view's descriptors are one number plus constants:
//!
//! ```text
//! shr.b32 r, shared_memory, 4;  cvt.u64.u32 base, r         once
//! add.s64 d, base, 0x4000004000010000 + 2                   k 16 to 31 of a view at the start: 32 bytes on
//! ```
//!
//! Sums stay where they are: an instruction adds to the registers that it reads. The accumulator's own registers are taken
//! if nothing asks for it later, else they are copied; one of zeros needs no registers, as the first instruction along k is
//! told not to add.
//!
//! wgmma reads memory behind the back of ordinary accesses (by the async proxy): in a kernel that multiplies so, each
//! thread makes its writes visible before every barrier.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::Location;

use quadpair_layouts::mma::{Descriptor, M16N8K16, Role, WarpgroupLeft, WarpgroupPlan};
use quadpair_layouts::{Layout, typing};

use super::emit::{Pure, Pures};
use super::in_flight::Group;
use super::linear::ThreadMap;
use super::num::Num;
use super::scalar::type_of;
use super::{LowerError, Lowering};
use crate::element::DType;
use crate::ir::{BinaryOp, Factor, Memory, OpKind, TileType, Value};
use crate::ptx::{Class, Op, Operand, Reg, Shuffle, Type, Wgmma, WgmmaLeft};

/// The target that has it, and the version of PTX.
const SM: u32 = 90;
const FIRST_ISA: (u32, u32) = (8, 0);

/// What makes a thread's writes to shared memory visible to wgmma.
const PROXY_FENCE: &str = "fence.proxy.async.shared::cta";

/// An address is divided by this in a descriptor.
const UNIT: i64 = 16;

/// An operand in memory: its descriptors are a number plus where an instruction's part begins.
struct Source {
    memory: Memory,
    base: Num,
}

/// The instructions' left operands: registers by number along m and step, or memory.
enum Left {
    Registers(HashMap<(usize, usize), Vec<Reg>>),
    Memory(Source, bool),
}

/// The registers of an accumulator by its elements, and whether there is anything in them to add to.
struct Sums {
    registers: HashMap<u32, Reg>,
    zero: bool,
}

impl Lowering<'_> {
    pub(super) fn warpgroup_mma(
        &mut self,
        a: Factor,
        b: &Memory,
        c: Value,
        ty: &TileType,
        at: &'static Location<'static>,
    ) -> Result<(), LowerError> {
        let target = self.target;
        if target.sm != SM || !target.specific || target.isa < FIRST_ISA {
            return Err(LowerError::Warpgroup { at: at.to_string(), target: target.name(), isa: target.isa });
        }
        let layout = ty.layout.expect("a product has a layout");
        let plan = self.warpgroup_plan(&a, b, &layout);
        let left = self.left(a, &plan, &layout);
        let right = self.source(b, &plan.b, &layout, 1);
        let sums = self.sums(c, &layout, plan.n);
        self.emit.push(Op::WgmmaFence);
        for (row, column) in (0..plan.repetitions[0]).flat_map(|r| (0..plan.repetitions[1]).map(move |c| (r, c))) {
            let d = instruction_sums(&plan, row, column, &layout, &sums);
            for step in 0..plan.steps {
                let a = self.left_of(&left, &plan, row, step);
                let b = self.descriptor(&right, [plan.depth(step), plan.column(column)]);
                let adds = self.reg(Num::Bool(step > 0 || !sums.zero), Class::Pred);
                let (n, d, ty) = (plan.n as u32, d.clone(), type_of(right.memory.dtype));
                self.emit.push(Op::Wgmma(Wgmma { n, ty, d, a, b, b_transposed: !plan.b.k_major, adds }));
            }
        }
        let memory = [Some(b.allocation), if let Factor::Memory(a) = a { Some(a.allocation) } else { None }];
        let group = Group {
            sums: sums.registers.values().copied().collect(),
            columns: plan.n,
            memory: memory.into_iter().flatten().collect(),
        };
        self.issued(group);
        self.define((0..layout.registers()).map(|r| Num::Reg(sums.registers[&layout.apply(r, 0, 0)])).collect());
        Ok(())
    }

    /// Makes a thread's writes visible to wgmma, where the kernel has it.
    pub(super) fn proxy_fence(&mut self) {
        if self.has_warpgroup_products {
            self.emit.push(Op::Fence { text: PROXY_FENCE.to_owned() });
        }
    }

    fn warpgroup_plan(&self, a: &Factor, b: &Memory, c: &Layout) -> WarpgroupPlan {
        let tile;
        let left = match a {
            Factor::Tile(a) => {
                tile = self.function.type_of(*a).layout.expect("typing lets only tiles be multiplied");
                WarpgroupLeft::Registers(&tile)
            }
            Factor::Memory(memory) => WarpgroupLeft::Memory(&memory.layout),
        };
        typing::warpgroup_mma(left, &b.layout, c).expect("typing has checked the product")
    }

    fn left(&mut self, a: Factor, plan: &WarpgroupPlan, c: &Layout) -> Left {
        match a {
            Factor::Memory(memory) => {
                let descriptor = plan.a.expect("the plan describes an operand in memory");
                Left::Memory(self.source(&memory, &descriptor, c, 0), !descriptor.k_major)
            }
            Factor::Tile(a) => {
                let numbers = (0..plan.repetitions[0]).flat_map(|row| (0..plan.steps).map(move |step| (row, step)));
                Left::Registers(
                    numbers.map(|(row, step)| ((row, step), self.fragment_of(a, plan, row, step))).collect(),
                )
            }
        }
    }

    /// An instruction's left operand in registers, two elements each.
    fn fragment_of(&mut self, a: Value, plan: &WarpgroupPlan, row: usize, step: usize) -> Vec<Reg> {
        let (ty, held) = (*self.function.type_of(a), self.held(a));
        let layout = ty.layout.expect("typing lets only tiles be multiplied");
        let registers = registers_of(&layout);
        let element = |i: usize| {
            let (m, k) = M16N8K16.element(Role::ARow, i, 0);
            held[registers[&layout.shape().flat(&[plan.row(row) + m, plan.depth(step) + k])]]
        };
        (0..M16N8K16.a[0].registers()).step_by(2).map(|i| self.pack(ty.dtype, element(i), element(i + 1))).collect()
    }

    fn left_of(&mut self, left: &Left, plan: &WarpgroupPlan, row: usize, step: usize) -> WgmmaLeft {
        match left {
            Left::Registers(registers) => WgmmaLeft::Registers(registers[&(row, step)].clone()),
            Left::Memory(source, transposed) => {
                let descriptor = self.descriptor(source, [plan.row(row), plan.depth(step)]);
                WgmmaLeft::Memory { descriptor, transposed: *transposed }
            }
        }
    }

    /// An operand in memory, of which each four warps have their part along dimension `along` of the accumulator.
    fn source(&mut self, memory: &Memory, descriptor: &Descriptor, c: &Layout, along: usize) -> Source {
        let window = self.window(memory);
        let warps = (0..c.warp_bits()).map(|bit| {
            // The first two bits tell the warps of an instruction apart.
            let place = if bit < 2 { 0 } else { c.shape().coordinate(c.warp_basis(bit), along) };
            let element = memory.layout.shape().flat(&if along == 0 { [place, 0] } else { [0, place] });
            window.move_by(element)
        });
        let map = ThreadMap::from_columns([0; 5].into_iter().chain(warps).collect());
        let mut start = window.start;
        if map.mask() != 0 {
            let own = self.linear(&map, 0);
            let own = self.uniform(own);
            start = self.integer(BinaryOp::Add, DType::U32, start, own);
        }
        // Register and constant are multiples of the unit, each for itself.
        let Num::Int { base: Some(base), offset } = start else { unreachable!("an address has a register") };
        let units = self.integer(BinaryOp::Shr, DType::U32, Num::base(base), Num::int(UNIT.ilog2().into()));
        let units = self.cast(DType::U32, DType::U64, units);
        let constant = descriptor.encode().cast_signed().wrapping_add(offset / UNIT);
        let base = self.integer(BinaryOp::Add, DType::U64, units, Num::int(constant));
        Source { memory: *memory, base }
    }

    /// A number that all lanes of a warp share, as the assembler sees that they do: descriptors are in registers of a warp.
    fn uniform(&mut self, num: Num) -> Num {
        let reg = self.reg(num, Class::B32);
        Num::base(self.emit.pure(Pure::Uniform, Class::B32, &[Num::base(reg)], |_, dst| Op::Shfl {
            mode: Shuffle::Index,
            dst,
            in_range: None,
            src: Operand::Reg(reg),
            lane: Operand::Int(0),
            clamp: Operand::Int(31),
            mask: Operand::Int(-1),
        }))
    }

    /// The descriptor of the part of an operand that begins at this element. Computed where it is used: before a loop each
    /// would hold two registers.
    fn descriptor(&mut self, source: &Source, first: [usize; 2]) -> Reg {
        let layout = &source.memory.layout;
        let bytes = layout.linear_offset(layout.shape().flat(&first)) * source.memory.dtype.bytes();
        let own = self.integer(BinaryOp::Add, DType::U64, source.base, Num::int(i64::from(bytes) / UNIT));
        let before = self.emit.place(Pures::Anew);
        let reg = self.reg(own, Class::B64);
        self.emit.place(before);
        reg
    }

    /// The accumulator in registers that may be written, by instructions of so many columns: its own, if it isn't needed
    /// any more.
    fn sums(&mut self, c: Value, layout: &Layout, columns: usize) -> Sums {
        let held = self.held(c);
        let numbers: BTreeMap<u32, Num> = registers_of(layout).into_iter().map(|(e, r)| (e, held[r])).collect();
        if numbers.values().all(|&num| num == Num::float(0.0)) {
            let registers = numbers.into_keys().map(|e| (e, self.emit.fresh(Class::F32))).collect();
            return Sums { registers, zero: true };
        }
        let own: HashSet<Reg> = numbers.values().filter_map(|num| num.register()).collect();
        let registers = if own.len() == numbers.len() && self.are_free(&own) {
            self.settle_unlike(&own, columns);
            self.emit.overwritten(&own);
            numbers.into_iter().filter_map(|(e, num)| Some((e, num.register()?))).collect()
        } else {
            self.settle_sums(&own);
            numbers.into_iter().map(|(e, num)| (e, self.copied(num))).collect()
        };
        Sums { registers, zero: false }
    }

    fn copied(&mut self, num: Num) -> Reg {
        let (dst, src) = (self.emit.fresh(Class::F32), self.operand(num, Class::F32));
        self.emit.push(Op::Mov { ty: Type::F32, dst, src });
        dst
    }

    /// Whether registers can be overwritten here: written in this block, and held by no value that is asked for later.
    fn are_free(&self, registers: &HashSet<Reg>) -> bool {
        let touched = |held: &[Num]| held.iter().any(|num| num.register().is_some_and(|reg| registers.contains(&reg)));
        let holders: HashSet<Value> =
            (0..self.values.len()).filter(|&v| touched(&self.values[v])).map(|v| Value(v as u32)).collect();
        let later = self.function.ops[self.position + 1..].iter().any(|op| match op.kind {
            // What was carried is written anew.
            OpKind::Yield { next, .. } => holders.contains(&next),
            kind => kind.operands().iter().any(|value| holders.contains(value)),
        });
        let further = self.further_results.values().flatten().any(|held| touched(held));
        !later && !further && registers.iter().all(|&reg| self.emit.is_innermost(reg))
    }
}

/// For each element that the first thread has, its register.
fn registers_of(layout: &Layout) -> HashMap<u32, usize> {
    (0..layout.registers()).rev().map(|r| (layout.apply(r, 0, 0), r)).collect()
}

/// The registers of an instruction's sums.
fn instruction_sums(plan: &WarpgroupPlan, row: usize, column: usize, layout: &Layout, sums: &Sums) -> Vec<Reg> {
    let atom = M16N8K16.c.registers();
    (0..plan.sums())
        .map(|i| {
            let (m, n) = M16N8K16.element(Role::C, i % atom, 0);
            let place = [plan.row(row) + m, plan.column(column) + i / atom * M16N8K16.n + n];
            sums.registers[&layout.shape().flat(&place)]
        })
        .collect()
}
