//! What the simulator says when it stops: the errors and all of their wording.
//!
//! A [`Fault`] is something that the program did and a GPU would have let pass, or crashed on with no word of where. Its
//! text names the source position, the block, the thread and the instruction, then what is wrong with which numbers:
//!
//! ```text
//! kernel `scale` at scale.rs:12:9, block [1, 0, 0], thread 37: `ld.global.b32 %r1, [%rd2];` reads 4 bytes at
//! 0x100000400, 0 bytes past the end of parameter `x`, which has 1024 bytes
//! ```

use std::fmt;

use thiserror::Error;

use crate::ptx::{Entry, Module, Op, ParseError, Statement, Type, print};

/// Why the simulator could not run a program to its end.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum SimError {
    /// The program did something wrong.
    #[error(transparent)]
    Fault(#[from] Box<Fault>),
    /// The text is no PTX that we read.
    #[error("program `{program}` is not PTX that the simulator reads: {error}")]
    Parse {
        /// The program's name.
        program: String,
        /// Where and why.
        error: ParseError,
    },
    /// The kernel's symbol isn't in the text.
    #[error("the PTX has no kernel `{entry}`; it has {}", list(.found))]
    NoEntry {
        /// The symbol asked for.
        entry: String,
        /// The kernels that there are.
        found: Vec<String>,
    },
    /// The text has something that cannot be decoded.
    #[error("kernel `{kernel}`: {what}")]
    Malformed {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        what: String,
    },
    /// Too few or too many arguments.
    #[error("kernel `{kernel}` takes {expected} arguments, the launch gives {found}")]
    ArgumentCount {
        /// The kernel.
        kernel: String,
        /// Parameters that it has.
        expected: usize,
        /// Arguments that it got.
        found: usize,
    },
    /// An argument of another size than its parameter.
    #[error("parameter `{parameter}` of kernel `{kernel}` is a .{} of {} bytes, its argument has {found}", type_name(*.ty), type_bytes(*.ty))]
    ArgumentSize {
        /// The kernel.
        kernel: String,
        /// The parameter.
        parameter: String,
        /// Its type.
        ty: Type,
        /// Bytes of the argument.
        found: u32,
    },
    /// A buffer that has no room between two others.
    #[error(
        "the argument for parameter `{parameter}` of kernel `{kernel}` has {bytes} bytes; the simulator takes less than {limit}"
    )]
    BufferSize {
        /// The kernel.
        kernel: String,
        /// The parameter.
        parameter: String,
        /// Its bytes.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// A block that the target cannot hold.
    #[error("kernel `{kernel}` asks for {asked} {what} a block; the target has {limit}")]
    BlockSize {
        /// The kernel.
        kernel: String,
        /// Threads or bytes of shared memory.
        what: &'static str,
        /// How many it asks for.
        asked: u64,
        /// How many there are.
        limit: u64,
    },
    /// A block with no threads.
    #[error("kernel `{kernel}` is launched with no threads a block")]
    NoThreads {
        /// The kernel.
        kernel: String,
    },
}

/// A position in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// The file, as the PTX names it.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

/// Something that a program did wrong, and where.
#[derive(Clone, Debug, PartialEq, Error)]
pub struct Fault {
    /// The kernel.
    pub kernel: String,
    /// The source position of the instruction, where the PTX has one.
    pub position: Option<Position>,
    /// The block.
    pub block: [u32; 3],
    /// The thread in the block.
    pub thread: u32,
    /// The instruction, as PTX.
    pub instruction: String,
    /// What went wrong.
    pub kind: FaultKind,
}

/// A state space that addresses lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Global memory.
    Global,
    /// A block's shared memory.
    Shared,
}

/// What a memory instruction does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

/// One of the two accesses of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceAccess {
    /// Whether it reads or writes.
    pub direction: Direction,
    /// The warp that makes it.
    pub warp: u32,
    /// The lane, where one instruction makes both accesses.
    pub lane: Option<u32>,
    /// Its source position.
    pub position: Option<Position>,
    /// The instruction, as PTX.
    pub instruction: String,
}

/// What a program did wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultKind {
    /// An access outside of every buffer.
    GlobalOutOfBounds {
        /// The address.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
        /// Read or write.
        direction: Direction,
        /// The nearest parameter, its bytes and how far from its start the access begins.
        nearest: Option<(String, u64, i64)>,
    },
    /// A write to memory that was passed to be read.
    ReadOnly {
        /// The address.
        address: u64,
        /// The parameter.
        parameter: String,
    },
    /// An address that is no multiple of the access' width.
    Misaligned {
        /// The address.
        address: u64,
        /// The width in bytes.
        bytes: u32,
        /// Where.
        memory: Memory,
    },
    /// An access through a null pointer.
    Null {
        /// The address.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
        /// Parameters that are null.
        parameters: Vec<String>,
    },
    /// An access outside of the block's shared memory.
    SharedOutOfBounds {
        /// The address.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
        /// Read or write.
        direction: Direction,
        /// Bytes that the block has.
        size: u32,
    },
    /// An index that its dimension doesn't have.
    IndexOutOfBounds {
        /// The index.
        index: i32,
        /// The dimension's extent.
        limit: u32,
    },
    /// An access outside of the thread's own memory, or misaligned there.
    LocalOutOfBounds {
        /// The address.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
        /// Bytes that a thread has.
        size: u32,
    },
    /// A read of shared memory that no thread of the block wrote.
    SharedUnwritten {
        /// The address.
        address: u64,
        /// Bytes read.
        bytes: u32,
    },
    /// Two accesses of one byte with no barrier between.
    SharedRace {
        /// The byte.
        address: u64,
        /// The access that came first here; another run may have them the other way round.
        first: RaceAccess,
        /// The access that found the race.
        second: RaceAccess,
    },
    /// An access of shared memory that an asynchronous copy may still be bringing.
    SharedComing {
        /// The address.
        address: u64,
        /// Bytes accessed.
        bytes: u32,
        /// Read or write.
        direction: Direction,
        /// The copy.
        copy: RaceAccess,
    },
    /// A write of shared memory that a product of wgmma may still be reading.
    SharedMultiplied {
        /// The address.
        address: u64,
        /// Bytes written.
        bytes: u32,
    },
    /// A product of wgmma that reads what was written without a fence of the async proxy.
    SharedUnfenced {
        /// The address.
        address: u64,
        /// The warp that wrote.
        warp: u32,
    },
    /// A register that a product of wgmma sums in, read, or found to be written at the wait.
    SumUnderWay {
        /// The register.
        register: String,
    },
    /// A barrier that some threads of the warp don't reach.
    DivergentBarrier {
        /// Threads of the warp that are there, a bit each.
        arrived: u32,
        /// Threads that the warp has.
        expected: u32,
    },
    /// A barrier that waits for warps that have exited, or wait elsewhere.
    UnfinishedBarrier {
        /// Warps that wait at it.
        waiting: Vec<u32>,
        /// Warps that have exited.
        exited: Vec<u32>,
        /// Warps that wait at a barrier of another number.
        elsewhere: Vec<u32>,
    },
    /// A warp-wide instruction without all its lanes.
    InactiveLanes {
        /// Lanes that execute it.
        active: u32,
        /// Lanes that have to.
        needed: u32,
    },
    /// A shuffle that reads from a lane that doesn't take part.
    ShuffleSource {
        /// The lane read.
        source: u32,
        /// Lanes that take part.
        members: u32,
    },
    /// A `trap`.
    Trap {
        /// The comment right before it.
        message: Option<String>,
    },
    /// A promise of the kernel's author that doesn't hold.
    BrokenPromise {
        /// The values of what it speaks of.
        values: Vec<i64>,
    },
    /// A read of a register that was never written.
    Unwritten {
        /// The register.
        register: String,
    },
    /// The warp ran too long.
    Budget {
        /// Instructions that a warp may run.
        limit: u64,
    },
    /// Something that the simulator cannot do.
    Unsupported {
        /// What.
        what: String,
    },
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`", self.kernel)?;
        if let Some(position) = &self.position {
            write!(f, " at {position}")?;
        }
        write!(f, ", block {:?}, thread {}: `{}` {}", self.block, self.thread, self.instruction, self.kind)
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Read => "reads",
            Direction::Write => "writes",
        })
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Memory::Global => "global",
            Memory::Shared => "shared",
        })
    }
}

impl fmt::Display for RaceAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "warp {}", self.warp)?;
        if let Some(lane) = self.lane {
            write!(f, " lane {lane}")?;
        }
        write!(f, " {} it with `{}`", self.direction, self.instruction)?;
        match &self.position {
            Some(position) => write!(f, " at {position}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::GlobalOutOfBounds { .. }
            | FaultKind::ReadOnly { .. }
            | FaultKind::Misaligned { .. }
            | FaultKind::Null { .. } => self.global(f),
            FaultKind::SharedOutOfBounds { .. }
            | FaultKind::SharedUnwritten { .. }
            | FaultKind::SharedRace { .. }
            | FaultKind::SharedMultiplied { .. }
            | FaultKind::SharedUnfenced { .. }
            | FaultKind::SharedComing { .. } => self.shared(f),
            _ => self.control(f),
        }
    }
}

impl FaultKind {
    fn global(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::GlobalOutOfBounds { address, bytes, direction, nearest } => {
                write!(f, "{direction} {bytes} bytes at {address:#x}, ")?;
                match nearest {
                    Some((name, length, start)) => outside(f, name, *length, *start),
                    None => f.write_str("and no parameter points to memory"),
                }
            }
            FaultKind::ReadOnly { address, parameter } => {
                write!(f, "writes at {address:#x}, into parameter `{parameter}`, which is passed to be read only")
            }
            FaultKind::Misaligned { address, bytes, memory } => write!(
                f,
                "accesses {bytes} bytes of {memory} memory at {address:#x}, which is {} past a multiple of {bytes}",
                address % u64::from(*bytes)
            ),
            FaultKind::Null { address, bytes, parameters } => {
                write!(f, "accesses {bytes} bytes at {address:#x}, through a null pointer; ")?;
                match parameters.as_slice() {
                    [] => f.write_str("no parameter is null"),
                    names => write!(f, "null parameters: {}", list(names)),
                }
            }
            _ => Ok(()),
        }
    }

    fn shared(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::SharedOutOfBounds { address, bytes, direction, size } => {
                write!(f, "{direction} {bytes} bytes of shared memory at {address:#x}; the block has {size} bytes")
            }
            FaultKind::SharedUnwritten { address, bytes } => write!(
                f,
                "reads {bytes} bytes of shared memory at {address:#x}, which no thread of the block has written"
            ),
            FaultKind::SharedComing { address, bytes, direction, copy } => write!(
                f,
                "{direction} {bytes} bytes of shared memory at {address:#x}, which a copy may still be bringing: {copy}; \
                 every thread waits for its group first, then the block at a barrier"
            ),
            FaultKind::SharedMultiplied { address, bytes } => write!(
                f,
                "writes {bytes} bytes of shared memory at {address:#x}, which a product of wgmma may still be reading; \
                 its warps wait for its group first"
            ),
            FaultKind::SharedUnfenced { address, warp } => write!(
                f,
                "reads shared memory at {address:#x} by the async proxy, to which warp {warp} has not made its write \
                 visible; `fence.proxy.async` stands between the write and the barrier"
            ),
            FaultKind::SharedRace { address, first, second } => write!(
                f,
                "races for the byte of shared memory at {address:#x}: {first}, and {second}, with no barrier between"
            ),
            _ => Ok(()),
        }
    }

    fn control(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::DivergentBarrier { arrived, expected } => write!(
                f,
                "is reached by {} of the warp's {} threads (lanes {arrived:#010x} of {expected:#010x}); \
                 a barrier needs them all",
                arrived.count_ones(),
                expected.count_ones()
            ),
            FaultKind::UnfinishedBarrier { waiting, exited, elsewhere } => {
                write!(f, "waits for ever: warps {waiting:?} are there")?;
                let others = [(exited, "have exited"), (elsewhere, "wait at another barrier")];
                others.iter().filter(|(w, _)| !w.is_empty()).try_for_each(|(w, what)| write!(f, ", warps {w:?} {what}"))
            }
            FaultKind::LocalOutOfBounds { address, bytes, size } => {
                write!(f, "accesses {bytes} bytes of the thread's own memory at {address:#x}, which has {size}")
            }
            FaultKind::IndexOutOfBounds { index, limit } => {
                write!(f, "takes index {index} of a dimension that has {limit}, from 0")
            }
            FaultKind::InactiveLanes { active, needed } => {
                write!(f, "needs the lanes {needed:#010x}, but is executed by {active:#010x}")
            }
            FaultKind::ShuffleSource { source, members } => {
                write!(f, "reads from lane {source}, which is not among its lanes {members:#010x}")
            }
            FaultKind::Trap { message: Some(message) } => write!(f, "stops the program: {message}"),
            FaultKind::Trap { message: None } => f.write_str("stops the program"),
            FaultKind::BrokenPromise { values } => {
                let values: Vec<String> = values.iter().map(i64::to_string).collect();
                write!(f, "does not hold: the kernel was given {}", values.join(" and "))
            }
            FaultKind::SumUnderWay { register } => write!(
                f,
                "meets {register}, in which a product of wgmma may still be summing: nothing else reads or writes it \
                 before the wait for its group"
            ),
            FaultKind::Unwritten { register } => write!(f, "reads {register}, which was never written"),
            FaultKind::Budget { limit } => {
                write!(
                    f,
                    "is past the {limit} instructions that a warp may run in the simulator; is there a loop that doesn't end?"
                )
            }
            FaultKind::Unsupported { what } => write!(f, "can't be simulated: {what} (a limit of the simulator)"),
            _ => Ok(()),
        }
    }
}

/// Says how far an access is from a parameter's memory.
fn outside(f: &mut fmt::Formatter<'_>, name: &str, length: u64, start: i64) -> fmt::Result {
    if start < 0 {
        let before = start.unsigned_abs();
        return write!(f, "{before} bytes before the start of parameter `{name}`, which has {length} bytes");
    }
    let start = start.unsigned_abs();
    if start < length {
        return write!(f, "across the end of parameter `{name}`: at byte {start} of {length}");
    }
    write!(f, "{} bytes past the end of parameter `{name}`, which has {length} bytes", start - length)
}

fn list(names: &[String]) -> String {
    match names {
        [] => "none".into(),
        names => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
    }
}

/// Bytes that a value of the type takes in memory.
pub(super) fn type_bytes(ty: Type) -> u32 {
    match ty {
        Type::Pred | Type::B8 | Type::U8 | Type::S8 => 1,
        Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::BF16 => 2,
        Type::B32 | Type::U32 | Type::S32 | Type::F32 | Type::F16x2 | Type::BF16x2 => 4,
        Type::B64 | Type::U64 | Type::S64 | Type::F64 => 8,
    }
}

fn type_name(ty: Type) -> String {
    format!("{ty:?}").to_lowercase()
}

/// A statement as one line of PTX.
pub(super) fn statement_text(statement: &Statement) -> String {
    let entry = Entry {
        name: String::new(),
        params: Vec::new(),
        max_threads: None,
        min_blocks: None,
        registers: [0; 6],
        shared: Vec::new(),
        local: Vec::new(),
        body: vec![statement.clone()],
    };
    let module = Module {
        header: Vec::new(),
        version: (6, 4),
        target: 70,
        specific: false,
        files: Vec::new(),
        functions: Vec::new(),
        constants: Vec::new(),
        shared: Vec::new(),
        entries: vec![entry],
    };
    let text = print(&module);
    let mut lines = text.lines().filter_map(|line| line.strip_prefix('\t'));
    // A call stands among what passes its parameters.
    let call = matches!(statement, Statement::Instruction { op: Op::Call { .. }, .. });
    lines.find(|line| !call || line.contains("call ")).unwrap_or_default().into()
}
