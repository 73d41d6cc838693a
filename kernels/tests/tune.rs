//! `quadpair tune`, run as people run it. What needs the assembler is run where that is found.

use quadpair_profiles::Profile;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn tune(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quadpair")).arg("tune").args(args).output().unwrap()
}

/// The command fails, with one line that has this text.
#[track_caller]
fn fails(args: &[&str], text: &str) {
    let output = tune(args);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(output.stdout.is_empty());
    assert!(error.starts_with("error: ") && error.lines().count() == 1 && error.contains(text), "{error}");
}

fn folder() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tune");
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn the_best_tile_is_written_into_the_profile() {
    let path = folder().join("tuned.yml");
    let file = path.to_str().unwrap();
    let args = ["attention", "--head-dim", "8", "--by", "model", "--json", "-o", file];
    let output = tune(&args);
    let error = String::from_utf8(output.stderr).unwrap();
    if error.contains("pip download") {
        eprintln!("nothing is checked: {error}");
        return;
    }
    assert!(output.status.success(), "{error}");
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = &record["problems"][0];
    assert_eq!((&found["kernel"], &found["head_dim"]), (&"flash_attention".into(), &8.into()));
    assert_eq!(record["figures"], "by a throughput model: no figure here is measured");
    let best = &found["best"][0];
    assert!(best["figure"].as_f64().unwrap() > 5.0 && best["spills"] == 0, "{best}");

    let (old, new) = (Profile::by_name("volta").unwrap(), Profile::from_file(&path).unwrap());
    let [tile, kept] = [8, 64].map(|head_dim| new.flash_tile("m8n8k4", head_dim, 1000).unwrap());
    assert_eq!(best["tile"], format!("{}x{}", tile.block_m, tile.block_n));
    assert_eq!((best["warps"].as_u64(), best["chunk"].as_u64()), (Some(tile.warps as u64), Some(tile.chunk as u64)));
    assert_eq!(Some(kept), old.flash_tile("m8n8k4", 64, 1000));
    assert_eq!((new.matrix_units[0].matmul, &new.fma), (old.matrix_units[0].matmul, &old.fma));
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains(&format!("# By `quadpair tune {}`", args.join(" "))), "{text}");
    // What is written is a profile that the command takes.
    let again = Command::new(env!("CARGO_BIN_EXE_quadpair"))
        .args(["ptx", "flash_attention", "--head-dim", "8", "--profile", file])
        .output()
        .unwrap();
    assert!(again.status.success());
}

#[test]
fn what_cannot_be_judged_is_an_error() {
    fails(&["--by", "model", "--profile", "hopper"], "profile hopper has no section `throughput`");
    fails(&["--by", "model", "--tools", "/nowhere"], "no ptxas of CUDA 12.9 or earlier, which knows sm_70, is found");
    fails(&["--head-dim", "12", "--by", "model"], "head dim 12 is not supported");
    fails(&["--by", "model", "-o", "/nowhere/volta.yml"], "cannot write /nowhere/volta.yml");
}

#[test]
fn a_chip_without_a_model_needs_its_gpu() {
    let output = tune(&["matmul", "--profile", "blackwell"]);
    let error = String::from_utf8(output.stderr).unwrap();
    // On the chip itself it's timed.
    if !output.status.success() {
        let start = "error: nothing can judge tiles: profile blackwell has no section `throughput`";
        assert!(error.starts_with(start) && error.lines().count() == 1, "{error}");
    }
}
