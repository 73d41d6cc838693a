//! Gather, scatter, atomic scatter and histogram, in layouts that hold elements several times too.

use std::marker::PhantomData;

use quadpair::prelude::*;
use quadpair::sim::{FaultKind, SimError};
use quadpair::{Instance, LaunchError};

use crate::harness::{DUPLICATES, LENGTH, sequence, simulator};

/// A matrix gathered along an axis from registers and from shared memory.
#[kernel(grid = [1])]
pub fn gathers<T: Element>(
    x: Ptr<T>,
    index: Ptr<i32>,
    tile: PtrMut<T>,
    memory: PtrMut<T>,
    #[comptime] from: Layout,
    #[comptime] to: Layout,
    #[comptime] place: SharedLayout,
    #[comptime] axis: usize,
) {
    let source = load(at(x, from));
    let i = load(at(index, to));
    store(at(tile, to), source.gather(i, axis));
    let shared = shared_from(source, place);
    barrier();
    store(at(memory, to), shared.gather(i, axis));
}

/// The address of each element of a row-major matrix.
#[device]
fn at(matrix: Tile, #[comptime] layout: Layout) -> Tile {
    let columns = layout.shape().extents().0[1];
    let row = arange(layout.slice(1)).expand_dims(1);
    matrix + (row * columns + arange(layout.slice(0)).expand_dims(0))
}

fn check_gather<T: Element + PartialEq + std::fmt::Debug>(
    from: Layout,
    to: Layout,
    place: SharedLayout,
    axis: usize,
    number: impl Fn(u64) -> T,
) -> u64 {
    let ([rows, columns, ..], _) = from.shape().extents();
    let ([out_rows, out_columns, ..], _) = to.shape().extents();
    let x: Vec<T> = sequence(rows * columns).map(number).collect();
    let limit = if axis == 0 { rows } else { columns };
    let index: Vec<i32> = sequence(out_rows * out_columns).map(|n| (n % limit as u64) as i32).collect();
    let expected: Vec<T> = (0..out_rows * out_columns)
        .map(|i| {
            let (row, column, v) = (i / out_columns, i % out_columns, index[i] as usize);
            if axis == 0 { x[v * columns + column] } else { x[row * columns + v] }
        })
        .collect();
    let (tile, memory) = (vec![T::default(); expected.len()], vec![T::default(); expected.len()]);
    let instance = Instance::new("gathers", Gathers::<T> { from, to, place, axis, types: PhantomData });
    check!(instance, GathersArgs { reads(x, index), writes(tile, memory) }, |tile: &[T], memory: &[T]| {
        assert_eq!(tile, expected, "registers, {from} to {to} along {axis}");
        assert_eq!(memory, expected, "shared memory, {to} along {axis}");
    });
    shuffles(&instance, &x, &index, expected.len())
}

/// Shuffles that a gather takes, of all warps together.
fn shuffles<T: Element>(instance: &Instance<Gathers<T>>, x: &[T], index: &[i32], length: usize) -> u64 {
    let (mut tile, mut memory) = (vec![T::default(); length], vec![T::default(); length]);
    let report = instance.launch(&simulator(), GathersArgs { x, index, tile: &mut tile, memory: &mut memory });
    report.unwrap().counters.unwrap().shuffle
}

#[test]
fn gathers_between_lanes() {
    let rows = blocked([16, 32], [1, 1], [1, 32], [4, 1], [1, 0]);
    let place = swizzled([16, 32], 4, 1, 8, [1, 0]);
    // A warp has whole rows, a lane one element of each: one shuffle an element, 4 registers of 4 warps.
    assert_eq!(check_gather(rows, rows, place, 1, |n| n as f32), 16);
    // Only 8 of the columns are wanted, four lanes have the same.
    let few = blocked([16, 8], [1, 1], [1, 32], [4, 1], [1, 0]);
    assert_eq!(check_gather(rows, few, place, 1, |n| f16::from_f32((n % 2048) as f32)), 16);
    // The lanes of the rows are others than those of the indices, and 64 bits take two shuffles.
    let other = blocked([16, 32], [1, 2], [4, 8], [4, 1], [1, 0]);
    let halves = blocked([16, 32], [1, 1], [4, 8], [4, 1], [1, 0]);
    assert_eq!(check_gather(halves, other, place, 1, |n| n as f64), 2 * 4 * 16);
    // Gaps between the rows of memory.
    let gaps = padded([16, 32], &[(32, 4), (128, 8)], [1, 0]);
    for axis in [0, 1] {
        check_gather(halves, other, gaps, axis, |n| n as u16);
    }
    check_gather(halves, other, gaps, 1, |n| F8E4M3::from_f32((n % 8) as f32));
    // Along the other axis a warp lacks what it wants.
    assert_eq!(check_gather(rows, rows, place, 0, |n| n as i16), 0);
}

#[test]
fn gathers_in_a_thread() {
    // A thread has whole columns of 8.
    let columns = blocked([8, 64], [8, 1], [1, 32], [1, 2], [0, 1]);
    assert_eq!(check_gather(columns, columns, row_major([8, 64]), 0, |n| n as i32), 0);
    let other = blocked([2, 64], [2, 1], [1, 32], [1, 2], [0, 1]);
    assert_eq!(check_gather(columns, other, row_major([8, 64]), 0, |n| n % 2 == 0), 0);
}

#[test]
fn gathers_of_tiles_held_several_times() {
    let (place, whole) = (row_major([8, 64]), blocked([8, 64], [1, 2], [2, 16], [2, 1], [1, 0]));
    let [lanes, warps] = [
        linear([8, 64], &[[1, 0], [2, 0], [0, 32]], &[[0, 1], [0, 2], [4, 0], [0, 4], [0, 8]], &[[0, 16]]),
        linear(
            [8, 64],
            &[[0, 1], [0, 0], [0, 3], [0, 4], [4, 0]],
            &[[0, 8], [0, 0], [0, 16], [0, 32], [1, 0]],
            &[[2, 0]],
        ),
    ];
    for (from, to) in [(whole, lanes), (lanes, whole), (warps, lanes), (lanes, warps), (warps, warps)] {
        for axis in [0, 1] {
            check_gather(from, to, place, axis, |n| n as u32);
        }
    }
    let one = linear([4, 64], &[[0, 32]], &[[0, 1], [0, 2], [0, 4], [0, 8], [0, 16]], &[[1, 0], [2, 0], [0, 0]]);
    check_gather(one, one, row_major([4, 64]), 1, |n| n as i64);
    check_gather(one, one, row_major([4, 64]), 0, |n| n as u8);
}

/// Rows go to other places of a larger memory, and its old and new contents come back.
#[kernel(grid = [1])]
pub fn scatters(x: Ptr<i32>, index: Ptr<i32>, out: PtrMut<i32>, #[comptime] layout: Layout) {
    let memory = shared::<i32>(swizzled([256], 4, 1, 4, [0]));
    let all = blocked([256], [4], [32], [layout.warps()], [0]);
    memory.store(full::<i32>(all, -1));
    barrier();
    let i = arange(layout);
    memory.scatter(load(x + i), load(index + i), 0);
    barrier();
    store(out + arange(all), memory.load(all));
}

#[test]
fn scatters_each_element_to_its_place() {
    for layout in DUPLICATES {
        let x: Vec<i32> = sequence(LENGTH).map(|n| n as i32).collect();
        let index: Vec<i32> = (0..LENGTH as i32).map(|i| (i * 37 + 11) % 256).collect();
        let out = vec![0_i32; 256];
        let mut expected = vec![-1; 256];
        (0..LENGTH).for_each(|i| expected[index[i] as usize] = x[i]);
        let instance = Instance::new("scatters", Scatters { layout });
        check!(instance, ScattersArgs { reads(x, index), writes(out) }, |out: &[i32]| {
            assert_eq!(out, expected, "{layout}");
        });
    }
}

/// What the elements of a tile do to cells of shared memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Update {
    Add,
    Max,
    Min,
    And,
    Or,
    Xor,
    Exchange,
}

#[device]
fn updated(memory: Shared, x: Tile, index: Tile, mask: Tile, #[comptime] op: Update) -> Tile {
    match op {
        Update::Add => memory.atomic_scatter_add_masked(x, index, 0, mask),
        Update::Max => memory.atomic_scatter_max_masked(x, index, 0, mask),
        Update::Min => memory.atomic_scatter_min_masked(x, index, 0, mask),
        Update::And => memory.atomic_scatter_and_masked(x, index, 0, mask),
        Update::Or => memory.atomic_scatter_or_masked(x, index, 0, mask),
        Update::Xor => memory.atomic_scatter_xor_masked(x, index, 0, mask),
        Update::Exchange => memory.atomic_scatter_xchg_masked(x, index, 0, mask),
    }
}

/// Elements 2 i and 2 i + 1 meet in cell i; every fourth is masked, and names no cell at all.
#[kernel(grid = [1])]
pub fn meets<T: Element>(
    x: Ptr<T>,
    cells: PtrMut<T>,
    old: PtrMut<T>,
    #[comptime] op: Update,
    #[comptime] layout: Layout,
) {
    let all = blocked([32], [1], [32], [layout.warps()], [0]);
    let memory = shared_from(load(cells + arange(all)), row_major([32]));
    barrier();
    let i = arange(layout);
    let mask = i % 4 < 3;
    let before = updated(memory, load(x + i), select(mask, i >> 1, -7), mask, op);
    store(old + i, before);
    barrier();
    device_assert(load(old + i) == before, "whoever has the element has its old value");
    store(cells + arange(all), memory.load(all));
}

macro_rules! meet {
    ($op:ident, $ty:ty, |$n:ident| $number:expr, $combine:expr) => {{
        let (number, combine) = (|$n: u64| -> $ty { $number }, $combine);
        let x: Vec<$ty> = sequence(LENGTH).map(number).collect();
        let cells: Vec<$ty> = sequence(2 * LENGTH).skip(LENGTH).take(LENGTH / 2).map(number).collect();
        let (old, zero) = (vec![number(77); LENGTH], <$ty>::default());
        for layout in DUPLICATES {
            let kernel = Meets::<$ty> { op: Update::$op, layout, types: PhantomData };
            let instance = Instance::new("meets", kernel);
            check!(instance, MeetsArgs { reads(x), writes(cells, old) }, |after: &[$ty], old: &[$ty]| {
                for (i, &cell) in cells.iter().enumerate() {
                    let found = (after[i], old[2 * i], old[2 * i + 1]);
                    let (one, other) = (combine(cell, x[2 * i]), combine(cell, x[2 * i + 1]));
                    let both = [(combine(one, x[2 * i + 1]), cell, one), (combine(other, x[2 * i]), other, cell)];
                    let allowed = if i % 2 == 0 { both } else { [(one, cell, zero); 2] };
                    assert!(allowed.contains(&found), "{layout}: cell {i} {found:?}, allowed {allowed:?}");
                }
            });
        }
    }};
}

#[test]
fn atomic_scatters() {
    meet!(Add, i32, |n| n as i32, i32::wrapping_add);
    meet!(Add, f32, |n| n as u16 as f32, |a: f32, b| a + b);
    meet!(Add, f16, |n| f16::from_f32(n as u8 as f32), |a: f16, b| a + b);
    meet!(Add, bf16, |n| bf16::from_f32(n as u8 as f32), |a: bf16, b| a + b);
    meet!(Add, f64, |n| n as f64, |a: f64, b| a + b);
    meet!(Max, i64, |n| n as i64, i64::max);
    meet!(Min, f32, |n| n as i16 as f32, f32::min);
    meet!(And, u32, |n| n as u32, |a: u32, b| a & b);
    meet!(Or, u64, |n| n, |a: u64, b| a | b);
    meet!(Xor, i16, |n| n as i16, |a: i16, b| a ^ b);
    meet!(Exchange, u32, |n| n as u32, |_: u32, b| b);
}

/// How often each value occurs.
#[kernel(grid = [1])]
pub fn counts(x: Ptr<i32>, out: PtrMut<i32>, #[comptime] from: Layout, #[comptime] bins: Layout) {
    let values = load(x + arange(from));
    store(out + arange(bins), values.histogram(bins));
    let narrow = (values & 7) as u8;
    store(out + 32 + arange(bins), narrow.histogram(bins));
}

#[test]
fn histograms() {
    let x: Vec<i32> = sequence(LENGTH).map(|n| n as i32 % 40 - 4).collect();
    let count = |wanted: &dyn Fn(i32) -> i32| -> Vec<i32> {
        (0..32).map(|bin| x.iter().filter(|&&x| wanted(x) == bin).count() as i32).collect()
    };
    let expected = [count(&|x| x), count(&|x| x & 7)].concat();
    for from in DUPLICATES {
        let bins = [blocked([32], [1], [32], [2], [0]), linear([32], &[[1], [0]], &[[2], [0], [4], [8], [3]], &[[16]])];
        for bins in bins {
            let out = vec![-1_i32; 64];
            let instance = Instance::new("counts", Counts { from, bins });
            check!(instance, CountsArgs { reads(x), writes(out) }, |out: &[i32]| {
                assert_eq!(out, expected, "{from} to {bins}");
            });
        }
    }
}

/// Views: an index of an index, a run-time index next to a swizzle, the same bytes as another type.
#[kernel(grid = [1])]
pub fn views(out: PtrMut<u16>, n: i32) {
    let all = blocked([2, 4, 8, 16], [1, 1, 1, 8], [1, 1, 16, 2], [1, 2, 1, 1], [3, 2, 1, 0]);
    let memory = shared::<i32>(swizzled([2, 4, 8, 16], 4, 1, 4, [3, 2, 1, 0]));
    memory.store((arange(blocked([1024], [8], [32], [2], [0])).reshape([2, 4, 8, 16])).convert_layout(all));
    static_assert(memory.bytes() == 4096, "a view's bytes");
    barrier();
    let one = memory.index(n).index(n + 2);
    static_assert(one.bytes() == 512, "a view's bytes");
    let tile = blocked([8, 16], [1, 2], [4, 8], [2, 1], [1, 0]);
    let row = arange(tile.slice(1)).expand_dims(1) * 16;
    store(out + row + arange(tile.slice(0)).expand_dims(0), one.load(tile) as u16);
    let halves = memory.index(n).index(n).reinterpret::<u16>(row_major([256]));
    static_assert(halves.bytes() == 512, "a view's bytes");
    let vector = arange(blocked([256], [4], [32], [2], [0]));
    store(out + 128 + vector, halves.load(blocked([256], [4], [32], [2], [0])));
    let back = halves.reinterpret::<i32>(swizzled([8, 16], 4, 1, 4, [1, 0]));
    store(out + 384 + row + arange(tile.slice(0)).expand_dims(0), back.load(tile) as u16);
}

instances! { VIEWS = Views {}; FAR = Far {}; }

#[test]
fn views_of_views() {
    let out = vec![0_u16; 512];
    check!(VIEWS, ViewsArgs { reads(), writes(out), n: 1 }, |out: &[u16]| {
        // Element (1, 3, j, k), then the block of (1, 1) with its swizzle undone by hand, then by the layout.
        let block = |base: u16| (0..128).map(|i| base + i).collect::<Vec<u16>>();
        assert_eq!(out[..128], block(512 + 3 * 128));
        for i in 0..128 {
            let (row, column) = (i / 16, i % 16);
            let lies = row * 16 + ((column / 4) ^ (row % 4)) * 4 + column % 4;
            assert_eq!(out[128 + 2 * lies..][..2], [512 + 128 + i as u16, 0]);
        }
        assert_eq!(out[384..], block(512 + 128));
    });
}

/// An index that is too large.
#[kernel(grid = [1])]
pub fn far(out: PtrMut<i32>, way: i32, n: i32) {
    let layout = blocked([4, 32], [4, 1], [1, 32], [1, 1], [0, 1]);
    let tile = arange(layout.slice(1)).expand_dims(1) * 32 + arange(layout.slice(0)).expand_dims(0);
    let memory = shared::<i32>(row_major([4, 32]));
    memory.store(tile);
    barrier();
    let index = tile * 0 + n;
    if way == 0 {
        store(out + tile, memory.gather(index, 0));
    } else if way == 1 {
        memory.scatter(tile, index, 0);
    } else if way == 2 {
        memory.atomic_scatter_add(tile, index, 1);
    } else if way == 3 {
        store(out + arange(layout.slice(0)), memory.index(n).load(layout.slice(0)));
    } else if way == 4 {
        store(out + tile, tile.gather(index, 1));
    } else {
        store(out + tile, tile.gather(index, 0));
    }
}

#[test]
fn the_simulator_finds_indices_out_of_range() {
    for (way, n, limit) in [(0, 4, 4), (1, -1, 4), (2, 32, 32), (3, 5, 4), (4, 99, 32), (5, 4, 4)] {
        let mut out = vec![0_i32; 128];
        let error = FAR.launch(&simulator(), FarArgs { out: &mut out, way, n }).unwrap_err();
        let LaunchError::Simulator(SimError::Fault(fault)) = error else { panic!("{error}") };
        assert_eq!(fault.kind, FaultKind::IndexOutOfBounds { index: n, limit }, "{fault}");
        let position = fault.position.expect("the author's line");
        assert!(position.file.ends_with("indexed.rs"), "{position}");
    }
}

/// Elements of padded memory five places behind an index.
#[kernel(grid = [1])]
fn five_further(x: Ptr<f32>, index: Ptr<i32>, out: PtrMut<f32>) {
    let memory = shared::<f32>(padded([64], &[(8, 1)], [0]));
    let all = arange(blocked([64], [2], [32], [1], [0]));
    memory.store(load(x + all));
    barrier();
    let i = arange(blocked([32], [1], [32], [1], [0]));
    store(out + i, memory.gather(load(index + i) + 5, 0));
}

#[test]
fn gaps_are_those_of_an_index_plus_a_constant() {
    let x: Vec<f32> = (0..64).map(|i| i as f32).collect();
    let index: Vec<i32> = (0..32).map(|i| i * 7 % 59).collect();
    let mut out = vec![f32::NAN; 32];
    let instance = Instance::new("five_further", FiveFurther {});
    let args = FiveFurtherArgs { x: &x[..], index: &index[..], out: &mut out[..] };
    instance.launch(&simulator(), args).unwrap();
    assert!(out.iter().zip(&index).all(|(&found, &i)| found == (i + 5) as f32), "{out:?}");
}
