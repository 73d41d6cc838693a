//! The device that a subcommand runs on: a GPU, or the simulator.

use super::error::CliError;
use super::options::{Chip, Device, Machine};
use super::{output, progress};
use quadpair::Report;
use quadpair::cuda::cudarc::driver::{CudaSlice, DriverError};
use quadpair::cuda::{self, Cuda, CudaError};
use quadpair::sim::Simulator;
use quadpair_kernels::attention::{Attention, Inputs, Outputs};
use quadpair_kernels::matmul::{Matmul, Matrix, Terms};
use quadpair_kernels::number::Real;
use quadpair_kernels::view::View;
use quadpair_profiles::Profile;
use std::time::Instant;

/// A device and the profile that kernels are made for.
pub struct Engine {
    profile: Profile,
    backend: Backend,
    device: String,
}

enum Backend {
    Simulator(Simulator),
    Cuda(Cuda),
}

/// A GPU and the profile that kernels are made for.
pub struct Gpu {
    pub cuda: Cuda,
    pub profile: Profile,
    /// What the device is called: its number and its name.
    pub device: String,
    /// Its compute capability, such as `9.0`.
    pub capability: String,
    /// Bytes of its L2 cache.
    pub l2_bytes: u32,
}

impl Gpu {
    /// Opens the GPU with this number, for the profile that was asked for or its own.
    pub fn open(chip: &Chip, ordinal: usize) -> Result<Self, CliError> {
        let devices = cuda::devices()?;
        let found = devices.iter().find(|device| device.ordinal == ordinal);
        let device = found.ok_or(CudaError::NoDevice { ordinal, count: devices.len() })?;
        let (major, minor) = device.compute_capability;
        let profile = match &chip.profile {
            Some(name) => Profile::resolve(name)?,
            None => Profile::for_capability(major.unsigned_abs(), minor.unsigned_abs())?,
        };
        let name = format!("cuda:{ordinal} ({})", device.name);
        let (cuda, capability) = (Cuda::open(ordinal, &profile)?, format!("{major}.{minor}"));
        Ok(Self { cuda, profile, device: name, capability, l2_bytes: device.l2_bytes })
    }

    /// The same where nothing but a GPU will do.
    pub fn required(chip: &Chip, ordinal: usize) -> Result<Self, CliError> {
        Self::open(chip, ordinal).map_err(|error| match error {
            CliError::Cuda(source) => CliError::NoGpu(source),
            other => other,
        })
    }
}

/// What a run on tensors gave.
pub struct Outcome<T> {
    /// The output, contiguous.
    pub out: Vec<T>,
    /// The log-sum-exp; empty for a matrix product.
    pub lse: Vec<f32>,
    /// How long the launch took.
    pub seconds: f64,
    report: Report,
}

impl<T> Outcome<T> {
    /// What the simulator counted, name by name.
    pub fn counters_json(&self) -> Option<serde_json::Value> {
        let counters = self.report.counters.as_ref()?;
        Some(counters.fields().map(|(name, count)| (name.to_owned(), serde_json::Value::from(count))).collect())
    }
}

impl Engine {
    /// Opens the device that was asked for.
    pub fn open(machine: &Machine) -> Result<Self, CliError> {
        match machine.device {
            Device::Simulator => Self::simulator(machine),
            Device::Cuda(ordinal) => Self::cuda(machine, ordinal),
            Device::Auto => match cuda::devices() {
                Ok(devices) if !devices.is_empty() => Self::cuda(machine, 0),
                _ => {
                    output::note("note: no GPU found; this runs in the simulator");
                    Self::simulator(machine)
                }
            },
        }
    }

    fn simulator(machine: &Machine) -> Result<Self, CliError> {
        let profile = machine.chip.profile_or_volta()?;
        let backend = Backend::Simulator(Simulator::new(&profile));
        Ok(Self { backend, profile, device: "simulator".to_owned() })
    }

    fn cuda(machine: &Machine, ordinal: usize) -> Result<Self, CliError> {
        let Gpu { cuda, profile, device, .. } = Gpu::open(&machine.chip, ordinal)?;
        Ok(Self { backend: Backend::Cuda(cuda), profile, device })
    }

    /// The profile that kernels are made for.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The profile's name.
    pub fn profile_name(&self) -> String {
        self.profile.name.clone()
    }

    /// What the device is called.
    pub fn device(&self) -> &str {
        &self.device
    }

    /// Runs attention on host tensors.
    pub fn attend<T: Real, U: Real>(
        &self,
        attention: &Attention<T, U>,
        inputs: &Inputs<&[T], &[U]>,
    ) -> Result<Outcome<T>, CliError> {
        let problem = inputs.problem()?;
        let mut out = vec![T::default(); problem.rows() * problem.head_dim];
        let mut lse = vec![0.0; problem.rows()];
        match &self.backend {
            Backend::Simulator(simulator) => {
                let outputs = Outputs { out: View::contiguous(&mut out[..], inputs.q.shape), lse: &mut lse[..] };
                let mut workspace = vec![0.0; attention.workspace(simulator, &problem)?];
                let (report, seconds) =
                    simulated(|| Ok(attention.forward_in_parts(simulator, *inputs, outputs, &mut workspace[..])?))?;
                Ok(Outcome { out, lse, seconds, report })
            }
            Backend::Cuda(cuda) => {
                let seconds = attend_on_gpu(cuda, attention, inputs, &mut out, &mut lse)?;
                Ok(Outcome { out, lse, seconds, report: Report::default() })
            }
        }
    }

    /// Multiplies matrices of the host into one that holds what C was.
    pub fn multiply<T: Real, U: Real>(
        &self,
        matmul: &Matmul<T, U>,
        a: Matrix<&[T]>,
        b: Matrix<&[T]>,
        c: Matrix<Vec<U>>,
        terms: Terms<&[U]>,
    ) -> Result<Outcome<U>, CliError> {
        let form = c.with(());
        let mut out = c.data;
        match &self.backend {
            Backend::Simulator(simulator) => {
                let c = form.with(&mut out[..]);
                let (report, seconds) = simulated(|| Ok(matmul.multiply_add(simulator, a, b, c, terms)?))?;
                Ok(Outcome { out, lse: Vec::new(), seconds, report })
            }
            Backend::Cuda(cuda) => {
                let seconds = multiply_on_gpu(cuda, matmul, [a, b], form.with(&mut out[..]), terms)?;
                Ok(Outcome { out, lse: Vec::new(), seconds, report: Report::default() })
            }
        }
    }
}

/// Runs a launch in the simulator, which works until it is done, and times it.
fn simulated(launch: impl FnOnce() -> Result<Report, CliError>) -> Result<(Report, f64), CliError> {
    let spinner = progress::spinner("simulating");
    let start = Instant::now();
    let report = launch();
    spinner.finish_and_clear();
    Ok((report?, start.elapsed().as_secs_f64()))
}

/// Launches twice, the first time to load the program, and times the second.
fn timed(cuda: &Cuda, mut launch: impl FnMut() -> Result<(), CliError>) -> Result<f64, CliError> {
    launch()?;
    let start = cuda.event()?;
    launch()?;
    Ok(cuda.event()?.seconds_since(&start)?)
}

/// A copy of host memory on the GPU; an empty one gets an element, since no GPU memory is of no size.
pub fn upload<T: Real>(cuda: &Cuda, host: &[T]) -> Result<CudaSlice<T>, CliError> {
    let one = [T::default()];
    Ok(cuda.stream().clone_htod(if host.is_empty() { &one[..] } else { host }).map_err(copying)?)
}

/// Copies GPU memory to the host and waits for it.
pub fn download<T: Real>(cuda: &Cuda, device: &CudaSlice<T>, host: &mut [T]) -> Result<(), CliError> {
    if !host.is_empty() {
        cuda.stream().memcpy_dtoh(device, host).map_err(copying)?;
    }
    Ok(cuda.synchronize()?)
}

/// A copy that failed.
fn copying(error: DriverError) -> CudaError {
    CudaError::Driver { action: "copy memory", result: error.0 }
}

fn attend_on_gpu<T: Real, U: Real>(
    cuda: &Cuda,
    attention: &Attention<T, U>,
    inputs: &Inputs<&[T], &[U]>,
    out: &mut [T],
    lse: &mut [f32],
) -> Result<f64, CliError> {
    let [q, k, v] = [inputs.q, inputs.k, inputs.v].map(|view| upload(cuda, view.data));
    let (q, k, v) = (q?, k?, v?);
    let bias = inputs.bias.map(|bias| upload(cuda, bias.data)).transpose()?;
    let (mut out_memory, mut lse_memory) = (upload(cuda, out)?, upload(cuda, lse)?);
    let mut workspace = upload(cuda, &vec![0.0_f32; attention.workspace(cuda, &inputs.problem()?)?])?;
    let seconds = timed(cuda, || {
        let given = Inputs {
            q: inputs.q.with(q.as_view()),
            k: inputs.k.with(k.as_view()),
            v: inputs.v.with(v.as_view()),
            bias: inputs.bias.zip(bias.as_ref()).map(|(view, memory)| view.with(memory.as_view())),
            scale: inputs.scale,
            causal: inputs.causal,
        };
        let written = View::contiguous(out_memory.as_view_mut(), inputs.q.shape);
        let outputs = Outputs { out: written, lse: lse_memory.as_view_mut() };
        attention.forward_in_parts(cuda, given, outputs, workspace.as_view_mut())?;
        Ok(())
    })?;
    download(cuda, &out_memory, out)?;
    download(cuda, &lse_memory, lse)?;
    Ok(seconds)
}

fn multiply_on_gpu<T: Real, U: Real>(
    cuda: &Cuda,
    matmul: &Matmul<T, U>,
    [a, b]: [Matrix<&[T]>; 2],
    c: Matrix<&mut [U]>,
    terms: Terms<&[U]>,
) -> Result<f64, CliError> {
    let (left, right) = (upload(cuda, a.data)?, upload(cuda, b.data)?);
    let bias = terms.bias.map(|bias| upload(cuda, bias)).transpose()?;
    // Each launch adds to a C of its own.
    let mut sums = [upload(cuda, c.data)?, upload(cuda, c.data)?].into_iter();
    let mut last = None;
    let seconds = timed(cuda, || {
        let mut sum = sums.next().unwrap_or_else(|| unreachable!("it is launched twice"));
        let terms = Terms { alpha: terms.alpha, beta: terms.beta, bias: bias.as_ref().map(|bias| bias.as_view()) };
        let (a, b) = (a.with(left.as_view()), b.with(right.as_view()));
        matmul.multiply_add(cuda, a, b, c.with(sum.as_view_mut()), terms)?;
        last = Some(sum);
        Ok(())
    })?;
    if let Some(sum) = last {
        download(cuda, &sum, c.data)?;
    }
    Ok(seconds)
}
