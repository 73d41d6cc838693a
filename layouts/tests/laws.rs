//! The laws of the algebra on random layouts, against brute force.

mod common;

use std::collections::{HashMap, HashSet};

use common::{held, layout, layout_of, memory, memory_with_gaps, pair, threads};
use proptest::prelude::*;
use quadpair_layouts::{Access, ConversionKind, Layout, Map, SharedLayout, banks, convert, typing};

/// A map of some bits to some bits.
fn map(inputs: usize, outputs: usize) -> impl Strategy<Value = Map> {
    prop::collection::vec(any::<u32>(), inputs).prop_map(move |columns| Map::new(&columns, outputs))
}

/// Wavefronts by sets of words, for one instruction of a warp.
fn wavefronts(addresses: &[Option<u32>], bytes: u32) -> u32 {
    let passes = (bytes / 4).max(1) as usize;
    let pass = |lanes: &[Option<u32>]| {
        let mut banks: HashMap<u32, HashSet<u32>> = HashMap::new();
        for address in lanes.iter().flatten() {
            for byte in *address..address + bytes {
                banks.entry(byte / 4 % 32).or_default().insert(byte / 4);
            }
        }
        banks.values().map(HashSet::len).max().unwrap_or(0) as u32
    };
    addresses.chunks(32 / passes).map(pass).sum()
}

/// Checks an access element by element: what one instruction moves lies side by side, and the wavefronts are those of the
/// addresses, in every warp; among gaps, those of the warp that takes most.
fn check_access(access: &Access, tile: &Layout, memory: &SharedLayout, bytes: u32, skipped: u32, idle: u32) {
    let vector: Vec<u32> =
        access.vector_bits.iter().take(access.vector.ilog2() as usize).map(|&bit| 1 << bit).collect();
    let all: u32 = vector.iter().sum();
    let firsts: Vec<usize> = (0..tile.registers()).filter(|&r| r as u32 & (skipped | all) == 0).collect();
    assert_eq!(access.instructions as usize, firsts.len());
    let mut most = 0;
    for warp in 0..tile.warps() {
        let mut sum = 0;
        for &first in &firsts {
            let offset = |register: usize, lane| memory.offset(tile.apply(register, lane, warp));
            let base = |lane| offset(first, lane) / access.vector as u32 * access.vector as u32;
            for lane in 0..32 {
                for i in 0..access.vector {
                    let bits = vector.iter().enumerate().filter(|(bit, _)| i >> bit & 1 == 1);
                    let register = first + bits.map(|(_, &register)| register as usize).sum::<usize>();
                    assert_eq!(offset(register, lane), base(lane) + i as u32);
                }
            }
            let active = |lane: u32| (lane & idle == 0).then(|| base(lane as usize) * bytes);
            let addresses: Vec<Option<u32>> = (0..32).map(active).collect();
            sum += wavefronts(&addresses, bytes * access.vector as u32);
        }
        assert!(memory.is_padded() || access.wavefronts == sum);
        most = most.max(sum);
    }
    assert_eq!(access.wavefronts, most);
    assert!(access.ideal <= access.wavefronts && access.conflict() >= 1);
}

fn flattened(layout: &Layout) -> Layout {
    layout.reshape([layout.shape().len()])
}

proptest! {
    #[test]
    fn composing_maps_composes_their_images((outer, inner) in (map(5, 7), map(4, 5)), x in 0_u32..16) {
        let both = outer.compose(&inner).unwrap();
        prop_assert_eq!(both.apply(x), outer.apply(inner.apply(x)));
        let product = Map::product(&inner, &outer).unwrap();
        prop_assert_eq!(product.apply(x | 9 << 4), inner.apply(x) | outer.apply(9) << 5);
    }

    #[test]
    fn rank_kernel_and_inverses_are_those_of_the_images(map in (0_usize..6).prop_flat_map(|n| map(n, 4))) {
        let images: HashSet<u32> = (0..1 << map.inputs()).map(|x| map.apply(x)).collect();
        prop_assert_eq!(images.len(), 1 << map.rank());
        prop_assert_eq!(map.is_surjective(), images.len() == 16);
        prop_assert_eq!(map.is_injective(), images.len() == 1 << map.inputs());
        for y in 0..16 {
            prop_assert_eq!(map.solve(y).map(|x| map.apply(x)), images.contains(&y).then_some(y));
        }
        let kernel = map.kernel();
        prop_assert!(kernel.is_injective() && map.compose(&kernel).unwrap().rank() == 0);
        prop_assert_eq!(kernel.inputs() + map.rank(), map.inputs());
        match map.pseudo_inverse() {
            Some(inverse) => prop_assert_eq!(map.compose(&inverse), Some(Map::identity(4))),
            None => prop_assert!(!map.is_surjective()),
        }
        if let Some(inverse) = map.inverse() {
            prop_assert_eq!(inverse.compose(&map), Some(Map::identity(4)));
        }
    }

    #[test]
    fn every_element_has_one_holder(layout in layout()) {
        prop_assert!(layout.fault().is_none());
        let (free_lanes, free_warps) = (layout.free_lanes(), layout.free_warps());
        let holders = threads(&layout).filter(|&(l, w)| l as u32 & free_lanes == 0 && w as u32 & free_warps == 0);
        let own: Vec<u32> = holders
            .flat_map(|(l, w)| (0..layout.registers()).map(move |r| (r, l, w)))
            .filter(|(r, ..)| *r as u32 & layout.free_registers() == 0)
            .map(|(r, l, w)| layout.apply(r, l, w))
            .collect();
        prop_assert_eq!(own.len(), layout.shape().len());
        prop_assert_eq!(own.into_iter().collect::<HashSet<u32>>().len(), layout.shape().len());
    }

    #[test]
    fn relabelling_there_and_back_changes_nothing(layout in layout_of(vec![4, 2, 8], 1)) {
        prop_assert!(layout.permute([2, 0, 1]).permute([1, 2, 0]).equals(&layout));
        prop_assert!(layout.permute([2, 0, 1]).reshape([64]).reshape([8, 4, 2]).permute([1, 2, 0]).equals(&layout));
        prop_assert!(layout.expand_dims(1).slice(1).equals(&layout));
        for dim in 0..3 {
            let slice = layout.slice(dim);
            prop_assert!(slice.expand_dims(dim).equals(&layout.collapse(dim)) && slice.check().is_ok());
        }
    }

    #[test]
    fn accesses_are_those_of_the_addresses(
        (tile, any) in layout().prop_flat_map(|tile| (Just(flattened(&tile)), memory(tile.shape().bits()))),
        bytes in prop::sample::select(vec![1_u32, 2, 4, 8, 16]),
    ) {
        // The second one is wide: any other seldom lets a vector be made.
        for memory in [any, SharedLayout::between(&tile, &tile, bytes * 8)] {
            let load = banks::load(&tile, &memory, bytes * 8);
            check_access(&load, &tile, &memory, bytes, zero_registers(&tile), 0);
            let (free, idle) = (tile.free_registers(), tile.free_lanes());
            check_access(&banks::store(&tile, &memory, bytes * 8), &tile, &memory, bytes, free, idle);
        }
    }

    #[test]
    fn accesses_among_gaps_are_those_of_the_addresses(
        (tile, memory) in layout().prop_flat_map(|tile| (Just(flattened(&tile)), memory_with_gaps(tile.shape().bits()))),
        bytes in prop::sample::select(vec![1_u32, 2, 4, 8, 16]),
        flat in prop::bool::ANY,
    ) {
        // A layout that is made for the tile has wide accesses, which gaps may keep.
        let pairs: Vec<(usize, usize)> = memory.gap_shifts().iter().map(|&(i, p)| (1 << i, 1 << p)).collect();
        let memory = if flat { SharedLayout::between(&tile, &tile, bytes * 8).with_padding(&pairs) } else { memory };
        let load = banks::load(&tile, &memory, bytes * 8);
        check_access(&load, &tile, &memory, bytes, zero_registers(&tile), 0);
        let (free, idle) = (tile.free_registers(), tile.free_lanes());
        check_access(&banks::store(&tile, &memory, bytes * 8), &tile, &memory, bytes, free, idle);
    }

    #[test]
    fn accesses_to_slices_are_those_of_the_addresses(
        tile in layout_of(vec![2, 4, 4], 1),
        memory in memory(7),
        start in 0_usize..4,
    ) {
        let view = memory.reshape([2, 16, 4]).slice(1, start * 4, 4);
        prop_assert!(view.fault().is_none());
        check_access(&banks::load(&tile, &view, 16), &tile, &view, 2, zero_registers(&tile), 0);
    }

    #[test]
    fn staging_has_no_conflicts_and_each_element_a_place((store, load) in pair(), bits in prop::sample::select(vec![8, 16, 32, 64])) {
        let memory = SharedLayout::between(&store, &load, bits);
        prop_assert!(memory.fault().is_none());
        let offsets: HashSet<u32> = (0..store.shape().len() as u32).map(|element| memory.offset(element)).collect();
        prop_assert_eq!(offsets.len(), store.shape().len());
        prop_assert!(offsets.iter().all(|&offset| offset < memory.size()));
        prop_assert!(banks::store(&store, &memory, bits).is_conflict_free());
        prop_assert!(banks::load(&load, &memory, bits).is_conflict_free());
    }

    #[test]
    fn staging_of_slices_has_no_conflicts(
        store in layout_of(vec![8, 16, 4], 1),
        load in layout_of(vec![2, 16, 2], 1),
        (start, bits) in (0_usize..4, prop::sample::select(vec![8, 16, 32])),
    ) {
        let memory = SharedLayout::between(&store, &load, bits);
        let view = memory.slice(0, start * 2, 2).slice(2, start / 2 * 2, 2);
        prop_assert!(view.fault().is_none());
        prop_assert!(banks::store(&store, &memory, bits).is_conflict_free());
        prop_assert!(banks::load(&load, &view, bits).is_conflict_free());
    }

    #[test]
    fn plans_are_of_the_cheapest_kind((from, to) in pair()) {
        let plan = convert::plan(&from, &to, 16).unwrap();
        let stays = threads(&from).all(|thread| {
            let own: HashSet<u32> = held(&from, thread).into_iter().collect();
            held(&to, thread).iter().all(|element| own.contains(element))
        });
        prop_assert_eq!(plan.is_trivial(), stays);
        let same = threads(&from).all(|thread| held(&from.compact(), thread) == held(&to.compact(), thread));
        prop_assert_eq!(plan.kind == ConversionKind::Nothing, same);
        let warp = |layout: &Layout, warp| -> HashSet<u32> {
            (0..32).flat_map(|lane| held(layout, (lane, warp))).collect()
        };
        let within = (0..from.warps()).all(|own| warp(&to, own).is_subset(&warp(&from, own)));
        prop_assert_eq!(plan.is_within_warps(), within);
        prop_assert_eq!(plan.cost.barriers == 0, within);
    }

    #[test]
    fn any_layout_can_be_reduced_along_any_axis(layout in layout()) {
        for axis in 0..layout.shape().rank() {
            prop_assert!(typing::reduce(&layout, axis).unwrap().equals(&layout.slice(axis)));
        }
    }

    #[test]
    fn outer_products_have_both_coordinates(parent in layout_of(vec![8, 8], 1)) {
        let (rows, columns) = (parent.slice(1).expand_dims(1), parent.slice(0).expand_dims(0));
        let joined = typing::elementwise(&rows, &columns);
        prop_assert!(joined.unwrap().equals(&parent));
        prop_assert!(typing::broadcast(&rows, &parent).is_ok() && typing::broadcast(&columns, &parent).is_ok());
    }

    #[test]
    fn any_accumulator_multiplies_its_own_operands(c in layout_of(vec![8, 4], 1)) {
        let (a, b) = (c.operand_a(4), c.operand_b(4));
        let plan = typing::dot(&a, &b, &c).unwrap();
        for (lane, warp) in threads(&c) {
            for (repetition, step) in (0..plan.repetitions).flat_map(|i| (0..plan.steps).map(move |j| (i, j))) {
                let element = c.apply(plan.c_register(repetition, 0), lane, warp);
                let left = a.apply(plan.a_register(repetition, step, 0), lane, warp);
                let right = b.apply(plan.b_register(repetition, step, 0), lane, warp);
                prop_assert_eq!((left / 4, left % 4, right % 4), (element / 4, right / 4, element % 4));
            }
        }
        prop_assert_eq!(plan.steps, 4);
        prop_assert_eq!(plan.repetitions, 1 << c.map().rank().min(c.register_span().rank()));
    }
}

fn zero_registers(tile: &Layout) -> u32 {
    (0..tile.register_bits()).filter(|&i| tile.register_basis(i) == 0).map(|i| 1 << i).sum()
}
