//! Matrix products on wgmma, on the simulator, against sums in float64: orders, sizes, types, tiles, operands that can't be
//! copied, and terms.

use half::{bf16, f16};
use quadpair::sim::Simulator;
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

/// A chip that has the unit, and room for every tile.
const CHIP: Target = Target { sm: 90, specific: true, isa: (8, 0), shared_bytes: 227 * 1024, threads: 1024 };

/// 64 x 64 in four warps, three tiles in memory.
const TILE: MatmulTile = MatmulTile {
    unit: Unit::Wgmma,
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

/// Factors of the product and of what C was.
const FACTORS: [f32; 2] = [0.5, 2.0];

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

/// Runs a product of this size, with all terms that the tile has, and checks each element.
fn check<T: Real, U: Real>(t: MatmulTile, [m, n, k]: [usize; 3]) {
    let [sa, sb] = [stride(m, k, t.order[0], t.aligned[0]), stride(k, n, t.order[1], t.aligned[1])];
    let sc = n.next_multiple_of(8) + if t.aligned[2] { 0 } else { 1 };
    let (a, b) = (numbers::<T>(sa * m.max(k), 1), numbers::<T>(sb * n.max(k), 2));
    let (before, bias) = (numbers::<U>(sc * m, 3), numbers::<U>(n, 4));
    let mut c = if t.accumulate { before.clone() } else { vec![U::from_f64(f64::NAN); sc * m] };
    let [alpha, beta] = if t.accumulate { FACTORS } else { [1.0, 0.0] };
    let arguments = Arguments {
        a: &a[..],
        b: &b[..],
        c: &mut c[..],
        bias: t.bias.then_some(&bias[..]),
        batch: 1,
        m: m as i32,
        n: n as i32,
        k: k as i32,
        stride: [sa as i32, sb as i32, sc as i32],
        batch_stride: [0; 3],
        alpha,
        beta,
    };
    let instance = Instance::new("wgmma", plain::Fused::kernel::<T, U>(t));
    let args = plain::Fused::args::<Simulator, T, U>(arguments);
    instance.launch(&Simulator::new(CHIP), args).unwrap_or_else(|e| panic!("{t:?} {m} {n} {k}: {e}"));
    for row in 0..m {
        for column in 0..n {
            let term = |i| a[place(row, i, t.order[0], sa)].to_f64() * b[place(i, column, t.order[1], sb)].to_f64();
            let mut sum = f64::from(alpha) * (0..k).map(term).sum::<f64>();
            if t.accumulate {
                sum += f64::from(beta) * before[row * sc + column].to_f64();
            }
            if t.bias {
                sum += bias[column].to_f64();
            }
            let (is, expected) = (c[row * sc + column].to_f64(), U::from_f64(sum).to_f64());
            assert_eq!(is, expected, "{t:?}, {m} {n} {k}: row {row}, column {column}");
        }
    }
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
fn operands_that_can_not_be_copied_are_loaded_and_stored() {
    for order in ORDERS {
        for aligned in [[false, true, true], [true, false, true], [false; 3]] {
            let size = if aligned == [false; 3] { [71, 73, 137] } else { [72, 72, 136] };
            check::<f16, f16>(MatmulTile { order, aligned, ..TILE }, size);
        }
    }
}

#[test]
fn terms_are_added() {
    for (accumulate, bias) in [(true, false), (false, true), (true, true)] {
        check::<f16, f16>(MatmulTile { accumulate, bias, ..TILE }, [72, 40, 72]);
        check::<bf16, bf16>(MatmulTile { accumulate, bias, aligned: [true, true, false], ..TILE }, [72, 40, 72]);
    }
}

/// Four warps multiply more than one 64 rows, warps lie along both sides, and the widest instruction.
#[test]
fn every_number_of_stages_and_shape() {
    for order in ORDERS {
        check::<f16, f16>(MatmulTile { order, stages: 2, block_m: 128, ..TILE }, [136, 72, 72]);
        check::<f16, f16>(MatmulTile { order, stages: 4, block_n: 128, warps: 8, ..TILE }, [72, 136, 168]);
        check::<f16, f16>(
            MatmulTile { order, stages: 2, block_m: 128, block_n: 256, block_k: 64, warps: 8, ..TILE },
            [136, 256, 136],
        );
    }
    check::<f16, f16>(MatmulTile { block_m: 256, block_n: 128, block_k: 64, warps: 8, ..TILE }, [256, 128, 136]);
    check::<bf16, bf16>(MatmulTile { block_k: 128, stages: 2, ..TILE }, [64, 64, 264]);
}

/// Bands end where C does: each block is computed once whatever the number of rows and columns of blocks.
#[test]
fn bands_cover_every_block() {
    check::<f16, f16>(TILE, [64 * 33 + 1, 136, 8]);
}
