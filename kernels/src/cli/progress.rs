//! Signs of life for work that takes a while: on standard error, and only if that's a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::time::Duration;

/// A bar for `total` equal steps.
pub fn bar(what: &'static str, total: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}, {eta} left");
    ProgressBar::new(total as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())).with_message(what)
}

/// A spinner for work whose length isn't known.
pub fn spinner(what: &'static str) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(what);
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}
