//! Kernels that break a rule, each with what `cargo check` says of it.
//!
//! One file a rule; its first line says why it must fail. What rustc says stands beside it, and is itself held to rules:
//! the message opens with the operation, the failure is shown at the kernel's own line, and no name of the language's
//! insides occurs. After a change of words, `TRYBUILD=overwrite cargo test -p quadpair-tests --test compile_fail` accepts
//! what is said now.

use std::fs;
use std::path::PathBuf;

#[test]
fn broken_rules_fail_the_check_at_the_authors_expression() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("compile_fail/*.rs");
    // What Rust itself or the macros find before the check runs.
    cases.compile_fail("compile_fail/of_rust/*.rs");
}

/// Names that an author has never seen.
const INTERNAL: [&str; 12] = [
    "__", "OpKind", "TileType", "Operand", "DType", "Value(", "Num", "trace.", "::ir::", "::lang::", "lower::",
    "stand_in",
];

#[test]
fn messages_are_in_the_authors_words() {
    let mut cases = 0;
    for case in cases_of("compile_fail") {
        let source = fs::read_to_string(&case).expect("a case can be read");
        let message = fs::read_to_string(case.with_extension("stderr")).expect("what rustc says stands beside a case");
        let name = case.display();
        assert!(
            source.starts_with("//! ") && source.lines().next().is_some_and(|why| why.ends_with('.')),
            "{name}: say why"
        );
        for internal in INTERNAL {
            assert!(!message.contains(internal), "{name}: `{internal}` is no word of the author's");
        }
        for panicked in message.lines().filter_map(|line| line.split_once("evaluation panicked: ")) {
            assert!(panicked.1.contains(": "), "{name}: which operation?");
        }
        assert!(message.contains("the failure occurred here"), "{name}: where?");
        assert!(message.contains(&format!("--> compile_fail/{}", file_name(&case))), "{name}: shown elsewhere");
        assert!(!message.contains("/dsl/") && !message.contains("/layouts/"), "{name}: shown in the library");
        cases += 1;
    }
    assert!(cases > 70, "{cases} cases");
}

fn cases_of(folder: &str) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).expect("tests run in their crate's folder");
    entries.map(|entry| entry.expect("an entry").path()).filter(|path| path.extension().is_some_and(|end| end == "rs"))
}

fn file_name(path: &std::path::Path) -> String {
    path.file_name().expect("a file").to_string_lossy().into_owned()
}
