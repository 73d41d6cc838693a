//! stub
#[derive(Debug, thiserror::Error)]
#[error("no sim")]
pub struct SimError;
#[derive(Debug, Clone, Default)]
pub struct Counters;
