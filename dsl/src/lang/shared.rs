//! Shared memory: allocations and views of them.
//!
//! A view maps tile coordinates to places in one allocation; slicing, indexing, permuting and reshaping make other views
//! of the same memory and move nothing. Stores and loads are not ordered between threads: put a [`barrier`] between one
//! thread's store and another's load, and between a load and the store that overwrites what it reads.

use quadpair_layouts::{Layout, SharedLayout};

use crate::element::{DType, Element};
use crate::ir::{BinaryOp, Memory, OpKind, TileType};
use crate::lang::ops::{describe, has_its_warp, text};
use crate::lang::{Tile, Trace};

/// A view of shared memory.
#[derive(Clone, Copy, Debug)]
pub struct Shared {
    pub(crate) memory: Memory,
}

/// Makes shared memory of this layout's size. `shared::<f16>(swizzled([64, 32], 8, 1, 4, [1, 0]))`
#[track_caller]
pub const fn shared<T: Element>(trace: &mut Trace<'_>, layout: SharedLayout) -> Shared {
    if let Some(error) = layout.fault() {
        trace.broken("shared", error);
    }
    let memory = Memory { allocation: trace.next_allocation(), dtype: T::DTYPE, layout, offset: None };
    trace.effect(OpKind::Allocate(memory));
    Shared { memory }
}

/// Makes shared memory of this layout's size and stores a tile of its shape in it.
#[track_caller]
pub const fn shared_from(trace: &mut Trace<'_>, tile: Tile, layout: SharedLayout) -> Shared {
    if let Some(error) = layout.fault() {
        trace.broken("shared_from", error);
    }
    let memory = Memory { allocation: trace.next_allocation(), dtype: tile.ty.dtype, layout, offset: None };
    trace.effect(OpKind::Allocate(memory));
    let shared = Shared { memory };
    shared.store(trace, tile);
    shared
}

/// Waits until every thread of the block is here and has done its accesses to shared memory.
#[track_caller]
pub const fn barrier(trace: &mut Trace<'_>) {
    trace.effect(OpKind::Barrier);
}

impl Shared {
    /// Where the view's elements lie.
    pub const fn layout(self) -> SharedLayout {
        self.memory.layout
    }

    /// The element type.
    pub const fn dtype(self) -> DType {
        self.memory.dtype
    }

    /// Bytes that the view's elements take.
    pub const fn bytes(self) -> usize {
        self.memory.layout.shape().len() * self.memory.dtype.bytes() as usize
    }

    /// Writes a tile of the view's shape and element type.
    #[track_caller]
    pub const fn store(self, trace: &mut Trace<'_>, tile: Tile) {
        if !tile.ty.dtype.is(self.memory.dtype) || tile.ty.is_pointer() {
            let text = describe(text("store"), &tile).push(" to shared memory of ");
            trace.fail(text.push(self.memory.dtype.name()).push("; convert the tile with `as`"));
        }
        self.same_shape(trace, "store", &tile.layout());
        has_its_warp(trace, "store", &tile);
        trace.effect(OpKind::SharedStore(self.memory, tile.value));
    }

    /// Reads the whole view as a tile in this layout.
    #[track_caller]
    pub const fn load(self, trace: &mut Trace<'_>, layout: Layout) -> Tile {
        let layout = trace.given("load", layout);
        self.same_shape(trace, "load", &layout);
        trace.emit(OpKind::SharedLoad(self.memory), TileType::tile(self.memory.dtype, layout))
    }

    /// The view of `length` indices of dimension `dim` from `start` on; `length` is a power of two and divides `start`.
    #[track_caller]
    pub const fn slice(self, trace: &mut Trace<'_>, dim: usize, start: usize, length: usize) -> Shared {
        self.view(trace, "slice", self.memory.layout.slice(dim, start, length))
    }

    /// The view of one index of dimension 0, known at run time; the dimension is gone. The simulator stops a kernel
    /// with an index that is negative or too large.
    ///
    /// The indices must lie at one distance, in bits of the offset that no other dimension moves: in a swizzled layout
    /// that is so for a dimension that takes no part in the swizzle.
    #[track_caller]
    pub const fn index(self, trace: &mut Trace<'_>, index: Tile) -> Shared {
        if !index.is_scalar() || !index.ty.dtype.is(DType::I32) || index.ty.is_pointer() {
            trace.fail(describe(text("index").push("an i32 scalar is wanted, this is "), &index));
        }
        let stride = match self.memory.layout.index_stride() {
            Ok(stride) => stride,
            Err(error) => {
                trace.broken("index", error);
                1
            }
        };
        let extent = self.memory.layout.shape().extents().0[0] as u32;
        trace.effect(OpKind::Bound(index.value, extent));
        let scalar = TileType::scalar(DType::I32);
        let stride = trace.integer(DType::I32, stride as i64);
        let mut offset = trace.emit(OpKind::Binary(BinaryOp::Mul, index.value, stride.value), scalar);
        if let Some(before) = self.memory.offset {
            offset = trace.emit(OpKind::Binary(BinaryOp::Add, before, offset.value), scalar);
        }
        let mut view = self.view(trace, "index", self.memory.layout.without_dim0());
        view.memory.offset = Some(offset.value);
        view
    }

    /// Dimension `i` of the result is dimension `order[i]` of the view.
    #[track_caller]
    pub const fn permute<const N: usize>(self, trace: &mut Trace<'_>, order: [usize; N]) -> Shared {
        self.view(trace, "permute", self.memory.layout.permute(order))
    }

    /// The same elements, in row-major order, under another shape.
    #[track_caller]
    pub const fn reshape<const N: usize>(self, trace: &mut Trace<'_>, shape: [usize; N]) -> Shared {
        self.view(trace, "reshape", self.memory.layout.reshape(shape))
    }

    /// The same bytes as elements of another type in another layout: `memory.reinterpret::<f32>(row_major([16, 64]))`.
    /// The view's elements must fill one block of the memory, and the new ones must not take more bytes.
    #[track_caller]
    pub const fn reinterpret<T: Element>(self, trace: &mut Trace<'_>, layout: SharedLayout) -> Shared {
        let (own, new) = (self.memory.dtype.bytes(), T::DTYPE.bytes());
        let mut view = self.view(trace, "reinterpret", self.memory.layout.reinterpret(own, &layout, new));
        view.memory.dtype = T::DTYPE;
        if let Some(before) = self.memory.offset {
            let wider = own >= new;
            let (op, by) = if wider { (BinaryOp::Mul, own / new) } else { (BinaryOp::Div, new / own) };
            let by = trace.integer(DType::I32, by as i64);
            let offset = trace.emit(OpKind::Binary(op, before, by.value), TileType::scalar(DType::I32));
            view.memory.offset = Some(offset.value);
        }
        view
    }

    #[track_caller]
    const fn view(self, trace: &mut Trace<'_>, op: &str, layout: SharedLayout) -> Shared {
        if let Some(error) = layout.fault() {
            trace.broken(op, error);
            return self;
        }
        Shared { memory: Memory { layout, ..self.memory } }
    }

    #[track_caller]
    pub(super) const fn same_shape(&self, trace: &mut Trace<'_>, op: &str, layout: &Layout) {
        let own = self.memory.layout.shape();
        if !own.equals(&layout.shape()) && !trace.failed() {
            let text = text(op).push("the tile is ").shape(&layout.shape());
            trace.fail(text.push(", the shared memory ").shape(&own).push("; take a layout of its shape"));
        }
    }
}
