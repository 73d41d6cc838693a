//! The operations of the language, but for operators, shared memory and control.

use quadpair_layouts::mma::Atom;
use quadpair_layouts::{Bound, Error, Layout, MmaPlan, Text, convert, typing};

use crate::element::{DType, Element};
use crate::ir::{Hint, OpKind, Pointer, TileType};
use crate::lang::operators::{both, common_layout};
use crate::lang::{Operand, Tile, Trace};

/// An error's text, opened with the operation's name.
pub(crate) const fn text(op: &str) -> Text {
    Text::new(op).push(": ")
}

/// Names a value's type in an error's text: `f16 [64, 32]`.
pub(crate) const fn describe(text: Text, tile: &Tile) -> Text {
    let text = if tile.ty.is_pointer() { text.push("address of ") } else { text };
    let text = text.push(tile.ty.dtype.name());
    match tile.ty.layout {
        None => text,
        Some(layout) => text.push(" ").shape(&layout.shape()),
    }
}

/// The block's number along axis 0, 1 or 2 of the grid, `i32`.
#[track_caller]
pub const fn program_id(trace: &mut Trace<'_>, axis: usize) -> Tile {
    check_axis(trace, "program_id", axis);
    trace.emit(OpKind::ProgramId(axis as u32), TileType::scalar(DType::I32))
}

/// The grid's extent along axis 0, 1 or 2, `i32`.
#[track_caller]
pub const fn num_programs(trace: &mut Trace<'_>, axis: usize) -> Tile {
    check_axis(trace, "num_programs", axis);
    trace.emit(OpKind::NumPrograms(axis as u32), TileType::scalar(DType::I32))
}

#[track_caller]
const fn check_axis(trace: &mut Trace<'_>, op: &str, axis: usize) {
    if axis >= 3 {
        trace.fail(text(op).push("there is no axis ").number(axis).push("; a grid has the axes 0, 1 and 2"));
    }
}

/// 0, 1, 2, … along a layout of rank 1, `i32`.
#[track_caller]
pub const fn arange(trace: &mut Trace<'_>, layout: Layout) -> Tile {
    let layout = trace.given("arange", layout);
    if layout.shape().rank() != 1 && !trace.failed() {
        let text = text("arange").push("the layout must have rank 1, this one is of ").shape(&layout.shape());
        trace.fail(text.push("; take the slice of it along the dimension you want"));
    }
    trace.emit(OpKind::Arange, TileType::tile(DType::I32, layout))
}

/// One value in every element. `full::<f32>(layout, -1.0)`
#[track_caller]
pub const fn full<T: Element>(trace: &mut Trace<'_>, layout: Layout, value: Operand) -> Tile {
    filled::<T>(trace, "full", layout, value)
}

#[track_caller]
pub(crate) const fn filled<T: Element>(trace: &mut Trace<'_>, name: &str, layout: Layout, value: Operand) -> Tile {
    let layout = trace.given(name, layout);
    let value = scalar_for::<T>(trace, name, value);
    trace.emit(OpKind::Splat(value.value), TileType::tile(T::DTYPE, layout))
}

/// Zero in every element. `zeros::<f32>(layout)`
#[track_caller]
pub const fn zeros<T: Element>(trace: &mut Trace<'_>, layout: Layout) -> Tile {
    let zero = if T::DTYPE.is_float() { Operand::Float(0.0) } else { Operand::Int(0) };
    filled::<T>(trace, "zeros", layout, zero)
}

/// A comptime number as a run-time scalar. `scalar::<i32>(0)`
#[track_caller]
pub const fn scalar<T: Element>(trace: &mut Trace<'_>, value: Operand) -> Tile {
    scalar_for::<T>(trace, "scalar", value)
}

#[track_caller]
const fn scalar_for<T: Element>(trace: &mut Trace<'_>, name: &str, value: Operand) -> Tile {
    let value = value.tile(trace, name, T::DTYPE);
    if !value.is_scalar() || !value.ty.dtype.is(T::DTYPE) || value.ty.is_pointer() {
        let text = text(name).push("a scalar of ").push(T::DTYPE.name()).push(" is wanted, this is ");
        trace.fail(describe(text, &value).push("; convert it with `as`"));
    }
    value
}

/// Reads the elements at these addresses.
#[track_caller]
pub const fn load(trace: &mut Trace<'_>, pointer: Tile) -> Tile {
    let ty = pointed_to(trace, "load", &pointer);
    trace.emit(OpKind::Load { pointer: pointer.value, mask: None, other: None, hint: Hint::NONE }, ty)
}

/// Reads the elements at these addresses where the mask holds; gives `other` elsewhere and touches nothing there.
#[track_caller]
pub const fn load_masked(trace: &mut Trace<'_>, pointer: Tile, mask: Tile, other: Operand) -> Tile {
    let ty = pointed_to(trace, "load_masked", &pointer);
    check_mask(trace, "load_masked", &pointer, &mask);
    let other = check_other(trace, "load_masked", &pointer, other);
    let kind =
        OpKind::Load { pointer: pointer.value, mask: Some(mask.value), other: Some(other.value), hint: Hint::NONE };
    trace.emit(kind, ty)
}

/// What a masked load gives elsewhere.
#[track_caller]
pub(super) const fn check_other(trace: &mut Trace<'_>, op: &str, pointer: &Tile, other: Operand) -> Tile {
    let dtype = pointer.ty.dtype;
    let other = other.tile(trace, op, dtype);
    if !other.ty.dtype.is(dtype) {
        let text = describe(text(op).push("other is "), &other);
        trace.fail(text.push(", the elements are ").push(dtype.name()));
    }
    covers(trace, op, pointer, &other);
    other
}

/// Writes the elements to these addresses.
#[track_caller]
pub const fn store(trace: &mut Trace<'_>, pointer: Tile, value: Tile) {
    check_store(trace, "store", &pointer, &value);
    has_its_warp(trace, "store", &pointer);
    trace.effect(OpKind::Store { pointer: pointer.value, value: value.value, mask: None, hint: Hint::NONE });
}

/// Writes the elements to these addresses where the mask holds.
#[track_caller]
pub const fn store_masked(trace: &mut Trace<'_>, pointer: Tile, value: Tile, mask: Tile) {
    check_store(trace, "store_masked", &pointer, &value);
    has_its_warp(trace, "store_masked", &pointer);
    check_mask(trace, "store_masked", &pointer, &mask);
    trace.effect(OpKind::Store {
        pointer: pointer.value,
        value: value.value,
        mask: Some(mask.value),
        hint: Hint::NONE,
    });
}

#[track_caller]
pub(super) const fn pointed_to(trace: &mut Trace<'_>, op: &str, pointer: &Tile) -> TileType {
    if !pointer.ty.is_pointer() {
        trace.fail(describe(text(op).push("addresses are wanted, this is "), pointer));
    }
    TileType { pointer: Pointer::No, ..pointer.ty }
}

#[track_caller]
pub(super) const fn check_store(trace: &mut Trace<'_>, op: &str, pointer: &Tile, value: &Tile) {
    pointed_to(trace, op, pointer);
    if matches!(pointer.ty.pointer, Pointer::Read) {
        trace.fail(text(op).push("the memory is only read; declare the kernel's parameter as PtrMut"));
    }
    if !value.ty.dtype.is(pointer.ty.dtype) || value.ty.is_pointer() {
        let text = describe(text(op), value).push(" to memory of ").push(pointer.ty.dtype.name());
        trace.fail(text.push("; convert the tile with `as`"));
    }
    covers(trace, op, pointer, value);
}

/// Inside a branch that each warp takes for itself, what is done once for an element must not be another warp's to do.
#[track_caller]
pub(super) const fn has_its_warp(trace: &mut Trace<'_>, op: &str, tile: &Tile) {
    if trace.in_one_warp() && !by_warp(&tile.ty) {
        let text = text(op).push("inside `if warp_any(..)` the warp that has it to do may not come along");
        trace.fail(text.push("; take a tile whose elements are each in one warp"));
    }
}

/// Whether each element is in one warp.
pub(super) const fn by_warp(ty: &TileType) -> bool {
    match &ty.layout {
        Some(layout) => layout.is_by_warp(),
        None => false,
    }
}

#[track_caller]
pub(super) const fn check_mask(trace: &mut Trace<'_>, op: &str, pointer: &Tile, mask: &Tile) {
    is_mask(trace, op, mask);
    covers(trace, op, pointer, mask);
}

#[track_caller]
pub(super) const fn is_mask(trace: &mut Trace<'_>, op: &str, mask: &Tile) {
    if !mask.ty.dtype.is(DType::Bool) || mask.ty.is_pointer() {
        trace.fail(describe(text(op).push("a mask is bool, this is "), mask).push("; compare it with a number"));
    }
}

/// A value beside addresses has their layout, or broadcasts to it.
#[track_caller]
const fn covers(trace: &mut Trace<'_>, op: &str, pointer: &Tile, value: &Tile) {
    let common = common_layout(trace, op, pointer, value);
    let same = match (&common, &pointer.ty.layout) {
        (Some(common), Some(own)) => common.same_tile(own),
        (None, None) => true,
        _ => false,
    };
    if !same && !trace.failed() {
        let text = describe(describe(text(op), value).push(" beside "), pointer);
        trace.fail(text.push("; the addresses must have the full shape"));
    }
}

/// `a` where the condition holds, else `b`, elementwise.
#[track_caller]
pub const fn select(trace: &mut Trace<'_>, condition: Tile, a: Operand, b: Operand) -> Tile {
    let (a, b, ty) = both(trace, "select", a, b);
    if !condition.ty.dtype.is(DType::Bool) || condition.ty.is_pointer() {
        trace.fail(describe(text("select").push("a condition is bool, this is "), &condition));
    }
    let either = Tile { value: a.value, ty };
    let layout = common_layout(trace, "select", &condition, &either);
    trace.emit(OpKind::Select(condition.value, a.value, b.value), ty.with_layout(layout))
}

/// a b + c on the matrix unit: `a` is [M, K], `b` is [K, N], `c` and the result are [M, N].
///
/// The layouts must be those of a unit's fragments, as [`Mma`](quadpair_layouts::Mma) gives them; `a` and `b` are f16, or
/// bf16 where the unit has it, `c` is f32. Of the units that fit the layouts the deepest is taken that the chip has: those
/// of m16n8k16 run as two m16n8k8 on sm_75.
#[track_caller]
pub const fn mma(trace: &mut Trace<'_>, a: Tile, b: Tile, c: Tile) -> Tile {
    if let Some(plan) = matrix_product(trace, "mma", a, b, c) {
        multiplies(trace, plan.atom, a, b, c);
    }
    trace.emit(OpKind::Mma(a.value, b.value, c.value), c.ty)
}

/// Checks that a unit multiplies these element types on the chip that the kernel is checked for.
#[track_caller]
const fn multiplies(trace: &mut Trace<'_>, unit: &Atom, a: Tile, b: Tile, c: Tile) {
    let bf16 = a.ty.dtype.is(DType::BF16);
    let known = (bf16 || a.ty.dtype.is(DType::F16)) && b.ty.dtype.is(a.ty.dtype) && c.ty.dtype.is(DType::F32);
    match unit.first_sm_of(bf16) {
        Some(first_sm) if known => {
            let name = Text::new(unit.name).push(if bf16 { " of bf16" } else { "" });
            trace.needs("mma", name.as_str(), first_sm);
        }
        _ => {
            let or = if unit.first_sm_bf16.is_some() { " or bf16 by bf16" } else { "" };
            let text =
                text("mma").push(unit.name).push(" multiplies f16 by f16").push(or).push(" into f32; these are ");
            let text = describe(describe(text, &a).push(", "), &b).push(" and ");
            trace.fail(describe(text, &c).push("; convert them with `as`"));
        }
    }
}

/// a b + c with fused multiply-adds in the accumulator's type: `a` is [M, K], `b` is [K, N], `c` and the result are
/// [M, N].
///
/// Every thread must hold all of k for its rows and columns, as [`Layout::operand_a`] and [`Layout::operand_b`] of
/// the accumulator's layout do.
///
/// A thread's multiply-adds are all written out, M N K / threads of them. Where that is more than some thousands (in four
/// warps, 2^19 in all) programs get long and slow to assemble: take k in smaller pieces, in a loop.
#[track_caller]
pub const fn dot(trace: &mut Trace<'_>, a: Tile, b: Tile, c: Tile) -> Tile {
    matrix_product(trace, "dot", a, b, c);
    if !(a.ty.dtype.is(b.ty.dtype) && a.ty.dtype.is_float() && c.ty.dtype.is(DType::F32)) {
        let text =
            describe(text("dot").push("two tiles of one floating-point type into f32 are wanted; these are "), &a);
        trace.fail(describe(describe(text.push(", "), &b).push(" and "), &c));
    }
    trace.emit(OpKind::Dot(a.value, b.value, c.value), c.ty)
}

#[track_caller]
const fn matrix_product(trace: &mut Trace<'_>, op: &str, a: Tile, b: Tile, c: Tile) -> Option<MmaPlan> {
    let (Some(left), Some(right), Some(sum)) = (&a.ty.layout, &b.ty.layout, &c.ty.layout) else {
        trace.fail(text(op).push("a scalar where a tile of rank 2 is wanted"));
        return None;
    };
    let plan = match op.as_bytes() {
        b"dot" => typing::dot(left, right, sum),
        _ => typing::mma_on(trace.sm(), 16, 32, left, right, sum),
    };
    match plan {
        Ok(plan) => Some(plan),
        Err(error) => {
            trace.broken(op, error);
            None
        }
    }
}

/// Stops the kernel with this message where the condition is false for any element.
#[track_caller]
pub const fn device_assert(trace: &mut Trace<'_>, condition: Tile, message: &'static str) {
    if !condition.ty.dtype.is(DType::Bool) || condition.ty.is_pointer() {
        trace.fail(describe(text("device_assert").push("a condition is bool, this is "), &condition));
    }
    trace.effect(OpKind::Assert(condition.value, message));
}

/// Fails the build of an instance with this message where the comptime condition is false.
#[track_caller]
pub const fn static_assert(trace: &mut Trace<'_>, condition: bool, message: &str) {
    if !condition {
        trace.fail(Text::new("static_assert: ").push(message));
    }
}

impl Tile {
    /// The elements converted to another type; also written `x as f16`.
    ///
    /// To a float they are rounded once, to nearest even; what is too large becomes infinity, in the 8-bit types the
    /// largest number, as the instructions of chips that have them do. A float becomes an integer towards zero, clamped
    /// to the integer's range, NaN as 0: as with Rust's `as`. An integer keeps its low bits. As `bool` everything but 0
    /// is true, NaN too. The sum of an `i32` and a constant that overflows has no defined 64-bit value.
    #[track_caller]
    pub const fn to<T: Element>(self, trace: &mut Trace<'_>) -> Tile {
        if self.ty.is_pointer() {
            trace.fail(describe(text("as").push("a number is wanted, this is "), &self).push("; load from it first"));
        }
        trace.emit(OpKind::Cast(self.value), self.ty.with_dtype(T::DTYPE))
    }

    /// The same bits as elements of another type of the same width: `x.bitcast::<i32>()`.
    #[track_caller]
    pub const fn bitcast<T: Element>(self, trace: &mut Trace<'_>) -> Tile {
        let (from, to) = (self.ty.dtype, T::DTYPE);
        if self.ty.is_pointer() || matches!(from, DType::Bool) || matches!(to, DType::Bool) {
            trace.fail(
                describe(text("bitcast"), &self)
                    .push(" as ")
                    .push(to.name())
                    .push(": bool and addresses have no bits to share"),
            );
        } else if from.bits() != to.bits() {
            let text =
                describe(text("bitcast"), &self).push(" has ").number(from.bits() as usize).push(" bits an element, ");
            let text = text.push(to.name()).push(" has ").number(to.bits() as usize);
            trace.fail(text.push("; convert the value with `as`"));
        }
        trace.emit(OpKind::Bitcast(self.value), self.ty.with_dtype(to))
    }

    /// The same elements, in row-major order, under another shape. Nothing moves.
    #[track_caller]
    pub const fn reshape<const N: usize>(self, trace: &mut Trace<'_>, shape: [usize; N]) -> Tile {
        let layout = self.tiled(trace, "reshape");
        let answer = typing::reshape(&layout, shape);
        self.relabelled(trace, "reshape", answer)
    }

    /// Dimension `i` of the result is dimension `order[i]` of the tile. Nothing moves.
    #[track_caller]
    pub const fn permute<const N: usize>(self, trace: &mut Trace<'_>, order: [usize; N]) -> Tile {
        let layout = self.tiled(trace, "permute");
        let answer = typing::permute(&layout, order);
        self.relabelled(trace, "permute", answer)
    }

    /// An extent of 1 inserted before dimension `axis`. Nothing moves.
    #[track_caller]
    pub const fn expand_dims(self, trace: &mut Trace<'_>, axis: usize) -> Tile {
        let layout = self.tiled(trace, "expand_dims");
        let answer = typing::expand_dims(&layout, axis);
        self.relabelled(trace, "expand_dims", answer)
    }

    /// Extents of 1 grown to the layout's shape; each thread must hold what its elements need.
    #[track_caller]
    pub const fn broadcast_to(self, trace: &mut Trace<'_>, layout: Layout) -> Tile {
        let own = self.tiled(trace, "broadcast_to");
        let layout = trace.given("broadcast_to", layout);
        let answer = typing::broadcast(&own, &layout);
        let layout = trace.rule("broadcast_to", answer, layout);
        trace.emit(OpKind::Broadcast(self.value), self.ty.with_layout(Some(layout)))
    }

    /// The same tile in another layout, at whatever cost.
    #[track_caller]
    pub const fn convert_layout(self, trace: &mut Trace<'_>, layout: Layout) -> Tile {
        self.converted(trace, "convert_layout", layout, Bound::Any)
    }

    /// The same tile in another layout; the build fails unless the conversion keeps the bound.
    ///
    /// `x.convert_layout_within(layout, Bound::NoSharedMemory)` takes shuffles even where shared memory would be cheaper.
    #[track_caller]
    pub const fn convert_layout_within(self, trace: &mut Trace<'_>, layout: Layout, bound: Bound) -> Tile {
        self.converted(trace, "convert_layout_within", layout, bound)
    }

    /// The same tile in another layout; the build fails unless every element stays in its thread.
    #[track_caller]
    pub const fn assert_trivial(self, trace: &mut Trace<'_>, layout: Layout) -> Tile {
        self.converted(trace, "assert_trivial", layout, Bound::Registers)
    }

    #[track_caller]
    const fn converted(self, trace: &mut Trace<'_>, name: &str, layout: Layout, bound: Bound) -> Tile {
        let own = self.tiled(trace, name);
        let layout = trace.given(name, layout);
        if let Err(error) = typing::convert(&own, &layout) {
            trace.broken(name, error);
        } else if !matches!(bound, Bound::Any) {
            self.check_bound(trace, name, &layout, bound);
        }
        trace.emit(OpKind::Convert(self.value, bound), self.ty.with_layout(Some(layout)))
    }

    #[track_caller]
    const fn check_bound(&self, trace: &mut Trace<'_>, name: &str, layout: &Layout, bound: Bound) {
        let (own, bits) = (self.layout(), self.ty.stored().bits());
        match convert::plan_within(&own, layout, bits, bound) {
            Ok(plan) if bound.allows(&plan) => {}
            Ok(plan) => trace.fail(text(name).push(plan.refusal(bound, &own, layout).as_str())),
            Err(error) => trace.broken(name, error),
        }
    }

    /// The layout, for an operation that has no meaning on scalars.
    #[track_caller]
    pub(crate) const fn tiled(&self, trace: &mut Trace<'_>, op: &str) -> Layout {
        if self.is_scalar() {
            trace.fail(describe(text(op).push("a tile is wanted, this is a scalar "), self));
        }
        self.layout()
    }

    #[track_caller]
    pub(crate) const fn relabelled(self, trace: &mut Trace<'_>, op: &str, answer: Result<Layout, Error>) -> Tile {
        let layout = trace.rule(op, answer, self.layout());
        trace.emit(OpKind::Relabel(self.value), self.ty.with_layout(Some(layout)))
    }
}
