//! The shape of an attention problem, and what follows from it.
//!
//! `4x16x4096` is a batch of 4 with 16 heads of 4096 queries and as many keys. `8x32/8x1/16384` is a step of decoding: one
//! query for each of 32 heads, which share 8 heads of 16384 keys.

use quadpair_kernels::attention::Problem;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// The extents of q, k and v but for the head dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Shape {
    pub batch: usize,
    pub heads: usize,
    pub kv_heads: usize,
    pub queries: usize,
    pub keys: usize,
}

impl Shape {
    /// The shape of q.
    pub fn q(&self, head_dim: usize) -> [usize; 4] {
        [self.batch, self.heads, self.queries, head_dim]
    }

    /// The shape of k and of v.
    pub fn k(&self, head_dim: usize) -> [usize; 4] {
        [self.batch, self.kv_heads, self.keys, head_dim]
    }

    /// Rows of the output.
    pub fn rows(&self) -> usize {
        self.batch * self.heads * self.queries
    }

    /// The number of an output's row.
    pub fn row(&self, [batch, head, query]: [usize; 3]) -> usize {
        (batch * self.heads + head) * self.queries + query
    }

    /// The number of the first key's row of a head.
    pub fn key_row(&self, batch: usize, head: usize) -> usize {
        (batch * self.kv_heads + head / (self.heads / self.kv_heads)) * self.keys
    }

    /// The problem of these tensors without a bias.
    pub fn problem(&self, head_dim: usize, causal: bool) -> Problem {
        let Shape { batch, heads, kv_heads, queries: n_q, keys: n_k } = *self;
        Problem { batch, heads, kv_heads, n_q, n_k, head_dim, causal, bias: false }
    }

    /// Floating-point operations: a multiplication and an addition for each element of both products. With a causal mask
    /// half of it, as is usual to count; of a single query, which sees all keys, the whole.
    pub fn operations(&self, head_dim: usize, causal: bool) -> f64 {
        let share = if causal && self.queries > 1 { 0.5 } else { 1.0 };
        4.0 * share * self.rows() as f64 * self.keys as f64 * head_dim as f64
    }

    /// Bytes of f16 inputs and outputs, each once, and of the LSE.
    pub fn bytes(&self, head_dim: usize) -> f64 {
        let vectors = 2 * self.rows() + 2 * self.batch * self.kv_heads * self.keys;
        (2 * vectors * head_dim + 4 * self.rows()) as f64
    }

    /// Up to `count` rows, evenly spaced but for a step that is coprime to the extents' usual powers of two.
    pub fn sample(&self, count: usize) -> Vec<[usize; 3]> {
        let rows = self.rows();
        let step = (rows / count) | 1;
        let numbers = (0..rows).step_by(step).take(count);
        numbers
            .map(|row| [row / self.queries / self.heads, row / self.queries % self.heads, row % self.queries])
            .collect()
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "a shape is BATCHxHEADSxQUERIES, each of them 1 or more, such as 4x16x4096 or 8x32/8x1/16384";
        let extent = |text: &str| text.parse().ok().filter(|&extent: &usize| extent > 0).ok_or_else(wrong);
        let pair = |text: &str| match text.split_once('/') {
            Some((of_q, of_k)) => Ok((extent(of_q)?, extent(of_k)?)),
            None => extent(text).map(|both| (both, both)),
        };
        let [batch, heads, length] = text.split('x').collect::<Vec<_>>()[..] else { return Err(wrong().into()) };
        let ((heads, kv_heads), (queries, keys)) = (pair(heads)?, pair(length)?);
        if heads % kv_heads != 0 {
            return Err(format!(
                "{heads} heads of q can't share {kv_heads} of k: the first is no multiple of the second"
            ));
        }
        Ok(Self { batch: extent(batch)?, heads, kv_heads, queries, keys })
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pair = |of_q: usize, of_k: usize| {
            if of_q == of_k { of_q.to_string() } else { format!("{of_q}/{of_k}") }
        };
        write!(f, "{}x{}x{}", self.batch, pair(self.heads, self.kv_heads), pair(self.queries, self.keys))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_read_and_printed_alike() {
        for text in ["4x16x4096", "8x32/8x1/16384", "1x2x3/4", "1x2/1x3"] {
            assert_eq!(text.parse::<Shape>().unwrap().to_string(), text);
        }
        for wrong in ["", "4x16", "4x16x4096x64", "0x1x1", "1x1x1/0", "1x1/x1", "1x-1x1"] {
            assert!(wrong.parse::<Shape>().unwrap_err().starts_with("a shape is"), "{wrong}");
        }
        let error = "1x6/4x1".parse::<Shape>().unwrap_err();
        assert_eq!(error, "6 heads of q can't share 4 of k: the first is no multiple of the second");
    }

    #[test]
    fn a_sample_has_different_rows_of_the_output() {
        for text in ["4x16x4096", "8x32/8x1/16384", "1x1x3", "1x2x40"] {
            let shape: Shape = text.parse().unwrap();
            let sample = shape.sample(64);
            let mut rows: Vec<usize> = sample.iter().map(|&row| shape.row(row)).collect();
            assert_eq!(sample.len(), rows.len());
            rows.dedup();
            assert!(rows.len() == sample.len() && rows.iter().all(|&row| row < shape.rows()), "{text}");
        }
        let queries: Vec<usize> = "4x16x4096".parse::<Shape>().unwrap().sample(64).iter().map(|row| row[2]).collect();
        assert!(queries.iter().any(|query| query % 2 == 1), "{queries:?}");
    }

    #[test]
    fn operations_are_those_of_two_products_and_bytes_those_of_the_tensors() {
        let shape: Shape = "2x6/3x5/7".parse().unwrap();
        assert_eq!(shape.operations(8, false), 2.0 * 2.0 * (2 * 6 * 5 * 7 * 8) as f64);
        assert_eq!(shape.operations(8, true), 2.0 * (2 * 6 * 5 * 7 * 8) as f64);
        let one: Shape = "2x6/3x1/7".parse().unwrap();
        assert_eq!(one.operations(8, true), one.operations(8, false));
        let [q, k] = [shape.q(8), shape.k(8)].map(|shape| shape.iter().product::<usize>());
        assert_eq!(shape.bytes(8), (2 * (2 * q + 2 * k) + 4 * 2 * 6 * 5) as f64);
    }
}
