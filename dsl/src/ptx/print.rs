//! The printer: a [`Module`] as PTX text.
//!
//! The text is a function of the module alone, and [`parse`](super::parse) reads it back to an equal one. An instruction
//! is an opcode and its operands: [`opcode`] joins the modifiers with dots and [`operands`] spells the rest. The tables
//! of spellings at the top serve the parser too, so the two can't disagree about a name. Comments hold one line each:
//! a line break in one makes it two comments.

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
    out.push_str(&format!(".version {major}.{minor}\n.target sm_{}\n.address_size 64\n", module.target));
    for (position, path) in module.files.iter().enumerate() {
        let path = path.replace('\\', "\\\\").replace('"', "\\\"");
        out.push_str(&format!(".file {} \"{path}\"\n", position + 1));
    }
    if !module.shared.is_empty() {
        out.push('\n');
    }
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
    for statement in &entry.body {
        print_statement(out, statement);
    }
    out.push_str("}\n");
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
        Statement::Instruction { guard, op } => {
            let guard = guard.map_or(String::new(), |guard| format!("@{} ", guarded(guard)));
            let operands = operands(op).join(", ");
            let space = if operands.is_empty() { "" } else { " " };
            out.push_str(&format!("\t{guard}{}{space}{operands};\n", opcode(op)));
        }
    }
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
        Op::Cvta { to, space, .. } => dotted(["cvta", flag(*to, "to"), spell(&SPACES, *space), "u64"]),
        Op::Ld { space, qualifiers, ty, dst, .. } => access("ld", *space, qualifiers, dst.len(), ty),
        Op::St { space, qualifiers, ty, src, .. } => access("st", *space, qualifiers, src.len(), ty),
        Op::Atom { op, space, ty, dst, .. } => {
            let name = if dst.is_some() { "atom" } else { "red" };
            let noftz = flag(needs_noftz(*op, *ty), "noftz");
            dotted([name, spell(&SPACES, *space), spell(&ATOMICS, *op), noftz, ty_name(ty)])
        }
        Op::Bra { uniform, .. } => dotted(["bra", flag(*uniform, "uni")]),
        Op::Ret => "ret".into(),
        Op::Trap => "trap".into(),
        Op::Bar { .. } => "bar.sync".into(),
        Op::WarpSync { .. } => "bar.warp.sync".into(),
        Op::Fence { text } => text.clone(),
        Op::Shfl { mode, .. } => dotted(["shfl.sync", spell(&SHUFFLES, *mode), "b32"]),
        Op::Vote { mode, .. } => vote(*mode),
        Op::ActiveMask { .. } => "activemask.b32".into(),
        Op::Mma { shape, a_row, b_row, types, .. } => mma(shape, [*a_row, *b_row], types),
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
    let mut name = format!("mma.sync.aligned.{shape}");
    for row in rows {
        name += if row { ".row" } else { ".col" };
    }
    for ty in types {
        name = name + "." + ty_name(ty);
    }
    name
}

fn operands(op: &Op) -> Vec<String> {
    match op {
        Op::Mov { dst, src, .. } | Op::Cvt { dst, src, .. } | Op::Cvta { dst, src, .. } => vec![reg(dst), operand(src)],
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
        Op::Ret | Op::Trap | Op::Fence { .. } => Vec::new(),
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
