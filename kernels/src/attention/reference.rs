//! Attention in float64: what the kernels are held against.
//!
//! For query row `i` of a head and the keys `j` of the head it shares:
//!
//! ```text
//! s_j   = scale * q_i . k_j + bias_ij
//! lse_i = log(sum_j exp(s_j))           out_i = sum_j exp(s_j - lse_i) v_j
//! ```
//!
//! With a causal mask query `i` has the keys up to `i + keys - queries` only, so that the last query has all of them. A row
//! whose scores are all -inf, or that has no key, gives output 0 and LSE -inf. Nothing is rounded on the way: with
//! `q_i . k = (1, 3)` at scale 1 and values `(0), (1)` the output is `1 / (1 + exp(-2)) = 0.880797...`, whatever the
//! element type of the tensors.

use super::{AttentionError, Inputs, Operand};
use crate::number::Real;
use crate::view::View;
use rayon::prelude::*;

/// Output and log-sum-exp in float64, both contiguous.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// `[batch, heads, queries, head dim]`.
    pub out: Vec<f64>,
    /// `[batch, heads, queries]`, natural logarithm.
    pub lse: Vec<f64>,
}

/// Computes attention in float64, rows in parallel; `on_row` is called once a finished row.
///
/// # Errors
/// The tensors don't fit each other or their buffers, or the scale isn't finite.
pub fn reference<T: Real, U: Real>(
    inputs: &Inputs<&[T], &[U]>,
    on_row: impl Fn() + Sync,
) -> Result<Reference, AttentionError> {
    let problem = inputs.problem()?;
    let scale = f64::from(inputs.scale_for(problem.head_dim)?);
    let (k, v) = (rows_in_f64(&inputs.k), rows_in_f64(&inputs.v));
    let (head_dim, head_len) = (problem.head_dim, problem.n_k * problem.head_dim);
    let mut out = vec![0.0; problem.rows() * head_dim];
    let mut lse = vec![f64::NEG_INFINITY; problem.rows()];
    // A head dim of 0 leaves no row of the output to zip with.
    out.par_chunks_mut(head_dim.max(1)).zip(&mut lse).enumerate().for_each(|(row, (out, lse))| {
        let (query, head) = (row % problem.n_q, row / problem.n_q % problem.heads);
        let (batch, kv_head) = (row / problem.n_q / problem.heads, head / problem.group());
        let q = row_of(&inputs.q, [batch, head, query]);
        let keys = (batch * problem.kv_heads + kv_head) * head_len;
        let seen = problem.seen(query) * head_dim;
        let mut scores = scores(q, &k[keys..][..seen], scale);
        if let Some(bias) = &inputs.bias {
            scores.iter_mut().enumerate().for_each(|(key, score)| *score += broadcast(bias, [batch, head, query, key]));
        }
        *lse = weigh(&scores, &v[keys..][..seen], out);
        on_row();
    });
    Ok(Reference { out, lse })
}

/// The scaled products of a query row with the rows of `keys`.
fn scores<T: Real>(q: &[T], keys: &[f64], scale: f64) -> Vec<f64> {
    let q: Vec<f64> = q.iter().map(|q| q.to_f64()).collect();
    keys.chunks(q.len()).map(|k| scale * q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>()).collect()
}

/// Adds the rows of `values`, weighted by the softmax of the scores, to `out`; returns the LSE.
fn weigh(scores: &[f64], values: &[f64], out: &mut [f64]) -> f64 {
    let max = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if max == f64::NEG_INFINITY && !scores.iter().any(|score| score.is_nan()) {
        return f64::NEG_INFINITY;
    }
    let sum: f64 = scores.iter().map(|score| (score - max).exp()).sum();
    for (score, row) in scores.iter().zip(values.chunks(out.len())) {
        let weight = (score - max).exp() / sum;
        out.iter_mut().zip(row).for_each(|(out, value)| *out += weight * value);
    }
    max + sum.ln()
}

/// All rows one after the other.
fn rows_in_f64<T: Real>(view: &View<&[T]>) -> Vec<f64> {
    let [batch, heads, rows, _] = view.shape;
    let indices = (0..batch * heads * rows).map(|i| [i / rows / heads, i / rows % heads, i % rows]);
    indices.flat_map(|index| row_of(view, index)).map(|element| element.to_f64()).collect()
}

/// The elements of one row.
fn row_of<'a, T>(view: &View<&'a [T]>, index: [usize; 3]) -> &'a [T] {
    let start: usize = index.iter().zip(&view.strides).map(|(index, stride)| index * stride).sum();
    &view.data[start..][..view.shape[3]]
}

/// One element of a view whose extents of 1 stand for any extent.
fn broadcast<U: Real>(view: &View<&[U]>, index: [usize; 4]) -> f64 {
    let along = |dim: usize| {
        if view.shape[dim] == 1 { 0 } else { index[dim] * view.strides[dim] }
    };
    view.data[(0..4).map(along).sum::<usize>()].to_f64()
}

/// Checks an input view of host memory.
pub(crate) fn host_operand<T>(name: &'static str, view: &View<&[T]>) -> Operand {
    Operand::new(name, view, view.data.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::f16;

    fn run<U: Real>(inputs: &Inputs<&[f32], &[U]>) -> Reference {
        reference(inputs, || ()).unwrap()
    }

    fn close(actual: f64, expected: f64) {
        assert!((actual - expected).abs() < 1e-12, "{actual} is not {expected}");
    }

    #[test]
    fn two_keys_by_hand() {
        let (q, k, v) = ([1.0, 1.0], [1.0, 0.0, 3.0, 0.0], [0.0, 5.0, 1.0, 7.0]);
        let inputs = Inputs::<&[f32], &[f32]> {
            scale: Some(1.0),
            ..Inputs::new(
                View::contiguous(&q[..], [1, 1, 1, 2]),
                View::contiguous(&k[..], [1, 1, 2, 2]),
                View::contiguous(&v[..], [1, 1, 2, 2]),
            )
        };
        let result = run(&inputs);
        let second = 1.0 / (1.0 + (-2.0_f64).exp());
        close(result.out[0], second);
        close(result.out[1], 5.0 * (1.0 - second) + 7.0 * second);
        close(result.lse[0], (1.0_f64.exp() + 3.0_f64.exp()).ln());
    }

    #[test]
    fn default_scale_is_one_over_the_root_of_the_head_dim() {
        let q = [2.0; 4];
        let inputs = Inputs::<&[f32], &[f32]>::new(
            View::contiguous(&q[..], [1, 1, 1, 4]),
            View::contiguous(&q[..], [1, 1, 1, 4]),
            View::contiguous(&q[..], [1, 1, 1, 4]),
        );
        close(run(&inputs).lse[0], 16.0 / 2.0);
    }

    #[test]
    fn masked_rows_and_missing_keys_give_zero_and_minus_infinity() {
        let (q, bias) = ([1.0; 16], [f16::NEG_INFINITY; 1]);
        let view = View::contiguous(&q[..], [1, 1, 2, 8]);
        let mut inputs = Inputs::new(view, view, view);
        inputs.bias = Some(View::contiguous(&bias[..], [1, 1, 1, 1]));
        let none = Reference { out: vec![0.0; 16], lse: vec![f64::NEG_INFINITY; 2] };
        assert_eq!(run(&inputs), none);
        let empty = View::contiguous(&q[..0], [1, 1, 0, 8]);
        assert_eq!(run(&Inputs::<_, &[f16]>::new(view, empty, empty)), none);
    }

    #[test]
    fn the_lowest_finite_bias_on_all_keys_averages_the_values() {
        let (q, v, bias) = ([0.5; 16], [[1.0; 8], [3.0; 8]].concat(), [f32::MIN; 2]);
        let keys = View::contiguous(&q[..], [1, 1, 2, 8]);
        let values = keys.with(&v[..]);
        let mut inputs = Inputs::new(View::contiguous(&q[..8], [1, 1, 1, 8]), keys, values);
        inputs.bias = Some(View::contiguous(&bias[..], [1, 1, 1, 2]));
        let result = run(&inputs);
        close(result.out[0], 2.0);
        assert_eq!(result.lse[0], f64::from(f32::MIN));
    }

    #[test]
    fn a_causal_row_is_one_of_fewer_keys() {
        let data: Vec<f32> = (0..160).map(|i| ((i * 37 % 101) as f32 - 50.0) / 40.0).collect();
        let q = View::contiguous(&data[..], [1, 1, 4, 8]);
        let keys = |count| View::contiguous(&data[40..][..count * 8], [1, 1, count, 8]);
        let causal = run(&Inputs::<_, &[f32]> { causal: true, ..Inputs::new(q, keys(3), keys(3)) });
        assert_eq!((&causal.out[..8], causal.lse[0]), (&[0.0; 8][..], f64::NEG_INFINITY));
        for query in 1..4 {
            let row = View::contiguous(&data[query * 8..][..8], [1, 1, 1, 8]);
            let alone = run(&Inputs::<_, &[f32]>::new(row, keys(query), keys(query)));
            assert_eq!((&causal.out[query * 8..][..8], causal.lse[query]), (&alone.out[..], alone.lse[0]));
        }
    }

    #[test]
    fn strides_and_shared_heads_choose_the_same_elements_as_copies() {
        let data: Vec<f32> = (0..600).map(|i| ((i * 37 % 101) as f32 - 50.0) / 40.0).collect();
        let q = View::strided(&data[..], [2, 4, 3, 8], [110, 8, 33, 1]);
        let k = View::strided(&data[7..], [2, 2, 5, 8], [100, 9, 20, 1]);
        let v = View::strided(&data[11..], [2, 2, 5, 8], [0, 50, 10, 1]);
        let strided = run(&Inputs::<_, &[f32]>::new(q, k, v));
        let expand = |view: &View<&[f32]>, group| {
            let [batch, heads, rows, _] = view.shape;
            let index = |i: usize| [i / rows / heads / group, i / rows % (heads * group) / group, i % rows];
            (0..batch * heads * group * rows).flat_map(|i| row_of(view, index(i)).to_vec()).collect::<Vec<f32>>()
        };
        let (q, k, v) = (expand(&q, 1), expand(&k, 2), expand(&v, 2));
        let plain = run(&Inputs::<_, &[f32]>::new(
            View::contiguous(&q[..], [2, 4, 3, 8]),
            View::contiguous(&k[..], [2, 4, 5, 8]),
            View::contiguous(&v[..], [2, 4, 5, 8]),
        ));
        assert_eq!(strided, plain);
    }
}
