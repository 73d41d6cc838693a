//! Messages of a running kernel: `device_print` and `device_assert`.
//!
//! Both call what the driver brings: `vprintf` with a format and the address of its arguments, which lie in memory of the
//! thread; `__assertfail` with a message and a place in the source. Each element is printed once, by its holder:
//!
//! ```text
//! block [0, 0, 0], element [2, 5]: x = 1.5
//! ```

use std::panic::Location;
use std::rc::Rc;

use quadpair_layouts::{Layout, Shape};

use super::Lowering;
use super::holders::held_once;
use super::linear::ThreadMap;
use super::num::Num;
use super::scalar::{bits_of, class_of};
use crate::element::DType;
use crate::ir::{BinaryOp, TileType, Value};
use crate::ptx::{Address, Class, Constant, Function, Guard, LocalArray, Op, Operand, Space, Special, Statement, Type};

/// The symbol of the memory that the arguments of `vprintf` lie in.
const ARGUMENTS: &str = "print_arguments";

/// What messages need outside of the kernel's body.
#[derive(Default)]
pub(super) struct Messages {
    texts: Vec<String>,
    functions: Vec<Function>,
    /// Bytes of the longest list of arguments.
    argument_bytes: u32,
}

impl Messages {
    /// The symbol of a text.
    fn text(&mut self, text: String) -> String {
        let known = self.texts.iter().position(|own| *own == text);
        let number = known.unwrap_or_else(|| {
            self.texts.push(text);
            self.texts.len() - 1
        });
        format!("text_{number}")
    }

    fn declare(&mut self, name: &str, result: Option<Type>, params: &[Type]) {
        if self.functions.iter().all(|own| own.name != name) {
            self.functions.push(Function { name: name.to_owned(), result, params: params.to_vec() });
        }
    }

    pub(super) fn functions(&self) -> Vec<Function> {
        self.functions.clone()
    }

    /// The texts, each with the 0 at its end.
    pub(super) fn constants(&self) -> Vec<Constant> {
        let bytes = |text: &String| text.bytes().chain([0]).collect();
        let named = self.texts.iter().enumerate();
        named.map(|(i, text)| Constant { name: format!("text_{i}"), bytes: bytes(text) }).collect()
    }

    pub(super) fn local(&self) -> Vec<LocalArray> {
        let array = LocalArray { name: ARGUMENTS.to_owned(), align: 8, bytes: self.argument_bytes };
        if self.argument_bytes > 0 { vec![array] } else { Vec::new() }
    }
}

impl Lowering<'_> {
    pub(super) fn print(&mut self, name: &str, args: &[Value]) {
        let types: Vec<TileType> = args.iter().map(|&arg| *self.function.type_of(arg)).collect();
        let layout = types.iter().filter_map(|ty| ty.layout).max_by_key(|layout| layout.shape().len());
        let ty = TileType { layout, ..TileType::scalar(DType::Bool) };
        let columns: Vec<Vec<Num>> = args.iter().map(|&arg| self.spread(arg, &ty)).collect();
        let over = self.spread_over(&ty);
        let format = format_text(name, layout.map(|layout| layout.shape()), &types);
        let symbol = self.messages.text(format);
        let masks = self.held_masks(&over, None);
        for r in held_once(&over) {
            let values: Vec<(Num, TileType)> = columns.iter().map(|column| column[r]).zip(types.clone()).collect();
            self.only_where(masks[r], |own| own.print_element(&symbol, &over, r, &values));
        }
    }

    /// Emits something that is done in the threads where a mask holds.
    fn only_where(&mut self, mask: Num, body: impl FnOnce(&mut Self)) {
        let guard = self.guard_of(mask);
        self.emit.open(true);
        body(self);
        let statements = self.emit.close();
        self.skip_unless(guard, statements);
    }

    fn skip_unless(&mut self, guard: Option<Guard>, statements: Vec<Statement>) {
        let Some(guard) = guard else { return self.emit.extend(statements) };
        let (skip, end) = (Guard { negated: !guard.negated, ..guard }, self.emit.label());
        self.emit.push_guarded(Some(skip), Op::Bra { target: end, uniform: false });
        self.emit.extend(statements);
        self.emit.mark(end);
    }

    fn print_element(&mut self, format: &str, layout: &Layout, register: usize, values: &[(Num, TileType)]) {
        let block = [Special::CtaidX, Special::CtaidY, Special::CtaidZ];
        let mut args: Vec<(Num, DType)> = block.map(|axis| (self.emit.special(axis), DType::U32)).to_vec();
        let (shape, element) = (layout.shape(), layout.apply(register, 0, 0));
        for dim in 0..shape.rank() {
            let map = ThreadMap::new(layout, |basis| shape.coordinate(basis, dim) as u32);
            args.push((self.linear(&map, shape.coordinate(element, dim) as u32), DType::U32));
        }
        for &(value, ty) in values {
            let wide = passed_type(ty.stored());
            let own = ty.stored();
            args.push((self.cast(own, wide, value), wide));
        }
        let list = self.argument_list(&args);
        self.call_with_texts("vprintf", Some(Type::B32), &[Some(format), None], vec![(Type::B64, list)]);
    }

    /// Writes arguments as C passes them, and gives the address of the first.
    fn argument_list(&mut self, args: &[(Num, DType)]) -> Operand {
        let mut end = 0_u32;
        for &(num, dtype) in args {
            let (start, class) = (end.next_multiple_of(dtype.bytes()), class_of(dtype));
            let src = vec![Operand::Reg(self.reg(num, class))];
            let address = Address { base: Operand::Symbol(ARGUMENTS.to_owned()), offset: start.into() };
            self.emit.push(Op::St { space: Space::Local, qualifiers: Vec::new(), ty: bits_of(class), src, address });
            end = start + dtype.bytes();
        }
        self.messages.argument_bytes = self.messages.argument_bytes.max(end);
        self.generic(ARGUMENTS, Space::Local)
    }

    /// The address of a symbol among those of all memory.
    fn generic(&mut self, symbol: &str, space: Space) -> Operand {
        let (own, generic) = (self.emit.fresh(Class::B64), self.emit.fresh(Class::B64));
        self.emit.push(Op::Mov { ty: Type::U64, dst: own, src: Operand::Symbol(symbol.to_owned()) });
        self.emit.push(Op::Cvta { to: false, space, dst: generic, src: Operand::Reg(own) });
        Operand::Reg(generic)
    }

    /// Calls a function of the driver: texts where there are symbols, the other arguments in their order.
    fn call_with_texts(
        &mut self,
        function: &str,
        result: Option<Type>,
        places: &[Option<&str>],
        others: Vec<(Type, Operand)>,
    ) {
        let mut others = others.into_iter();
        let args: Vec<(Type, Operand)> = places
            .iter()
            .filter_map(|place| match place {
                Some(symbol) => Some((Type::B64, self.generic(symbol, Space::Global))),
                None => others.next(),
            })
            .collect();
        let types: Vec<Type> = args.iter().map(|(ty, _)| *ty).collect();
        self.messages.declare(function, result, &types);
        self.emit.push(Op::Call { function: function.to_owned(), result: result.map(|ty| (ty, None)), args });
    }

    /// Stops the kernel with the author's words and line where some element is false.
    pub(super) fn assert(&mut self, condition: Value, message: &str, at: &'static Location<'static>) {
        let held = self.held(condition);
        let mut all = Num::Bool(true);
        for &num in Rc::clone(&held).iter() {
            all = self.binary(BinaryOp::And, DType::Bool, all, num);
        }
        if all == Num::Bool(true) {
            return;
        }
        let all = Guard { reg: self.reg(all, Class::Pred), negated: true };
        let texts = [message, at.file(), self.function.name].map(|text| self.messages.text(text.to_owned()));
        let places = [Some(texts[0].as_str()), Some(texts[1].as_str()), None, Some(texts[2].as_str()), None];
        let line = (Type::B32, Operand::Int(at.line().into()));
        let character_bytes = (Type::B64, Operand::Int(1));
        self.emit.open(true);
        self.call_with_texts("__assertfail", None, &places, vec![line, character_bytes]);
        // It doesn't return, but the assembler doesn't know.
        self.emit.push(Op::Trap);
        let statements = self.emit.close();
        self.skip_unless(Some(all), statements);
    }
}

/// The format of one element's line.
fn format_text(name: &str, shape: Option<Shape>, types: &[TileType]) -> String {
    let numbers = |count: usize| vec!["%u"; count].join(", ");
    let place = shape.map_or(String::new(), |shape| format!(", element [{}]", numbers(shape.rank())));
    let values: Vec<&str> = types.iter().map(conversion).collect();
    format!("block [{}]{place}: {} = {}\n", numbers(3), name.replace('%', "%%"), values.join(", "))
}

/// How `printf` spells a value.
fn conversion(ty: &TileType) -> &'static str {
    match passed_type(ty.dtype) {
        _ if ty.is_pointer() => "0x%llx",
        DType::I64 => "%lld",
        DType::U64 => "%llu",
        DType::F64 => "%g",
        DType::U32 => "%u",
        _ => "%d",
    }
}

/// What C makes of an argument of a type.
fn passed_type(dtype: DType) -> DType {
    match dtype {
        _ if dtype.is_float() => DType::F64,
        DType::I64 | DType::U64 => dtype,
        DType::U8 | DType::U16 | DType::U32 => DType::U32,
        _ => DType::I32,
    }
}
