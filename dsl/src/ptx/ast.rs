//! PTX as data: what a module, a kernel and an instruction are.
//!
//! Only [`print`](super::print) writes PTX text and only [`parse`](super::parse) reads it; everything between them, the
//! lowering included, handles these types. Registers have no names: a [`Reg`] is a class and a number in that class,
//! and the printer writes `%r7` for number 7 of class [`Class::B32`]. Reading another compiler's text therefore renames
//! its registers, and `parse(print(m)) == m` for every module.
//!
//! Instructions of one shape share a variant: [`Op::Alu`] is every instruction that turns one to three operands of one
//! type into one register, with its modifiers beside it.

use super::promise::Promise;

/// A PTX module: what one `.ptx` file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// Comment lines that open the file, without the `//`.
    pub header: Vec<String>,
    /// ISA version, such as `(6, 4)`.
    pub version: (u32, u32),
    /// Target architecture: 70 for `sm_70`.
    pub target: u32,
    /// Whether the target is `sm_90a` rather than `sm_90`: what only this architecture has.
    pub specific: bool,
    /// Source files; `.loc` names them by position, from 1.
    pub files: Vec<String>,
    /// Functions that the driver brings, such as `vprintf`.
    pub functions: Vec<Function>,
    /// Bytes in global memory that don't change.
    pub constants: Vec<Constant>,
    /// Shared arrays declared outside the kernels.
    pub shared: Vec<SharedArray>,
    /// The kernels.
    pub entries: Vec<Entry>,
}

/// A function declared `.extern .func`.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// The symbol.
    pub name: String,
    /// What it gives.
    pub result: Option<Type>,
    /// What it takes.
    pub params: Vec<Type>,
}

/// Bytes declared `.global` with their values, such as the text of a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Constant {
    /// The symbol.
    pub name: String,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// A `.local` array: each thread has its own.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalArray {
    /// The symbol.
    pub name: String,
    /// Alignment in bytes.
    pub align: u32,
    /// Size in bytes.
    pub bytes: u32,
}

/// A `.shared` array. An external one has no size of its own: the launch gives it.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedArray {
    /// The symbol.
    pub name: String,
    /// Alignment in bytes.
    pub align: u32,
    /// Size in bytes; 0 for an external array.
    pub bytes: u32,
    /// Whether it is `.extern`: dynamic shared memory.
    pub external: bool,
}

/// A kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The symbol.
    pub name: String,
    /// Parameters, in order.
    pub params: Vec<Param>,
    /// `.maxntid`: the most threads a block has.
    pub max_threads: Option<[u32; 3]>,
    /// `.minnctapersm`: how many blocks should fit a multiprocessor.
    pub min_blocks: Option<u32>,
    /// How many registers each class has, in the order of [`Class::ALL`].
    pub registers: [u32; 6],
    /// Shared arrays declared inside.
    pub shared: Vec<SharedArray>,
    /// Memory of each thread.
    pub local: Vec<LocalArray>,
    /// The statements.
    pub body: Vec<Statement>,
}

/// A kernel parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// The symbol.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// A register class: what a register can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// A predicate, `%p`.
    Pred,
    /// 16 bits, `%h`.
    B16,
    /// 32 bits, `%r`.
    B32,
    /// 64 bits, `%rd`.
    B64,
    /// A float of 32 bits, `%f`.
    F32,
    /// A float of 64 bits, `%fd`.
    F64,
}

impl Class {
    /// Every class, in the order of [`Entry::registers`].
    pub const ALL: [Class; 6] = [Class::Pred, Class::B16, Class::B32, Class::B64, Class::F32, Class::F64];
}

/// A virtual register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg {
    /// What it holds.
    pub class: Class,
    /// Its number in the class.
    pub index: u32,
}

/// An operand type, as instructions spell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Type {
    Pred,
    B8,
    B16,
    B32,
    B64,
    U8,
    U16,
    U32,
    U64,
    S8,
    S16,
    S32,
    S64,
    F16,
    F16x2,
    BF16,
    BF16x2,
    F32,
    F64,
}

/// A source operand.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// An integer.
    Int(i64),
    /// The bits of a 32-bit float, printed `0f3F800000`.
    F32(u32),
    /// The bits of a 64-bit float, printed `0d...`.
    F64(u64),
    /// A special register.
    Special(Special),
    /// The address of a symbol in its own space.
    Symbol(String),
}

/// Special registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Special {
    TidX,
    TidY,
    TidZ,
    NtidX,
    NtidY,
    NtidZ,
    CtaidX,
    CtaidY,
    CtaidZ,
    NctaidX,
    NctaidY,
    NctaidZ,
    LaneId,
    WarpId,
    LaneMaskLt,
    LaneMaskLe,
    LaneMaskGt,
    LaneMaskGe,
    LaneMaskEq,
    Clock,
}

/// An address: a base and a byte offset, `[%rd4+16]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Address {
    /// A register or a symbol (or an absolute integer).
    pub base: Operand,
    /// Bytes added.
    pub offset: i64,
}

/// State spaces of memory instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Space {
    Generic,
    Global,
    Shared,
    Param,
    Local,
    Const,
}

/// Rounding modes, floating and integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Rounding {
    Rn,
    Rz,
    Rm,
    Rp,
    Rni,
    Rzi,
    Rmi,
    Rpi,
}

/// What an [`Op::Alu`] computes. Comments give the operand count where it isn't plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Alu {
    Add,
    Sub,
    /// `mul` without `.lo`/`.hi`/`.wide`: floats.
    Mul,
    MulLo,
    MulHi,
    /// The result has twice the width of the type.
    MulWide,
    MadLo,
    MadHi,
    /// The third operand and the result have twice the width.
    MadWide,
    Fma,
    Div,
    Rem,
    Min,
    Max,
    Neg,
    Abs,
    Not,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    /// `shf.l.wrap.b32`: funnel shift of three operands.
    ShfL,
    /// `shf.r.wrap.b32`.
    ShfR,
    /// Three operands and the lookup table as an integer.
    Lop3,
    /// Byte permutation.
    Prmt,
    /// `bfe`: bit field extract (value, position, length).
    Bfe,
    /// `bfi`: bit field insert (from, into, position, length).
    Bfi,
    Popc,
    Clz,
    Brev,
    Ex2,
    Lg2,
    Rcp,
    Sqrt,
    Rsqrt,
    Sin,
    Cos,
    Tanh,
}

/// Comparisons of `setp`. The `U` forms are true for unordered floats as well; `Lo`, `Ls`, `Hi`, `Hs` are spelt as
/// `Lt`.. with an unsigned type by our printer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Equ,
    Neu,
    Ltu,
    Leu,
    Gtu,
    Geu,
    Num,
    Nan,
}

/// Shuffle modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Shuffle {
    Up,
    Down,
    Butterfly,
    Index,
}

/// Vote modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Vote {
    Any,
    All,
    Uni,
    Ballot,
}

/// Read-modify-write operations of `atom` and `red`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Atomic {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exch,
    /// Compare and swap: two operands.
    Cas,
}

/// A branch target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label(pub u32);

/// The predicate before an instruction: `@%p1` or `@!%p1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The predicate register.
    pub reg: Reg,
    /// Whether it is negated.
    pub negated: bool,
}

/// A statement of a kernel's body.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `$L3:`
    Label(Label),
    /// `.loc file line column`: where the following instructions come from.
    Loc {
        /// Position in [`Module::files`], from 1.
        file: u32,
        /// Line, from 1.
        line: u32,
        /// Column, from 1.
        column: u32,
    },
    /// A comment line, without the `//`.
    Comment(String),
    /// What holds here by the author's word, a comment to assemblers.
    Promise(Promise),
    /// An instruction.
    Instruction {
        /// Its predicate.
        guard: Option<Guard>,
        /// What it does.
        op: Op,
    },
}

/// An instruction.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// `mov.ty dst, src`
    Mov {
        /// Type.
        ty: Type,
        /// Destination.
        dst: Reg,
        /// Source.
        src: Operand,
    },
    /// `mov.b32 dst, {a, b}`: low part first.
    Pack {
        /// Type of the whole.
        ty: Type,
        /// Destination.
        dst: Reg,
        /// Parts, low first.
        parts: Vec<Operand>,
    },
    /// `mov.b32 {a, b}, src`; `None` is the sink `_`.
    Unpack {
        /// Type of the whole.
        ty: Type,
        /// Parts, low first.
        parts: Vec<Option<Reg>>,
        /// Source.
        src: Operand,
    },
    /// One to four operands to one register.
    Alu {
        /// What it computes.
        op: Alu,
        /// Rounding, where spelt.
        rounding: Option<Rounding>,
        /// `.approx` (or `.full` of `div`).
        approx: bool,
        /// `.ftz`
        ftz: bool,
        /// `.sat`
        sat: bool,
        /// Type.
        ty: Type,
        /// Destination.
        dst: Reg,
        /// Operands.
        args: Vec<Operand>,
    },
    /// `setp.cmp.ty dst, a, b`
    Setp {
        /// Comparison.
        compare: Compare,
        /// `.ftz`
        ftz: bool,
        /// Type of the operands.
        ty: Type,
        /// Predicate.
        dst: Reg,
        /// Left.
        a: Operand,
        /// Right.
        b: Operand,
        /// `setp.cmp.and.ty dst, a, b, c`: combined with a predicate.
        combine: Option<(Combine, Guard)>,
    },
    /// `selp.ty dst, a, b, p`: a where p.
    Selp {
        /// Type.
        ty: Type,
        /// Destination.
        dst: Reg,
        /// Where the predicate holds.
        a: Operand,
        /// Elsewhere.
        b: Operand,
        /// The predicate.
        predicate: Reg,
    },
    /// `cvt.rounding.to.from dst, src`
    Cvt {
        /// Rounding, where spelt.
        rounding: Option<Rounding>,
        /// `.ftz`
        ftz: bool,
        /// `.sat`
        sat: bool,
        /// Result type.
        to: Type,
        /// Operand type.
        from: Type,
        /// Destination.
        dst: Reg,
        /// Source.
        src: Operand,
    },
    /// `cvt.rn.f16x2.f32 dst, high, low`: two singles rounded to halves.
    CvtPair {
        /// `f16x2` or `bf16x2`.
        to: Type,
        /// Destination.
        dst: Reg,
        /// What goes to the upper half.
        high: Operand,
        /// What goes to the lower half.
        low: Operand,
    },
    /// `cvta.to.space.u64` or, with `to` false, `cvta.space.u64`.
    Cvta {
        /// Direction: to the space.
        to: bool,
        /// The space.
        space: Space,
        /// Destination.
        dst: Reg,
        /// Source.
        src: Operand,
    },
    /// `ld.space.v4.ty {..}, [address]`; one register is a scalar access.
    Ld {
        /// Space.
        space: Space,
        /// Qualifiers kept in order, such as `volatile`, `nc`, `ca`.
        qualifiers: Vec<String>,
        /// Element type.
        ty: Type,
        /// 1, 2 or 4 registers.
        dst: Vec<Reg>,
        /// Where.
        address: Address,
    },
    /// `st.space.v4.ty [address], {..}`
    St {
        /// Space.
        space: Space,
        /// Qualifiers kept in order.
        qualifiers: Vec<String>,
        /// Element type.
        ty: Type,
        /// 1, 2 or 4 operands.
        src: Vec<Operand>,
        /// Where.
        address: Address,
    },
    /// `atom.order.scope.space.op.ty dst, [address], b{, c}`; `red` where there is no destination.
    Atom {
        /// Operation.
        op: Atomic,
        /// Order and scope, in this order; `relaxed` and `gpu` go without saying.
        qualifiers: Vec<String>,
        /// Space.
        space: Space,
        /// Type.
        ty: Type,
        /// The old value; `None` is `red`.
        dst: Option<Reg>,
        /// Where.
        address: Address,
        /// Operands: one, or two for [`Atomic::Cas`].
        args: Vec<Operand>,
    },
    /// `call (result), function, (args)`, with what passes parameters around it. A guard is that of the call alone.
    Call {
        /// The symbol.
        function: String,
        /// What it gives, and where that goes if it is wanted.
        result: Option<(Type, Option<Reg>)>,
        /// Arguments, as a [`Function`] takes them.
        args: Vec<(Type, Operand)>,
    },
    /// `bra`
    Bra {
        /// Target.
        target: Label,
        /// `.uni`
        uniform: bool,
    },
    /// `ret` or `exit`
    Ret,
    /// `trap`
    Trap,
    /// `bar.sync id{, threads}`: every thread of the block, or that many.
    Bar {
        /// Barrier number.
        id: u32,
        /// Threads that take part; all where absent.
        threads: Option<u32>,
    },
    /// `pmevent n`: counts an event, for those who measure.
    PmEvent {
        /// Which, from 0 to 15.
        event: u32,
    },
    /// `bar.warp.sync mask`
    WarpSync {
        /// Lanes that take part.
        mask: Operand,
    },
    /// `membar.cta` / `membar.gl` / `fence...`: kept by its spelling.
    Fence {
        /// The whole opcode.
        text: String,
    },
    /// `shfl.sync.mode.b32 dst|pred, src, lane, clamp, mask`
    Shfl {
        /// Mode.
        mode: Shuffle,
        /// Destination.
        dst: Reg,
        /// Whether the source lane was in range.
        in_range: Option<Reg>,
        /// The value that travels.
        src: Operand,
        /// Lane, offset or mask.
        lane: Operand,
        /// Clamp and segment.
        clamp: Operand,
        /// Lanes that take part.
        mask: Operand,
    },
    /// `vote.sync.mode dst, p, mask`
    Vote {
        /// Mode.
        mode: Vote,
        /// A predicate, or a register for ballot.
        dst: Reg,
        /// The predicate voted on.
        src: Guard,
        /// Lanes that take part.
        mask: Operand,
    },
    /// `activemask.b32 dst`
    ActiveMask {
        /// Destination.
        dst: Reg,
    },
    /// `ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {..}, [address]`: matrices of eight rows of 16 bytes.
    LdMatrix {
        /// Whether each matrix is transposed.
        transposed: bool,
        /// A register for each matrix: 1, 2 or 4.
        dst: Vec<Reg>,
        /// Where a row lies that the lane gives.
        address: Address,
    },
    /// `cp.async.ca.shared.global [to], [from], bytes{, read}`: a copy that goes on while others do.
    CpAsync {
        /// Whether it leaves out the first-level cache, `.cg`.
        global: bool,
        /// 4, 8 or 16.
        bytes: u32,
        /// Where to, in shared memory.
        to: Address,
        /// Where from, in global memory.
        from: Address,
        /// How many bytes are read, where not all; the rest is zero.
        read: Option<Operand>,
    },
    /// `cp.async.commit_group`: the thread's copies so far are a group.
    CpAsyncCommit,
    /// `cp.async.wait_group n`: all but the thread's last n groups are done.
    CpAsyncWait {
        /// Groups that may be under way.
        groups: u32,
    },
    /// `mma.sync.aligned.shape.alayout.blayout.d.a.b.c d, a, b, c`
    Mma {
        /// Shape, such as `m8n8k4`.
        shape: String,
        /// Whether A's fragment is row-major.
        a_row: bool,
        /// Whether B's fragment is row-major.
        b_row: bool,
        /// Types of d, a, b, c.
        types: [Type; 4],
        /// Result registers.
        d: Vec<Reg>,
        /// A's registers.
        a: Vec<Reg>,
        /// B's registers.
        b: Vec<Reg>,
        /// Accumulator operands.
        c: Vec<Operand>,
    },
    /// A product of four warps that goes on while they do.
    Wgmma(Wgmma),
    /// `wgmma.fence.sync.aligned`: registers written before are seen by the products that follow.
    WgmmaFence,
    /// `wgmma.commit_group.sync.aligned`: the warp's products so far are a group.
    WgmmaCommit,
    /// `wgmma.wait_group.sync.aligned n`: all but the warp's last n groups are done.
    WgmmaWait {
        /// Groups that may be under way.
        groups: u32,
    },
}

/// `wgmma.mma_async.sync.aligned.m64nNk16.f32.ty.ty {d}, a, b, p, 1, 1, ..`: d = a b + d, or a b where p is false.
#[derive(Clone, Debug, PartialEq)]
pub struct Wgmma {
    /// Columns: 8 to 256.
    pub n: u32,
    /// The operands' type.
    pub ty: Type,
    /// The sums, read and written.
    pub d: Vec<Reg>,
    /// The left operand.
    pub a: WgmmaLeft,
    /// The right operand's descriptor.
    pub b: Reg,
    /// Whether b is read with n contiguous.
    pub b_transposed: bool,
    /// Whether to add to what d holds.
    pub adds: Reg,
}

/// The left operand of [`Wgmma`].
#[derive(Clone, Debug, PartialEq)]
pub enum WgmmaLeft {
    /// In registers, two elements each.
    Registers(Vec<Reg>),
    /// In shared memory.
    Memory {
        /// The descriptor.
        descriptor: Reg,
        /// Whether it is read with m contiguous.
        transposed: bool,
    },
}

/// How `setp` combines its result with another predicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Combine {
    And,
    Or,
    Xor,
}
