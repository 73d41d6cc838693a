//! `quadpair inspect`, run as people run it. What needs the assembler is run where that is found.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn inspect(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quadpair")).arg("inspect").args(args).output().unwrap()
}

/// What the command printed; nothing where there is no assembler.
fn printed(args: &[&str]) -> Option<String> {
    let output = inspect(args);
    let error = String::from_utf8(output.stderr).unwrap();
    if error.contains("pip download") {
        eprintln!("nothing is checked: {error}");
        return None;
    }
    assert!(output.status.success(), "{error}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The command fails, with one line that has this text.
fn fails(args: &[&str], text: &str) {
    let output = inspect(args);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(output.stdout.is_empty());
    assert!(error.starts_with("error: ") && error.lines().count() == 1 && error.contains(text), "{error}");
}

fn file(name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("inspect");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), text).unwrap();
    folder.join(name)
}

#[test]
fn a_kernel_is_judged_as_a_model_does() {
    let Some(text) = printed(&["matmul", "--range"]) else { return };
    for part in ["by a throughput model: no figure here is measured", "% of tensor time", "bottleneck", "range of all"]
    {
        assert!(text.contains(part), "{text}");
    }
    let Some(text) = printed(&["matmul", "--json", "--listing"]) else { return };
    let record: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&record["work"], &record["spills"]), (&"tensor".into(), &0.into()));
    let share = record["likely"]["share"].as_f64().unwrap();
    assert!(share > 0.0 && share <= record["floor"]["share"].as_f64().unwrap(), "{share}");
    assert_eq!(
        record["listing"].as_array().unwrap().len(),
        record["main_loop"]["instructions"].as_u64().unwrap() as usize
    );
}

#[test]
fn a_file_is_a_kernel_too() {
    let ptx = Command::new(env!("CARGO_BIN_EXE_quadpair")).args(["ptx", "vector_add"]).output().unwrap().stdout;
    let path = file("vector_add.ptx", &String::from_utf8(ptx).unwrap());
    let (by_file, by_name) = (printed(&[path.to_str().unwrap()]), printed(&["vector_add"]));
    let rest = |text: Option<String>| text.map(|text| text.split_once('\n').unwrap().1.to_owned());
    assert_eq!(rest(by_file), rest(by_name));
}

#[test]
fn what_cannot_be_inspected_is_an_error() {
    // The model is Volta's, so that the kernel is too.
    fails(&["FLASH_64_M16N8K8"], "sm_70");
    fails(&["matmlu"], "there is no kernel and no .ptx file matmlu; the kernels are vector_add, matmul");
    fails(&["/nowhere/k.ptx"], "cannot read /nowhere/k.ptx");
    fails(&["matmul", "--profile", "hopper", "--unit", "fma"], "profile hopper has no section `throughput`");
    fails(
        &["matmul", "--tools", "/nowhere"],
        "no ptxas of CUDA 12.9 or earlier, which knows sm_70, is found in /nowhere",
    );
    let path = file("bare.ptx", ".version 6.4\n.target sm_70\n.entry k() { ret; }\n");
    fails(&[path.to_str().unwrap()], "the PTX has no line `// launch: threads=N shared=BYTES`");
}

#[test]
fn values_that_are_none_are_usage_errors() {
    for wrong in [["--param", "n"], ["--param", "n=many"], ["--skip", "there"]] {
        let output = inspect(&[&["matmul"], &wrong[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}
