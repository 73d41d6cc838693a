//! Attention as sizes: what a set of tensors asks for, checked once for kernels and reference alike.
//!
//! ```text
//! q    [batch, heads,    queries, head dim]      out [batch, heads, queries, head dim]
//! k, v [batch, kv heads, keys,    head dim]      lse [batch, heads, queries]
//! bias [batch|1, heads|1, queries|1, keys|1]
//! ```
//!
//! `heads / kv heads` consecutive query heads share a key head. Everything here is plain numbers, so it's the same code
//! for host slices and for GPU memory; whoever launches has passed through [`Problem::new`] and
//! [`Problem::check_outputs`], after which every address that a kernel forms lies inside its buffer.

use super::AttentionError;
use crate::tile::keeps_alignment;
use crate::view::{View, is_injective, span};

/// A view without its buffer, but with the buffer's length: all that checks need.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Operand {
    pub name: &'static str,
    pub shape: [usize; 4],
    pub strides: [usize; 4],
    pub length: usize,
}

impl Operand {
    pub fn new<D>(name: &'static str, view: &View<D>, length: usize) -> Self {
        Self { name, shape: view.shape, strides: view.strides, length }
    }

    fn check_buffer(&self) -> Result<(), AttentionError> {
        let needed = span(self.shape, self.strides).unwrap_or(usize::MAX);
        if needed > self.length {
            return Err(AttentionError::Buffer { tensor: self.name, needed, length: self.length });
        }
        Ok(())
    }

    fn check_row(&self) -> Result<(), AttentionError> {
        if self.shape[3] > 1 && self.strides[3] != 1 {
            return Err(AttentionError::RowStride { tensor: self.name, stride: self.strides[3] });
        }
        Ok(())
    }

    fn check_shape(&self, expected: [usize; 4], why: &'static str) -> Result<(), AttentionError> {
        if self.shape != expected {
            return Err(AttentionError::Shape { tensor: self.name, shape: self.shape, expected, why });
        }
        Ok(())
    }

    /// Strides as the kernel takes them: 0 where the extent is 1, so that such a dimension is broadcast.
    pub fn kernel_strides(&self) -> [i64; 4] {
        std::array::from_fn(|dim| if self.shape[dim] == 1 { 0 } else { self.strides[dim] as i64 })
    }

    /// Whether every row is as aligned as the buffer's start.
    pub fn rows_aligned(&self, element_bytes: usize) -> bool {
        (0..3).all(|dim| self.shape[dim] <= 1 || keeps_alignment(self.strides[dim], element_bytes))
    }
}

/// The sizes of one attention call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Independent sequences.
    pub batch: usize,
    /// Query heads.
    pub heads: usize,
    /// Key and value heads; divides `heads`.
    pub kv_heads: usize,
    /// Query rows a head.
    pub n_q: usize,
    /// Keys a head.
    pub n_k: usize,
    /// Elements a row.
    pub head_dim: usize,
    /// Whether query `i` sees key `j` only if `j <= i + keys - queries`: the last query sees all keys.
    pub causal: bool,
    /// Whether there is a bias.
    pub bias: bool,
}

impl Problem {
    /// Reads the sizes off the inputs and checks that the inputs agree and lie inside their buffers.
    pub(crate) fn new([q, k, v]: [Operand; 3], bias: Option<Operand>, causal: bool) -> Result<Self, AttentionError> {
        let [batch, heads, n_q, head_dim] = q.shape;
        let [_, kv_heads, n_k, _] = k.shape;
        k.check_shape([batch, kv_heads, n_k, head_dim], "k has q's batch and head dim")?;
        v.check_shape(k.shape, "v has k's shape")?;
        let problem = Self { batch, heads, kv_heads, n_q, n_k, head_dim, causal, bias: bias.is_some() };
        problem.check_sizes()?;
        for operand in [q, k, v] {
            operand.check_row()?;
            operand.check_buffer()?;
        }
        if let Some(bias) = bias {
            problem.check_bias(bias)?;
        }
        Ok(problem)
    }

    /// Checks the tensors that are written: `out` like q, and at least `batch * heads * queries` elements of `lse`.
    pub(crate) fn check_outputs(&self, out: Operand, lse: usize) -> Result<(), AttentionError> {
        out.check_shape([self.batch, self.heads, self.n_q, self.head_dim], "out has q's shape")?;
        out.check_row()?;
        out.check_buffer()?;
        if !is_injective(out.shape, out.strides) {
            return Err(AttentionError::Overlap { tensor: out.name, shape: out.shape, strides: out.strides });
        }
        if lse < self.rows() {
            return Err(AttentionError::Buffer { tensor: "lse", needed: self.rows(), length: lse });
        }
        Ok(())
    }

    /// Query rows of all heads and sequences.
    pub fn rows(&self) -> usize {
        self.batch * self.heads * self.n_q
    }

    /// Query heads that share a key head; 1 if there are no heads.
    pub fn group(&self) -> usize {
        self.heads.checked_div(self.kv_heads).unwrap_or(1)
    }

    /// How many keys, from the first on, a query sees.
    pub fn seen(&self, query: usize) -> usize {
        if self.causal { (query + 1 + self.n_k).saturating_sub(self.n_q).min(self.n_k) } else { self.n_k }
    }

    /// The problem as it's launched: of one query, the heads that share a key head are the rows of one head, so that a
    /// tile has more than one row to multiply. They lie as far apart as the heads did, and no mask hides a key from them.
    pub(crate) fn packed(&self) -> Self {
        if self.n_q == 1 { Self { heads: self.kv_heads, n_q: self.group(), causal: false, ..*self } } else { *self }
    }

    fn check_sizes(&self) -> Result<(), AttentionError> {
        let divides = if self.kv_heads == 0 { self.heads == 0 } else { self.heads.is_multiple_of(self.kv_heads) };
        if !divides {
            return Err(AttentionError::Heads { heads: self.heads, kv_heads: self.kv_heads });
        }
        // Tiles step over the end by less than one tile, and row numbers stay in an i32 there too.
        let limit = i32::MAX as usize - 1024;
        check_limit("queries", self.n_q, limit)?;
        check_limit("keys", self.n_k, limit)?;
        // Sequences and heads are the second and third extent of the grid.
        check_limit("heads", self.heads, 65_535)?;
        check_limit("sequences of the batch", self.batch, 65_535)?;
        let elements = (self.batch * self.heads).saturating_mul(self.n_q).saturating_mul(self.head_dim);
        check_limit("elements of q", elements, isize::MAX as usize / size_of::<f64>())
    }

    fn check_bias(&self, bias: Operand) -> Result<(), AttentionError> {
        let full = [self.batch, self.heads, self.n_q, self.n_k];
        let fits = |(have, want): (&usize, &usize)| *have == 1 || have == want;
        if !bias.shape.iter().zip(&full).all(fits) {
            let why = "each extent of the bias is 1 or that of [batch, heads, queries, keys]";
            return Err(AttentionError::Shape { tensor: bias.name, shape: bias.shape, expected: full, why });
        }
        bias.check_buffer()
    }
}

fn check_limit(what: &'static str, value: usize, limit: usize) -> Result<(), AttentionError> {
    if value > limit {
        return Err(AttentionError::TooLarge { what, value, limit });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn operand(name: &'static str, shape: [usize; 4]) -> Operand {
        Operand::new(name, &View::contiguous((), shape), shape.iter().product())
    }

    fn inputs() -> [Operand; 3] {
        [operand("q", [2, 6, 33, 64]), operand("k", [2, 3, 77, 64]), operand("v", [2, 3, 77, 64])]
    }

    fn message(inputs: [Operand; 3], bias: Option<Operand>) -> String {
        Problem::new(inputs, bias, false).unwrap_err().to_string()
    }

    #[test]
    fn sizes_are_read_off_the_inputs() {
        let problem = Problem::new(inputs(), Some(operand("bias", [2, 1, 1, 77])), true).unwrap();
        let sizes =
            Problem { batch: 2, heads: 6, kv_heads: 3, n_q: 33, n_k: 77, head_dim: 64, causal: true, bias: true };
        assert_eq!(problem, sizes);
        assert_eq!(problem.group(), 2);
        problem.check_outputs(operand("out", [2, 6, 33, 64]), 2 * 6 * 33).unwrap();
    }

    #[test]
    fn empty_batches_and_sequences_are_problems_too() {
        for [batch, heads, n_q, n_k] in [[0, 2, 3, 5], [1, 0, 3, 5], [1, 2, 0, 5], [1, 2, 3, 0]] {
            let q = operand("q", [batch, heads, n_q, 8]);
            let k = operand("k", [batch, heads, n_k, 8]);
            let problem = Problem::new([q, k, Operand { name: "v", ..k }], None, false).unwrap();
            problem.check_outputs(Operand { name: "out", ..q }, problem.rows()).unwrap();
        }
    }

    #[test]
    fn shapes_that_do_not_fit_are_named_with_what_would() {
        let [q, k, v] = inputs();
        let other = operand("k", [2, 3, 77, 32]);
        assert_eq!(
            message([q, other, v], None),
            "k is [2, 3, 77, 32]; [2, 3, 77, 64] is needed: k has q's batch and head dim"
        );
        let other = operand("v", [2, 3, 78, 64]);
        assert_eq!(message([q, k, other], None), "v is [2, 3, 78, 64]; [2, 3, 77, 64] is needed: v has k's shape");
        let bias = operand("bias", [2, 1, 33, 78]);
        assert_eq!(
            message([q, k, v], Some(bias)),
            "bias is [2, 1, 33, 78]; [2, 6, 33, 77] is needed: each extent of the bias is 1 or that of [batch, heads, \
             queries, keys]"
        );
    }

    #[test]
    fn heads_have_to_divide() {
        let [_, k, v] = inputs();
        let q = operand("q", [2, 7, 33, 64]);
        assert!(message([q, k, v], None).starts_with("7 query heads can't share 3 key heads"));
    }

    #[test]
    fn views_have_to_stay_inside_their_buffers() {
        let [q, k, v] = inputs();
        let short = Operand { length: q.length - 1, ..q };
        assert_eq!(message([short, k, v], None), "q has 25343 elements, its shape and strides reach 25344");
        let huge = Operand { strides: [usize::MAX, 64, 64, 1], ..q };
        assert!(message([huge, k, v], None).contains("reach 18446744073709551615"));
        let bias = Operand { length: 76, ..operand("bias", [1, 1, 1, 77]) };
        assert_eq!(message([q, k, v], Some(bias)), "bias has 76 elements, its shape and strides reach 77");
    }

    #[test]
    fn rows_have_to_be_contiguous() {
        let [q, k, v] = inputs();
        let strided = Operand { strides: [0, 0, 0, 2], ..v };
        assert!(message([q, k, strided], None).starts_with("v has stride 2 along the head dim"));
    }

    #[test]
    fn outputs_may_not_overlap_or_be_short() {
        let [q, k, v] = inputs();
        let problem = Problem::new([q, k, v], None, false).unwrap();
        let out = Operand { name: "out", ..q };
        let overlapping = Operand { strides: [6 * 33 * 64, 0, 64, 1], ..out };
        let error = problem.check_outputs(overlapping, 396).unwrap_err();
        assert!(matches!(error, AttentionError::Overlap { tensor: "out", .. }));
        let error = problem.check_outputs(out, 395).unwrap_err();
        assert_eq!(error.to_string(), "lse has 395 elements, its shape and strides reach 396");
    }

    #[test]
    fn a_causal_query_sees_the_keys_up_to_its_own_place_from_the_end() {
        let seen = |n_q, n_k, causal| {
            let [q, k] = [operand("q", [1, 1, n_q, 8]), operand("k", [1, 1, n_k, 8])];
            let problem = Problem::new([q, k, Operand { name: "v", ..k }], None, causal).unwrap();
            (0..n_q).map(|query| problem.seen(query)).collect::<Vec<_>>()
        };
        assert_eq!(seen(3, 5, true), [3, 4, 5]);
        assert_eq!(seen(4, 2, true), [0, 0, 1, 2]);
        assert_eq!(seen(2, 0, true), [0, 0]);
        assert_eq!(seen(2, 5, false), [5, 5]);
    }

    #[test]
    fn heads_of_one_query_are_packed() {
        let [q, k] = [operand("q", [2, 6, 1, 8]), operand("k", [2, 3, 7, 8])];
        let problem = Problem::new([q, k, Operand { name: "v", ..k }], None, true).unwrap();
        assert_eq!(problem.packed(), Problem { heads: 3, n_q: 2, causal: false, ..problem });
        let two = Problem { n_q: 2, ..problem };
        assert_eq!(two.packed(), two);
        let alone = Problem { kv_heads: 6, ..problem };
        assert_eq!(alone.packed(), Problem { causal: false, ..alone });
    }

    #[test]
    fn more_than_a_launch_can_count_is_refused() {
        let q = Operand { strides: [0, 0, 0, 1], ..operand("q", [1, 1, 1 << 31, 8]) };
        let k = operand("k", [1, 1, 1, 8]);
        assert!(message([q, k, Operand { name: "v", ..k }], None).starts_with("queries: 2147483648 is more than"));
    }

    #[test]
    fn rows_are_aligned_if_every_stride_is() {
        let q = operand("q", [2, 6, 33, 64]);
        assert!(q.rows_aligned(2));
        assert!(!Operand { strides: [12672, 2112, 65, 1], ..q }.rows_aligned(2));
        assert!(Operand { shape: [1, 6, 33, 64], strides: [3, 2112, 64, 1], ..q }.rows_aligned(2));
    }

    #[test]
    fn extents_of_one_are_broadcast() {
        assert_eq!(operand("bias", [2, 1, 1, 77]).kernel_strides(), [77, 0, 0, 1]);
    }
}
