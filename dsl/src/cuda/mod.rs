//! stub
#[derive(Debug, thiserror::Error)]
#[error("no cuda")]
pub struct CudaError;
