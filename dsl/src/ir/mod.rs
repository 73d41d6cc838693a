//! Tile IR: what a traced kernel does, as a list of operations on tiles.
//!
//! The list is flat. A loop is the bracket [`OpKind::For`] … [`OpKind::EndFor`]: right after `For` stand the
//! [`OpKind::Carry`]s, each giving a loop-carried value its name inside; right before `EndFor` the [`OpKind::Yield`]s, each
//! giving the next iteration's value and, as its result, the value after the loop. A branch is `If` … `Else` … `EndIf`
//! with the [`OpKind::Merge`]s right before `EndIf`. A function of elements, which a reduction, a scan or a map applies, is
//! `Apply` … `EndApply`: the [`OpKind::Element`]s at its head are its parameters, the [`OpKind::Give`]s at its end what it
//! gives, and between them is [elementwise](OpKind::is_elementwise) arithmetic on scalars. A value is defined once, before its uses, and is visible until the
//! bracket that it was defined in closes. Operations run in the order of the list; loads, stores, shared-memory accesses
//! and barriers keep that order, everything else has no effect but its result.
//!
//! Types are complete: a tile's [`TileType`] holds its element type and its layout, so lowering decides nothing about
//! where data lives. Each operation keeps the place in the Rust source that it came from.

mod cache;
mod memory;
mod op;
mod text;
mod verify;

pub use cache::{Evict, Hint, LoadCache, StoreCache};
pub use memory::{Atomic, AtomicOp, Order, Scope};
pub use op::{
    Apply, Asm, BinaryOp, CompareOp, Factor, Indexed, MAX_ASM_ARGS, MAX_ASM_RESULTS, Memory, Op, OpKind, Pointer,
    TileType, UnaryOp, Value,
};
pub(crate) use text::operation;
pub use verify::VerifyError;

use crate::lang::{Trace, TraceError};

/// A traced kernel.
#[derive(Clone, Debug)]
pub struct Function {
    /// The kernel's name.
    pub name: &'static str,
    /// Its operations.
    pub ops: Vec<Op>,
    /// The type of every value, by number.
    pub types: Vec<TileType>,
    /// Warps of a block.
    pub warps: usize,
}

impl Function {
    /// Traces a kernel twice: once to count its operations, once to keep them.
    ///
    /// # Errors
    /// The first broken rule of the language, with its place.
    pub fn record(name: &'static str, body: impl Fn(&mut Trace<'_>)) -> Result<Function, TraceError> {
        let mut counting = Trace::new(name, &mut []);
        body(&mut counting);
        let count = counting.finished()?.ops;
        let mut ops = vec![Op::NONE; count];
        let mut recording = Trace::new(name, &mut ops);
        body(&mut recording);
        let warps = recording.finished()?.warps;
        let types = ops.iter().filter_map(|op| op.result).collect();
        let function = Function { name, ops, types, warps };
        debug_assert!(function.verify().is_ok(), "{}\n{:?}", function, function.verify());
        Ok(function)
    }

    /// The type of a value.
    pub fn type_of(&self, value: Value) -> &TileType {
        &self.types[value.index()]
    }
}
