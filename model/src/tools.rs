//! The assembler and the disassembler: finding them, running them, reading what they report.
//!
//! Both come with the CUDA toolkit. Neither needs a GPU. A toolkit drops old chips at some point (13 dropped Volta), so one
//! that is too new for the target doesn't do; the profile names the last that does.

use crate::ModelError;
use crate::sass::Instruction;
use crate::sass::decode::decode;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

/// Where `ptxas` and `nvdisasm` are.
#[derive(Clone, Debug)]
pub struct Tools {
    ptxas: PathBuf,
    nvdisasm: PathBuf,
    target: String,
}

/// An assembled kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// Its instructions.
    pub code: Vec<Instruction>,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes that a thread stores and loads because it has too few registers, each place in the code once.
    pub spills: u32,
    /// Bytes of shared memory that the text declares with their size.
    pub shared: u32,
}

/// Where toolkits are installed.
const INSTALLED: &str = "/usr/local/cuda/bin";
/// Where `tests/tools.sh` puts them, in the home folder.
const FETCHED: &str = ".cache/quadpair-ptxas";

impl Tools {
    /// Finds both tools for a target such as `sm_70`, of a toolkit no later than `toolkit`, such as `12.9`: in the folder
    /// that is given, else in `PATH`, `CUDA_HOME`, `CUDA_PATH`, where toolkits are installed and where `tests/tools.sh` puts
    /// them.
    ///
    /// # Errors
    /// One isn't there, or is too new for the target.
    pub fn find(folder: Option<&Path>, target: &str, toolkit: &str) -> Result<Self, ModelError> {
        let usual = || format!("PATH, CUDA_HOME, CUDA_PATH, {INSTALLED}, ~/{FETCHED}");
        let looked = folder.map_or_else(usual, |folder| folder.display().to_string());
        let folders = folder.map_or_else(usual_folders, |folder| vec![folder.to_path_buf()]);
        let find = |tool| {
            let wanted = format!("of CUDA {toolkit} or earlier, which knows {target},");
            let none = |others| ModelError::NoTool { tool, wanted, looked: format!("{looked}{others}") };
            find(tool, &folders, toolkit).map_err(none)
        };
        Ok(Self { ptxas: find("ptxas")?, nvdisasm: find("nvdisasm")?, target: target.to_owned() })
    }

    /// Assembles a PTX text and takes it apart again.
    ///
    /// # Errors
    /// The assembler refuses it, or a tool can't be run.
    pub fn assemble(&self, ptx: &str) -> Result<Assembled, ModelError> {
        let work = Scratch::new()?;
        let (text, object) = (work.0.join("kernel.ptx"), work.0.join("kernel.cubin"));
        fs::write(&text, ptx).map_err(|error| system("writing the PTX", &error))?;
        let assembler = Command::new(&self.ptxas)
            .args(["-arch", &self.target, "-v"])
            .arg(&text)
            .arg("-o")
            .arg(&object)
            .output()
            .map_err(|error| system("ptxas", &error))?;
        let log = String::from_utf8_lossy(&assembler.stderr).into_owned();
        if !assembler.status.success() {
            return Err(ModelError::Refused { tool: "ptxas", says: log.replace(&*text.to_string_lossy(), "PTX") });
        }
        Assembled::read(&log, &output(Command::new(&self.nvdisasm).args(["-hex", "-c"]).arg(&object), "nvdisasm")?)
    }
}

impl Assembled {
    /// Reads what `ptxas -v` and `nvdisasm -hex` wrote.
    ///
    /// # Errors
    /// The log has no count of registers, or the listing no instruction.
    pub fn read(log: &str, listing: &str) -> Result<Self, ModelError> {
        let lacks = |tool, lacks| ModelError::Output { tool, lacks };
        let registers = numbers_before(log, "registers").next();
        let code = decode(listing);
        if code.is_empty() {
            return Err(lacks("nvdisasm", "has no instruction"));
        }
        Ok(Self {
            code,
            registers: registers.ok_or(lacks("ptxas -v", "has no number of registers"))?,
            spills: numbers_before(log, "bytes spill").sum(),
            shared: numbers_before(log, "bytes smem").sum(),
        })
    }
}

/// The numbers before each occurrence of some words: 4 and 8 of `4 bytes spill stores, 8 bytes spill loads`.
fn numbers_before<'t>(text: &'t str, words: &'t str) -> impl Iterator<Item = u32> + 't {
    text.match_indices(words).filter_map(|(at, _)| text[..at].split_whitespace().next_back()?.parse().ok())
}

/// The folders where the tools are looked for.
fn usual_folders() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let toolkits =
        ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os).map(|home| Path::new(&home).join("bin"));
    let fetched = env::var_os("HOME").map(|home| Path::new(&home).join(FETCHED));
    let fixed = [PathBuf::from(INSTALLED)].into_iter().chain(fetched);
    env::split_paths(&path).chain(toolkits).chain(fixed).collect()
}

/// The first such tool that isn't newer than a toolkit; else what is wrong with those that there are.
fn find(tool: &'static str, folders: &[PathBuf], toolkit: &str) -> Result<PathBuf, String> {
    let mut others = String::new();
    for path in folders.iter().map(|folder| folder.join(tool)).filter(|path| path.is_file()) {
        match release(&path, tool) {
            Ok(release) if version(&release) <= version(toolkit) => return Ok(path),
            Ok(release) => others += &format!("; {} is of {release}", path.display()),
            Err(error) => others += &format!("; {}: {error}", path.display()),
        }
    }
    Err(others)
}

/// The toolkit that a tool is of: the `12.9` of `release 12.9, V12.9.86`.
fn release(path: &Path, tool: &'static str) -> Result<String, ModelError> {
    let text = output(Command::new(path).arg("--version"), tool)?;
    let after = text.split_once("release ").map(|(_, after)| after);
    let release = after.and_then(|after| after.split(',').next());
    release.map(str::to_owned).ok_or(ModelError::Output { tool, lacks: "names no release" })
}

fn version(text: &str) -> Vec<u32> {
    text.split('.').map(|part| part.trim().parse().unwrap_or(u32::MAX)).collect()
}

fn output(command: &mut Command, tool: &'static str) -> Result<String, ModelError> {
    let output = command.output().map_err(|error| system(tool, &error))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(ModelError::Refused { tool, says: String::from_utf8_lossy(&output.stderr).into_owned() }),
    }
}

fn system(what: &str, error: &std::io::Error) -> ModelError {
    ModelError::System { what: what.to_owned(), error: error.to_string() }
}

/// A folder that is gone when the work is done.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, ModelError> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("quadpair-{}-{number}", std::process::id()));
        fs::create_dir(&path).map_err(|error| system(&format!("making the folder {}", path.display()), &error))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What can't be removed stays in the system's folder for such things.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "ptxas info    : Compiling entry function 'k' for 'sm_70'
    0 bytes stack frame, 24 bytes spill stores, 28 bytes spill loads
ptxas info    : Used 99 registers, used 1 barriers, 1024 bytes smem, 416 bytes cmem[0]";
    const LISTING: &str = "/*0000*/ EXIT ; /* 0x000000000000794d */\n/* 0x000fea0003800000 */";

    #[test]
    fn the_log_has_registers_spills_and_shared_memory() {
        let assembled = Assembled::read(LOG, LISTING).expect("log and listing are whole");
        assert_eq!((assembled.registers, assembled.spills, assembled.shared, assembled.code.len()), (99, 52, 1024, 1));
    }

    #[test]
    fn output_that_is_cut_is_an_error() {
        let error = |log, listing| Assembled::read(log, listing).expect_err("something is missing").to_string();
        assert_eq!(error("", LISTING), "the output of ptxas -v has no number of registers");
        assert_eq!(error(LOG, ""), "the output of nvdisasm has no instruction");
    }

    #[test]
    fn a_folder_without_the_tools_is_named_with_the_way_to_get_them() {
        let error =
            Tools::find(Some(Path::new("/nonexistent")), "sm_70", "12.9").expect_err("nothing there").to_string();
        for part in ["no ptxas of CUDA 12.9 or earlier", "sm_70", "/nonexistent", "pip download", "--tools"] {
            assert!(error.contains(part), "{error}");
        }
        assert!(version("12.10") > version("12.9") && version("13.0") > version("12.9"));
    }
}
