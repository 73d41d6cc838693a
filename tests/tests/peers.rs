//! Kernels that other tile languages stop at late, abort on or take wrongly, and that are right here: they build and
//! give the right elements. Their counterparts that are wrong stand in `compile_fail/`.

use quadpair::prelude::*;
use quadpair::sim::Simulator;
use quadpair_profiles::Profile;

fn simulator() -> Simulator {
    Simulator::new(&Profile::by_name("volta").expect("a shipped profile"))
}

const ROWS: Layout = blocked([64, 64], [1, 4], [2, 16], [4, 1], [1, 0]);

/// A reshape there and back has the layout it began with, whatever its history.
#[kernel(grid = [1])]
fn there_and_back(x: Ptr<f32>, out: PtrMut<f32>) {
    let i = arange(ROWS.reshape([4096]));
    let place = i.reshape([64, 64]);
    let a = load(x + place);
    let c = a.reshape([4096]).reshape([64, 64]);
    store(out + place, a + c);
}

/// A blocked layout and a slice that is the same map.
#[kernel(grid = [1])]
fn equal_maps(out: PtrMut<f32>) {
    let whole = blocked([128, 32], [1, 32], [32, 1], [4, 1], [1, 0]);
    let i = arange(blocked([128], [1], [32], [4], [0]));
    store(out + i, (i + arange(whole.slice(1))) as f32);
}

/// Bases that move along two dimensions at once.
#[kernel(grid = [1])]
fn skewed(out: PtrMut<f32>) {
    let layout = linear([8, 8], &[[1, 0]], &[[0, 1], [0, 2], [1, 4], [2, 0], [4, 1]], &[]);
    let i = arange(layout.reshape([64])).reshape([8, 8]);
    store(out + i, (i * 3) as f32);
}

/// An extent of 1 inserted into a layout that is no slice.
#[kernel(grid = [1])]
fn expanded(out: PtrMut<f32>) {
    let i = arange(blocked([128], [1], [32], [4], [0])).expand_dims(0).expand_dims(2);
    store(out + i, i as f32);
}

instances! {
    THERE_AND_BACK = ThereAndBack {};
    EQUAL_MAPS = EqualMaps {};
    SKEWED = Skewed {};
    EXPANDED = Expanded {};
}

#[test]
fn a_reshape_there_and_back_adds_to_where_it_came_from() {
    let x: Vec<f32> = (0..4096).map(|i| i as f32).collect();
    let mut out = vec![f32::NAN; 4096];
    let args = ThereAndBackArgs { x: x.as_slice(), out: out.as_mut_slice() };
    THERE_AND_BACK.launch(&simulator(), args).expect("the kernel is right");
    assert!(out.iter().enumerate().all(|(i, &sum)| sum == 2.0 * i as f32));
}

#[test]
fn layouts_that_are_one_map_are_one_layout() {
    let mut out = vec![f32::NAN; 128];
    EQUAL_MAPS.launch(&simulator(), EqualMapsArgs { out: out.as_mut_slice() }).expect("the kernel is right");
    assert!(out.iter().enumerate().all(|(i, &sum)| sum == 2.0 * i as f32));
}

#[test]
fn a_basis_may_move_along_two_dimensions() {
    let mut out = vec![f32::NAN; 64];
    SKEWED.launch(&simulator(), SkewedArgs { out: out.as_mut_slice() }).expect("the kernel is right");
    assert!(out.iter().enumerate().all(|(i, &product)| product == 3.0 * i as f32));
}

#[test]
fn any_layout_takes_an_extent_of_one() {
    let mut out = vec![f32::NAN; 128];
    EXPANDED.launch(&simulator(), ExpandedArgs { out: out.as_mut_slice() }).expect("the kernel is right");
    assert!(out.iter().enumerate().all(|(i, &index)| index == i as f32));
}
