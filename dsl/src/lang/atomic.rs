//! Atomic operations on global memory.
//!
//! Each element of a tile is one operation, whichever threads and registers hold it: where a layout has an element
//! several times its holder alone touches memory, and all of them get the old value. A scalar address is one operation of
//! the block. For example with a `counter: PtrMut<i32>`
//!
//! ```text
//! let ticket = atomic_add(counter, 1);                    // one ticket a block, known to all its threads
//! atomic_add(bins + bin, 1);                              // one count for each element of the tile `bin`
//! atomic_max_with(best + i, x, AtomicOptions::new().order(Order::Relaxed).mask(inside));
//! ```
//!
//! Without options an operation is acquire and release, of the GPU; a load only acquires, a store only releases. Sums of
//! floating-point numbers depend on the order of their terms, which differs from run to run.

use crate::element::DType;
use crate::ir::{Atomic, AtomicOp, OpKind, Order, Scope, TileType};
use crate::lang::ops::{by_warp, check_mask, check_store, describe, pointed_to, text};
use crate::lang::{Operand, Tile, Trace};

/// How an atomic operation is ordered, between whom it is one, and for which elements it is done.
#[derive(Clone, Copy, Debug)]
pub struct AtomicOptions {
    order: Option<Order>,
    scope: Scope,
    mask: Option<Tile>,
}

impl AtomicOptions {
    /// Those of an operation without options.
    #[allow(clippy::new_without_default)]
    pub const fn new() -> Self {
        AtomicOptions { order: None, scope: Scope::Gpu, mask: None }
    }

    /// In this order.
    pub const fn order(self, order: Order) -> Self {
        AtomicOptions { order: Some(order), ..self }
    }

    /// Between these threads.
    pub const fn scope(self, scope: Scope) -> Self {
        AtomicOptions { scope, ..self }
    }

    /// Only where the mask holds; elsewhere nothing is touched and the old value is 0.
    pub const fn mask(self, _trace: &mut Trace<'_>, mask: Tile) -> Self {
        AtomicOptions { mask: Some(mask), ..self }
    }
}

macro_rules! updates {
    ($($(#[doc = $doc:literal])* $plain:ident $with:ident $op:ident)*) => {$(
        $(#[doc = $doc])*
        #[track_caller]
        pub const fn $plain(trace: &mut Trace<'_>, pointer: Tile, value: Operand) -> Tile {
            update(trace, stringify!($plain), AtomicOp::$op, pointer, value, AtomicOptions::new())
        }

        $(#[doc = $doc])*
        /// With options.
        #[track_caller]
        pub const fn $with(trace: &mut Trace<'_>, pointer: Tile, value: Operand, options: AtomicOptions) -> Tile {
            update(trace, stringify!($with), AtomicOp::$op, pointer, value, options)
        }
    )*};
}

updates! {
    /// Adds to what is in memory and gives the old value.
    atomic_add atomic_add_with Add
    /// Keeps the smaller of the value and what is in memory, which it gives; a number wins over NaN.
    atomic_min atomic_min_with Min
    /// Keeps the larger of the value and what is in memory, which it gives; a number wins over NaN.
    atomic_max atomic_max_with Max
    /// Keeps the bits that both have and gives the old value; integers.
    atomic_and atomic_and_with And
    /// Sets bits and gives the old value; integers.
    atomic_or atomic_or_with Or
    /// Flips bits and gives the old value; integers.
    atomic_xor atomic_xor_with Xor
    /// Writes a value and gives the old one.
    atomic_xchg atomic_xchg_with Exchange
}

/// Writes `value` where memory has `compare`, bit for bit, and gives the old value.
#[track_caller]
pub const fn atomic_cas(trace: &mut Trace<'_>, pointer: Tile, compare: Operand, value: Operand) -> Tile {
    compare_exchange(trace, "atomic_cas", pointer, compare, value, AtomicOptions::new())
}

/// Writes `value` where memory has `compare`, bit for bit, and gives the old value. With options.
#[track_caller]
pub const fn atomic_cas_with(
    trace: &mut Trace<'_>,
    pointer: Tile,
    compare: Operand,
    value: Operand,
    options: AtomicOptions,
) -> Tile {
    compare_exchange(trace, "atomic_cas_with", pointer, compare, value, options)
}

/// Reads what others write with atomic operations; acquires.
#[track_caller]
pub const fn atomic_load(trace: &mut Trace<'_>, pointer: Tile) -> Tile {
    read(trace, "atomic_load", pointer, AtomicOptions::new())
}

/// Reads what others write with atomic operations, relaxed or acquiring.
#[track_caller]
pub const fn atomic_load_with(trace: &mut Trace<'_>, pointer: Tile, options: AtomicOptions) -> Tile {
    read(trace, "atomic_load_with", pointer, options)
}

/// Writes for others who read with atomic operations; releases.
#[track_caller]
pub const fn atomic_store(trace: &mut Trace<'_>, pointer: Tile, value: Operand) {
    write(trace, "atomic_store", pointer, value, AtomicOptions::new());
}

/// Writes for others who read with atomic operations, relaxed or releasing.
#[track_caller]
pub const fn atomic_store_with(trace: &mut Trace<'_>, pointer: Tile, value: Operand, options: AtomicOptions) {
    write(trace, "atomic_store_with", pointer, value, options);
}

#[track_caller]
const fn update(
    trace: &mut Trace<'_>,
    name: &str,
    op: AtomicOp,
    pointer: Tile,
    value: Operand,
    options: AtomicOptions,
) -> Tile {
    let ty = operated(trace, name, op, &pointer, &options);
    let value = value.tile(trace, name, ty.dtype);
    check_store(trace, name, &pointer, &value);
    let order = or(options.order, Order::AcqRel);
    check_alone(trace, name, &ty, order);
    let atomic = Atomic { op, order, scope: options.scope };
    let (args, mask) = ([Some(value.value), None], value_of(options.mask));
    trace.emit(OpKind::Atomic { atomic, pointer: pointer.value, args, mask }, ty)
}

#[track_caller]
const fn compare_exchange(
    trace: &mut Trace<'_>,
    name: &str,
    pointer: Tile,
    compare: Operand,
    value: Operand,
    options: AtomicOptions,
) -> Tile {
    let op = AtomicOp::CompareExchange;
    let ty = operated(trace, name, op, &pointer, &options);
    let (compare, value) = (compare.tile(trace, name, ty.dtype), value.tile(trace, name, ty.dtype));
    check_store(trace, name, &pointer, &compare);
    check_store(trace, name, &pointer, &value);
    let order = or(options.order, Order::AcqRel);
    check_alone(trace, name, &ty, order);
    let atomic = Atomic { op, order, scope: options.scope };
    let (args, mask) = ([Some(compare.value), Some(value.value)], value_of(options.mask));
    trace.emit(OpKind::Atomic { atomic, pointer: pointer.value, args, mask }, ty)
}

#[track_caller]
const fn read(trace: &mut Trace<'_>, name: &str, pointer: Tile, options: AtomicOptions) -> Tile {
    let ty = operated(trace, name, AtomicOp::Load, &pointer, &options);
    let order = or(options.order, Order::Acquire);
    check_alone(trace, name, &ty, order);
    if order.releases() {
        trace.fail(text(name).push("a load is relaxed or acquires; it has nothing to release"));
    }
    let atomic = Atomic { op: AtomicOp::Load, order, scope: options.scope };
    let mask = value_of(options.mask);
    trace.emit(OpKind::Atomic { atomic, pointer: pointer.value, args: [None, None], mask }, ty)
}

#[track_caller]
const fn write(trace: &mut Trace<'_>, name: &str, pointer: Tile, value: Operand, options: AtomicOptions) {
    let ty = operated(trace, name, AtomicOp::Store, &pointer, &options);
    let value = value.tile(trace, name, ty.dtype);
    check_store(trace, name, &pointer, &value);
    let order = or(options.order, Order::Release);
    check_alone(trace, name, &ty, order);
    if order.acquires() {
        trace.fail(text(name).push("a store is relaxed or releases; it has nothing to acquire"));
    }
    let atomic = Atomic { op: AtomicOp::Store, order, scope: options.scope };
    let (args, mask) = ([Some(value.value), None], value_of(options.mask));
    trace.effect(OpKind::Atomic { atomic, pointer: pointer.value, args, mask });
}

/// Checks addresses and mask; the type of the elements.
#[track_caller]
const fn operated(
    trace: &mut Trace<'_>,
    name: &str,
    op: AtomicOp,
    pointer: &Tile,
    options: &AtomicOptions,
) -> TileType {
    let ty = pointed_to(trace, name, pointer);
    if let Some(words) = no_operation(op, ty.dtype) {
        trace.fail(describe(text(name), &Tile { ty, ..*pointer }).push(words));
    }
    if let Some(mask) = &options.mask {
        check_mask(trace, name, pointer, mask);
    }
    ty
}

/// Inside of a branch that other warps may not take, an operation can't wait for them, nor leave its work to them.
#[track_caller]
pub(crate) const fn check_alone(trace: &mut Trace<'_>, name: &str, ty: &TileType, order: Order) {
    if trace.in_one_warp() && (!by_warp(ty) || !matches!(order, Order::Relaxed)) {
        let text =
            text(name).push("inside `if warp_any(..)` other warps may not come along; an atomic operation there ");
        trace.fail(text.push("must be relaxed, of a tile whose elements are each in one warp"));
    }
}

/// Why there is no such operation on elements of a type.
pub(crate) const fn no_operation(op: AtomicOp, dtype: DType) -> Option<&'static str> {
    let bits = matches!(op, AtomicOp::And | AtomicOp::Or | AtomicOp::Xor);
    if dtype.bits() < 16 {
        Some(": elements of 8 bits have no atomic operations; take at least 16")
    } else if bits && !dtype.is_integer() {
        Some(" has no bits to combine; integers do")
    } else {
        None
    }
}

const fn or(order: Option<Order>, default: Order) -> Order {
    match order {
        Some(order) => order,
        None => default,
    }
}

/// The value of a tile that may be absent.
pub(crate) const fn value_of(tile: Option<Tile>) -> Option<crate::ir::Value> {
    match tile {
        Some(tile) => Some(tile.value),
        None => None,
    }
}
