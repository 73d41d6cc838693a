//! The laws of labelled maps on random maps, against brute force over every input.

mod common;
mod maps;

use std::collections::HashSet;

use maps::*;
use proptest::prelude::*;
use quadpair_layouts::Dim::{Axis, Block, Lane, Offset, Register, Warp};
use quadpair_layouts::{ColumnAction, Dim, LinearMap, Space};
use quadpair_layouts::{banks, blocked, convert};

/// Of each property: more than 25 000 maps and pairs of maps in all.
const CASES: u32 = 1000;

/// The outputs by brute force: the XOR of the bases, coordinate by coordinate.
fn by_hand(map: &LinearMap, input: u32) -> Vec<u32> {
    let moved = |output: Dim| {
        let bits = map.ins().dims().iter().flat_map(|&dim| (0..map.ins().bits_of(dim)).map(move |bit| (dim, bit)));
        let set = bits.filter(|&(dim, bit)| map.ins().coordinate(input, dim) >> bit & 1 == 1);
        set.fold(0, |sum, (dim, bit)| sum ^ map.basis(dim, bit, output))
    };
    map.outs().dims().iter().map(|&output| moved(output)).collect()
}

/// The dimensions of a space with their numbers of bits.
fn labelled(space: &Space) -> Vec<(Dim, usize)> {
    space.dims().iter().map(|&dim| (dim, space.bits_of(dim))).collect()
}

fn coordinates(space: &Space, index: u32) -> Vec<(Dim, u32)> {
    space.dims().iter().map(|&dim| (dim, space.coordinate(index, dim))).collect()
}

/// Low and high part of an index, for the factors of a product.
fn halves(product: &Space, low: &Space, high: &Space, index: u32) -> (u32, u32) {
    let part = |dim, high: bool| {
        let coordinate = product.coordinate(index, dim);
        if high { coordinate >> low.bits_of(dim) } else { coordinate & ((1 << low.bits_of(dim)) - 1) }
    };
    let all = |space: &Space, high| {
        let parts: Vec<(Dim, u32)> = space.dims().iter().map(|&dim| (dim, part(dim, high))).collect();
        space.index(&parts)
    };
    (all(low, false), all(high, true))
}

/// Whether both are the same map apart from the order of dimensions and those without bits.
fn alike(a: &LinearMap, b: &LinearMap) -> bool {
    let with_bits =
        |space: &Space| space.dims().iter().copied().filter(|&dim| space.bits_of(dim) > 0).collect::<Vec<_>>();
    let (ins, outs) = (with_bits(b.ins()), with_bits(b.outs()));
    let a = a.sublayout(&with_bits(a.ins()), &with_bits(a.outs()));
    a.transpose_ins(&ins).transpose_outs(&outs).equals(&b.sublayout(&ins, &outs))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn a_map_is_the_sum_of_its_bases(map in map()) {
        for input in inputs(&map) {
            let output: Vec<u32> = coordinates(map.outs(), map.apply(input)).into_iter().map(|(_, c)| c).collect();
            prop_assert_eq!(output, by_hand(&map, input));
        }
        prop_assert!(LinearMap::new(&labelled(map.ins()), &labelled(map.outs()), map.columns()).equals(&map));
    }

    #[test]
    fn rank_decides_what_a_map_reaches(map in map()) {
        let images: HashSet<u32> = inputs(&map).map(|input| map.apply(input)).collect();
        prop_assert_eq!(map.is_surjective(), images.len() == 1 << map.outs().bits());
        prop_assert_eq!(map.is_injective(), images.len() == 1 << map.ins().bits());
        prop_assert_eq!(map.is_invertible(), map.is_surjective() && map.is_injective());
        prop_assert_eq!(map.invert().check().is_ok(), map.is_invertible());
        prop_assert_eq!(map.pseudoinvert().check().is_ok(), map.is_surjective());
    }

    #[test]
    fn factors_act_on_their_bits((a, b) in factors()) {
        let product = a.times(&b);
        prop_assert!(product.fault().is_none());
        for input in inputs(&product) {
            let (low, high) = halves(product.ins(), a.ins(), b.ins(), input);
            let output = halves(product.outs(), a.outs(), b.outs(), product.apply(input));
            prop_assert_eq!(output, (a.apply(low), b.apply(high)));
        }
        prop_assert_eq!(product.is_surjective(), a.is_surjective() && b.is_surjective());
        prop_assert_eq!(product.is_injective(), a.is_injective() && b.is_injective());
    }

    #[test]
    fn products_are_associative_with_a_neutral_element((a, b) in factors(), (c, _) in factors()) {
        prop_assert!(a.times(&LinearMap::EMPTY).equals(&a) && LinearMap::EMPTY.times(&a).equals(&a));
        let (left, right) = (a.times(&b).times(&c), a.times(&b.times(&c)));
        if left.fault().is_none() && right.fault().is_none() {
            prop_assert!(alike(&left, &right));
        }
    }

    #[test]
    fn division_undoes_the_product((a, b) in factors()) {
        let product = a.times(&b);
        prop_assert!(alike(&product.divide_left(&a), &b));
        prop_assert!(alike(&product.divide_right(&b), &a));
        // The quotient has the dimensions of the product, so it multiplies back exactly.
        let (left, right) = (a.times(&product.divide_left(&a)), product.divide_right(&b).times(&b));
        prop_assert!(alike(&left, &product) && alike(&right, &product));
        let dims = product.ins().dims().iter().rev().copied().collect::<Vec<_>>();
        prop_assert!(alike(&product.transpose_ins(&dims).divide_left(&a), &b));
    }

    #[test]
    fn only_products_can_be_divided((a, _) in factors(), (b, _) in factors()) {
        let quotient = a.divide_left(&b);
        if quotient.fault().is_none() {
            prop_assert!(alike(&b.times(&quotient), &a));
        } else {
            // No choice of columns for the rest makes it a product: already B's own columns are not A's.
            let own = |dim: Dim| (0..b.ins().bits_of(dim)).map(move |bit| (dim, bit));
            let low = b.ins().dims().iter().flat_map(|&dim| own(dim)).all(|(dim, bit)| {
                bit < a.ins().bits_of(dim)
                    && a.outs().dims().iter().all(|&out| a.basis(dim, bit, out) == b.basis(dim, bit, out))
            });
            let rest = a.ins().dims().iter().flat_map(|&dim| {
                (b.ins().bits_of(dim)..a.ins().bits_of(dim)).map(move |bit| (dim, bit))
            });
            let high = rest.into_iter().all(|(dim, bit)| {
                b.outs().dims().iter().all(|&out| a.basis(dim, bit, out) & ((1 << b.outs().bits_of(out)) - 1) == 0)
            });
            let fits = b.outs().dims().iter().all(|&out| b.outs().bits_of(out) <= a.outs().bits_of(out));
            prop_assert!(!(low && high && fits));
        }
    }

    #[test]
    fn composition_is_one_map_after_the_other((a, b) in chain()) {
        let both = a.then(&b);
        prop_assert!(both.fault().is_none());
        for input in inputs(&a) {
            let between = b.ins().index(&coordinates(a.outs(), a.apply(input)));
            prop_assert_eq!(both.apply(input), b.apply(between));
        }
        prop_assert!(LinearMap::unchanging(a.ins()).then(&a).equals(&a));
        prop_assert!(a.then(&LinearMap::unchanging(a.outs())).equals(&a));
        // The order of the dimensions between does not matter.
        let order: Vec<Dim> = a.outs().dims().iter().rev().copied().collect();
        prop_assert!(a.transpose_outs(&order).then(&b).equals(&both));
    }

    #[test]
    fn composition_is_associative((a, b) in chain(), seed in any::<u32>()) {
        let outs = Space::new(&[(Axis(0), 4)]).unwrap();
        let columns: Vec<u32> = (0..b.outs().bits() as u32).map(|bit| seed.rotate_left(5 * bit) & 15).collect();
        let c = LinearMap::between(b.outs(), &outs, &columns);
        prop_assert!(a.then(&b).then(&c).equals(&a.then(&b.then(&c))));
    }

    #[test]
    fn a_solution_is_found_if_there_is_one((a, b) in same_outs()) {
        let x = a.lstsq(&b);
        let images: HashSet<u32> = inputs(&a).map(|input| a.apply(input)).collect();
        let wanted = |input| a.outs().index(&coordinates(b.outs(), b.apply(input)));
        prop_assert_eq!(x.fault().is_none(), inputs(&b).all(|input| images.contains(&wanted(input))));
        if x.fault().is_none() {
            prop_assert!(x.then(&a).transpose_outs(b.outs().dims()).equals(&b));
            let free = a.free_variable_mask();
            prop_assert!(x.columns().iter().all(|column| column & free == 0));
        }
    }

    #[test]
    fn conversions_compose_back((a, b) in same_outs()) {
        let all = [Register, Lane, Warp, Block];
        for x in [a.invert_and_compose(&b), a.invert_and_compose_local(&b, &all)] {
            prop_assert_eq!(x.fault(), b.lstsq(&a).fault());
            for input in inputs(&a).filter(|_| x.fault().is_none()) {
                let (image, there) = (a.apply(input), b.apply(x.apply(input)));
                prop_assert_eq!(b.outs().index(&coordinates(a.outs(), image)), there);
            }
        }
        let local = a.invert_and_compose_local(&b, &all);
        let b = b.transpose_outs(a.outs().dims());
        for &dim in a.ins().dims().iter().filter(|_| local.fault().is_none()) {
            let shared = 0..a.ins().bits_of(dim).min(b.ins().bits_of(dim));
            for bit in shared.filter(|&bit| a.column(dim, bit) == b.column(dim, bit)) {
                prop_assert_eq!(local.column(dim, bit), b.ins().index(&[(dim, 1 << bit)]));
            }
        }
    }

    #[test]
    fn inverses_undo(
        ins in dims(&HARDWARE),
        outs in dims(&AXES),
        sums in prop::collection::vec((0_usize..12, 0_usize..12), 0..20),
    ) {
        let map = surjective(&ins, &outs, &sums);
        let inverse = map.pseudoinvert();
        prop_assert!(inverse.then(&map).equals(&LinearMap::unchanging(map.outs())));
        if map.ins().bits() == map.outs().bits() {
            prop_assert!(map.invert().equals(&inverse));
            prop_assert!(map.then(&inverse).equals(&LinearMap::unchanging(map.ins())));
            prop_assert!(inverse.invert().equals(&map));
        }
    }

    #[test]
    fn free_bits_change_nothing_and_the_others_tell_outputs_apart(map in map()) {
        let free = map.free_variable_mask();
        let images: HashSet<u32> = inputs(&map).map(|input| map.apply(input)).collect();
        let own: Vec<u32> = inputs(&map).filter(|input| input & free == 0).map(|input| map.apply(input)).collect();
        prop_assert_eq!(own.len(), images.len());
        prop_assert_eq!(own.into_iter().collect::<HashSet<u32>>(), images);
    }

    #[test]
    fn relabelling_there_and_back_changes_nothing(map in map()) {
        let flat = map.flatten_ins().flatten_outs();
        prop_assert_eq!((flat.ins().dims().len(), flat.outs().dims().len()), (1, 1));
        prop_assert!(flat.reshape_ins(&labelled(map.ins())).reshape_outs(&labelled(map.outs())).equals(&map));
        let (ins, outs) = (map.ins().dims().to_vec(), map.outs().dims().to_vec());
        let reversed = |dims: &[Dim]| dims.iter().rev().copied().collect::<Vec<_>>();
        let turned = map.transpose_ins(&reversed(&ins)).transpose_outs(&reversed(&outs));
        for input in inputs(&map) {
            let same = turned.ins().index(&coordinates(map.ins(), input));
            prop_assert_eq!(turned.apply(same), turned.outs().index(&coordinates(map.outs(), map.apply(input))));
        }
        prop_assert!(turned.transpose_ins(&ins).transpose_outs(&outs).equals(&map));
        let renamed = map.rename_ins(&[(ins[0], Offset)]).rename_outs(&[(outs[0], Axis(7))]);
        prop_assert!(renamed.rename_ins(&[(Offset, ins[0])]).rename_outs(&[(Axis(7), outs[0])]).equals(&map));
    }

    #[test]
    fn dimensions_without_bits_change_nothing((a, b) in chain()) {
        let padded = |map: &LinearMap, dim| map.times(&LinearMap::zeros(0, dim, dim, 0));
        let (wide, wider) = (padded(&a, Axis(7)), padded(&b, Axis(7)));
        prop_assert!(alike(&wide, &a) && wide.squeeze_ins(Axis(7)).squeeze_outs(Axis(7)).equals(&a));
        prop_assert!(alike(&wide.then(&wider), &a.then(&b)));
        prop_assert!(alike(&wide.divide_left(&a), &LinearMap::zeros(0, Lane, Axis(0), 0)));
        prop_assert_eq!(wide.is_surjective(), a.is_surjective());
        prop_assert_eq!(wide.pseudoinvert().fault().is_none(), a.pseudoinvert().fault().is_none());
    }

    #[test]
    fn blocks_are_the_map_with_the_rest_at_zero(
        map in map(),
        ins in prop::sample::subsequence(HARDWARE.to_vec(), 0..4),
        outs in prop::sample::subsequence(AXES.to_vec(), 0..3),
    ) {
        let block = map.sublayout(&ins, &outs);
        for input in inputs(&block) {
            let whole = map.apply(map.ins().index(&coordinates(block.ins(), input)));
            prop_assert_eq!(block.apply(input), block.outs().index(&coordinates(map.outs(), whole)));
        }
        prop_assert_eq!(map.sublayout_is_zero(&ins, &outs), inputs(&block).all(|input| block.apply(input) == 0));
        for &dim in block.ins().dims() {
            let moved: Vec<usize> = (0..map.ins().bits_of(dim)).filter(|&bit| block.column(dim, bit) != 0).collect();
            prop_assert_eq!(map.input_mask(dim, &outs), moved.iter().map(|bit| 1 << bit).sum::<u32>());
        }
        for &dim in block.outs().dims() {
            let mask = inputs(&block).fold(0, |mask, input| mask | block.outs().coordinate(block.apply(input), dim));
            prop_assert_eq!(map.output_mask(&ins, dim), mask);
        }
    }

    #[test]
    fn a_quotient_leaves_what_is_no_identity((map, dims) in endomorphism()) {
        let kept = |input: u32| {
            let image = map.apply(input);
            dims.iter().all(|&dim| map.ins().coordinate(input, dim) == map.outs().coordinate(image, dim))
        };
        let mask = map.ins().mask(&dims);
        let rows = map.outs().mask(&dims);
        let apart = inputs(&map).all(|input| map.apply(input & mask) & !rows == 0);
        let sizes = dims.iter().all(|&dim| map.ins().bits_of(dim) == map.outs().bits_of(dim));
        let trivial = sizes && apart && inputs(&map).all(kept);
        prop_assert_eq!(map.is_trivial_over(&dims), trivial);
        let quotient = map.quotient(&dims);
        prop_assert_eq!(quotient.fault().is_none(), trivial);
        if trivial {
            let ones = dims.iter().fold(LinearMap::EMPTY, |ones, &dim| {
                ones.times(&LinearMap::identity(map.ins().bits_of(dim), dim, dim))
            });
            prop_assert!(alike(&quotient.times(&ones), &map));
            prop_assert!(map.square_sublayout_is_identity(&dims));
            prop_assert!(dims.iter().all(|&dim| map.is_identity_on_out_dim(dim)));
        }
    }

    #[test]
    fn resized_dimensions_repeat_or_lose((map, bits) in (map(), 0_usize..5)) {
        let (input, output) = (map.ins().dims()[0], map.outs().dims()[0]);
        let resized = map.resize_in(input, bits);
        for index in inputs(&resized) {
            // New bits lie above the old ones, and what they move by is nothing.
            prop_assert_eq!(resized.apply(index), map.apply(map.ins().index(&coordinates(resized.ins(), index))));
        }
        let shrunk = map.resize_out(output, bits);
        prop_assert_eq!(shrunk.fault().is_none(), bits <= map.outs().bits_of(output));
        for (bit, column) in shrunk.columns().iter().enumerate() {
            let old = map.columns()[bit];
            for &dim in map.outs().dims() {
                let (was, is) = (map.outs().coordinate(old, dim), shrunk.outs().coordinate(*column, dim));
                prop_assert_eq!(is, if dim == output && was >> bits != 0 { 0 } else { was });
            }
        }
    }

    #[test]
    fn concatenations_are_taken_apart_by_blocks((a, b) in same_outs()) {
        let moved = b.transpose_outs(a.outs().dims()).reshape_ins(&[(Offset, b.ins().bits())]);
        let both = a.concat_ins(&moved);
        prop_assert!(both.sublayout(a.ins().dims(), a.outs().dims()).equals(&a));
        prop_assert!(both.sublayout(&[Offset], a.outs().dims()).equals(&moved));
        let twin = a.reshape_outs(&[(Offset, a.outs().bits())]);
        let side = a.concat_outs(&twin);
        prop_assert!(side.sublayout(a.ins().dims(), a.outs().dims()).equals(&a));
        prop_assert!(side.sublayout(a.ins().dims(), &[Offset]).equals(&twin));
    }

    #[test]
    fn actions_move_registers_as_columns(
        map in map(),
        order in Just(vec![0_usize, 1, 2, 3]).prop_shuffle(),
        keep in 0_usize..5,
    ) {
        // Any dimension does; this one has four bits.
        let map = map.rename_ins(&[(map.ins().dims()[0], Offset)]).resize_in(Offset, 4);
        let action = ColumnAction::new(Offset, &order[..keep], 4);
        let moved = action.apply(&map);
        prop_assert!(moved.fault().is_none());
        for index in inputs(&moved) {
            let mut place = coordinates(moved.ins(), index);
            for (_, coordinate) in place.iter_mut().filter(|(dim, _)| *dim == Offset) {
                *coordinate = action.source(*coordinate as usize) as u32;
            }
            prop_assert_eq!(moved.apply(index), map.apply(map.ins().index(&place)));
        }
        prop_assert!((0..action.registers()).all(|register| action.target(action.source(register)) == register));
        prop_assert_eq!(action.inverse().fault().is_none(), keep == 4);
        if keep == 4 {
            prop_assert!(action.inverse().apply(&moved).equals(&map));
            let inverse = action.inverse();
            prop_assert!(action.after(&inverse).is_identity() && inverse.after(&action).is_identity());
        }
        let rotate = ColumnAction::new(Offset, &(0..keep).map(|i| (i + 1) % keep).collect::<Vec<_>>(), keep);
        prop_assert!(rotate.after(&action).apply(&map).equals(&rotate.apply(&moved)));
    }

    #[test]
    fn orders_of_registers_divide_what_can_be_divided(
        (a, b) in factors(),
        order in Just(vec![0_usize, 1, 2, 3, 4, 5]).prop_shuffle(),
    ) {
        let product = a.times(&b);
        let registers = product.ins().bits_of(Register);
        let order: Vec<usize> = order.into_iter().filter(|&column| column < registers).collect();
        let shuffled = ColumnAction::new(Register, &order, registers).apply(&product);
        let (left, right) = (shuffled.register_order_left(&a), shuffled.register_order_right(&b));
        prop_assert_eq!((left.fault(), right.fault()), (None, None));
        prop_assert!(left.apply(&shuffled).divide_left(&a).fault().is_none());
        prop_assert!(right.apply(&shuffled).divide_right(&b).fault().is_none());
    }

    #[test]
    fn zero_bases_are_dropped_and_come_back(map in map()) {
        for &dim in map.ins().dims() {
            let (action, compact) = (map.dropping_zeros(dim), map.remove_zero_bases(dim));
            prop_assert!((0..compact.ins().bits_of(dim)).all(|bit| compact.column(dim, bit) != 0));
            for register in 0..1_usize << map.ins().bits_of(dim) {
                let at = |map: &LinearMap, register: usize| map.apply(map.ins().index(&[(dim, register as u32)]));
                prop_assert_eq!(at(&map, register), at(&compact, action.target(register)));
            }
        }
    }

    #[test]
    fn additive_strides_are_sums(map in addresses(), taken in 0_u32..256) {
        let strides = map.additive_strides(taken);
        let ordered = strides.action.apply(&map);
        prop_assert_eq!(strides.action.columns().len(), map.ins().bits_of(Register));
        let own = ordered.ins().index(&[(Register, (1 << strides.additive) - 1)]);
        for input in inputs(&ordered) {
            let (fixed, moving) = (ordered.apply(input & own), ordered.apply(input & !own) ^ taken);
            prop_assert_eq!(ordered.apply(input) ^ taken, moving + fixed);
        }
    }

    #[test]
    fn vectors_are_elements_side_by_side(map in addresses(), most in 0_usize..4) {
        let (order, bits) = map.largest_vectorisation(Offset, most);
        let ordered = order.apply(&map);
        prop_assert!(bits <= most);
        for input in inputs(&ordered) {
            let place = ordered.ins().coordinate(input, Register) & ((1 << bits) - 1);
            prop_assert_eq!(ordered.apply(input) & ((1 << bits) - 1), place);
        }
        let (prefix, rest) = ordered.identity_prefix(Register, Offset, most);
        prop_assert!(prefix >= bits && alike(&LinearMap::identity(prefix, Register, Offset).times(&rest), &ordered));
    }

    #[test]
    fn layouts_are_maps_and_back(layout in common::layout()) {
        let map = layout.to_linear();
        prop_assert!(map.to_layout().equals(&layout) && map.is_surjective());
        prop_assert_eq!(map.columns(), layout.columns());
        let axes: Vec<Dim> = (0..layout.shape().rank() as u8).map(Axis).collect();
        prop_assert!(map.transpose_ins(&[Warp, Register, Lane]).transpose_outs(&axes).to_layout().equals(&layout));
        prop_assert!(map.remove_zero_bases(Register).to_layout().equals(&layout.compact()));
        prop_assert!(map.remove_axis(0).to_layout().equals(&layout.slice(0)));
        let flat = map.flatten_outs().rename_outs(&[(map.outs().dims()[0], Axis(0))]);
        prop_assert!(flat.to_layout().equals(&layout.reshape([layout.shape().len()])));
    }

    #[test]
    fn addresses_are_compositions(
        (tile, memory) in common::layout().prop_flat_map(|tile| (Just(tile), common::memory(tile.shape().bits()))),
    ) {
        let flat = tile.reshape([tile.shape().len()]);
        let offsets = flat.to_linear().then(&memory.to_linear());
        for (lane, warp) in common::threads(&flat) {
            for (register, element) in common::held(&flat, (lane, warp)).into_iter().enumerate() {
                let place = [(Register, register as u32), (Lane, lane as u32), (Warp, warp as u32)];
                prop_assert_eq!(offsets.apply(offsets.ins().index(&place)), memory.offset(element));
            }
        }
        // The widest access is the one that the law of banks finds, duplicate registers aside.
        let compact = flat.compact();
        let bits = compact.to_linear().then(&memory.to_linear()).largest_vectorisation(Offset, 4).1;
        prop_assert_eq!(1 << bits, banks::load(&compact, &memory, 8).vector);
    }

    #[test]
    fn conversions_that_leave_registers_alone_are_trivial((from, to) in common::pair()) {
        let map = from.to_linear().minimal_conversion(&to.to_linear());
        prop_assert!(map.fault().is_none());
        let stays = !map.ins().has(Lane) && !map.ins().has(Warp);
        prop_assert!(!stays || convert::plan(&from, &to, 32).unwrap().is_trivial());
        let itself = from.to_linear().minimal_conversion(&from.to_linear());
        prop_assert_eq!(itself.ins().dims().len(), 0);
    }

    #[test]
    fn blocked_layouts_are_products_made_to_fit(
        shape in [0_usize..7, 0_usize..7],
        each in [0_usize..3, 0_usize..3],
        split in 0_usize..6,
        warps in [0_usize..3, 0_usize..3],
        turned in any::<bool>(),
    ) {
        let order = if turned { [0, 1] } else { [1, 0] };
        let lanes = [split, 5 - split];
        let axes = [(Axis(0), shape[0]), (Axis(1), shape[1])];
        let tile = LinearMap::identity_nd(Register, &each, &order)
            .times(&LinearMap::identity_nd(Lane, &lanes, &order))
            .times(&LinearMap::identity_nd(Warp, &warps, &order));
        let fitted = tile.grow_to(&axes).shrink_to(&axes).remove_zero_bases(Register);
        let size = |bits: [usize; 2]| bits.map(|bits| 1 << bits);
        prop_assert!(fitted.to_layout().equals(&blocked(size(shape), size(each), size(lanes), size(warps), order)));
    }

    #[test]
    fn a_tile_that_a_product_repeats_is_taken_out((a, b) in factors()) {
        let rest = a.times(&b).repetitions(&a);
        prop_assert!(rest.equals(&a.zeros_like().times(&b)));
    }

    #[test]
    fn consecutive_inputs_are_consecutive_outputs(map in map()) {
        let (input, output) = (map.ins().dims()[0], map.outs().dims()[0]);
        let whole = |count: u32| {
            let first = (0..count).all(|place| {
                let index = map.ins().index(&[(input, place)]);
                map.apply(index) == map.outs().index(&[(output, place)])
            });
            first && inputs(&map).all(|index| {
                let image = map.outs().coordinate(map.apply(index), output);
                map.ins().coordinate(index, input) % count == image % count
            })
        };
        let most = map.ins().bits_of(input).min(map.outs().bits_of(output));
        let consecutive = (0..=most).rev().map(|bits| 1 << bits).find(|&count| whole(count));
        prop_assert_eq!(Some(map.num_consecutive_in_out() as u32), consecutive);
        for &dim in map.outs().dims() {
            let reached = inputs(&map).map(|index| map.outs().coordinate(map.apply(index), dim));
            let reached: HashSet<u32> = reached.collect();
            let prefixes = (0..=map.outs().bits_of(dim)).rev().map(|bits| 1 << bits);
            let longest = prefixes.into_iter().find(|&count| (0..count).all(|place| reached.contains(&place)));
            prop_assert_eq!(Some(map.contiguous_along(dim) as u32), longest);
        }
    }

    #[test]
    fn blocks_share_a_tile(
        ins in dims(&[Register, Lane, Warp]),
        outs in dims(&AXES),
        split in [0_usize..3, 0_usize..3, 0_usize..3],
        size in [0_usize..5, 0_usize..5, 0_usize..5],
    ) {
        let part = surjective(&ins, &outs, &[]);
        let shape: Vec<(Dim, usize)> = part.outs().dims().iter().zip(size).map(|(&dim, bits)| (dim, bits)).collect();
        let blocks = shape.iter().zip(split).fold(LinearMap::EMPTY, |blocks, (&(dim, _), bits)| {
            blocks.times(&LinearMap::identity(bits, Block, dim))
        });
        let tile = part.across_blocks(&blocks, &shape);
        prop_assert!(tile.is_surjective());
        prop_assert_eq!(&labelled(tile.outs()), &shape);
        // Within a block the tile has all that the blocks leave.
        let block = tile.sublayout(&[Register, Lane, Warp], part.outs().dims());
        for &(dim, bits) in &shape {
            let split = tile.output_mask(&[Block], dim).count_ones() as usize;
            prop_assert_eq!(block.contiguous_along(dim), 1 << (bits - split));
        }
    }
}

/// Everything is known while Rust compiles.
#[test]
fn conversions_are_constants() {
    const ROWS: LinearMap = blocked([8, 32], [1, 4], [4, 8], [2, 1], [1, 0]).to_linear();
    const SQUARES: LinearMap = blocked([8, 32], [2, 2], [2, 16], [2, 1], [1, 0]).to_linear();
    const MOVES: LinearMap = ROWS.minimal_conversion(&SQUARES);
    const { assert!(MOVES.fault().is_none() && !MOVES.ins().has(Warp)) };
    let bases = "register (1, 0) (0, 8); lane (2, 0) (0, 1) (0, 2) (0, 4) (0, 16) to register: 4, lane: 32";
    assert_eq!(MOVES.to_string(), bases);
}
