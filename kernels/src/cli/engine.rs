//! The device that a subcommand runs on: a GPU, or the simulator.

use super::error::CliError;
use super::options::{Device, Machine};
use super::{output, progress};
use quadpair::Report;
use quadpair::sim::Simulator;
use quadpair_kernels::attention::{Attention, Inputs, Outputs};
use quadpair_kernels::matmul::{Matmul, Matrix};
use quadpair_kernels::number::Real;
use quadpair_kernels::view::View;
use quadpair_profiles::Profile;
use std::time::Instant;

/// A device and the profile that kernels are made for.
pub struct Engine {
    profile: Profile,
    backend: Backend,
}

enum Backend {
    Simulator(Simulator),
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
        let _ = &self.report;
        None
    }
}

impl Engine {
    /// Opens the device that was asked for.
    pub fn open(machine: &Machine) -> Result<Self, CliError> {
        if let Device::Cuda(_) = machine.device {
            return Err(quadpair::cuda::CudaError.into());
        }
        if machine.device == Device::Auto {
            output::note("note: no GPU found; this runs in the simulator");
        }
        let profile = machine.chip.profile_or_volta()?;
        Ok(Self { backend: Backend::Simulator(Simulator::new(&profile)), profile })
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
        match &self.backend {
            Backend::Simulator(_) => "simulator",
        }
    }

    /// Runs attention on host tensors.
    pub fn attend<T: Real, U: Real>(
        &self,
        attention: &Attention<T, U>,
        inputs: &Inputs<&[T], &[U]>,
    ) -> Result<Outcome<T>, CliError> {
        let Backend::Simulator(simulator) = &self.backend;
        let problem = inputs.problem()?;
        let mut out = vec![T::default(); problem.rows() * problem.head_dim];
        let mut lse = vec![0.0; problem.rows()];
        let outputs = Outputs { out: View::contiguous(&mut out[..], inputs.q.shape), lse: &mut lse[..] };
        let spinner = progress::spinner("simulating");
        let start = Instant::now();
        let report = attention.forward(simulator, *inputs, outputs)?;
        let seconds = start.elapsed().as_secs_f64();
        spinner.finish_and_clear();
        Ok(Outcome { out, lse, seconds, report })
    }

    /// Multiplies matrices of the host.
    pub fn multiply<T: Real>(
        &self,
        matmul: &Matmul<T>,
        a: Matrix<&[T]>,
        b: Matrix<&[T]>,
    ) -> Result<Outcome<f32>, CliError> {
        let Backend::Simulator(simulator) = &self.backend;
        let mut out = vec![0.0; a.rows * b.columns];
        let c = Matrix::contiguous(&mut out[..], a.rows, b.columns);
        let spinner = progress::spinner("simulating");
        let start = Instant::now();
        let report = matmul.multiply(simulator, a, b, c)?;
        let seconds = start.elapsed().as_secs_f64();
        spinner.finish_and_clear();
        Ok(Outcome { out, lse: Vec::new(), seconds, report })
    }
}
