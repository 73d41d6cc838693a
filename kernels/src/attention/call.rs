//! One call, checked, and what it passes to the kernels.
//!
//! Of one query, the query heads that share a key head are rows of one head ([`Problem::packed`]). Nothing moves for it:
//! with q `[batch, 32 heads, 1, 64]` over 8 key heads, strides `[2048, 64, .., 1]` of batch, head and row become
//! `[2048, 4 * 64, 64, 1]` for 8 heads of 4 rows, and the LSE `[batch, 32, 1]` is `[batch, 8, 4]` as it lies.

use super::combine::CombinePartsArgs;
use super::split::Split;
use super::{AttentionError, FlashAttentionArgs, Inputs, Operand, Outputs, Problem, Scaling};
use crate::memory::Memory;
use crate::number::Real;
use crate::tile::WIDEST;
use crate::view::View;
use quadpair::Element;

/// One call, checked.
pub(super) struct Call {
    pub problem: Problem,
    /// Whether all rows start at a multiple of [`WIDEST`](crate::tile::WIDEST).
    pub aligned: bool,
    inputs: [Operand; 3],
    bias: Option<Operand>,
    scale: f32,
    scaling: Scaling,
}

impl Call {
    /// Checks the tensors.
    pub fn new<'a, B: Memory, T: Real, U: Real>(
        backend: &B,
        inputs: &Inputs<B::Ref<'a, T>, B::Ref<'a, U>>,
        outputs: &Outputs<B::Mut<'a, T>, B::Mut<'a, f32>>,
        scaling: Scaling,
    ) -> Result<Self, AttentionError> {
        let ([q, k, v], bias) = operands(backend, inputs);
        let out = Operand::new("out", &outputs.out, backend.length_mut(&outputs.out.data));
        let problem = Problem::new([q, k, v], bias, inputs.causal)?;
        problem.check_outputs(out, backend.length_mut(&outputs.lse))?;
        let scale = inputs.scale_for(problem.head_dim)?;
        let bytes = T::DTYPE.bytes() as usize;
        let aligned = [q, k, v, out].iter().all(|operand| operand.rows_aligned(bytes))
            && [&inputs.q, &inputs.k, &inputs.v].iter().all(|view| backend.is_aligned(&view.data, WIDEST))
            && backend.is_aligned_mut(&outputs.out.data, WIDEST);
        Ok(Self { problem, aligned, inputs: [q, k, v], bias, scale, scaling })
    }

    /// Arguments for attention: of a batch entry's parts, each writes an entry of its own.
    pub fn args<'a, B: Memory, T: Real, U: Real, O: Element>(
        &self,
        inputs: Inputs<B::Ref<'a, T>, B::Ref<'a, U>>,
        outputs: Outputs<B::Mut<'a, O>, B::Mut<'a, f32>>,
        split: Split,
    ) -> FlashAttentionArgs<'a, B, T, U, O> {
        let problem = self.problem.packed();
        let [q, k, v] = self.inputs.map(|operand| operand.kernel_strides());
        FlashAttentionArgs {
            q: inputs.q.data,
            k: inputs.k.data,
            v: inputs.v.data,
            bias: inputs.bias.map(|bias| bias.data),
            q_stride: rows(self.packed(q)),
            k_stride: rows(k),
            v_stride: rows(v),
            bias_stride: self.bias.map_or([0; 4], |bias| self.packed(bias.kernel_strides())),
            out_stride: rows(self.packed(strides(&outputs.out))),
            out: outputs.out.data,
            lse: outputs.lse,
            heads: int(problem.heads),
            batch: int(problem.batch),
            group: int(problem.group()),
            n_q: int(problem.n_q),
            n_k: int(problem.n_k),
            splits: int(split.parts),
            split_keys: int(split.keys),
            scale: self.scale,
            factor: self.factor(),
        }
    }

    /// Arguments for combining the output and the LSE of parts.
    pub fn combine_args<'a, B: Memory, T: Real>(
        &self,
        [part_out, part_lse]: [B::Ref<'a, f32>; 2],
        outputs: &'a mut Outputs<B::Mut<'_, T>, B::Mut<'_, f32>>,
        split: Split,
    ) -> CombinePartsArgs<'a, B, T> {
        let problem = self.problem.packed();
        CombinePartsArgs {
            part_out,
            part_lse,
            out_stride: rows(self.packed(strides(&outputs.out))),
            out: B::lend_mut(&mut outputs.out.data),
            lse: B::lend_mut(&mut outputs.lse),
            batch: int(problem.batch),
            heads: int(problem.heads),
            n_q: int(problem.n_q),
            parts: int(split.parts),
        }
    }

    /// What products of Q and K are multiplied by: without a bias that gives scores in powers of two.
    fn factor(&self) -> f32 {
        let scale = if self.scaling == Scaling::RoundedQuery { 1.0 } else { self.scale };
        if self.bias.is_some() { scale } else { scale * std::f32::consts::LOG2_E }
    }

    /// Strides of what has query heads and rows, as the problem is launched.
    fn packed(&self, [batch, head, row, last]: [i64; 4]) -> [i64; 4] {
        if self.problem.n_q == 1 {
            [batch, head * self.problem.group() as i64, head, last]
        } else {
            [batch, head, row, last]
        }
    }
}

/// Q, K and V as they lie in memory, and the bias if there is one.
pub(super) fn operands<'a, B: Memory, T: Real, U: Real>(
    backend: &B,
    inputs: &Inputs<B::Ref<'a, T>, B::Ref<'a, U>>,
) -> ([Operand; 3], Option<Operand>) {
    let read = |name, view: &View<B::Ref<'a, T>>| Operand::new(name, view, backend.length(&view.data));
    let bias = inputs.bias.as_ref().map(|bias| Operand::new("bias", bias, backend.length(&bias.data)));
    ([read("q", &inputs.q), read("k", &inputs.k), read("v", &inputs.v)], bias)
}

/// The inputs for one launch.
pub(super) fn lend<'b, B: Memory, T: Real, U: Real>(
    inputs: &'b Inputs<B::Ref<'_, T>, B::Ref<'_, U>>,
) -> Inputs<B::Ref<'b, T>, B::Ref<'b, U>> {
    let Inputs { q, k, v, bias, scale, causal } = inputs;
    let [q, k, v] = [q, k, v].map(|view| view.with(B::lend(&view.data)));
    let bias = bias.as_ref().map(|view| view.with(B::lend(&view.data)));
    Inputs { q, k, v, bias, scale: *scale, causal: *causal }
}

fn strides<D>(view: &View<D>) -> [i64; 4] {
    Operand::new("", view, 0).kernel_strides()
}

fn rows([batch, head, row, _]: [i64; 4]) -> [i64; 3] {
    [batch, head, row]
}

/// A checked size: each fits an i32.
fn int(size: usize) -> i32 {
    size as i32
}
