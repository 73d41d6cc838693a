//! Inline assembly: an author's PTX over packs of elements.
//!
//! In the text `$0`, `$1`, … are registers: first the results', then each operand's, a pack of each at a time. A pack is
//! `pack` consecutive registers of a thread. Their classes follow from the element types, so there are no constraints to
//! write: `f32` and `f64` have float registers of their width, `bool` predicates, integers 32 bits (64-bit ones 64),
//! `f16` and `bf16` lie two to a 32-bit register, and 8-bit types four to one where `pack` is a multiple of four, else one.
//! To have a float's bits in an integer register, [`bitcast`](Tile::bitcast) it first.

use crate::element::{DType, Element};
use crate::ir::{Asm, MAX_ASM_ARGS, MAX_ASM_RESULTS, OpKind, TileType, Value};
use crate::lang::operators::common_layout;
use crate::lang::ops::text;
use crate::lang::{Tile, Trace};

/// Inline assembly with one result: `pack` elements of each operand, and of the result, a call. Operands broadcast.
///
/// It has no effect but its result, and is left out where that isn't used; see [`inline_asm`] for what has.
#[track_caller]
pub const fn inline_asm_elementwise<T: Element, const N: usize>(
    trace: &mut Trace<'_>,
    assembly: &'static str,
    args: [Tile; N],
    pack: usize,
) -> Tile {
    record(trace, "inline_asm_elementwise", assembly, &args, &[T::DTYPE], pack, true)[0]
}

/// Inline assembly with several results, given by their element types: `inline_asm(TEXT, [a, b], [DType::F32,
/// DType::I32], 1, true)`. Operands broadcast.
///
/// If it is pure it has no effect but its results, and is left out where none of them is used. Otherwise it stays, in the
/// order of loads and stores.
#[track_caller]
pub const fn inline_asm<const N: usize, const M: usize>(
    trace: &mut Trace<'_>,
    assembly: &'static str,
    args: [Tile; N],
    results: [DType; M],
    pack: usize,
    pure: bool,
) -> [Tile; M] {
    let all = record(trace, "inline_asm", assembly, &args, &results, pack, pure);
    let (mut own, mut i) = ([all[0]; M], 0);
    while i < M && i < MAX_ASM_RESULTS {
        own[i] = all[i];
        i += 1;
    }
    own
}

#[track_caller]
const fn record(
    trace: &mut Trace<'_>,
    name: &str,
    text: &'static str,
    args: &[Tile],
    results: &[DType],
    pack: usize,
    pure: bool,
) -> [Tile; MAX_ASM_RESULTS] {
    let counts = [(args.len(), MAX_ASM_ARGS, " operands"), (results.len(), MAX_ASM_RESULTS, " results")];
    if let Some(fault) = out_of_range(name, &counts) {
        trace.fail(fault);
        return [Tile { value: Value(0), ty: TileType::scalar(DType::I32) }; MAX_ASM_RESULTS];
    }
    let whole = common_type(trace, name, args);
    check_pack(trace, name, &whole, pack);
    let (mut values, mut i) = ([args[0].value; MAX_ASM_ARGS], 0);
    while i < args.len() {
        values[i] = args[i].value;
        i += 1;
    }
    let (mut types, mut i) = ([results[0]; MAX_ASM_RESULTS], 0);
    while i < results.len() {
        types[i] = results[i];
        i += 1;
    }
    let (arg_count, result_count) = (args.len() as u32, results.len() as u32);
    let asm = Asm { text, args: values, arg_count, results: types, result_count, pack: pack as u32, pure };
    let first = trace.emit(OpKind::Asm(asm), whole.with_dtype(results[0]));
    let (mut tiles, mut i) = ([first; MAX_ASM_RESULTS], 1);
    while i < results.len() {
        tiles[i] = trace.emit(OpKind::AsmResult(first.value, i as u32), whole.with_dtype(results[i]));
        i += 1;
    }
    tiles
}

const fn out_of_range(name: &str, counts: &[(usize, usize, &str)]) -> Option<quadpair_layouts::Text> {
    let mut i = 0;
    while i < counts.len() {
        let (count, most, what) = counts[i];
        if count == 0 || count > most {
            return Some(text(name).number(count).push(what).push("; 1 to ").number(most).push(" are possible"));
        }
        i += 1;
    }
    None
}

/// The type that all operands broadcast to; its element type means nothing.
#[track_caller]
pub(super) const fn common_type(trace: &mut Trace<'_>, name: &str, args: &[Tile]) -> TileType {
    let (mut whole, mut i) = (largest(args), 0);
    while i < args.len() {
        let layout = common_layout(trace, name, &whole, &args[i]);
        whole.ty = whole.ty.with_layout(layout);
        i += 1;
    }
    whole.ty
}

#[track_caller]
const fn check_pack(trace: &mut Trace<'_>, name: &str, whole: &TileType, pack: usize) {
    let registers = match &whole.layout {
        Some(layout) => layout.registers(),
        None => 1,
    };
    if pack == 0 || !registers.is_multiple_of(pack) {
        let text = text(name).push("pack ").number(pack).push(" does not divide the ");
        trace.fail(text.number(registers).push(" elements of a thread; a power of two up to that does"));
    }
}

/// The first of the tiles with the most elements: where one of them has the full shape, the others broadcast to it.
pub(super) const fn largest(tiles: &[Tile]) -> Tile {
    let (mut largest, mut i) = (tiles[0], 1);
    while i < tiles.len() {
        if tiles[i].shape().len() > largest.shape().len() {
            largest = tiles[i];
        }
        i += 1;
    }
    largest
}
