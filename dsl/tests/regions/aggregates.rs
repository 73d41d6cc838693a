//! Structs of tiles: passed, returned, taken apart, carried by loops and merged by branches.

use proptest::prelude::*;
use quadpair::Instance;
use quadpair::prelude::*;

use crate::tiles::{Case, case, number, read, simulator, write};

/// Count, mean and sum of squared distances from the mean.
#[derive(Clone, Copy, Aggregate)]
struct Moments {
    n: Tile,
    mean: Tile,
    m2: Tile,
}

impl Moments {
    #[device]
    fn of(x: Tile) -> Moments {
        Moments { n: x * 0.0 + 1.0, mean: x, m2: x * 0.0 }
    }

    /// Those of both samples together.
    #[device]
    fn merge(a: Moments, b: Moments) -> Moments {
        let (n, delta) = (a.n + b.n, b.mean - a.mean);
        let mean = fma(delta, b.n / n, a.mean);
        Moments { n, mean, m2: a.m2 + b.m2 + delta * delta * a.n * b.n / n }
    }
}

#[kernel(grid = [1])]
fn sample_moments(x: Ptr<f32>, mean: PtrMut<f32>, variance: PtrMut<f32>, #[comptime] case: Case) {
    let Moments { n, mean: average, m2 } = Moments::of(read(x, case.layout)).reduce(case.axis, Moments::merge);
    write(mean, average);
    write(variance, m2 / n);
}

fn moments_are_right(case: Case) -> Result<(), TestCaseError> {
    let rows = case.rows();
    let x: Vec<f32> = (0..case.len()).map(|i| (number(i) % 1000) as f32 / 100.0 + 50.0).collect();
    let (mut mean, mut variance) = (vec![0.0; rows.len()], vec![0.0; rows.len()]);
    let args = SampleMomentsArgs { x: &x[..], mean: &mut mean[..], variance: &mut variance[..] };
    let instance = Instance::new("moments", SampleMoments { case });
    instance.launch(simulator(), args).map_err(|e| TestCaseError::fail(e.to_string()))?;
    for (i, row) in rows.iter().enumerate() {
        let n = row.len() as f64;
        let wanted = row.iter().map(|&i| f64::from(x[i])).sum::<f64>() / n;
        let square = row.iter().map(|&i| (f64::from(x[i]) - wanted).powi(2)).sum::<f64>() / n;
        prop_assert!((f64::from(mean[i]) - wanted).abs() < 1e-4, "{} {wanted}", mean[i]);
        prop_assert!((f64::from(variance[i]) - square).abs() < 1e-3, "{} {square}", variance[i]);
    }
    Ok(())
}

#[kernel(grid = [1])]
fn mapped(x: Ptr<f32>, y: Ptr<f32>, sums: PtrMut<f32>, larger: PtrMut<bool>, scale: f32, #[comptime] case: Case) {
    let (x, row) = (read(x, case.layout), read(y, case.layout.slice(case.axis)));
    let row = row.expand_dims(case.axis);
    let (sum, greater) = map_elementwise((x, row), |x, y| (x * scale + y, x > y));
    write(sums, sum);
    write(larger, greater);
    write(sums + case.layout.shape().len(), map_elementwise(x, twice));
}

#[device]
fn twice(x: Tile) -> Tile {
    x * 2.0
}

fn mapped_is_right(case: Case) -> Result<(), TestCaseError> {
    if case.layout.shape().rank() == 1 {
        return Ok(());
    }
    let rows = case.rows();
    let x: Vec<f32> = (0..case.len()).map(|i| (number(i) % 100) as f32).collect();
    let y: Vec<f32> = (0..rows.len()).map(|i| (number(i + 7) % 100) as f32).collect();
    let (mut sums, mut larger) = (vec![0.0; 2 * x.len()], vec![false; x.len()]);
    let args = MappedArgs { x: &x[..], y: &y[..], sums: &mut sums[..], larger: &mut larger[..], scale: 3.0 };
    Instance::new("mapped", Mapped { case })
        .launch(simulator(), args)
        .map_err(|e| TestCaseError::fail(e.to_string()))?;
    for (row, &y) in rows.iter().zip(&y) {
        for &i in row {
            let found = (sums[i], sums[x.len() + i], larger[i]);
            prop_assert_eq!(found, (x[i] * 3.0 + y, x[i] * 2.0, x[i] > y));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn moments_merge_in_any_layout(case in case()) {
        moments_are_right(case)?;
    }

    #[test]
    fn maps_take_several_and_give_several(case in case()) {
        mapped_is_right(case)?;
    }
}

/// What an online softmax knows of each row.
#[derive(Clone, Copy, Aggregate)]
struct Softmax {
    max: Tile,
    sum: Tile,
}

impl Softmax {
    #[device]
    fn update(state: Softmax, x: Tile) -> Softmax {
        let max = maximum(state.max, x.reduce_max(1));
        let weights = exp2(x - max.expand_dims(1));
        Softmax { max, sum: state.sum * exp2(state.max - max) + weights.reduce_sum(1) }
    }
}

/// A struct of everything that can be carried.
#[derive(Clone, Copy, Aggregate)]
struct State<const N: usize> {
    softmax: Softmax,
    counts: [Tile; N],
    pair: (Tile, Tile),
    bias: Option<Tile>,
    buffer: Shared,
    block: usize,
}

const BLOCK: usize = 32;
const ROWS: usize = 8;

#[kernel(grid = [1])]
fn carried(x: Ptr<f32>, out: PtrMut<f32>, counts: PtrMut<i32>, n: i32, #[comptime] t: Layout) {
    let rows = arange(t.slice(1));
    let start = full::<f32>(t.slice(1), f32::NEG_INFINITY);
    let zero = full::<i32>(t.slice(1), 0);
    let ring = shared::<f32>(row_major([2, ROWS, BLOCK]));
    let softmax = Softmax { max: start, sum: zeros::<f32>(t.slice(1)) };
    let mut state = State::<2> {
        softmax,
        counts: [zero, zero],
        pair: (scalar::<i32>(0), rows),
        bias: Some(start),
        buffer: ring.index(scalar::<i32>(0)),
        block: BLOCK,
    };
    for i in 0..n {
        #[comptime]
        let block = state.block;
        let columns = arange(t.slice(0)) + i * block;
        let place = (rows * n * BLOCK).expand_dims(1) + columns.expand_dims(0);
        state.buffer.store(load(x + place));
        barrier();
        state = step(state, ring, i, t);
    }
    let n = state.pair.0;
    if n > 3 {
        state = State { softmax: Softmax { max: state.softmax.max + 1.0, ..state.softmax }, ..state };
    } else {
        state.counts[1] = state.counts[1] - 7;
    }
    let last = if n == 2 { state.softmax } else { Softmax { sum: state.softmax.sum * 2.0, ..state.softmax } };
    store(out + rows, last.max);
    store(out + rows + ROWS, last.sum);
    store(counts + rows, state.counts[0]);
    store(counts + rows + ROWS, state.counts[1]);
    store(counts + rows + 2 * ROWS, state.pair.1);
}

/// Takes the block that is in the buffer, and moves to the other buffer.
#[device]
fn step(state: State<2>, ring: Shared, i: Tile, #[comptime] t: Layout) -> State<2> {
    let x = state.buffer.load(t);
    let positive = map_elementwise(x, |x| (x > 0.0) as i32).reduce_sum(1);
    let [all, odd] = state.counts;
    let odd = select(i % 2 == 1, odd + positive, odd);
    State {
        softmax: Softmax::update(state.softmax, x),
        counts: [all + positive, odd],
        pair: (state.pair.0 + 1, state.pair.1 + i),
        buffer: ring.index((i + 1) % 2),
        ..state
    }
}

fn carried_is_right(n: usize) {
    let x: Vec<f32> = (0..ROWS * BLOCK * n).map(|i| (number(i) % 4096) as f32 / 256.0 - 8.0).collect();
    let (mut out, mut counts) = (vec![0.0; 2 * ROWS], vec![0; 3 * ROWS]);
    let args = CarriedArgs { x: &x[..], out: &mut out[..], counts: &mut counts[..], n: n as i32 };
    CARRIED.launch(simulator(), args).unwrap();
    for (row, own) in x.chunks(BLOCK * n).enumerate() {
        let max = own.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = own.iter().map(|&x| f64::from(x - max).exp2()).sum();
        let sum = if n == 2 { sum } else { 2.0 * sum };
        assert_eq!(out[row], if n > 3 { max + 1.0 } else { max }, "{n}");
        assert!((f64::from(out[ROWS + row]) - sum).abs() < 1e-5 * sum, "{n}");
        let positive = |block: &[f32]| block.iter().filter(|&&x| x > 0.0).count() as i32;
        let odd: i32 = own.chunks(BLOCK).skip(1).step_by(2).map(positive).sum();
        let odd = if n > 3 { odd } else { odd - 7 };
        let found = [counts[row], counts[ROWS + row], counts[2 * ROWS + row]];
        assert_eq!(found, [positive(own), odd, (row + (0..n).sum::<usize>()) as i32], "{n}");
    }
}

#[test]
fn loops_carry_and_branches_merge_whole_structs() {
    for n in [1, 2, 3, 4, 5] {
        carried_is_right(n);
    }
}

instances! {
    /// The check of a whole struct that is carried runs in the compiler too.
    CARRIED = Carried { t: blocked([ROWS, BLOCK], [1, 2], [4, 8], [2, 1], [1, 0]) };
}
