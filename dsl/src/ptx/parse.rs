//! The parser: PTX text as a [`Module`].
//!
//! It reads what [`print`](super::print()) writes and the ordinary PTX of nvcc and Triton for `sm_70` to `sm_90`, and
//! gives a [`ParseError`] with its place for anything else; no text makes it panic. Registers are renumbered: each
//! class counts on through the declarations, so `%r<5>` then `%x<3>` of 32 bits become `%r0` to `%r7`. A label `$L3`
//! keeps its number and other labels take the free ones. Nested `{ }` scopes are flattened. A comment on a line of its
//! own is kept, before `.version` in the header and in a body as a statement; others are dropped, as are `.pragma`,
//! `.maxnreg` and the debug sections. `.reqntid` is read as `.maxntid`, `sm_100f` as `sm_100` and `div.approx` as
//! `div.full`.

use std::collections::{HashMap, HashSet};

use super::ast::*;
use super::print::{
    ALUS, ATOMICS, CLASSES, COMBINES, COMPARES, LEADING, ROUNDINGS, SHUFFLES, SPACES, SPECIALS, TYPES, VOTES,
    needs_noftz,
};
use super::promise::Promise;

/// How deep scopes may nest.
const MAX_SCOPES: usize = 64;

/// The largest file number of `.file`.
const MAX_FILES: u32 = 1 << 16;

/// Where a text stopped being PTX that we read, and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: found {found}, expected {expected}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// What stands there.
    pub found: String,
    /// What could.
    pub expected: String,
}

type Result<T> = std::result::Result<T, ParseError>;

/// Reads a module.
pub fn parse(text: &str) -> Result<Module> {
    Parser::new(text)?.module()
}

/// Reads statements with no kernel around them, as inline assembly has them. `registers` says how many registers of
/// each class exist already; `%p0`, `%h0`, `%r0`, `%rd0`, `%f0`, `%fd0` and on name them. Registers that the text
/// declares itself are numbered after these.
pub fn parse_body(text: &str, registers: [u32; 6]) -> Result<Vec<Statement>> {
    let mut parser = Parser::new(text)?;
    parser.in_entry = false;
    parser.begin(registers);
    parser.open_scope()?;
    if let Some(scope) = parser.scopes.last_mut() {
        for ((class, prefix, _), count) in CLASSES.iter().zip(registers) {
            scope.ranges.insert(prefix.to_string(), Range { class: *class, base: 0, count });
        }
    }
    parser.statements()?;
    Ok(parser.body)
}

// ---- Tokens ----

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// A name, a directive or an opcode, dots included.
    Word(String),
    Int(u64),
    F32(u32),
    F64(u64),
    /// A number with a point, such as a version.
    Decimal(String),
    Text(String),
    Punct(char),
    /// A comment on a line of its own.
    Comment(String),
    End,
}

impl Kind {
    fn describe(&self) -> String {
        match self {
            Kind::Word(text) | Kind::Decimal(text) => format!("`{text}`"),
            Kind::Int(value) => format!("`{value}`"),
            Kind::F32(bits) => format!("`0f{bits:08X}`"),
            Kind::F64(bits) => format!("`0d{bits:016X}`"),
            Kind::Text(text) => format!("{text:?}"),
            Kind::Punct(c) => format!("`{c}`"),
            Kind::Comment(_) => "a comment".into(),
            Kind::End => "the end of the text".into(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Place {
    line: u32,
    column: u32,
}

impl Place {
    fn error(self, found: impl Into<String>, expected: impl Into<String>) -> ParseError {
        ParseError { line: self.line, column: self.column, found: found.into(), expected: expected.into() }
    }
}

#[derive(Clone, Debug)]
struct Token {
    kind: Kind,
    place: Place,
}

struct Lexer<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
    place: Place,
    /// Whether the line has a token already.
    line_used: bool,
    tokens: Vec<Token>,
}

fn lex(text: &str) -> Result<Vec<Token>> {
    let place = Place { line: 1, column: 1 };
    let mut lexer = Lexer { rest: text.chars().peekable(), place, line_used: false, tokens: Vec::new() };
    while let Some(c) = lexer.peek() {
        lexer.token(c)?;
    }
    lexer.tokens.push(Token { kind: Kind::End, place: lexer.place });
    Ok(lexer.tokens)
}

impl Lexer<'_> {
    fn peek(&mut self) -> Option<char> {
        self.rest.peek().copied()
    }

    fn peek_second(&self) -> Option<char> {
        self.rest.clone().nth(1)
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        if c == '\n' {
            self.place = Place { line: self.place.line.saturating_add(1), column: 1 };
            self.line_used = false;
        } else {
            self.place.column = self.place.column.saturating_add(1);
        }
        Some(c)
    }

    fn token(&mut self, first: char) -> Result<()> {
        let place = self.place;
        let kind = match first {
            c if c.is_whitespace() => {
                self.bump();
                return Ok(());
            }
            '/' => return self.comment(),
            '"' => self.text()?,
            '0'..='9' => self.number()?,
            c if is_word_start(c) => self.word(),
            c if "{}()[]<>,;:+-|!@=*&".contains(c) => {
                self.bump();
                Kind::Punct(c)
            }
            c => return Err(place.error(format!("the character {c:?}"), "PTX")),
        };
        self.line_used = true;
        self.tokens.push(Token { kind, place });
        Ok(())
    }

    fn comment(&mut self) -> Result<()> {
        let place = self.place;
        match self.peek_second() {
            Some('/') => self.line_comment(place),
            Some('*') => return self.block_comment(place),
            _ => return Err(place.error("`/`", "a comment")),
        }
        Ok(())
    }

    fn line_comment(&mut self, place: Place) {
        let own_line = !self.line_used;
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|c| *c != '\n') {
            text.push(c);
            self.bump();
        }
        let text = text.get(2..).unwrap_or_default().trim_end_matches('\r').replace('\r', " ");
        if own_line {
            let kind = Kind::Comment(text.strip_prefix(' ').unwrap_or(&text).into());
            self.tokens.push(Token { kind, place });
        }
    }

    fn block_comment(&mut self, place: Place) -> Result<()> {
        self.bump();
        self.bump();
        while let Some(c) = self.bump() {
            if c == '*' && self.peek() == Some('/') {
                self.bump();
                return Ok(());
            }
        }
        Err(place.error("a comment that doesn't end", "`*/`"))
    }

    fn text(&mut self) -> Result<Kind> {
        let place = self.place;
        let mut text = String::new();
        self.bump();
        while let Some(c) = self.bump() {
            match c {
                '"' => return Ok(Kind::Text(text)),
                '\\' if matches!(self.peek(), Some('"' | '\\')) => text.extend(self.bump()),
                c => text.push(c),
            }
        }
        Err(place.error("a string that doesn't end", "`\"`"))
    }

    /// Takes characters while they fit.
    fn take(&mut self, fits: impl Fn(char) -> bool) -> String {
        let mut text = String::new();
        while let Some(c) = self.peek().filter(|c| fits(*c)) {
            text.push(c);
            self.bump();
        }
        text
    }

    fn word(&mut self) -> Kind {
        let mut text = String::from_iter(self.bump());
        loop {
            text.push_str(&self.take(|c| c.is_ascii_alphanumeric() || "_$.".contains(c)));
            if self.peek() != Some(':') || self.peek_second() != Some(':') {
                return Kind::Word(text);
            }
            self.bump();
            self.bump();
            text.push_str("::");
        }
    }

    fn number(&mut self) -> Result<Kind> {
        let place = self.place;
        let text = self.take(|c| c.is_ascii_alphanumeric() || c == '.');
        read_number(&text).ok_or_else(|| place.error(format!("`{text}`"), "a number"))
    }
}

fn is_word_start(c: char) -> bool {
    c.is_ascii_alphabetic() || "_$%.".contains(c)
}

fn read_number(text: &str) -> Option<Kind> {
    let digits = text.strip_suffix(['U', 'u']).unwrap_or(text);
    let hex_only = |rest: &str, width: usize| rest.len() == width && rest.bytes().all(|b| b.is_ascii_hexdigit());
    match (text.get(..2), text.get(2..)) {
        (Some("0f" | "0F"), Some(rest)) if hex_only(rest, 8) => {
            return u32::from_str_radix(rest, 16).ok().map(Kind::F32);
        }
        (Some("0d" | "0D"), Some(rest)) if hex_only(rest, 16) => {
            return u64::from_str_radix(rest, 16).ok().map(Kind::F64);
        }
        (Some("0x" | "0X"), _) => return u64::from_str_radix(digits.get(2..)?, 16).ok().map(Kind::Int),
        (Some("0b" | "0B"), _) => return u64::from_str_radix(digits.get(2..)?, 2).ok().map(Kind::Int),
        _ => {}
    }
    if text.contains('.') {
        return text.bytes().all(|b| b.is_ascii_digit() || b == b'.').then(|| Kind::Decimal(text.into()));
    }
    let radix = if digits.len() > 1 && digits.starts_with('0') { 8 } else { 10 };
    u64::from_str_radix(digits, radix).ok().map(Kind::Int)
}

// ---- Scopes ----

#[derive(Clone, Copy, Debug)]
struct Range {
    class: Class,
    base: u32,
    count: u32,
}

/// What a pair of braces declares.
#[derive(Debug, Default)]
struct Scope {
    /// Registers declared one by one.
    names: HashMap<String, Reg>,
    /// Registers declared as `prefix<count>`.
    ranges: HashMap<String, Range>,
    labels: HashMap<String, Label>,
    /// Parameters of calls, and what was stored to them.
    passed: HashMap<String, (Type, Option<Operand>)>,
    /// The parameter that the last statement, a call, gives its result in.
    result: Option<String>,
}

impl Scope {
    fn register(&self, name: &str) -> Option<Reg> {
        if let Some(reg) = self.names.get(name) {
            return Some(*reg);
        }
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        (1..=digits.min(10)).find_map(|width| {
            let (prefix, number) = name.split_at_checked(name.len() - width)?;
            let range = self.ranges.get(prefix)?;
            let number = canonical(number).filter(|number| *number < range.count)?;
            Some(Reg { class: range.class, index: range.base + number })
        })
    }
}

/// A decimal number with no leading zeros.
fn canonical(digits: &str) -> Option<u32> {
    let value: u32 = digits.parse().ok()?;
    (value.to_string() == digits).then_some(value)
}

fn class_of(ty: Type) -> Class {
    match ty {
        Type::Pred => Class::Pred,
        Type::B8 | Type::U8 | Type::S8 | Type::B16 | Type::U16 | Type::S16 | Type::F16 | Type::BF16 => Class::B16,
        Type::B32 | Type::U32 | Type::S32 | Type::F16x2 | Type::BF16x2 => Class::B32,
        Type::B64 | Type::U64 | Type::S64 => Class::B64,
        Type::F32 => Class::F32,
        Type::F64 => Class::F64,
    }
}

/// Bytes of a type in memory, where it can be there.
pub(crate) fn bytes_of(ty: Type) -> Option<u32> {
    match class_of(ty) {
        Class::Pred => None,
        Class::B16 if matches!(ty, Type::B8 | Type::U8 | Type::S8) => Some(1),
        Class::B16 => Some(2),
        Class::B32 | Class::F32 => Some(4),
        Class::B64 | Class::F64 => Some(8),
    }
}

fn find<T: Copy>(table: &[(T, &str)], text: &str) -> Option<T> {
    table.iter().find(|(_, name)| *name == text && !name.is_empty()).map(|(value, _)| *value)
}

// ---- Opcodes ----

/// An opcode's dotted parts, read from the left.
struct Opcode {
    text: String,
    parts: Vec<String>,
    next: usize,
    place: Place,
}

impl Opcode {
    fn new(text: String, place: Place) -> Self {
        let parts = text.split('.').map(String::from).collect();
        Opcode { text, parts, next: 1, place }
    }

    fn head(&self) -> &str {
        self.parts.first().map_or("", |part| part)
    }

    fn peek(&self) -> &str {
        self.parts.get(self.next).map_or("", |part| part)
    }

    fn eat(&mut self, part: &str) -> bool {
        let fits = self.peek() == part && !part.is_empty();
        self.next += usize::from(fits);
        fits
    }

    fn eat_from<T: Copy>(&mut self, table: &[(T, &str)]) -> Option<T> {
        let value = find(table, self.peek())?;
        self.next += 1;
        Some(value)
    }

    fn need<T: Copy>(&mut self, table: &[(T, &str)], what: &str) -> Result<T> {
        self.eat_from(table).ok_or_else(|| self.unknown(what))
    }

    fn need_part(&mut self, part: &str) -> Result<()> {
        if self.eat(part) { Ok(()) } else { Err(self.unknown(&format!("`.{part}`"))) }
    }

    /// The last part: a type.
    fn ty(&mut self) -> Result<Type> {
        let ty = self.need(&TYPES, "a type")?;
        self.finish()?;
        Ok(ty)
    }

    fn finish(&self) -> Result<()> {
        if self.next >= self.parts.len() { Ok(()) } else { Err(self.unknown("the end of the opcode")) }
    }

    /// An error about the next part.
    fn unknown(&self, what: &str) -> ParseError {
        let found = match self.peek() {
            "" => format!("`{}`, which ends too soon", self.text),
            part => format!("`.{part}` in `{}`, which isn't supported", self.text),
        };
        self.place.error(found, what)
    }

    fn unsupported(&self) -> ParseError {
        let found = format!("the instruction `{}`, which isn't supported", self.text);
        self.place.error(found, "an instruction that a `ptx::Op` can hold")
    }
}

// ---- Parser ----

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    scopes: Vec<Scope>,
    registers: [u32; 6],
    /// Numbers that labels spelt `$L3` have; other labels avoid them.
    reserved: HashSet<u32>,
    /// Numbers given to labels of this kernel.
    taken: HashSet<u32>,
    next_label: u32,
    shared: Vec<SharedArray>,
    local: Vec<LocalArray>,
    body: Vec<Statement>,
    /// Whether the statements stand in a kernel's braces.
    in_entry: bool,
}

impl Parser {
    fn new(text: &str) -> Result<Self> {
        let tokens = lex(text)?;
        let reserved = tokens.iter().filter_map(|token| match &token.kind {
            Kind::Word(word) => own_label(word),
            _ => None,
        });
        Ok(Parser {
            at: 0,
            scopes: Vec::new(),
            registers: [0; 6],
            reserved: reserved.collect(),
            taken: HashSet::new(),
            next_label: 0,
            shared: Vec::new(),
            local: Vec::new(),
            body: Vec::new(),
            in_entry: true,
            tokens,
        })
    }

    /// Forgets the previous kernel.
    fn begin(&mut self, registers: [u32; 6]) {
        self.registers = registers;
        self.taken.clear();
        self.next_label = 0;
        self.scopes.clear();
        self.shared.clear();
        self.local.clear();
        self.body.clear();
    }

    // Tokens. The last is `End`, and nothing goes past it.

    /// Position of the next token that isn't a comment.
    fn here(&self) -> usize {
        let comments = self.tokens.iter().skip(self.at).take_while(|token| matches!(token.kind, Kind::Comment(_)));
        self.at + comments.count()
    }

    fn token(&self) -> Token {
        let end = Token { kind: Kind::End, place: Place { line: 1, column: 1 } };
        self.tokens.get(self.here()).or(self.tokens.last()).cloned().unwrap_or(end)
    }

    fn peek(&self) -> &Kind {
        self.tokens.get(self.here()).map_or(&Kind::End, |token| &token.kind)
    }

    fn advance(&mut self) -> Token {
        let token = self.token();
        self.at = (self.here() + 1).min(self.tokens.len().saturating_sub(1));
        token
    }

    fn place(&self) -> Place {
        self.token().place
    }

    fn fail<T>(&self, expected: &str) -> Result<T> {
        let token = self.token();
        Err(token.place.error(token.kind.describe(), expected))
    }

    fn is(&self, c: char) -> bool {
        *self.peek() == Kind::Punct(c)
    }

    fn eat(&mut self, c: char) -> bool {
        let fits = self.is(c);
        if fits {
            self.advance();
        }
        fits
    }

    fn need(&mut self, c: char) -> Result<()> {
        if self.eat(c) { Ok(()) } else { self.fail(&format!("`{c}`")) }
    }

    fn is_word(&self, text: &str) -> bool {
        matches!(self.peek(), Kind::Word(word) if word == text)
    }

    fn eat_word(&mut self, text: &str) -> bool {
        let fits = self.is_word(text);
        if fits {
            self.advance();
        }
        fits
    }

    fn word(&mut self, expected: &str) -> Result<String> {
        match self.peek().clone() {
            Kind::Word(word) => {
                self.advance();
                Ok(word)
            }
            _ => self.fail(expected),
        }
    }

    /// A name: a word that is no directive and no register.
    fn name(&mut self, expected: &str) -> Result<String> {
        match self.peek() {
            Kind::Word(word) if !word.starts_with(['.', '%']) => self.word(expected),
            _ => self.fail(expected),
        }
    }

    fn string(&mut self) -> Result<String> {
        match self.peek().clone() {
            Kind::Text(text) => {
                self.advance();
                Ok(text)
            }
            _ => self.fail("a string"),
        }
    }

    fn number(&mut self, expected: &str) -> Result<u32> {
        match *self.peek() {
            Kind::Int(value) => match u32::try_from(value) {
                Ok(value) => {
                    self.advance();
                    Ok(value)
                }
                Err(_) => self.fail(&format!("{expected} below 4294967296")),
            },
            _ => self.fail(expected),
        }
    }

    fn signed(&mut self) -> Result<i64> {
        let negative = self.eat('-');
        let Kind::Int(magnitude) = *self.peek() else { return self.fail("an integer") };
        if negative && magnitude > i64::MIN.unsigned_abs() {
            return self.fail("an integer of 64 bits");
        }
        self.advance();
        Ok(if negative { magnitude.wrapping_neg() } else { magnitude }.cast_signed())
    }

    // The module.

    fn module(mut self) -> Result<Module> {
        let mut module = Module {
            header: self.comments(),
            version: (0, 0),
            target: 0,
            specific: false,
            files: Vec::new(),
            functions: Vec::new(),
            constants: Vec::new(),
            shared: Vec::new(),
            entries: Vec::new(),
        };
        if !self.is_word(".version") {
            return self.fail("`.version`");
        }
        while *self.peek() != Kind::End {
            self.item(&mut module)?;
        }
        if module.target == 0 {
            return self.fail("`.target`");
        }
        Ok(module)
    }

    fn comments(&mut self) -> Vec<String> {
        let mut lines = Vec::new();
        while let Some(Token { kind: Kind::Comment(text), .. }) = self.tokens.get(self.at) {
            lines.push(text.clone());
            self.at += 1;
        }
        lines
    }

    fn item(&mut self, module: &mut Module) -> Result<()> {
        let token = self.token();
        let directive = self.word("a directive")?;
        match directive.as_str() {
            ".version" => module.version = self.version()?,
            ".target" => (module.target, module.specific) = self.target()?,
            ".address_size" => self.address_size()?,
            ".file" => self.file(&mut module.files)?,
            ".section" => self.section()?,
            ".pragma" => self.pragma()?,
            ".shared" => module.shared.push(self.shared(false)?),
            ".entry" => module.entries.push(self.entry()?),
            ".extern" if self.eat_word(".shared") => module.shared.push(self.shared(true)?),
            ".extern" if self.eat_word(".func") => module.functions.push(self.function()?),
            ".global" => module.constants.push(self.constant()?),
            ".visible" | ".weak" | ".common" if self.is_word(".shared") || self.is_word(".entry") => {}
            ".extern" | ".visible" | ".weak" | ".common" => return Err(self.unsupported_directive()),
            _ => return Err(unsupported(&token)),
        }
        Ok(())
    }

    fn unsupported_directive(&self) -> ParseError {
        unsupported(&self.token())
    }

    fn version(&mut self) -> Result<(u32, u32)> {
        let version = match self.peek() {
            Kind::Decimal(text) => text.split_once('.').and_then(|(a, b)| Some((canonical(a)?, canonical(b)?))),
            _ => None,
        };
        let Some(version) = version else { return self.fail("a version such as `6.4`") };
        self.advance();
        Ok(version)
    }

    /// The architecture, and whether it is one with an `a`.
    fn target(&mut self) -> Result<(u32, bool)> {
        let expected = "an architecture such as `sm_70`";
        let number = match self.peek() {
            Kind::Word(word) => word
                .strip_prefix("sm_")
                .and_then(|rest| Some((canonical(rest.trim_end_matches(['a', 'f']))?, rest.ends_with('a')))),
            _ => None,
        };
        let Some(number) = number.filter(|(number, _)| *number > 0) else { return self.fail(expected) };
        self.advance();
        while self.eat(',') {
            self.word("a target option")?;
        }
        Ok(number)
    }

    fn address_size(&mut self) -> Result<()> {
        if *self.peek() != Kind::Int(64) {
            return self.fail("64");
        }
        self.advance();
        Ok(())
    }

    fn file(&mut self, files: &mut Vec<String>) -> Result<()> {
        let place = self.place();
        let number = self.number("a file number")?;
        if number == 0 || number > MAX_FILES {
            return Err(place.error(format!("file number `{number}`"), format!("one from 1 to {MAX_FILES}")));
        }
        let mut path = self.string()?;
        if matches!(self.peek(), Kind::Text(_)) {
            path = format!("{path}/{}", self.string()?);
        }
        while self.eat(',') {
            self.signed()?;
        }
        let slot = number as usize - 1;
        files.resize(files.len().max(slot + 1), String::new());
        files[slot] = path;
        Ok(())
    }

    /// Skips a debug section.
    fn section(&mut self) -> Result<()> {
        if !matches!(self.peek(), Kind::Word(word) if word.starts_with(".debug")) {
            return self.fail("a `.debug` section");
        }
        self.advance();
        self.need('{')?;
        let mut depth = 1_usize;
        while depth > 0 {
            match self.peek() {
                Kind::Punct('{') => depth += 1,
                Kind::Punct('}') => depth -= 1,
                Kind::End => return self.fail("`}`"),
                _ => {}
            }
            self.advance();
        }
        Ok(())
    }

    fn pragma(&mut self) -> Result<()> {
        self.string()?;
        while self.eat(',') {
            self.string()?;
        }
        self.need(';')
    }

    // Declarations.

    fn declared_type(&mut self) -> Result<Type> {
        let ty = match self.peek() {
            Kind::Word(word) => word.strip_prefix('.').and_then(|name| find(&TYPES, name)),
            _ => None,
        };
        let Some(ty) = ty else { return self.fail("a type such as `.b32`") };
        self.advance();
        Ok(ty)
    }

    fn align(&mut self) -> Result<Option<u32>> {
        if self.eat_word(".align") { self.number("an alignment").map(Some) } else { Ok(None) }
    }

    /// After `.shared`: `.align 16 .b8 name[256];`
    fn shared(&mut self, external: bool) -> Result<SharedArray> {
        let align = self.align()?;
        let place = self.place();
        let size = bytes_of(self.declared_type()?).ok_or_else(|| place.error("`.pred`", "a type of whole bytes"))?;
        let name = self.name("a name")?;
        let place = self.place();
        let mut bytes = Some(size);
        while self.eat('[') {
            if external && self.eat(']') {
                bytes = Some(0);
                continue;
            }
            let count = self.number("a size")?;
            bytes = bytes.and_then(|bytes| bytes.checked_mul(count));
            self.need(']')?;
        }
        self.need(';')?;
        let bytes = bytes.ok_or_else(|| place.error("an array of 4 GiB or more", "a smaller one"))?;
        Ok(SharedArray { name, align: align.unwrap_or(size), bytes, external })
    }

    /// After `.extern .func`: `(.param .b32 result) name(.param .b64 arg0);`
    fn function(&mut self) -> Result<Function> {
        let place = self.place();
        let results = if self.is('(') { self.params()? } else { Vec::new() };
        if results.len() > 1 {
            return Err(place.error("several results", "one"));
        }
        let name = self.name("a function's name")?;
        let params = self.params()?.into_iter().map(|param| param.ty).collect();
        self.need(';')?;
        Ok(Function { name, result: results.first().map(|param| param.ty), params })
    }

    /// After `.global`: `.align 1 .b8 name[2] = {104, 0};`
    fn constant(&mut self) -> Result<Constant> {
        self.align()?;
        if !self.eat_word(".b8") {
            return self.fail("`.b8`: bytes with their values are the only global memory that is supported");
        }
        let name = self.name("a name")?;
        self.need('[')?;
        let place = self.place();
        let length = self.number("a size")? as usize;
        self.need(']')?;
        self.need('=')?;
        self.need('{')?;
        let mut bytes = Vec::new();
        while !self.eat('}') {
            let place = self.place();
            let value = self.number("a byte")?;
            bytes.push(u8::try_from(value).map_err(|_| place.error(format!("`{value}`"), "a byte"))?);
            if !self.is('}') {
                self.need(',')?;
            }
        }
        self.need(';')?;
        if bytes.len() != length {
            return Err(place.error(count_of(length), format!("{}, as there are values", count_of(bytes.len()))));
        }
        Ok(Constant { name, bytes })
    }

    fn entry(&mut self) -> Result<Entry> {
        let name = self.name("a kernel's name")?;
        let params = self.params()?;
        let mut max_threads = None;
        let mut min_blocks = None;
        while !self.is('{') {
            let token = self.token();
            match self.word("`{` or a directive")?.as_str() {
                ".maxntid" | ".reqntid" => max_threads = Some(self.dimensions()?),
                ".minnctapersm" => min_blocks = Some(self.number("a number of blocks")?),
                ".maxnreg" => {
                    self.number("a number of registers")?;
                }
                ".pragma" => self.pragma()?,
                _ => return Err(unsupported(&token)),
            }
        }
        self.begin([0; 6]);
        self.advance();
        self.open_scope()?;
        self.statements()?;
        let (registers, shared) = (self.registers, std::mem::take(&mut self.shared));
        let (local, body) = (std::mem::take(&mut self.local), std::mem::take(&mut self.body));
        Ok(Entry { name, params, max_threads, min_blocks, registers, shared, local, body })
    }

    fn dimensions(&mut self) -> Result<[u32; 3]> {
        let mut dimensions = [1; 3];
        dimensions[0] = self.number("a number of threads")?;
        for dimension in &mut dimensions[1..] {
            if self.eat(',') {
                *dimension = self.number("a number of threads")?;
            }
        }
        Ok(dimensions)
    }

    fn params(&mut self) -> Result<Vec<Param>> {
        let mut params = Vec::new();
        if !self.eat('(') || self.eat(')') {
            return Ok(params);
        }
        loop {
            params.push(self.param()?);
            if !self.eat(',') {
                self.need(')')?;
                return Ok(params);
            }
        }
    }

    fn param(&mut self) -> Result<Param> {
        if !self.eat_word(".param") {
            return self.fail("`.param`");
        }
        self.align()?;
        let ty = self.declared_type()?;
        if self.eat_word(".ptr") {
            let _ = [".global", ".shared", ".const", ".local"].iter().any(|space| self.eat_word(space));
        }
        self.align()?;
        let name = self.name("a parameter's name")?;
        if self.is('[') {
            return self.fail("`,` or `)`: a parameter that is an array isn't supported");
        }
        Ok(Param { name, ty })
    }

    /// After `.reg`: `.b32 %r<5>, %x;`
    fn registers(&mut self) -> Result<()> {
        let class = class_of(self.declared_type()?);
        loop {
            let place = self.place();
            let name = self.word("a register's name")?;
            let mut count = None;
            if self.eat('<') {
                count = Some(self.number("a number of registers")?);
                self.need('>')?;
            }
            self.declare(place, class, name, count)?;
            if !self.eat(',') {
                return self.need(';');
            }
        }
    }

    fn declare(&mut self, place: Place, class: Class, name: String, count: Option<u32>) -> Result<()> {
        let total = &mut self.registers[class as usize];
        let base = *total;
        let Some(sum) = total.checked_add(count.unwrap_or(1)) else {
            return Err(place.error("more than 4294967295 registers", "fewer"));
        };
        *total = sum;
        let Some(scope) = self.scopes.last_mut() else { return Ok(()) };
        let again = match count {
            Some(count) => scope.ranges.insert(name.clone(), Range { class, base, count }).is_some(),
            None => scope.names.insert(name.clone(), Reg { class, index: base }).is_some(),
        };
        if again { Err(place.error(format!("`{name}` again"), "a name not declared yet")) } else { Ok(()) }
    }

    // Scopes and labels.

    /// After `{`: a scope with every label it defines.
    fn open_scope(&mut self) -> Result<()> {
        if self.scopes.len() >= MAX_SCOPES {
            return self.fail(&format!("at most {MAX_SCOPES} scopes inside each other"));
        }
        let mut scope = Scope::default();
        let mut depth = 0_usize;
        for position in self.at..self.tokens.len() {
            match &self.tokens[position].kind {
                Kind::Punct('{') => depth += 1,
                Kind::Punct('}') if depth == 0 => break,
                Kind::Punct('}') => depth -= 1,
                Kind::Word(word) if depth == 0 && self.is_colon(position + 1) => {
                    let (word, place) = (word.clone(), self.tokens[position].place);
                    let label = self.number_label(&word);
                    if scope.labels.insert(word.clone(), label).is_some() {
                        return Err(place.error(format!("the label `{word}` again"), "a label not defined yet"));
                    }
                }
                _ => {}
            }
        }
        self.scopes.push(scope);
        Ok(())
    }

    fn is_colon(&self, position: usize) -> bool {
        self.tokens.get(position).is_some_and(|token| token.kind == Kind::Punct(':'))
    }

    fn number_label(&mut self, word: &str) -> Label {
        if let Some(number) = own_label(word)
            && self.taken.insert(number)
        {
            return Label(number);
        }
        while self.reserved.contains(&self.next_label) || !self.taken.insert(self.next_label) {
            self.next_label += 1;
        }
        Label(self.next_label)
    }

    fn label(&mut self) -> Result<Label> {
        let label = match self.peek() {
            Kind::Word(word) => self.scopes.iter().rev().find_map(|scope| scope.labels.get(word)).copied(),
            _ => None,
        };
        let Some(label) = label else { return self.fail("a label defined in the kernel") };
        self.advance();
        Ok(label)
    }

    // Statements.

    /// Statements to the brace that closes the outermost scope, or to the end of a text with no braces around it.
    fn statements(&mut self) -> Result<()> {
        while !self.scopes.is_empty() {
            let comments = self.comments();
            for text in comments {
                let promise = Promise::read(&text, |name| self.lookup(name));
                self.body.push(promise.map_or(Statement::Comment(text), Statement::Promise));
            }
            match self.peek() {
                Kind::End if !self.in_entry && self.scopes.len() == 1 => return Ok(()),
                Kind::Punct('}') if self.in_entry || self.scopes.len() > 1 => {
                    self.advance();
                    self.scopes.pop();
                }
                Kind::Punct('{') => {
                    self.advance();
                    self.open_scope()?;
                }
                Kind::Word(word) if word.starts_with('.') => self.directive()?,
                Kind::Word(_) if self.is_colon(self.here() + 1) => {
                    let label = self.label()?;
                    self.need(':')?;
                    self.body.push(Statement::Label(label));
                }
                Kind::Punct(';') => drop(self.advance()),
                Kind::Word(_) | Kind::Punct('@') => self.instruction()?,
                _ => return self.fail("a statement"),
            }
        }
        Ok(())
    }

    fn directive(&mut self) -> Result<()> {
        let token = self.advance();
        let Kind::Word(word) = &token.kind else { return Err(unsupported(&token)) };
        match word.as_str() {
            ".reg" => self.registers(),
            ".loc" => self.loc(token.place.line),
            ".pragma" => self.pragma(),
            ".param" if self.in_entry => self.call_parameter(),
            ".local" if self.in_entry => {
                let SharedArray { name, align, bytes, .. } = self.shared(false)?;
                self.local.push(LocalArray { name, align, bytes });
                Ok(())
            }
            ".shared" if self.in_entry => {
                let array = self.shared(false)?;
                self.shared.push(array);
                Ok(())
            }
            ".extern" if self.in_entry && self.eat_word(".shared") => {
                let array = self.shared(true)?;
                self.shared.push(array);
                Ok(())
            }
            _ => Err(unsupported(&token)),
        }
    }

    /// After `.loc`: file, line, column, and what inlining adds on the line, which is skipped.
    fn loc(&mut self, on: u32) -> Result<()> {
        let file = self.number("a file number")?;
        let line = self.number("a line")?;
        let column = self.number("a column")?;
        if self.is(',') {
            while self.place().line == on && *self.peek() != Kind::End {
                self.advance();
            }
        }
        self.body.push(Statement::Loc { file, line, column });
        Ok(())
    }

    fn instruction(&mut self) -> Result<()> {
        let guard = if self.eat('@') { Some(self.predicate()?) } else { None };
        let place = self.place();
        let mut code = Opcode::new(self.word("an instruction")?, place);
        if guard.is_none() && code.text.starts_with("st.param.") {
            return self.call_argument(&mut code);
        }
        let op = self.op(&mut code)?;
        if !self.is(';') {
            return self.fail(&format!("`;` after the operands of `{}`", code.text));
        }
        self.advance();
        if guard.is_none() && self.takes_result(&op) {
            return Ok(());
        }
        self.body.push(Statement::Instruction { guard, op });
        Ok(())
    }

    fn op(&mut self, code: &mut Opcode) -> Result<Op> {
        match code.head() {
            "mov" => self.mov(code),
            "setp" => self.setp(code),
            "selp" => self.selp(code),
            "cvt" => self.cvt(code),
            "cvta" => self.cvta(code),
            "ld" => self.ld(code),
            "st" => self.st(code),
            "atom" | "red" => self.atom(code),
            "bra" => self.bra(code),
            "call" => self.call(code),
            "ret" | "exit" => {
                code.eat("uni");
                code.finish().map(|()| Op::Ret)
            }
            "trap" => code.finish().map(|()| Op::Trap),
            "bar" | "barrier" => self.bar(code),
            "pmevent" => self.event(code),
            "membar" | "fence" if code.parts.len() > 1 => Ok(Op::Fence { text: code.text.clone() }),
            "shfl" => self.shfl(code),
            "vote" => self.vote(code),
            "activemask" => self.active_mask(code),
            "mma" => self.mma(code),
            "wgmma" => self.wgmma(code),
            "ldmatrix" => self.ldmatrix(code),
            "cp" => self.copy(code),
            _ => self.alu(code),
        }
    }

    // Operands.

    fn lookup(&self, name: &str) -> Option<Reg> {
        self.scopes.iter().rev().find_map(|scope| scope.register(name))
    }

    fn register(&mut self) -> Result<Reg> {
        let reg = match self.peek() {
            Kind::Word(word) => self.lookup(word),
            _ => None,
        };
        let Some(reg) = reg else { return self.fail("a declared register") };
        self.advance();
        Ok(reg)
    }

    /// A register, or `_` for none.
    fn register_or_sink(&mut self) -> Result<Option<Reg>> {
        if self.eat_word("_") { Ok(None) } else { self.register().map(Some) }
    }

    fn predicate_register(&mut self) -> Result<Reg> {
        let token = self.token();
        let reg = self.register()?;
        if reg.class != Class::Pred {
            return Err(token.place.error(token.kind.describe(), "a predicate register"));
        }
        Ok(reg)
    }

    fn predicate(&mut self) -> Result<Guard> {
        let negated = self.eat('!');
        Ok(Guard { reg: self.predicate_register()?, negated })
    }

    fn operand(&mut self) -> Result<Operand> {
        let operand = match self.peek() {
            Kind::Int(_) | Kind::Punct('-') => return self.signed().map(Operand::Int),
            Kind::F32(bits) => Some(Operand::F32(*bits)),
            Kind::F64(bits) => Some(Operand::F64(*bits)),
            Kind::Word(word) => self.named(word),
            _ => None,
        };
        let Some(operand) = operand else { return self.fail("an operand: a declared register, a number or a symbol") };
        self.advance();
        Ok(operand)
    }

    fn named(&self, word: &str) -> Option<Operand> {
        if let Some(reg) = self.lookup(word) {
            return Some(Operand::Reg(reg));
        }
        match word {
            "WARP_SZ" => Some(Operand::Int(32)),
            "_" => None,
            word if word.starts_with('%') => find(&SPECIALS, word).map(Operand::Special),
            word if word.starts_with('.') => None,
            word => Some(Operand::Symbol(word.into())),
        }
    }

    fn next_operand(&mut self) -> Result<Operand> {
        self.need(',')?;
        self.operand()
    }

    fn address(&mut self) -> Result<Address> {
        self.need('[')?;
        let base = self.operand()?;
        let plus = self.eat('+');
        let offset = if plus || self.is('-') { self.signed()? } else { 0 };
        self.need(']')?;
        Ok(Address { base, offset })
    }

    /// Items in braces, or one without.
    fn list<T>(&mut self, item: fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        if !self.eat('{') {
            return Ok(vec![item(self)?]);
        }
        let mut items = vec![item(self)?];
        while self.eat(',') {
            items.push(item(self)?);
        }
        self.need('}')?;
        Ok(items)
    }

    /// As many items as the opcode's vector size.
    fn vector<T>(&mut self, count: usize, item: fn(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let place = self.place();
        let items = self.list(item)?;
        if items.len() == count {
            return Ok(items);
        }
        Err(place.error(count_of(items.len()), count_of(count)))
    }

    // Instructions.

    fn mov(&mut self, code: &mut Opcode) -> Result<Op> {
        let ty = code.ty()?;
        if self.is('{') {
            let parts = self.list(Self::register_or_sink)?;
            return Ok(Op::Unpack { ty, parts, src: self.next_operand()? });
        }
        let dst = self.register()?;
        self.need(',')?;
        if self.is('{') {
            return Ok(Op::Pack { ty, dst, parts: self.list(Self::operand)? });
        }
        Ok(Op::Mov { ty, dst, src: self.operand()? })
    }

    fn alu(&mut self, code: &mut Opcode) -> Result<Op> {
        let fits = |name: &str| code.text.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        let longest = ALUS.iter().filter(|(_, name, _)| fits(name)).max_by_key(|(_, name, _)| name.len());
        let Some((op, name, count)) = longest.copied() else { return Err(code.unsupported()) };
        code.next = name.split('.').count();
        let (mut rounding, mut approx, mut ftz, mut sat) = (None, false, false, false);
        loop {
            if code.eat("approx") || (op == Alu::Div && code.eat("full")) {
                approx = true;
            } else if code.eat("ftz") {
                ftz = true;
            } else if code.eat("sat") {
                sat = true;
            } else if let Some(mode) = code.eat_from(&ROUNDINGS) {
                rounding = Some(mode);
            } else {
                break;
            }
        }
        let ty = code.ty()?;
        let dst = self.register()?;
        let args = (0..count).map(|_| self.next_operand()).collect::<Result<_>>()?;
        Ok(Op::Alu { op, rounding, approx, ftz, sat, ty, dst, args })
    }

    fn setp(&mut self, code: &mut Opcode) -> Result<Op> {
        let place = code.place;
        const UNSIGNED: [(Compare, &str); 4] =
            [(Compare::Lt, "lo"), (Compare::Le, "ls"), (Compare::Gt, "hi"), (Compare::Ge, "hs")];
        let unsigned = code.eat_from(&UNSIGNED);
        let compare = unsigned.map_or_else(|| code.need(&COMPARES, "a comparison"), Ok)?;
        let combine = code.eat_from(&COMBINES);
        let ftz = code.eat("ftz");
        let ty = code.ty()?;
        if unsigned.is_some() && !matches!(ty, Type::U16 | Type::U32 | Type::U64) {
            return Err(place.error(format!("`{}`", code.text), "an unsigned type with this comparison"));
        }
        let dst = self.predicate_register()?;
        let (a, b) = (self.next_operand()?, self.next_operand()?);
        let combine = match combine {
            Some(combine) => {
                self.need(',')?;
                Some((combine, self.predicate()?))
            }
            None => None,
        };
        Ok(Op::Setp { compare, ftz, ty, dst, a, b, combine })
    }

    fn selp(&mut self, code: &mut Opcode) -> Result<Op> {
        let ty = code.ty()?;
        let dst = self.register()?;
        let (a, b) = (self.next_operand()?, self.next_operand()?);
        self.need(',')?;
        Ok(Op::Selp { ty, dst, a, b, predicate: self.predicate_register()? })
    }

    fn cvt(&mut self, code: &mut Opcode) -> Result<Op> {
        let rounding = code.eat_from(&ROUNDINGS);
        let ftz = code.eat("ftz");
        let sat = code.eat("sat");
        let to = code.need(&TYPES, "a type")?;
        let from = code.ty()?;
        let dst = self.register()?;
        let pair = matches!(to, Type::F16x2 | Type::BF16x2) && from == Type::F32;
        if pair && (rounding, ftz, sat) == (Some(Rounding::Rn), false, false) {
            let (high, low) = (self.next_operand()?, self.next_operand()?);
            return Ok(Op::CvtPair { to, dst, high, low });
        }
        Ok(Op::Cvt { rounding, ftz, sat, to, from, dst, src: self.next_operand()? })
    }

    fn cvta(&mut self, code: &mut Opcode) -> Result<Op> {
        let to = code.eat("to");
        let space = code.need(&SPACES, "a state space")?;
        code.need_part("u64")?;
        code.finish()?;
        let dst = self.register()?;
        Ok(Op::Cvta { to, space, dst, src: self.next_operand()? })
    }

    fn ld(&mut self, code: &mut Opcode) -> Result<Op> {
        let Access { space, qualifiers, ty, count } = access(code)?;
        let dst = self.vector(count, Self::register)?;
        self.need(',')?;
        Ok(Op::Ld { space, qualifiers, ty, dst, address: self.address()? })
    }

    fn st(&mut self, code: &mut Opcode) -> Result<Op> {
        let Access { space, qualifiers, ty, count } = access(code)?;
        let address = self.address()?;
        self.need(',')?;
        Ok(Op::St { space, qualifiers, ty, src: self.vector(count, Self::operand)?, address })
    }

    /// `.relaxed` and `.gpu` are what an atomic operation does without saying.
    fn atom(&mut self, code: &mut Opcode) -> Result<Op> {
        let returns = code.head() == "atom";
        let (mut space, mut order, mut scope) = (Space::Generic, None, None);
        loop {
            if let Some(found) = code.eat_from(&SPACES) {
                space = found;
            } else if order.is_none() && find(&ORDERS, code.peek()).is_some() {
                order = code.eat_from(&ORDERS);
            } else if scope.is_none() && find(&SCOPES, code.peek()).is_some() {
                scope = code.eat_from(&SCOPES);
            } else {
                break;
            }
        }
        let spelt = [order.filter(|order| *order != "relaxed"), scope.filter(|scope| *scope != "gpu")];
        let qualifiers = spelt.into_iter().flatten().map(String::from).collect();
        let op = code.need(&ATOMICS, "an atomic operation")?;
        let noftz = code.eat("noftz");
        let ty = code.ty()?;
        if noftz && !needs_noftz(op, ty) {
            return Err(code.place.error(format!("`{}`", code.text), "`.noftz` with a half-width float only"));
        }
        let mut dst = None;
        if returns {
            dst = Some(self.register()?);
            self.need(',')?;
        }
        let address = self.address()?;
        let count = if op == Atomic::Cas { 2 } else { 1 };
        let args = (0..count).map(|_| self.next_operand()).collect::<Result<_>>()?;
        Ok(Op::Atom { op, qualifiers, space, ty, dst, address, args })
    }

    fn bra(&mut self, code: &mut Opcode) -> Result<Op> {
        let uniform = code.eat("uni");
        code.finish()?;
        Ok(Op::Bra { target: self.label()?, uniform })
    }

    fn bar(&mut self, code: &mut Opcode) -> Result<Op> {
        let aligned = code.head() == "bar";
        if aligned && code.eat("warp") {
            code.need_part("sync")?;
            code.finish()?;
            return Ok(Op::WarpSync { mask: self.operand()? });
        }
        code.eat("cta");
        code.need_part("sync")?;
        if !aligned {
            code.need_part("aligned")?;
        }
        code.finish()?;
        let id = self.number("a barrier number")?;
        let threads = if self.eat(',') { Some(self.number("a number of threads")?) } else { None };
        Ok(Op::Bar { id, threads })
    }

    // Calls: parameters, arguments, the call and its result become one instruction.

    /// After `.param` in a scope: `.b64 arg0;`
    fn call_parameter(&mut self) -> Result<()> {
        self.align()?;
        let ty = self.declared_type()?;
        let name = self.name("a parameter's name")?;
        self.need(';')?;
        if let Some(scope) = self.scopes.last_mut() {
            scope.passed.insert(name, (ty, None));
        }
        Ok(())
    }

    /// `st.param.b64 [arg0], %rd1;`
    fn call_argument(&mut self, code: &mut Opcode) -> Result<()> {
        code.next = 2;
        let ty = code.ty()?;
        self.need('[')?;
        let place = self.place();
        let name = self.name("a parameter's name")?;
        if self.eat('+') && self.signed()? != 0 {
            return Err(place.error("a part of a parameter", "a whole one"));
        }
        self.need(']')?;
        let value = self.next_operand()?;
        self.need(';')?;
        let own = self.scopes.last_mut().and_then(|scope| scope.passed.get_mut(&name));
        match own {
            Some((declared, stored)) if bytes_of(*declared) == bytes_of(ty) => {
                *stored = Some(value);
                Ok(())
            }
            _ => Err(place.error(format!("`{name}`"), "a parameter of this size, declared in these braces")),
        }
    }

    fn call(&mut self, code: &mut Opcode) -> Result<Op> {
        code.eat("uni");
        code.finish()?;
        let mut given = None;
        if self.eat('(') {
            given = Some(self.passed()?);
            self.need(')')?;
            self.need(',')?;
        }
        let function = self.name("a function's name")?;
        let mut args = Vec::new();
        if self.eat(',') {
            self.need('(')?;
            while !self.eat(')') {
                args.push(self.passed_argument()?);
                if !self.is(')') {
                    self.need(',')?;
                }
            }
        }
        let (result, name) = given.map(|(name, ty, _)| ((ty, None), name)).unzip();
        if let Some(scope) = self.scopes.last_mut() {
            scope.result = name;
        }
        Ok(Op::Call { function, result, args })
    }

    /// A parameter of a call, and what was stored to it.
    fn passed(&mut self) -> Result<(String, Type, Option<Operand>)> {
        let place = self.place();
        let name = self.name("a parameter's name")?;
        let own = self.scopes.last().and_then(|scope| scope.passed.get(&name));
        let (ty, value) =
            own.cloned().ok_or_else(|| place.error(format!("`{name}`"), "a parameter declared in these braces"))?;
        Ok((name, ty, value))
    }

    fn passed_argument(&mut self) -> Result<(Type, Operand)> {
        let place = self.place();
        let (name, ty, value) = self.passed()?;
        let value = value.ok_or_else(|| place.error(format!("`{name}`"), "a parameter that was stored to"))?;
        Ok((ty, value))
    }

    /// Whether a load takes the result of the call right before it, which gets its register.
    fn takes_result(&mut self, op: &Op) -> bool {
        let Op::Ld { space: Space::Param, dst, address: Address { base: Operand::Symbol(name), offset: 0 }, .. } = op
        else {
            return false;
        };
        let waited = self.scopes.last_mut().and_then(|scope| scope.result.take_if(|own| own == name));
        match (self.body.last_mut(), &dst[..]) {
            (Some(Statement::Instruction { op: Op::Call { result: Some((_, place)), .. }, .. }), &[dst]) => {
                let fits = waited.is_some() && place.is_none();
                if fits {
                    *place = Some(dst);
                }
                fits
            }
            _ => false,
        }
    }

    fn shfl(&mut self, code: &mut Opcode) -> Result<Op> {
        code.need_part("sync")?;
        let mode = code.need(&SHUFFLES, "a shuffle mode")?;
        code.need_part("b32")?;
        code.finish()?;
        let dst = self.register()?;
        let in_range = if self.eat('|') { Some(self.predicate_register()?) } else { None };
        let (src, lane) = (self.next_operand()?, self.next_operand()?);
        let (clamp, mask) = (self.next_operand()?, self.next_operand()?);
        Ok(Op::Shfl { mode, dst, in_range, src, lane, clamp, mask })
    }

    fn vote(&mut self, code: &mut Opcode) -> Result<Op> {
        code.need_part("sync")?;
        let mode = code.need(&VOTES, "a vote mode")?;
        code.need_part(if mode == Vote::Ballot { "b32" } else { "pred" })?;
        code.finish()?;
        let dst = self.register()?;
        self.need(',')?;
        let src = self.predicate()?;
        Ok(Op::Vote { mode, dst, src, mask: self.next_operand()? })
    }

    fn active_mask(&mut self, code: &mut Opcode) -> Result<Op> {
        code.need_part("b32")?;
        code.finish()?;
        Ok(Op::ActiveMask { dst: self.register()? })
    }

    fn ldmatrix(&mut self, code: &mut Opcode) -> Result<Op> {
        const COUNTS: [(usize, &str); 3] = [(1, "x1"), (2, "x2"), (4, "x4")];
        for part in ["sync", "aligned", "m8n8"] {
            code.need_part(part)?;
        }
        let count = code.need(&COUNTS, "`.x1`, `.x2` or `.x4`")?;
        let transposed = code.eat("trans");
        if !code.eat("shared::cta") {
            code.need_part("shared")?;
        }
        code.need_part("b16")?;
        code.finish()?;
        let dst = self.vector(count, Self::register)?;
        self.need(',')?;
        Ok(Op::LdMatrix { transposed, dst, address: self.address()? })
    }

    /// `cp.async`, its groups, and waiting for them.
    fn copy(&mut self, code: &mut Opcode) -> Result<Op> {
        const CACHES: [(bool, &str); 2] = [(true, "cg"), (false, "ca")];
        code.need_part("async")?;
        if code.eat("commit_group") {
            return code.finish().map(|()| Op::CpAsyncCommit);
        }
        if code.eat("wait_all") {
            return code.finish().map(|()| Op::CpAsyncWait { groups: 0 });
        }
        if code.eat("wait_group") {
            code.finish()?;
            return Ok(Op::CpAsyncWait { groups: self.number("a number of groups")? });
        }
        let global = code.need(&CACHES, "`.ca` or `.cg`")?;
        if !code.eat("shared::cta") {
            code.need_part("shared")?;
        }
        code.need_part("global")?;
        code.finish()?;
        let to = self.address()?;
        self.need(',')?;
        let from = self.address()?;
        self.need(',')?;
        let (place, allowed) = (self.place(), if global { "16 bytes" } else { "4, 8 or 16 bytes" });
        let bytes = self.number(allowed)?;
        if !matches!((global, bytes), (false, 4 | 8) | (_, 16)) {
            return Err(place.error(format!("`{bytes}`"), allowed));
        }
        let read = if self.is(',') { Some(self.next_operand()?) } else { None };
        Ok(Op::CpAsync { global, bytes, to, from, read })
    }

    fn mma(&mut self, code: &mut Opcode) -> Result<Op> {
        code.need_part("sync")?;
        code.need_part("aligned")?;
        let shape = code.peek().to_string();
        if !shape.starts_with('m') {
            return Err(code.unknown("a shape such as `m8n8k4`"));
        }
        code.next += 1;
        const LAYOUTS: [(bool, &str); 2] = [(true, "row"), (false, "col")];
        let a_row = code.need(&LAYOUTS, "`.row` or `.col`")?;
        let b_row = code.need(&LAYOUTS, "`.row` or `.col`")?;
        let mut types = [Type::F32; 4];
        for ty in &mut types {
            *ty = code.need(&TYPES, "a type")?;
        }
        code.finish()?;
        let d = self.list(Self::register)?;
        self.need(',')?;
        let a = self.list(Self::register)?;
        self.need(',')?;
        let b = self.list(Self::register)?;
        self.need(',')?;
        Ok(Op::Mma { shape, a_row, b_row, types, d, a, b, c: self.list(Self::operand)? })
    }

    fn event(&mut self, code: &mut Opcode) -> Result<Op> {
        code.finish()?;
        let (place, event) = (self.place(), self.number("an event from 0 to 15")?);
        if event > 15 {
            return Err(place.error(format!("`{event}`"), "an event from 0 to 15"));
        }
        Ok(Op::PmEvent { event })
    }

    /// `wgmma.mma_async`, its fence, groups, and waiting for them.
    fn wgmma(&mut self, code: &mut Opcode) -> Result<Op> {
        const KINDS: [(usize, &str); 4] = [(0, "mma_async"), (1, "fence"), (2, "commit_group"), (3, "wait_group")];
        let kind = code.need(&KINDS, "`.mma_async`, `.fence`, `.commit_group` or `.wait_group`")?;
        code.need_part("sync")?;
        code.need_part("aligned")?;
        match kind {
            0 => self.wgmma_product(code),
            1 => code.finish().map(|()| Op::WgmmaFence),
            2 => code.finish().map(|()| Op::WgmmaCommit),
            _ => {
                code.finish()?;
                Ok(Op::WgmmaWait { groups: self.number("a number of groups")? })
            }
        }
    }

    fn wgmma_product(&mut self, code: &mut Opcode) -> Result<Op> {
        const TYPES: [(Type, &str); 2] = [(Type::F16, "f16"), (Type::BF16, "bf16")];
        let n = code.peek().strip_prefix("m64n").and_then(|rest| canonical(rest.strip_suffix("k16")?));
        let Some(n) = n.filter(|n| n.is_multiple_of(8) && (8..=256).contains(n)) else {
            return Err(code.unknown("a shape such as `m64n128k16`"));
        };
        code.next += 1;
        code.need_part("f32")?;
        let ty = code.need(&TYPES, "`.f16` or `.bf16`")?;
        code.need_part(if ty == Type::F16 { "f16" } else { "bf16" })?;
        code.finish()?;
        let d = self.list(Self::register)?;
        self.need(',')?;
        let registers = if self.is('{') { Some(self.list(Self::register)?) } else { None };
        let descriptor = if registers.is_none() { Some(self.register()?) } else { None };
        self.need(',')?;
        let b = self.register()?;
        self.need(',')?;
        let adds = self.predicate_register()?;
        for _ in 0..2 {
            self.need(',')?;
            self.flag("a factor of 1", 1..=1)?;
        }
        let transposed = if descriptor.is_some() { self.next_flag()? } else { false };
        let b_transposed = self.next_flag()?;
        let a = match descriptor {
            Some(descriptor) => WgmmaLeft::Memory { descriptor, transposed },
            None => WgmmaLeft::Registers(registers.unwrap_or_default()),
        };
        Ok(Op::Wgmma(Wgmma { n, ty, d, a, b, b_transposed, adds }))
    }

    fn next_flag(&mut self) -> Result<bool> {
        self.need(',')?;
        self.flag("0 or 1", 0..=1)
    }

    fn flag(&mut self, expected: &str, allowed: std::ops::RangeInclusive<u32>) -> Result<bool> {
        let place = self.place();
        let number = self.number(expected)?;
        if allowed.contains(&number) { Ok(number == 1) } else { Err(place.error(format!("`{number}`"), expected)) }
    }
}

fn count_of(count: usize) -> String {
    if count == 1 { "1 element".into() } else { format!("{count} elements") }
}

fn unsupported(token: &Token) -> ParseError {
    let found = match &token.kind {
        Kind::Word(word) if word.starts_with('.') => format!("the directive `{word}`, which isn't supported here"),
        kind => kind.describe(),
    };
    token.place.error(found, "a directive that a `ptx::Module` can hold")
}

/// Orders of an atomic.
const ORDERS: [(&str, &str); 4] =
    [("relaxed", "relaxed"), ("acquire", "acquire"), ("release", "release"), ("acq_rel", "acq_rel")];

/// Scopes of an atomic.
const SCOPES: [(&str, &str); 3] = [("cta", "cta"), ("gpu", "gpu"), ("sys", "sys")];

/// The number of a label spelt as the printer does: `$L3`.
fn own_label(word: &str) -> Option<u32> {
    canonical(word.strip_prefix("$L")?)
}

/// The opcode of a load or a store.
struct Access {
    space: Space,
    qualifiers: Vec<String>,
    ty: Type,
    count: usize,
}

fn access(code: &mut Opcode) -> Result<Access> {
    const TRAILING: [&str; 8] = ["ca", "cg", "cs", "lu", "cv", "nc", "wb", "wt"];
    const COUNTS: [(usize, &str); 2] = [(2, "v2"), (4, "v4")];
    let mut space = None;
    let mut qualifiers = Vec::new();
    let mut count = 1;
    loop {
        let part = code.peek().to_string();
        let cached = part.starts_with("L1::") || part.starts_with("L2::");
        if cached || LEADING.contains(&part.as_str()) || TRAILING.contains(&part.as_str()) {
            code.next += 1;
            qualifiers.push(part);
        } else if let Some(found) = code.eat_from(&COUNTS) {
            count = found;
        } else if space.is_none() && code.eat("shared::cta") {
            space = Some(Space::Shared);
        } else if let Some(found) = find(&SPACES, &part).filter(|_| space.is_none()) {
            code.next += 1;
            space = Some(found);
        } else {
            break;
        }
    }
    qualifiers.sort_by_key(|qualifier| !LEADING.contains(&qualifier.as_str()));
    Ok(Access { space: space.unwrap_or(Space::Generic), qualifiers, ty: code.ty()?, count })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::print::tests::{newer, of_hopper, r, sample};
    use super::super::{print, register_name};
    use super::*;

    const REGISTERS: [u32; 6] = [4, 4, 8, 4, 8, 2];

    fn body(text: &str) -> Vec<Statement> {
        parse_body(text, REGISTERS).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn only(text: &str) -> Op {
        match body(text).pop() {
            Some(Statement::Instruction { op, .. }) => op,
            other => panic!("{other:?}"),
        }
    }

    fn error(text: &str) -> String {
        parse_body(text, REGISTERS).map(|body| panic!("{body:?}")).unwrap_or_else(|error| error.to_string())
    }

    fn with_header(text: &str) -> String {
        format!(".version 7.0\n.target sm_80\n.address_size 64\n{text}")
    }

    fn module(text: &str) -> Module {
        parse(&with_header(text)).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    fn module_error(text: &str) -> String {
        parse(&with_header(text)).map(|module| panic!("{module:?}")).unwrap_or_else(|error| error.to_string())
    }

    fn round_trips(module: &Module) {
        let text = print(module);
        assert_eq!(&parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}")), module);
    }

    #[test]
    fn reads_what_it_prints() {
        round_trips(&sample());
        let mut newer_than_volta = sample();
        (newer_than_volta.version, newer_than_volta.target) = ((7, 0), 80);
        let plain = newer().into_iter().map(|op| Statement::Instruction { guard: None, op });
        newer_than_volta.entries[0].body = plain.collect();
        round_trips(&newer_than_volta);
        let mut hopper = sample();
        (hopper.version, hopper.target, hopper.specific) = ((8, 0), 90, true);
        let plain = of_hopper().into_iter().map(|op| Statement::Instruction { guard: None, op });
        hopper.entries[0].body = plain.collect();
        round_trips(&hopper);
    }

    #[test]
    fn products_of_warpgroups_have_their_shapes() {
        let fails = |line: &str, words: &str| {
            let error = parse_body(line, REGISTERS).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        let product = |shape: &str, rest: &str| {
            format!("wgmma.mma_async.sync.aligned.{shape} {{%f0, %f1, %f2, %f3}}, %rd0, %rd1, %p0, {rest};")
        };
        assert!(parse_body(&product("m64n8k16.f32.f16.f16", "1, 1, 0, 1"), REGISTERS).is_ok());
        fails(&product("m64n12k16.f32.f16.f16", "1, 1, 0, 1"), "m64n128k16");
        fails(&product("m64n264k16.f32.f16.f16", "1, 1, 0, 1"), "m64n128k16");
        fails(&product("m64n8k16.f32.f16.bf16", "1, 1, 0, 1"), "`.f16`");
        fails(&product("m64n8k16.f32.f16.f16", "1, -1, 0, 1"), "a factor of 1");
        fails(&product("m64n8k16.f32.f16.f16", "1, 1, 0, 2"), "0 or 1");
        fails("wgmma.fence.sync;", "`.aligned`");
    }

    #[test]
    fn copies_and_matrices_have_their_sizes() {
        let fails = |line: &str, words: &str| {
            let error = parse_body(line, REGISTERS).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        };
        fails("cp.async.cg.shared.global [%r1], [%rd1], 8;", "16 bytes");
        fails("cp.async.ca.shared.global [%r1], [%rd1], 2;", "4, 8 or 16 bytes");
        fails("cp.async.ca.global.shared [%rd1], [%r1], 4;", "shared");
        fails("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r1}, [%r1];", "2 elements");
        fails("ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r1}, [%r1];", "`.x1`, `.x2` or `.x4`");
    }

    fn every_spelling() -> Vec<Op> {
        let (dst, a, b) = (r(Class::B32, 0), Operand::Reg(r(Class::B32, 1)), Operand::Int(2));
        let (mut ops, to, from) = (Vec::new(), Type::S32, Type::F32);
        for (op, _, count) in ALUS {
            for (ty, _) in TYPES {
                let args = vec![a.clone(); count];
                ops.push(Op::Alu { op, rounding: None, approx: false, ftz: false, sat: false, ty, dst, args });
            }
        }
        for (rounding, _) in ROUNDINGS {
            let rounding = Some(rounding);
            ops.push(Op::Cvt { rounding, ftz: false, sat: true, to, from, dst, src: a.clone() });
        }
        for (compare, _) in COMPARES {
            let (dst, a, b) = (r(Class::Pred, 0), a.clone(), b.clone());
            ops.push(Op::Setp { compare, ftz: false, ty: Type::F32, dst, a, b, combine: None });
        }
        for (op, _) in ATOMICS {
            let args = vec![a.clone(); if op == Atomic::Cas { 2 } else { 1 }];
            let address = Address { base: a.clone(), offset: i64::MIN };
            ops.push(Op::Atom {
                op,
                qualifiers: vec![],
                space: Space::Shared,
                ty: Type::U32,
                dst: Some(dst),
                address,
                args,
            });
        }
        for (space, _) in SPACES {
            let address = Address { base: Operand::Int(64), offset: 8 };
            ops.push(Op::Ld { space, qualifiers: vec![], ty: Type::B32, dst: vec![dst], address });
        }
        ops.extend(SPECIALS.map(|(special, _)| Op::Mov { ty: Type::U32, dst, src: Operand::Special(special) }));
        ops
    }

    #[test]
    fn reads_every_spelling() {
        let mut whole = sample();
        let plain = every_spelling().into_iter().map(|op| Statement::Instruction { guard: None, op });
        whole.entries[0].body = plain.collect();
        round_trips(&whole);
    }

    const TRITON: &str = r#"
.extern .shared .align 16 .b8 global_smem[];
.visible .entry add_kernel( // @add_kernel
	.param .u64 .ptr .global .align 16 add_kernel_param_0,
	.param .align 4 .u32 add_kernel_param_1
)
.reqntid 128
{
	.reg .pred 	%p<3>;
	.reg .b16 %rs<4>;
	.reg .s32 %r<0x10>, %extra;
	.reg .b64 %Q,%K;
	.loc	1 5 0                           // add.py:5:0
$L__func_begin0:
	.loc	1 9 3, function_name $L__info_string0, inlined_at 1 20 3
// %bb.0:                               // %entry
	ld.param.u64 	%Q, [add_kernel_param_0];
	.pragma "nounroll";
	// begin inline asm
	mov.u32 %r1, %ctaid.x; /* block
	comment */ mov.b32 %extra, 0xFFFFFFFFU;
	@!%p1 ld.global.L1::evict_last.b32 { %r2 }, [ %Q + -16 ];
	{
	.reg .b32 %r<2>;
	.reg .pred p;
	setp.lo.u32 p, %r1, 010;
LOOP:
	@p bra.uni LOOP;
	}
	{ LOOP: bra LOOP; }
	mov.u32 %r3, global_smem;
$L__tmp1:
	bra $L__tmp1;
	exit;
$L__func_end0:
}
	.file	1 "/home/me" "add.py", 12, 34
	.section	.debug_abbrev
	{
.b8 1                                   // Abbreviation Code
.b64 $L__func_end0-$L__func_begin0
{ }
	}
	.section	.debug_macinfo	{	}
"#;

    #[test]
    fn reads_triton_text() {
        let module = module(TRITON);
        assert_eq!(module.files, ["/home/me/add.py"]);
        let entry = &module.entries[0];
        assert_eq!((entry.max_threads, entry.min_blocks), (Some([128, 1, 1]), None));
        assert_eq!(entry.registers, [4, 4, 19, 2, 0, 0]);
        assert_eq!(entry.params[1], Param { name: "add_kernel_param_1".into(), ty: Type::U32 });
        let text = print(&module);
        for line in [
            "\t.loc 1 9 3\n\t// %bb.0:                               // %entry\n",
            "\tmov.b32 %r16, 4294967295;",
            "\t@!%p1 ld.global.L1::evict_last.b32 %r2, [%rd0+-16];",
            "\tsetp.lt.u32 %p3, %r18, 8;\n",
            "\t@%p3 bra.uni $L3;",
            "\tbra $L4;",
        ] {
            assert!(text.contains(line), "{line} isn't in\n{text}");
        }
        round_trips(&module);
    }

    #[test]
    fn numbers_labels_apart() {
        let target = |statement| match statement {
            Statement::Instruction { op: Op::Bra { target, .. }, .. } => Some(target.0),
            _ => None,
        };
        let statements = body("$L1: { $L1: bra $L1; } x: bra $L1; bra x;");
        assert_eq!(statements.into_iter().filter_map(target).collect::<Vec<_>>(), [2, 1, 0]);
    }

    #[test]
    fn reads_a_body() {
        let Op::Alu { dst, .. } = only("mov.u32 %r7, 1; { .reg .f32 t; neg.f32 t, %f3; }") else { panic!() };
        assert_eq!(register_name(dst), "%f8");
        assert_eq!(body("// kept\n// twice\nret; // dropped\n").len(), 3);
        assert_eq!(body(""), []);
    }

    #[test]
    fn reads_numbers() {
        for (text, value) in [
            ("0", 0),
            ("017", 15),
            ("0x1Fu", 31),
            ("0b101U", 5),
            ("-128", -128),
            ("0xFFFFFFFFFFFFFFFF", -1),
            ("-9223372036854775808", i64::MIN),
            ("WARP_SZ", 32),
        ] {
            let Op::Mov { src, .. } = only(&format!("mov.b64 %rd0, {text};")) else { panic!() };
            assert_eq!(src, Operand::Int(value), "{text}");
        }
        let Op::Mov { src, .. } = only("mov.f64 %fd0, 0d3FF0000000000000;") else { panic!() };
        assert_eq!(src, Operand::F64(1.0_f64.to_bits()));
    }

    #[test]
    fn reads_other_spellings() {
        for (text, same) in [
            ("div.approx.f32 %f0, %f1, %f2;", "div.full.f32 %f0, %f1, %f2;"),
            ("barrier.sync.aligned 0;", "bar.sync 0;"),
            ("exit;", "ret;"),
            ("setp.hs.u32 %p0, %r1, %r2;", "setp.ge.u32 %p0, %r1, %r2;"),
            ("atom.relaxed.gpu.global.add.u32 %r0, [%rd0], 1;", "atom.global.add.u32 %r0, [%rd0], 1;"),
            ("atom.global.gpu.relaxed.add.u32 %r0, [%rd0], 1;", "atom.global.add.u32 %r0, [%rd0], 1;"),
            ("atom.global.gpu.acq_rel.add.u32 %r0, [%rd0], 1;", "atom.acq_rel.global.add.u32 %r0, [%rd0], 1;"),
            ("ld.global.b32 {%r0}, [%rd0-8];", "ld.global.b32 %r0, [%rd0+-8];"),
        ] {
            assert_eq!(body(text), body(same), "{text}");
        }
    }

    #[test]
    fn explains_errors() {
        for (text, line, column, rest) in [
            (
                "ret;\n  tex.2d.v4.f32 %r1;",
                2,
                3,
                "found the instruction `tex.2d.v4.f32`, which isn't supported, expected",
            ),
            ("add.cc.u32 %r1, %r2, %r3;", 1, 1, "found `.cc` in `add.cc.u32`, which isn't supported, expected a type"),
            ("mov.u32 %r1, %r8;", 1, 14, "found `%r8`, expected an operand: a declared register, a number or a symbol"),
            ("mov.u32 %r01, 1;", 1, 9, "found `%r01`, expected a declared register"),
            ("bra there;", 1, 5, "found `there`, expected a label defined in the kernel"),
            ("@%r1 ret;", 1, 2, "found `%r1`, expected a predicate register"),
            ("ld.global.v2.b32 %r1, [%rd1];", 1, 18, "found 1 element, expected 2 elements"),
            ("ret", 1, 4, "found the end of the text, expected `;` after the operands of `ret`"),
            ("ld.global %r1, [%rd1];", 1, 1, "found `ld.global`, which ends too soon, expected a type"),
            ("}", 1, 1, "found `}`, expected a statement"),
            ("a: a:", 1, 4, "found the label `a` again, expected a label not defined yet"),
            ("/* x", 1, 1, "found a comment that doesn't end, expected `*/`"),
            ("mov.u32 %r1, 09;", 1, 14, "found `09`, expected a number"),
            ("é;", 1, 1, "found the character 'é', expected PTX"),
        ] {
            let found = error(text);
            assert!(found.starts_with(&format!("line {line}, column {column}: {rest}")), "{found}");
        }
    }

    #[test]
    fn refuses_what_would_change_meaning() {
        for text in [
            "atom.global.cluster.add.u32 %r0, [%rd0], 1;",
            "atom.global.acquire.release.add.u32 %r0, [%rd0], 1;",
            "setp.lo.s32 %p0, %r1, %r2;",
            "setp.eq.u32 %p0|%p1, %r1, %r2;",
            "min.NaN.f32 %f0, %f1, %f2;",
            "shf.l.clamp.b32 %r0, %r1, %r2, %r3;",
            "cvt.rz.f16x2.f32 %r0, %f1, %f2;",
            "barrier.sync 0;",
            "bar.sync %r1;",
            "ld.shared::cluster.b32 %r0, [%r1];",
            "mma.sync.aligned.m8n8k4.row.col.satfinite.s32.s8.s8.s32 {%r1}, {%r1}, {%r1}, {%r1};",
        ] {
            error(text);
        }
    }

    #[test]
    fn refuses_directives() {
        for (text, expected) in [
            (".global .b32 x;", "found `.b32`, expected `.b8`"),
            (".global .b8 x[3] = {1, 2};", "found 3 elements, expected 2 elements, as there are values"),
            (".global .b8 x[1] = {256};", "found `256`, expected a byte"),
            (".entry k() { { st.param.b32 [a], 1; } }", "found `a`, expected a parameter of this size"),
            (".entry k() { { .param .b32 a; call f, (a); } }", "found `a`, expected a parameter that was stored to"),
            (".entry k() { { call (a), f; } }", "found `a`, expected a parameter declared in these braces"),
            (".visible .func f() {}", "found the directive `.func`, which isn't supported here"),
            (".visible .const .b32 x;", "found the directive `.const`, which isn't supported here"),
            (".entry k() { .const .b32 x; }", "found the directive `.const`, which isn't supported here"),
            (".entry k() .maxclusterrank 2 {}", "found the directive `.maxclusterrank`, which isn't supported here"),
            (".entry k(.param .align 8 .b8 p[16]) {}", "a parameter that is an array isn't supported"),
            (".address_size 32", "expected 64"),
            (".entry k() { ret;", "found the end of the text, expected a statement"),
        ] {
            let found = module_error(text);
            assert!(found.contains(expected), "{found}");
        }
        let missing = |text: &str| parse(text).map_err(|error| error.expected).err();
        assert_eq!(missing("").as_deref(), Some("`.version`"));
        assert_eq!(missing(".version 7.0").as_deref(), Some("`.target`"));
    }

    #[test]
    fn bounds_what_a_text_can_ask_for() {
        assert!(error(&"{".repeat(100_000)).contains("at most 64 scopes"));
        assert!(error(".reg .b32 %x<4294967295>; .reg .b32 y;").contains("more than 4294967295 registers"));
        assert!(module_error(".file 4000000000 \"x\"").contains("one from 1 to 65536"));
        assert!(module_error(".shared .b64 x[99999][99999];").contains("4 GiB"));
    }

    #[test]
    fn reads_calls_of_other_compilers() {
        let text = ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b)\n;\n\
                    .entry k() { .reg .b32 %r<2>; .reg .b64 %rd<3>; .local .align 8 .b8 __depot[16];\n\
                    { // callseq 0, 0\n.reg .b32 temp_param_reg;\n.param .b64 param0;\nst.param.b64 [param0+0], %rd1;\n\
                    .param .b64 param1;\nst.param.b64 [param1+0], %rd2;\n.param .b32 retval0;\n\
                    call.uni (retval0),\nvprintf,\n(\nparam0,\nparam1\n);\nld.param.b32 %r1, [retval0+0];\n} }";
        let module = module(text);
        let reg = |index| Operand::Reg(r(Class::B64, index));
        let [.., Statement::Instruction { op, .. }] = &module.entries[0].body[..] else { panic!() };
        let args = vec![(Type::B64, reg(1)), (Type::B64, reg(2))];
        let result = Some((Type::B32, Some(r(Class::B32, 1))));
        assert_eq!(*op, Op::Call { function: "vprintf".into(), result, args });
        assert_eq!(module.entries[0].local, [LocalArray { name: "__depot".into(), align: 8, bytes: 16 }]);
        round_trips(&module);
    }

    #[test]
    fn reads_shared_arrays() {
        let module = module(".visible .shared .f32 x[2][8]; .entry k { .shared .u32 y; ret; }");
        let array = |name: &str, bytes| SharedArray { name: name.into(), align: 4, bytes, external: false };
        assert_eq!(module.shared, [array("x", 64)]);
        assert_eq!(module.entries[0].shared, [array("y", 4)]);
    }

    type Edit = (usize, usize, u8, String);

    /// The text with pieces cut, doubled, replaced and inserted.
    fn mutate(text: &str, edits: &[Edit]) -> String {
        let mut chars: Vec<char> = text.chars().collect();
        for (at, length, kind, insert) in edits {
            let at = at % (chars.len() + 1);
            let end = (at + length).min(chars.len());
            let piece: Vec<char> = if *kind == 1 { chars[at..end].to_vec() } else { insert.chars().collect() };
            match kind {
                0 => drop(chars.drain(at..end)),
                1 | 2 => drop(chars.splice(at..at, piece)),
                _ => drop(chars.splice(at..end, piece)),
            }
        }
        chars.into_iter().collect()
    }

    fn edit() -> impl Strategy<Value = Edit> {
        let piece = prop_oneof!["\\PC{0,4}", r#"[{}();:@!%$.,<>\[\]|+\-/*"0-9a-z\n]{1,3}"#, "[0-9]{1,20}"];
        (0..100_000_usize, 0..12_usize, 0..4_u8, piece)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(512) })]

        #[test]
        fn never_panics(edits in prop::collection::vec(edit(), 1..6), triton in any::<bool>()) {
            let text = if triton { with_header(TRITON) } else { print(&sample()) };
            let text = mutate(&text, &edits);
            if let Ok(module) = parse(&text) {
                prop_assert_eq!(parse(&print(&module)), Ok(module));
            }
            let _ = parse_body(&text, REGISTERS);
        }

        #[test]
        fn never_panics_on_noise(text in "(\\PC|\n|[{}:;%.0-9a-z]){0,200}") {
            let _ = parse(&text);
            let _ = parse_body(&text, REGISTERS);
        }
    }
}
