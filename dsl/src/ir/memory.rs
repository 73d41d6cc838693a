//! How memory is accessed: what an atomic does, in which order and for whom, and what caches are told.
//!
//! All of it is known when a kernel is built; it becomes the qualifiers of an instruction, as `acquire` and `gpu` in
//! `ld.acquire.gpu.global.b32`.

/// What an atomic operation does to an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum AtomicOp {
    Load,
    Store,
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    /// Writes the second operand where the first is what was there.
    CompareExchange,
}

/// Which of a block's other accesses an atomic operation is ordered with. The order is that of the block: before a
/// release and after an acquire its threads wait for one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// None.
    Relaxed,
    /// Accesses after it see what was written before the release that it reads from.
    Acquire,
    /// Accesses before it are seen by whoever acquires what it writes.
    Release,
    /// Both.
    AcqRel,
}

impl Order {
    /// Whether it makes earlier writes known.
    pub const fn releases(self) -> bool {
        matches!(self, Order::Release | Order::AcqRel)
    }

    /// Whether it learns of the writes of others.
    pub const fn acquires(self) -> bool {
        matches!(self, Order::Acquire | Order::AcqRel)
    }

    /// Its spelling in PTX.
    pub const fn name(self) -> &'static str {
        match self {
            Order::Relaxed => "relaxed",
            Order::Acquire => "acquire",
            Order::Release => "release",
            Order::AcqRel => "acq_rel",
        }
    }
}

/// Between whom an atomic operation is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// The threads of a block.
    Block,
    /// All threads of the GPU.
    Gpu,
    /// Those of other GPUs and of the host as well.
    System,
}

impl Scope {
    /// Its spelling in PTX.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Block => "cta",
            Scope::Gpu => "gpu",
            Scope::System => "sys",
        }
    }
}

/// An atomic operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Atomic {
    /// What it does.
    pub op: AtomicOp,
    /// How it is ordered.
    pub order: Order,
    /// Between whom.
    pub scope: Scope,
}
