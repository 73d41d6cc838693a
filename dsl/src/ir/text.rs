//! The readable form of a function: one operation a line, `v3: f32 [64, 32] = ...`, brackets indented.
//!
//! Layouts are numbered in the order that they first appear and spelt out once, under the operations.

use std::fmt;

use quadpair_layouts::Layout;

use super::{Apply, Factor, Function, Hint, Indexed, Memory, Op, OpKind, Pointer, TileType, Value};

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "kernel {} on {} warps", self.name, self.warps)?;
        let mut layouts = Layouts(Vec::new());
        let (mut depth, mut number) = (1, 0);
        for op in &self.ops {
            if matches!(op.kind, OpKind::EndFor | OpKind::EndIf | OpKind::Else | OpKind::EndApply) {
                depth -= 1;
            }
            write!(f, "{:indent$}", "", indent = depth * 4)?;
            if let Some(ty) = &op.result {
                write!(f, "v{number}: {} = ", layouts.type_text(ty))?;
                number += 1;
            }
            writeln!(f, "{}", operation(op))?;
            if matches!(
                op.kind,
                OpKind::For { .. } | OpKind::If(_) | OpKind::IfAny(_) | OpKind::Else | OpKind::Apply(_)
            ) {
                depth += 1;
            }
        }
        for (i, layout) in layouts.0.iter().enumerate() {
            writeln!(f, "#{i} = {layout}")?;
        }
        Ok(())
    }
}

/// The layouts seen so far.
struct Layouts(Vec<Layout>);

impl Layouts {
    fn number(&mut self, layout: &Layout) -> usize {
        self.0.iter().position(|known| known.equals(layout)).unwrap_or_else(|| {
            self.0.push(*layout);
            self.0.len() - 1
        })
    }

    fn type_text(&mut self, ty: &TileType) -> String {
        let star = match ty.pointer {
            Pointer::No => "",
            Pointer::Read => "*const ",
            Pointer::Write => "*mut ",
        };
        let name = ty.dtype.name();
        match &ty.layout {
            None => format!("{star}{name}"),
            Some(layout) => format!("{star}{name} {} #{}", layout.shape(), self.number(layout)),
        }
    }
}

fn v(value: Value) -> String {
    format!("v{}", value.index())
}

fn memory(memory: &Memory) -> String {
    let offset = memory.offset.map_or(String::new(), |offset| format!(" + {}", v(offset)));
    format!("shared{}{offset} ({} {})", memory.allocation, memory.dtype.name(), memory.layout.shape())
}

fn hinted(name: &str, hint: Hint) -> String {
    let said = hint.qualifiers().into_iter().map(|own| format!(" {own}")).collect::<String>();
    format!("{name}{said}")
}

fn indexed(place: &Indexed) -> String {
    format!("{} at {} axis {}", memory(&place.memory), v(place.index), place.axis)
}

/// What an operation does, in a line.
pub(crate) fn operation(op: &Op) -> String {
    let operands = || op.kind.operands().into_iter().map(v).collect::<Vec<_>>().join(", ");
    let named = |name: &str| format!("{name} {}", operands());
    match op.kind {
        OpKind::None => "none".to_owned(),
        OpKind::Parameter { name, index } => format!("parameter {index} {name}"),
        OpKind::Integer(value) => value.to_string(),
        OpKind::Float(value) => format!("{value:?}"),
        OpKind::ProgramId(axis) => format!("program_id {axis}"),
        OpKind::NumPrograms(axis) => format!("num_programs {axis}"),
        OpKind::NumWarps => "num_warps".to_owned(),
        OpKind::Arange => "arange".to_owned(),
        OpKind::Splat(_) => named("splat"),
        OpKind::Unary(unary, _) => named(&format!("{unary:?}").to_lowercase()),
        OpKind::Binary(binary, ..) => named(&format!("{binary:?}").to_lowercase()),
        OpKind::Compare(compare, ..) => named(&format!("{compare:?}").to_lowercase()),
        OpKind::Select(..) => named("select"),
        OpKind::Fma(..) => named("fma"),
        OpKind::Cast(_) => named("cast"),
        OpKind::Bitcast(_) => named("bitcast"),
        OpKind::MultipleOf(a, n) => format!("multiple_of {} {n}", v(a)),
        OpKind::Runs { of, axis, length, rising } => {
            let kind = if rising { "rising" } else { "constant" };
            format!("runs {} {kind} axis {axis} length {length}", v(of))
        }
        OpKind::Assume(_) => named("assume"),
        OpKind::Load { hint, .. } => named(&hinted("load", hint)),
        OpKind::Store { hint, .. } => named(&hinted("store", hint)),
        OpKind::Atomic { atomic, .. } => {
            let op = format!("{:?}", atomic.op).to_lowercase();
            named(&format!("atomic {op} {} {}", atomic.order.name(), atomic.scope.name()))
        }
        OpKind::Relabel(_) => named("relabel"),
        OpKind::Join(..) => named("join"),
        OpKind::Part(_, start) => format!("part of {} from element {start} on", operands()),
        OpKind::Half(_, which) => format!("half {which} of {}", operands()),
        OpKind::UnpackFp4(_) => named("unpack_fp4"),
        OpKind::Broadcast(_) => named("broadcast"),
        OpKind::Apply(apply) => applied(apply),
        OpKind::Element(_) => named("element"),
        OpKind::Give(_) => named("give"),
        OpKind::EndApply => "end apply".to_owned(),
        OpKind::Convert(..) => named("convert"),
        OpKind::Allocate(ref place) => format!("allocate {}", memory(place)),
        OpKind::SharedStore(ref place, value) => format!("store {} to {}", v(value), memory(place)),
        OpKind::SharedLoad(ref place) => format!("load {}", memory(place)),
        OpKind::SharedGather(ref place) => format!("gather {}", indexed(place)),
        OpKind::SharedScatter(ref place, values) => format!("scatter {} to {}", v(values), indexed(place)),
        OpKind::SharedAtomic { atomic, ref place, .. } => {
            named(&format!("atomic {} at {} with", format!("{:?}", atomic.op).to_lowercase(), indexed(place)))
        }
        OpKind::Gather { source, index, axis } => format!("gather {} at {} axis {axis}", v(source), v(index)),
        OpKind::Histogram(_) => named("histogram"),
        OpKind::Bound(index, extent) => format!("bound {} {extent}", v(index)),
        OpKind::AsyncCopy { memory: ref place, pointer, mask } => {
            let masked = mask.map_or(String::new(), |mask| format!(" where {}", v(mask)));
            format!("async copy from {} to {}{masked}", v(pointer), memory(place))
        }
        OpKind::BlocksAtOnce(blocks) => format!("{blocks} blocks at once"),
        OpKind::CommitGroup => "commit group".to_owned(),
        OpKind::WaitGroup(groups) => format!("wait group {groups}"),
        OpKind::Barrier => "barrier".to_owned(),
        OpKind::Mma(..) => named("mma"),
        OpKind::WarpgroupMma(a, ref b, c) => {
            let left = match a {
                Factor::Tile(a) => v(a),
                Factor::Memory(ref place) => memory(place),
            };
            format!("warpgroup_mma {left} by {} into {}", memory(b), v(c))
        }
        OpKind::Dot(..) => named("dot"),
        OpKind::Asm(asm) => {
            let kind = if asm.pure { "asm" } else { "asm with effects" };
            format!("{kind} {:?} pack {} of {}", asm.text, asm.pack, operands())
        }
        OpKind::AsmResult(a, position) => format!("result {position} of {}", v(a)),
        OpKind::Print { name, .. } => named(&format!("print {name:?}")),
        OpKind::Assert(condition, message) => format!("assert {} {message:?}", v(condition)),
        OpKind::For { lo, hi, step } => format!("for {} .. {} by {}", v(lo), v(hi), v(step)),
        OpKind::Carry(_) => named("carry"),
        OpKind::Yield { carried, next } => format!("yield {} = {}", v(carried), v(next)),
        OpKind::EndFor => "end for".to_owned(),
        OpKind::If(_) => named("if"),
        OpKind::IfAny(_) => named("if_any"),
        OpKind::Else => "else".to_owned(),
        OpKind::Merge(..) => named("merge"),
        OpKind::EndIf => "end if".to_owned(),
    }
}

fn applied(apply: Apply) -> String {
    match apply {
        Apply::Map => "map".to_owned(),
        Apply::Reduce { axis, commutative: false } => format!("reduce axis {axis}"),
        Apply::Reduce { axis, commutative: true } => format!("reduce axis {axis} in any order"),
        Apply::Scan { axis, reverse: false } => format!("scan axis {axis}"),
        Apply::Scan { axis, reverse: true } => format!("scan axis {axis} from the end"),
    }
}
