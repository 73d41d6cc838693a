//! The layouts of the attention kernel: what its matrix unit's accumulator is, and that its staging has no conflicts.

mod support;

use std::collections::{HashMap, HashSet};

use quadpair_layouts::{Access, Layout, Mma, Quadpairs, SharedLayout, banks, blocked, linear};
use support::wavefronts;

/// Widths of a piece of the head dim.
const PIECES: [usize; 6] = [8, 16, 32, 64, 128, 256];

fn unit(warps: usize) -> Mma {
    Mma::m8n8k4(Quadpairs::TwoByTwo, [warps, 1])
}

/// An accumulator by multiply-adds.
fn multiply_adds(rows: usize, columns: usize, warps: usize) -> Layout {
    blocked([rows, columns], [2, 4], [4, 8], [warps, 1], [1, 0])
}

/// A tile as it comes from global memory: each thread has 8 neighbours of a row.
fn rows(rows: usize, width: usize, warps: usize) -> Layout {
    let lanes = (width / 8).min(32);
    blocked([rows, width], [1, 8], [32 / lanes, lanes], [warps, 1], [1, 0])
}

/// Checks the wavefronts of an access of every warp against its addresses, and that each pass with an active lane takes
/// one.
#[track_caller]
fn check(access: &Access, tile: &Layout, memory: &SharedLayout, bytes: u32, registers: &[usize], idle: u32) {
    let width = access.vector as u32;
    for warp in 0..tile.warps() {
        // By what the first lane accesses at once; for the others it is checked that they do, too.
        let mut groups: HashMap<u32, Vec<usize>> = HashMap::new();
        for &register in registers {
            groups.entry(memory.offset(tile.apply(register, 0, warp)) / width).or_default().push(register);
        }
        let (mut sum, mut passes) = (0, 0);
        for group in groups.values() {
            let mut addresses = [None; 32];
            for lane in (0..32).filter(|lane| *lane as u32 & idle == 0) {
                let offsets: HashSet<u32> = group.iter().map(|&r| memory.offset(tile.apply(r, lane, warp))).collect();
                let first = offsets.iter().min().unwrap();
                assert!(first.is_multiple_of(width) && offsets == (*first..first + width).collect());
                addresses[lane] = Some(first * bytes);
            }
            sum += wavefronts(&addresses, bytes * width);
            let together = 32 / (bytes * width / 4).max(1) as usize;
            passes += addresses.chunks(together).filter(|lanes| lanes.iter().any(Option::is_some)).count() as u32;
        }
        assert_eq!((access.wavefronts, access.ideal), (sum, passes), "{tile}");
        assert_eq!(sum, passes, "{tile} has conflicts");
    }
}

/// Checks both ways through memory made for them; `view` is what one step of the product loads.
#[track_caller]
fn staged(store: &Layout, load: &Layout, bits: u32, views: impl Fn(&SharedLayout) -> Vec<SharedLayout>) -> [usize; 2] {
    let memory = SharedLayout::between(store, load, bits).check().unwrap();
    let stored = banks::store(store, &memory, bits);
    let own: Vec<usize> = (0..store.registers()).filter(|r| *r as u32 & store.free_registers() == 0).collect();
    check(&stored, store, &memory, bits / 8, &own, store.free_lanes());
    let views = views(&memory);
    let loaded = banks::load(load, &views[0], bits);
    let own: Vec<usize> = (0..load.registers())
        .filter(|r| (0..load.register_bits()).all(|i| r >> i & 1 == 0 || load.register_basis(i) != 0))
        .collect();
    for view in &views {
        assert_eq!(banks::load(load, view, bits), loaded);
        check(&loaded, load, view, bits / 8, &own, 0);
    }
    [stored.vector, loaded.vector]
}

/// All slices of a dimension.
fn slices(memory: &SharedLayout, dim: usize, length: usize) -> Vec<SharedLayout> {
    let extent = memory.shape().extent(dim);
    (0..extent).step_by(length).map(|start| memory.slice(dim, start, length).check().unwrap()).collect()
}

#[test]
fn staging_for_the_matrix_unit_has_no_conflicts() {
    for (warps, keys, width) in sizes() {
        let (mma, m) = (unit(warps), 16 * warps);
        let k = mma.b([8, keys]).permute([1, 0]);
        let by_depth = |memory: &SharedLayout| slices(memory, 1, 8);
        let by_key = |memory: &SharedLayout| slices(memory, 0, 8);
        assert_eq!(staged(&rows(keys, width, warps), &k, 16, by_depth), [8, 8]);
        assert_eq!(staged(&rows(m, width, warps), &mma.a([m, 8]), 16, by_depth), [8, 8]);
        // Fragments of V and P leave a thread four neighbours at least: 8 bytes.
        let values = staged(&rows(keys, width, warps), &mma.b_row([8, width]), 16, by_key);
        let probabilities = staged(&mma.accumulator([m, keys]), &mma.a([m, 8]), 16, by_depth);
        assert!([values, probabilities].as_flattened().iter().all(|&vector| vector >= 4));
    }
}

#[test]
fn staging_for_multiply_adds_has_no_conflicts() {
    for (warps, keys, width) in sizes() {
        let m = 8 * warps;
        let (scores, output) = (multiply_adds(m, keys, warps), multiply_adds(m, width, warps));
        for bits in [16, 32] {
            let by_depth = |memory: &SharedLayout| slices(memory, 1, 4);
            let by_key = |memory: &SharedLayout| slices(memory, 0, 2);
            staged(&rows(keys, width, warps), &scores.operand_b(4).permute([1, 0]), bits, by_depth);
            staged(&rows(m, width, warps), &scores.operand_a(4), bits, by_depth);
            staged(&rows(keys, width, warps), &output.operand_b(2), bits, by_key);
            staged(&scores, &scores.operand_a(2), bits, |memory| slices(memory, 1, 2));
        }
    }
}

/// Warps, keys of a tile, width of a piece.
fn sizes() -> impl Iterator<Item = (usize, usize, usize)> {
    [(4, 32), (4, 64), (8, 32), (2, 128)].into_iter().flat_map(|(warps, keys)| PIECES.map(|d| (warps, keys, d)))
}

/// With m = 16 mb + mi and n = 16 nb + ni, an accumulator `[M, N]` is `[mb, mi3, mi2..0, nb, ni3, ni2, ni1..0]` in the same
/// order. There each basis moves along one dimension.
#[test]
fn the_accumulator_is_the_fragment_and_repetitions_of_it() {
    for (m, n, warps_m, warps_n) in [(16, 16, 1, 1), (64, 32, 4, 1), (128, 64, 4, 2), (64, 128, 1, 4), (32, 32, 2, 2)] {
        let shape = [m / 16, 2, 8, n / 16, 2, 2, 4];
        let along = |dim: usize, by: usize| std::array::from_fn(|i| if i == dim { by } else { 0 });
        let [mb, mi3, mi, nb, ni3, ni2, ni] = [0, 1, 2, 3, 4, 5, 6];
        let powers = |from: usize, to: usize| (from.ilog2()..to.ilog2()).map(|bit| 1 << bit);
        let (own_m, own_n) = (m / 16 / warps_m, n / 16 / warps_n);
        let mut registers: Vec<[usize; 7]> = vec![along(ni, 1), along(mi, 2), along(ni2, 1)];
        registers.extend(powers(1, own_n).map(|by| along(nb, by)));
        registers.extend(powers(1, own_m).map(|by| along(mb, by)));
        let lanes = [along(mi, 1), along(ni, 2), along(mi3, 1), along(ni3, 1), along(mi, 4)];
        let rows = powers(own_m, m / 16).map(|by| along(mb, by));
        let warps: Vec<[usize; 7]> = rows.chain(powers(own_n, n / 16).map(|by| along(nb, by))).collect();
        let expected = linear(shape, &registers, &lanes, &warps).check().unwrap();
        let accumulator = Mma::m8n8k4(Quadpairs::TwoByTwo, [warps_m, warps_n]).accumulator([m, n]);
        assert!(accumulator.reshape(shape).equals(&expected), "{} is not {expected}", accumulator.reshape(shape));
    }
}

/// One warp owns 16 rows, so a row's statistics never cross a warp.
#[test]
fn no_row_crosses_a_warp() {
    for keys in [16, 32, 64, 128] {
        let scores = unit(4).accumulator([64, keys]);
        for place in 0..scores.registers() * scores.threads() {
            let (register, thread) = (place % scores.registers(), place / scores.registers());
            let element = scores.apply(register, thread % 32, thread / 32);
            assert_eq!(scores.shape().coordinate(element, 0) / 16, thread / 32);
        }
    }
}
