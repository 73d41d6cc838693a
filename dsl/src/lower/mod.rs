//! From tile IR to PTX: layouts become registers, lanes and addresses.
//!
//! Each value of the IR becomes what one thread holds of it: a vector of `Num`s, one for each register index of its
//! layout. Where two register indices hold the same element (a zero basis) the vector holds the same `Num` twice, so
//! nothing is computed twice. A thread's lane and warp enter only through linear maps of the thread's number
//! (`linear.rs`); everything else about a layout is decided here.
//!
//! There is one file for a family of operations; `Lowering::operation` is the only place that dispatches.

mod access;
mod apply;
mod assembly;
mod async_copy;
mod atomic;
mod axis;
mod bytes;
mod control;
mod convert;
mod emit;
mod exchange;
mod gather;
mod global;
mod histogram;
mod holders;
mod in_flight;
mod indexed;
mod lanes;
pub(crate) mod ldmatrix;
mod linear;
mod math;
mod message;
mod num;
mod product;
mod promise;
mod reduce;
mod rounds;
mod scalar;
mod scan;
mod shape;
mod shared;
mod spread;
mod warpgroup;
mod words;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use quadpair_layouts::Layout;
use thiserror::Error;

use self::emit::{Emitter, Pure};
use self::num::Num;
use self::scalar::class_of;
use crate::ir::{Function, Op, OpKind, Pointer, TileType, Value};
use crate::ptx::{self, Address, Entry, Module, Op as Ptx, Operand, Param, SharedArray, Space, Special, Type};
use crate::runtime::{Program, Target};

/// Why a kernel cannot be lowered for a target.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum LowerError {
    /// It needs more shared memory than a block can have.
    #[error("{kernel} needs {bytes} bytes of shared memory a block, sm_{sm} has {limit}")]
    SharedMemory {
        /// The kernel.
        kernel: String,
        /// Bytes it needs.
        bytes: u32,
        /// Bytes a block can have.
        limit: u32,
        /// The target.
        sm: u32,
    },
    /// It needs more threads than a block can have.
    #[error("{kernel} needs {threads} threads a block, sm_{sm} has {limit}")]
    Threads {
        /// The kernel.
        kernel: String,
        /// Threads it needs.
        threads: u32,
        /// Threads a block can have.
        limit: u32,
        /// The target.
        sm: u32,
    },
    /// It uses a matrix unit that the target lacks.
    #[error("{kernel} uses {unit}, which needs sm_{first_sm} or later; the target is sm_{sm}")]
    MatrixUnit {
        /// The kernel.
        kernel: String,
        /// The unit.
        unit: &'static str,
        /// The first target that has it.
        first_sm: u32,
        /// The target.
        sm: u32,
    },
    /// It uses a matrix unit that the target's version of PTX has no words for.
    #[error("{kernel} uses {unit}, which needs PTX {}.{}; the target is written in PTX {}.{}", .first.0, .first.1, .isa.0, .isa.1)]
    UnitVersion {
        /// The kernel.
        kernel: String,
        /// The unit.
        unit: &'static str,
        /// The first version that has it.
        first: (u32, u32),
        /// The target's version.
        isa: (u32, u32),
    },
    /// It multiplies on wgmma, which the target lacks.
    #[error("{at}: warpgroup_mma needs the target sm_90a and PTX 8.0; the target is {target}, written in PTX {}.{}", .isa.0, .isa.1)]
    Warpgroup {
        /// The author's line.
        at: String,
        /// The target.
        target: String,
        /// Its version of PTX.
        isa: (u32, u32),
    },
    /// It tells the caches what the target's PTX has no words for.
    #[error("{at}: how long the first-level cache keeps an access (`evict`) needs PTX 7.4; the target sm_{sm} is written in PTX {}.{}", .isa.0, .isa.1)]
    Eviction {
        /// The author's line.
        at: String,
        /// The target.
        sm: u32,
        /// Its version of PTX.
        isa: (u32, u32),
    },
    /// It copies asynchronously, which the target can't.
    #[error("{at}: an asynchronous copy needs sm_80 or later; the target is sm_{sm}; load the tile and store it there")]
    AsyncCopy {
        /// The author's line.
        at: String,
        /// The target.
        sm: u32,
    },
    /// It copies asynchronously what isn't known to lie side by side.
    #[error(
        "{at}: async_copy: 4, 8 or 16 bytes are copied at once, but a thread's elements of {dtype} ({bytes} bytes each) are not \
         known to lie side by side in global memory at a multiple of that, under one mask; promise it with `multiple_of`, \
         `max_contiguous` or `max_constancy`, or load the tile and store it"
    )]
    AsyncCopyWidth {
        /// The author's line.
        at: String,
        /// The element type.
        dtype: &'static str,
        /// Its bytes.
        bytes: u32,
    },
    /// An inline assembly that can't be read.
    #[error("{at}: inline assembly: {error}")]
    Assembly {
        /// The author's line.
        at: String,
        /// What the parser says.
        error: String,
    },
}

/// The symbol of the block's shared memory.
const SHARED: &str = "shared_memory";

/// Least alignment of shared-memory allocations, in bytes: that of the widest access.
const SHARED_ALIGN: u32 = 16;

/// Makes a program of a kernel.
///
/// # Errors
/// What the target lacks.
pub fn lower(instance: &str, function: &Function, target: Target) -> Result<Program, LowerError> {
    let threads = function.warps as u32 * 32;
    if threads > target.threads {
        let (kernel, limit, sm) = (instance.to_owned(), target.threads, target.sm);
        return Err(LowerError::Threads { kernel, threads, limit, sm });
    }
    let (mut divisors, mut apart) = (HashMap::new(), HashSet::new());
    loop {
        let mut lowering = Lowering::new(instance, function, target, divisors, apart);
        for op in &function.ops {
            lowering.emit.locate(op.at);
            lowering.operation(op)?;
        }
        if lowering.divisors_hold {
            return lowering.finish(threads);
        }
        (divisors, apart) = (lowering.divisors, lowering.carried_apart);
    }
}

/// What a thread holds of a value, by register index.
type Held = Rc<[Num]>;

struct Lowering<'f> {
    instance: &'f str,
    function: &'f Function,
    target: Target,
    emit: Emitter,
    values: Vec<Held>,
    params: Vec<Param>,
    /// How many blocks should fit a multiprocessor, if the kernel says.
    min_blocks: Option<u32>,
    /// Where each allocation starts, in bytes.
    allocations: HashMap<u32, u32>,
    next_free: u32,
    allocated: u32,
    /// Where the memory starts that each warp has for its own conversions, in bytes; it counts as allocated.
    warps_memory: u32,
    warps_memory_used: bool,
    plans: convert::Plans,
    /// The most bytes that a conversion or reduction needs for itself.
    scratch: u32,
    scratch_used: bool,
    messages: message::Messages,
    open: Vec<control::Bracket>,
    /// Where the function of elements begins that is being passed: it is lowered at its end.
    passed: Option<usize>,
    position: usize,
    /// What is taken to divide each carried value: at first whatever divides it before the loop. Where the loop breaks
    /// that, lowering begins again with what it keeps.
    divisors: HashMap<Value, u32>,
    divisors_hold: bool,
    /// Carried tiles of pointers that do not move together.
    carried_apart: HashSet<Value>,
    /// Registers that hold one byte of another, extended.
    bytes: HashMap<ptx::Reg, (ptx::Reg, i64)>,
    /// Registers that hold a multiple of a stride and something, and the multiples that were made.
    multiples: HashMap<ptx::Reg, scalar::Multiple>,
    /// The strides of those.
    strides: HashSet<ptx::Reg>,
    /// Registers that hold another one times a constant.
    scales: HashMap<ptx::Reg, (ptx::Reg, i64)>,
    made_multiples: HashMap<(ptx::Reg, ptx::Reg), BTreeSet<i64>>,
    /// What each inline assembly gives besides its first result.
    further_results: HashMap<Value, Vec<Held>>,
    /// Products on wgmma that are under way.
    in_flight: in_flight::InFlight,
    has_warpgroup_products: bool,
}

impl<'f> Lowering<'f> {
    fn new(
        instance: &'f str,
        function: &'f Function,
        target: Target,
        divisors: HashMap<Value, u32>,
        carried_apart: HashSet<Value>,
    ) -> Self {
        let (plans, warps_memory) = (convert::Plans::of(function), allocated_bytes(function));
        Lowering {
            instance,
            function,
            target,
            emit: Emitter::new(),
            values: Vec::new(),
            params: Vec::new(),
            min_blocks: None,
            allocations: HashMap::new(),
            next_free: 0,
            allocated: warps_memory + plans.warps_bytes(function),
            warps_memory,
            warps_memory_used: false,
            plans,
            scratch: 0,
            scratch_used: false,
            messages: message::Messages::default(),
            open: Vec::new(),
            passed: None,
            position: 0,
            divisors,
            divisors_hold: true,
            carried_apart,
            bytes: HashMap::new(),
            multiples: HashMap::new(),
            strides: HashSet::new(),
            scales: HashMap::new(),
            made_multiples: HashMap::new(),
            further_results: HashMap::new(),
            in_flight: in_flight::InFlight::default(),
            has_warpgroup_products: function.ops.iter().any(|op| matches!(op.kind, OpKind::WarpgroupMma(..))),
        }
    }

    fn operation(&mut self, op: &Op) -> Result<(), LowerError> {
        let ty = op.result.unwrap_or(TileType::scalar(crate::element::DType::Bool));
        self.settle(&op.kind);
        match op.kind {
            OpKind::Apply(_) => self.passed = Some(self.position),
            OpKind::EndApply => {
                let first = self.passed.take().expect("the verifier matches brackets");
                self.end_apply(first)?;
            }
            _ if self.passed.is_some() => {}
            OpKind::None => {}
            OpKind::Parameter { name, index } => self.parameter(name, index, &ty),
            OpKind::Integer(value) if ty.dtype == crate::element::DType::Bool => {
                self.define(vec![Num::Bool(value != 0)])
            }
            OpKind::Integer(value) => self.define(vec![Num::int(value)]),
            OpKind::Float(value) => self.define(vec![scalar::constant(ty.dtype, value)]),
            OpKind::ProgramId(axis) => self.special([Special::CtaidX, Special::CtaidY, Special::CtaidZ], axis),
            OpKind::NumPrograms(axis) => self.special([Special::NctaidX, Special::NctaidY, Special::NctaidZ], axis),
            OpKind::NumWarps => self.define(vec![Num::int(self.function.warps as i64)]),
            OpKind::Arange => self.arange(&ty),
            OpKind::Splat(a) | OpKind::Broadcast(a) => {
                let spread = self.spread(a, &ty);
                self.define(spread);
            }
            OpKind::Relabel(a) => self.values.push(Rc::clone(&self.values[a.index()])),
            OpKind::Join(a, b) => self.join(a, b, &ty),
            OpKind::Part(a, start) => self.part(a, start, &ty),
            OpKind::Half(a, which) => self.half_of_pairs(a, which, &ty),
            OpKind::UnpackFp4(a) => self.unpack_fp4(a, &ty),
            OpKind::MultipleOf(a, n) => self.multiple_of(a, n, &ty),
            OpKind::Runs { of, axis, length, rising } => self.runs(of, axis as usize, length as usize, rising, &ty),
            OpKind::Assume(condition) => self.assume(condition),
            OpKind::Unary(unary, a) => {
                let dtype = ty.dtype;
                self.map(&ty, [a], |own, [x]| own.unary(unary, dtype, x));
            }
            OpKind::Binary(binary, a, b) if ty.pointer != Pointer::No => {
                let offset = self.function.type_of(b).dtype;
                self.map(&ty, [a, b], |own, [x, y]| own.address(binary, ty.dtype, x, offset, y));
            }
            OpKind::Binary(binary, a, b) => self.map(&ty, [a, b], |own, [x, y]| own.binary(binary, ty.dtype, x, y)),
            OpKind::Compare(compare, a, b) => {
                let operand = self.function.type_of(a);
                let dtype = operand.stored();
                self.map(&ty, [a, b], |own, [x, y]| own.compare(compare, dtype, x, y));
            }
            OpKind::Select(c, a, b) => self.map(&ty, [c, a, b], |own, [p, x, y]| own.select(ty.dtype, p, x, y)),
            OpKind::Fma(a, b, c) => self.map(&ty, [a, b, c], |own, [x, y, z]| own.fma(ty.dtype, x, y, z)),
            OpKind::Cast(a) => self.cast_tile(a, &ty),
            OpKind::Bitcast(a) => {
                let from = self.function.type_of(a).dtype;
                self.map(&ty, [a], |own, [x]| own.bitcast(from, ty.dtype, x));
            }
            OpKind::Element(_) | OpKind::Give(_) => {
                unreachable!("the verifier keeps them inside functions of elements")
            }
            OpKind::Convert(a, _) => self.convert(a, &ty),
            OpKind::Load { pointer, mask, other, hint } => {
                let qualifiers = self.qualifiers(hint, op.at)?;
                self.load(pointer, mask, other, &ty, qualifiers);
            }
            OpKind::Store { pointer, value, mask, hint } => {
                let qualifiers = self.qualifiers(hint, op.at)?;
                self.store(pointer, value, mask, qualifiers);
            }
            OpKind::Atomic { atomic, pointer, args, mask } => self.atomic(atomic, pointer, args, mask),
            OpKind::Allocate(memory) => self.allocate(&memory),
            OpKind::SharedStore(memory, value) => self.shared_store(&memory, value),
            OpKind::SharedLoad(memory) => self.shared_load(&memory, &ty),
            OpKind::SharedGather(place) => self.shared_gather(&place, &ty),
            OpKind::SharedScatter(place, values) => self.shared_scatter(&place, values),
            OpKind::SharedAtomic { atomic, place, values, mask } => self.shared_atomic(atomic, &place, values, mask),
            OpKind::Gather { source, index, axis } => self.gather(source, index, axis as usize, &ty),
            OpKind::Histogram(a) => self.histogram(a, &ty),
            OpKind::Bound(index, extent) => self.bound(index, extent),
            OpKind::Barrier => self.barrier(),
            OpKind::AsyncCopy { memory, pointer, mask } => self.async_copy(&memory, pointer, mask, op.at)?,
            OpKind::BlocksAtOnce(blocks) => self.min_blocks = Some(blocks),
            OpKind::CommitGroup => self.commit_group(op.at)?,
            OpKind::WaitGroup(groups) => self.wait_group(groups, op.at)?,
            OpKind::Mma(a, b, c) => self.mma(a, b, c, &ty)?,
            OpKind::WarpgroupMma(a, b, c) => self.warpgroup_mma(a, &b, c, &ty, op.at)?,
            OpKind::Dot(a, b, c) => self.dot(a, b, c, &ty),
            OpKind::Asm(asm) => self.assembly(&asm, &ty, op.at)?,
            OpKind::AsmResult(first, position) => self.assembly_result(first, position),
            OpKind::Assert(condition, message) => self.assert(condition, message, op.at),
            OpKind::Print { name, args, count } => self.print(name, &args[..count as usize]),
            OpKind::For { lo, hi, step } => self.begin_for(lo, hi, step, &ty),
            OpKind::Carry(a) => self.carry(a),
            OpKind::Yield { carried, next } => self.yield_value(carried, next),
            OpKind::EndFor => self.end_for(),
            OpKind::If(condition) => self.begin_if(condition),
            OpKind::IfAny(condition) => self.begin_if_any(condition),
            OpKind::Else => self.begin_else(),
            OpKind::Merge(_, other) => self.merge(other, &ty),
            OpKind::EndIf => self.end_if(),
        }
        self.position += 1;
        Ok(())
    }

    fn define(&mut self, held: Vec<Num>) {
        self.values.push(held.into());
    }

    fn held(&self, value: Value) -> Held {
        Rc::clone(&self.values[value.index()])
    }

    fn scalar_of(&self, value: Value) -> Num {
        self.values[value.index()][0]
    }

    /// Applies a function to each element of operands that broadcast to the result.
    fn map<const N: usize>(
        &mut self,
        ty: &TileType,
        operands: [Value; N],
        mut function: impl FnMut(&mut Self, [Num; N]) -> Num,
    ) {
        let operands = operands.map(|value| self.spread(value, ty));
        let count = operands[0].len();
        let mut done: HashMap<[Num; N], Num> = HashMap::new();
        let held = (0..count)
            .map(|r| {
                let args: [Num; N] = std::array::from_fn(|i| operands[i][r]);
                match done.get(&args) {
                    Some(&num) => num,
                    None => {
                        let num = function(self, args);
                        done.insert(args, num);
                        num
                    }
                }
            })
            .collect();
        self.define(held);
    }

    /// A value's elements as a type of a larger shape, or of the same, wants them.
    fn spread(&self, value: Value, ty: &TileType) -> Vec<Num> {
        let held = &self.values[value.index()];
        match (&self.function.type_of(value).layout, &ty.layout) {
            (_, None) => held.to_vec(),
            (None, Some(to)) => vec![held[0]; to.registers()],
            (Some(from), Some(to)) if from.equals(to) => held.to_vec(),
            (Some(from), Some(to)) => spread_registers(from, to).into_iter().map(|r| held[r]).collect(),
        }
    }

    fn parameter(&mut self, name: &str, index: u32, ty: &TileType) {
        let symbol = format!("param_{index}_{name}");
        let (param, class) = match ty.dtype {
            _ if ty.is_pointer() => (Type::U64, ptx::Class::B64),
            // Truth values are passed as 0 or 1 in 32 bits.
            crate::element::DType::Bool => (Type::U32, ptx::Class::B32),
            dtype => (scalar::type_of(dtype), class_of(dtype)),
        };
        self.params.push(Param { name: symbol.clone(), ty: param });
        let reg = self.emit.pure(Pure::Parameter(index), class, &[], |_, dst| Ptx::Ld {
            space: Space::Param,
            qualifiers: Vec::new(),
            ty: param,
            dst: vec![dst],
            address: Address { base: Operand::Symbol(symbol), offset: 0 },
        });
        if ty.is_pointer() {
            self.emit.set_divisor(reg, ty.dtype.bytes());
        }
        let num = match ty.dtype {
            _ if ty.is_pointer() => Num::base(reg),
            crate::element::DType::Bool => {
                Num::Reg(self.setp(ptx::Compare::Ne, Type::U32, Num::base(reg), Num::int(0)))
            }
            _ => Num::of(reg),
        };
        self.define(vec![num]);
    }

    fn special(&mut self, axes: [Special; 3], axis: u32) {
        let num = self.emit.special(axes[axis as usize]);
        self.define(vec![num]);
    }

    fn finish(mut self, threads: u32) -> Result<Program, LowerError> {
        self.settle_all();
        self.emit.push(Ptx::Ret);
        let shared_bytes = self.allocated + self.scratch;
        let (sm, limit) = (self.target.sm, self.target.shared_bytes);
        if shared_bytes > limit {
            return Err(LowerError::SharedMemory { kernel: self.instance.to_owned(), bytes: shared_bytes, limit, sm });
        }
        let entry = self.function.name.to_owned();
        let align = alignment(self.function);
        let array = SharedArray { name: SHARED.to_owned(), align, bytes: 0, external: true };
        let body = self.emit.close();
        let module = Module {
            header: header(self.instance, self.function.name, threads, shared_bytes),
            version: self.target.isa,
            target: sm,
            specific: self.target.specific,
            files: self.emit.files,
            functions: self.messages.functions(),
            constants: self.messages.constants(),
            shared: if shared_bytes > 0 { vec![array] } else { Vec::new() },
            entries: vec![Entry {
                name: entry.clone(),
                params: self.params,
                max_threads: Some([threads, 1, 1]),
                min_blocks: self.min_blocks,
                registers: self.emit.counts,
                shared: Vec::new(),
                local: self.messages.local(),
                body,
            }],
        };
        let (name, ptx, target) = (self.instance.to_owned(), ptx::print(&module), self.target);
        Ok(Program { name, ptx, entry, threads, shared_bytes, target })
    }
}

fn header(instance: &str, kernel: &str, threads: u32, shared_bytes: u32) -> Vec<String> {
    vec![
        format!("instance: {instance}, of the quadpair kernel {kernel}"),
        format!("launch: threads={threads} shared={shared_bytes}"),
    ]
}

/// Bytes of all allocations, each aligned.
fn allocated_bytes(function: &Function) -> u32 {
    function.ops.iter().fold(0, |end, op| match op.kind {
        OpKind::Allocate(memory) => shared::placed(&memory, end).1,
        _ => end,
    })
}

/// What the block's shared memory must be aligned to, in bytes.
fn alignment(function: &Function) -> u32 {
    let alignments = function.ops.iter().map(|op| match op.kind {
        OpKind::Allocate(memory) => memory.layout.alignment(),
        _ => SHARED_ALIGN,
    });
    alignments.max().unwrap_or(SHARED_ALIGN)
}

/// For each register of a tile, the register of a broadcast one that holds its element.
fn spread_registers(from: &Layout, to: &Layout) -> Vec<usize> {
    let by_element: HashMap<u32, usize> = (0..from.registers()).rev().map(|r| (from.apply(r, 0, 0), r)).collect();
    (0..to.registers())
        .map(|r| {
            let element = project(to.apply(r, 0, 0), to, from);
            by_element.get(&element).copied().expect("the typing rules let only what a thread holds be broadcast")
        })
        .collect()
}

/// The element of a tile with extents of 1 that broadcasts to this element of another.
fn project(flat: u32, to: &Layout, from: &Layout) -> u32 {
    let (wide, narrow) = (to.shape(), from.shape());
    let offset = wide.rank() - narrow.rank();
    (0..narrow.rank()).fold(0, |element, dim| {
        let index = flat >> wide.shift(dim + offset) & (wide.extent(dim + offset) as u32 - 1);
        if narrow.extent(dim) == 1 { element } else { element | index << narrow.shift(dim) }
    })
}
