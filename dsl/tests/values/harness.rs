//! Kernels of one function, made without a macro: each element of the inputs to one of the output.

use std::sync::Arc;

use quadpair::ir::Function;
use quadpair::lang::{Operand, Tile, Trace, arange, load, operators, program_id, store};
use quadpair::layouts::blocked;
use quadpair::sim::Simulator;
use quadpair::{Backend, Element, Target};

/// The floor: what everything must work on.
pub const VOLTA: Target = Target { sm: 70, specific: false, isa: (6, 4), shared_bytes: 98_304, threads: 1024 };

/// Elements of a block.
const BLOCK: usize = 512;

/// Applies a function to inputs of any length; what is missing to whole blocks is computed of zeros.
pub fn map<A: Element, R: Element, const N: usize>(
    inputs: [&[A]; N],
    body: impl Fn(&mut Trace<'_>, [Tile; N]) -> Tile,
) -> Vec<R> {
    let len = inputs[0].len();
    let blocks = len.div_ceil(BLOCK);
    let padded = inputs.map(|input| {
        let mut padded = input.to_vec();
        padded.resize(blocks * BLOCK, A::default());
        padded
    });
    let function = Function::record("map", |trace| trace_map::<A, R, N>(trace, &body)).expect("a kernel that is right");
    let program = Arc::new(quadpair::lower::lower("map", &function, VOLTA).expect("a kernel for every target"));
    let mut out = vec![R::default(); blocks * BLOCK];
    let mut args: Vec<_> = padded.iter().map(|input| Simulator::pointer(input.as_slice())).collect();
    args.push(Simulator::pointer_mut(out.as_mut_slice()));
    if let Err(error) = Simulator::new(VOLTA).launch(&program, [blocks as u32, 1, 1], args) {
        panic!("{error}\n{}", program.ptx());
    }
    out.truncate(len);
    out
}

fn trace_map<A: Element, R: Element, const N: usize>(
    trace: &mut Trace<'_>,
    body: impl Fn(&mut Trace<'_>, [Tile; N]) -> Tile,
) {
    let inputs = std::array::from_fn::<_, N, _>(|_| trace.pointer::<A>("x", false));
    let out = trace.pointer::<R>("out", true);
    let block = program_id(trace, 0);
    let first = operators::mul(trace, Operand::Tile(block), Operand::Int(BLOCK as i64));
    let own = arange(trace, blocked([BLOCK], [4], [32], [4], [0]));
    let at = operators::add(trace, Operand::Tile(own), Operand::Tile(first));
    let tiles = inputs.map(|input| {
        let pointer = operators::add(trace, Operand::Tile(input), Operand::Tile(at));
        load(trace, pointer)
    });
    let result = body(trace, tiles);
    let pointer = operators::add(trace, Operand::Tile(out), Operand::Tile(at));
    assert_eq!(result.dtype(), R::DTYPE);
    store(trace, pointer, result);
}

/// What a kernel breaks, in the words that its author sees.
pub fn broken<A: Element, const N: usize>(body: impl Fn(&mut Trace<'_>, [Tile; N]) -> Tile) -> String {
    let function = Function::record("broken", |trace| {
        let tiles = std::array::from_fn::<_, N, _>(|_| {
            let own = arange(trace, blocked([BLOCK], [4], [32], [4], [0]));
            own.to::<A>(trace)
        });
        body(trace, tiles);
    });
    function.expect_err("a rule is broken").text
}

/// Numbers in no order: the same ones in every run.
pub fn random(seed: u64, count: usize) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// Bits of floats of every size, and what is special.
pub fn singles(seed: u64, count: usize) -> Vec<f32> {
    let special = [0.0, 1.0, 0.5, 1.5, 2.5, f32::MAX, f32::MIN_POSITIVE, f32::from_bits(1), f32::INFINITY, f32::NAN];
    let both = special.iter().flat_map(|&x| [x, -x]);
    both.chain(random(seed, count).into_iter().map(|bits| f32::from_bits(bits as u32))).collect()
}
