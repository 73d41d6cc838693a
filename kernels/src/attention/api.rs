//! The call: tensors in, tensors out, one launch.

use super::config::{Choice, choose, most_head_dim, rows_per_warp, tiles};
use super::reference::host_operand;
use super::{
    AttentionConfig, AttentionError, FlashAttention, FlashAttentionArgs, FlashTile, Operand, Problem, Scaling,
};
use crate::memory::Memory;
use crate::number::Real;
use crate::unit::Unit;
use crate::view::View;
use quadpair::ir::Function;
use quadpair::sim::Simulator;
use quadpair::{Kernel, KernelError, Program, Report, Target, compile, record};
use quadpair_profiles::Profile;
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of the widest access that a thread makes; rows that all start at a multiple of it are loaded that wide.
const WIDEST: usize = 16;

/// What attention reads. `R` is memory of the operands' type, `S` of the bias' type.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<R, S> {
    /// `[batch, heads, queries, head dim]`.
    pub q: View<R>,
    /// `[batch, kv heads, keys, head dim]`.
    pub k: View<R>,
    /// Shape of `k`.
    pub v: View<R>,
    /// Added to the scaled scores: `[batch, heads, queries, keys]`, where an extent may also be 1 and then holds for all.
    pub bias: Option<View<S>>,
    /// What scores are multiplied by; `None` is `1 / sqrt(head dim)`.
    pub scale: Option<f32>,
}

/// What attention writes. `M` is memory of the operands' type, `L` of f32.
#[derive(Debug)]
pub struct Outputs<M, L> {
    /// Shape of `q`; no two elements may share their memory.
    pub out: View<M>,
    /// `[batch, heads, queries]`, contiguous.
    pub lse: L,
}

impl<R, S> Inputs<R, S> {
    /// Inputs without a bias, at the default scale.
    pub fn new(q: View<R>, k: View<R>, v: View<R>) -> Self {
        Self { q, k, v, bias: None, scale: None }
    }

    /// The scale at a head dim.
    pub(crate) fn scale_for(&self, head_dim: usize) -> Result<f32, AttentionError> {
        let scale = self.scale.unwrap_or_else(|| 1.0 / (head_dim as f32).sqrt());
        if scale.is_finite() { Ok(scale) } else { Err(AttentionError::Scale { scale }) }
    }
}

impl<T, U> Inputs<&[T], &[U]> {
    /// The sizes of inputs on the host.
    ///
    /// # Errors
    /// Tensors that don't fit each other or their buffers.
    pub fn problem(&self) -> Result<Problem, AttentionError> {
        let bias = self.bias.as_ref().map(|bias| host_operand("bias", bias));
        Problem::new(host_operand("q", &self.q), host_operand("k", &self.k), host_operand("v", &self.v), bias)
    }
}

/// Attention made ready for a chip: operands of type `T` (f16, bf16 or f32), a bias of type `U`.
///
/// Each combination of with or without bias, aligned or unaligned rows is a kernel of its own, compiled when a call first
/// needs it.
#[derive(Debug)]
pub struct Attention<T, U> {
    choice: Choice,
    head_dim: usize,
    scaling: Scaling,
    target: Target,
    programs: Mutex<[Option<Arc<Program>>; 4]>,
    types: PhantomData<fn() -> (T, U)>,
}

impl<T: Real, U: Real> Attention<T, U> {
    /// Chooses the kernel that the profile's chip runs for this configuration.
    ///
    /// # Errors
    /// A head dim that isn't supported; a unit that the chip lacks or that doesn't take `T`; a tile that no kernel has
    /// or that the chip can't hold.
    pub fn new(profile: &Profile, config: AttentionConfig) -> Result<Self, AttentionError> {
        let choice = choose(profile, T::DTYPE, &config)?;
        let head_dim = config.head_dim;
        let has_registers = |tile: &&(usize, usize)| head_dim <= most_head_dim(choice.unit, **tile);
        let all: Vec<(usize, usize)> = tiles(choice.unit).iter().filter(has_registers).copied().collect();
        let prepare = |tile: &(usize, usize)| Self::prepared(profile, Choice { tile: *tile, ..choice }, &config);
        let area = |tile: &(usize, usize)| tile.0 * tile.1;
        let chosen = all.iter().find(|tile| **tile == choice.tile);
        // The profile's FMA tile goes by the head dim, but f32 operands take twice the shared memory of f16.
        let may_shrink = chosen.is_some() && config.tile.is_none() && choice.unit == Unit::Fma;
        let smaller = all.iter().rev().filter(|tile| may_shrink && area(tile) < area(&choice.tile));
        chosen.into_iter().chain(smaller).find_map(prepare).ok_or_else(|| AttentionError::Tile {
            unit: choice.unit,
            tile: choice.tile,
            head_dim: config.head_dim,
            profile: profile.name.clone(),
            runs: all.iter().filter(|tile| prepare(tile).is_some()).copied().collect(),
        })
    }

    /// The unit that multiplies.
    pub fn unit(&self) -> Unit {
        self.choice.unit
    }

    /// Query rows and keys of a tile.
    pub fn tile(&self) -> (usize, usize) {
        self.choice.tile
    }

    /// The compiled kernel with or without a bias, for aligned rows or any.
    ///
    /// # Errors
    /// The chip can't run it.
    pub fn program(&self, bias: bool, aligned: bool) -> Result<Arc<Program>, AttentionError> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = &mut programs[usize::from(bias) * 2 + usize::from(aligned)];
        if let Some(program) = slot {
            return Ok(Arc::clone(program));
        }
        let program = Arc::new(compile(&self.name(bias, aligned), &self.kernel(bias, aligned), self.target)?);
        *slot = Some(Arc::clone(&program));
        Ok(program)
    }

    /// The kernel's tile IR, with or without a bias, for aligned rows or any.
    ///
    /// # Errors
    /// A rule of the language that the tile breaks.
    pub fn function(&self, bias: bool, aligned: bool) -> Result<Function, AttentionError> {
        Ok(record(&self.kernel(bias, aligned)).map_err(KernelError::from)?)
    }

    /// Runs attention on a backend, in one launch.
    ///
    /// Nothing is allocated on the device and nothing is waited for but what the backend itself waits for. An empty
    /// batch, no heads or no queries: there is nothing to do, and nothing is launched.
    ///
    /// # Errors
    /// Tensors that don't fit each other or their buffers (before anything runs), or a launch that fails.
    pub fn forward<'a, B: Memory>(
        &self,
        backend: &B,
        inputs: Inputs<B::Ref<'a, T>, B::Ref<'a, U>>,
        outputs: Outputs<B::Mut<'a, T>, B::Mut<'a, f32>>,
    ) -> Result<Report, AttentionError> {
        let call = Call::new::<B, T, U>(backend, &inputs, &outputs)?;
        if call.problem.head_dim != self.head_dim {
            return Err(AttentionError::Prepared { prepared: self.head_dim, given: call.problem.head_dim });
        }
        let scale = inputs.scale_for(self.head_dim)?;
        if call.problem.rows() == 0 {
            return Ok(Report::default());
        }
        let (bias, aligned) = (inputs.bias.is_some(), call.aligned);
        let program = self.program(bias, aligned)?;
        let args = call.args::<B, T, U>(inputs, outputs, scale);
        let grid = self.kernel(bias, aligned).grid::<B>(&args);
        Ok(backend.launch(&program, grid, FlashAttention::<T, U>::bind::<B>(args))?)
    }

    /// Attention in a tile, if the profile's chip can run that.
    fn prepared(profile: &Profile, choice: Choice, config: &AttentionConfig) -> Option<Self> {
        let AttentionConfig { head_dim, scaling, .. } = *config;
        let (target, programs, types) = (Target::from(profile), Mutex::default(), PhantomData);
        let attention = Self { choice, head_dim, scaling, target, programs, types };
        attention.program(true, true).is_ok().then_some(attention)
    }

    fn kernel(&self, bias: bool, aligned: bool) -> FlashAttention<T, U> {
        let Choice { unit, tile: (block_m, block_n) } = self.choice;
        let round_q = self.scaling == Scaling::RoundedQuery;
        let warps = block_m / rows_per_warp(unit);
        let t = FlashTile { unit, block_m, block_n, head_dim: self.head_dim, warps, aligned, bias, round_q };
        FlashAttention { t, types: PhantomData }
    }

    /// What the program is called in its PTX: `flash_attention_m8n8k4_64x32_d96_f16_bias_f32`.
    fn name(&self, bias: bool, aligned: bool) -> String {
        let Choice { unit, tile: (block_m, block_n) } = self.choice;
        let mut name = format!("flash_attention_{unit}_{block_m}x{block_n}_d{}_{}", self.head_dim, T::DTYPE.name());
        if bias {
            name += &format!("_bias_{}", U::DTYPE.name());
        }
        if self.scaling == Scaling::RoundedQuery {
            name += "_rounded_q";
        }
        if !aligned {
            name += "_unaligned";
        }
        name
    }
}

/// One call, checked.
struct Call {
    problem: Problem,
    operands: [Operand; 4],
    bias: Option<Operand>,
    aligned: bool,
}

impl Call {
    fn new<'a, B: Memory, T: Real, U: Real>(
        backend: &B,
        inputs: &Inputs<B::Ref<'a, T>, B::Ref<'a, U>>,
        outputs: &Outputs<B::Mut<'a, T>, B::Mut<'a, f32>>,
    ) -> Result<Self, AttentionError> {
        let read = |name, view: &View<B::Ref<'a, T>>| Operand::new(name, view, backend.length(&view.data));
        let [q, k, v] = [read("q", &inputs.q), read("k", &inputs.k), read("v", &inputs.v)];
        let bias = inputs.bias.as_ref().map(|bias| Operand::new("bias", bias, backend.length(&bias.data)));
        let out = Operand::new("out", &outputs.out, backend.length_mut(&outputs.out.data));
        let problem = Problem::new(q, k, v, bias)?;
        problem.check_outputs(out, backend.length_mut(&outputs.lse))?;
        let bytes = T::DTYPE.bytes() as usize;
        let aligned = [q, k, v, out].iter().all(|operand| operand.rows_aligned(bytes, WIDEST))
            && [&inputs.q, &inputs.k, &inputs.v].iter().all(|view| backend.is_aligned(&view.data, WIDEST))
            && backend.is_aligned_mut(&outputs.out.data, WIDEST);
        Ok(Self { problem, operands: [q, k, v, out], bias, aligned })
    }

    fn args<'a, B: Memory, T: Real, U: Real>(
        &self,
        inputs: Inputs<B::Ref<'a, T>, B::Ref<'a, U>>,
        outputs: Outputs<B::Mut<'a, T>, B::Mut<'a, f32>>,
        scale: f32,
    ) -> FlashAttentionArgs<'a, B, T, U> {
        let [q_stride, k_stride, v_stride, out_stride] = self.operands.map(|operand| {
            let [batch, head, row, _] = operand.kernel_strides();
            [batch, head, row]
        });
        // Checked sizes: each fits an i32.
        let int = |size: usize| size as i32;
        FlashAttentionArgs {
            q: inputs.q.data,
            k: inputs.k.data,
            v: inputs.v.data,
            bias: inputs.bias.map(|bias| bias.data),
            out: outputs.out.data,
            lse: outputs.lse,
            q_stride,
            k_stride,
            v_stride,
            bias_stride: self.bias.map_or([0; 4], |bias| bias.kernel_strides()),
            out_stride,
            heads: int(self.problem.heads),
            batch: int(self.problem.batch),
            group: int(self.problem.group()),
            n_q: int(self.problem.n_q),
            n_k: int(self.problem.n_k),
            scale,
        }
    }
}

/// What [`attend_host`] gives back.
#[derive(Clone, Debug)]
pub struct Attended<T> {
    /// `[batch, heads, queries, head dim]`, contiguous.
    pub out: Vec<T>,
    /// `[batch, heads, queries]`, contiguous.
    pub lse: Vec<f32>,
    /// What the simulator counted.
    pub report: Report,
}

/// Attention on host slices, in the simulator.
///
/// # Errors
/// As [`Attention::new`] and [`Attention::forward`].
pub fn attend_host<T: Real, U: Real>(
    profile: &Profile,
    config: AttentionConfig,
    inputs: Inputs<&[T], &[U]>,
) -> Result<Attended<T>, AttentionError> {
    let attention = Attention::<T, U>::new(profile, config)?;
    let problem = inputs.problem()?;
    let mut out = vec![T::default(); problem.rows() * problem.head_dim];
    let mut lse = vec![0.0; problem.rows()];
    let outputs = Outputs { out: View::contiguous(&mut out[..], inputs.q.shape), lse: &mut lse[..] };
    let report = attention.forward(&Simulator::new(profile), inputs, outputs)?;
    Ok(Attended { out, lse, report })
}
