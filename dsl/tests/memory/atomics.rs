//! Atomic operations: each element once whatever holds it, and its old value wherever it is held.

use std::marker::PhantomData;

use quadpair::prelude::*;

use crate::harness::{DUPLICATES, LENGTH, sequence};

/// Blocks of the kernels here.
const BLOCKS: usize = 3;

/// What the elements of a tile do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Update {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    Compare,
}

#[device]
fn updated(p: Tile, x: Tile, options: AtomicOptions, #[comptime] op: Update) -> Tile {
    match op {
        Update::Add => atomic_add_with(p, x, options),
        Update::Min => atomic_min_with(p, x, options),
        Update::Max => atomic_max_with(p, x, options),
        Update::And => atomic_and_with(p, x, options),
        Update::Or => atomic_or_with(p, x, options),
        Update::Xor => atomic_xor_with(p, x, options),
        Update::Exchange => atomic_xchg_with(p, x, options),
        Update::Compare => atomic_cas_with(p, 5, x, options),
    }
}

/// One operation of every element of a tile, but every fourth, on a cell that it shares with its neighbour. Who has
/// an element but isn't its holder must have got the same old value.
#[kernel(grid = [1])]
pub fn pairs<T: Element>(
    values: Ptr<T>,
    cells: PtrMut<T>,
    old: PtrMut<T>,
    #[comptime] op: Update,
    #[comptime] layout: Layout,
) {
    let i = arange(layout);
    let options = AtomicOptions::new().order(Order::Relaxed).mask(i % 4 < 3);
    let before = updated(cells + (i >> 1), load(values + i), options, op);
    store(old + i, before);
    barrier();
    device_assert(load(old + i) == before, "whoever has the element has its old value");
}

/// Elements 2 i and 2 i + 1 meet in cell i, in either order; every fourth element is masked.
fn allowed<T: Copy + PartialEq + Default>(
    cell: T,
    pair: [T; 2],
    second: bool,
    combine: impl Fn(T, T) -> T,
) -> Vec<(T, [T; 2])> {
    let first = (combine(cell, pair[0]), [cell, T::default()]);
    if !second {
        return vec![first];
    }
    let forwards = (combine(first.0, pair[1]), [cell, first.0]);
    let after = combine(cell, pair[1]);
    vec![forwards, (combine(after, pair[0]), [after, cell])]
}

macro_rules! case {
    ($op:ident, $ty:ty, |$n:ident| $number:expr, $combine:expr) => {{
        let number = |$n: u64| -> $ty { $number };
        let values: Vec<$ty> = sequence(LENGTH).map(number).collect();
        let cells: Vec<$ty> = sequence(2 * LENGTH).skip(LENGTH).take(LENGTH / 2).map(number).collect();
        let old = vec![number(77); LENGTH];
        for layout in DUPLICATES {
            let instance = quadpair::Instance::new("pairs", Pairs::<$ty> { op: Update::$op, layout, types: PhantomData });
            check!(instance, PairsArgs { reads(values), writes(cells, old) }, |after: &[$ty], old: &[$ty]| {
                for (i, &cell) in cells.iter().enumerate() {
                    let pair = [values[2 * i], values[2 * i + 1]];
                    let found = (after[i], [old[2 * i], old[2 * i + 1]]);
                    let allowed = allowed(cell, pair, i % 2 == 0, $combine);
                    assert!(allowed.contains(&found), "{layout}: cell {i} {found:?}, allowed {allowed:?}");
                }
            });
        }
    }};
}

#[test]
fn sums() {
    case!(Add, i32, |n| n as i32, i32::wrapping_add);
    case!(Add, u64, |n| n << 20, u64::wrapping_add);
    case!(Add, i16, |n| n as i16, i16::wrapping_add);
    case!(Add, f32, |n| n as u16 as f32 / 64.0, |a, b| a + b);
    case!(Add, f64, |n| n as u32 as f64 / 64.0, |a, b| a + b);
    case!(Add, f16, |n| f16::from_f32(n as u8 as f32 / 16.0), |a, b| a + b);
    case!(Add, bf16, |n| bf16::from_f32(n as u8 as f32 / 16.0), |a, b| a + b);
}

#[test]
fn extrema() {
    case!(Min, i32, |n| n as i32, i32::min);
    case!(Max, u32, |n| n as u32, u32::max);
    case!(Min, i64, |n| (n << 16) as i64, i64::min);
    case!(Max, f32, |n| n as i16 as f32, f32::max);
    case!(Min, f64, |n| n as i32 as f64, f64::min);
    case!(Max, f16, |n| f16::from_f32(n as i8 as f32), |a: f16, b| a.max(b));
}

#[test]
fn bits() {
    case!(And, u32, |n| n as u32, |a, b| a & b);
    case!(Or, u64, |n| n << 12, |a, b| a | b);
    case!(Xor, u16, |n| n as u16, |a, b| a ^ b);
}

#[test]
fn exchanges() {
    case!(Exchange, f32, |n| n as u16 as f32, |_, b| b);
    case!(Exchange, f16, |n| f16::from_f32(n as u8 as f32), |_, b| b);
    let five = |n: u64| n % 3 + 4;
    case!(Compare, i32, |n| five(n) as i32, |a, b| if a == 5 { b } else { a });
    case!(Compare, f64, |n| five(n) as f64, |a, b| if a == 5.0 { b } else { a });
    case!(Compare, f16, |n| f16::from_f32(five(n) as f32), |a: f16, b| if a.to_f32() == 5.0 { b } else { a });
}

/// Every element of every block adds one to the same counter, and takes its ticket to a place of its own.
#[kernel(grid = [blocks])]
pub fn tickets(counter: PtrMut<i32>, taken: PtrMut<i32>, blocks: i32, #[comptime] layout: Layout) {
    let everywhere = counter + arange(layout) * 0;
    let ticket = atomic_add_with(everywhere, 1, AtomicOptions::new().order(Order::Relaxed));
    store(taken + ticket, ticket);
}

#[test]
fn equal_addresses_are_told_apart() {
    for layout in DUPLICATES {
        let (counter, taken) = (vec![0_i32], vec![-1_i32; BLOCKS * LENGTH]);
        let instance = quadpair::Instance::new("tickets", Tickets { layout });
        let args = BLOCKS as i32;
        check!(instance, TicketsArgs { reads(), writes(counter, taken), blocks: args }, |count: &[i32], taken: &[i32]| {
            assert_eq!(count, [(BLOCKS * LENGTH) as i32], "{layout}");
            assert!(taken.iter().enumerate().all(|(i, &ticket)| ticket == i as i32), "{layout}: {taken:?}");
        });
    }
}

/// Blocks add up their rows; the last to come adds up what all have found.
#[kernel(grid = [4])]
pub fn last_block(x: Ptr<i32>, partial: PtrMut<i32>, counter: PtrMut<i32>, total: PtrMut<i32>) {
    let i = arange(linear([64], &[[0]], &[[1], [2], [4], [8], [16]], &[[32]]));
    store(partial + program_id(0) * 64 + i, load(x + program_id(0) * 64 + i) * 2);
    let ticket = atomic_add(counter, 1);
    if ticket == 3 {
        let sum = load(partial + i) + load(partial + i + 64) + load(partial + i + 128) + load(partial + i + 192);
        store(total, sum.reduce_sum(0));
    }
}

instances! { LAST = LastBlock {}; FLAG = Flag {}; }

#[test]
fn a_scalar_is_one_operation_of_the_block() {
    let x: Vec<i32> = sequence(256).map(|n| n as u8 as i32).collect();
    let (partial, counter, total) = (vec![0_i32; 256], vec![0_i32], vec![0_i32]);
    let sum: i32 = x.iter().map(|x| 2 * x).sum();
    check!(
        LAST,
        LastBlockArgs { reads(x), writes(partial, counter, total) },
        |_: &[i32], counter: &[i32], total: &[i32]| assert_eq!((counter[0], total[0]), (4, sum))
    );
}

/// Loads and stores that are atomic, of a scalar and of a tile.
#[kernel(grid = [1])]
pub fn flag(cells: PtrMut<f32>, out: PtrMut<f32>) {
    let i = arange(linear([64], &[[1]], &[[2], [4], [0], [8], [16]], &[[32]]));
    let options = AtomicOptions::new().scope(Scope::System).mask(i < 40);
    let before = atomic_load_with(cells + i, options);
    atomic_store_with(cells + i, before + 1.0, AtomicOptions::new().order(Order::Relaxed));
    barrier();
    atomic_store(cells + 64, 9.0);
    store(out + i, atomic_load(cells + i) + atomic_load(cells + 64));
}

#[test]
fn loads_and_stores() {
    let (cells, out) = (vec![0.5_f32; 65], vec![0.0_f32; 64]);
    check!(FLAG, FlagArgs { reads(), writes(cells, out) }, |cells: &[f32], out: &[f32]| {
        assert_eq!(cells[64], 9.0);
        for i in 0..64 {
            let after = if i < 40 { 1.5 } else { 1.0 };
            assert_eq!((cells[i], out[i]), (after, after + 9.0));
        }
    });
}
