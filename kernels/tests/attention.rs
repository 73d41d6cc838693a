//! Attention on the simulator, and on the GPU where there is one, against float64: every unit, type, length, head dim,
//! sharing of heads, form of bias, mask and division of the keys.
//!
//! Tensors are random, the same in every run. Output buffers start full of a number that no result has, so that a write
//! outside the view shows; the workspace is full of NaNs, so that what is read and wasn't written shows.

mod common;

use common::{Random, profile_with};
use half::{bf16, f16};
use quadpair::cuda::Cuda;
use quadpair::sim::Simulator;
use quadpair_kernels::attention::{
    Attention, AttentionConfig, Inputs, Outputs, Problem, Reference, Scaling, attend_host, reference,
};
use quadpair_kernels::metrics::Difference;
use quadpair_kernels::number::Real;
use quadpair_kernels::unit::{Unit, UnitChoice};
use quadpair_kernels::view::View;
use quadpair_profiles::{FlashTile, Profile};
use std::sync::OnceLock;

/// What an output element holds that was never written.
const UNTOUCHED: f64 = -12_288.0;

/// Sizes of one call. `gap` elements lie unused between neighbouring rows of every tensor.
#[derive(Clone, Copy, Debug)]
struct Case {
    batch: usize,
    heads: usize,
    kv_heads: usize,
    n_q: usize,
    n_k: usize,
    head_dim: usize,
    gap: usize,
    bias: Bias,
    causal: bool,
    /// At most how many parts the keys are divided in.
    parts: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bias {
    None,
    /// One row for all heads and queries of a sequence.
    PerKey,
    /// One matrix for all heads, rows apart by a number that is no multiple of anything.
    PerQueryAndKey,
    /// Per query and key, every third key masked by -inf, and all keys of every fourth row.
    Masked,
    /// Per query and key: the lowest finite number on all keys of every fourth row and on some keys of the others.
    Lowest,
}

const SMALL: Case = Case {
    batch: 1,
    heads: 2,
    kv_heads: 2,
    n_q: 33,
    n_k: 31,
    head_dim: 64,
    gap: 0,
    bias: Bias::None,
    causal: false,
    parts: 1,
};

/// A step of decoding: a query for each of eight heads that share two.
const DECODE: Case = Case { batch: 2, heads: 8, n_q: 1, n_k: 300, parts: 3, ..SMALL };

/// The matrix unit that takes bf16 too.
const DEEP: UnitChoice = UnitChoice::Only(Unit::M16N8K16);

/// A shape laid out with a gap after every row.
fn layout(shape: [usize; 4], gap: usize) -> ([usize; 4], usize) {
    let row = shape[3] + gap;
    let strides = [shape[1] * shape[2] * row, shape[2] * row, row, 1];
    (strides, shape[0] * shape[1] * shape[2] * row)
}

impl Case {
    fn bias_shape(&self) -> [usize; 4] {
        match self.bias {
            Bias::None => [0; 4],
            Bias::PerKey => [self.batch, 1, 1, self.n_k],
            _ => [self.batch, 1, self.n_q, self.n_k],
        }
    }

    fn bias_value(&self, random: &mut Random, row: usize, key: usize, lowest: f64) -> f64 {
        match self.bias {
            Bias::Masked if row % 4 == 3 || key % 3 == 1 => f64::NEG_INFINITY,
            Bias::Lowest if row % 4 == 3 || key % 5 == 2 => lowest,
            _ => random.number(),
        }
    }

    fn bias_data<U: Real>(&self, random: &mut Random, row_stride: usize, lowest: f64) -> Vec<U> {
        let [batch, _, rows, _] = self.bias_shape();
        let element = |i| self.bias_value(random, i / row_stride, i % row_stride, lowest);
        (0..batch * rows * row_stride).map(element).map(U::from_f64).collect()
    }
}

/// Runs a case twice and checks both results.
#[track_caller]
fn check<T: Real, U: Real>(case: Case, config: AttentionConfig, lowest: f64) {
    let profile = profile_with(match config.unit {
        UnitChoice::Only(unit) => unit,
        UnitChoice::Auto => Unit::M8N8K4,
    });
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let Case { batch, heads, kv_heads, n_q, n_k, head_dim, gap, .. } = case;
    let (q_shape, k_shape) = ([batch, heads, n_q, head_dim], [batch, kv_heads, n_k, head_dim]);
    let ((q_strides, q_length), (k_strides, k_length)) = (layout(q_shape, gap), layout(k_shape, gap));
    let [q, k, v] = [q_length, k_length, k_length].map(|length| random.numbers::<T>(2.0, length));
    let row_stride = n_k + 3;
    let bias: Vec<U> = case.bias_data(&mut random, row_stride, lowest);
    let bias_shape = case.bias_shape();
    let bias_strides = [bias_shape[2] * row_stride, 7, row_stride, 1];
    let inputs = Inputs {
        q: View::strided(&q[..], q_shape, q_strides),
        k: View::strided(&k[..], k_shape, k_strides),
        v: View::strided(&v[..], k_shape, k_strides),
        bias: (case.bias != Bias::None).then(|| View::strided(&bias[..], bias_shape, bias_strides)),
        scale: None,
        causal: case.causal,
    };
    let config = AttentionConfig { parts: Some(case.parts), ..config };
    let attention = Attention::<T, U>::new(&profile, config).unwrap();
    let expected = reference(&inputs, || ()).unwrap();
    let simulator = Simulator::new(&profile);
    let on_simulator = || {
        let (mut out, mut lse) = outputs::<T>(&case, q_length);
        let written = Outputs { out: View::strided(&mut out[..], q_shape, q_strides), lse: &mut lse[..] };
        if case.parts == 1 {
            attention.forward(&simulator, inputs, written).unwrap();
        } else {
            let mut workspace = vec![f32::NAN; attention.workspace(&simulator, &inputs.problem().unwrap()).unwrap()];
            attention.forward_in_parts(&simulator, inputs, written, &mut workspace[..]).unwrap();
        }
        numbers(&out, &lse)
    };
    check_result::<T>(&case, "simulator", &expected, on_simulator);
    let Some(gpu) = gpu(&profile) else { return };
    let on_gpu = || {
        let (mut out, mut lse) = outputs::<T>(&case, q_length);
        let stream = gpu.stream();
        let [q, k, v] = [&q, &k, &v].map(|host| stream.clone_htod(&host[..]).unwrap());
        let bias = inputs.bias.map(|view| (view, stream.clone_htod(&bias[..]).unwrap()));
        let (mut out_memory, mut lse_memory) =
            (stream.clone_htod(&out[..]).unwrap(), stream.clone_htod(&lse[..]).unwrap());
        let given = Inputs {
            q: inputs.q.with(q.as_view()),
            k: inputs.k.with(k.as_view()),
            v: inputs.v.with(v.as_view()),
            bias: bias.as_ref().map(|(view, memory)| view.with(memory.as_view())),
            scale: None,
            causal: case.causal,
        };
        let view = View::strided(out_memory.as_view_mut(), q_shape, q_strides);
        let written = Outputs { out: view, lse: lse_memory.as_view_mut() };
        if case.parts == 1 {
            attention.forward(gpu, given, written).unwrap();
        } else {
            // No GPU memory is of no size.
            let count = attention.workspace(gpu, &inputs.problem().unwrap()).unwrap();
            let mut workspace = stream.clone_htod(&vec![f32::NAN; count.max(1)]).unwrap();
            attention.forward_in_parts(gpu, given, written, workspace.as_view_mut()).unwrap();
        }
        stream.memcpy_dtoh(&out_memory, &mut out[..]).unwrap();
        stream.memcpy_dtoh(&lse_memory, &mut lse[..]).unwrap();
        gpu.synchronize().unwrap();
        numbers(&out, &lse)
    };
    check_result::<T>(&case, "gpu", &expected, on_gpu);
}

/// The GPU, where there is one that runs the profile's PTX.
fn gpu(profile: &Profile) -> Option<&'static Cuda> {
    static GPUS: OnceLock<Vec<(String, Cuda)>> = OnceLock::new();
    let open = |profile: Profile| Some((profile.name.clone(), Cuda::open(0, &profile).ok()?));
    let gpus = GPUS.get_or_init(|| Profile::shipped().filter_map(open).collect());
    gpus.iter().find(|(name, _)| *name == profile.name).map(|(_, gpu)| gpu)
}

/// Output buffers that show what is not written.
fn outputs<T: Real>(case: &Case, length: usize) -> (Vec<T>, Vec<f32>) {
    (vec![T::from_f64(UNTOUCHED); length], vec![f32::NAN; case.batch * case.heads * case.n_q])
}

fn numbers<T: Real>(out: &[T], lse: &[f32]) -> (Vec<f64>, Vec<f64>) {
    (out.iter().map(|number| number.to_f64()).collect(), lse.iter().copied().map(f64::from).collect())
}

/// Checks a result against float64, and that a second run gives the same bits.
#[track_caller]
fn check_result<T: Real>(case: &Case, device: &str, expected: &Reference, run: impl Fn() -> (Vec<f64>, Vec<f64>)) {
    let Case { head_dim, gap, .. } = *case;
    let (out, lse) = run();
    let rows = out.chunks(head_dim + gap);
    assert!(
        rows.clone().all(|row| row[head_dim..].iter().all(|&gap| gap == UNTOUCHED)),
        "{device} {case:?} wrote between rows"
    );
    let out_difference =
        Difference::between(rows.flat_map(|row| row[..head_dim].to_vec()), expected.out.iter().copied());
    let lse_difference = Difference::between(lse.iter().copied(), expected.lse.iter().copied());
    let allowed = if T::DTYPE == quadpair::DType::BF16 { 8e-3 } else { 1e-3 };
    assert!(out_difference.unusable == 0 && out_difference.relative <= allowed, "{device} {case:?} {out_difference:?}");
    assert!(lse_difference.unusable == 0 && lse_difference.max_scaled <= 1e-4, "{device} {case:?} {lse_difference:?}");
    assert_eq!(run(), (out, lse), "{device} {case:?} differs from run to run");
}

/// Runs a case on every unit, in f16 with an f32 bias.
#[track_caller]
fn check_units(case: Case) {
    for unit in Unit::ALL {
        let config = AttentionConfig { unit: UnitChoice::Only(unit), ..AttentionConfig::new(case.head_dim) };
        check::<f16, f32>(case, config, f64::from(f32::MIN));
    }
}

#[test]
fn lengths() {
    for (n_q, n_k) in
        [(1, 1), (3, 3), (31, 33), (33, 31), (1, 197), (197, 197), (33, 777), (777, 33), (65, 2049), (2049, 65)]
    {
        check_units(Case { heads: 1, kv_heads: 1, n_q, n_k, ..SMALL });
    }
}

#[test]
fn head_dims() {
    for head_dim in [8, 40, 80, 96, 112, 128, 192, 256] {
        check_units(Case { heads: 1, kv_heads: 1, head_dim, ..SMALL });
    }
}

#[test]
fn shared_heads() {
    for (heads, kv_heads) in [(4, 1), (8, 2), (8, 8)] {
        check_units(Case { batch: 2, heads, kv_heads, n_q: 5, n_k: 9, ..SMALL });
    }
}

#[test]
fn biases() {
    for bias in [Bias::PerKey, Bias::PerQueryAndKey, Bias::Masked, Bias::Lowest] {
        check_units(Case { batch: 2, bias, ..SMALL });
    }
}

#[test]
fn rows_at_any_address() {
    check_units(Case { gap: 3, bias: Bias::PerKey, ..SMALL });
    check_units(Case { gap: 8, ..SMALL });
}

#[test]
fn no_keys_at_all() {
    check_units(Case { n_k: 0, ..SMALL });
    check_units(Case { n_k: 0, bias: Bias::PerKey, ..SMALL });
}

#[test]
fn nothing_to_do() {
    check_units(Case { batch: 0, ..SMALL });
    check_units(Case { n_q: 0, ..SMALL });
    check_units(Case { heads: 0, kv_heads: 0, ..SMALL });
}

#[test]
fn half_precision_bias() {
    for bias in [Bias::PerQueryAndKey, Bias::Masked, Bias::Lowest] {
        check::<f16, f16>(Case { bias, ..SMALL }, AttentionConfig::new(64), f64::from(f16::MIN));
    }
}

#[test]
fn other_operand_types() {
    let case = Case { bias: Bias::Masked, ..SMALL };
    check::<bf16, f32>(case, AttentionConfig::new(64), 0.0);
    check::<bf16, f32>(case, AttentionConfig { unit: DEEP, ..AttentionConfig::new(64) }, 0.0);
    check::<f32, f32>(case, AttentionConfig::new(64), 0.0);
    check::<f32, f32>(Case { head_dim: 40, gap: 1, ..case }, AttentionConfig::new(40), 0.0);
    // Rows that start at multiples of 16 bytes, but not of the elements that a thread loads.
    check::<f32, f32>(Case { gap: 4, ..case }, AttentionConfig::new(64), 0.0);
}

#[test]
fn scale_on_a_rounded_query() {
    for unit in Unit::ALL {
        let config = AttentionConfig { scaling: Scaling::RoundedQuery, ..AttentionConfig::new(96) };
        let config = AttentionConfig { unit: UnitChoice::Only(unit), ..config };
        assert_eq!(Attention::<f16, f32>::new(&profile_with(unit), config).unwrap().unit(), unit);
        check::<f16, f32>(Case { head_dim: 96, ..SMALL }, config, 0.0);
    }
}

#[test]
fn causal_masks() {
    for (n_q, n_k) in [(1, 1), (33, 33), (64, 64), (65, 130), (31, 197), (197, 31), (130, 65), (40, 0)] {
        check_units(Case { heads: 1, kv_heads: 1, n_q, n_k, causal: true, ..SMALL });
    }
}

#[test]
fn causal_masks_with_a_bias() {
    for bias in [Bias::PerKey, Bias::Masked, Bias::Lowest] {
        check_units(Case { batch: 2, heads: 4, n_q: 50, n_k: 70, bias, causal: true, ..SMALL });
        check_units(Case { n_q: 70, n_k: 50, bias, causal: true, gap: 3, ..SMALL });
    }
}

#[test]
fn keys_in_parts() {
    for n_k in [0, 1, 65, 200, 257] {
        for parts in [2, 3, 100] {
            check_units(Case { heads: 1, kv_heads: 1, n_k, parts, ..SMALL });
        }
    }
}

#[test]
fn keys_in_parts_that_a_mask_hides() {
    for (n_q, n_k) in [(33, 300), (150, 130), (130, 7)] {
        check_units(Case { n_q, n_k, causal: true, parts: 4, ..SMALL });
        check_units(Case { n_q, n_k, causal: true, parts: 4, bias: Bias::Masked, gap: 3, ..SMALL });
    }
    // Of parts with as many keys each: an LSE that large can't tell how many there are.
    check_units(Case { n_k: 192, bias: Bias::Lowest, parts: 3, ..SMALL });
}

#[test]
fn head_dims_in_parts() {
    for head_dim in [8, 40, 96, 128] {
        check_units(Case { heads: 1, kv_heads: 1, n_k: 140, head_dim, parts: 2, ..SMALL });
    }
}

#[test]
fn one_query_for_heads_that_share() {
    for (heads, kv_heads, bias) in [(8, 2, Bias::None), (6, 2, Bias::PerKey), (40, 1, Bias::None), (4, 4, Bias::PerKey)]
    {
        check_units(Case { heads, kv_heads, bias, ..DECODE });
    }
    check_units(Case { parts: 1, causal: true, ..DECODE });
    check_units(Case { causal: true, gap: 3, bias: Bias::Masked, ..DECODE });
    check_units(Case { gap: 8, n_k: 0, ..DECODE });
}

#[test]
fn one_query_with_a_bias_for_each_head() {
    let volta = Profile::by_name("volta").unwrap();
    let mut random = Random(7);
    let (q, k): (Vec<f16>, Vec<f16>) = (random.numbers(2.0, 6 * 64), random.numbers(2.0, 2 * 100 * 64));
    let bias: Vec<f32> = random.numbers(2.0, 6 * 100);
    let keys = View::contiguous(&k[..], [1, 2, 100, 64]);
    let mut inputs = Inputs::new(View::contiguous(&q[..], [1, 6, 1, 64]), keys, keys);
    inputs.bias = Some(View::contiguous(&bias[..], [1, 6, 1, 100]));
    let expected = reference(&inputs, || ()).unwrap();
    let attended = attend_host(&volta, AttentionConfig::new(64), inputs).unwrap();
    let out = Difference::between(attended.out.iter().map(|number| number.to_f64()), expected.out);
    let lse = Difference::between(attended.lse.iter().copied().map(f64::from), expected.lse);
    assert!(out.unusable + lse.unusable == 0 && out.relative < 1e-3 && lse.max_scaled < 1e-4, "{out:?} {lse:?}");
}

#[test]
fn other_operand_types_in_parts() {
    let case = Case { n_k: 200, bias: Bias::Masked, parts: 3, causal: true, ..SMALL };
    check::<bf16, f32>(case, AttentionConfig::new(64), 0.0);
    check::<f32, f32>(case, AttentionConfig::new(64), 0.0);
    for unit in [UnitChoice::Auto, DEEP] {
        check::<bf16, f32>(
            Case { bias: Bias::None, ..DECODE },
            AttentionConfig { unit, ..AttentionConfig::new(64) },
            0.0,
        );
    }
}

#[test]
fn few_rows_get_a_smaller_tile() {
    let volta = Profile::by_name("volta").unwrap();
    let own = Attention::<f16, f32>::new(&volta, AttentionConfig::new(64)).unwrap();
    let asked = AttentionConfig { tile: Some(own.tile()), ..AttentionConfig::new(64) };
    let asked = Attention::<f16, f32>::new(&volta, asked).unwrap();
    let decode = Problem { batch: 1, heads: 8, kv_heads: 2, n_q: 1, n_k: 900, head_dim: 64, causal: true, bias: false };
    let (block_m, block_n) = own.tile_for(&decode);
    assert!(block_m < own.tile().0 && block_m >= 4 && block_n <= own.tile().1, "{block_m} x {block_n}");
    assert_eq!(own.tile_for(&Problem { n_q: 900, ..decode }), own.tile());
    assert_eq!(asked.tile_for(&decode), own.tile());
}

#[test]
fn a_profile_has_its_own_tiles_for_few_rows() {
    let mut profile = profile_with(Unit::M16N8K16);
    let (flash, _) = profile.tiles_mut("m16n8k16").unwrap();
    let few = |rows, block_m| FlashTile { rows_le: Some(rows), block_m, block_n: 32, warps: 1, ..flash[0] };
    let few = [few(16, 16), few(32, 32)];
    flash.splice(0..0, few);
    let attention = Attention::<f16, f32>::new(&profile, AttentionConfig::new(64)).unwrap();
    let problem =
        Problem { batch: 1, heads: 8, kv_heads: 2, n_q: 1, n_k: 90, head_dim: 64, causal: false, bias: false };
    let tile = |n_q, kv_heads| attention.tile_for(&Problem { n_q, kv_heads, ..problem });
    // Four query heads share a key head: 4, 16, 20 and 32 rows of it.
    assert_eq!([1, 4, 5, 8].map(|n_q| tile(n_q, 2)), [(16, 32), (16, 32), (32, 32), (32, 32)]);
    assert_eq!([tile(16, 8), tile(17, 8), tile(500, 2)], [(16, 32), (32, 32), attention.tile()]);
    let asked = AttentionConfig { tile: Some(attention.tile()), ..AttentionConfig::new(64) };
    let asked = Attention::<f16, f32>::new(&profile, asked).unwrap();
    assert_eq!(asked.tile_for(&problem), attention.tile());
}

#[test]
fn a_workspace_has_room_for_as_many_parts_as_are_made() {
    let volta = Profile::by_name("volta").unwrap();
    let simulator = Simulator::new(&volta);
    let config = AttentionConfig { parts: Some(4), ..AttentionConfig::new(64) };
    let attention = Attention::<f16, f32>::new(&volta, config).unwrap();
    let data = Random(3).numbers::<f16>(2.0, 512 * 64);
    let keys = View::contiguous(&data[..], [1, 1, 512, 64]);
    let inputs = Inputs::new(View::contiguous(&data[..64], [1, 1, 1, 64]), keys, keys);
    let needed = attention.workspace(&simulator, &inputs.problem().unwrap()).unwrap();
    assert_eq!(needed, 4 * (64 + 1));
    let run = |length: usize| {
        let (mut out, mut lse) = (vec![f16::ZERO; 64], [0.0]);
        let outputs = Outputs { out: View::contiguous(&mut out[..], [1, 1, 1, 64]), lse: &mut lse[..] };
        let mut workspace = vec![f32::NAN; length];
        attention.forward_in_parts(&simulator, inputs, outputs, &mut workspace[..]).unwrap();
        let written = workspace.iter().filter(|number| !number.is_nan()).count();
        (out, written)
    };
    let (whole, none) = run(0);
    assert_eq!(none, 0);
    for (length, parts) in [(needed - 1, 3), (needed, 4), (needed + 100, 4), (65, 0)] {
        let (out, written) = run(length);
        assert_eq!(written, parts * 65, "{length}");
        let difference = Difference::between(out.iter().map(|n| n.to_f64()), whole.iter().map(|n| n.to_f64()));
        assert!(difference.relative < 1e-3, "{difference:?}");
    }
}
