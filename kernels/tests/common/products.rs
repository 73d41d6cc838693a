//! Products in any tile, on the simulator, against sums in float64.

use quadpair::sim::{Counters, Simulator};
use quadpair::{Instance, Target};
use quadpair_kernels::matmul::{Arguments, Epilogue, MatmulTile, Order, plain};
use quadpair_kernels::number::Real;

/// Each way that A and B can lie in memory.
pub const ORDERS: [[Order; 2]; 4] = [
    [Order::Rows, Order::Rows],
    [Order::Columns, Order::Rows],
    [Order::Rows, Order::Columns],
    [Order::Columns, Order::Columns],
];

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

/// Runs a product of this size on a chip, with all terms that the tile has, and checks each element.
pub fn check<T: Real, U: Real>(chip: Target, t: MatmulTile, [m, n, k]: [usize; 3]) -> Counters {
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
    let instance = Instance::new("product", plain::Fused::kernel::<T, U>(t));
    let args = plain::Fused::args::<Simulator, T, U>(arguments);
    let report = instance.launch(&Simulator::new(chip), args).unwrap_or_else(|e| panic!("{t:?} {m} {n} {k}: {e}"));
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
    report.counters.unwrap()
}
