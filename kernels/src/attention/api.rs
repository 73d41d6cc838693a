//! The call: tensors in, tensors out, in one launch, or in two where the keys are divided.

use super::call::{Call, lend, operands};
use super::combine::Combining;
use super::config::{Choice, choose, for_few_rows, tiles};
use super::reference::host_operand;
use super::split::Split;
use super::{AttentionConfig, AttentionError, FlashAttention, FlashAttentionArgs, FlashTile, Problem, Scaling};
use crate::memory::Memory;
use crate::number::Real;
use crate::programs::Programs;
use crate::tile::WIDEST;
use crate::unit::Unit;
use crate::view::View;
use quadpair::ir::Function;
use quadpair::layouts::mma::Quadpairs;
use quadpair::sim::Simulator;
use quadpair::{Element, Kernel, KernelError, Program, Report, Target, compile, record};
use quadpair_profiles::{FlashTile as Tile, Profile};
use std::marker::PhantomData;
use std::sync::Arc;

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
    /// Whether query `i` sees key `j` only if `j <= i + keys - queries`, so that the last query sees all keys.
    pub causal: bool,
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
    /// Inputs without a bias or a mask, at the default scale.
    pub fn new(q: View<R>, k: View<R>, v: View<R>) -> Self {
        Self { q, k, v, bias: None, scale: None, causal: false }
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
        let inputs = [host_operand("q", &self.q), host_operand("k", &self.k), host_operand("v", &self.v)];
        Problem::new(inputs, bias, self.causal)
    }
}

/// What a program is made for besides types and head dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// The tile; `None` is attention's own.
    pub tile: Option<Tile>,
    /// Whether there is a bias.
    pub bias: bool,
    /// Whether a query sees only keys up to its own place.
    pub causal: bool,
    /// Whether every row starts at a multiple of 16 bytes.
    pub aligned: bool,
    /// Whether the result is one of a part of the keys, in f32.
    pub part: bool,
}

impl Default for Variant {
    /// All keys, aligned rows, no bias, no mask.
    fn default() -> Self {
        Self { tile: None, bias: false, causal: false, aligned: true, part: false }
    }
}

/// Attention made ready for a chip: operands of type `T` (f16, bf16 or f32), a bias of type `U`.
///
/// Each [`Variant`] is a program of its own, made when a call first needs it.
#[derive(Debug)]
pub struct Attention<T, U> {
    choice: Choice,
    /// The profile's tiles for calls with few rows.
    few: Vec<Tile>,
    /// Tiles with fewer rows, one of each size, for other calls with few.
    smaller: Vec<Tile>,
    config: AttentionConfig,
    target: Target,
    programs: Programs<Variant>,
    combining: Combining<T>,
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
        let AttentionConfig { head_dim, .. } = config;
        let own = choice.tile;
        let is_smaller = |tile: &Tile| tile.block_m < own.block_m && tile.block_n <= own.block_n;
        let mut smaller = tiles(profile, choice.unit, T::DTYPE, head_dim);
        smaller.retain(is_smaller);
        smaller.dedup_by_key(|tile| (tile.block_m, tile.block_n));
        let few = for_few_rows(profile, choice.unit, T::DTYPE, head_dim);
        let (target, programs, types) = (Target::from(profile), Programs::new(), PhantomData);
        let combining = Combining::new(head_dim, target);
        let attention = Self { choice, few, smaller, config, target, programs, combining, types };
        attention.program(&Variant::default())?;
        Ok(attention)
    }

    /// The unit that multiplies.
    pub fn unit(&self) -> Unit {
        self.choice.unit
    }

    /// Query rows and keys of a tile.
    pub fn tile(&self) -> (usize, usize) {
        size(&self.choice.tile)
    }

    /// The same for a problem: one whose rows fit in fewer than a tile has gets a smaller tile, unless the configuration
    /// asks for one.
    pub fn tile_for(&self, problem: &Problem) -> (usize, usize) {
        size(&self.tile_of(&self.variant(problem, true)))
    }

    /// The compiled kernel.
    ///
    /// # Errors
    /// The chip can't run it.
    pub fn program(&self, variant: &Variant) -> Result<Arc<Program>, AttentionError> {
        let make = || match variant.part {
            true => compile(&self.name(variant), &self.kernel::<f32>(variant), self.target),
            false => compile(&self.name(variant), &self.kernel::<T>(variant), self.target),
        };
        Ok(self.programs.get(variant, make)?)
    }

    /// The kernel's tile IR.
    ///
    /// # Errors
    /// A rule of the language that the tile breaks.
    pub fn function(&self, variant: &Variant) -> Result<Function, AttentionError> {
        let function =
            if variant.part { record(&self.kernel::<f32>(variant)) } else { record(&self.kernel::<T>(variant)) };
        Ok(function.map_err(KernelError::from)?)
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
        let call = self.call::<B>(backend, &inputs, &outputs)?;
        self.whole(backend, &call, inputs, outputs)
    }

    /// Runs attention on a backend, and divides the keys among blocks where there are too few queries to fill the chip:
    /// then it's two launches, and results in parts go through `workspace`.
    ///
    /// There are as many parts as the configuration says or as the chip is fastest with, but no more than `workspace` has
    /// room for ([`Self::workspace`] says what it can use). Its contents don't matter before or after. With the same
    /// number of parts results have the same bits; another number rounds otherwise. As [`Self::forward`] in all else.
    ///
    /// # Errors
    /// As [`Self::forward`].
    pub fn forward_in_parts<'a, B: Memory>(
        &self,
        backend: &B,
        inputs: Inputs<B::Ref<'a, T>, B::Ref<'a, U>>,
        mut outputs: Outputs<B::Mut<'a, T>, B::Mut<'a, f32>>,
        mut workspace: B::Mut<'a, f32>,
    ) -> Result<Report, AttentionError> {
        let call = self.call::<B>(backend, &inputs, &outputs)?;
        let Some((variant, split)) = self.divided(backend, &call, &workspace)? else {
            return self.whole(backend, &call, inputs, outputs);
        };
        let Problem { batch, heads, n_q, head_dim, .. } = call.problem;
        // The output of each part, then the LSE of each.
        let [mut part_out, mut part_lse] = B::halves(&mut workspace, split.parts * call.problem.rows() * head_dim);
        let of_parts = Outputs {
            out: View::contiguous(B::lend_mut(&mut part_out), [batch * split.parts, heads, n_q, head_dim]),
            lse: B::lend_mut(&mut part_lse),
        };
        let args = call.args::<B, T, U, f32>(lend::<B, T, U>(&inputs), of_parts, split);
        let parts = self.launch(backend, &variant, args)?;
        let args = call.combine_args::<B, T>([B::written(&part_out), B::written(&part_lse)], &mut outputs, split);
        let combined = self.combining.launch(backend, args, variant.aligned)?;
        Ok(both(parts, combined))
    }

    /// The sizes of a call's inputs, checked.
    ///
    /// # Errors
    /// Tensors that don't fit each other or their buffers.
    pub fn problem<'a, B: Memory>(
        &self,
        backend: &B,
        inputs: &Inputs<B::Ref<'a, T>, B::Ref<'a, U>>,
    ) -> Result<Problem, AttentionError> {
        let (inputs_of, bias) = operands(backend, inputs);
        Problem::new(inputs_of, bias, inputs.causal)
    }

    /// How many elements of workspace [`Self::forward_in_parts`] can use for a problem on a backend; 0 where it makes one
    /// launch.
    ///
    /// # Errors
    /// As [`Self::parts`].
    pub fn workspace<B: Memory>(&self, backend: &B, problem: &Problem) -> Result<usize, AttentionError> {
        let parts = self.parts(backend, problem)?;
        Ok(if parts > 1 { parts * Split::workspace_of_part(problem) } else { 0 })
    }

    /// In how many parts [`Self::forward_in_parts`] divides the keys of a problem on a backend.
    ///
    /// # Errors
    /// The program that tells how many blocks run at once can't be made or loaded.
    pub fn parts<B: Memory>(&self, backend: &B, problem: &Problem) -> Result<usize, AttentionError> {
        if problem.rows() == 0 {
            return Ok(1);
        }
        let variant = Variant { part: true, ..self.variant(problem, true) };
        Ok(self.split(backend, problem, &variant)?.parts)
    }

    /// Checks a call.
    fn call<'a, B: Memory>(
        &self,
        backend: &B,
        inputs: &Inputs<B::Ref<'a, T>, B::Ref<'a, U>>,
        outputs: &Outputs<B::Mut<'a, T>, B::Mut<'a, f32>>,
    ) -> Result<Call, AttentionError> {
        let call = Call::new::<B, T, U>(backend, inputs, outputs, self.config.scaling)?;
        if call.problem.head_dim != self.config.head_dim {
            return Err(AttentionError::Prepared { prepared: self.config.head_dim, given: call.problem.head_dim });
        }
        Ok(call)
    }

    /// The program and the parts for a call, if it's to be divided and the workspace has room for that.
    fn divided<B: Memory>(
        &self,
        backend: &B,
        call: &Call,
        workspace: &B::Mut<'_, f32>,
    ) -> Result<Option<(Variant, Split)>, AttentionError> {
        let of_part = Split::workspace_of_part(&call.problem);
        let room = backend.length_mut(workspace).checked_div(of_part).unwrap_or(0);
        if room < 2 {
            return Ok(None);
        }
        let aligned = call.aligned && backend.is_aligned_mut(workspace, WIDEST);
        let variant = Variant { part: true, ..self.variant(&call.problem, aligned) };
        let parts = self.split(backend, &call.problem, &variant)?.parts.min(room);
        let split = Split::at_most(parts, &call.problem, self.tile_of(&variant).block_n);
        Ok((split.parts > 1).then_some((variant, split)))
    }

    /// One launch that gives the result.
    fn whole<'a, B: Memory>(
        &self,
        backend: &B,
        call: &Call,
        inputs: Inputs<B::Ref<'a, T>, B::Ref<'a, U>>,
        outputs: Outputs<B::Mut<'a, T>, B::Mut<'a, f32>>,
    ) -> Result<Report, AttentionError> {
        if call.problem.rows() == 0 {
            return Ok(Report::default());
        }
        let variant = self.variant(&call.problem, call.aligned);
        let args = call.args::<B, T, U, T>(inputs, outputs, Split::none(&call.problem));
        self.launch(backend, &variant, args)
    }

    /// The program that a problem gets.
    fn variant(&self, problem: &Problem, aligned: bool) -> Variant {
        let Problem { n_q, bias, causal, .. } = problem.packed();
        Variant {
            tile: self.tile_for_few(problem).or_else(|| self.smaller_tile(n_q)),
            bias,
            causal,
            aligned,
            part: false,
        }
    }

    /// The profile's tile for a problem with few rows of a key head, if it has one.
    fn tile_for_few(&self, problem: &Problem) -> Option<Tile> {
        let rows = problem.n_q * (problem.heads / problem.kv_heads.max(1));
        self.few
            .iter()
            .find(|tile| tile.reaches(problem.head_dim, rows))
            .filter(|_| self.config.tile.is_none())
            .copied()
    }

    /// The tile with the fewest query rows that has room for so many, if there is one with fewer than attention's own.
    fn smaller_tile(&self, rows: usize) -> Option<Tile> {
        let fits = |tile: &&Tile| rows <= tile.block_m;
        let smaller = self.smaller.iter().filter(fits).min_by_key(|tile| (tile.block_m, self.tile().1 - tile.block_n));
        smaller.filter(|_| self.config.tile.is_none()).copied()
    }

    fn tile_of(&self, variant: &Variant) -> Tile {
        variant.tile.unwrap_or(self.choice.tile)
    }

    /// The parts that the keys are divided in, given the program that works on them.
    fn split<B: Memory>(&self, backend: &B, problem: &Problem, variant: &Variant) -> Result<Split, AttentionError> {
        let (block_m, block_n) = size(&self.tile_of(variant));
        if let Some(parts) = self.config.parts {
            return Ok(Split::at_most(parts, problem, block_n));
        }
        let Problem { batch, heads, n_q, .. } = problem.packed();
        let at_once = backend.blocks_at_once(&self.program(variant)?)?;
        Ok(Split::fastest(n_q.div_ceil(block_m) * heads * batch, at_once, problem, block_n))
    }

    fn launch<B: Memory, O: Element>(
        &self,
        backend: &B,
        variant: &Variant,
        args: FlashAttentionArgs<'_, B, T, U, O>,
    ) -> Result<Report, AttentionError> {
        let grid = self.kernel::<O>(variant).grid::<B>(&args);
        Ok(backend.launch(&self.program(variant)?, grid, FlashAttention::<T, U, O>::bind::<B>(args))?)
    }

    fn kernel<O: Element>(&self, variant: &Variant) -> FlashAttention<T, U, O> {
        let Variant { bias, causal, aligned, .. } = *variant;
        let (unit, tile) = (self.choice.unit, self.tile_of(variant));
        let AttentionConfig { head_dim, scaling, .. } = self.config;
        let quadpairs = tile.quadpairs.unwrap_or(Quadpairs::TwoByTwo);
        let t = FlashTile {
            width: tile.chunk,
            aligned,
            causal,
            bias,
            round_q: scaling == Scaling::RoundedQuery,
            ..FlashTile::plain(unit, quadpairs, size(&tile), tile.warps, head_dim)
        };
        FlashAttention { t, types: PhantomData }
    }

    /// What the program is called in its PTX: `flash_attention_m8n8k4_64x32_d96_f16_bias_f32`.
    fn name(&self, variant: &Variant) -> String {
        let (unit, (block_m, block_n)) = (self.choice.unit, size(&self.tile_of(variant)));
        let AttentionConfig { head_dim, scaling, .. } = self.config;
        let mut name = format!("flash_attention_{unit}_{block_m}x{block_n}_d{head_dim}_{}", T::DTYPE.name());
        if variant.bias {
            name += &format!("_bias_{}", U::DTYPE.name());
        }
        let suffixes = [
            (variant.causal, "_causal"),
            (scaling == Scaling::RoundedQuery, "_rounded_q"),
            (!variant.aligned, "_unaligned"),
            (variant.part, "_part"),
        ];
        suffixes.into_iter().filter(|(holds, _)| *holds).for_each(|(_, suffix)| name += suffix);
        name
    }
}

/// Query rows and keys of a tile.
fn size(tile: &Tile) -> (usize, usize) {
    (tile.block_m, tile.block_n)
}

/// What two launches tell together.
fn both(mut first: Report, second: Report) -> Report {
    if let (Some(counters), Some(more)) = (&mut first.counters, &second.counters) {
        counters.merge(more);
    }
    first.printed += &second.printed;
    first
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
