//! Inline assembly with several results, of every width, used or not.

use quadpair::Instance;
use quadpair::prelude::*;
use quadpair::sim::Simulator;

use crate::harness::{VOLTA, broken, map, random};

/// Sum and difference of two numbers.
const BOTH: &str = "add.s32 $0, $2, $3; sub.s32 $1, $2, $3;";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Use {
    First,
    Second,
    None,
    NoneButImpure,
}

#[kernel(grid = [1])]
fn two_results(x: Ptr<i32>, out: PtrMut<i32>, #[comptime] way: Use) {
    let at = arange(blocked([256], [2], [32], [4], [0]));
    let a = load(x + at);
    let pure = static_is_pure(way);
    let [sum, difference] = inline_asm(BOTH, [a, at], [DType::I32, DType::I32], 1, pure);
    match way {
        Use::First => store(out + at, sum),
        Use::Second => store(out + at, difference),
        _ => store(out + at, a),
    }
}

const fn static_is_pure(way: Use) -> bool {
    !matches!(way, Use::NoneButImpure)
}

#[test]
fn each_result_is_its_own_and_unused_ones_cost_nothing() {
    let x: Vec<i32> = random(1, 256).into_iter().map(|x| x as i32).collect();
    for way in [Use::First, Use::Second, Use::None, Use::NoneButImpure] {
        let instance = Instance::new("two_results", TwoResults { way });
        let mut out = vec![0; 256];
        let args = TwoResultsArgs { x: &x[..], out: &mut out[..] };
        instance.launch(&Simulator::new(VOLTA), args).expect("a kernel that is right");
        let wanted = |i: usize| match way {
            Use::First => x[i].wrapping_add(i as i32),
            Use::Second => x[i].wrapping_sub(i as i32),
            _ => x[i],
        };
        assert!((0..256).all(|i| out[i] == wanted(i)), "{way:?}");
        let ptx = instance.program(VOLTA).expect("a kernel that is right").ptx().to_owned();
        assert_eq!(ptx.contains("sub.s32"), way != Use::None, "{ptx}");
    }
}

#[test]
fn bytes_and_halves_share_registers() {
    let bytes: Vec<u8> = random(2, 512).into_iter().map(|x| x as u8).collect();
    let found: Vec<u8> = map([&bytes], |trace, [x]| inline_asm_elementwise::<u8, 1>(trace, "not.b32 $0, $1;", [x], 4));
    assert!(bytes.iter().zip(found).all(|(x, found)| found == !x));
    // One alone is in the low bits of a register; what the text leaves above them is cut off.
    let found: Vec<i8> =
        map([&bytes], |trace, [x]| inline_asm_elementwise::<i8, 1>(trace, "add.u32 $0, $1, 1000;", [x], 1));
    assert!(bytes.iter().zip(found).all(|(&x, found)| found == (u32::from(x) + 1000) as i8));
    let halves: Vec<f16> = bytes.iter().map(|&x| f16::from_f32(x.into())).collect();
    let found: Vec<f16> = map([&halves], |trace, [x]| {
        let text = "add.f16x2 $0, $2, $2; mov.b32 $1, $2;";
        let [twice, same] = inline_asm(trace, text, [x], [DType::F16, DType::F16], 2, true);
        quadpair::lang::operators::add(trace, quadpair::lang::Operand::Tile(twice), quadpair::lang::Operand::Tile(same))
    });
    assert!(halves.iter().zip(found).all(|(x, found)| found.to_f32() == 3.0 * x.to_f32()));
}

#[test]
fn mistakes_are_named() {
    let text = broken::<i32, 1>(|trace, [x]| inline_asm_elementwise::<i32, 1>(trace, "", [x], 3));
    assert_eq!(
        text,
        "inline_asm_elementwise: pack 3 does not divide the 4 elements of a thread; a power of two up to that does"
    );
    let text = broken::<i32, 1>(|trace, [x]| inline_asm(trace, "", [x], [DType::I32; 5], 1, true)[0]);
    assert_eq!(text, "inline_asm: 5 results; 1 to 4 are possible");
}

/// What a function of elements does is not numbered as the kernel's own operations are.
#[kernel(grid = [1])]
fn in_a_function(x: Ptr<i32>, out: PtrMut<i32>) {
    let at = arange(blocked([256], [2], [32], [4], [0]));
    let y = map_elementwise(load(x + at), |a| {
        let [twice, zero] =
            inline_asm("add.s32 $0, $2, $2; sub.s32 $1, $2, $2;", [a], [DType::I32, DType::I32], 1, true);
        twice + zero * num_warps()
    });
    store(out + at, y);
}

#[test]
fn assembly_works_in_functions_of_elements() {
    let x: Vec<i32> = (0..256).collect();
    let mut out = vec![0; 256];
    let args = InAFunctionArgs { x: &x[..], out: &mut out[..] };
    Instance::new("in_a_function", InAFunction {})
        .launch(&Simulator::new(VOLTA), args)
        .expect("a kernel that is right");
    assert!((0..256).all(|i| out[i] == 2 * x[i]));
}
