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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::decode::decode;
    use crate::trace::Seen;
    use quadpair_profiles::Profile;

    fn busy(names: &[(&str, usize)], is_floor: bool) -> Vec<(Pipe, f64)> {
        let units = Profile::by_name("volta").expect("it is shipped").throughput.expect("it has costs");
        let line = |name: &str| format!("/*0*/ {name} ; /* 0x0 */\n/* 0x0 */\n");
        let text: String = names.iter().map(|(name, count)| line(name).repeat(*count)).collect();
        let view = if is_floor { View::floor(&units) } else { View::likely(&units, &units.likely) };
        let spent: Vec<Spent> = decode(&text).iter().map(|one| view.spent(one, &Seen::default())).collect();
        bounds(&spent, &view)
    }

    fn cycles(bounds: &[(Pipe, f64)], pipe: Pipe) -> f64 {
        bounds.iter().find(|own| own.0 == pipe).map_or(f64::NAN, |own| own.1)
    }

    #[test]
    fn each_pipe_is_busy_with_what_goes_through_it() {
        let likely =
            busy(&[("HMMA.884.F32.F32.STEP0", 64), ("LDS.U.128", 8), ("MUFU.EX2", 3), ("HADD2.F32", 1)], false);
        for (pipe, expected) in [(Pipe::Tensor, 130.0), (Pipe::Mio, 128.0), (Pipe::Xu, 24.0), (Pipe::Fma, 0.0)] {
            assert_eq!(cycles(&likely, pipe), expected, "{pipe}");
        }
        assert!((cycles(&likely, Pipe::Issue) - 76.0 * 1.4).abs() < 1e-9);
        assert_eq!(bottleneck(likely), Pipe::Tensor);
        let floor = busy(&[("HMMA.884.F32.F32.STEP0", 64), ("LDS.U.128", 8)], true);
        assert_eq!((cycles(&floor, Pipe::Mio), cycles(&floor, Pipe::Issue)), (64.0, 72.0));
    }

    #[test]
    fn global_memory_is_bound_by_its_rate() {
        let floor = busy(&[("LDG.E.128.SYS", 2), ("STG.E.SYS", 2)], true);
        assert!((cycles(&floor, Pipe::L2) - (2.0 * 512.0 + 2.0 * 128.0) * 4.0 / 25.6).abs() < 1e-9);
        assert_eq!(bottleneck(floor), Pipe::L2);
    }

    #[test]
    fn what_never_runs_holds_the_front_end_only() {
        let floor = busy(&[("@!PT SHFL.IDX PT, RZ, RZ, RZ, RZ", 3)], true);
        assert_eq!((cycles(&floor, Pipe::Issue), cycles(&floor, Pipe::Mio)), (3.0, 0.0));
    }
}
