//! Points in a stream's work, and the time between them.
//!
//! An [`Event`] is queued like a launch and remembers when the GPU came to it, so that the time between two of them is
//! the GPU's, not that of the calls:
//!
//! ```no_run
//! # use quadpair::cuda::{Cuda, CudaError};
//! # fn time(cuda: &Cuda, launch: impl Fn()) -> Result<f64, CudaError> {
//! let start = cuda.event()?;
//! launch();
//! let end = cuda.event()?;
//! end.seconds_since(&start)
//! # }
//! ```

use cudarc::driver::CudaEvent;
use cudarc::driver::sys::CUevent_flags;

use super::Cuda;
use super::error::{CudaError, During};

/// A point in the work of a stream.
#[derive(Debug)]
pub struct Event(CudaEvent);

impl Cuda {
    /// Queues an event.
    ///
    /// # Errors
    /// What the driver answers; so does a stream that is being captured if the event is asked for its time.
    pub fn event(&self) -> Result<Event, CudaError> {
        self.stream().record_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).during("record an event").map(Event)
    }
}

impl Event {
    /// The seconds that the GPU took from an earlier event to this one, in steps of half a microsecond or so. Waits
    /// until both have passed.
    ///
    /// # Errors
    /// Events of different contexts, or what work before them did wrong.
    pub fn seconds_since(&self, earlier: &Event) -> Result<f64, CudaError> {
        let milliseconds = earlier.0.elapsed_ms(&self.0).during("measure the time between two events")?;
        Ok(f64::from(milliseconds) / 1e3)
    }
}
