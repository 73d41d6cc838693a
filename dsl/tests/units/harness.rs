//! Targets, random tiles, and the assembler where there is one.

use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use half::{bf16, f16};
use quadpair::Target;
use quadpair::cuda::Cuda;
use quadpair::prelude::*;
use quadpair_profiles::Profile;

fn profile(name: &str) -> Profile {
    Profile::by_name(name).expect("a bundled profile")
}

/// What a profile makes code for.
pub fn target(name: &str) -> Target {
    Target::from(&profile(name))
}

/// The GPU for texts of Turing, Ampere or Hopper, where there is one that runs them.
pub fn gpu(name: &str) -> Option<&'static Cuda> {
    static GPUS: [OnceLock<Option<Cuda>>; 3] = [const { OnceLock::new() }; 3];
    let place = ["turing", "ampere", "hopper"].iter().position(|known| *known == name)?;
    GPUS[place].get_or_init(|| Cuda::open(0, &profile(name)).ok()).as_ref()
}

/// Launches an instance in the simulator of a profile's chip and, where there is one, on a GPU. The check sees what was
/// written, which is named like its parameter, and the simulator's counters.
macro_rules! everywhere {
    ($instance:expr, $profile:expr, $args:ident { $($read:ident),*; $write:ident $(, $scalar:ident: $value:expr)* }, $check:expr) => {{
        let check = $check;
        let (instance, profile) = (&$instance, $profile);
        {
            let mut $write = $write.clone();
            let args = $args { $($read: $read.as_slice(),)* $write: $write.as_mut_slice() $(, $scalar: $value)* };
            let simulator = quadpair::sim::Simulator::new($crate::harness::target(profile));
            let report = instance.launch(&simulator, args).unwrap_or_else(|error| panic!("{}: {error}", instance.name()));
            check(&$write[..], report.counters);
        }
        if let Some(cuda) = $crate::harness::gpu(profile) {
            let stream = cuda.stream();
            $(let $read = stream.clone_htod(&$read).expect("room on the GPU");)*
            let mut $write = stream.clone_htod(&$write).expect("room on the GPU");
            let args = $args { $($read: $read.as_view(),)* $write: $write.as_view_mut() $(, $scalar: $value)* };
            instance.launch(cuda, args).unwrap_or_else(|error| panic!("{}: {error}", instance.name()));
            let $write = stream.clone_dtoh(&$write).expect("the GPU's answer");
            check(&$write[..], None);
        }
    }};
}
pub(crate) use everywhere;

/// An element type that a matrix unit multiplies.
pub trait Operand: Element {
    fn of(value: f32) -> Self;
    fn value(self) -> f64;
}

impl Operand for f16 {
    fn of(value: f32) -> Self {
        f16::from_f32(value)
    }

    fn value(self) -> f64 {
        self.to_f64()
    }
}

impl Operand for bf16 {
    fn of(value: f32) -> Self {
        bf16::from_f32(value)
    }

    fn value(self) -> f64 {
        self.to_f64()
    }
}

/// Numbers between -1 and 1 that follow no pattern.
pub fn random<T: Operand>(count: usize, seed: u32) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as f32 / u32::MAX as f32 * 2.0 - 1.0
    };
    (0..count).map(|_| T::of(next())).collect()
}

/// Has NVIDIA's assembler read a kernel's text for a chip, if the environment names one as `PTXAS`, and gives what it says.
pub fn assemble(name: &str, ptx: &str, target: Target) -> Option<String> {
    let ptxas = std::env::var_os("PTXAS")?;
    // Tests run side by side.
    static TEXTS: AtomicUsize = AtomicUsize::new(0);
    let (number, process) = (TEXTS.fetch_add(1, Relaxed), std::process::id());
    let path = std::env::temp_dir().join(format!("quadpair-{name}-{}-{process}-{number}.ptx", target.name()));
    std::fs::write(&path, ptx).expect("a writable folder");
    let arch = format!("-arch={}", target.name());
    let command = &mut Command::new(ptxas);
    let output = command.args(["-v", &arch]).arg(&path).args(["-o", "/dev/null"]).output().expect("an assembler");
    let said = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(output.status.success(), "{name}: {said}\n{ptx}");
    std::fs::remove_file(path).expect("the text was written");
    Some(said)
}

/// A bundled profile's target as another chip that runs its text.
pub fn as_chip(target: Target, sm: u32) -> Target {
    // sm_86 is known from PTX 7.1, sm_89 from 7.8, sm_120 from 8.7 on.
    let isa = match sm {
        86 => (7, 1),
        89 | 90 => (7, 8),
        100 | 120 => (8, 7),
        _ => target.isa,
    };
    Target { sm, isa: isa.max(target.isa), ..target }
}

/// Chips with units of 16 rows.
pub fn chips() -> Vec<Target> {
    let turing = as_chip(target("turing"), 75);
    let ampere = target("ampere");
    [80, 86, 89, 90, 100, 120].into_iter().map(|sm| as_chip(ampere, sm)).chain([turing]).collect()
}
