//! Shapes, pairs and constructors, written as an author would.

use half::{bf16, f16};
use quadpair::Instance;
use quadpair::lang as language;
use quadpair::prelude::*;
use quadpair::sim::Simulator;

use crate::harness::{VOLTA, map, random};

/// A tile of 32 x 16 in four warps, pairs of neighbours in a thread.
const TILE: Layout = blocked([32, 16], [1, 4], [8, 4], [4, 1], [1, 0]);
const LEN: usize = 512;

/// What is done with a tile of 32 x 16 of numbers in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Way {
    ReshapedAndBack,
    Pairs,
    Rows,
    Broadcast,
    Constants,
}

#[kernel(grid = [1])]
fn shaped(x: Ptr<i32>, out: PtrMut<i32>, #[comptime] way: Way) {
    let rows = arange(TILE.slice(1)).expand_dims(1);
    let columns = arange(TILE.slice(0)).expand_dims(0);
    let at = rows * 16 + columns;
    let a = load(x + at);
    match way {
        Way::ReshapedAndBack => {
            let there = a.reshape([8, 64]).permute([1, 0]).permute([1, 0]).ravel();
            store(out + at, there.reshape([32, 16]) + a);
        }
        Way::Pairs => {
            let pairs = a.reshape([32, 8, 2]);
            let [even, odd] = pairs.split();
            let swapped = join(odd, even).reshape([32, 16]);
            store(out + at, swapped - a);
        }
        Way::Rows => {
            let both = join(a, a + 1000).permute([2, 0, 1]).reshape([64, 16]);
            let sums = both.reduce_sum(0).expand_dims(0);
            store(out + at, a * 0 + sums);
        }
        Way::Broadcast => {
            let [r, c] = broadcast(rows, columns);
            store(out + at, r * 100 + c);
        }
        Way::Constants => {
            let from = arange_between(-3, 13, TILE.slice(0)).expand_dims(0);
            let like = full_like(a, 7) + zeros_like(a) + ones::<i32>(TILE) * num_warps();
            store(out + at, like + from);
        }
    }
}

fn run(way: Way) -> Vec<i32> {
    let x: Vec<i32> = (0..LEN as i32).collect();
    let mut out = vec![0; LEN];
    let args = ShapedArgs { x: &x[..], out: &mut out[..] };
    Instance::new("shaped", Shaped { way }).launch(&Simulator::new(VOLTA), args).expect("a kernel that is right");
    out
}

#[test]
fn a_tile_reshaped_there_and_back_is_the_same_tile() {
    assert!(run(Way::ReshapedAndBack).into_iter().eq((0..LEN as i32).map(|x| 2 * x)));
}

#[test]
fn pairs_are_split_and_joined() {
    assert!(run(Way::Pairs).into_iter().eq((0..LEN).map(|x| if x % 2 == 0 { 1 } else { -1 })));
    // Each column of 32 numbers, and the same with 1000 added.
    let column = |c: usize| (0..32).map(|r| 2 * (16 * r + c as i32) + 1000).sum::<i32>();
    assert!(run(Way::Rows).into_iter().eq((0..LEN).map(|x| column(x % 16))));
}

#[test]
fn both_sides_of_a_broadcast_have_its_shape() {
    assert!(run(Way::Broadcast).into_iter().eq((0..LEN as i32).map(|x| x / 16 * 100 + x % 16)));
}

#[test]
fn constructors_fill_tiles() {
    assert!(run(Way::Constants).into_iter().eq((0..LEN as i32).map(|x| 7 + 4 + x % 16 - 3)));
}

/// All 256 bytes, as every type of float.
#[test]
fn four_bits_are_numbers() {
    const SIZES: [f64; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    let number = |nibble: u8| if nibble & 8 == 0 { SIZES[nibble as usize] } else { -SIZES[nibble as usize & 7] };
    let bytes: Vec<u8> = (0..LEN).map(|i| i as u8).collect();
    let half = |which: usize| {
        let singles: Vec<f32> = map([&bytes], |trace, [x]| unpacked::<f32>(trace, x, which));
        let halves: Vec<f16> = map([&bytes], |trace, [x]| unpacked::<f16>(trace, x, which));
        let brains: Vec<bf16> = map([&bytes], |trace, [x]| unpacked::<bf16>(trace, x, which));
        let small: Vec<F8E4M3> = map([&bytes], |trace, [x]| unpacked::<F8E4M3>(trace, x, which));
        for (i, &byte) in bytes.iter().enumerate() {
            let wanted = number(if which == 0 { byte & 15 } else { byte >> 4 });
            let found = [singles[i].into(), halves[i].to_f64(), brains[i].to_f64(), small[i].to_f64()];
            assert_eq!(found.map(f64::to_bits), [wanted.to_bits(); 4], "{byte:#x}: {found:?}, not {wanted}");
        }
    };
    half(0);
    half(1);
}

/// One of the two numbers of each byte.
fn unpacked<T: Element>(trace: &mut language::Trace<'_>, x: Tile, which: usize) -> Tile {
    let numbers = fp4_to_fp::<T>(trace, x, 0);
    numbers.reshape(trace, [LEN, 2]).split(trace)[which]
}

/// Adds a number to each of 4096 bytes, `vector` neighbours to a thread.
#[kernel(grid = [1])]
fn bytes_plus(x: Ptr<i8>, out: PtrMut<i8>, #[comptime] vector: usize, #[comptime] add: i64) {
    let at = arange(blocked([4096], [vector], [32], [4], [0]));
    let read = load(multiple_of(x, 16) + at);
    if add == 0 {
        store(multiple_of(out, 16) + at, read);
    } else {
        store(multiple_of(out, 16) + at, read + add);
    }
}

#[test]
fn bytes_go_sixteen_at_a_time() {
    let x: Vec<i8> = random(3, 4096).into_iter().map(|x| x as i8).collect();
    for (vector, add, spelling) in
        [(16, 0, "v4.b32"), (16, 3, "v4.b32"), (8, 3, "v2.b32"), (4, 3, "b32"), (2, 3, "v2.s8"), (1, 3, "s8")]
    {
        let instance = Instance::new("bytes_plus", BytesPlus { vector, add });
        let ptx = instance.program(VOLTA).expect("a kernel that is right").ptx().to_owned();
        for access in ["ld", "st"] {
            assert!(ptx.contains(&format!("{access}.global.{spelling} ")), "{access} {vector}: {ptx}");
        }
        if (vector, add) == (16, 0) {
            // Nothing is taken apart only to be put together again.
            let registers = |access: &str| {
                let line = ptx.lines().find(|line| line.contains(access)).expect("such an access");
                line.split(['{', '}']).nth(1)
            };
            assert_eq!(registers("ld.global"), registers("st.global"), "{ptx}");
        }
        let mut out = vec![0; x.len()];
        let args = BytesPlusArgs { x: &x[..], out: &mut out[..] };
        instance.launch(&Simulator::new(VOLTA), args).expect("a launch that is right");
        assert!(out.iter().zip(&x).all(|(out, x)| *out == x.wrapping_add(add as i8)), "vector {vector}, {add} added");
    }
}

/// Eight-bit floats are summed, moved through shared memory and to another layout as any other element is.
#[kernel(grid = [1])]
fn small_floats(x: Ptr<F8E5M2>, out: PtrMut<F8E5M2>) {
    let across = blocked([32, 16], [4, 1], [2, 16], [4, 1], [0, 1]);
    let rows = arange(TILE.slice(1)).expand_dims(1);
    let at = rows * 16 + arange(TILE.slice(0)).expand_dims(0);
    let a = load(x + at);
    let memory = shared::<F8E5M2>(row_major([32, 16]));
    memory.store(a);
    barrier();
    let moved = memory.load(across).convert_layout(TILE);
    let least = a.reduce_min(1).expand_dims(1);
    store(out + at, select(moved < 0.0, least, moved + a));
}

#[test]
fn small_floats_go_where_others_do() {
    let x: Vec<F8E5M2> = random(8, LEN).into_iter().map(|x| F8E5M2::from_f64((x % 33) as f64 - 16.0)).collect();
    let mut out = vec![F8E5M2::default(); LEN];
    let args = SmallFloatsArgs { x: &x[..], out: &mut out[..] };
    Instance::new("small_floats", SmallFloats {}).launch(&Simulator::new(VOLTA), args).expect("a kernel that is right");
    for (i, found) in out.iter().enumerate() {
        let row = x[i / 16 * 16..][..16].iter().map(|x| x.to_f32());
        let own = x[i].to_f32();
        let wanted = if own < 0.0 { row.fold(f32::INFINITY, f32::min) } else { own + own };
        assert_eq!(*found, F8E5M2::from_f32(wanted), "{i}");
    }
}
