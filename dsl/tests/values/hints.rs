//! Promises: what follows from them, and what becomes of those that don't hold.

use quadpair::Instance;
use quadpair::prelude::*;
use quadpair::sim::Simulator;

use crate::harness::VOLTA;

const ROWS: Layout = blocked([4, 128], [1, 4], [1, 32], [4, 1], [1, 0]);

#[kernel(grid = [1])]
fn crowded(out: PtrMut<f32>) {
    blocks_at_once(2);
    let at = arange(blocked([128], [1], [32], [4], [0]));
    store(out + at, at as f32);
}

#[test]
fn blocks_ask_for_room_beside_each_other() {
    let instance = Instance::new("crowded", Crowded {});
    assert!(instance.program(VOLTA).expect("it is right").ptx().contains(".maxntid 128, 1, 1\n.minnctapersm 2\n"));
    let mut out = vec![f32::NAN; 128];
    instance.launch(&Simulator::new(VOLTA), CrowdedArgs { out: out.as_mut_slice() }).expect("it is right");
    assert!(out.iter().enumerate().all(|(i, out)| *out == i as f32));
}

/// What is promised of the stride of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Said {
    Nothing,
    Assumed,
    Both,
    Hinted,
    InABranch,
}

#[kernel(grid = [1])]
fn rows_plus_one(x: Ptr<f32>, out: PtrMut<f32>, stride: i32, rows: i32, #[comptime] said: Said) {
    let x = multiple_of(x, 4);
    let out = multiple_of(out, 4);
    let mut step = stride;
    match said {
        Said::Nothing => {}
        Said::Assumed => assume(stride % 4 == 0),
        Said::Both => assume((rows > 0) & (stride % 4 == 0)),
        Said::Hinted => step = multiple_of(stride, 4),
        Said::InABranch => {
            // What follows from the promise is known of the same numbers before and behind the branch, too.
            let row = arange(ROWS.slice(1)).expand_dims(1) * stride;
            let at = out + (row + arange(ROWS.slice(0)).expand_dims(0));
            if rows > 100 {
                assume(stride % 4 == 0);
                store(at, zeros::<f32>(ROWS));
            }
        }
    }
    let at = arange(ROWS.slice(1)).expand_dims(1) * step + arange(ROWS.slice(0)).expand_dims(0);
    store(out + at, load(x + at) + 1.0);
}

fn run_rows(said: Said, stride: i32) -> Result<(String, Vec<f32>), String> {
    let x: Vec<f32> = (0..4 * stride).map(|i| i as f32).collect();
    let mut out = vec![0.0; x.len()];
    let instance = Instance::new("rows_plus_one", RowsPlusOne { said });
    let args = RowsPlusOneArgs { x: &x[..], out: &mut out[..], stride, rows: 4 };
    instance.launch(&Simulator::new(VOLTA), args).map_err(|error| error.to_string())?;
    Ok((instance.program(VOLTA).expect("a kernel that is right").ptx().to_owned(), out))
}

#[test]
fn a_stride_known_to_be_a_multiple_makes_accesses_wide() {
    for (said, wide) in [
        (Said::Nothing, false),
        (Said::Assumed, true),
        (Said::Both, true),
        (Said::Hinted, true),
        (Said::InABranch, false),
    ] {
        let (ptx, out) = run_rows(said, 132).expect("promises that hold");
        assert_eq!(ptx.contains("ld.global.v4.f32"), wide, "{said:?}: {ptx}");
        assert!((0..4 * 132).all(|i| out[i] == if i % 132 < 128 { i as f32 + 1.0 } else { 0.0 }));
    }
}

#[test]
fn a_broken_promise_is_an_error_at_its_line() {
    for said in [Said::Assumed, Said::Both, Said::Hinted] {
        let error = run_rows(said, 130).expect_err("a promise that is broken");
        assert!(error.contains("values/hints.rs:") && error.contains("does not hold"), "{error}");
        assert!(error.contains("is a multiple of 4") && error.contains("was given 130"), "{error}");
    }
    assert!(run_rows(Said::Nothing, 130).is_ok() && run_rows(Said::InABranch, 130).is_ok());
}

/// Gathers rows of four elements by their index: `index[i]` is where element i comes from.
#[kernel(grid = [1])]
fn gathered(index: Ptr<i32>, x: Ptr<f32>, out: PtrMut<f32>, count: Ptr<i32>, #[comptime] promise: bool) {
    let own = blocked([512], [4], [32], [4], [0]);
    let at = arange(own);
    let mut from = load(index + at);
    let mut mask = from < load(count + at);
    if promise {
        from = multiple_of(max_contiguous(from, 0, 4), 4);
        mask = max_constancy(mask, 0, 4);
    }
    store(out + at, load_masked(multiple_of(x, 4) + from, mask, 0.0));
}

fn gather(promise: bool, index: &[i32], count: &[i32]) -> Result<(String, Vec<f32>), String> {
    let x: Vec<f32> = (0..512).map(|i| i as f32).collect();
    let mut out = vec![0.0; 512];
    let instance = Instance::new("gathered", Gathered { promise });
    let args = GatheredArgs { index, x: &x[..], out: &mut out[..], count };
    instance.launch(&Simulator::new(VOLTA), args).map_err(|error| error.to_string())?;
    Ok((instance.program(VOLTA).expect("a kernel that is right").ptx().to_owned(), out))
}

#[test]
fn runs_are_accessed_at_once_and_checked() {
    let index: Vec<i32> = (0..512).map(|i| (i / 4 * 37 % 128) * 4 + i % 4).collect();
    let count = [400; 512];
    for promise in [false, true] {
        let (ptx, out) = gather(promise, &index, &count).expect("promises that hold");
        let loads = ptx.matches("ld.global.v4.f32").count() + ptx.matches("ld.global.f32").count();
        assert_eq!(loads, if promise { 1 } else { 4 }, "{ptx}");
        assert!(index.iter().zip(out).all(|(&i, out)| out == if i < 400 { i as f32 } else { 0.0 }));
    }
    let mut falling = index.clone();
    falling.swap(9, 10);
    let error = gather(true, &falling, &count).expect_err("a run that does not rise");
    assert!(error.contains("values/hints.rs:") && error.contains("does not hold"), "{error}");
    assert!(gather(false, &falling, &count).is_ok());
    let mut uneven = count;
    uneven[6] = -1;
    let error = gather(true, &index, &uneven).expect_err("a mask that changes inside a run");
    assert!(error.contains("does not hold") && error.contains("was given 0 and 1"), "{error}");
}

/// Anything else that is assumed is checked, and computed by nobody else.
#[kernel(grid = [1])]
fn positive(x: Ptr<f32>, out: PtrMut<f32>) {
    let at = arange(blocked([128], [1], [32], [4], [0]));
    let own = load(x + at);
    assume(own > 0.0);
    store(out + at, sqrt_rn(own));
}

#[test]
fn an_assumption_is_checked_in_every_element() {
    let (mut x, mut out) = (vec![4.0; 128], vec![0.0; 128]);
    let run = |x: &[f32], out: &mut [f32]| {
        Instance::new("positive", Positive {}).launch(&Simulator::new(VOLTA), PositiveArgs { x, out })
    };
    assert!(run(&x, &mut out).is_ok() && out == [2.0; 128]);
    x[77] = -1.0;
    let error = run(&x, &mut out).expect_err("an element that isn't positive").to_string();
    assert!(error.contains("thread 77") && error.contains("does not hold"), "{error}");
}
