//! Matrix products on the simulator, and on the GPU where there is one, against float64: every order in memory, type of
//! result, unit, batch, factor and epilogue.
//!
//! Results lie in buffers that are longer than they are and start full of a number, so that a write outside shows.

mod common;

use common::{Random, profile_with};
use half::{bf16, f16};
use quadpair::cuda::Cuda;
use quadpair::prelude::*;
use quadpair::sim::Simulator;
use quadpair_kernels::matmul::{Epilogue, Matmul, MatmulConfig, Matrix, Order, Terms, Variant, plain, reference};
use quadpair_kernels::matmul_with;
use quadpair_kernels::metrics::Difference;
use quadpair_kernels::number::Real;
use quadpair_kernels::unit::{Unit, UnitChoice};
use quadpair_profiles::Profile;

const ORDERS: [[Order; 2]; 4] = [
    [Order::Rows, Order::Rows],
    [Order::Columns, Order::Rows],
    [Order::Rows, Order::Columns],
    [Order::Columns, Order::Columns],
];

/// What C holds before.
const BEFORE: f64 = 3.0;

/// Sizes and terms of one call. `gap` elements lie unused between neighbouring lines of every matrix.
#[derive(Clone, Copy, Debug)]
struct Case {
    order: [Order; 2],
    batch: [usize; 3],
    size: [usize; 3],
    gap: usize,
    alpha: f32,
    beta: f32,
    bias: bool,
}

impl Case {
    /// A product alone.
    fn of(size: [usize; 3]) -> Case {
        Case { order: ORDERS[0], batch: [1; 3], size, gap: 0, alpha: 1.0, beta: 0.0, bias: false }
    }
}

/// A matrix without memory, with gaps between its lines and its matrices.
fn form(batch: usize, [rows, columns]: [usize; 2], order: Order, gap: usize) -> Matrix<()> {
    let [lines, length] = if order == Order::Rows { [rows, columns] } else { [columns, rows] };
    let stride = length + gap;
    Matrix { data: (), batch, rows, columns, order, stride, batch_stride: lines * stride + gap }
}

fn elements(matrix: &Matrix<()>) -> usize {
    matrix.batch * matrix.batch_stride + 8
}

/// The elements of C in its buffer, and how many elements that are none have changed.
fn taken<U: Real>(c: &Matrix<()>, buffer: &[U]) -> (Vec<f64>, usize) {
    let mut outside = vec![true; buffer.len()];
    let mut out = Vec::new();
    for batch in 0..c.batch {
        for row in 0..c.rows {
            for column in 0..c.columns {
                let at = batch * c.batch_stride + row * c.stride + column;
                outside[at] = false;
                out.push(buffer[at].to_f64());
            }
        }
    }
    let changed = buffer.iter().zip(&outside).filter(|(x, outside)| **outside && x.to_f64() != BEFORE).count();
    (out, changed)
}

struct Operands<T, U> {
    a: Vec<T>,
    b: Vec<T>,
    bias: Vec<U>,
    c: Vec<U>,
}

/// Runs a case twice in the simulator, once on a GPU if there is one, and checks each result; `after` is the epilogue.
fn check<T: Real, U: Real, E: Epilogue>(profile: &str, config: MatmulConfig, case: Case, after: fn(f64) -> f64) {
    let profile = Profile::by_name(profile).unwrap();
    let matmul = Matmul::<T, U, E>::new(&profile, config).unwrap();
    let [m, n, k] = case.size;
    let a = form(case.batch[0], [m, k], case.order[0], case.gap);
    let b = form(case.batch[1], [k, n], case.order[1], case.gap);
    let c = form(case.batch[2], [m, n], Order::Rows, case.gap);
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let made: Operands<T, U> = Operands {
        a: random.numbers(1.0, elements(&a)),
        b: random.numbers(1.0, elements(&b)),
        bias: random.numbers(1.0, n),
        c: vec![U::from_f64(BEFORE); elements(&c)],
    };
    let terms = || Terms { alpha: case.alpha, beta: case.beta, bias: case.bias.then_some(&made.bias[..]) };
    let (left, right) = (a.with(&made.a[..]), b.with(&made.b[..]));
    let mut expected = reference(&left, &right, &c.with(&made.c[..]), &terms(), || ()).unwrap();
    expected.iter_mut().for_each(|x| *x = after(*x));
    let simulator = Simulator::new(&profile);
    let simulated = || {
        let mut out = made.c.clone();
        matmul
            .multiply_add(&simulator, left, right, c.with(&mut out[..]), terms())
            .unwrap_or_else(|e| panic!("{case:?}: {e}"));
        out
    };
    let out = simulated();
    judge(case, &c, &out, &expected, &simulated());
    if let Some(out) = on_gpu(&profile, &matmul, case, [a, b, c], &made) {
        judge(case, &c, &out, &expected, &out);
    }
}

fn judge<U: Real>(case: Case, c: &Matrix<()>, out: &[U], expected: &[f64], again: &[U]) {
    let (numbers, changed) = taken(c, out);
    let difference = Difference::between(numbers, expected.to_vec());
    let allowed = if size_of::<U>() == 4 {
        1e-5
    } else if U::DTYPE == DType::F16 {
        5e-4
    } else {
        4e-3
    };
    assert_eq!((difference.unusable, changed), (0, 0), "{case:?}");
    assert!(difference.relative <= allowed, "{case:?}: {}", difference.relative);
    assert!(out.iter().zip(again).all(|(x, y)| x.to_f64().to_bits() == y.to_f64().to_bits()), "{case:?} differs");
}

/// The result on a GPU; `None` where there is none.
fn on_gpu<T: Real, U: Real, E: Epilogue>(
    profile: &Profile,
    matmul: &Matmul<T, U, E>,
    case: Case,
    [a, b, c]: [Matrix<()>; 3],
    made: &Operands<T, U>,
) -> Option<Vec<U>> {
    let cuda = Cuda::open(0, profile).ok()?;
    let stream = cuda.stream();
    let (left, right) = (stream.clone_htod(&made.a).unwrap(), stream.clone_htod(&made.b).unwrap());
    let (bias, mut sum) = (stream.clone_htod(&made.bias).unwrap(), stream.clone_htod(&made.c).unwrap());
    let terms = Terms { alpha: case.alpha, beta: case.beta, bias: case.bias.then(|| bias.as_view()) };
    let (a, b) = (a.with(left.as_view()), b.with(right.as_view()));
    matmul.multiply_add(&cuda, a, b, c.with(sum.as_view_mut()), terms).unwrap();
    let out = stream.clone_dtoh(&sum).unwrap();
    cuda.synchronize().unwrap();
    Some(out)
}

fn tile(m: usize, n: usize, k: usize) -> MatmulConfig {
    MatmulConfig { tile: Some((m, n, k)), ..MatmulConfig::default() }
}

fn same(x: f64) -> f64 {
    x
}

#[test]
fn every_order_and_size() {
    let sizes = [[1, 1, 1], [17, 9, 5], [64, 64, 64], [130, 70, 33], [72, 136, 104], [65, 63, 96]];
    for order in ORDERS {
        for size in sizes {
            let case = Case { order, ..Case::of(size) };
            check::<f16, f32, plain::Fused>("volta", tile(64, 64, 32), case, same);
            check::<f16, f16, plain::Fused>("volta", tile(64, 64, 32), Case { gap: 3, ..case }, same);
        }
    }
}

#[test]
fn every_order_on_every_matrix_unit() {
    for unit in Unit::MATRIX {
        let (profile, config) = (profile_with(unit), MatmulConfig { unit: UnitChoice::Only(unit), ..tile(64, 64, 32) });
        for order in ORDERS {
            let case = Case { order, beta: 1.0, bias: true, ..Case::of([65, 70, 33]) };
            check::<f16, f32, plain::Fused>(&profile.name, config, case, same);
            check::<f16, f16, plain::Fused>(&profile.name, config, Case { gap: 3, ..case }, same);
            if unit == Unit::M16N8K16 {
                check::<bf16, f32, plain::Fused>(&profile.name, config, case, same);
            }
        }
    }
}

#[test]
fn the_shipped_tile_and_the_larger_ones() {
    for order in ORDERS {
        let case = Case { order, gap: 8, ..Case::of([136, 200, 104]) };
        check::<f16, f32, plain::Fused>("volta", MatmulConfig::default(), case, same);
        for config in [tile(256, 128, 32), tile(128, 256, 32)] {
            check::<f16, f32, plain::Fused>("volta", config, Case { order, ..Case::of([264, 72, 40]) }, same);
        }
    }
}

#[test]
fn batches_terms_and_their_types() {
    for order in ORDERS {
        let case = Case { order, batch: [3; 3], alpha: -0.5, beta: 2.0, bias: true, ..Case::of([24, 40, 48]) };
        check::<f16, f32, plain::Fused>("volta", tile(64, 64, 32), case, same);
        check::<f16, f16, plain::Fused>("volta", tile(64, 64, 32), Case { gap: 5, ..case }, same);
        // One A for all, and one B.
        check::<f16, f32, plain::Fused>("volta", tile(64, 64, 32), Case { batch: [1, 3, 3], ..case }, same);
        check::<f16, f32, plain::Fused>("volta", tile(64, 64, 32), Case { batch: [3, 1, 3], ..case }, same);
    }
}

#[test]
fn fused_multiply_adds_do_the_same_on_every_chip() {
    let fma = |tile| MatmulConfig { unit: UnitChoice::Only(Unit::Fma), tile };
    for order in ORDERS {
        let case = Case { order, batch: [2; 3], beta: 1.0, bias: true, ..Case::of([40, 33, 21]) };
        check::<f32, f32, plain::Fused>("hopper", fma(None), case, same);
        check::<bf16, bf16, plain::Fused>("ampere", fma(Some((32, 32, 32))), case, same);
        check::<f16, f32, plain::Fused>("volta", fma(None), Case { order, ..Case::of([72, 64, 64]) }, same);
    }
}

#[test]
fn nothing_to_sum_is_zero_and_nothing_to_store_is_nothing() {
    check::<f16, f32, plain::Fused>("volta", tile(64, 64, 32), Case::of([5, 6, 0]), same);
    check::<f16, f32, plain::Fused>(
        "volta",
        tile(64, 64, 32),
        Case { beta: 0.5, bias: true, ..Case::of([5, 6, 0]) },
        same,
    );
    check::<f16, f32, plain::Fused>("volta", tile(64, 64, 32), Case::of([0, 6, 4]), same);
    check::<f16, f32, plain::Fused>("volta", tile(64, 64, 32), Case { batch: [0; 3], ..Case::of([5, 6, 4]) }, same);
}

#[test]
fn what_c_was_is_not_read_where_its_factor_is_zero() {
    let volta = Profile::by_name("volta").unwrap();
    let matmul = Matmul::<f16>::new(&volta, tile(64, 64, 32)).unwrap();
    let (a, mut c) = ([f16::ONE; 16], [f32::NAN; 16]);
    let a = Matrix::contiguous(&a[..], 4, 4);
    matmul.multiply(&Simulator::new(&volta), a, a.transposed(), Matrix::contiguous(&mut c[..], 4, 4)).unwrap();
    assert_eq!(c, [4.0; 16]);
}

/// `max(x + bias, 0)`, where there is a bias.
#[device]
fn relu(x: Tile, bias: Option<Tile>) -> Tile {
    match bias {
        Some(bias) => maximum(x + bias, 0.0),
        None => maximum(x, 0.0),
    }
}

matmul_with! {
    /// Products whose negative elements become 0.
    mod relu_product = relu;
}

#[test]
fn an_epilogue_is_the_callers_function() {
    for bias in [false, true] {
        let case = Case { bias, ..Case::of([40, 72, 32]) };
        check::<f16, f16, relu_product::Fused>("volta", tile(64, 64, 32), case, |x| x.max(0.0));
    }
}

/// Fragments go from memory to the matrix unit as they are: no half is taken out of a word, and none put into one.
#[test]
fn the_main_loop_has_no_packing() {
    let volta = Profile::by_name("volta").unwrap();
    let matmul = Matmul::<f16>::new(&volta, MatmulConfig::default()).unwrap();
    for order in ORDERS {
        let program = matmul.program(&Variant { order, ..Variant::default() }).unwrap();
        assert!(!program.ptx().contains("mov.b32 {%h") && !program.ptx().contains(", {%h"), "{order:?}");
        assert!(!program.ptx().contains("ld.shared.b"), "{order:?}");
    }
}
