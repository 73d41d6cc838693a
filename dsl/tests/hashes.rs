//! Products by constants in a row, whose common factor is too large for any register.

use quadpair::prelude::*;
use quadpair::sim::Simulator;
use quadpair_profiles::Profile;

const TILE: Layout = blocked([64], [2], [32], [1], [0]);
const FACTOR: i64 = 6364136223846793005;
const TERM: i64 = 1442695040888963407;

/// Four steps of a linear congruence from `seed`, from each element's index; then rows of a stride that is such a number.
#[kernel(grid = [1])]
fn hash(out: PtrMut<i64>, seed: i64, narrow: PtrMut<i32>) {
    let i = arange(TILE);
    let mut x = i as i64 + seed;
    let mut y = i + 3;
    for _ in 0..4 {
        x = x * 6364136223846793005 + 1442695040888963407;
        y = y * 1664525 + 1013904223;
    }
    store(out + i, x + (i + 7) as i64 * (seed * 6364136223846793005));
    store(narrow + i, y);
}

instances! { HASH = Hash {}; }

#[test]
fn products_wrap_around() {
    let simulator = Simulator::new(&Profile::by_name("volta").expect("a shipped profile"));
    let (mut out, mut narrow, seed) = (vec![0; 64], vec![0; 64], 12345);
    let args = HashArgs { out: out.as_mut_slice(), seed, narrow: narrow.as_mut_slice() };
    HASH.launch(&simulator, args).expect("the kernel is right");
    for i in 0..64 {
        let (mut x, mut y) = (i as i64 + seed, i as i32 + 3);
        for _ in 0..4 {
            x = x.wrapping_mul(FACTOR).wrapping_add(TERM);
            y = y.wrapping_mul(1664525).wrapping_add(1013904223);
        }
        let x = x.wrapping_add((i as i64 + 7).wrapping_mul(seed.wrapping_mul(FACTOR)));
        assert_eq!((out[i], narrow[i]), (x, y), "element {i}");
    }
}
