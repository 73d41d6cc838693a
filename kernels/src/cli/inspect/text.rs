//! A report in words and tables.

use super::super::table::Table;
use quadpair_model::Report;
use quadpair_model::report::{Figure, Line};

/// All that a report says.
pub fn text(kernel: &str, report: &Report) -> String {
    let parts = [
        format!("{kernel} on {}, by a throughput model: no figure here is measured\n", report.resources.profile),
        resources(report).to_string(),
        pipes(report).to_string(),
        classes(report).to_string(),
        verdict(report).to_string(),
        listing(report),
        notes(report),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n")
}

fn resources(report: &Report) -> Table {
    let (own, occupancy) = (&report.resources, &report.resources.occupancy);
    let mut table = Table::of_texts();
    table.row(["registers a thread".into(), own.registers.to_string()]);
    table.row(["bytes spilled".into(), own.spills.to_string()]);
    table.row(["threads a block".into(), own.threads.to_string()]);
    table.row(["shared memory a block".into(), format!("{} bytes", own.shared)]);
    let limit = occupancy.limited_by.name();
    table.row(["blocks a multiprocessor".into(), format!("{}, limited by {limit}", occupancy.blocks)]);
    table.row(["warps a multiprocessor".into(), format!("{}, {} a sub-partition", occupancy.warps(), own.warps)]);
    table
}

/// Pipes that have something to do, the busiest first.
fn pipes(report: &Report) -> Table {
    let mut table = Table::of_numbers();
    let percent = format!("% of {} time", report.work);
    table.row(["PIPE", "instructions", "cycles", "at least", &percent]);
    let mut pipes: Vec<_> = report.pipes.iter().filter(|pipe| pipe.likely > 0.0).collect();
    pipes.sort_by(|a, b| b.likely.total_cmp(&a.likely));
    for pipe in pipes {
        let of_work = pipe.of_work.map_or("-".to_owned(), |of_work| format!("{of_work:.0}"));
        let cycles = [format!("{:.0}", pipe.likely), format!("{:.0}", pipe.floor)];
        let [likely, floor] = cycles;
        table.row([pipe.pipe.name().to_owned(), pipe.instructions.to_string(), likely, floor, of_work]);
    }
    table
}

fn classes(report: &Report) -> Table {
    let mut table = Table::of_numbers();
    let body = &report.main_loop;
    table.row([format!("MAIN LOOP at {:#06x}", body.address), "instructions".into()]);
    table.row(["all".to_owned(), body.instructions.to_string()]);
    for (class, count) in &body.classes {
        table.row([format!("  {class}"), count.to_string()]);
    }
    table
}

fn verdict(report: &Report) -> Table {
    let mut table = Table::of_texts();
    let waves = &report.wavefronts;
    if waves.followed > 0 {
        let conflicts = format!("{:.2} times the least, {:.0}", waves.conflicts(), waves.least);
        table.row(["wavefronts of shared memory".into(), format!("{:.0}, {conflicts}", waves.taken)]);
    }
    table.row(["bottleneck", report.bottleneck.name()]);
    table.row([format!("{} time", report.work), format!("{:.0} cycles a turn", report.work_cycles)]);
    table.row(["share of peak, likely".to_owned(), figure(&report.likely)]);
    if let Some([low, high]) = report.range {
        table.row(["  range of all hypotheses".to_owned(), format!("{low:.1} to {high:.1} %")]);
    }
    table.row(["  at most".to_owned(), figure(&report.floor)]);
    for branch in &report.branches {
        let (what, skips) = (format!("  if the branch at {:#x} is taken", branch.address), branch.skips);
        table.row([what, format!("{}, over {skips} instructions", figure(&branch.likely))]);
    }
    table
}

fn figure(figure: &Figure) -> String {
    let share = figure.share.map_or("none".to_owned(), |share| format!("{share:.1} %"));
    format!("{share}, {:.0} cycles a turn", figure.cycles)
}

fn listing(report: &Report) -> String {
    if report.listing.is_empty() {
        return String::new();
    }
    let mut table = Table::of_texts();
    table.row(["ADDRESS", "PIPE", "HOLDS", "STALL", "COUNTER", "BUSY", "TURN", "INSTRUCTION"]);
    let cycles = |cycles: f64| if cycles < 0.05 { "-".to_owned() } else { format!("{cycles:.1}") };
    for line in &report.listing {
        let waits = [line.cycles, line.stall, line.counter, line.busy, line.turn].map(cycles);
        let head = [format!("{:#06x}", line.address), line.pipe.name().to_owned()];
        table.row(head.into_iter().chain(waits).chain([line.text.clone()]));
    }
    let sum = |of: fn(&Line) -> f64| cycles(report.listing.iter().map(of).sum());
    let waits = [sum(|line| line.stall), sum(|line| line.counter), sum(|line| line.busy), sum(|line| line.turn)];
    table.row(["all".to_owned(), String::new(), String::new()].into_iter().chain(waits));
    format!(
        "{table}\nCycles that it holds its pipe, and that a warp waits before it: for its stall count, for a counter (a result, or \
         operands being read), for the pipe, for other warps' turn.\n"
    )
}

fn notes(report: &Report) -> String {
    let mut notes = String::new();
    if report.resources.spills > 0 {
        notes += "Registers are spilled: the kernel needs a smaller tile or fewer values alive.\n";
    }
    if report.main_loop.inner_loops > 0 {
        notes += &format!("The main loop has {} loops in it, which count once.\n", report.main_loop.inner_loops);
    }
    if report.wavefronts.unreached > 0 {
        let unreached = report.wavefronts.unreached;
        notes +=
            &format!("{unreached} shared accesses weren't reached and count as free of conflicts: does --param fit?\n");
    }
    if report.cut {
        notes += "The kernel runs for long with these parameters: its addresses were followed for a part of it.\n";
    }
    if !report.unknown.is_empty() {
        notes += &format!("Addresses that come from {} aren't known.\n", report.unknown.join(", "));
    }
    notes
}
