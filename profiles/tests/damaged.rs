//! Whatever a file holds, reading it gives a profile or an error that names the file.

use proptest::prelude::*;
use quadpair_profiles::Profile;

const EXAMPLE: &str = include_str!("example.yml");

/// Reads a text; an error must name the file, and a profile must be whole.
fn read(text: &str) -> Result<(), TestCaseError> {
    match Profile::parse("mine.yml", text) {
        Ok(profile) => {
            prop_assert!(profile.ptx.sm() >= 50 && profile.ptx.version() > (0, 0));
            prop_assert!(!profile.compute_capabilities.is_empty() && !profile.fma.flash.is_empty());
        }
        Err(error) => prop_assert!(error.to_string().starts_with("mine.yml"), "{error}"),
    }
    Ok(())
}

/// Values that a field can't have, or that mean something to YAML.
const ODD: [&str; 15] = [
    "",
    "-1",
    "1e9",
    "0x40",
    ".inf",
    "~",
    "true",
    "[]",
    "{}",
    "[[1]]",
    "*a",
    "&a 8",
    "!t 8",
    "|",
    "18446744073709551616",
];

fn value() -> impl Strategy<Value = String> {
    prop_oneof![proptest::sample::select(&ODD[..]).prop_map(str::to_owned), any::<u64>().prop_map(|n| n.to_string())]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_line_with_another_value(line in 0..EXAMPLE.lines().count(), value in value()) {
        let mut lines: Vec<String> = EXAMPLE.lines().map(str::to_owned).collect();
        let (name, _) = lines[line].split_once(':').unwrap_or((&lines[line], ""));
        lines[line] = format!("{name}: {value}");
        read(&lines.join("\n"))?;
    }

    #[test]
    fn lines_removed_repeated_and_exchanged(from in 0..EXAMPLE.lines().count(), to in 0..EXAMPLE.lines().count()) {
        let lines: Vec<&str> = EXAMPLE.lines().collect();
        let (mut removed, mut repeated, mut exchanged) = (lines.clone(), lines.clone(), lines);
        removed.remove(from);
        repeated.insert(to, repeated[from]);
        exchanged.swap(from, to);
        for lines in [removed, repeated, exchanged] {
            read(&lines.join("\n"))?;
        }
    }

    #[test]
    fn a_text_put_in_anywhere(at in 0..EXAMPLE.len(), text in "\\PC{0,8}") {
        read(&format!("{}{text}{}", &EXAMPLE[..at], &EXAMPLE[at..]))?;
    }

    #[test]
    fn any_text(text in "(?s).{0,200}") {
        read(&text)?;
    }
}

#[test]
fn a_text_cut_anywhere() {
    for cut in 0..EXAMPLE.len() {
        read(&EXAMPLE[..cut]).expect("the start alone");
        read(&format!("{}{}", &EXAMPLE[..cut], &EXAMPLE[cut + 1..])).expect("a letter less");
    }
}

#[test]
fn nesting_has_an_end() {
    read(&"[".repeat(10_000)).expect("an error");
    read(&format!("name: {}", "{a: ".repeat(10_000))).expect("an error");
}
