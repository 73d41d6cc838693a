//! Inputs of attention on a GPU, which take turns, and what a sample of the output's rows should be.
//!
//! They are made once for a problem: any kernel can be run on them, so that tiles are compared on the same numbers.

use super::super::attend::{Comparison, Limits};
use super::super::engine::Gpu;
use super::super::error::CliError;
use super::gpu::{random, read, sets, unwritten};
use super::shape::Shape;
use super::timing::Times;
use half::f16;
use quadpair::DType;
use quadpair::cuda::cudarc::driver::CudaSlice;
use quadpair_kernels::attention::{Attention, Inputs, Outputs, Problem, Reference, reference};
use quadpair_kernels::metrics::Difference;
use quadpair_kernels::number::Real;
use quadpair_kernels::view::View;
use rayon::prelude::*;

/// Rows of an output that are held against float64.
const CHECKED: usize = 64;

/// One problem: several sets of tensors that take turns.
pub struct AttentionInputs {
    problem: Problem,
    shape: Shape,
    sets: Vec<Set>,
    workspace: CudaSlice<f32>,
    sample: Sample,
}

/// The tensors of one turn.
struct Set {
    q: CudaSlice<f16>,
    k: CudaSlice<f16>,
    v: CudaSlice<f16>,
    out: CudaSlice<f16>,
    lse: CudaSlice<f32>,
}

/// Some rows of the first set's output.
struct Sample {
    /// Batch, head and query of each.
    rows: Vec<[usize; 3]>,
    /// Each in float64.
    expected: Vec<Reference>,
}

impl AttentionInputs {
    /// Random inputs of a shape.
    pub fn new(gpu: &Gpu, shape: Shape, problem: Problem) -> Result<Self, CliError> {
        let head_dim = problem.head_dim;
        let length = |shape: [usize; 4]| shape.iter().product::<usize>();
        let (q_length, k_length) = (length(shape.q(head_dim)), length(shape.k(head_dim)));
        let (mut sample, mut made) = (Sample { rows: Vec::new(), expected: Vec::new() }, Vec::new());
        for set in 0..sets(gpu, 2 * (q_length + 2 * k_length)) {
            let (q_host, q) = random(gpu, set, 0, q_length)?;
            let (k_host, k) = random(gpu, set, 1, k_length)?;
            let (v_host, v) = random(gpu, set, 2, k_length)?;
            if set == 0 {
                let keys = |data| View::contiguous(data, shape.k(head_dim));
                let q = View::contiguous(&q_host[..], shape.q(head_dim));
                let inputs = Inputs { causal: problem.causal, ..Inputs::new(q, keys(&k_host[..]), keys(&v_host[..])) };
                sample = Sample::of(&inputs, shape)?;
            }
            made.push(Set { q, k, v, out: unwritten(gpu, q_length)?, lse: unwritten(gpu, shape.rows())? });
        }
        Ok(Self { problem, shape, sets: made, workspace: unwritten(gpu, 0)?, sample })
    }

    /// Inputs that fill a GPU, of one sequence.
    pub fn filling(gpu: &Gpu, head_dim: usize) -> Result<Self, CliError> {
        let shape = Shape { batch: 1, heads: 32, kv_heads: 32, queries: 4096, keys: 4096 };
        Self::new(gpu, shape, shape.problem(head_dim, false))
    }

    /// Batch, head and query of each row that is checked.
    pub fn checked(&self) -> &[[usize; 3]] {
        &self.sample.rows
    }

    /// TFLOP/s of an attention, once its output was checked.
    pub fn rate(&mut self, gpu: &Gpu, attention: &Attention<f16, f32>) -> Result<f64, CliError> {
        let operations = self.shape.operations(self.problem.head_dim, self.problem.causal);
        let (times, _) = self.measure(gpu, attention)?;
        Ok(times.giga(operations) / 1e3)
    }

    /// Checks the first output, then times.
    pub fn measure(&mut self, gpu: &Gpu, attention: &Attention<f16, f32>) -> Result<(Times, Comparison), CliError> {
        // What an earlier kernel wrote is no result of this one.
        let first = &mut self.sets[0];
        (first.out, first.lse) = (unwritten(gpu, first.out.len())?, unwritten(gpu, first.lse.len())?);
        self.workspace = unwritten(gpu, attention.workspace(&gpu.cuda, &self.problem)?)?;
        self.launch(gpu, attention, 0)?;
        let (out, lse) = (read(gpu, &self.sets[0].out)?, read(gpu, &self.sets[0].lse)?);
        let comparison = self.sample.compare(&out, &lse, self.shape);
        Limits::of(DType::F16).check(&comparison)?;
        let times = Times::of(&gpu.cuda, |turn| self.launch(gpu, attention, turn))?;
        Ok((times, comparison))
    }

    fn launch(&mut self, gpu: &Gpu, attention: &Attention<f16, f32>, turn: usize) -> Result<(), CliError> {
        let (q, k) = (self.shape.q(self.problem.head_dim), self.shape.k(self.problem.head_dim));
        let count = self.sets.len();
        let set = &mut self.sets[turn % count];
        let (k, v) = (View::contiguous(set.k.as_view(), k), View::contiguous(set.v.as_view(), k));
        let inputs = Inputs::new(View::contiguous(set.q.as_view(), q), k, v);
        let inputs = Inputs { causal: self.problem.causal, ..inputs };
        let outputs = Outputs { out: View::contiguous(set.out.as_view_mut(), q), lse: set.lse.as_view_mut() };
        attention.forward_in_parts(&gpu.cuda, inputs, outputs, self.workspace.as_view_mut())?;
        Ok(())
    }
}

impl Sample {
    fn of(inputs: &Inputs<&[f16], &[f32]>, shape: Shape) -> Result<Self, CliError> {
        let rows = shape.sample(CHECKED);
        let expected: Result<Vec<_>, _> =
            rows.par_iter().map(|&row| reference(&one_row(inputs, shape, row), || ())).collect();
        Ok(Self { rows, expected: expected? })
    }

    /// Compares an output with the sample, and counts every element that is no number.
    fn compare(&self, out: &[f16], lse: &[f32], shape: Shape) -> Comparison {
        let head_dim = out.len() / shape.rows().max(1);
        let rows: Vec<usize> = self.rows.iter().map(|&row| shape.row(row)).collect();
        let actual = rows.iter().flat_map(|row| &out[row * head_dim..][..head_dim]).map(|number| number.to_f64());
        let expected = self.expected.iter().flat_map(|row| row.out.iter().copied());
        let mut out_difference = Difference::between(actual, expected);
        out_difference.unusable += out.iter().filter(|number| number.is_nan()).count();
        let actual = rows.iter().map(|&row| lse[row].to_f64());
        let lse = Difference::between(actual, self.expected.iter().flat_map(|row| row.lse.iter().copied()));
        Comparison { against: "float64", out: Some(out_difference), lse: Some(lse) }
    }
}

/// The inputs of one row of the output: its query, and the keys and values that it sees of the head that it shares.
fn one_row<'a>(
    inputs: &Inputs<&'a [f16], &'a [f32]>,
    shape: Shape,
    [batch, head, query]: [usize; 3],
) -> Inputs<&'a [f16], &'a [f32]> {
    let head_dim = inputs.q.shape[3];
    let part = |data: &'a [f16], start: usize, rows: usize| {
        View::contiguous(&data[start * head_dim..][..rows * head_dim], [1, 1, rows, head_dim])
    };
    let (keys, seen) = (shape.key_row(batch, head), shape.problem(head_dim, inputs.causal).seen(query));
    let (k, v) = (part(inputs.k.data, keys, seen), part(inputs.v.data, keys, seen));
    Inputs::new(part(inputs.q.data, shape.row([batch, head, query]), 1), k, v)
}

#[cfg(test)]
mod tests {
    use super::super::random::normal;
    use super::*;

    #[test]
    fn checked_rows_are_those_of_the_whole_output() {
        let cases = [("2x4/2x5/7", 8, false), ("1x2x3", 16, false), ("3x2/1x1/9", 8, true), ("1x2x6/5", 8, true)];
        for (text, head_dim, causal) in cases {
            let shape: Shape = text.parse().unwrap();
            let (q_shape, k_shape) = (shape.q(head_dim), shape.k(head_dim));
            let random = |seed, shape: [usize; 4]| normal(seed, shape.iter().product());
            let (q, k, v) = (random(0, q_shape), random(1, k_shape), random(2, k_shape));
            let keys = |data| View::contiguous(data, k_shape);
            let inputs = Inputs::<_, &[f32]>::new(View::contiguous(&q[..], q_shape), keys(&k[..]), keys(&v[..]));
            let inputs = Inputs { causal, ..inputs };
            let whole = reference(&inputs, || ()).unwrap();
            let mut out: Vec<f16> = whole.out.iter().map(|&number| f16::from_f64(number)).collect();
            let lse: Vec<f32> = whole.lse.iter().map(|&number| number as f32).collect();
            let sample = Sample::of(&inputs, shape).unwrap();
            assert!(!sample.rows.is_empty());
            Limits::of(DType::F16).check(&sample.compare(&out, &lse, shape)).unwrap();
            out[0] = f16::NAN;
            assert!(Limits::of(DType::F16).check(&sample.compare(&out, &lse, shape)).is_err());
        }
    }
}
