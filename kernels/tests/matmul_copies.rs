//! Matrix products whose tiles are copied asynchronously, on the simulator, against sums in float64: orders, sizes, types,
//! operands of which one can't be copied, and what the accesses cost.

use half::{bf16, f16};
use quadpair::sim::{Counters, Simulator};
use quadpair::{Instance, Target};
use quadpair_kernels::matmul::{Arguments, Epilogue, MatmulTile, Order, plain};
use quadpair_kernels::number::Real;
use quadpair_kernels::unit::Unit;

const ORDERS: [[Order; 2]; 4] = [
    [Order::Rows, Order::Rows],
    [Order::Columns, Order::Rows],
    [Order::Rows, Order::Columns],
    [Order::Columns, Order::Columns],
];

/// A chip that has the unit and the copies, and room for every tile.
const CHIP: Target = Target { sm: 80, specific: false, isa: (7, 0), shared_bytes: 227 * 1024, threads: 1024 };

/// 64 x 64 in four warps, three tiles in memory.
const TILE: MatmulTile = MatmulTile {
    unit: Unit::M16N8K16,
    block_m: 64,
    block_n: 64,
    block_k: 32,
    warps: 4,
    stages: 3,
    order: ORDERS[0],
    aligned: [true; 3],
    accumulate: false,
    bias: false,
};

/// Small numbers whose sums are exact in f32.
fn numbers<T: Real>(length: usize, seed: usize) -> Vec<T> {
    (0..length).map(|i| T::from_f64(((i * 7 + i / 13 * 5 + seed) % 17) as f64 - 8.0)).collect()
}

/// Elements from a line in memory to the next: with `aligned`, a multiple of 8.
fn stride(rows: usize, columns: usize, order: Order, aligned: bool) -> usize {
    let length = if order == Order::Rows { columns } else { rows };
    if aligned { length.next_multiple_of(8) } else { length + 1 }
}

fn place(row: usize, column: usize, order: Order, stride: usize) -> usize {
    if order == Order::Rows { row * stride + column } else { column * stride + row }
}

/// Runs a product of this size and checks each element.
fn check<T: Real, U: Real>(t: MatmulTile, [m, n, k]: [usize; 3]) -> Counters {
    let [sa, sb] = [stride(m, k, t.order[0], t.aligned[0]), stride(k, n, t.order[1], t.aligned[1])];
    let sc = n.next_multiple_of(8) + if t.aligned[2] { 0 } else { 1 };
    let (a, b) = (numbers::<T>(sa * m.max(k), 1), numbers::<T>(sb * n.max(k), 2));
    let mut c = vec![U::from_f64(f64::NAN); sc * m];
    let arguments = Arguments {
        a: &a[..],
        b: &b[..],
        c: &mut c[..],
        bias: None,
        batch: 1,
        m: m as i32,
        n: n as i32,
        k: k as i32,
        stride: [sa as i32, sb as i32, sc as i32],
        batch_stride: [0; 3],
        alpha: 1.0,
        beta: 0.0,
    };
    let instance = Instance::new("copies", plain::Fused::kernel::<T, U>(t));
    let args = plain::Fused::args::<Simulator, T, U>(arguments);
    let report = instance.launch(&Simulator::new(CHIP), args).unwrap_or_else(|e| panic!("{t:?} {m} {n} {k}: {e}"));
    for row in 0..m {
        for column in 0..n {
            let term = |i| a[place(row, i, t.order[0], sa)].to_f64() * b[place(i, column, t.order[1], sb)].to_f64();
            let sum: f64 = (0..k).map(term).sum();
            assert_eq!(
                c[row * sc + column].to_f64(),
                U::from_f64(sum).to_f64(),
                "{t:?}, {m} {n} {k}: row {row}, column {column}"
            );
        }
    }
    report.counters.unwrap()
}

#[test]
fn every_order_and_size() {
    for order in ORDERS {
        for size in [[1, 8, 8], [16, 8, 0], [64, 64, 32], [72, 136, 104], [65, 64, 200]] {
            let aligned = |n: usize| n.next_multiple_of(8);
            // Lines of memory have a multiple of 8 elements.
            let [m, n, k] = size;
            let m = if order[0] == Order::Columns { aligned(m) } else { m };
            check::<f16, f16>(MatmulTile { order, ..TILE }, [m, n, k]);
            check::<bf16, f32>(MatmulTile { order, stages: 4, block_k: 64, ..TILE }, [m, n, k]);
        }
    }
}

#[test]
fn an_operand_that_can_not_be_copied_comes_through_registers() {
    for order in ORDERS {
        for aligned in [[false, true, true], [true, false, true], [false; 3]] {
            check::<f16, f16>(MatmulTile { order, aligned, ..TILE }, [72, 72, 136]);
        }
    }
}

#[test]
fn every_number_of_stages_and_shape() {
    for stages in [2, 3, 4] {
        for (block_m, block_n) in [(64, 128), (128, 64)] {
            check::<f16, f16>(MatmulTile { stages, block_m, block_n, warps: 8, ..TILE }, [72, 136, 168]);
        }
    }
}

/// Bands end where C does: each block is computed once whatever the number of rows and columns of blocks.
#[test]
fn bands_cover_every_block() {
    check::<f16, f16>(TILE, [64 * 33 + 1, 136, 8]);
}

#[test]
fn nothing_waits_for_a_bank_and_nothing_is_packed() {
    for order in ORDERS {
        for (block_m, block_n, block_k) in [(64, 64, 32), (128, 64, 64), (64, 128, 32)] {
            let t = MatmulTile { order, block_m, block_n, block_k, ..TILE };
            let counters = check::<f16, f16>(t, [128, 128, 128]);
            assert_eq!(counters.shared_wavefronts, counters.shared_ideal, "{t:?}");
            assert_eq!(counters.shared_store, 0);
        }
    }
}
