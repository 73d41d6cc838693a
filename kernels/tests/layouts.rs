//! `quadpair layout` and `quadpair explain`, run as people run them: tables, pictures, records and errors.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The workspace's folder, from which the sources of kernels are found.
fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn quadpair(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_quadpair")).args(args).current_dir(workspace()).output().unwrap()
}

/// What a command that succeeds prints.
#[track_caller]
fn prints(args: &[&str]) -> String {
    let output = quadpair(args);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn record(args: &[&str]) -> serde_json::Value {
    serde_json::from_str(&prints(&[args, &["--json"]].concat())).unwrap()
}

#[track_caller]
fn fails(args: &[&str], message: &str) {
    let output = quadpair(args);
    assert_eq!(String::from_utf8(output.stderr).unwrap(), format!("error: {message}\n"));
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
}

const ROWS: &str = "blocked([1, 4], [8, 4], [2, 1], [1, 0]) on [16, 16]";
const SWIZZLED: &str = "swizzled(8, 1, 4, [1, 0]) on [16, 32]";
const LEFT: &str = "m8n8k4(2x2, [1, 1]).a on [16, 32]";

#[test]
fn one_layout_has_its_bases_and_its_elements() {
    insta::assert_snapshot!(prints(&["layout", ROWS]));
    insta::assert_snapshot!(prints(&["layout", "m8n8k4(2x2, [1, 1]).b on [4, 16]"]));
    insta::assert_snapshot!(prints(&["layout", "row_major on [2, 2, 4].permute([2, 0, 1])"]));
}

#[test]
fn two_layouts_have_a_conversion() {
    insta::assert_snapshot!(prints(&[
        "layout",
        "m8n8k4(2x2, [1, 1]).accumulator on [16, 16]",
        "m8n8k4(2x2, [1, 1]).a on [16, 16]"
    ]));
    let same = record(&["layout", ROWS, &format!("{ROWS}.reshape([4, 4, 16]).reshape([16, 16])")]);
    assert_eq!((&same["way"], &same["first_difference"]), (&"nothing to do".into(), &"nothing".into()));
}

#[test]
fn registers_and_shared_memory_have_banks() {
    let text = prints(&["layout", LEFT, SWIZZLED]);
    insta::assert_snapshot!(text);
    assert_eq!(prints(&["layout", SWIZZLED, LEFT]), text);
    let stores = prints(&["layout", LEFT, SWIZZLED, "--access", "store", "--bits", "32"]);
    assert!(stores.contains("Stores of warp 0") && stores.contains("elements of 32 bits"), "{stores}");
    let record = record(&["layout", LEFT, SWIZZLED]);
    assert_eq!((&record["load"]["wavefronts"], &record["load"]["ideal"]), (&32.into(), &16.into()));
}

#[test]
fn large_tiles_are_cut_with_a_note() {
    let large = "blocked([1, 8], [8, 4], [4, 1], [1, 0]) on [64, 32]";
    let text = prints(&["layout", large]);
    assert!(text.ends_with("\n32 of 64 rows, 16 of 32 columns are shown; --full shows more\n"), "{text}");
    let full = prints(&["layout", large, "--full"]);
    assert!(!full.contains("are shown") && full.lines().count() == text.lines().count() + 30, "{full}");
    let huge = prints(&["layout", "blocked([8], [32], [1], [0]) on [65536]", "--full"]);
    assert!(huge.ends_with("\n1024 of 65536 columns are shown; --full shows more\n"));
    let deep = prints(&["layout", "row_major on [128, 2, 2]"]);
    assert!(
        deep.contains("[1, .., ..]") && deep.ends_with("\n2 of 128 parts are shown; --full shows more\n"),
        "{deep}"
    );
}

#[test]
fn a_layout_as_json() {
    let layout = &record(&["layout", ROWS])["layout"];
    assert_eq!(layout["lanes"], serde_json::json!([[0, 4], [0, 8], [1, 0], [2, 0], [4, 0]]));
    assert_eq!(
        (&layout["elements_a_thread"], &layout["threads"], &layout["copies"]),
        (&4.into(), &64.into(), &1.into())
    );
    let shared = &record(&["layout", "row_major on [2, 4]"])["layout"];
    assert_eq!(shared["offsets_of_bits"], serde_json::json!([1, 2, 4]));
}

#[test]
fn errors_have_a_caret() {
    fails(
        &["layout", "blocked([1,8],[8,4] on [64,32]"],
        "`,` or `)` is expected here\n  blocked([1,8],[8,4] on [64,32]\n                      ^^",
    );
    let kernels = "vector_add, matmul, flash_attention, FLASH_64, FLASH_96, FLASH_128, FLASH_256, FLASH_64_M16N8K8, \
                   FLASH_128_M16N8K16, FLASH_96_WGMMA, FLASH_128_WGMMA, FLASH_64_FMA";
    fails(
        &["layout", "softmax:x"],
        &format!("there is no kernel `softmax`; there are {kernels}\n  softmax:x\n  ^^^^^^^^^"),
    );
    fails(
        &["layout", "row_major on [8]", "row_major on [8]"],
        "two layouts of shared memory have nothing between them; one has to be of registers",
    );
    fails(
        &["layout", ROWS, SWIZZLED],
        "the tile in registers is [16, 16], the one in shared memory [16, 32]; both have to have one shape",
    );
    let warps = "blocked([1, 4], [8, 4], [4, 1], [1, 0]) on [16, 16]";
    let output = quadpair(&["layout", ROWS, warps]);
    assert!(String::from_utf8(output.stderr).unwrap().starts_with("error: ") && output.status.code() == Some(1));
    assert_eq!(quadpair(&["layout", ROWS, "--bits", "12"]).status.code(), Some(2));
}

#[test]
fn values_of_kernels_are_layouts() {
    let scores = record(&["layout", "FLASH_96:s"]);
    assert_eq!(scores["layout"]["shape"], serde_json::json!([128, 64]));
    assert_eq!(scores["layout"]["elements_a_thread"], 64);
    // Also where Volta lacks the instance's unit.
    let scores = record(&["layout", "FLASH_128_WGMMA:s"]);
    assert_eq!(scores["layout"]["shape"], serde_json::json!([128, 128]));
    let scores = record(&["layout", "FLASH_64_M16N8K8:s"]);
    assert_eq!(scores["layout"]["shape"], serde_json::json!([128, 64]));
    let banks = record(&["layout", "FLASH_96:shared0", "FLASH_96:#4"]);
    assert_eq!(banks["store"]["wavefronts"], banks["store"]["ideal"]);
    let error = "v0 of flash_attention is a scalar, which every thread has\n  FLASH_96:v0\n  ^^^^^^^^^^^";
    fails(&["layout", "FLASH_96:v0"], error);
}

/// The picture that a command writes.
fn picture(name: &str, args: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("layouts");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    prints(&[args, &["--svg", path.to_str().unwrap()]].concat());
    std::fs::read_to_string(path).unwrap()
}

/// Checks that tags are closed in order, attributes quoted, and that text has no bare `<` or `&`.
fn check_xml(text: &str) {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, tag) = rest.split_at(start);
        for entity in before.split('&').skip(1) {
            assert!(["lt;", "gt;", "amp;", "quot;"].iter().any(|known| entity.starts_with(known)), "&{entity}");
        }
        let end = tag.find('>').expect("each tag ends");
        let inside = &tag[1..end];
        assert!(!inside.contains('<') && inside.matches('"').count() % 2 == 0, "<{inside}>");
        match inside.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if inside.ends_with('/') => {}
            None => open.push(inside.split(' ').next().unwrap()),
        }
        rest = &tag[end + 1..];
    }
    assert!(open.is_empty() && rest.trim().is_empty(), "{open:?} {rest}");
}

#[test]
fn pictures_are_well_formed_and_have_every_cell() {
    for (name, args, cells) in [
        ("tile.svg", &["layout", ROWS][..], 16 * 16),
        ("large.svg", &["layout", "m8n8k4(2x2, [2, 2]).accumulator on [128, 128]"], 128 * 128),
        ("cut.svg", &["layout", "row_major on [256, 8]"], 128 * 8),
        ("pair.svg", &["layout", ROWS, &format!("{ROWS}.permute([1, 0])")], 2 * 16 * 16),
        // 4 instructions of 8 lanes' 4 banks in 8 wavefronts.
        ("banks.svg", &["layout", LEFT, SWIZZLED], 4 * 8 * 16),
    ] {
        let svg = picture(name, args);
        check_xml(&svg);
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 "));
        assert_eq!(svg.matches("<title>").count(), cells, "{name}");
    }
    // Words where there's room for them, and only there.
    assert!(picture("tile.svg", &["layout", ROWS]).contains(">1:31:3</text>"));
    assert!(!picture("large.svg", &["layout", "row_major on [128, 128]"]).contains(">16383</text>"));
    assert!(picture("cut.svg", &["layout", "row_major on [256, 8]"]).contains("128 of 256 rows are shown"));
}

#[test]
fn explain_tells_a_kernel_by_its_lines() {
    insta::assert_snapshot!(prints(&["explain", "vector_add"]));
    let text = prints(&["explain", "matmul"]);
    for part in [
        "\nkernels/src/matmul/kernel.rs\n",
        "let left = a_slots[slot].permute(t.dims(0)).slice(1, at, t.step()).load(t.fragment(0, t.step()));",
        " x load of shared0: ",
        "each turn of line ",
        "\nTOTAL, instructions of a warp ",
    ] {
        assert!(text.contains(part), "no {part:?} in\n{text}");
    }
}

#[test]
fn explain_gives_attention_no_bank_conflicts() {
    let record = record(&["explain", "flash_attention", "--head-dim", "96", "--tile", "128x64"]);
    let all = record["instructions"].as_array().unwrap();
    let sum = |field: &str| all.iter().map(|one| one[field].as_u64().unwrap()).sum::<u64>();
    assert!(sum("wavefronts") > 0 && sum("wavefronts") == sum("ideal"));
    assert_eq!((sum("not_counted"), sum("guarded_by_data")), (0, 0));
    // S: 96 / 4 steps, 2 x 4 products of 16 x 16 each; P V: 64 / 4 steps, 2 x 6; once in each of the two loops.
    let mma: u64 = all.iter().filter(|one| one["work"] == "mma").map(|one| one["instructions"].as_u64().unwrap()).sum();
    assert_eq!(mma, 2 * (24 * 8 + 16 * 12));
    assert_eq!((&record["name"], &record["warps"]), (&"flash_attention_m8n8k4_128x64_d96_f16".into(), &4.into()));
    for step in record["steps"].as_array().unwrap() {
        assert!(step["line"].as_u64() > Some(0) && step["kind"].is_string(), "{step}");
    }
}

#[test]
fn explain_takes_instances() {
    let record = record(&["explain", "FLASH_64_FMA"]);
    assert_eq!(record["name"], "FLASH_64_FMA");
    fails(&["explain", "FLASH_64", "--tile", "64x32"], "--tile 64x32 has 2 extents; FLASH_64 takes none");
}

#[test]
fn help_has_every_name() {
    let help = prints(&["layout", "--help"]);
    for name in ["blocked(per_thread", "shared_linear(", ".accumulator on shape", ".expand_dims(axis)", "FLASH_64_FMA"]
    {
        assert!(help.contains(name), "no {name} in\n{help}");
    }
    assert!(prints(&["explain", "--help"]).contains("--head-dim"));
}

/// The gallery shows what the commands print: each block is a command and its output. `GALLERY=overwrite` writes them anew.
#[test]
fn the_gallery_is_real() {
    let path = workspace().join("docs/layouts.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut parts = text.split("```console\n$ quadpair ");
    let mut real = parts.next().unwrap().to_owned();
    let mut count = 0;
    for part in parts {
        let (command, rest) = part.split_once('\n').unwrap();
        let (_, after) = rest.split_once("```").expect("a block ends");
        let output = String::from_utf8(quadpair(&words(command)).stdout).unwrap();
        real += &format!("```console\n$ quadpair {command}\n{output}```{after}");
        count += 1;
    }
    if std::env::var("GALLERY").is_ok_and(|wish| wish == "overwrite") {
        std::fs::write(path, real).unwrap();
    } else {
        let first = text.lines().zip(real.lines()).find(|(shown, printed)| shown != printed);
        assert!(text == real, "GALLERY=overwrite accepts what the commands print; first, shown and printed: {first:?}");
    }
    assert!(count >= 4, "{count} blocks");
}

/// The words of a command line; those in quotes stay together.
fn words(command: &str) -> Vec<&str> {
    let quoted = command.split('\'').enumerate();
    quoted.flat_map(|(i, part)| if i % 2 == 1 { vec![part] } else { part.split_whitespace().collect() }).collect()
}
