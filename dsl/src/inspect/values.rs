//! Finding a kernel's value by what a person knows of it.
//!
//! A traced kernel has no variable names, only values by number and the source lines that they come from. So a value can be
//! named in five ways: `v12` by its number, `#3` by the number of a layout (both as the kernel's text prints them),
//! `shared0` for an allocation, `@266` for what a source line makes, and `scores` for what the source line makes that
//! assigns to that name. Where lines make several layouts, the answer lists the values to choose from.

use quadpair_layouts::Layout;

use super::expression::Value;
use crate::ir::{Function, Op, OpKind};

/// The text of a source file, if it can be read.
pub type Sources<'s> = &'s dyn Fn(&str) -> Option<String>;

/// The layout of a value, an allocation, a line or a variable.
///
/// # Errors
/// There is none of that name, or several with different layouts: then they are listed.
pub fn find(function: &Function, selector: &str, sources: Sources<'_>) -> Result<Value, String> {
    let number = |prefix: &str| selector.strip_prefix(prefix).and_then(|digits| digits.parse::<usize>().ok());
    match (number("v"), number("#"), number("shared"), number("@").or(number(""))) {
        (Some(value), ..) => by_number(function, value),
        (_, Some(layout), ..) => by_layout(function, layout),
        (_, _, Some(allocation), _) => by_allocation(function, allocation),
        (.., Some(line)) => {
            let here = u32::try_from(line).map(|line| on_line(function, line)).unwrap_or_default();
            one(function, &here, &format!("line {line}"))
        }
        _ => by_name(function, selector, sources),
    }
}

fn by_number(function: &Function, value: usize) -> Result<Value, String> {
    let last = function.types.len().saturating_sub(1);
    match function.types.get(value).map(|ty| ty.layout) {
        Some(Some(layout)) => Ok(Value::Registers(layout)),
        Some(None) => Err(format!("v{value} of {} is a scalar, which every thread has", function.name)),
        None => Err(format!("{} has no v{value}; its values are v0 to v{last}", function.name)),
    }
}

fn by_layout(function: &Function, number: usize) -> Result<Value, String> {
    let layouts = layouts(function);
    let found = layouts.get(number).copied().map(Value::Registers);
    found.ok_or_else(|| format!("{} has no layout #{number}; it has {}", function.name, layouts.len()))
}

fn by_allocation(function: &Function, number: usize) -> Result<Value, String> {
    let allocations = function.ops.iter().filter_map(|op| match op.kind {
        OpKind::Allocate(memory) => Some(memory),
        _ => None,
    });
    let found = allocations.clone().find(|memory| memory.allocation as usize == number);
    let count = allocations.count();
    found
        .map(|memory| Value::Shared(memory.layout))
        .ok_or_else(|| format!("{} has no shared{number}; it allocates {count} times", function.name))
}

/// The different layouts of a kernel's values, in the order that they first appear: the kernel's text numbers them so.
pub fn layouts(function: &Function) -> Vec<Layout> {
    let mut layouts: Vec<Layout> = Vec::new();
    for layout in function.types.iter().filter_map(|ty| ty.layout) {
        if !layouts.iter().any(|known| known.equals(&layout)) {
            layouts.push(layout);
        }
    }
    layouts
}

/// The values with their operations, by number.
fn values(function: &Function) -> impl Iterator<Item = (usize, &Op)> {
    function.ops.iter().filter(|op| op.result.is_some()).enumerate()
}

fn on_line(function: &Function, line: u32) -> Vec<usize> {
    values(function).filter(|(_, op)| op.at.line() == line).map(|(value, _)| value).collect()
}

/// The layout that all values with one have.
fn one(function: &Function, among: &[usize], what: &str) -> Result<Value, String> {
    let tiles: Vec<(usize, Layout)> =
        among.iter().filter_map(|&value| Some((value, function.types[value].layout?))).collect();
    let Some(&(_, first)) = tiles.first() else {
        return Err(format!("{what} of {} makes no tile", function.name));
    };
    if tiles.iter().all(|(_, layout)| layout.equals(&first)) {
        return Ok(Value::Registers(first));
    }
    Err(format!("{what} of {} makes several layouts: {}", function.name, listed(&tiles)))
}

/// The first value of each layout.
fn listed(tiles: &[(usize, Layout)]) -> String {
    let mut firsts: Vec<(usize, Layout)> = Vec::new();
    for tile in tiles {
        if !firsts.iter().any(|(_, layout)| layout.equals(&tile.1)) {
            firsts.push(*tile);
        }
    }
    firsts.iter().map(|(value, layout)| format!("v{value} {}", layout.shape())).collect::<Vec<_>>().join(", ")
}

fn by_name(function: &Function, name: &str, sources: Sources<'_>) -> Result<Value, String> {
    let mut assigned = Vec::new();
    let mut names: Vec<String> = Vec::new();
    for file in files(function) {
        let Some(text) = sources(file) else { continue };
        let inside = kernel_lines(function, file);
        for statement in statements(&text).into_iter().filter(|s| s.last >= inside.0 && s.first <= inside.1) {
            if statement.name == name {
                assigned.extend(results(function, file, &statement));
            } else if !names.contains(&statement.name) && !results(function, file, &statement).is_empty() {
                names.push(statement.name);
            }
        }
    }
    if assigned.is_empty() {
        let names = if names.is_empty() { "its source can't be read".to_owned() } else { names.join(", ") };
        return Err(format!(
            "{} has no tile `{name}`: {names}; v12 is a value by number, @266 what a line makes",
            function.name
        ));
    }
    one(function, &assigned, &format!("`{name}`"))
}

fn files(function: &Function) -> Vec<&'static str> {
    let mut files: Vec<&str> = function.ops.iter().map(|op| op.at.file()).collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// The first and last line of a file that the kernel's operations come from.
fn kernel_lines(function: &Function, file: &str) -> (u32, u32) {
    let lines = || function.ops.iter().filter(|op| op.at.file() == file).map(|op| op.at.line());
    (lines().min().unwrap_or(0), lines().max().unwrap_or(0))
}

/// A statement that assigns to a name: its lines, from 1.
struct Statement {
    name: String,
    first: u32,
    last: u32,
}

/// The statements of a source text that assign to a name: `let s = ..`, `let mut s = ..` or `s = ..` to the semicolon.
fn statements(text: &str) -> Vec<Statement> {
    let lines: Vec<&str> = text.lines().collect();
    let assigned = lines.iter().enumerate().filter_map(|(i, line)| Some((i, assigned_name(line)?)));
    assigned
        .map(|(i, name)| {
            let length = lines[i..].iter().position(|line| code(line).ends_with(';')).unwrap_or(0);
            Statement { name: name.to_owned(), first: i as u32 + 1, last: (i + length) as u32 + 1 }
        })
        .collect()
}

fn assigned_name(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("let ").unwrap_or(line).trim_start();
    let line = line.strip_prefix("mut ").unwrap_or(line).trim_start();
    let end = line.find(|c: char| !c.is_alphanumeric() && c != '_')?;
    let (name, rest) = line.split_at(end);
    let assigns = rest.trim_start().strip_prefix('=').is_some_and(|after| !after.starts_with(['=', '>']));
    (assigns && !name.is_empty()).then_some(name)
}

/// What each run of a statement gives: the last tile of each stretch of operations that come from its lines.
fn results(function: &Function, file: &str, statement: &Statement) -> Vec<usize> {
    let from_it = |op: &Op| op.at.file() == file && (statement.first..=statement.last).contains(&op.at.line());
    let mut results = Vec::new();
    let mut last = None;
    for (value, op) in values(function) {
        match from_it(op) {
            true => last = op.result.and_then(|ty| ty.layout).map(|_| value).or(last),
            false => results.extend(last.take()),
        }
    }
    results.extend(last);
    results
}

/// A line without the comment at its end.
fn code(line: &str) -> &str {
    line.split("//").next().unwrap_or(line).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_a_statement_assigns_to() {
        assert_eq!(assigned_name("    let mut scores = zeros();"), Some("scores"));
        assert_eq!(assigned_name("  s = s * factor;"), Some("s"));
        for other in ["if a == b {", "x.store(y);", "match x {", "a => b,", "", "let (a, b) = c;"] {
            assert_eq!(assigned_name(other), None, "{other}");
        }
        let found = statements("let a = b\n    .c();\nd = e;\n");
        let lines: Vec<_> = found.iter().map(|s| (s.name.as_str(), s.first, s.last)).collect();
        assert_eq!(lines, [("a", 1, 2), ("d", 3, 3)]);
    }
}
