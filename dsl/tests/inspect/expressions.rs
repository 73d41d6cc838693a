//! Layout expressions: they mean what Rust means, print as they are read, and no text makes them panic.

use proptest::prelude::*;
use quadpair::inspect::expression::{Expression, ExpressionError, Value};
use quadpair::layouts::{
    Layout, Mma, Quadpairs, SharedLayout, blocked, coalesced, linear, nvmma_shared, padded, row_major, shared_linear,
    swizzled,
};

fn evaluate(text: &str) -> Result<Value, ExpressionError> {
    text.parse::<Expression>()?.value()
}

#[track_caller]
fn registers(text: &str, expected: Layout) {
    assert_eq!(evaluate(text), Ok(Value::Registers(expected)), "{text}");
}

#[track_caller]
fn shared(text: &str, expected: SharedLayout) {
    assert_eq!(evaluate(text), Ok(Value::Shared(expected)), "{text}");
}

/// Checks the three lines of an error.
#[track_caller]
fn error(text: &str, message: &str, carets: &str) {
    let error = evaluate(text).map(|value| panic!("{value:?}")).unwrap_err();
    assert_eq!(error.to_string(), format!("{message}\n  {text}\n  {carets}"));
}

#[test]
fn constructors_mean_what_they_mean_in_rust() {
    let rows = blocked([64, 32], [1, 8], [8, 4], [4, 1], [1, 0]);
    registers("blocked([1,8],[8,4],[4,1],[1,0]) on [64,32]", rows);
    registers(" blocked ( [64, 32] , [1,8],[8,4],[4,1],[1,0] ) ", rows);
    registers("blocked([2], [32], [4], [0]) on [512]", blocked([512], [2], [32], [4], [0]));
    let lanes = [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]];
    registers(
        "linear([[4, 0]], [[0, 1], [0, 2], [0, 4], [1, 0], [2, 0]], []) on [8, 8]",
        linear([8, 8], &[[4, 0]], &lanes, &[]),
    );
    shared("row_major on [4, 8, 16]", row_major([4, 8, 16]));
    shared("row_major([4, 8])", row_major([4, 8]));
    shared("swizzled(8, 1, 4, [1, 0]) on [16, 64]", swizzled([16, 64], 8, 1, 4, [1, 0]));
    shared("shared_linear([[0, 1], [0, 2], [1, 1]]) on [2, 4]", shared_linear([2, 4], &[[0, 1], [0, 2], [1, 1]]));
    let unit = Mma::m8n8k4(Quadpairs::FourByOne, [2, 2]);
    registers("m8n8k4(4x1, [2, 2]).accumulator on [128, 32]", unit.accumulator([128, 32]));
    registers("m8n8k4(4x1, [2, 2]).accumulator([128, 32])", unit.accumulator([128, 32]));
    registers("m8n8k4(4x1, [2, 2]).a_col on [128, 8]", unit.a_col([128, 8]));
    registers("m8n8k4(1x4, [1, 1]).b_row on [8, 32]", Mma::m8n8k4(Quadpairs::OneByFour, [1, 1]).b_row([8, 32]));
    shared(
        "between(blocked([1,8],[8,4],[4,1],[1,0]) on [64,32], m8n8k4(2x2, [4, 1]).a on [64, 32], 16)",
        SharedLayout::between(&rows, &Mma::m8n8k4(Quadpairs::TwoByTwo, [4, 1]).a([64, 32]), 16),
    );
}

#[test]
fn views_mean_what_they_mean_in_rust() {
    let rows = blocked([64, 32], [1, 8], [8, 4], [4, 1], [1, 0]);
    let text = "blocked([1,8],[8,4],[4,1],[1,0]) on [64,32]";
    for (view, expected) in [
        (".slice(1)", rows.slice(1)),
        (".collapse(0)", rows.collapse(0)),
        (".slice(1).expand_dims(0)", rows.slice(1).expand_dims(0)),
        (".permute([1, 0])", rows.permute([1, 0])),
        (".reshape([8, 8, 32]).permute([2, 0, 1])", rows.reshape([8, 8, 32]).permute([2, 0, 1])),
        (".reshape on [2048]", rows.reshape([2048])),
        (".slice(1).compact", rows.slice(1).compact()),
        (".slice(1).compact()", rows.slice(1).compact()),
        (".operand_a(4)", rows.operand_a(4)),
        (".operand_b(8)", rows.operand_b(8)),
    ] {
        registers(&format!("{text}{view}"), expected);
    }
    let memory = swizzled([16, 64], 8, 1, 4, [1, 0]);
    shared("padded([[64, 1], [512, 8]], [1, 0]) on [16, 64]", padded([16, 64], &[(64, 1), (512, 8)], [1, 0]));
    shared("nvmma_shared(64, 16, false) on [16, 64]", nvmma_shared([16, 64], 64, 16, false));
    registers("coalesced(16, 4, 8) on [64, 64]", coalesced([64, 64], 16, 4, 8));
    registers("m16n8k16([4, 1]).dot_operand(0, 4) on [64, 32]", Mma::m16n8k16([4, 1]).dot_operand([64, 32], 0, 4));
    registers("wgmma(64, [4, 1]).accumulator on [64, 64]", Mma::wgmma(64, [4, 1]).accumulator([64, 64]));
    let unit = Mma::m8n8k4(Quadpairs::TwoByTwo, [1, 1]);
    let text = "m8n8k4(2x2, [1, 1])";
    registers(&format!("{text}.interleaved.accumulator on [16, 16]"), unit.interleaved().accumulator([16, 16]));
    registers(&format!("{text}.accumulator_half on [16, 16]"), unit.accumulator_half([16, 16]));
    registers(&format!("{text}.interleaved.staggered.a on [16, 16]"), unit.interleaved().staggered().a([16, 16]));
    registers(&format!("{text}.wide.b_row on [4, 64]"), unit.wide().b_row([4, 64]));
    let unit = Mma::m16n8k16([2, 2]);
    registers("m16n8k16([2, 2]).together.accumulator on [64, 64]", unit.together().accumulator([64, 64]));
    let text = "swizzled(8, 1, 4, [1, 0]) on [16, 64]";
    shared(&format!("{text}.slice(1, 16, 16).permute([1, 0])"), memory.slice(1, 16, 16).permute([1, 0]));
    shared(&format!("{text}.reshape([4, 256]).without_dim0"), memory.reshape([4, 256]).without_dim0());
}

#[test]
fn errors_of_the_text() {
    let name = "the name of a layout, as in `blocked(..)`, is expected here";
    error("", name, "^");
    error("[64, 32]", name, "^");
    error("  4x1", name, "  ^^^");
    error("row_major on 64", "the shape, as in `on [64, 32]`, is expected here", "             ^^");
    error("row_major on [64 32]", "`,` or `]` is expected here", "                 ^^");
    error("row_major on [64,]", "a number, a list is expected here", "                 ^");
    error("row_major on [64] [32]", "`.` or the end is expected here", "                  ^");
    error("row_major [64]", "`on`, `.` or the end is expected here", "          ^");
    error("row_major on [64].", "the name of a view, as in `.slice(1)`, is expected here", "                  ^");
    error(
        "row_major on [99999999999999999999]",
        "this number is larger than any tile",
        "              ^^^^^^^^^^^^^^^^^^^^",
    );
    error("swizzled(8, ?)", "a number, a list is expected here", "            ^");
    let what = "a value of the kernel, such as its name, `v12` or `@266` for a line, is expected here";
    error("FLASH_96:", what, "         ^");
    let deep = format!("f({}", "[".repeat(40));
    error(&deep, "no more than 16 brackets can be open at once", &format!("{:17}^", ""));
}

#[test]
fn errors_of_names_and_arguments() {
    let known = "There are blocked, linear, coalesced, row_major, swizzled, shared_linear, padded, nvmma_shared, \
                 nvmma_default, between, m8n8k4, m16n8k8, m16n8k16, m16n8k8_tf32, m16n8k32, wgmma";
    error("blokced on [64]", &format!("there is no layout `blokced`; is it `blocked`? {known}"), "^^^^^^^");
    error(
        "row_major on [8].slcie(0)",
        "there is no view of shared memory `slcie`; is it `slice`? There are slice, without_dim0, permute, reshape",
        "                 ^^^^^",
    );
    error("row_major", "`row_major` needs the shape too: add `on [64, 32]`", "^^^^^^^^^");
    error("m8n8k4(2x3, [1, 1]).a on [16, 8]", "quadpairs of `m8n8k4` has to be 4x1, 2x2 or 1x4", "       ^^^");
    error("swizzled([8], 1, 4, [1, 0]) on [16, 64]", "vec of `swizzled` has to be a number", "         ^^^");
    error(
        "swizzled(8, 1, 4, [1]) on [16, 64]",
        "order of `swizzled` has to be a list of 2 numbers",
        "                  ^^^",
    );
    error(
        "swizzled(8, 1, [1, 0]) on [16, 64]",
        "`swizzled` takes (vec, per_phase, max_phase, order) and `on` with the shape; 4 of 5 are given",
        "^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
    );
    error(
        "swizzled(8, 1, 4, [1, 0])",
        "`swizzled` needs the shape too: add `on [64, 32]`",
        "^^^^^^^^^^^^^^^^^^^^^^^^^",
    );
    error("row_major on [8].without_dim0(1)", "`without_dim0` takes no arguments", "                 ^^^^^^^^^^^^^^^");
    error(
        "row_major on [1, 1, 1, 1, 1, 1, 1, 1, 1]",
        "9 dimensions are too many; a tile has at most 8",
        "^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
    );
}

#[test]
fn errors_of_the_algebra_point_at_the_call() {
    error(
        "row_major on [8, 8].slice(1, 2, 4).permute([1, 0])",
        &row_major([8, 8]).slice(1, 2, 4).fault().unwrap().to_string(),
        "                    ^^^^^^^^^^^^^^",
    );
    error(
        "row_major on [64, 96]",
        "extent 96 of dimension 1 is no power of two; the next are 64 and 128",
        "^^^^^^^^^^^^^^^^^^^^^",
    );
}

#[test]
fn memory_between_any_two_layouts_is_a_layout_or_an_error() {
    let tiles = [
        "blocked([1, 4], [8, 4], [2, 1], [1, 0]) on [16, 32]",
        "blocked([1, 4], [8, 4], [2, 1], [1, 0]) on [16, 32].permute([1, 0])",
        "blocked([4], [32], [1], [0]) on [128]",
        "m8n8k4(2x2, [2, 1]).a on [32, 16]",
        "m8n8k4(2x2, [2, 1]).b on [16, 32]",
        "blocked([1, 4], [8, 4], [4, 1], [1, 0]) on [16, 32].slice(0)",
    ];
    let (mut valid, mut invalid) = (0, 0);
    for (from, to) in tiles.iter().flat_map(|from| tiles.map(|to| (from, to))) {
        for bits in [0_u64, 1, 5, 8, 16, 32, 64, 128, 129, 1 << 31, 1 << 40] {
            let value = evaluate(&format!("between({from}, {to}, {bits})"));
            *if value.is_ok() { &mut valid } else { &mut invalid } += 1;
        }
    }
    assert!(valid > 50 && invalid > 50, "{valid} {invalid}");
}

/// Numbers that shapes have, and that they don't.
fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => prop::sample::select(vec![1_u64, 2, 4, 8, 16, 32, 64]),
        1 => any::<u64>(),
        1 => 0..20_u64,
    ]
    .prop_map(|n| n.to_string())
}

fn list(of: impl Strategy<Value = String>, most: usize) -> impl Strategy<Value = String> {
    prop::collection::vec(of, 0..=most).prop_map(|items| format!("[{}]", items.join(", ")))
}

fn argument() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["2x2", "4x1", "true", "x", "3d"]).prop_map(str::to_owned);
    let nested = prop::sample::select(vec![
        "row_major on [8, 8]",
        "blocked([1, 4], [8, 4], [2, 1], [1, 0]) on [16, 32]",
        "m8n8k4(2x2, [2, 1]).a on [32, 16]",
        "blocked([1, 4], [8, 4], [4, 1], [1, 0]) on [16, 32].slice(0)",
    ]);
    let nested = nested.prop_map(str::to_owned);
    prop_oneof![3 => number(), 3 => list(number(), 3), 2 => list(list(number(), 2), 6), 1 => word, 2 => nested]
}

/// A name with arguments and perhaps a shape, printed as expressions print themselves.
fn call(names: Vec<&'static str>) -> impl Strategy<Value = String> {
    let arguments = prop::option::of(prop::collection::vec(argument(), 0..5));
    (prop::sample::select(names), arguments, prop::option::of(list(number(), 3))).prop_map(|(name, arguments, on)| {
        let arguments = arguments.map_or(String::new(), |arguments| format!("({})", arguments.join(", ")));
        format!("{name}{arguments}{}", on.map_or(String::new(), |on| format!(" on {on}")))
    })
}

fn expression() -> impl Strategy<Value = String> {
    let heads = vec!["blocked", "linear", "row_major", "swizzled", "shared_linear", "m8n8k4", "between", "x"];
    let views = vec![
        "slice",
        "collapse",
        "permute",
        "reshape",
        "expand_dims",
        "operand_a",
        "compact",
        "accumulator",
        "a",
        "b_row",
        "without_dim0",
    ];
    let head = prop_oneof![
        9 => call(heads),
        1 => Just("FLASH_96:s".to_owned()),
        1 => Just("row_major on [8, 8]".to_owned()),
        1 => Just("m8n8k4(2x2, [2, 1])".to_owned()),
        1 => Just("blocked([1, 4], [8, 4], [2, 1], [1, 0]) on [16, 32]".to_owned()),
        1 => (argument(), argument(), number()).prop_map(|(a, b, bits)| format!("between({a}, {b}, {bits})")),
    ];
    (head, prop::collection::vec(call(views), 0..3)).prop_map(|(head, views)| [vec![head], views].concat().join("."))
}

/// Reads, prints and evaluates a text; what is wrong has to have a place in it.
fn read(text: &str) -> Result<Option<Expression>, TestCaseError> {
    let parsed = text.parse::<Expression>();
    let error = match &parsed {
        Err(error) => Some(error.clone()),
        Ok(expression) => expression.value().err(),
    };
    if let Some(error) = error {
        prop_assert!(error.at().end <= text.len() && text.get(error.at()).is_some(), "{error:?}");
        prop_assert!(!error.message().is_empty() && error.to_string().lines().count() >= 3, "{error}");
    }
    Ok(parsed.ok())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1024) })]

    #[test]
    fn what_is_printed_is_what_was_read(text in expression()) {
        let read = read(&text)?;
        prop_assert_eq!(read.map(|expression| expression.to_string()), Some(text));
    }

    #[test]
    fn no_text_panics(text in "(\\PC|[a-z0-9_ .,:()\\[\\]]){0,60}") {
        read(&text)?;
    }

    #[test]
    fn no_change_panics(text in expression(), at in any::<prop::sample::Index>(), cut in 0..6_usize, put in "\\PC{0,3}") {
        let mut changed: Vec<char> = text.chars().collect();
        let at = at.index(changed.len() + 1);
        let end = (at + cut).min(changed.len());
        changed.splice(at..end, put.chars());
        let text: String = changed.into_iter().collect();
        if let Some(expression) = read(&text)? {
            let printed = expression.to_string();
            let again = printed.parse::<Expression>();
            prop_assert_eq!(again.map(|again| again.to_string()), Ok(printed));
        }
    }
}
