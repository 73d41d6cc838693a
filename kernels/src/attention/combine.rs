//! One result from the results of parts of the keys.
//!
//! Each part `s` left the output `O_s` for its own keys and the logarithm `lse_s` of their exponentials' sum. A part weighs
//! what its keys sum to, so that
//!
//! ```text
//! lse = log(sum_s exp(lse_s))           out = sum_s exp(lse_s - lse) O_s
//! ```
//!
//! With parts that sum to 1 and 3 (`lse_s` of 0 and 1.0986) and outputs of 8 and 4, the output is (1 * 8 + 3 * 4) / 4 = 5. A
//! part none of whose keys a row sees has `lse_s` -inf and weighs nothing; a row that sees none at all gets 0 and -inf.
//!
//! Weights are as exact as the LSE in f32, 1e-5 for scores around 100. Only where all scores of a row lie beyond some 2^20
//! can the LSE no longer tell how many keys a part has: then parts with the same LSE weigh the same.

use crate::memory::Memory;
use crate::number::Real;
use crate::programs::Programs;
use crate::tile::row_aligned;
use quadpair::prelude::*;
use quadpair::{Kernel, KernelError, LaunchError, Program, Report, Target, compile};
use std::marker::PhantomData;
use std::sync::Arc;

/// The most parts that are combined.
pub(super) const MOST_PARTS: usize = 128;
/// The fewest that a tile is made for.
const FEWEST_PARTS: usize = 8;
/// Warps of a block.
const WARPS: usize = 4;
/// Neighbours of a row that a thread loads: 16 bytes of f32.
const VECTOR: usize = 4;
const LOG2_E: f32 = std::f32::consts::LOG2_E;
const LN_2: f32 = std::f32::consts::LN_2;

/// The comptime parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CombineTile {
    /// Parts that fit, a power of two.
    pub parts: usize,
    /// Elements of a row, a multiple of 8.
    pub head_dim: usize,
    /// Whether every row starts at a 16-byte boundary.
    pub aligned: bool,
}

impl CombineTile {
    /// A row of every part: lanes lie along the row, what is left of them and the warps along the parts.
    const fn outputs(&self) -> Layout {
        let width = self.head_dim.next_power_of_two();
        let lanes = if width / VECTOR < 32 { width / VECTOR } else { 32 };
        blocked([self.parts, width], [1, VECTOR], [32 / lanes, lanes], [WARPS, 1], [1, 0])
    }
}

/// Combines one query row a block: what `parts` parts found, to the output and the LSE of all keys.
///
/// `part_out` is `[batch, parts, heads, n_q, head dim]` and `part_lse` `[batch, parts, heads, n_q]`, both contiguous, as
/// `flash_attention` leaves them. The output's strides are of batch, head and row.
#[kernel(grid = [n_q as usize, heads as usize, batch as usize])]
pub fn combine_parts<O: Element>(
    part_out: Ptr<f32>,
    part_lse: Ptr<f32>,
    out: PtrMut<O>,
    lse: PtrMut<f32>,
    out_stride: [i64; 3],
    batch: i32,
    heads: i32,
    n_q: i32,
    parts: i32,
    #[comptime] t: CombineTile,
) {
    let [query, head, entry] = [program_id(0), program_id(1), program_id(2)];
    let part = arange(t.outputs().slice(1));
    let column = arange(t.outputs().slice(0));
    let rows = heads as i64 * n_q as i64;
    let row = head as i64 * n_q as i64 + query as i64;
    let part_row = (entry * parts + part) as i64 * rows + row;

    let lse_of_part = load_masked(part_lse + part_row, part < parts, f32::NEG_INFINITY);
    // Where all parts are -inf, a finite number keeps their weights at 0.
    let largest = maximum(lse_of_part.reduce_max(0), f32::MIN);
    let weight = exp2((lse_of_part - largest) * LOG2_E);
    let sum = weight.reduce_sum(0);

    let place = part_row.expand_dims(1) * t.head_dim + column.expand_dims(0) as i64;
    let inside = (part < parts).expand_dims(1) & (column < t.head_dim).expand_dims(0);
    let outputs = load_masked(row_aligned(part_out, t.aligned) + place, inside, 0.0);
    let total = (outputs * weight.expand_dims(1)).reduce_sum(0);
    let inverse = select(sum == 0.0, 0.0, 1.0 / sum);

    let stride = [
        row_aligned(out_stride[0], t.aligned),
        row_aligned(out_stride[1], t.aligned),
        row_aligned(out_stride[2], t.aligned),
    ];
    let start = entry as i64 * stride[0] + head as i64 * stride[1] + query as i64 * stride[2];
    let out_row = row_aligned(out, t.aligned) + start;
    store_masked(out_row + column, (total * inverse).to::<O>(), column < t.head_dim);
    store(lse + (entry as i64 * rows + row), largest + log2(sum) * LN_2);
}

instances! {
    /// Up to eight parts of head dim 96.
    pub COMBINE_96 = CombineParts::<f16> { t: CombineTile { parts: 8, head_dim: 96, aligned: true } };
}

/// The programs that combine for one output type and head dim, by how many parts fit.
#[derive(Debug)]
pub(super) struct Combining<O> {
    head_dim: usize,
    target: Target,
    programs: Programs<CombineTile>,
    out: PhantomData<fn() -> O>,
}

impl<O: Real> Combining<O> {
    pub fn new(head_dim: usize, target: Target) -> Self {
        Self { head_dim, target, programs: Programs::new(), out: PhantomData }
    }

    /// Combines what the arguments say, in one launch.
    pub fn launch<B: Memory>(
        &self,
        backend: &B,
        args: CombinePartsArgs<'_, B, O>,
        aligned: bool,
    ) -> Result<Report, LaunchError> {
        let parts = (args.parts as usize).next_power_of_two().max(FEWEST_PARTS);
        let kernel = CombineParts { t: CombineTile { parts, head_dim: self.head_dim, aligned }, types: PhantomData };
        let grid = kernel.grid::<B>(&args);
        backend.launch(&self.program(&kernel)?, grid, CombineParts::<O>::bind::<B>(args))
    }

    fn program(&self, kernel: &CombineParts<O>) -> Result<Arc<Program>, KernelError> {
        self.programs.get(&kernel.t, || {
            let CombineTile { parts, head_dim, aligned } = kernel.t;
            let suffix = if aligned { "" } else { "_unaligned" };
            compile(&format!("combine_parts_{parts}_d{head_dim}_{}{suffix}", O::DTYPE.name()), kernel, self.target)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadpair::sim::Simulator;
    use quadpair_profiles::Profile;

    const HEADS: usize = 3;
    const QUERIES: usize = 2;

    /// Combines parts of two sequences, and again in float64.
    fn check(head_dim: usize, parts: usize, gap: usize, lse_of_part: impl Fn(usize, usize) -> f32) {
        let volta = Profile::by_name("volta").expect("a shipped profile");
        let (rows, batch) = (HEADS * QUERIES, 2);
        let number = |i: usize| (i * 37 % 101) as f32 / 40.0 - 1.0;
        let part_out: Vec<f32> = (0..batch * parts * rows * head_dim).map(number).collect();
        let part_lse: Vec<f32> = (0..batch * parts * rows).map(|i| lse_of_part(i / rows % parts, i % rows)).collect();
        let stride = head_dim + gap;
        let (mut out, mut lse) = (vec![f32::NAN; batch * rows * stride], vec![f32::NAN; batch * rows]);
        let args = CombinePartsArgs {
            part_out: &part_out[..],
            part_lse: &part_lse[..],
            out: &mut out[..],
            lse: &mut lse[..],
            out_stride: [rows * stride, QUERIES * stride, stride].map(|stride| stride as i64),
            batch: batch as i32,
            heads: HEADS as i32,
            n_q: QUERIES as i32,
            parts: parts as i32,
        };
        let combining = Combining::<f32>::new(head_dim, Target::from(&volta));
        combining.launch(&Simulator::new(&volta), args, gap == 0).expect("the kernel is right");
        for row in 0..batch * rows {
            let of_part = |part| (row / rows * parts + part) * rows + row % rows;
            let weights: Vec<f64> = (0..parts).map(|part| f64::from(part_lse[of_part(part)]).exp()).collect();
            let sum: f64 = weights.iter().sum();
            let same = |actual: f32, expected: f64| {
                f64::from(actual) == expected || (f64::from(actual) - expected).abs() < 1e-6 * expected.abs().max(1.0)
            };
            assert!(same(lse[row], sum.ln()), "{parts} parts, row {row}: lse {} for {}", lse[row], sum.ln());
            for column in 0..stride {
                let actual = out[row * stride + column];
                let weigh = |(part, weight)| weight * f64::from(part_out[of_part(part) * head_dim + column]);
                let expected = match (column < head_dim, sum > 0.0) {
                    (false, _) => f64::NAN,
                    (true, false) => 0.0,
                    (true, true) => weights.iter().copied().enumerate().map(weigh).sum::<f64>() / sum,
                };
                let unwritten = expected.is_nan() && actual.is_nan();
                assert!(unwritten || same(actual, expected), "{parts} parts, row {row}: {actual} for {expected}");
            }
        }
    }

    #[test]
    fn parts_weigh_what_their_keys_sum_to() {
        for head_dim in [8, 40, 96, 256] {
            for parts in [1, 2, 7, 9, MOST_PARTS] {
                check(head_dim, parts, 0, |part, row| (part * 31 % 17) as f32 - row as f32);
                check(head_dim, parts, 3, |part, row| ((part + row) % 5) as f32 / 4.0);
            }
        }
    }

    #[test]
    fn parts_without_keys_weigh_nothing() {
        let none = f32::NEG_INFINITY;
        check(64, 5, 0, |part, row| if (part + row) % 3 == 0 { 0.5 } else { none });
        check(64, 5, 0, |_, row| if row == 1 { 2.0 } else { none });
        check(64, 9, 0, |part, _| if part == 8 { -700.0 } else { none });
    }
}
