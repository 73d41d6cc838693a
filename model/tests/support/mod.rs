//! The figures that another implementation of the model found, and how near ours have to be.

use quadpair_model::{Launch, Model, Options, Report};
use quadpair_profiles::Profile;
use serde_json::Value;
use std::path::PathBuf;

/// Percent of peak between the two: rounding, and nothing else.
const NEAR: f64 = 0.11;

/// A file of the tests.
pub fn data(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Name and figures of each kernel.
pub fn figures() -> Vec<(String, Value)> {
    let text = std::fs::read_to_string(data("figures.txt")).expect("figures.txt is there");
    let line = |line: &str| {
        let (name, figures) = line.split_once(' ')?;
        Some((name.to_owned(), serde_json::from_str(figures).ok()?))
    };
    text.lines().map(|text| line(text).unwrap_or_else(|| panic!("{text}"))).collect()
}

/// The model that the figures are of.
pub fn volta() -> Model {
    Model::of(&Profile::by_name("volta").expect("it is shipped")).expect("it has costs")
}

/// Everything that can be compared.
pub fn options() -> Options {
    Options { range: true, branches: true, ..Options::default() }
}

/// The launch in a text.
pub fn launch(text: &str) -> Launch<'_> {
    Launch::of(text).expect("the text names its launch")
}

/// Compares a report with the figures that are expected.
pub fn compare(name: &str, report: &Report, expected: &Value) {
    let number = |key: &str| expected[key].as_f64().unwrap_or_else(|| panic!("{name}: no {key}"));
    let own = &report.resources;
    assert_eq!(f64::from(own.registers), number("registers"), "{name}: registers");
    assert_eq!(f64::from(own.spills), number("spills"), "{name}: spills");
    assert_eq!(f64::from(own.occupancy.blocks), number("blocks"), "{name}: blocks");
    assert_eq!(own.warps, number("warps"), "{name}: warps of a sub-partition");
    assert_eq!(report.main_loop.instructions as f64, number("instructions"), "{name}: instructions");
    let near = |what: &str, own: Option<f64>, expected: f64| {
        assert!(own.is_some_and(|own| (own - expected).abs() < NEAR), "{name}: {what} is {own:?}, expected {expected}");
    };
    near("likely", report.likely.share, number("likely"));
    near("floor", report.floor.share, number("floor"));
    let [low, high] = [0, 1].map(|end| expected["range"][end].as_f64().unwrap_or_else(|| panic!("{name}: no range")));
    near("lowest", report.range.map(|range| range[0]), low);
    near("highest", report.range.map(|range| range[1]), high);
    near("conflicts", Some(report.wavefronts.conflicts()), number("conflicts"));
    let bottleneck = expected["bottleneck"].as_str().unwrap_or_default().to_lowercase();
    let first = |text: &str| text.split(['(', ' ']).next().unwrap_or_default().to_owned();
    assert_eq!(report.bottleneck.name(), first(&bottleneck), "{name}: bottleneck");
    assert!(report.unknown.is_empty() && !report.cut, "{name}: {:?}", report.unknown);
}
