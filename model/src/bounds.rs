//! How long each pipe is busy with one turn of the loop: no warp can be faster than its busiest pipe.
//!
//! A loop of 64 matrix steps and 8 loads of 16 bytes holds the tensor pipe for 128 cycles and, without conflicts, the queue to
//! memory for 8 * 4 * 4 = 128 too: either bounds it.

use crate::cost::{Spent, View};
use quadpair_profiles::throughput::Pipe;

/// Cycles of each pipe for one turn of one warp, in the order of [`Pipe::ALL`].
pub fn bounds(body: &[Spent], view: &View<'_>) -> Vec<(Pipe, f64)> {
    let of = |pipe: Pipe| match pipe {
        Pipe::Issue => body.iter().map(|spent| spent.front).sum(),
        Pipe::L2 => l2(body, view),
        _ => body.iter().filter(|spent| spent.pipe == pipe).map(|spent| spent.cycles).sum(),
    };
    Pipe::ALL.into_iter().map(|pipe| (pipe, of(pipe))).collect()
}

/// Every load from global memory is taken as one that the cache of the multiprocessor doesn't have.
fn l2(body: &[Spent], view: &View<'_>) -> f64 {
    let units = view.units();
    let bytes: f64 = body.iter().map(|spent| spent.bytes).sum();
    bytes * f64::from(units.subpartitions) / view.of(units.l2.sustained)
}

/// The busiest pipe.
pub fn bottleneck(bounds: impl IntoIterator<Item = (Pipe, f64)>) -> Pipe {
    let busier = |best: (Pipe, f64), own: (Pipe, f64)| if own.1 > best.1 { own } else { best };
    bounds.into_iter().fold((Pipe::Issue, 0.0), busier).0
}
