//! Values of a kernel by number, line and name.

use quadpair::inspect::expression::{Expression, Value};
use quadpair::inspect::values::{find, layouts};
use quadpair::ir::Function;
use quadpair::record;

use crate::kernel::{COLUMNS, MEMORY, MIXED, PRODUCT, ROWS};

fn source(_: &str) -> Option<String> {
    Some(include_str!("kernel.rs").to_owned())
}

fn function() -> Function {
    record(MIXED.kernel()).unwrap()
}

fn value(selector: &str) -> Result<Value, String> {
    find(&function(), selector, &source)
}

#[test]
fn names_are_those_of_the_source() {
    for (name, layout) in
        [("loaded", ROWS), ("columns", COLUMNS), ("moved", ROWS), ("product", PRODUCT), ("total", ROWS.slice(0))]
    {
        assert_eq!(value(name), Ok(Value::Registers(layout)), "{name}");
    }
    assert_eq!(value("row"), Ok(Value::Registers(ROWS.slice(1).expand_dims(1))));
    let missing = value("staged2").unwrap_err();
    assert!(
        missing.starts_with("mixed has no tile `staged2`: row, column, loaded, columns, moved, a, b, "),
        "{missing}"
    );
}

#[test]
fn without_a_source_there_are_lines_and_numbers() {
    let function = function();
    let none = |_: &str| None;
    let error = find(&function, "loaded", &none).unwrap_err();
    assert!(error.contains("its source can't be read") && error.contains("@266"), "{error}");
    let line = 1 + include_str!("kernel.rs").lines().position(|line| line.contains("let product")).unwrap();
    assert_eq!(find(&function, &format!("@{line}"), &none), Ok(Value::Registers(PRODUCT)));
    assert_eq!(find(&function, &line.to_string(), &none), Ok(Value::Registers(PRODUCT)));
}

#[test]
fn numbers_are_those_of_the_printed_kernel() {
    let function = function();
    let text = function.to_string();
    for (number, layout) in layouts(&function).iter().enumerate() {
        assert!(text.contains(&format!("\n#{number} = {layout}\n")));
        assert_eq!(value(&format!("#{number}")), Ok(Value::Registers(*layout)));
    }
    let loaded = function.types.iter().position(|ty| ty.layout.is_some_and(|layout| layout.equals(&COLUMNS))).unwrap();
    assert_eq!(value(&format!("v{loaded}")), Ok(Value::Registers(COLUMNS)));
    assert_eq!(value("shared0"), Ok(Value::Shared(MEMORY)));
}

#[test]
fn what_is_not_there_says_what_is() {
    let last = function().types.len() - 1;
    assert_eq!(value("v9999"), Err(format!("mixed has no v9999; its values are v0 to v{last}")));
    assert_eq!(value("shared1"), Err("mixed has no shared1; it allocates 1 times".to_owned()));
    assert_eq!(value("v0"), Err("v0 of mixed is a scalar, which every thread has".to_owned()));
    assert_eq!(value("@1"), Err("line 1 of mixed makes no tile".to_owned()));
    let line = 1 + include_str!("kernel.rs").lines().position(|line| line.contains("let total")).unwrap();
    let several = value(&format!("@{line}")).unwrap_err();
    assert!(several.starts_with(&format!("line {line} of mixed makes several layouts: v")), "{several}");
}

#[test]
fn expressions_can_ask_for_them() {
    let lookup = |kernel: &str, name: &str| match kernel {
        "MIXED" => value(name),
        _ => Err(format!("no {kernel}")),
    };
    let evaluate = |text: &str| text.parse::<Expression>().unwrap().value_with(&lookup).map_err(|e| e.to_string());
    assert_eq!(evaluate("MIXED:product.slice(1)"), Ok(Value::Registers(PRODUCT.slice(1))));
    assert_eq!(evaluate("MIXED:shared0.slice(1, 8, 8)"), Ok(Value::Shared(MEMORY.slice(1, 8, 8))));
    assert_eq!(evaluate("OTHER:x.slice(1)"), Err("no OTHER\n  OTHER:x.slice(1)\n  ^^^^^^^".to_owned()));
    let alone = "MIXED:product".parse::<Expression>().unwrap().value().unwrap_err();
    assert_eq!(alone.message(), "no kernel can be looked up here, so `MIXED` means nothing");
}
