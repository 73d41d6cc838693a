//! Asking memory for its address without using it.
//!
//! While a context has several streams, cudarc's memory keeps events of who reads and writes it, and gives its address
//! only together with a stream, which it makes wait for them. That is right for a launch. It's wrong for looking at an
//! address, and impossible for a stream that is being captured into a graph, which must not wait for work outside of the
//! graph. For these there is a stream of each context's own on which nothing ever runs: it may wait, and nobody minds.

use std::sync::Arc;

use cudarc::driver::result::stream::{self, StreamKind};
use cudarc::driver::{CudaContext, CudaStream, DevicePtr};

use super::error::{CudaError, During};

/// The stream on which nothing runs.
pub(super) struct Idle(Arc<CudaStream>);

impl Idle {
    /// Makes the stream. The context doesn't count it among its own, so that memory keeps no events on its account.
    pub(super) fn new(context: &Arc<CudaContext>) -> Result<Self, CudaError> {
        context.bind_to_thread().during("enter the context")?;
        let made = stream::create(StreamKind::NonBlocking).during("make a stream")?;
        // SAFETY: the stream was made in this context, is owned here alone and is destroyed only when this is dropped;
        // nothing is ever queued on it but waits.
        Ok(Idle(unsafe { context.wrap_borrowed_stream(made) }))
    }

    /// The stream.
    pub(super) fn stream(&self) -> &CudaStream {
        &self.0
    }

    /// The address of memory.
    pub(super) fn address<T>(&self, memory: &impl DevicePtr<T>) -> u64 {
        let (address, used) = memory.device_ptr(&self.0);
        // Dropping it would tell the memory that it has been read on this stream.
        std::mem::forget(used);
        address
    }
}

impl Drop for Idle {
    fn drop(&mut self) {
        let context = self.0.context();
        context.record_err(context.bind_to_thread());
        // SAFETY: this made the stream, and no handle of it was given away.
        context.record_err(unsafe { stream::destroy(self.0.cu_stream()) });
    }
}
