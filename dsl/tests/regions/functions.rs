//! Reductions, scans and maps.

use proptest::prelude::*;
use quadpair::Instance;
use quadpair::prelude::*;

use crate::tiles::{Case, case, number, read, simulator, write};

/// The map that does first a x + b, then c x + d. Order matters.
fn compose((a, b): (i32, i32), (c, d): (i32, i32)) -> (i32, i32) {
    (c.wrapping_mul(a), c.wrapping_mul(b).wrapping_add(d))
}

#[kernel(grid = [1])]
fn affine(
    a: Ptr<i32>,
    b: Ptr<i32>,
    reduced: PtrMut<i32>,
    scanned: PtrMut<i32>,
    reversed: PtrMut<i32>,
    rows: i32,
    len: i32,
    #[comptime] case: Case,
) {
    let (x, y) = (read(a, case.layout), read(b, case.layout));
    let (c, d) = reduce((x, y), case.axis, |(a, b), (c, d)| (c * a, c * b + d));
    write(reduced, c);
    write(reduced + rows, d);
    let (c, d) = associative_scan((x, y), case.axis, |(a, b), (c, d)| (c * a, c * b + d));
    write(scanned, c);
    write(scanned + len, d);
    let [c, d] = associative_scan_reverse([x, y], case.axis, composed);
    write(reversed, c);
    write(reversed + len, d);
}

#[device]
fn composed(left: [Tile; 2], right: [Tile; 2]) -> [Tile; 2] {
    [right[0] * left[0], right[0] * left[1] + right[1]]
}

fn split(pairs: &[(i32, i32)]) -> Vec<i32> {
    pairs.iter().map(|pair| pair.0).chain(pairs.iter().map(|pair| pair.1)).collect()
}

fn affine_is_right(case: Case) -> Result<(), TestCaseError> {
    let len = case.len();
    let rows = len / case.layout.shape().extent(case.axis);
    let pairs: Vec<(i32, i32)> = (0..len).map(|i| (number(i) as i32 | 1, number(i + len) as i32)).collect();
    let (a, b): (Vec<i32>, Vec<i32>) = pairs.iter().copied().unzip();
    let (mut reduced, mut scanned, mut reversed) = (vec![0; 2 * rows], vec![0; 2 * len], vec![0; 2 * len]);
    let args = AffineArgs {
        a: &a[..],
        b: &b[..],
        reduced: &mut reduced[..],
        scanned: &mut scanned[..],
        reversed: &mut reversed[..],
        rows: rows as i32,
        len: len as i32,
    };
    Instance::new("affine", Affine { case })
        .launch(simulator(), args)
        .map_err(|e| TestCaseError::fail(e.to_string()))?;
    prop_assert_eq!(reduced, split(&case.reduced(&pairs, compose)), "reduced");
    prop_assert_eq!(scanned, split(&case.scanned(&pairs, false, compose)), "scanned");
    prop_assert_eq!(reversed, split(&case.scanned(&pairs, true, compose)), "from the end");
    Ok(())
}

/// Every element type: the first element that is not zero, which depends on the order, and named functions.
#[kernel(grid = [1])]
fn of_type<T: Element>(
    x: Ptr<T>,
    first: PtrMut<T>,
    after: PtrMut<T>,
    best: PtrMut<T>,
    place: PtrMut<i32>,
    #[comptime] case: Case,
) {
    let x = read(x, case.layout);
    write(first, x.reduce(case.axis, |a, b| select(a != 0, a, b)));
    write(after, x.associative_scan(case.axis, |a, b| select(a != 0, a, b)));
    let (value, index) = x.max_and_index(case.axis);
    write(best, value);
    write(place, index);
    write(place + case.layout.shape().len(), x.argmin(case.axis));
}

trait Small: Element + PartialOrd + std::fmt::Debug {
    fn small(value: u32) -> Self;
}

macro_rules! small {
    ($($ty:ty: $from:expr;)*) => {$(
        impl Small for $ty {
            fn small(value: u32) -> Self {
                $from(value)
            }
        }
    )*};
}

small! {
    i8: |v| v as i8 - 3;
    u8: |v| v as u8;
    i16: |v| v as i16 - 3;
    u16: |v| v as u16;
    i32: |v| v as i32 - 3;
    u32: |v| v;
    i64: |v| (v as i64 - 3) << 33;
    u64: |v| (v as u64) << 33;
    f16: |v| f16::from_f32(v as f32 - 3.0);
    bf16: |v| bf16::from_f32(v as f32 - 3.0);
    f32: |v| v as f32 - 3.0;
    f64: |v| v as f64 - 3.0;
}

fn of_type_is_right<T: Small>(case: Case) -> Result<(), TestCaseError> {
    let (len, zero) = (case.len(), T::default());
    // Many zeros and many ties.
    let x: Vec<T> =
        (0..len).map(|i| if number(i).is_multiple_of(3) { T::small(number(i) / 3 % 7) } else { zero }).collect();
    let rows = len / case.layout.shape().extent(case.axis);
    let (mut first, mut after, mut best) = (vec![zero; rows], vec![zero; len], vec![zero; rows]);
    let mut place = vec![-1; len + rows];
    let args = OfTypeArgs {
        x: &x[..],
        first: &mut first[..],
        after: &mut after[..],
        best: &mut best[..],
        place: &mut place[..],
    };
    let kernel = OfType::<T> { case, types: std::marker::PhantomData };
    Instance::new("of_type", kernel).launch(simulator(), args).map_err(|e| TestCaseError::fail(e.to_string()))?;
    let not_zero = |a: T, b: T| if a != zero { a } else { b };
    prop_assert_eq!(first, case.reduced(&x, not_zero));
    prop_assert_eq!(after, case.scanned(&x, false, not_zero));
    let by = |better: fn(&T, &T) -> bool| -> Vec<usize> {
        let best =
            |row: Vec<usize>| (1..row.len()).fold(0, |at, i| if better(&x[row[i]], &x[row[at]]) { i } else { at });
        case.rows().into_iter().map(best).collect()
    };
    let largest = by(|a, b| a > b);
    let values: Vec<T> = case.rows().iter().zip(&largest).map(|(row, &i)| x[row[i]]).collect();
    prop_assert_eq!(best, values);
    let indices = |places: &[i32]| places.iter().map(|&i| i as usize).collect::<Vec<_>>();
    prop_assert_eq!(indices(&place[..rows]), largest);
    prop_assert_eq!(indices(&place[len..]), by(|a, b| a < b));
    Ok(())
}

#[kernel(grid = [1])]
fn named(
    x: Ptr<i32>,
    bits: PtrMut<i32>,
    sums: PtrMut<i32>,
    truths: PtrMut<bool>,
    rows: i32,
    len: i32,
    #[comptime] case: Case,
) {
    let (x, axis) = (read(x, case.layout), case.axis);
    write(bits, x.reduce_and(axis));
    write(bits + rows, x.reduce_or(axis));
    write(bits + 2 * rows, x.reduce_xor(axis));
    write(bits + 3 * rows, x.reduce_sum(axis));
    write(bits + 4 * rows, x.reduce_max(axis));
    write(bits + 5 * rows, x.reduce_min(axis));
    write(sums, x.cumsum(axis));
    write(sums + len, x.cumsum_reverse(axis));
    write(sums + 2 * len, x.cumprod(axis));
    write(sums + 3 * len, x.cumprod_reverse(axis));
    let positive = x > 0;
    write(truths, positive.reduce_and(axis));
    write(truths + rows, positive.reduce_or(axis));
    write(truths + 2 * rows, positive.reduce(axis, |a, b| a ^ b));
}

fn named_are_right(case: Case) -> Result<(), TestCaseError> {
    let len = case.len();
    let rows = len / case.layout.shape().extent(case.axis);
    let x: Vec<i32> = (0..len).map(|i| (number(i) as i32) << 3 | 5).collect();
    let (mut bits, mut sums, mut truths) = (vec![0; 6 * rows], vec![0; 4 * len], vec![false; 3 * rows]);
    let args = NamedArgs {
        x: &x[..],
        bits: &mut bits[..],
        sums: &mut sums[..],
        truths: &mut truths[..],
        rows: rows as i32,
        len: len as i32,
    };
    Instance::new("named", Named { case }).launch(simulator(), args).map_err(|e| TestCaseError::fail(e.to_string()))?;
    type Function = fn(i32, i32) -> i32;
    let functions: [Function; 6] = [|a, b| a & b, |a, b| a | b, |a, b| a ^ b, i32::wrapping_add, i32::max, i32::min];
    prop_assert_eq!(bits, functions.iter().flat_map(|f| case.reduced(&x, f)).collect::<Vec<i32>>());
    let scans: [(bool, Function); 4] =
        [(false, i32::wrapping_add), (true, i32::wrapping_add), (false, i32::wrapping_mul), (true, i32::wrapping_mul)];
    prop_assert_eq!(sums, scans.iter().flat_map(|&(back, f)| case.scanned(&x, back, f)).collect::<Vec<i32>>());
    let positive: Vec<bool> = x.iter().map(|&x| x > 0).collect();
    let functions: [fn(bool, bool) -> bool; 3] = [|a, b| a & b, |a, b| a | b, |a, b| a ^ b];
    prop_assert_eq!(truths, functions.iter().flat_map(|f| case.reduced(&positive, f)).collect::<Vec<bool>>());
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn maps_compose_in_order(case in case()) {
        affine_is_right(case)?;
    }

    #[test]
    fn named_functions_of_any_layout(case in case()) {
        named_are_right(case)?;
    }

    #[test]
    fn all_element_types(case in case()) {
        of_type_is_right::<i32>(case)?;
        match number(case.len() + case.axis) % 11 {
            0 => of_type_is_right::<i8>(case)?,
            1 => of_type_is_right::<u8>(case)?,
            2 => of_type_is_right::<i16>(case)?,
            3 => of_type_is_right::<u16>(case)?,
            4 => of_type_is_right::<u32>(case)?,
            5 => of_type_is_right::<i64>(case)?,
            6 => of_type_is_right::<u64>(case)?,
            7 => of_type_is_right::<f16>(case)?,
            8 => of_type_is_right::<bf16>(case)?,
            9 => of_type_is_right::<f32>(case)?,
            _ => of_type_is_right::<f64>(case)?,
        }
    }
}

const ROWS: Layout = blocked([4, 16], [1, 2], [8, 4], [1, 1], [1, 0]);

#[kernel(grid = [1])]
fn with_nan(x: Ptr<f32>, values: PtrMut<f32>, places: PtrMut<i32>) {
    let x = read(x, ROWS);
    let ((max, at_max), (min, at_min)) = (x.max_and_index(1), x.min_and_index(1));
    write(values, max);
    write(values + 4, min);
    write(places, at_max);
    write(places + 4, at_min);
}

instances! { WITH_NAN = WithNan {}; }

/// A number wins over NaN wherever the NaN stands, and the first of several wins.
#[test]
fn extrema_lie_at_numbers() {
    let mut x = vec![1.0_f32; 64];
    (x[0], x[5], x[9], x[11]) = (f32::NAN, 3.0, 3.0, -2.0);
    (x[16], x[31], x[20]) = (f32::INFINITY, f32::NAN, f32::NEG_INFINITY);
    x[32..48].fill(f32::NAN);
    let (mut values, mut places) = ([0.0; 8], [0; 8]);
    WITH_NAN.launch(simulator(), WithNanArgs { x: &x[..], values: &mut values[..], places: &mut places[..] }).unwrap();
    assert_eq!(places, [5, 0, 0, 0, 11, 4, 0, 0]);
    let infinity = f32::INFINITY;
    assert_eq!(values, [3.0, infinity, -infinity, 1.0, -2.0, -infinity, infinity, 1.0]);
}
