//! Damaged texts of the real kernels: read or refused, never a panic, and what is read means something.
//!
//! The parser's own tests damage small texts letter by letter; here whole lines and words of the kernels' PTX are cut,
//! repeated, exchanged and replaced, which keeps most of a text readable, so that what comes after the parser sees it.

use std::sync::LazyLock;

use half::f16;
use proptest::prelude::*;
use quadpair::Target;
use quadpair::inspect::emitted::emitted_by;
use quadpair::ptx::{parse, print};
use quadpair_kernels::attention::{Attention, AttentionConfig};
use quadpair_kernels::matmul::{Matmul, MatmulConfig, Variant};
use quadpair_kernels::vector_add::VECTOR_ADD;
use quadpair_profiles::Profile;

/// The texts of the kernels for Volta.
static TEXTS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let volta = Profile::by_name("volta").unwrap();
    let matmul = Matmul::<f16>::new(&volta, MatmulConfig::default()).unwrap();
    let attention = Attention::<f16, f32>::new(&volta, AttentionConfig::new(32)).unwrap();
    let vector_add = VECTOR_ADD.program(Target::from(&volta)).unwrap();
    [
        vector_add,
        matmul.program(&Variant { aligned: [false; 3], ..Variant::default() }).unwrap(),
        attention.program(&quadpair_kernels::attention::Variant { bias: true, ..Default::default() }).unwrap(),
    ]
    .map(|program| program.ptx().to_owned())
    .to_vec()
});

fn read(text: String) -> Result<(), TestCaseError> {
    if let Ok(module) = parse(&text) {
        prop_assert_eq!(parse(&print(&module)), Ok(module));
    }
    if let Ok(all) = emitted_by(&text, 64) {
        prop_assert!(all.iter().all(|one| one.shared.taken >= one.shared.ideal));
    }
    Ok(())
}

#[test]
fn what_is_printed_is_what_was_read() {
    for text in TEXTS.iter() {
        let module = parse(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(print(&module), *text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

    #[test]
    fn lines_cut_repeated_and_exchanged(
        text in 0..3_usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..3_u8), 1..4),
    ) {
        let mut lines: Vec<&str> = TEXTS[text].lines().collect();
        for (from, to, kind) in edits {
            let (from, to) = (from.index(lines.len()), to.index(lines.len()));
            match kind {
                0 => drop(lines.remove(from)),
                1 => lines.insert(to, lines[from]),
                _ => lines.swap(from, to),
            }
        }
        read(lines.join("\n"))?;
    }

    #[test]
    fn words_replaced_by_words(
        text in 0..3_usize,
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4),
    ) {
        let mut words: Vec<&str> = TEXTS[text].split_inclusive([' ', '\n', ',']).collect();
        for (at, from) in edits {
            let (at, from) = (at.index(words.len()), from.index(words.len()));
            words[at] = words[from];
        }
        read(words.concat())?;
    }

    #[test]
    fn numbers_replaced(text in 0..3_usize, at in any::<prop::sample::Index>(), number in any::<i64>()) {
        let text = &TEXTS[text];
        let starts: Vec<usize> = text.match_indices(|c: char| c.is_ascii_digit()).map(|(i, _)| i).collect();
        let start = starts[at.index(starts.len())];
        let end = text[start..].find(|c: char| !c.is_ascii_digit()).map_or(text.len(), |length| start + length);
        read(format!("{}{number}{}", &text[..start], &text[end..]))?;
    }
}
