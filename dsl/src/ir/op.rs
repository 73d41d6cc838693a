//! Operations, values and their types. Everything is `Copy` and can be built in a `const`.

use core::panic::Location;

use quadpair_layouts::{Bound, Layout, SharedLayout};

use super::cache::Hint;
use super::memory::Atomic;
use crate::element::DType;

/// The most tiles that one inline assembly or print takes.
pub const MAX_ASM_ARGS: usize = 8;

/// The most results that one inline assembly has.
pub const MAX_ASM_RESULTS: usize = 4;

/// A value, by number, in the order of definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub(crate) u32);

impl Value {
    /// Its number.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whether elements are addresses, and of what kind of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pointer {
    /// Plain elements.
    No,
    /// Addresses of elements that may be read.
    Read,
    /// Addresses of elements that may be read and written.
    Write,
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TileType {
    /// The element type, or what the addresses point to.
    pub dtype: DType,
    /// Whether the elements are addresses.
    pub pointer: Pointer,
    /// Where each element lives; `None` for a scalar, which every thread has.
    pub layout: Option<Layout>,
}

impl TileType {
    /// A scalar's type.
    pub const fn scalar(dtype: DType) -> Self {
        TileType { dtype, pointer: Pointer::No, layout: None }
    }

    /// A tile's type.
    pub const fn tile(dtype: DType, layout: Layout) -> Self {
        TileType { dtype, pointer: Pointer::No, layout: Some(layout) }
    }

    /// The same elements in another layout.
    pub const fn with_layout(self, layout: Option<Layout>) -> Self {
        TileType { layout, ..self }
    }

    /// The same layout with other elements.
    pub const fn with_dtype(self, dtype: DType) -> Self {
        TileType { dtype, pointer: Pointer::No, layout: self.layout }
    }

    /// The element type of what registers hold: addresses are integers.
    pub const fn stored(&self) -> DType {
        if self.is_pointer() { DType::U64 } else { self.dtype }
    }

    /// Whether the elements are addresses.
    pub const fn is_pointer(&self) -> bool {
        !matches!(self.pointer, Pointer::No)
    }
}

/// A view of a shared-memory allocation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Memory {
    /// Which allocation.
    pub allocation: u32,
    /// Element type.
    pub dtype: DType,
    /// Where each element of the view lies, in elements from the start of the allocation.
    pub layout: SharedLayout,
    /// Elements added at run time.
    pub offset: Option<Value>,
}

/// Where elements of shared memory lie that run-time indices name: along one axis the index, along the others the place
/// in the tile of indices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Indexed {
    /// The view.
    pub memory: Memory,
    /// The indices.
    pub index: Value,
    /// The axis.
    pub axis: u32,
}

/// The left operand of a product on wgmma.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Factor {
    /// A tile in registers.
    Tile(Value),
    /// A view of shared memory.
    Memory(Memory),
}

/// Elementwise operations on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum UnaryOp {
    Neg,
    Not,
    Abs,
    Exp,
    Exp2,
    Log,
    Log2,
    Sin,
    Cos,
    Tanh,
    Erf,
    /// Fast.
    Sqrt,
    /// Rounded correctly.
    SqrtRn,
    Rsqrt,
    Floor,
    Ceil,
    Trunc,
    /// To the nearest integer, ties to the even one.
    Round,
}

/// Elementwise operations on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    /// The upper half of the product of two integers.
    MulHi,
    Div,
    /// A quotient of floats that may be off by two units in the last place.
    FastDiv,
    Rem,
    /// A number rather than NaN.
    Min,
    /// A number rather than NaN.
    Max,
    /// NaN rather than a number.
    MinNan,
    /// NaN rather than a number.
    MaxNan,
    And,
    Or,
    Xor,
    Shl,
    Shr,
}

/// Elementwise comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CompareOp {
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
}

/// What a function of elements is applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Apply {
    /// To each element, or to elements side by side.
    Map,
    /// To neighbours along an axis until one is left, which the results lack.
    Reduce {
        /// The axis.
        axis: u32,
        /// Whether neighbours may be exchanged; else the order along the axis is kept.
        commutative: bool,
    },
    /// To what comes before each element along an axis, and the element.
    Scan {
        /// The axis.
        axis: u32,
        /// Whether the last element comes first.
        reverse: bool,
    },
}

/// Inline assembly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Asm {
    /// The text; `$0`.. are the results' registers, then the operands'.
    pub text: &'static str,
    /// Operands; unused places repeat the first.
    pub args: [Value; MAX_ASM_ARGS],
    /// How many operands.
    pub arg_count: u32,
    /// Element types of the results; unused places repeat the first.
    pub results: [DType; MAX_ASM_RESULTS],
    /// How many results.
    pub result_count: u32,
    /// Elements a call.
    pub pack: u32,
    /// Whether it has no effect but its results.
    pub pure: bool,
}

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum OpKind {
    /// Nothing: a place not yet written.
    None,
    /// A run-time argument of the kernel, by position.
    Parameter {
        /// Its name.
        name: &'static str,
        /// Its position.
        index: u32,
    },
    /// An integer or `bool` scalar known at compile time.
    Integer(i64),
    /// A floating-point scalar known at compile time.
    Float(f64),
    /// The block's number along an axis of the grid.
    ProgramId(u32),
    /// The grid's extent along an axis.
    NumPrograms(u32),
    /// Warps of a block.
    NumWarps,
    /// 0, 1, 2, … along the tile.
    Arange,
    /// A scalar in every element.
    Splat(Value),
    /// Elementwise, one operand.
    Unary(UnaryOp, Value),
    /// Elementwise, two operands; scalars and extents of 1 broadcast.
    Binary(BinaryOp, Value, Value),
    /// Elementwise comparison; scalars and extents of 1 broadcast.
    Compare(CompareOp, Value, Value),
    /// The second where the first holds, else the third.
    Select(Value, Value, Value),
    /// a * b + c, rounded once.
    Fma(Value, Value, Value),
    /// Elementwise conversion to the result's element type.
    Cast(Value),
    /// The same bits as the result's element type, which has the same width.
    Bitcast(Value),
    /// A promise: the scalar, or the address in elements, is a multiple of the number.
    MultipleOf(Value, u32),
    /// A promise: along an axis the elements of runs of this length are the same, or each is one more than the last.
    Runs {
        /// The elements.
        of: Value,
        /// The axis.
        axis: u32,
        /// Elements of a run, a power of two.
        length: u32,
        /// Whether they rise.
        rising: bool,
    },
    /// A promise: the condition holds, in every element.
    Assume(Value),
    /// Reads global memory; where the mask does not hold, gives the other value and reads nothing.
    Load {
        /// Addresses.
        pointer: Value,
        /// Where to read.
        mask: Option<Value>,
        /// What to give elsewhere.
        other: Option<Value>,
        /// What it tells the caches.
        hint: Hint,
    },
    /// Writes global memory where the mask holds.
    Store {
        /// Addresses.
        pointer: Value,
        /// Elements.
        value: Value,
        /// Where to write.
        mask: Option<Value>,
        /// What it tells the caches.
        hint: Hint,
    },
    /// Reads or changes elements of global memory where the mask holds, each once; gives what was there, 0 elsewhere.
    Atomic {
        /// What it does, in which order and for whom.
        atomic: Atomic,
        /// Addresses.
        pointer: Value,
        /// Operands: none of a load, two of a compare-exchange.
        args: [Option<Value>; 2],
        /// Where to do it.
        mask: Option<Value>,
    },
    /// The same registers under other coordinates: reshape, permute, expand_dims.
    Relabel(Value),
    /// Two tiles as one of pairs, which are the new last dimension.
    Join(Value, Value),
    /// The first or second element of each pair.
    Half(Value, u32),
    /// A part of a tile, which begins at this element.
    Part(Value, u32),
    /// The two numbers of 4 bits in each byte.
    UnpackFp4(Value),
    /// Extents of 1 grown to the result's.
    Broadcast(Value),
    /// Opens a function of elements.
    Apply(Apply),
    /// A tile that the function just opened is applied to; the result is an element of it, a scalar. A function that
    /// combines has them twice: all of the left side, then all of the right side.
    Element(Value),
    /// What the function gives, a scalar; the result is the tile of all that it gives.
    Give(Value),
    /// Closes a function.
    EndApply,
    /// The same tile in the result's layout, at a cost within the bound.
    Convert(Value, Bound),
    /// Makes shared memory.
    Allocate(Memory),
    /// Writes a tile to shared memory.
    SharedStore(Memory, Value),
    /// Reads a tile from shared memory.
    SharedLoad(Memory),
    /// Begins to copy from global to shared memory; where the mask does not hold, zeros.
    AsyncCopy {
        /// Where to.
        memory: Memory,
        /// Addresses.
        pointer: Value,
        /// Where to read.
        mask: Option<Value>,
    },
    /// Asks for room for so many blocks in a multiprocessor.
    BlocksAtOnce(u32),
    /// Makes a group of the copies that the thread began since the last.
    CommitGroup,
    /// Waits until all of the thread's groups are done but its last ones.
    WaitGroup(u32),
    /// Reads the elements of shared memory that the indices name.
    SharedGather(Indexed),
    /// Writes a tile to the places of shared memory that the indices name.
    SharedScatter(Indexed, Value),
    /// Changes elements of shared memory where the mask holds, each once; gives what was there, 0 elsewhere.
    SharedAtomic {
        /// What it does.
        atomic: Atomic,
        /// Where.
        place: Indexed,
        /// Operands.
        values: Value,
        /// Where to do it.
        mask: Option<Value>,
    },
    /// Elements of a tile that the indices name.
    Gather {
        /// The tile.
        source: Value,
        /// The indices.
        index: Value,
        /// The axis.
        axis: u32,
    },
    /// How many elements have each value.
    Histogram(Value),
    /// The scalar is an index below the number.
    Bound(Value, u32),
    /// Waits until every thread of the block is here and its shared-memory accesses are done.
    Barrier,
    /// a b + c on the matrix unit.
    Mma(Value, Value, Value),
    /// a b + c on wgmma; b is in shared memory.
    WarpgroupMma(Factor, Memory, Value),
    /// a b + c with fused multiply-adds.
    Dot(Value, Value, Value),
    /// Inline assembly over packs of elements; its value is the first result.
    Asm(Asm),
    /// Another result of the inline assembly that gave this value, by its position.
    AsmResult(Value, u32),
    /// Prints each element of tiles that broadcast, once, with its place.
    Print {
        /// What the author calls it.
        name: &'static str,
        /// Tiles; unused places repeat the first.
        args: [Value; MAX_ASM_ARGS],
        /// How many tiles.
        count: u32,
    },
    /// Stops the kernel where the scalar or any element is false.
    Assert(Value, &'static str),
    /// Opens a loop over lo, lo + step, … below hi; the result is the index.
    For {
        /// First index.
        lo: Value,
        /// Bound, excluded.
        hi: Value,
        /// Step, positive.
        step: Value,
    },
    /// Brings a value into the loop just opened; the result is its name inside.
    Carry(Value),
    /// Ends an iteration's value; the result is the value after the loop.
    Yield {
        /// The [`OpKind::Carry`]'s result.
        carried: Value,
        /// Its value for the next iteration.
        next: Value,
    },
    /// Closes a loop.
    EndFor,
    /// Opens a branch on a scalar.
    If(Value),
    /// Opens a branch that each warp takes if any element of the tile that it has is true.
    IfAny(Value),
    /// The other side of the branch.
    Else,
    /// The first after the true side, the second after the other.
    Merge(Value, Value),
    /// Closes a branch.
    EndIf,
}

impl OpKind {
    /// The author's name of an operation for which all warps of a block must come together. A reduction or a scan may be
    /// one too: its layout tells.
    pub const fn meets_other_warps(&self) -> Option<&'static str> {
        match self {
            OpKind::Barrier => Some("barrier"),
            OpKind::Convert(_, Bound::Any) => Some("convert_layout"),
            OpKind::Gather { .. } => Some("gather"),
            OpKind::Histogram(_) => Some("histogram"),
            OpKind::WarpgroupMma(..) => Some("warpgroup_mma"),
            _ => None,
        }
    }
}

/// An operation: what it does, what it gives and where it was written.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// What it does.
    pub kind: OpKind,
    /// The type of its result; results are numbered in order.
    pub result: Option<TileType>,
    /// The author's line.
    pub at: &'static Location<'static>,
}

impl Op {
    /// A place for an operation.
    pub const NONE: Op = Op { kind: OpKind::None, result: None, at: Location::caller() };
}
