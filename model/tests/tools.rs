//! Kernels from their PTX, against the figures that another implementation of the model found. Runs where ptxas and nvdisasm
//! are found; `tests/tools.sh` fetches them.

mod support;

use quadpair_model::{ModelError, Tools};
use rayon::prelude::*;
use std::path::Path;
use std::process::Command;
use support::{compare, data, figures, launch, options, volta};

fn tools() -> Option<Tools> {
    let tools = volta().tools(None);
    if let Err(error) = &tools {
        eprintln!("nothing is compared: {error}");
    }
    tools.ok()
}

/// A kernel's PTX, which may be packed.
fn ptx(name: &str) -> String {
    let plain = data(&format!("ptx/{name}.ptx"));
    if plain.is_file() {
        return std::fs::read_to_string(plain).expect("the file can be read");
    }
    let packed = data(&format!("ptx/{name}.ptx.gz"));
    let output = Command::new("gzip").arg("-dc").arg(packed).output().expect("gzip runs");
    assert!(output.status.success(), "{name}");
    String::from_utf8(output.stdout).expect("PTX is text")
}

#[test]
fn figures_are_those_of_the_other_implementation() {
    let Some(tools) = tools() else { return };
    let (model, figures) = (volta(), figures());
    assert!(figures.len() > 10);
    figures.par_iter().for_each(|(name, expected)| {
        let text = ptx(name);
        let report =
            model.inspect(&tools, &launch(&text), &options()).unwrap_or_else(|error| panic!("{name}: {error}"));
        compare(name, &report, expected);
    });
}

#[test]
fn a_text_that_is_no_ptx_is_refused_with_the_reason() {
    let Some(tools) = tools() else { return };
    let text = ptx("small").replace("bar.sync 0;", "bar.sink 0;");
    match volta().inspect(&tools, &launch(&text), &options()) {
        Err(ModelError::Refused { tool: "ptxas", says }) => assert!(says.contains("line"), "{says}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_folder_without_tools_is_an_error() {
    let error = volta().tools(Some(Path::new("/nonexistent"))).expect_err("nothing there");
    assert!(matches!(error, ModelError::NoTool { tool: "ptxas", .. }), "{error}");
}
