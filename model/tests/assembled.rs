//! Kernels that are kept assembled, against the figures that another implementation of the model found. Needs no assembler.

mod support;

use quadpair_model::{Assembled, Options, Report};
use support::{compare, data, figures, launch, options, volta};

const KERNELS: [&str; 2] = ["small", "matmul_64x64x32"];

fn text(name: &str) -> String {
    std::fs::read_to_string(data(&format!("{name}.sass"))).expect("the kernel is there")
}

fn report(name: &str, options: &Options) -> Report {
    let text = text(name);
    let kernel = Assembled::read(&text, &text).expect("the text is whole");
    volta().judge(&kernel, &launch(&text), options).expect("the kernel fits")
}

#[test]
fn figures_are_those_of_the_other_implementation() {
    let figures = figures();
    for name in KERNELS {
        let (_, expected) = figures.iter().find(|figure| figure.0 == name).expect("the kernel has figures");
        compare(name, &report(name, &options()), expected);
    }
}

#[test]
fn a_store_with_conflicts_costs_its_wavefronts() {
    let report = report("small", &options());
    // Four passes with two wavefronts each, and a load without conflicts; the guarded store isn't reached.
    let waves = report.wavefronts;
    assert_eq!((waves.taken, waves.least, waves.followed, waves.unreached), (12.0, 8.0, 2, 1));
}

#[test]
fn a_branch_that_is_taken_leaves_out_what_it_jumps_over() {
    let all = report("small", &options());
    let [branch] = &all.branches[..] else { panic!("{:?}", all.branches) };
    let taken = report("small", &Options { taken: vec![branch.address], ..options() });
    assert_eq!(taken.main_loop.instructions + branch.skips, all.main_loop.instructions);
    assert_eq!(taken.likely, branch.likely);
    assert!(taken.branches.is_empty() && taken.likely.cycles < all.likely.cycles);
}

#[test]
fn a_branch_that_is_not_there_is_an_error() {
    let text = text("small");
    let kernel = Assembled::read(&text, &text).expect("the text is whole");
    let options = Options { taken: vec![0x10], ..Options::default() };
    let error = volta().judge(&kernel, &launch(&text), &options).expect_err("no such branch").to_string();
    assert_eq!(error, "no branch forward at 0x10 in the main loop; it has 0x210");
}

#[test]
fn what_instructions_wait_for_is_the_time_of_a_turn() {
    let report = report("small", &Options { listing: true, ..Options::default() });
    assert_eq!(report.listing.len(), report.main_loop.instructions);
    // A warp's waits add up to the cycles between its turns: those of the sub-partition times the warps on it.
    let waits: f64 = report.listing.iter().map(|line| line.stall + line.counter + line.busy + line.turn).sum();
    let turn = report.likely.cycles * report.resources.warps;
    assert!((waits / turn - 1.0).abs() < 0.1, "{waits} of {turn}");
}

#[test]
fn texts_that_are_cut_or_changed_are_errors_or_reports() {
    let text = text("small");
    for end in (0..text.len()).step_by(397) {
        if let Ok(kernel) = Assembled::read(&text[..end], &text[..end]) {
            let _ = volta().judge(&kernel, &launch(&text), &Options::default());
        }
    }
    for (from, to) in [("R22", "R255"), ("0x", "0xfffffffff"), ("[", "]"), (",", ""), ("P0", "P9"), ("BRA", "BSSY")] {
        let changed = text.replace(from, to);
        if let Ok(kernel) = Assembled::read(&changed, &changed) {
            let _ = volta().judge(&kernel, &launch(&text), &Options::default());
        }
    }
}
