//! What kernels print, and the words with which they stop.

use quadpair::prelude::*;
use quadpair::sim::{FaultKind, SimError};
use quadpair::{Instance, LaunchError};

use crate::harness::{DUPLICATES, LENGTH, gpu, keep, simulator};

/// Prints tiles, scalars, several values at once, and nothing where a branch isn't taken.
#[kernel(grid = [2])]
pub fn speaks(n: i32, x: f32) {
    let tile = blocked([2, 64], [1, 2], [2, 16], [1, 2], [1, 0]);
    let row = arange(tile.slice(1)).expand_dims(1);
    let column = arange(tile.slice(0)).expand_dims(0);
    let values = (row * 64 + column) as f16 * 0.5;
    device_print("100% of n", n);
    if program_id(0) == 1 {
        device_print("tile, column, x, n", values, column, x, n as i64 * 1_000_000_000_000);
        device_print("types", n as u8, n > 0, n as u64, n as i16, x as bf16, x as f64);
    }
}

/// Every element of a tile.
#[kernel(grid = [1])]
pub fn counts_up(#[comptime] layout: Layout) {
    device_print("i", arange(layout));
}

/// Stops unless all elements are small.
#[kernel(grid = [2])]
pub fn insists(limit: i32) {
    let i = arange(blocked([64], [1], [32], [2], [0]));
    device_print("limit", limit);
    device_assert(i + program_id(0) < limit, "indices stay below the limit");
}

instances! { SPEAKS = Speaks {}; INSISTS = Insists {}; }

#[test]
fn the_simulator_shows_what_is_printed() {
    keep(&SPEAKS);
    let printed = SPEAKS.launch(&simulator(), SpeaksArgs { n: -3, x: 0.1 }).unwrap().printed;
    let lines: Vec<&str> = printed.lines().collect();
    assert_eq!(lines[..2], ["block [0, 0, 0]: 100% of n = -3", "block [1, 0, 0]: 100% of n = -3"]);
    assert_eq!(lines.len(), 2 + 128 + 1, "{printed}");
    for (i, j) in (0..128).map(|e| (e / 64, e % 64)) {
        let value = (i * 64 + j) as f32 / 2.0;
        let line =
            format!("block [1, 0, 0], element [{i}, {j}]: tile, column, x, n = {value}, {j}, 0.1, -3000000000000");
        assert_eq!(lines.iter().filter(|own| **own == line).count(), 1, "{line} in {printed}");
    }
    let types = "block [1, 0, 0]: types = 253, 0, 18446744073709551613, -3, 0.100098, 0.1";
    assert!(lines.contains(&types), "{printed}");
    let again = SPEAKS.launch(&simulator(), SpeaksArgs { n: -3, x: 0.1 }).unwrap().printed;
    assert_eq!(again, printed);
    if let Some(cuda) = gpu() {
        SPEAKS.launch(cuda, SpeaksArgs { n: -3, x: 0.1 }).unwrap();
        cuda.synchronize().unwrap();
    }
}

#[test]
fn every_element_is_printed_once() {
    for layout in DUPLICATES {
        let instance = Instance::new("counts_up", CountsUp { layout });
        keep(&instance);
        let printed = instance.launch(&simulator(), CountsUpArgs {}).unwrap().printed;
        let mut found: Vec<&str> = printed.lines().collect();
        let mut expected: Vec<String> =
            (0..LENGTH).map(|i| format!("block [0, 0, 0], element [{i}]: i = {i}")).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{layout}");
    }
}

#[test]
fn an_assertion_has_the_authors_words_and_line() {
    keep(&INSISTS);
    INSISTS.launch(&simulator(), InsistsArgs { limit: 65 }).unwrap();
    let error = INSISTS.launch(&simulator(), InsistsArgs { limit: 64 }).unwrap_err();
    let words = error.to_string();
    assert!(words.contains("stops the program: indices stay below the limit"), "{words}");
    let LaunchError::Simulator(SimError::Fault(fault)) = error else { panic!("{words}") };
    let message = Some("indices stay below the limit".to_owned());
    assert_eq!((fault.block, fault.thread, &fault.kind), ([1, 0, 0], 63, &FaultKind::Trap { message }));
    let position = fault.position.expect("the author's line");
    assert!(position.file.ends_with("messages.rs") && position.line > 30, "{position}");
}
