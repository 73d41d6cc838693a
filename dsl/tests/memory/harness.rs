//! Running one kernel everywhere, and layouts that hold elements several times.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use quadpair::cuda::Cuda;
use quadpair::prelude::*;
use quadpair::sim::Simulator;
use quadpair::{Backend, Instance, Kernel};
use quadpair_profiles::Profile;

/// A simulated Volta.
pub fn simulator() -> Simulator {
    Simulator::new(&Profile::by_name("volta").expect("a bundled profile"))
}

/// The GPU, where there is one: it runs the same sm_70 PTX.
pub fn gpu() -> Option<&'static Cuda> {
    static GPU: OnceLock<Option<Cuda>> = OnceLock::new();
    GPU.get_or_init(|| Cuda::open(0, &Profile::by_name("volta").ok()?).ok()).as_ref()
}

/// Writes the PTX into the folder that PTX_DIR names, for an assembler to look at.
pub fn keep<K: Kernel>(instance: &Instance<K>) {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let Some(folder) = std::env::var_os("PTX_DIR") else { return };
    let program = instance.program(simulator().target()).unwrap_or_else(|error| panic!("{error}"));
    let name = format!("{}_{}.ptx", instance.name(), COUNT.fetch_add(1, Ordering::Relaxed));
    std::fs::write(std::path::Path::new(&folder).join(name), program.ptx()).expect("a folder");
}

/// Launches an instance everywhere and checks what it wrote: `reads` and `writes` are vectors named like the parameters;
/// the check sees each of `writes` as it is after the launch.
macro_rules! check {
    ($instance:expr, $args:ident { reads($($read:ident),*), writes($($write:ident),*) $(, $scalar:ident: $value:expr)* }, $check:expr) => {{
        let check = $check;
        $crate::harness::keep(&$instance);
        {
            $(let mut $write = $write.clone();)*
            let args = $args { $($read: $read.as_slice(),)* $($write: $write.as_mut_slice(),)* $($scalar: $value,)* };
            $instance.launch(&$crate::harness::simulator(), args).unwrap_or_else(|error| panic!("{error}"));
            check($(&$write[..]),*);
        }
        if let Some(cuda) = $crate::harness::gpu() {
            let stream = cuda.stream();
            $(let $read = stream.clone_htod(&$read).unwrap();)*
            $(let mut $write = stream.clone_htod(&$write).unwrap();)*
            let args = $args { $($read: $read.as_view(),)* $($write: $write.as_view_mut(),)* $($scalar: $value,)* };
            $instance.launch(cuda, args).unwrap_or_else(|error| panic!("{error}"));
            $(let $write = stream.clone_dtoh(&$write).unwrap();)*
            check($(&$write[..]),*);
        }
    }};
}

/// How a tile of 64 elements lies in 2 warps, for each way in which elements can be held several times.
pub const DUPLICATES: [Layout; 6] = [
    // One holder each.
    linear([64], &[], &[[1], [2], [4], [8], [16]], &[[32]]),
    // Lanes.
    linear([64], &[[1], [2]], &[[4], [0], [8], [0], [16]], &[[32]]),
    // Warps.
    linear([64], &[[1]], &[[2], [4], [8], [16], [32]], &[[0]]),
    // Registers.
    linear([64], &[[0], [1], [0]], &[[2], [4], [8], [16], [32]], &[[0]]),
    // A lane, a register and a warp that move as others together do.
    linear([64], &[[1], [3]], &[[2], [4], [6], [8], [16]], &[[32]]),
    linear([64], &[[1], [33]], &[[2], [4], [8], [16], [32]], &[[48]]),
];

/// Elements of those tiles.
pub const LENGTH: usize = 64;

/// Numbers that are neither random nor alike.
pub fn sequence(length: usize) -> impl Iterator<Item = u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some(state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16)
    })
    .take(length)
}
