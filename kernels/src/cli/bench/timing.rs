//! How long a launch takes on the GPU.
//!
//! Two events around each launch give one time; the median of many is the figure, since a few are always late. Launches
//! before the first time warm the chip up: it raises its clocks under load. Calls run ahead of the GPU, so a time holds
//! none of the host's, unless a launch takes less than its call does, some 10 microseconds.

use super::super::error::CliError;
use quadpair::cuda::Cuda;
use serde::Serialize;

/// Seconds of work before the first time, and of work that is timed.
const WARM_UP: f64 = 0.1;
const TIMED: f64 = 0.4;

/// The times of a launch, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Times {
    /// Half of the launches took less.
    pub median_ms: f64,
    /// A tenth took less.
    pub p10_ms: f64,
    /// A tenth took more.
    pub p90_ms: f64,
    /// How many were timed.
    pub samples: usize,
}

impl Times {
    /// Times launches; `launch` is given its number and takes the inputs whose turn it is.
    pub fn of(cuda: &Cuda, mut launch: impl FnMut(usize) -> Result<(), CliError>) -> Result<Self, CliError> {
        let mut turn = 0..;
        let mut next = || launch(turn.next().unwrap_or(0));
        next()?;
        let start = cuda.event()?;
        next()?;
        let estimate = cuda.event()?.seconds_since(&start)?.max(1e-6);
        for _ in 0..count(WARM_UP, estimate, 3) {
            next()?;
        }
        let mut events = Vec::new();
        for _ in 0..count(TIMED, estimate, 20) {
            let start = cuda.event()?;
            next()?;
            events.push((start, cuda.event()?));
        }
        let seconds: Result<Vec<f64>, _> = events.iter().map(|(start, end)| end.seconds_since(start)).collect();
        Ok(Self::from_seconds(seconds?))
    }

    fn from_seconds(mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        let at = |share: f64| seconds[((seconds.len() - 1) as f64 * share).round() as usize] * 1e3;
        Self { median_ms: at(0.5), p10_ms: at(0.1), p90_ms: at(0.9), samples: seconds.len() }
    }

    /// Half of the distance between the tenths, in percent of the median.
    pub fn spread(&self) -> f64 {
        (self.p90_ms - self.p10_ms) / 2.0 / self.median_ms * 100.0
    }

    /// Billions a second of something of which a launch does so many.
    pub fn giga(&self, amount: f64) -> f64 {
        amount / self.median_ms / 1e6
    }
}

/// How many launches fill the seconds, within reason.
fn count(seconds: f64, of_one: f64, least: usize) -> usize {
    ((seconds / of_one) as usize).clamp(least, 400)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_and_the_tenths_are_of_the_sorted_times() {
        let times = Times::from_seconds((0..=100).rev().map(|i| f64::from(i) / 1e3).collect());
        assert_eq!(times, Times { median_ms: 50.0, p10_ms: 10.0, p90_ms: 90.0, samples: 101 });
        assert_eq!((times.spread(), times.giga(1e9)), (80.0, 20.0));
    }

    #[test]
    fn long_launches_are_few_and_short_ones_not_endless() {
        assert_eq!([1.0, 0.01, 1e-6].map(|one| count(0.4, one, 20)), [20, 40, 400]);
    }
}
