//! Compiled programs, each made when it is first wanted and kept from then on.

use quadpair::{KernelError, Program};
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// The programs of one kernel, by what tells them apart.
#[derive(Debug)]
pub(crate) struct Programs<K>(Mutex<HashMap<K, Arc<Program>>>);

impl<K: Copy + Eq + Hash> Programs<K> {
    pub fn new() -> Self {
        Self(Mutex::default())
    }

    /// The program of a key.
    ///
    /// # Errors
    /// What making it finds.
    pub fn get(
        &self,
        key: &K,
        make: impl FnOnce() -> Result<Program, KernelError>,
    ) -> Result<Arc<Program>, KernelError> {
        let mut programs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(program) = programs.get(key) {
            return Ok(Arc::clone(program));
        }
        let program = Arc::new(make()?);
        programs.insert(*key, Arc::clone(&program));
        Ok(program)
    }
}
