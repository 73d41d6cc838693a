//! From an expression to the layout that it stands for.
//!
//! Each call is checked when it is made, so that a message points at the call that is wrong and not at the whole.

use quadpair_layouts::{Layout, Mma, SharedLayout};

use super::arguments::{Arguments, Given};
use super::ast::{Argument, Call, Chain, Head, Node};
use super::error::Fault;
use super::names::{CONSTRUCTORS, Entry, REGISTER_VIEWS, SHARED_VIEWS, UNIT_VIEWS, find};

/// What an expression, or a part of one, stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant)]
pub enum Value {
    /// A tile in the registers of threads.
    Registers(Layout),
    /// A tile in shared memory.
    Shared(SharedLayout),
    /// A matrix unit, of which views give layouts.
    Unit(Mma),
}

impl From<Layout> for Value {
    fn from(layout: Layout) -> Self {
        Value::Registers(layout)
    }
}

impl From<SharedLayout> for Value {
    fn from(layout: SharedLayout) -> Self {
        Value::Shared(layout)
    }
}

impl From<Mma> for Value {
    fn from(unit: Mma) -> Self {
        Value::Unit(unit)
    }
}

/// Finds the layout of a kernel's value: from the instance's name and the value's to the layout, or what is wrong.
pub type Lookup<'l> = &'l dyn Fn(&str, &str) -> Result<Value, String>;

/// The value of a whole expression, which is a layout.
pub(super) fn whole(chain: &Chain, lookup: Lookup<'_>) -> Result<Value, Fault> {
    match value(chain, lookup)? {
        Value::Unit(_) => {
            let message = "this is a matrix unit and no layout; `.accumulator on [64, 32]`, `.a`, `.a_col`, `.b` and \
                           `.b_row` give its layouts";
            Err(Fault::new(chain.at(), message))
        }
        layout => Ok(layout),
    }
}

fn value(chain: &Chain, lookup: Lookup<'_>) -> Result<Value, Fault> {
    let mut value = match &chain.first {
        Head::Call(call) => made(CONSTRUCTORS, "layout", &(), call, lookup)?,
        Head::Kernel { instance, value, at } => lookup(instance, value).map_err(|message| Fault::new(*at, message))?,
    };
    for view in &chain.views {
        value = match &value {
            Value::Registers(layout) => made(REGISTER_VIEWS, "view of a tile in registers", layout, view, lookup)?,
            Value::Shared(layout) => made(SHARED_VIEWS, "view of shared memory", layout, view, lookup)?,
            Value::Unit(unit) => made(UNIT_VIEWS, "view of a matrix unit", unit, view, lookup)?,
        };
    }
    Ok(value)
}

/// Makes one call.
fn made<R>(table: &[Entry<R>], what: &str, receiver: &R, call: &Call, lookup: Lookup<'_>) -> Result<Value, Fault> {
    let entry = find(table, &call.name, what).map_err(|message| Fault::new(call.name_at, message))?;
    let mut arguments = arguments(entry.parameters, call, lookup)?;
    let value = (entry.make)(receiver, &mut arguments)?;
    let fault = match &value {
        Value::Registers(layout) => layout.fault(),
        Value::Shared(layout) => layout.fault(),
        Value::Unit(_) => None,
    };
    fault.map_or(Ok(value), |error| Err(Fault::new(call.at, error.to_string())))
}

/// The arguments of a call, as many as the function has parameters; the list behind `on` comes first.
fn arguments<'c>(parameters: &[&str], call: &'c Call, lookup: Lookup<'_>) -> Result<Arguments<'c>, Fault> {
    let written = call.on.iter().chain(call.arguments.iter().flatten());
    let given =
        written.map(|argument| Ok((given(argument, lookup)?, argument.at))).collect::<Result<Vec<_>, Fault>>()?;
    if given.len() != parameters.len() {
        return Err(Fault::new(call.at, wrong_count(parameters, call, given.len())));
    }
    if let (Some(on), false) = (&call.on, parameters.first() == Some(&"shape")) {
        return Err(Fault::new(on.at, format!("`{}` takes no shape after `on`", call.name)));
    }
    Ok(Arguments { name: &call.name, at: call.at, given, next: 0 })
}

fn wrong_count(parameters: &[&str], call: &Call, given: usize) -> String {
    let name = &call.name;
    match parameters {
        ["shape", ..] if call.on.is_none() && given + 1 == parameters.len() => {
            format!("`{name}` needs the shape too: add `on [64, 32]`")
        }
        [] => format!("`{name}` takes no arguments"),
        ["shape", rest @ ..] if !rest.is_empty() => {
            format!(
                "`{name}` takes ({}) and `on` with the shape; {given} of {} are given",
                rest.join(", "),
                parameters.len()
            )
        }
        all => format!("`{name}` takes ({}); {given} of {} are given", all.join(", "), all.len()),
    }
}

fn given(argument: &Argument, lookup: Lookup<'_>) -> Result<Given, Fault> {
    Ok(match &argument.node {
        Node::Number(number) => Given::Number(*number),
        Node::Word(word) => Given::Word(word.clone()),
        Node::List(list) => Given::List(list.iter().map(|argument| given(argument, lookup)).collect::<Result<_, _>>()?),
        Node::Chain(chain) => Given::Value(value(chain, lookup)?),
    })
}

/// Where kernels can't be asked for.
pub(super) fn no_kernels(instance: &str, _: &str) -> Result<Value, String> {
    Err(format!("no kernel can be looked up here, so `{instance}` means nothing"))
}
