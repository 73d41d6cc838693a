//! The command, run as people run it: what it prints, what it writes, and how it says no.

use half::f16;
use safetensors::{Dtype, tensor::TensorView};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A tensor of a test file: name, type, shape. All elements are zero, whatever the type.
type Spec<'a> = (&'a str, Dtype, &'a [usize]);

const HALF: Dtype = Dtype::F16;
const SINGLE: Dtype = Dtype::F32;

fn quadpair(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quadpair")).args(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A folder of the test's own, empty.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli").join(test);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes a safetensors file of zeros.
fn file(test: &str, tensors: &[Spec<'_>]) -> PathBuf {
    let bytes: Vec<Vec<u8>> = tensors.iter().map(|(_, dtype, shape)| zeros(*dtype, shape)).collect();
    let views = tensors
        .iter()
        .zip(&bytes)
        .map(|((name, dtype, shape), bytes)| (*name, TensorView::new(*dtype, shape.to_vec(), bytes).unwrap()));
    let path = folder(test).join("tensors.safetensors");
    std::fs::write(&path, safetensors::serialize(views, None::<HashMap<String, String>>).unwrap()).unwrap();
    path
}

fn zeros(dtype: Dtype, shape: &[usize]) -> Vec<u8> {
    vec![0; shape.iter().product::<usize>() * dtype.bitsize() / 8]
}

fn attend(path: &Path, options: &[&str]) -> Output {
    quadpair(&[&["attend", path.to_str().unwrap(), "--device", "sim"], options].concat())
}

/// Checks that the command failed with exactly this line, and nothing on standard output.
#[track_caller]
fn fails(output: &Output, line: &str) {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(stderr, format!("error: {line}\n"));
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stdout(output), "");
}

/// As [`fails`], where only the start of the line is known.
#[track_caller]
fn fails_with(output: &Output, start: &str) {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(stderr.starts_with(&format!("error: {start}")), "{stderr}");
    assert_eq!((output.status.code(), stderr.lines().count()), (Some(1), 1), "{stderr}");
    assert_eq!(stdout(output), "");
}

/// Checks a file of zeros that attention refuses; `FILE` in the line stands for its path.
#[track_caller]
fn refuses(test: &str, tensors: &[Spec<'_>], line: &str) {
    let path = file(test, tensors);
    fails(&attend(&path, &[]), &line.replace("FILE", path.to_str().unwrap()));
}

#[test]
fn the_sample_is_the_main_job() {
    let output = quadpair(&[]);
    let text = stdout(&output);
    assert!(output.status.success(), "{output:?}");
    assert!(text.starts_with("Attention on the bundled sample\n"), "{text}");
    for part in ["q [1, 3, 197, 32]", "compared with", "float64", "the file"] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn attend_prints_one_json_object() {
    let output = quadpair(&["attend", "--device", "sim", "--profile", "volta", "--json"]);
    let record: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(output.status.success() && output.stderr.is_empty());
    assert_eq!(record["device"], "simulator");
    assert_eq!((&record["profile"], &record["unit"]), (&"volta".into(), &"m8n8k4".into()));
    assert!(record["block_m"].as_u64() >= Some(16) && record["block_n"].as_u64() >= Some(16));
    assert!(record["out_relative_error"].as_f64().unwrap() <= 5e-4);
    assert!(record["out_max_abs_error"].as_f64().unwrap() <= 5e-3);
    assert!(record["lse_max_abs_error"].as_f64().unwrap() <= 1e-4);
    assert!(record["seconds"].as_f64().unwrap() > 0.0);
    assert!(record["counters"].is_object());
}

#[test]
fn attend_runs_on_fma_too() {
    let output = quadpair(&["attend", "--device", "sim", "--unit", "fma", "--json"]);
    let record: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(record["unit"], "fma");
    assert!(record["out_relative_error"].as_f64().unwrap() <= 5e-4);
}

#[test]
fn attend_masks() {
    let output = quadpair(&["attend", "--device", "sim", "--causal"]);
    assert!(output.status.success() && stdout(&output).contains("causal"), "{output:?}");
}

#[test]
fn attend_writes_out_and_lse_and_nothing_else() {
    let folder = folder("writes");
    let path = folder.join("result.safetensors");
    let output = quadpair(&["attend", "--device", "sim", "--out", path.to_str().unwrap()]);
    assert!(output.status.success());
    let bytes = std::fs::read(&path).unwrap();
    let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let (out, lse) = (tensors.tensor("out").unwrap(), tensors.tensor("lse").unwrap());
    assert_eq!((out.dtype(), out.shape()), (HALF, &[1, 3, 197, 32][..]));
    assert_eq!((lse.dtype(), lse.shape()), (SINGLE, &[1, 3, 197][..]));
    let first = f16::from_le_bytes([out.data()[0], out.data()[1]]);
    assert!(first.is_finite() && first != f16::ZERO);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn empty_batches_and_sequences_are_no_errors() {
    for (test, [batch, n_q, n_k]) in [("batch", [0, 3, 5]), ("queries", [1, 0, 5]), ("keys", [1, 3, 0])] {
        let (q, k) = ([batch, 2, n_q, 64], [batch, 2, n_k, 64]);
        let path = file(&format!("empty_{test}"), &[("q", HALF, &q), ("k", HALF, &k), ("v", HALF, &k)]);
        let output = attend(&path, &[]);
        assert!(output.status.success(), "{test}: {output:?}");
    }
}

#[test]
fn matmul_is_checked() {
    let options = ["matmul", "--m", "70", "--n", "40", "--k", "36", "--device", "sim", "--profile", "volta", "--json"];
    let output = quadpair(&options);
    let record: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(output.status.success());
    assert_eq!((&record["unit"], &record["m"], &record["k"]), (&"m8n8k4".into(), &70.into(), &36.into()));
    assert!(record["relative_error"].as_f64().unwrap() <= 1e-5);
}

#[test]
fn matmul_takes_orders_batches_and_terms() {
    let shape =
        ["matmul", "--m", "40", "--n", "24", "--k", "36", "--batch", "2", "--device", "sim", "--profile", "volta"];
    let terms =
        ["--transpose-a", "--transpose-b", "--alpha", "-0.5", "--beta", "2", "--bias", "--out", "f16", "--json"];
    let output = quadpair(&[&shape[..], &terms].concat());
    let record: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(output.status.success());
    assert_eq!((&record["batch"], &record["out"], &record["transpose_b"]), (&2.into(), &"f16".into(), &true.into()));
    assert!(record["relative_error"].as_f64().unwrap() <= 5e-4);
    let ptx = stdout(&quadpair(&["ptx", "matmul", "--transpose-b"]));
    assert!(ptx.starts_with("// instance: matmul_m8n8k4_128x128x32_f16_f32_bt, of the quadpair kernel matmul"));
}

#[test]
fn ptx_names_the_launch() {
    for kernel in ["vector_add", "matmul", "flash_attention"] {
        let text = stdout(&quadpair(&["ptx", kernel, "--profile", "volta"]));
        assert!(text.contains("\n// launch: threads="), "{text}");
        assert!(text.contains("\n.target sm_70"), "{text}");
    }
}

#[test]
fn an_instance_is_made_for_the_first_chip_that_can_run_it() {
    for (instance, target) in [
        ("FLASH_64", "sm_70"),
        ("FLASH_64_M16N8K8", "sm_75"),
        ("FLASH_128_M16N8K16", "sm_80"),
        ("FLASH_96_WGMMA", "sm_90a"),
    ] {
        let text = stdout(&quadpair(&["ptx", instance]));
        assert!(text.lines().any(|line| line == format!(".target {target}")), "{instance} {target}");
        stdout(&quadpair(&["explain", instance, "--json"]));
    }
    let asked = quadpair(&["ptx", "FLASH_96_WGMMA", "--profile", "volta"]);
    assert!(asked.status.code() == Some(1) && String::from_utf8(asked.stderr).unwrap().contains("sm_70"));
}

#[test]
fn ptx_goes_to_a_file() {
    let path = folder("ptx").join("kernel.ptx");
    let options = ["ptx", "flash_attention", "--head-dim", "96", "--tile", "64x32"];
    assert!(quadpair(&[&options[..], &["-o", path.to_str().unwrap()]].concat()).status.success());
    assert_eq!(std::fs::read_to_string(path).unwrap(), stdout(&quadpair(&options)));
}

#[test]
fn list_shows_kernels_and_profiles() {
    let text = stdout(&quadpair(&["list"]));
    for name in ["vector_add", "matmul", "flash_attention", "volta", "hopper", "simulator"] {
        assert!(text.contains(name), "no {name} in\n{text}");
    }
}

#[test]
fn results_in_the_file_that_are_others_are_noted() {
    let k = [1, 2, 5, 64];
    let tensors = [("q", HALF, &k[..]), ("k", HALF, &k), ("v", HALF, &k), ("lse", SINGLE, &k[..3])];
    let path = file("other", &tensors);
    let output = attend(&path, &[]);
    // Scores of zeros: the LSE is log 5 = 1.61, not 0.
    let line = format!(
        "note: {} holds other results than float64 does: lse is 1.61e0 away from the file, 1e-4 is allowed\n",
        path.display()
    );
    assert_eq!(String::from_utf8(output.stderr.clone()).unwrap(), line);
    assert!(output.status.success() && stdout(&output).contains("the file"));
}

#[test]
fn sizes_that_no_launch_can_count() {
    let huge = [1 << 20, 1 << 20, 0, 64];
    let tensors = [("q", HALF, &huge[..]), ("k", HALF, &huge), ("v", HALF, &huge)];
    refuses("overflow", &tensors, "heads: 1048576 is more than the 65535 that a launch can count");
}

#[test]
fn missing_tensor() {
    let k = [1, 2, 5, 64];
    refuses("missing", &[("q", HALF, &k), ("k", HALF, &k)], "FILE has no tensor v; it has k, q");
}

#[test]
fn wrong_rank() {
    let (q, k) = ([2, 3, 64], [1, 2, 5, 64]);
    let tensors = [("q", HALF, &q[..]), ("k", HALF, &k), ("v", HALF, &k)];
    refuses("rank", &tensors, "q in FILE has shape [2, 3, 64]; [batch, heads, queries, head dim] is needed");
}

#[test]
fn wrong_dtype() {
    let k = [1, 2, 5, 64];
    let tensors = [("q", Dtype::I8, &k[..]), ("k", HALF, &k), ("v", HALF, &k)];
    refuses("dtype", &tensors, "q in FILE is i8; f16, bf16 or f32 is needed");
    let tensors = [("q", HALF, &k[..]), ("k", HALF, &k), ("v", SINGLE, &k)];
    refuses("mixed", &tensors, "v in FILE is f32; f16, the type of q, is needed");
    let tensors = [("q", HALF, &k[..]), ("k", HALF, &k), ("v", HALF, &k), ("bias", Dtype::BF16, &[1, 1, 1, 5])];
    refuses("bias", &tensors, "bias in FILE is bf16; f16 or f32 is needed");
}

#[test]
fn shapes_that_do_not_match() {
    let k = [1, 2, 5, 64];
    let tensors = [("q", HALF, &k[..]), ("k", HALF, &k), ("v", HALF, &[1, 2, 6, 64])];
    refuses("shape_v", &tensors, "v is [1, 2, 6, 64]; [1, 2, 5, 64] is needed: v has k's shape");
    let tensors = [("q", HALF, &k[..]), ("k", HALF, &k), ("v", HALF, &k), ("bias", SINGLE, &[1, 1, 4, 5])];
    let line = "bias is [1, 1, 4, 5]; [1, 2, 5, 5] is needed: each extent of the bias is 1 or that of [batch, heads, \
                queries, keys]";
    refuses("shape_bias", &tensors, line);
    let tensors = [("q", HALF, &k[..]), ("k", HALF, &k), ("v", HALF, &k), ("lse", SINGLE, &[1, 2, 4])];
    refuses("shape_lse", &tensors, "lse in FILE has shape [1, 2, 4]; [1, 2, 5] is needed, by the shape of q");
}

#[test]
fn head_dims_that_no_kernel_has() {
    for head_dim in [264, 60] {
        let k = [1, 2, 5, head_dim];
        let line = format!("head dim {head_dim} is not supported: it has to be a multiple of 8 from 8 to 256");
        refuses(&format!("head_dim_{head_dim}"), &[("q", HALF, &k), ("k", HALF, &k), ("v", HALF, &k)], &line);
    }
}

#[test]
fn heads_that_cannot_be_shared() {
    let (q, k) = ([1, 3, 5, 64], [1, 2, 5, 64]);
    let line = "3 query heads can't share 2 key heads evenly: the one has to be a multiple of the other";
    refuses("heads", &[("q", HALF, &q), ("k", HALF, &k), ("v", HALF, &k)], line);
}

#[test]
fn broken_files() {
    let k = [1, 2, 5, 64];
    let path = file("broken", &[("q", HALF, &k), ("k", HALF, &k), ("v", HALF, &k)]);
    let whole = std::fs::read(&path).unwrap();
    let start = format!("{} is no readable safetensors file: ", path.display());
    let wrong_header = [&255_u64.to_le_bytes()[..], &[b'{'; 300]].concat();
    for broken in
        [&whole[..whole.len() - 1], &whole[..100], &whole[..7], &[], b"hello, world, this is text", &wrong_header]
    {
        std::fs::write(&path, broken).unwrap();
        fails_with(&attend(&path, &[]), &start);
    }
    let missing = path.with_file_name("missing.safetensors");
    fails_with(&attend(&missing, &[]), &format!("cannot read {}: No such file", missing.display()));
    fails_with(&attend(path.parent().unwrap(), &[]), "cannot read ");
}

#[test]
fn profiles_that_are_not_there_or_malformed() {
    let output = quadpair(&["attend", "--device", "sim", "--profile", "pascal"]);
    fails_with(&output, "");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("pascal") && text.contains("volta"), "{text}");
    let path = folder("profile").join("mine.yml");
    std::fs::write(&path, "name: mine\nwarp_size: thirty-two\n").unwrap();
    let output = quadpair(&["attend", "--device", "sim", "--profile", path.to_str().unwrap()]);
    fails_with(&output, "");
    assert!(String::from_utf8(output.stderr).unwrap().contains("mine.yml"));
    fails_with(&quadpair(&["ptx", "matmul", "--profile", "/nowhere/mine.yml"]), "");
}

#[test]
fn no_gpu_of_that_number() {
    // Whether there is a driver here or not, there is no GPU of this number.
    fails_with(&quadpair(&["attend", "--device", "cuda:99"]), "");
    fails_with(&quadpair(&["matmul", "--device", "cuda:99"]), "");
    fails_with(&quadpair(&["bench", "attention", "--device", "cuda:99"]), "there is no GPU to measure: no CUDA ");
    fails_with(&quadpair(&["bench", "matmul", "--device", "cuda:99"]), "there is no GPU to measure: no CUDA ");
}

#[test]
fn nothing_is_measured_in_the_simulator() {
    let line = "the simulator counts what a kernel does and has no times; bench needs --device cuda";
    fails(&quadpair(&["bench", "attention", "--device", "sim"]), line);
    fails(&quadpair(&["bench", "matmul", "--device", "sim"]), line);
}

#[test]
fn units_that_the_chip_lacks() {
    let line = "profile hopper declares no m8n8k4 unit; what it can run is wgmma, m16n8k16 and fma";
    fails(&quadpair(&["attend", "--device", "sim", "--profile", "hopper", "--unit", "m8n8k4"]), line);
    fails(&quadpair(&["matmul", "--device", "sim", "--profile", "hopper", "--unit", "m8n8k4"]), line);
    fails(&quadpair(&["ptx", "flash_attention", "--profile", "hopper", "--unit", "m8n8k4"]), line);
    let k = [1, 2, 5, 64];
    let path = file("unit", &[("q", SINGLE, &k), ("k", SINGLE, &k), ("v", SINGLE, &k)]);
    let line = "the m8n8k4 unit of profile volta takes f16 operands, these are f32; fma takes f16, bf16 and f32";
    fails(&attend(&path, &["--unit", "m8n8k4"]), line);
}

#[test]
fn tiles_that_no_kernel_has() {
    let start = "no m8n8k4 kernel has a 48x32 tile at head dim 32 on volta; these run: ";
    fails_with(&quadpair(&["attend", "--device", "sim", "--tile", "48x32"]), start);
    let start = "--tile 64x32x16 has 3 extents; flash_attention takes two";
    fails_with(&quadpair(&["attend", "--device", "sim", "--tile", "64x32x16"]), start);
    fails_with(&quadpair(&["ptx", "vector_add", "--tile", "64"]), "--tile 64 has 1 extents; vector_add takes none");
}

#[test]
fn scales_that_are_no_numbers() {
    let line = "the softmax scale is NaN: it has to be a finite number";
    fails(&quadpair(&["attend", "--device", "sim", "--scale", "nan"]), line);
}

#[test]
fn outputs_that_cannot_be_written_leave_nothing_behind() {
    let folder = folder("unwritable");
    let inside = folder.join("missing").join("out.safetensors");
    let output = quadpair(&["attend", "--device", "sim", "--out", inside.to_str().unwrap()]);
    fails_with(&output, &format!("cannot write {}: No such file", inside.display()));
    fails_with(&quadpair(&["ptx", "matmul", "-o", folder.to_str().unwrap()]), "cannot write ");
    // A failure later on leaves an older file as it was, and no temporary one.
    let older = folder.join("out.safetensors");
    std::fs::write(&older, "older").unwrap();
    let k = [1, 3, 5, 64];
    let path = file("unwritable_input", &[("q", HALF, &k), ("k", HALF, &[1, 2, 5, 64]), ("v", HALF, &[1, 2, 5, 64])]);
    assert_eq!(attend(&path, &["--out", older.to_str().unwrap()]).status.code(), Some(1));
    assert_eq!(std::fs::read_to_string(&older).unwrap(), "older");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn usage_errors_exit_with_2() {
    for args in
        [&["attend", "--device", "gpu"][..], &["attend", "--tile", "64X32"], &["ptx", "softmax"], &["frobnicate"]]
    {
        let output = quadpair(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: "));
    }
}
