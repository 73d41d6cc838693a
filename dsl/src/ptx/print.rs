//! The printer: a [`Module`] as PTX text.
//!
//! The text is a function of the module alone, and [`parse`](super::parse()) reads it back to an equal one. An
//! instruction is an opcode and its operands: `opcode` joins the modifiers with dots and `operands` spells the rest.
//! The tables of spellings at the top serve the parser too, so the two can't disagree about a name. Comments hold one
//! line each: a line break in one makes it two comments.

use super::ast::*;

pub(super) const TYPES: [(Type, &str); 19] = [
    (Type::Pred, "pred"),
    (Type::B8, "b8"),
    (Type::B16, "b16"),
    (Type::B32, "b32"),
    (Type::B64, "b64"),
    (Type::U8, "u8"),
    (Type::U16, "u16"),
    (Type::U32, "u32"),
    (Type::U64, "u64"),
    (Type::S8, "s8"),
    (Type::S16, "s16"),
    (Type::S32, "s32"),
    (Type::S64, "s64"),
    (Type::F16, "f16"),
    (Type::F16x2, "f16x2"),
    (Type::BF16, "bf16"),
    (Type::BF16x2, "bf16x2"),
    (Type::F32, "f32"),
    (Type::F64, "f64"),
];

pub(super) const SPECIALS: [(Special, &str); 20] = [
    (Special::TidX, "%tid.x"),
    (Special::TidY, "%tid.y"),
    (Special::TidZ, "%tid.z"),
    (Special::NtidX, "%ntid.x"),
    (Special::NtidY, "%ntid.y"),
    (Special::NtidZ, "%ntid.z"),
    (Special::CtaidX, "%ctaid.x"),
    (Special::CtaidY, "%ctaid.y"),
    (Special::CtaidZ, "%ctaid.z"),
    (Special::NctaidX, "%nctaid.x"),
    (Special::NctaidY, "%nctaid.y"),
    (Special::NctaidZ, "%nctaid.z"),
    (Special::LaneId, "%laneid"),
    (Special::WarpId, "%warpid"),
    (Special::LaneMaskLt, "%lanemask_lt"),
    (Special::LaneMaskLe, "%lanemask_le"),
    (Special::LaneMaskGt, "%lanemask_gt"),
    (Special::LaneMaskGe, "%lanemask_ge"),
    (Special::LaneMaskEq, "%lanemask_eq"),
    (Special::Clock, "%clock"),
];

pub(super) const SPACES: [(Space, &str); 6] = [
    (Space::Generic, ""),
    (Space::Global, "global"),
    (Space::Shared, "shared"),
    (Space::Param, "param"),
    (Space::Local, "local"),
    (Space::Const, "const"),
];

pub(super) const ROUNDINGS: [(Rounding, &str); 8] = [
    (Rounding::Rn, "rn"),
    (Rounding::Rz, "rz"),
    (Rounding::Rm, "rm"),
    (Rounding::Rp, "rp"),
    (Rounding::Rni, "rni"),
    (Rounding::Rzi, "rzi"),
    (Rounding::Rmi, "rmi"),
    (Rounding::Rpi, "rpi"),
];

/// Each operation, its spelling and how many operands it takes.
pub(super) const ALUS: [(Alu, &str, usize); 39] = [
    (Alu::Add, "add", 2),
    (Alu::Sub, "sub", 2),
    (Alu::Mul, "mul", 2),
    (Alu::MulLo, "mul.lo", 2),
    (Alu::MulHi, "mul.hi", 2),
    (Alu::MulWide, "mul.wide", 2),
    (Alu::MadLo, "mad.lo", 3),
    (Alu::MadHi, "mad.hi", 3),
    (Alu::MadWide, "mad.wide", 3),
    (Alu::Fma, "fma", 3),
    (Alu::Div, "div", 2),
    (Alu::Rem, "rem", 2),
    (Alu::Min, "min", 2),
    (Alu::Max, "max", 2),
    (Alu::Neg, "neg", 1),
    (Alu::Abs, "abs", 1),
    (Alu::Not, "not", 1),
    (Alu::And, "and", 2),
    (Alu::Or, "or", 2),
    (Alu::Xor, "xor", 2),
    (Alu::Shl, "shl", 2),
    (Alu::Shr, "shr", 2),
    (Alu::ShfL, "shf.l.wrap", 3),
    (Alu::ShfR, "shf.r.wrap", 3),
    (Alu::Lop3, "lop3", 4),
    (Alu::Prmt, "prmt", 3),
    (Alu::Bfe, "bfe", 3),
    (Alu::Bfi, "bfi", 4),
    (Alu::Popc, "popc", 1),
    (Alu::Clz, "clz", 1),
    (Alu::Brev, "brev", 1),
    (Alu::Ex2, "ex2", 1),
    (Alu::Lg2, "lg2", 1),
    (Alu::Rcp, "rcp", 1),
    (Alu::Sqrt, "sqrt", 1),
    (Alu::Rsqrt, "rsqrt", 1),
    (Alu::Sin, "sin", 1),
    (Alu::Cos, "cos", 1),
    (Alu::Tanh, "tanh", 1),
];

pub(super) const COMPARES: [(Compare, &str); 14] = [
    (Compare::Eq, "eq"),
    (Compare::Ne, "ne"),
    (Compare::Lt, "lt"),
    (Compare::Le, "le"),
    (Compare::Gt, "gt"),
    (Compare::Ge, "ge"),
    (Compare::Equ, "equ"),
    (Compare::Neu, "neu"),
    (Compare::Ltu, "ltu"),
    (Compare::Leu, "leu"),
    (Compare::Gtu, "gtu"),
    (Compare::Geu, "geu"),
    (Compare::Num, "num"),
    (Compare::Nan, "nan"),
];

pub(super) const COMBINES: [(Combine, &str); 3] = [(Combine::And, "and"), (Combine::Or, "or"), (Combine::Xor, "xor")];

pub(super) const SHUFFLES: [(Shuffle, &str); 4] =
    [(Shuffle::Up, "up"), (Shuffle::Down, "down"), (Shuffle::Butterfly, "bfly"), (Shuffle::Index, "idx")];

pub(super) const VOTES: [(Vote, &str); 4] =
    [(Vote::Any, "any"), (Vote::All, "all"), (Vote::Uni, "uni"), (Vote::Ballot, "ballot")];

pub(super) const ATOMICS: [(Atomic, &str); 8] = [
    (Atomic::Add, "add"),
    (Atomic::Min, "min"),
    (Atomic::Max, "max"),
    (Atomic::And, "and"),
    (Atomic::Or, "or"),
    (Atomic::Xor, "xor"),
    (Atomic::Exch, "exch"),
    (Atomic::Cas, "cas"),
];

/// Qualifiers of loads and stores that stand before the state space; the others stand after it.
pub(super) const LEADING: [&str; 10] =
    ["volatile", "weak", "relaxed", "acquire", "release", "mmio", "cta", "cluster", "gpu", "sys"];

/// Register prefixes and declaration types, in the order of [`Class::ALL`].
pub(super) const CLASSES: [(Class, &str, &str); 6] = [
    (Class::Pred, "%p", ".pred"),
    (Class::B16, "%h", ".b16"),
    (Class::B32, "%r", ".b32"),
    (Class::B64, "%rd", ".b64"),
    (Class::F32, "%f", ".f32"),
    (Class::F64, "%fd", ".f64"),
];

fn spell<T: Copy + PartialEq>(table: &[(T, &'static str)], value: T) -> &'static str {
    table.iter().find(|(key, _)| *key == value).map_or("", |(_, text)| text)
}

/// Whether an atomic operation on this type needs `.noftz`.
pub(super) fn needs_noftz(op: Atomic, ty: Type) -> bool {
    op == Atomic::Add && matches!(ty, Type::F16 | Type::F16x2 | Type::BF16 | Type::BF16x2)
}

/// The name the printer gives a register, such as `%r7`.
pub fn register_name(reg: Reg) -> String {
    let prefix = CLASSES.iter().find(|(class, ..)| *class == reg.class).map_or("", |(_, prefix, _)| prefix);
    format!("{prefix}{}", reg.index)
}

/// The module as PTX text.
pub fn print(module: &Module) -> String {
    let mut out = String::new();
    for line in &module.header {
        comment(&mut out, "", line);
    }
    let (major, minor) = module.version;
    let specific = flag(module.specific, "a");
    out.push_str(&format!(".version {major}.{minor}\n.target sm_{}{specific}\n.address_size 64\n", module.target));
    for (position, path) in module.files.iter().enumerate() {
        let path = path.replace('\\', "\\\\").replace('"', "\\\"");
        out.push_str(&format!(".file {} \"{path}\"\n", position + 1));
    }
    if !(module.functions.is_empty() && module.constants.is_empty() && module.shared.is_empty()) {
        out.push('\n');
    }
    module.functions.iter().for_each(|function| out.push_str(&declaration(function)));
    module.constants.iter().for_each(|own| out.push_str(&constant(own)));
    for array in &module.shared {
        out.push_str(&shared(array));
    }
    for entry in &module.entries {
        print_entry(&mut out, entry);
    }
    out
}

fn print_entry(out: &mut String, entry: &Entry) {
    let params: Vec<_> = entry.params.iter().map(|p| format!(".param .{} {}", spell(&TYPES, p.ty), p.name)).collect();
    out.push_str(&format!("\n.visible .entry {}({})\n", entry.name, params.join(", ")));
    if let Some([x, y, z]) = entry.max_threads {
        out.push_str(&format!(".maxntid {x}, {y}, {z}\n"));
    }
    if let Some(blocks) = entry.min_blocks {
        out.push_str(&format!(".minnctapersm {blocks}\n"));
    }
    out.push_str("{\n");
    for ((_, prefix, ty), count) in CLASSES.iter().zip(entry.registers) {
        if count > 0 {
            out.push_str(&format!("\t.reg {ty} {prefix}<{count}>;\n"));
        }
    }
    for array in &entry.shared {
        out.push('\t');
        out.push_str(&shared(array));
    }
    for LocalArray { name, align, bytes } in &entry.local {
        out.push_str(&format!("\t.local .align {align} .b8 {name}[{bytes}];\n"));
    }
    for statement in &entry.body {
        print_statement(out, statement);
    }
    out.push_str("}\n");
}

fn declaration(function: &Function) -> String {
    let param = |(i, ty): (usize, &Type)| format!(".param .{} arg{i}", spell(&TYPES, *ty));
    let params: Vec<String> = function.params.iter().enumerate().map(param).collect();
    let result = function.result.map_or(String::new(), |ty| format!("(.param .{} result) ", spell(&TYPES, ty)));
    format!(".extern .func {result}{}({});\n", function.name, params.join(", "))
}

fn constant(constant: &Constant) -> String {
    let bytes: Vec<String> = constant.bytes.iter().map(u8::to_string).collect();
    format!(".global .align 1 .b8 {}[{}] = {{{}}};\n", constant.name, bytes.len(), bytes.join(", "))
}

fn shared(array: &SharedArray) -> String {
    let linkage = if array.external { ".extern " } else { "" };
    let size = if array.external && array.bytes == 0 { String::new() } else { array.bytes.to_string() };
    format!("{linkage}.shared .align {} .b8 {}[{size}];\n", array.align, array.name)
}

fn comment(out: &mut String, indent: &str, text: &str) {
    for line in text.split(['\n', '\r']) {
        let space = if line.is_empty() { "" } else { " " };
        out.push_str(&format!("{indent}//{space}{line}\n"));
    }
}

fn print_statement(out: &mut String, statement: &Statement) {
    match statement {
        Statement::Label(label) => out.push_str(&format!("{}:\n", label_name(*label))),
        Statement::Loc { file, line, column } => out.push_str(&format!("\t.loc {file} {line} {column}\n")),
        Statement::Comment(text) => comment(out, "\t", text),
        Statement::Promise(promise) => comment(out, "\t", &promise.text()),
        Statement::Instruction { guard, op } => {
            let guard = guard.map_or(String::new(), |guard| format!("@{} ", guarded(guard)));
            if let Op::Call { function, result, args } = op {
                return call(out, &guard, function, result, args);
            }
            let operands = operands(op).join(", ");
            let space = if operands.is_empty() { "" } else { " " };
            out.push_str(&format!("\t{guard}{}{space}{operands};\n", opcode(op)));
        }
    }
}

fn call(out: &mut String, guard: &str, function: &str, result: &Option<(Type, Option<Reg>)>, args: &[(Type, Operand)]) {
    let mut lines = Vec::new();
    for (i, (ty, arg)) in args.iter().enumerate() {
        let ty = ty_name(ty);
        lines.push(format!(".param .{ty} arg{i}"));
        lines.push(format!("st.param.{ty} [arg{i}], {}", operand(arg)));
    }
    lines.extend(result.map(|(ty, _)| format!(".param .{} result", ty_name(&ty))));
    let given = if result.is_some() { "(result), " } else { "" };
    let names: Vec<String> = (0..args.len()).map(|i| format!("arg{i}")).collect();
    lines.push(format!("{guard}call {given}{function}, ({})", names.join(", ")));
    if let Some((ty, Some(dst))) = result {
        lines.push(format!("ld.param.{} {}, [result]", ty_name(ty), reg(dst)));
    }
    out.push_str(&format!("\t{{\n\t{};\n\t}}\n", lines.join(";\n\t")));
}

fn label_name(label: Label) -> String {
    format!("$L{}", label.0)
}

fn guarded(guard: Guard) -> String {
    let sign = if guard.negated { "!" } else { "" };
    format!("{sign}{}", register_name(guard.reg))
}

/// The parts that aren't empty, joined with dots.
fn dotted<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".")
}

fn flag(set: bool, text: &'static str) -> &'static str {
    if set { text } else { "" }
}

fn ty_name(ty: &Type) -> &'static str {
    spell(&TYPES, *ty)
}

fn round_name(rounding: &Option<Rounding>) -> &'static str {
    rounding.map_or("", |rounding| spell(&ROUNDINGS, rounding))
}

fn opcode(op: &Op) -> String {
    match op {
        Op::Mov { ty, .. } | Op::Pack { ty, .. } | Op::Unpack { ty, .. } => dotted(["mov", ty_name(ty)]),
        Op::Alu { op, rounding, approx, ftz, sat, ty, .. } => {
            let (_, name, _) = ALUS.iter().find(|(key, ..)| key == op).unwrap_or(&ALUS[0]);
            let approx = flag(*approx, if *op == Alu::Div { "full" } else { "approx" });
            dotted([name, round_name(rounding), approx, flag(*ftz, "ftz"), flag(*sat, "sat"), ty_name(ty)])
        }
        Op::Setp { compare, ftz, ty, combine, .. } => {
            let combine = combine.map_or("", |(combine, _)| spell(&COMBINES, combine));
            dotted(["setp", spell(&COMPARES, *compare), combine, flag(*ftz, "ftz"), ty_name(ty)])
        }
        Op::Selp { ty, .. } => dotted(["selp", ty_name(ty)]),
        Op::Cvt { rounding, ftz, sat, to, from, .. } => {
            dotted(["cvt", round_name(rounding), flag(*ftz, "ftz"), flag(*sat, "sat"), ty_name(to), ty_name(from)])
        }
        Op::CvtPair { to, .. } => dotted(["cvt.rn", ty_name(to), "f32"]),
        Op::Cvta { to, space, .. } => dotted(["cvta", flag(*to, "to"), spell(&SPACES, *space), "u64"]),
        Op::Ld { space, qualifiers, ty, dst, .. } => access("ld", *space, qualifiers, dst.len(), ty),
        Op::St { space, qualifiers, ty, src, .. } => access("st", *space, qualifiers, src.len(), ty),
        Op::Atom { op, qualifiers, space, ty, dst, .. } => {
            let name = if dst.is_some() { "atom" } else { "red" };
            let noftz = flag(needs_noftz(*op, *ty), "noftz");
            let head = [name].into_iter().chain(qualifiers.iter().map(String::as_str));
            dotted(head.chain([spell(&SPACES, *space), spell(&ATOMICS, *op), noftz, ty_name(ty)]))
        }
        Op::Bra { uniform, .. } => dotted(["bra", flag(*uniform, "uni")]),
        Op::Call { .. } => "call".into(),
        Op::Ret => "ret".into(),
        Op::Trap => "trap".into(),
        Op::Bar { .. } => "bar.sync".into(),
        Op::PmEvent { .. } => "pmevent".into(),
        Op::WarpSync { .. } => "bar.warp.sync".into(),
        Op::Fence { text } => text.clone(),
        Op::Shfl { mode, .. } => dotted(["shfl.sync", spell(&SHUFFLES, *mode), "b32"]),
        Op::Vote { mode, .. } => vote(*mode),
        Op::ActiveMask { .. } => "activemask.b32".into(),
        Op::LdMatrix { transposed, dst, .. } => {
            let count = format!("x{}", dst.len());
            dotted(["ldmatrix.sync.aligned.m8n8", &count, flag(*transposed, "trans"), "shared.b16"])
        }
        Op::CpAsync { global, .. } => dotted(["cp.async", if *global { "cg" } else { "ca" }, "shared.global"]),
        Op::CpAsyncCommit => "cp.async.commit_group".into(),
        Op::CpAsyncWait { .. } => "cp.async.wait_group".into(),
        Op::Mma { shape, a_row, b_row, types, .. } => mma(shape, [*a_row, *b_row], types),
        Op::Wgmma(Wgmma { n, ty, .. }) => {
            let shape = format!("m64n{n}k16");
            dotted(["wgmma.mma_async.sync.aligned", &shape, "f32", ty_name(ty), ty_name(ty)])
        }
        Op::WgmmaFence => "wgmma.fence.sync.aligned".into(),
        Op::WgmmaCommit => "wgmma.commit_group.sync.aligned".into(),
        Op::WgmmaWait { .. } => "wgmma.wait_group.sync.aligned".into(),
    }
}

fn access(name: &str, space: Space, qualifiers: &[String], count: usize, ty: &Type) -> String {
    let is_leading = |qualifier: &&str| LEADING.contains(qualifier);
    let all = || qualifiers.iter().map(String::as_str);
    let vector = if count == 1 { String::new() } else { format!("v{count}") };
    let head = [name].into_iter().chain(all().filter(is_leading)).chain([spell(&SPACES, space)]);
    dotted(head.chain(all().filter(|qualifier| !is_leading(qualifier))).chain([vector.as_str(), ty_name(ty)]))
}

fn vote(mode: Vote) -> String {
    dotted(["vote.sync", spell(&VOTES, mode), if mode == Vote::Ballot { "b32" } else { "pred" }])
}

fn mma(shape: &str, rows: [bool; 2], types: &[Type; 4]) -> String {
    let [a, b] = rows.map(|row| if row { "row" } else { "col" });
    let [d, ta, tb, c] = types.map(|ty| spell(&TYPES, ty));
    dotted(["mma.sync.aligned", shape, a, b, d, ta, tb, c])
}

fn operands(op: &Op) -> Vec<String> {
    match op {
        Op::Mov { dst, src, .. } | Op::Cvt { dst, src, .. } | Op::Cvta { dst, src, .. } => vec![reg(dst), operand(src)],
        Op::CvtPair { dst, high, low, .. } => vec![reg(dst), operand(high), operand(low)],
        Op::Pack { dst, parts, .. } => vec![reg(dst), list(parts, operand)],
        Op::Unpack { parts, src, .. } => {
            let part = |part: &Option<Reg>| part.map_or("_".into(), register_name);
            vec![list(parts, part), operand(src)]
        }
        Op::Alu { dst, args, .. } => [reg(dst)].into_iter().chain(args.iter().map(operand)).collect(),
        Op::Setp { dst, a, b, combine, .. } => {
            let combined = combine.map(|(_, guard)| guarded(guard));
            [reg(dst), operand(a), operand(b)].into_iter().chain(combined).collect()
        }
        Op::Selp { dst, a, b, predicate, .. } => vec![reg(dst), operand(a), operand(b), reg(predicate)],
        Op::Ld { dst, address, .. } => vec![vector(dst, reg), place(address)],
        Op::St { src, address, .. } => vec![place(address), vector(src, operand)],
        Op::Atom { dst, address, args, .. } => {
            dst.iter().map(reg).chain([place(address)]).chain(args.iter().map(operand)).collect()
        }
        Op::Bra { target, .. } => vec![label_name(*target)],
        Op::Call { .. } | Op::Ret | Op::Trap | Op::Fence { .. } | Op::CpAsyncCommit => Vec::new(),
        Op::WgmmaFence | Op::WgmmaCommit => Vec::new(),
        Op::WgmmaWait { groups } => vec![groups.to_string()],
        Op::Wgmma(own) => wgmma(own),
        Op::LdMatrix { dst, address, .. } => vec![list(dst, reg), place(address)],
        Op::CpAsync { bytes, to, from, read, .. } => {
            [place(to), place(from), bytes.to_string()].into_iter().chain(read.iter().map(operand)).collect()
        }
        Op::CpAsyncWait { groups } => vec![groups.to_string()],
        Op::PmEvent { event } => vec![event.to_string()],
        Op::Bar { id, threads } => [*id].iter().chain(threads).map(u32::to_string).collect(),
        Op::WarpSync { mask } => vec![operand(mask)],
        Op::Shfl { dst, in_range, src, lane, clamp, mask, .. } => {
            let in_range = in_range.map_or(String::new(), |range| format!("|{}", register_name(range)));
            let first = format!("{}{in_range}", reg(dst));
            [first].into_iter().chain([src, lane, clamp, mask].map(operand)).collect()
        }
        Op::Vote { dst, src, mask, .. } => vec![reg(dst), guarded(*src), operand(mask)],
        Op::ActiveMask { dst } => vec![reg(dst)],
        Op::Mma { d, a, b, c, .. } => vec![list(d, reg), list(a, reg), list(b, reg), list(c, operand)],
    }
}

/// Neither operand is negated: the factors are 1.
fn wgmma(own: &Wgmma) -> Vec<String> {
    let (a, transposed) = match &own.a {
        WgmmaLeft::Registers(registers) => (list(registers, reg), None),
        WgmmaLeft::Memory { descriptor, transposed } => (reg(descriptor), Some(*transposed)),
    };
    let first = [list(&own.d, reg), a, reg(&own.b), reg(&own.adds), "1".into(), "1".into()];
    let flags = transposed.into_iter().chain([own.b_transposed]).map(|set| u32::from(set).to_string());
    first.into_iter().chain(flags).collect()
}

fn reg(reg: &Reg) -> String {
    register_name(*reg)
}

fn operand(operand: &Operand) -> String {
    match operand {
        Operand::Reg(reg) => register_name(*reg),
        Operand::Int(value) => value.to_string(),
        Operand::F32(bits) => format!("0f{bits:08X}"),
        Operand::F64(bits) => format!("0d{bits:016X}"),
        Operand::Special(special) => spell(&SPECIALS, *special).into(),
        Operand::Symbol(name) => name.clone(),
    }
}

fn list<T>(items: &[T], item: impl Fn(&T) -> String) -> String {
    format!("{{{}}}", items.iter().map(item).collect::<Vec<_>>().join(", "))
}

/// The operands of an access: in braces where there are several.
fn vector<T>(items: &[T], item: impl Fn(&T) -> String) -> String {
    match items {
        [single] => item(single),
        several => list(several, item),
    }
}

fn place(address: &Address) -> String {
    match address.offset {
        0 => format!("[{}]", operand(&address.base)),
        offset => format!("[{}+{offset}]", operand(&address.base)),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::ptx::promise::Promise;

    pub(in super::super) fn r(class: Class, index: u32) -> Reg {
        Reg { class, index }
    }

    fn x(index: u32) -> Operand {
        Operand::Reg(r(Class::B32, index))
    }

    fn b32s(numbers: std::ops::Range<u32>) -> Vec<Reg> {
        numbers.map(|index| r(Class::B32, index)).collect()
    }

    fn f32s(numbers: std::ops::Range<u32>) -> Vec<Reg> {
        numbers.map(|index| r(Class::F32, index)).collect()
    }

    fn at(offset: i64) -> Address {
        Address { base: Operand::Reg(r(Class::B64, 1)), offset }
    }

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(String::from).collect()
    }

    fn alu(op: Alu, ty: Type, class: Class, count: usize) -> Op {
        let mut args = vec![Operand::Reg(r(class, 1)); count];
        if op == Alu::Lop3 {
            args[3] = Operand::Int(0x96);
        }
        Op::Alu { op, rounding: None, approx: false, ftz: false, sat: false, ty, dst: r(class, 0), args }
    }

    fn moves() -> Vec<Op> {
        let h = |index| r(Class::B16, index);
        let mov = |ty, dst, src| Op::Mov { ty, dst, src };
        vec![
            mov(Type::U32, r(Class::B32, 0), Operand::Special(Special::TidX)),
            mov(Type::U32, r(Class::B32, 0), Operand::Symbol("sm".into())),
            mov(Type::F32, r(Class::F32, 0), Operand::F32(0x3F80_0000)),
            mov(Type::F64, r(Class::F64, 0), Operand::F64(0x3FF0_0000_0000_0000)),
            mov(Type::B64, r(Class::B64, 0), Operand::Int(i64::MIN)),
            mov(Type::S32, r(Class::B32, 0), Operand::Int(-7)),
            Op::Pack { ty: Type::B32, dst: r(Class::B32, 0), parts: vec![Operand::Reg(h(0)), Operand::Reg(h(1))] },
            Op::Unpack { ty: Type::B32, parts: vec![Some(h(0)), None], src: x(0) },
            Op::Selp { ty: Type::B32, dst: r(Class::B32, 0), a: x(1), b: x(2), predicate: r(Class::Pred, 0) },
        ]
    }

    fn floats() -> Vec<Op> {
        let mut fma = alu(Alu::Fma, Type::F32, Class::F32, 3);
        if let Op::Alu { rounding, ftz, sat, .. } = &mut fma {
            (*rounding, *ftz, *sat) = (Some(Rounding::Rn), true, true);
        }
        let mut div = alu(Alu::Div, Type::F32, Class::F32, 2);
        let mut ex2 = alu(Alu::Ex2, Type::F32, Class::F32, 1);
        for op in [&mut div, &mut ex2] {
            if let Op::Alu { approx, ftz, .. } = op {
                (*approx, *ftz) = (true, true);
            }
        }
        vec![fma, div, ex2]
    }

    fn arithmetic() -> Vec<Op> {
        let guard = Guard { reg: r(Class::Pred, 1), negated: true };
        let setp = |ftz, ty, class, combine| {
            let (a, b) = (Operand::Reg(r(class, 1)), Operand::Reg(r(class, 2)));
            Op::Setp { compare: Compare::Ge, ftz, ty, dst: r(Class::Pred, 0), a, b, combine }
        };
        let (half, single) = (r(Class::B16, 0), Operand::Reg(r(Class::F32, 1)));
        let (to, from, rounding) = (Type::F16, Type::F32, Some(Rounding::Rn));
        let mut ops = floats();
        ops.extend([
            alu(Alu::Lop3, Type::B32, Class::B32, 4),
            alu(Alu::ShfL, Type::B32, Class::B32, 3),
            alu(Alu::MadLo, Type::S32, Class::B32, 3),
            setp(false, Type::U32, Class::B32, None),
            setp(true, Type::F32, Class::F32, Some((Combine::And, guard))),
            Op::Cvt { rounding, ftz: true, sat: true, to, from, dst: half, src: single },
            Op::Cvta { to: true, space: Space::Global, dst: r(Class::B64, 0), src: Operand::Reg(r(Class::B64, 1)) },
            Op::Cvta { to: false, space: Space::Shared, dst: r(Class::B64, 0), src: Operand::Reg(r(Class::B64, 1)) },
        ]);
        ops
    }

    fn memory() -> Vec<Op> {
        let ld =
            |space, qualifiers, ty, dst, address| Op::Ld { space, qualifiers: words(qualifiers), ty, dst, address };
        let st = |space, qualifiers, src, address| {
            let qualifiers = words(qualifiers);
            Op::St { space, qualifiers, ty: Type::B32, src, address }
        };
        let ordered = |order, op, space, ty, dst, args| {
            let qualifiers = words(order);
            Op::Atom { op, qualifiers, space, ty, dst, address: at(8), args }
        };
        let atom = |op, space, ty, dst, args| ordered("", op, space, ty, dst, args);
        let shared = Address { base: Operand::Symbol("sm".into()), offset: 32 };
        let param = Address { base: Operand::Symbol("pA".into()), offset: 0 };
        let old = Some(r(Class::B32, 0));
        vec![
            ld(Space::Param, "", Type::U64, vec![r(Class::B64, 1)], param),
            ld(Space::Global, "nc", Type::B32, b32s(0..4), at(-16)),
            ld(Space::Shared, "volatile", Type::B32, b32s(0..1), shared),
            ld(Space::Local, "", Type::B32, b32s(0..1), Address { base: Operand::Symbol("depot".into()), offset: 4 }),
            ld(Space::Generic, "relaxed gpu", Type::U32, b32s(0..1), at(0)),
            st(Space::Shared, "", vec![x(0), Operand::Int(1)], Address { base: x(3), offset: 16 }),
            st(Space::Global, "cs", vec![x(0)], at(4)),
            atom(Atomic::Add, Space::Global, Type::F32, None, vec![Operand::F32(0)]),
            atom(Atomic::Add, Space::Global, Type::F16x2, old, vec![x(1)]),
            atom(Atomic::Cas, Space::Generic, Type::B32, old, vec![x(1), x(2)]),
            ordered("acq_rel", Atomic::Max, Space::Global, Type::S32, old, vec![x(1)]),
            ordered("release cta", Atomic::Exch, Space::Global, Type::B32, old, vec![x(1)]),
            Op::Fence { text: "membar.gl".into() },
            Op::Fence { text: "fence.acq_rel.gpu".into() },
        ]
    }

    fn warp() -> Vec<Op> {
        let (dst, mask) = (r(Class::B32, 0), Operand::Int(-1));
        let src = Guard { reg: r(Class::Pred, 0), negated: true };
        let shfl = |mode, in_range| {
            let (lane, clamp, mask) = (Operand::Int(1), Operand::Int(31), mask.clone());
            Op::Shfl { mode, dst, in_range, src: x(1), lane, clamp, mask }
        };
        vec![
            Op::WarpSync { mask: mask.clone() },
            shfl(Shuffle::Butterfly, None),
            shfl(Shuffle::Index, Some(r(Class::Pred, 1))),
            Op::Vote { mode: Vote::Any, dst: r(Class::Pred, 1), src, mask: mask.clone() },
            Op::Vote { mode: Vote::Ballot, dst, src, mask },
            Op::ActiveMask { dst },
        ]
    }

    fn control() -> Vec<Op> {
        vec![
            Op::Bra { target: Label(3), uniform: false },
            Op::Bra { target: Label(3), uniform: true },
            Op::PmEvent { event: 15 },
            Op::Bar { id: 0, threads: None },
            Op::Bar { id: 1, threads: Some(64) },
            Op::Mma {
                shape: "m8n8k4".into(),
                a_row: true,
                b_row: false,
                types: [Type::F32, Type::F16, Type::F16, Type::F32],
                d: f32s(0..8),
                a: b32s(0..2),
                b: b32s(2..4),
                c: f32s(0..8).into_iter().map(Operand::Reg).collect(),
            },
            Op::Call {
                function: "vprintf".into(),
                result: Some((Type::B32, Some(r(Class::B32, 0)))),
                args: vec![(Type::B64, Operand::Reg(r(Class::B64, 0))), (Type::B64, Operand::Int(0))],
            },
            Op::Call { function: "fail".into(), result: None, args: vec![(Type::B32, Operand::Int(7))] },
            Op::Trap,
            Op::Ret,
        ]
    }

    fn ops() -> Vec<Op> {
        [moves(), arithmetic(), memory(), warp(), control()].concat()
    }

    /// Instructions that came after sm_70.
    pub(in super::super) fn newer() -> Vec<Op> {
        let shared = |offset| Address { base: x(3), offset };
        let single = |index| Operand::Reg(r(Class::F32, index));
        let copy = |global, bytes, read| Op::CpAsync { global, bytes, to: shared(16), from: at(-8), read };
        let product = |shape: &str, halves, a, b| Op::Mma {
            shape: shape.into(),
            a_row: true,
            b_row: false,
            types: [Type::F32, halves, halves, Type::F32],
            d: f32s(0..4),
            a: b32s(0..a),
            b: b32s(0..b),
            c: f32s(0..4).into_iter().map(Operand::Reg).collect(),
        };
        vec![
            Op::LdMatrix { transposed: false, dst: b32s(0..1), address: shared(0) },
            Op::LdMatrix { transposed: true, dst: b32s(0..2), address: shared(32) },
            Op::LdMatrix { transposed: true, dst: b32s(0..4), address: shared(0) },
            copy(true, 16, None),
            copy(false, 4, Some(Operand::Int(0))),
            copy(false, 8, Some(x(2))),
            Op::CpAsyncCommit,
            Op::CpAsyncWait { groups: 1 },
            Op::CvtPair { to: Type::BF16x2, dst: r(Class::B32, 0), high: single(1), low: single(2) },
            product("m16n8k8", Type::F16, 2, 1),
            product("m16n8k16", Type::BF16, 4, 2),
        ]
    }

    /// Instructions of sm_90a.
    pub(in super::super) fn of_hopper() -> Vec<Op> {
        let wgmma = |n, ty, a| {
            let (d, b, adds) = (f32s(0..n / 2), r(Class::B64, 1), r(Class::Pred, 0));
            Op::Wgmma(Wgmma { n, ty, d, a, b, b_transposed: true, adds })
        };
        let descriptor = r(Class::B64, 0);
        vec![
            Op::WgmmaFence,
            wgmma(8, Type::F16, WgmmaLeft::Registers(b32s(0..4))),
            wgmma(16, Type::BF16, WgmmaLeft::Memory { descriptor, transposed: false }),
            Op::WgmmaCommit,
            Op::WgmmaWait { groups: 1 },
            Op::Fence { text: "fence.proxy.async.shared::cta".into() },
        ]
    }

    fn entry(name: &str, ops: Vec<Op>) -> Entry {
        let param = |name: &str, ty| Param { name: name.into(), ty };
        let plain = ops.into_iter().map(|op| Statement::Instruction { guard: None, op });
        let guard = Some(Guard { reg: r(Class::Pred, 1), negated: true });
        let mut body = vec![
            Statement::Comment("tile loop ".into()),
            Statement::Comment(String::new()),
            Statement::Promise(Promise::Multiple { reg: r(Class::B32, 1), offset: -3, of: 16 }),
            Statement::Promise(Promise::Same { reg: r(Class::B64, 1), other: r(Class::B64, 0), offset: 8 }),
            Statement::Promise(Promise::Holds { reg: r(Class::Pred, 1) }),
            Statement::Promise(Promise::Below { reg: r(Class::B32, 1), limit: 64, guard: None }),
            Statement::Promise(Promise::Below { reg: r(Class::B32, 1), limit: 8, guard }),
            Statement::Comment("promise: to keep promises".into()),
            Statement::Loc { file: 1, line: 23, column: 5 },
            Statement::Label(Label(3)),
            Statement::Instruction { guard, op: Op::Bra { target: Label(3), uniform: false } },
        ];
        body.extend(plain);
        Entry {
            name: name.into(),
            params: vec![param("pA", Type::U64), param("scale", Type::F32), param("count", Type::S32)],
            max_threads: Some([128, 1, 1]),
            min_blocks: Some(2),
            registers: [2, 2, 4, 2, 8, 2],
            shared: vec![SharedArray { name: "tile".into(), align: 16, bytes: 1024, external: false }],
            local: vec![LocalArray { name: "depot".into(), align: 8, bytes: 16 }],
            body,
        }
    }

    /// A module with every variant of [`Op`], which ptxas accepts.
    pub(in super::super) fn sample() -> Module {
        Module {
            header: vec!["matmul 128x128".into(), String::new(), "  indented".into()],
            version: (6, 4),
            target: 70,
            specific: false,
            files: vec!["/src/ker nel.rs".into(), "a\\b.rs".into()],
            functions: vec![
                Function { name: "vprintf".into(), result: Some(Type::B32), params: vec![Type::B64; 2] },
                Function { name: "fail".into(), result: None, params: vec![Type::B32] },
            ],
            constants: vec![Constant { name: "text_0".into(), bytes: b"hi\n\0".to_vec() }],
            shared: vec![SharedArray { name: "sm".into(), align: 16, bytes: 0, external: true }],
            entries: vec![entry("matmul", ops()), entry("copy", vec![Op::Ret])],
        }
    }

    fn text_of(op: Op) -> String {
        let mut out = String::new();
        print_statement(&mut out, &Statement::Instruction { guard: None, op });
        out.trim().into()
    }

    const START: &str = r#"// matmul 128x128
//
//   indented
.version 6.4
.target sm_70
.address_size 64
.file 1 "/src/ker nel.rs"
.file 2 "a\\b.rs"

.extern .func (.param .b32 result) vprintf(.param .b64 arg0, .param .b64 arg1);
.extern .func fail(.param .b32 arg0);
.global .align 1 .b8 text_0[4] = {104, 105, 10, 0};
.extern .shared .align 16 .b8 sm[];

.visible .entry matmul(.param .u64 pA, .param .f32 scale, .param .s32 count)
.maxntid 128, 1, 1
.minnctapersm 2
{
	.reg .pred %p<2>;
	.reg .b16 %h<2>;
	.reg .b32 %r<4>;
	.reg .b64 %rd<2>;
	.reg .f32 %f<8>;
	.reg .f64 %fd<2>;
	.shared .align 16 .b8 tile[1024];
	.local .align 8 .b8 depot[16];
"#;

    #[test]
    fn prints_a_module() {
        let text = print(&sample());
        let promises =
            "\t// promise: %r1 + -3 is a multiple of 16\n\t// promise: %rd1 is %rd0 + 8\n\t// promise: %p1\n";
        let bounds = "\t// promise: %r1 is below 64\n\t// promise: %r1 is below 8 where !%p1\n";
        let comment = "\t// promise: to keep promises\n";
        let code = "\t.loc 1 23 5\n$L3:\n\t@!%p1 bra $L3;\n\tmov.u32 %r0, %tid.x;\n";
        let body = format!("\t// tile loop \n\t//\n{promises}{bounds}{comment}{code}");
        assert!(text.starts_with(&format!("{START}{body}")), "{text}");
        assert!(text.ends_with("\tret;\n}\n"), "{text}");
        if let Ok(path) = std::env::var("PTX_SAMPLE") {
            std::fs::write(path, text).expect("a writable path");
        }
    }

    #[test]
    fn prints_instructions() {
        let lines: Vec<_> = [ops(), newer(), of_hopper()].concat().into_iter().map(text_of).collect();
        for expected in [
            "mov.b32 %r0, {%h0, %h1};",
            "mov.b32 {%h0, _}, %r0;",
            "mov.f32 %f0, 0f3F800000;",
            "fma.rn.ftz.sat.f32 %f0, %f1, %f1, %f1;",
            "div.full.ftz.f32 %f0, %f1, %f1;",
            "ex2.approx.ftz.f32 %f0, %f1;",
            "setp.ge.and.ftz.f32 %p0, %f1, %f2, !%p1;",
            "cvt.rn.ftz.sat.f16.f32 %h0, %f1;",
            "cvta.to.global.u64 %rd0, %rd1;",
            "ld.global.nc.v4.b32 {%r0, %r1, %r2, %r3}, [%rd1+-16];",
            "ld.volatile.shared.b32 %r0, [sm+32];",
            "ld.relaxed.gpu.u32 %r0, [%rd1];",
            "st.shared.v2.b32 [%r3+16], {%r0, 1};",
            "red.global.add.f32 [%rd1+8], 0f00000000;",
            "atom.global.add.noftz.f16x2 %r0, [%rd1+8], %r1;",
            "atom.acq_rel.global.max.s32 %r0, [%rd1+8], %r1;",
            "atom.release.cta.global.exch.b32 %r0, [%rd1+8], %r1;",
            "shfl.sync.idx.b32 %r0|%p1, %r1, 1, 31, -1;",
            "vote.sync.ballot.b32 %r0, !%p0, -1;",
            "bar.sync 1, 64;",
            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%r3];",
            "ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r0, %r1}, [%r3+32];",
            "cp.async.cg.shared.global [%r3+16], [%rd1+-8], 16;",
            "cp.async.ca.shared.global [%r3+16], [%rd1+-8], 8, %r2;",
            "cp.async.wait_group 1;",
            "cvt.rn.bf16x2.f32 %r0, %f1, %f2;",
            "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, {%r0, %r1, %r2, %r3}, %rd1, %p0, 1, 1, 1;",
            "wgmma.wait_group.sync.aligned 1;",
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r1}, {%r0}, {%f0, %f1, %f2, %f3};",
        ] {
            assert!(lines.iter().any(|line| line == expected), "{expected} isn't in {lines:#?}");
        }
    }

    #[test]
    fn prints_a_call_with_its_parameters() {
        let call = Op::Call {
            function: "vprintf".into(),
            result: Some((Type::B32, Some(r(Class::B32, 2)))),
            args: vec![(Type::B64, Operand::Reg(r(Class::B64, 1)))],
        };
        let expected = "{\n\t.param .b64 arg0;\n\tst.param.b64 [arg0], %rd1;\n\t.param .b32 result;\n\
                        \tcall (result), vprintf, (arg0);\n\tld.param.b32 %r2, [result];\n\t}";
        assert_eq!(text_of(call), expected);
    }

    #[test]
    fn names_registers() {
        let names = Class::ALL.map(|class| register_name(r(class, 7)));
        assert_eq!(names, ["%p7", "%h7", "%r7", "%rd7", "%f7", "%fd7"]);
    }

    #[test]
    fn splits_a_comment_at_line_breaks() {
        let mut out = String::new();
        comment(&mut out, "\t", "one\ntwo");
        assert_eq!(out, "\t// one\n\t// two\n");
    }
}
