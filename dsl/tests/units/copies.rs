//! Asynchronous copies: what they bring, a pipeline of several stages, and what the simulator says of a missing wait.

use half::f16;
use quadpair::lower::LowerError;
use quadpair::prelude::*;
use quadpair::sim::{Counters, FaultKind, SimError, Simulator};
use quadpair::{Instance, KernelError, LaunchError, Report};

use crate::harness::{assemble, chips, everywhere, random, target};

const ROWS: usize = 32;
const COLUMNS: usize = 64;
/// Elements of a tile.
const TILE: usize = ROWS * COLUMNS;
/// Tiles that are in memory at once.
const STAGES: usize = 4;

const fn rows() -> Layout {
    blocked([ROWS, COLUMNS], [1, 8], [4, 8], [4, 1], [1, 0])
}

const fn columns() -> Layout {
    blocked([ROWS, COLUMNS], [8, 1], [4, 8], [1, 4], [0, 1])
}

/// What a kernel leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Left {
    Nothing,
    /// The wait for a stage's group.
    Wait,
    /// The barrier behind the wait.
    Barrier,
    /// The barrier before a stage is used again, which is the one just read.
    Reuse,
}

impl Left {
    const fn is(self, other: Left) -> bool {
        self as u8 == other as u8
    }
}

/// Copies tiles one after the other through a ring of stages, each read by other threads than brought it.
#[kernel(grid = [1])]
pub fn piped<T: Element>(x: Ptr<T>, out: PtrMut<T>, tiles: i32, #[comptime] left: Left) {
    let ring = shared::<T>(swizzled([STAGES, ROWS, COLUMNS], 8, 1, 8, [2, 1, 0]));
    let from = arange(rows().slice(1)).expand_dims(1) * COLUMNS + arange(rows().slice(0)).expand_dims(0);
    let to = arange(columns().slice(1)).expand_dims(1) * COLUMNS + arange(columns().slice(0)).expand_dims(0);
    let first = multiple_of(x, 8);
    for stage in 0..STAGES - 1 {
        ring.slice(0, stage, 1).reshape([ROWS, COLUMNS]).async_copy(first + from + TILE * stage);
        commit_group();
    }
    for tile in 0..tiles {
        if !left.is(Left::Wait) {
            wait_group(STAGES - 2);
        }
        if !left.is(Left::Barrier) {
            barrier();
        }
        store(out + to + tile * TILE, ring.index(tile % STAGES as i32).load(columns()));
        let next = tile + (STAGES - 1) as i32;
        let stage = if left.is(Left::Reuse) { tile } else { next };
        ring.index(stage % STAGES as i32).async_copy_masked(first + from + next * TILE, broadcast_mask(next < tiles));
        commit_group();
    }
}

/// One truth value for a whole tile.
#[device]
fn broadcast_mask(all: Tile) -> Tile {
    full::<bool>(rows(), all)
}

fn run(left: Left) -> Result<Report, LaunchError> {
    let (tiles, x) = (7, random::<f16>(TILE * 7, 5));
    let mut out = vec![f16::NAN; TILE * tiles];
    let instance = Instance::new("piped", Piped::<f16> { left, types: std::marker::PhantomData });
    let args = PipedArgs { x: x.as_slice(), out: out.as_mut_slice(), tiles: tiles as i32 };
    instance.launch(&Simulator::new(target("ampere")), args)
}

#[test]
fn a_ring_of_stages_brings_every_tile() {
    let (tiles, x) = (7, random::<f16>(TILE * 7, 5));
    let (copied, out) = (x.clone(), vec![f16::NAN; TILE * tiles]);
    let instance = Instance::new("piped", Piped::<f16> { left: Left::Nothing, types: std::marker::PhantomData });
    let check = |out: &[f16], counters: Option<Counters>| {
        assert_eq!(copied, out);
        // 16 bytes a thread, 4 warps: two copies a tile and stage; the last ones bring nothing.
        let copies = 4 * 2 * (tiles + STAGES - 1) as u64;
        assert!(counters.is_none_or(|own| (own.global_load, own.shared_store) == (copies, 0)));
    };
    everywhere!(instance, "ampere", PipedArgs { x; out, tiles: tiles as i32 }, check);
}

fn fault(left: Left) -> (FaultKind, String) {
    match run(left) {
        Err(LaunchError::Simulator(SimError::Fault(fault))) => (fault.kind.clone(), fault.to_string()),
        other => panic!("{left:?}: {other:?}"),
    }
}

#[test]
fn a_missing_wait_or_barrier_is_reported() {
    let (kind, text) = fault(Left::Wait);
    assert!(matches!(kind, FaultKind::SharedComing { .. }), "{text}");
    assert!(text.contains("which a copy may still be bringing: warp 0 lane"), "{text}");
    assert!(text.contains("`cp.async.cg.shared.global") && text.contains("copies.rs"), "{text}");
    // Without the barrier a warp may come before the others have waited, or even copied.
    let (kind, text) = fault(Left::Barrier);
    assert!(matches!(kind, FaultKind::SharedUnwritten { .. } | FaultKind::SharedComing { .. }), "{text}");
    let (kind, text) = fault(Left::Reuse);
    assert!(matches!(kind, FaultKind::SharedRace { .. } | FaultKind::SharedComing { .. }), "{text}");
}

/// Copies through memory with a mask of rows; `vector` elements of a thread lie side by side.
#[kernel(grid = [1])]
pub fn masked<T: Element>(x: Ptr<T>, out: PtrMut<T>, rows: i32, #[comptime] vector: usize, #[comptime] aligned: usize) {
    let layout = blocked([ROWS, 64], [1, vector], [4, 8], [4, 1], [1, 0]);
    let memory = shared::<T>(swizzled([ROWS, 64], vector, 1, 8, [1, 0]));
    let row = arange(layout.slice(1)).expand_dims(1);
    let place = row * 64 + arange(layout.slice(0)).expand_dims(0);
    memory.async_copy_masked(multiple_of(x, aligned) + place, (row < rows).broadcast_to(layout));
    commit_group();
    wait_group(0);
    barrier();
    store(out + place, memory.load(layout));
}

fn masked_instance<T: Element>(vector: usize, aligned: usize) -> Instance<Masked<T>> {
    Instance::new("masked", Masked { vector, aligned, types: std::marker::PhantomData })
}

fn copied<T: Element + Default + PartialEq + std::fmt::Debug>(
    vector: usize,
    spelt: &str,
    element: impl Fn(usize) -> T,
) {
    let instance = masked_instance::<T>(vector, vector);
    let program = instance.program(target("ampere")).unwrap();
    assert!(program.ptx().contains(spelt), "{spelt}: {}", program.ptx());
    // Memory ends with the last row that is read.
    let (x, out): (Vec<T>, _) = ((0..20 * 64).map(element).collect(), vec![T::default(); ROWS * 64]);
    let copied = x.clone();
    everywhere!(instance, "ampere", MaskedArgs { x; out, rows: 20 }, |out: &[T], _| {
        assert_eq!(out[..20 * 64], copied, "{spelt}");
        assert!(out[20 * 64..].iter().all(|rest| *rest == T::default()), "{spelt}");
    });
    for chip in chips().into_iter().filter(|chip| chip.sm >= 80) {
        assemble("copies", instance.program(chip).unwrap().ptx(), chip);
    }
}

#[test]
fn copies_of_every_width_fill_with_zeros_where_the_mask_is_false() {
    copied(8, "cp.async.cg.shared.global", |i| f16::from_bits(i as u16));
    copied(4, "cp.async.ca.shared.global", |i| f16::from_bits(i as u16));
    copied(2, "cp.async.ca.shared.global", |i| f16::from_bits(i as u16));
    copied(1, "cp.async.ca.shared.global", |i| i as f32);
    copied(4, "cp.async.cg.shared.global", |i| i as f32);
    copied(8, "cp.async.ca.shared.global", |i| i as i8);
}

#[test]
fn what_cannot_be_copied_is_refused_with_what_would_be_right() {
    let refused = |aligned: usize, profile: &str| match masked_instance::<f16>(8, aligned).program(target(profile)) {
        Err(KernelError::Lower(error @ (LowerError::AsyncCopy { .. } | LowerError::AsyncCopyWidth { .. }))) => {
            error.to_string()
        }
        other => panic!("{other:?}"),
    };
    let text = refused(8, "turing");
    assert!(text.contains("copies.rs") && text.contains("needs sm_80 or later; the target is sm_75"), "{text}");
    let text = refused(1, "ampere");
    assert!(text.contains("a thread's elements of f16 (2 bytes each) are not known to lie side by side"), "{text}");
    // What is known of the address decides the width.
    let narrow = masked_instance::<f16>(8, 2).program(target("ampere")).unwrap();
    assert!(narrow.ptx().contains("], 4, %r"), "{}", narrow.ptx());
}
