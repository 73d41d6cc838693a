//! The documentation names what there is.

use std::fs;
use std::path::Path;

/// Every name that the comparison with Gluon gives in its second column is a name of the language.
#[test]
fn the_comparison_names_what_there_is() {
    let sources = text_of(Path::new("../dsl/src")) + &text_of(Path::new("../layouts/src"));
    let table = fs::read_to_string("../docs/gluon.md").expect("the comparison is there");
    let mut names = 0;
    for row in table.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| Gluon")) {
        let ours = row.split('|').nth(2).unwrap_or_default();
        for name in ours.split('`').skip(1).step_by(2).filter(|code| is_name(code)) {
            let known = sources.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
            assert!(known, "`{name}` of docs/gluon.md is nowhere in the language");
            names += 1;
        }
    }
    assert!(names > 100, "{names} names");
}

fn is_name(code: &str) -> bool {
    code.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn text_of(folder: &Path) -> String {
    let entries = fs::read_dir(folder).expect("tests run in their crate's folder");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths
        .map(|path| if path.is_dir() { text_of(&path) } else { fs::read_to_string(path).unwrap_or_default() })
        .collect()
}
