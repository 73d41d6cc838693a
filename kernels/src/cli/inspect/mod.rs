//! `quadpair inspect`: what share of its chip's peak a kernel would reach, and what holds it back, by a model.

mod text;

use super::error::CliError;
use super::kernel::{KernelName, Settings, kernel_names};
use super::output::{print, print_json};
use clap::ValueEnum;
use quadpair_model::{Launch, Model, Options, Report};
use quadpair_profiles::Profile;
use std::path::{Path, PathBuf};

/// Judge a kernel by a throughput model of its chip: what its main loop is bound by, and what share of peak it would reach.
///
/// The kernel is assembled with NVIDIA's ptxas and taken apart with nvdisasm, which need no GPU. Then its instructions are
/// counted by pipe, the addresses of its shared accesses followed, and the warps that fit into a multiprocessor simulated. Cycles
/// are those of one of the multiprocessor's sub-partitions, for one turn of the main loop of one warp.
///
/// The figures are a model's, not measurements. Not modelled: what comes before and after the loop, the last wave of blocks,
/// register banks, the instruction cache, DRAM.
#[derive(Debug, clap::Args)]
pub struct Inspect {
    /// A kernel as `quadpair ptx` names it, or a PTX file with a line `// launch: threads=N shared=BYTES`
    #[arg(value_name = "KERNEL|FILE.ptx")]
    kernel: String,
    #[command(flatten)]
    settings: Settings,
    /// The folder with ptxas and nvdisasm [default: those in PATH, CUDA_HOME, CUDA_PATH,
    /// /usr/local/cuda/bin or ~/.cache/quadpair-ptxas]
    #[arg(long, value_name = "FOLDER")]
    tools: Option<PathBuf>,
    /// Value of a kernel's parameter, to follow addresses by [default: 1024, of 64 bits a pointer]
    #[arg(long = "param", value_name = "NAME=VALUE", value_parser = parameter)]
    parameters: Vec<(String, u64)>,
    /// Address of a branch forward in the main loop that is nearly always taken
    #[arg(long = "skip", value_name = "ADDRESS", value_parser = address)]
    taken: Vec<u32>,
    /// Print the lowest and the highest share under all hypotheses that measured kernels don't exclude
    #[arg(long)]
    range: bool,
    /// Print the main loop's instructions, and what each waits for
    #[arg(long)]
    listing: bool,
    /// Print one JSON object instead of tables
    #[arg(long)]
    json: bool,
}

/// What is printed as JSON.
#[derive(serde::Serialize)]
struct Record<'r> {
    kernel: &'r str,
    figures: &'static str,
    #[serde(flatten)]
    report: &'r Report,
}

impl Inspect {
    /// Assembles and judges the kernel, and prints what was found.
    pub fn run(&self) -> Result<(), CliError> {
        let profile = self.settings.chip.profile_or_volta()?;
        let model = Model::of(&profile)?;
        let ptx = self.ptx(&profile)?;
        let launch = Launch { parameters: &self.parameters, ..Launch::of(&ptx)? };
        let options = Options { taken: self.taken.clone(), branches: true, range: self.range, listing: self.listing };
        let report = model.inspect(&model.tools(self.tools.as_deref())?, &launch, &options)?;
        match self.json {
            true => print_json(&Record { kernel: &self.kernel, figures: "a model's, not measured", report: &report }),
            false => print(&text::text(&self.kernel, &report)),
        }
    }

    /// The text of the kernel of this name, for the model's chip and no other, or of the file.
    fn ptx(&self, profile: &Profile) -> Result<String, CliError> {
        let mut settings = self.settings.clone();
        settings.chip.profile.get_or_insert_with(|| profile.name.clone());
        let path = Path::new(&self.kernel);
        match KernelName::from_str(&self.kernel, false) {
            Ok(name) => Ok(settings.make(name)?.program.ptx().to_owned()),
            Err(_) if path.extension().is_some_and(|end| end == "ptx") || path.is_file() => {
                std::fs::read_to_string(path).map_err(|source| CliError::Read { path: path.into(), source })
            }
            Err(_) => Err(CliError::NoKernel { name: self.kernel.clone(), kernels: kernel_names() }),
        }
    }
}

fn parameter(text: &str) -> Result<(String, u64), String> {
    let form = "it's NAME=VALUE, with a number such as 4096 or 0x1000";
    let (name, value) = text.split_once('=').ok_or(form)?;
    let number = match value.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => value.parse(),
    };
    Ok((name.to_owned(), number.map_err(|_| form)?))
}

fn address(text: &str) -> Result<u32, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    u32::from_str_radix(digits, 16).map_err(|_| "it's a hexadecimal number, such as 0x33f0".into())
}
